/* SPDX-License-Identifier: Apache-2.0 */
/* The default heap that gpurt_open makes for a program whose kernels call malloc and new through
 * gpurt/malloc.h. Such a program often makes none itself, and a constructor would then write to
 * NULL. It gives way to the first default heap that the host makes. */
#include "heapmap.h"

#include "life.h"
#include "process.h"
#include "tell.h"

#include <string.h>

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static gpurt_heap_t heaps[GPURT_MAX_DEVICES]; /* under lock; zeroed: none */

static gpurt_heap_t exchange(gpurt_t *rt, const gpurt_heap_t *heap)
{
    gpurt_heap_t *place = &heaps[gpurt_life_index(rt)], before;

    gpurt_lock_take(&lock);
    before = *place;
    *place = *heap;
    gpurt_lock_give(&lock);
    return before;
}

void gpurt_heapauto_open(gpurt_t *rt)
{
    gpurt_heap_options_t options = {.struct_size = sizeof options};
    gpurt_error_t err = {0};
    gpurt_heap_t heap;

    if (!gpurt_heap_wanted())
        return;
    /* gpurt_open goes on without it: only some kernels may want it. */
    if (gpurt_heap_create(rt, &options, &heap, &err) != GPURT_OK) {
        gpurt_tell("no default heap, so malloc and new of kernels answer NULL: %s",
                   err.text);
        return;
    }
    /* Not by make_default, which says that the host has one of its own. */
    if (gpurt_heap_set_default(rt, &heap, NULL) == GPURT_OK)
        exchange(rt, &heap);
    else
        gpurt_heap_destroy(rt, &heap, NULL);
}

void gpurt_heapauto_give_way(gpurt_t *rt)
{
    static const gpurt_heap_t none;
    gpurt_heap_t heap = exchange(rt, &none);
    gpurt_heap_stats_t stats;

    if (!heap.chunks)
        return;
    if (gpurt_heap_stats(rt, &heap, &stats, NULL) != GPURT_OK || stats.live ||
        gpurt_heap_destroy(rt, &heap, NULL) != GPURT_OK)
        exchange(rt, &heap);
}

void gpurt_heapauto_close(gpurt_t *rt)
{
    static const gpurt_heap_t none;
    gpurt_info_t info;
    gpurt_heap_t heap;

    if (!rt || gpurt_info(rt, &info) != GPURT_OK)
        return;
    heap = exchange(rt, &none);
    if (heap.chunks)
        (void)gpurt_heap_destroy(rt, &heap, NULL);
}

void gpurt_heapauto_forked(void)
{
    memset(heaps, 0, sizeof heaps);
}
