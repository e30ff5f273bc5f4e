/* SPDX-License-Identifier: Apache-2.0 */
/* The default heap, in every unit of device code. */
#include "heapmap.h"

#include "life.h"
#include "ownwait.h"
#include "process.h"
#include "refuse.h"
#include "serviceown.h"

#include <gpurt/alloc.h>
#include <string.h>

static gpurt_lock_t units_lock = GPURT_LOCK_INIT;
static gpurt_heap_unit_t *first; /* under units_lock */
static bool wanted;              /* under units_lock: a unit has malloc.h */

/* Written by: gpurt_heap_set_default, while no kernel of that device runs. */
gpurt_heap_t gpurt_heap_defaults[GPURT_MAX_DEVICES];

void gpurt_heap_unit_add(gpurt_heap_unit_t *unit)
{
    gpurt_lock_take(&units_lock);
    unit->next = first;
    first = unit;
    gpurt_lock_give(&units_lock);
}

void gpurt_heap_want(void)
{
    gpurt_lock_take(&units_lock);
    wanted = true;
    gpurt_lock_give(&units_lock);
}

bool gpurt_heap_wanted(void)
{
    bool answer;

    gpurt_lock_take(&units_lock);
    answer = wanted;
    gpurt_lock_give(&units_lock);
    return answer;
}

void gpurt_heap_unit_remove(gpurt_heap_unit_t *unit)
{
    gpurt_heap_unit_t **at;

    gpurt_lock_take(&units_lock);
    for (at = &first; *at && *at != unit; at = &(*at)->next)
        ;
    if (*at)
        *at = unit->next;
    gpurt_lock_give(&units_lock);
}

static gpurt_status_t units_write(const gpurt_opened_t *o, const gpurt_heap_t *heap,
                                  gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    if (!o->ops->constant_write)
        return st;
    gpurt_lock_take(&units_lock);
    for (const gpurt_heap_unit_t *unit = first; unit && st == GPURT_OK; unit = unit->next)
        st = o->ops->constant_write(o->self, unit->symbol, heap, sizeof *heap, err);
    gpurt_lock_give(&units_lock);
    return st;
}

static gpurt_status_t default_write(gpurt_t *rt, const gpurt_heap_t *heap,
                                    gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_own_sync(rt, err);

    if (st == GPURT_OK)
        st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    gpurt_heap_defaults[o->index] = *heap;
    return gpurt_life_leave(o, units_write(o, heap, err));
}

gpurt_status_t gpurt_heapunit_check(gpurt_t *rt, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);

    if (st == GPURT_OK && gpurt_services_run(o))
        st = REFUSE(err, GPURT_E_SERVICE,
                    "heap: the default cannot change while a service runs, as kernels read "
                    "it at any time: set it before, or stop services first");
    else if (st != GPURT_OK)
        return st;
    return gpurt_life_leave(o, st);
}

gpurt_status_t gpurt_heapunit_clear(gpurt_t *rt, gpurt_error_t *err)
{
    static const gpurt_heap_t none;

    return default_write(rt, &none, err);
}

gpurt_status_t gpurt_heap_set_default(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heapunit_check(rt, err);

    if (st == GPURT_OK && !heap)
        return gpurt_heapunit_clear(rt, err);
    if (st == GPURT_OK)
        st = gpurt_heap_take(rt, heap, err);
    if (st != GPURT_OK)
        return st;
    st = default_write(rt, heap, err);
    gpurt_heap_drop(heap);
    return st;
}

void gpurt_heapunit_forked(void)
{
    memset(gpurt_heap_defaults, 0, sizeof gpurt_heap_defaults);
}
