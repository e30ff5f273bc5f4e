/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane has a list that grows from pass to pass: its numbers lie in a block of a region,
 * made longer in place where that can be. What it works with in a pass lies in an arena. */
#include "lists.h"

#include <gpurt/arena.h>
#include <gpurt/device.h>
#include <gpurt/region.h>

enum {
    RUNS = 6,       /* that a list gets in a pass */
    RUN_LEAST = 16, /* numbers */
    RUN_MORE = 48,
    ANEW = 8 /* one pass in so many begins with an empty list */
};

GPURT_DEV uint32_t list_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* A run of sorted numbers, in memory that ends with the pass. NULL: there is none. */
GPURT_DEVN uint32_t *run_make(gpurt_arena_t *scratch, uint32_t n, uint32_t *state)
{
    uint32_t *run = (uint32_t *)gpurt_arena_alloc(scratch, n * (uint32_t)sizeof *run);

    for (uint32_t i = 0; run && i < n; i++) {
        uint32_t number = list_random(state), at = i;

        for (; at > 0 && run[at - 1] > number; at--)
            run[at] = run[at - 1];
        run[at] = number;
    }
    return run;
}

/* Room for so many numbers: in place, or in a longer block elsewhere. */
GPURT_DEVN bool list_reserve(const gpurt_region_t *r, list_t *list, uint32_t count)
{
    uint32_t room = count + count / 2, *old = list->numbers, *more = old;

    if (count <= list->room)
        return true;
    if (!old || gpurt_region_resize(r, old, room * sizeof *more) != GPURT_REGION_OK) {
        more = (uint32_t *)gpurt_region_alloc(r, room * sizeof *more);
        if (!more)
            return false;
        for (uint32_t i = 0; old && i < list->count; i++)
            more[i] = old[i];
        gpurt_region_free(r, old);
    }
    list->numbers = more;
    list->room = room;
    return true;
}

GPURT_KERNEL(lists_grow, struct lists_args, p)
{
    list_t *list = &p->lists[gpurt_global_id()];
    uint32_t state = (p->pass << 16 | gpurt_global_id()) * 0x9e3779b1u;
    gpurt_arena_t scratch;

    gpurt_arena_init(&scratch, NULL, 0);
    gpurt_arena_grow_from(&scratch, &p->source, 0);
    if (list_random(&state) % ANEW == 0) {
        gpurt_region_free(&p->region, list->numbers);
        list->numbers = NULL;
        list->count = list->room = 0;
        list->sum = 0;
    }
    for (uint32_t k = 0; k < RUNS; k++) {
        uint32_t n = RUN_LEAST + list_random(&state) % RUN_MORE;
        uint32_t *run = run_make(&scratch, n, &state);

        if (!run || !list_reserve(&p->region, list, list->count + n)) {
            gpurt_red_add_relaxed_dev_u32(&p->counts->xrefused, 1); /* relaxed: a sum */
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            list->numbers[list->count++] = run[i];
            list->sum += run[i];
        }
    }
    gpurt_arena_end(&scratch);
}

/* Whether every list still holds what was appended. */
GPURT_KERNEL(lists_check, struct lists_args, p)
{
    const list_t *list = &p->lists[gpurt_global_id()];
    uint64_t sum = 0;

    for (uint32_t i = 0; i < list->count; i++)
        sum += list->numbers[i];
    gpurt_red_add_relaxed_dev_u32(&p->counts->xnumbers, list->count); /* relaxed: sums */
    gpurt_red_add_relaxed_dev_u32(&p->counts->xwrong, sum != list->sum);
}
