/* SPDX-License-Identifier: Apache-2.0 */
#include "device_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/log.h>
#include <gpurt/panic.h>
#include <gpurt/unwind.h>

enum {
    WORDS = DEVICE_OBJECT_BYTES / sizeof(uint32_t)
};

GPURT_DEV uint32_t word_of(const struct device_args *p, uint32_t i)
{
    return (p->device + 1) << 24 ^ gpurt_global_id() << 8 ^ i;
}

GPURT_DEV void object_fill(const struct device_args *p, uint32_t *object)
{
    if (!object)
        gpurt_add_relaxed_sys_u32(p->refused, 1); /* relaxed: a count */
    for (uint32_t i = 0; object && i < WORDS; i++)
        object[i] = word_of(p, i);
}

GPURT_DEV void object_look(const struct device_args *p, const uint32_t *object)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; object && i < WORDS; i++)
        wrong += object[i] != word_of(p, i);
    if (wrong)
        gpurt_add_relaxed_sys_u32(p->wrong, 1); /* relaxed: a count */
}

GPURT_DEV uint32_t *object_take(const struct device_args *p)
{
    uint32_t *object = (uint32_t *)gpurt_alloc(DEVICE_OBJECT_BYTES);

    object_fill(p, object);
    return object;
}

GPURT_DEV void object_give(const struct device_args *p, uint32_t *object)
{
    object_look(p, object);
    gpurt_free(object);
}

GPURT_KERNEL(device_take, struct device_args, p)
{
    p->objects[gpurt_global_id()] = object_take(p);
}

GPURT_KERNEL(device_give, struct device_args, p)
{
    object_give(p, p->objects[gpurt_global_id()]);
}

GPURT_KERNEL(device_take_of, struct device_args, p)
{
    uint32_t *object = (uint32_t *)gpurt_heap_alloc(&p->heap, DEVICE_OBJECT_BYTES);

    object_fill(p, object);
    p->objects[gpurt_global_id()] = object;
}

GPURT_KERNEL(device_give_of, struct device_args, p)
{
    uint32_t *object = p->objects[gpurt_global_id()];

    object_look(p, object);
    gpurt_heap_free(&p->heap, object);
}

GPURT_KERNEL(device_drop_to, struct device_args, p)
{
    gpurt_heap_free(&p->heap, p->objects[gpurt_global_id()]);
}

GPURT_KERNEL(device_churn, struct device_args, p)
{
    for (uint32_t round = 0; round < p->rounds; round++)
        object_give(p, object_take(p));
}

GPURT_KERNEL(device_say, struct device_args, p)
{
    uint32_t lanes = gpurt_grid_blocks() * gpurt_block_threads();

    for (uint32_t i = gpurt_global_id(); i < p->rounds; i += lanes)
        GPURT_INFO("device %u says %u", p->device, i);
}

GPURT_KERNEL(device_stuck, struct device_args, p)
{
    (void)p;
    if (gpurt_lane() == 0)
        gpurt_block_barrier();
    else
        gpurt_syncwarp(3);
}

GPURT_KERNEL_GUARDED(device_raise, struct device_args, p)
{
    if (gpurt_block_rank() == 0)
        GPURT_PANIC("device %u raises", p->device);
}
