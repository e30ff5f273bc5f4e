/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps that grow. Kernels are told by two stores and nothing is asked of them: the words of
 * the pool's leaves, which nobody has touched before, then how many there are. A lane that
 * would go away empty reads the second and makes the first known to the others
 * (gpurt_run_take_up). */
#include "heapgrow.h"

#include "life.h"
#include "plural.h"
#include "refuse.h"

#include <gpurt/alloc.h>

#include <stdlib.h>
#include <string.h>

static size_t steps(uint64_t bytes)
{
    return (size_t)((bytes + GPURT_HEAP_STEP - 1) / GPURT_HEAP_STEP * GPURT_HEAP_STEP);
}

gpurt_status_t gpurt_heapgrow_create(gpurt_t *rt, uint32_t chunks, uint64_t bytes,
                                     gpurt_heap_t *h, gpurt_range_t **out,
                                     gpurt_error_t *err)
{
    gpurt_range_t *range = (gpurt_range_t *)calloc(1, sizeof *range);
    const gpurt_opened_t *o;
    gpurt_status_t st;

    *out = NULL;
    if (!range)
        return REFUSE(err, GPURT_E_NOMEM, "heap: out of memory");
    st = gpurt_life_enter(rt, &o, err);
    if (st == GPURT_OK) {
        if (!o->ops->range_create)
            st = REFUSE(err, GPURT_E_UNSUPPORTED,
                        "heap: addresses cannot be reserved here: leave reserve_bytes 0");
        else
            st = o->ops->range_create(o->self, (size_t)chunks * GPURT_CHUNK_BYTES, range,
                                      err);
        if (st == GPURT_OK)
            st = o->ops->range_back(o->self, range, steps(bytes), err);
        if (st != GPURT_OK && range->base)
            o->ops->range_destroy(o->self, range);
        gpurt_life_leave(o, st);
    }
    if (st != GPURT_OK) {
        free(range);
        return st;
    }
    h->chunks = (char *)range->base;
    *out = range;
    return GPURT_OK;
}

gpurt_status_t gpurt_heapgrow_destroy(gpurt_t *rt, gpurt_range_t *range)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!range)
        return GPURT_OK;
    st = gpurt_life_enter(rt, &o, NULL);
    if (st != GPURT_OK)
        return st;
    st = gpurt_life_leave(o, o->ops->range_destroy(o->self, range));
    free(range);
    return st;
}

/* What lies behind the leaves [from, to) may be handed out. */
static gpurt_status_t tell(const gpurt_opened_t *o, const gpurt_heap_t *h,
                           gpurt_range_t *range, uint64_t from, uint64_t to,
                           gpurt_error_t *err)
{
    uint64_t *leaves = gpurt_tree_leaves(h, GPURT_TREE_POOL);
    uint64_t *full = (uint64_t *)malloc((to - from) * sizeof *full);
    gpurt_status_t st;

    if (!full)
        return REFUSE(err, GPURT_E_NOMEM, "heap: out of memory");
    memset(full, 0xff, (to - from) * sizeof *full);
    st =
        o->ops->range_tell(o->self, range, leaves + from, full, (uint32_t)(to - from), err);
    if (st == GPURT_OK)
        st = o->ops->range_tell(o->self, range, &h->counts->xgrown, &to, 1, err);
    free(full);
    return st;
}

gpurt_status_t gpurt_heapgrow_more(gpurt_t *rt, const gpurt_heap_t *h, gpurt_range_t *range,
                                   uint64_t bytes, gpurt_error_t *err)
{
    size_t had = range->backed, want = range->bytes - had;
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (bytes > want)
        return REFUSE(err, GPURT_E_NOMEM,
                      "heap: %llu byte%s more: only %zu of the %zu reserved are left",
                      (unsigned long long)bytes, gpurt_plural(bytes, "s"), want,
                      range->bytes);
    want = had + steps(bytes); /* no more than that: it is whole steps, too */
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = o->ops->range_back(o->self, range, want, err);
    if (st == GPURT_OK && want > had)
        st = tell(o, h, range, had / GPURT_HEAP_STEP, want / GPURT_HEAP_STEP, err);
    return gpurt_life_leave(o, st);
}
