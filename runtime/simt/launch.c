/* SPDX-License-Identifier: Apache-2.0 */
/* One grid from its queue to its end. Workers take units (a block, or a cluster) one at a time
 * under the device's mutex; the last block to end completes the launch. */
#include "failure.h"

#include <gpurt/atomic.h>

#include <stdlib.h>
#include <string.h>

#include "sanitizer.h"
#include "stream.h"

static uint32_t at_least_1(uint32_t v)
{
    return v ? v : 1;
}

static gpurt_dim3_t dim_fill(gpurt_dim3_t d)
{
    return (gpurt_dim3_t){at_least_1(d.x), at_least_1(d.y), at_least_1(d.z)};
}

/* How many units may be resident in all. max_resident counts blocks. */
static uint32_t residency(const simt_launch_t *l)
{
    const simt_config_t *c = &l->device->config;
    uint64_t lanes = (uint64_t)l->threads * l->cluster_size, units;

    if (c->cpu.max_resident)
        units = c->cpu.max_resident / l->cluster_size;
    else if (l->cooperative || !c->seeded)
        units = (uint64_t)SIMT_LANES_PER_WORKER * l->device->worker_count / lanes;
    else
        units = SIMT_SEEDED_LANES / lanes;
    if (units > l->unit_count)
        units = l->unit_count;
    return at_least_1((uint32_t)units);
}

uint32_t simt_launch_capacity(simt_device_t *d, const gpurt_launch_t *launch)
{
    uint32_t cap = d->config.cpu.max_resident;
    gpurt_dim3_t block = dim_fill(launch->block);

    return cap ? cap
               : SIMT_LANES_PER_WORKER / (block.x * block.y * block.z) * d->worker_count;
}

static simt_launch_t *launch_alloc(size_t args_bytes)
{
    simt_launch_t *l = (simt_launch_t *)calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->args = aligned_alloc(64, (args_bytes + 64) & ~(size_t)63);
    if (!l->args) {
        free(l);
        return NULL;
    }
    return l;
}

simt_launch_t *simt_launch_create(simt_device_t *d, const gpurt_launch_t *launch,
                                  const gpurt_kernel_t *kernel, const void *args,
                                  size_t args_bytes)
{
    simt_launch_t *l = launch_alloc(args_bytes);

    if (!l)
        return NULL;
    memcpy(l->args, args, args_bytes);
    l->device = d;
    l->kernel = kernel;
    l->grid = dim_fill(launch->grid);
    l->block = dim_fill(launch->block);
    l->cluster = dim_fill(launch->cluster);
    l->clusters = (gpurt_dim3_t){l->grid.x / l->cluster.x, l->grid.y / l->cluster.y,
                                 l->grid.z / l->cluster.z};
    l->threads = l->block.x * l->block.y * l->block.z;
    l->cluster_size = l->cluster.x * l->cluster.y * l->cluster.z;
    l->shared_bytes = launch->shared_bytes;
    l->block_count = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    l->unit_count = l->block_count / l->cluster_size;
    l->left = l->block_count;
    l->cooperative = launch->cooperative;
    l->residents = residency(l);
    simt_order_release(&l->start_word);
    return l;
}

void simt_launch_destroy(simt_launch_t *l)
{
    if (!l)
        return;
    simt_order_acquire(&l->end_word); /* lanes read args */
    free(l->args);
    free(l->report);
    free(l);
}

/* ---- taking units --------------------------------------------------------------------------- */
static uint32_t units_here(const simt_worker_t *k, const simt_launch_t *l)
{
    uint32_t blocks = 0;

    for (uint32_t i = 0; i < k->block_count; i++)
        blocks += k->blocks[i]->launch == l;
    return (blocks + l->cluster_size - 1) / l->cluster_size;
}

/* A worker keeps few blocks at a time, more when those it has only spin (k->extra), and its
 * full share of a cooperative grid, whose blocks all have to be there. */
static uint32_t share_of_worker(const simt_worker_t *k, const simt_launch_t *l)
{
    uint32_t workers = k->device->worker_count;

    if (l->cooperative)
        return (uint32_t)((l->unit_count + workers - 1) / workers);
    if (k->device->config.seeded)
        return l->residents;
    return at_least_1(SIMT_BLOCKS_PER_WORKER / l->cluster_size) + k->extra;
}

static bool may_take(const simt_worker_t *k, const simt_launch_t *l)
{
    uint32_t lanes = l->threads * l->cluster_size;

    if (l->next_unit >= l->unit_count || l->resident >= l->residents)
        return false;
    if (k->block_count && k->resident_lanes + lanes > SIMT_LANES_PER_WORKER)
        return false;
    return units_here(k, l) < share_of_worker(k, l);
}

bool simt_launch_take(simt_worker_t *k, simt_launch_t **launch, uint64_t *unit)
{
    for (simt_launch_t *l = k->device->active; l; l = l->next)
        if (may_take(k, l)) {
            *launch = l;
            *unit = l->next_unit++;
            l->resident++;
            return true;
        }
    return false;
}

/* ---- ends ------------------------------------------------------------------------------------- */
static void active_remove(simt_device_t *d, simt_launch_t *l)
{
    simt_launch_t *before = NULL;

    for (simt_launch_t **at = &d->active; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
        before = *at;
    }
    if (d->active_tail == l)
        d->active_tail = before;
}

/* Under the mutex. */
static void launch_complete(simt_launch_t *l)
{
    simt_device_t *d = l->device;

    active_remove(d, l);
    if (d->scope && !d->active)
        simt_scope_reset(d->scope);
    simt_stream_launch_ended(d, l);
}

void simt_launch_block_ended(simt_launch_t *l, bool unit_ended)
{
    simt_device_t *d = l->device;

    gpurt_add_relaxed_dev_u32(&l->xended, 1); /* only compared with 0 */
    pthread_mutex_lock(&d->mutex);
    l->resident -= unit_ended;
    if (--l->left == 0)
        launch_complete(l);
    else if (unit_ended && l->next_unit < l->unit_count && l->residents < l->unit_count)
        simt_device_changed(d); /* room for one more, perhaps on another worker */
    pthread_mutex_unlock(&d->mutex);
}

void simt_launch_fail(simt_launch_t *l, gpurt_status_t status, char *report,
                      const simt_failure_t *told)
{
    simt_device_t *d = l->device;
    uint64_t never;

    pthread_mutex_lock(&d->mutex);
    if (l->status != GPURT_OK) {
        pthread_mutex_unlock(&d->mutex);
        free(report);
        return;
    }
    l->status = status;
    l->report = report;
    if (told)
        simt_failure_tell(l, told, report);
    gpurt_store_relaxed_dev_u32(&l->xfailed, 1); /* workers act on it under the mutex */
    never = (l->unit_count - l->next_unit) * l->cluster_size;
    l->next_unit = l->unit_count;
    l->left -= never;
    simt_report_save(d, status, report ? report : gpurt_status_text(status));
    if (l->left == 0)
        launch_complete(l);
    simt_device_changed(d);
    pthread_mutex_unlock(&d->mutex);
}
