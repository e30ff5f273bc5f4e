/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a batch: check, price, settle. One thread has one order. */
#include "pipeline.h"

#include <gpurt/device.h>

GPURT_DEV uint64_t price_cents(uint32_t item)
{
    return 99 + item * 7;
}

/* Cuts what is not in stock. */
GPURT_KERNEL(pipeline_check, struct pipeline_args, p)
{
    pipeline_order_t *order = p->orders + gpurt_global_id();

    if (order->pieces > PIPELINE_STOCK) {
        GPURT_WARN("item %u: %u pieces wanted, %u in stock", order->item, order->pieces,
                   (uint32_t)PIPELINE_STOCK);
        order->pieces = PIPELINE_STOCK;
    }
    GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "batch %u: block %u checked", p->batch,
                    gpurt_block_x());
}

/* An order for an item that is not in the catalogue has no price: the block that finds one
 * ends there, the others go on. */
GPURT_KERNEL(pipeline_price, struct pipeline_args, p)
{
    uint32_t i = gpurt_global_id();
    const pipeline_order_t *order = p->orders + i;
    pipeline_result_t *result = p->results + gpurt_block_x();
    uint64_t cents;

    GPURT_ASSERT(order->item < PIPELINE_ITEMS, "item %u of %u in order %u of batch %u",
                 order->item, (uint32_t)PIPELINE_ITEMS, i, p->batch);
    cents = price_cents(order->item) * order->pieces;
    GPURT_DEBUG("order %u costs %llu cents", i, (unsigned long long)cents);
    gpurt_add_relaxed_dev_u64(&result->cents, cents);
    gpurt_add_relaxed_dev_u32(&result->priced, 1); /* the next kernel reads both */
    GPURT_LOG_WARP(GPURT_LEVEL_INFO, "batch %u: a warp of block %u priced", p->batch,
                   gpurt_block_x());
}

/* A block settles all of its orders or none. */
GPURT_KERNEL(pipeline_settle, struct pipeline_args, p)
{
    pipeline_result_t *result = p->results + gpurt_block_x();

    if (gpurt_thread_x() != 0)
        return;
    if (result->priced == PIPELINE_THREADS) {
        result->settled = result->priced;
        GPURT_INFO("batch %u: block %u sold for %llu cents", p->batch, gpurt_block_x(),
                   (unsigned long long)result->cents);
    } else {
        GPURT_ERROR("batch %u: block %u has %u of %u orders priced, nothing settled",
                    p->batch, gpurt_block_x(), result->priced, (uint32_t)PIPELINE_THREADS);
    }
}
