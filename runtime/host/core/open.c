/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt_open and gpurt_close: the order in which a device and its parts come and go. */
#include "life.h"
#include "logunit.h"
#include "part.h"
#include "refuse.h"

static uint32_t xsettled; /* gpurt_process_first's */

#define PARTS_EACH(p_) \
    for (const gpurt_part_t *const *at_ = gpurt_parts, *p_; (p_ = *at_) != NULL; at_++)

/* The first failure counts, and is told. */
static void status_add(gpurt_status_t *all, gpurt_status_t st)
{
    if (*all == GPURT_OK)
        *all = st;
}

/* ---- after a fork -------------------------------------------------------------------- */

/* In a child: what its parent had open is let go. No thread of it is here. */
static void place_forked(uint32_t index)
{
    gpurt_place_t *p = gpurt_life_place(index);

    if (p->changes || p->is_open)
        PARTS_EACH(part)
    if (part->forked)
        part->forked(index, p->changes ? NULL : &p->opened);
    p->is_open = p->changes = false;
}

static void settle(void)
{
    if (!gpurt_process_first(&xsettled))
        return;
    if (gpurt_process_is_forked()) {
        gpurt_life_forked();
        for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++)
            place_forked(i);
        PARTS_EACH(part)
        if (part->forked_all)
            part->forked_all();
    }
    gpurt_process_ready(&xsettled);
}

/* ---- open ---------------------------------------------------------------------------- */

static gpurt_status_t place_open(uint32_t index, const gpurt_options_t *options,
                                 gpurt_error_t *err)
{
    gpurt_place_t *p = gpurt_life_place(index);
    gpurt_status_t st;

    p->changes = true;
    st = gpurt_choice_open(options, index, &p->opened, err);
    if (st == GPURT_OK)
        PARTS_EACH(part)
    if (part->open)
        part->open(&p->opened, options);
    p->is_open = st == GPURT_OK;
    p->changes = false;
    return st;
}

gpurt_status_t gpurt_open(const gpurt_options_t *options, gpurt_t **out, gpurt_error_t *err)
{
    gpurt_options_t read;
    gpurt_status_t st;
    uint32_t index;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "gpurt_open: out is NULL; pass the address of a gpurt_t pointer");
    *out = NULL;
    settle();
    gpurt_log_unit_opened();
    st = gpurt_choice_options(options, &read, err);
    if (st != GPURT_OK)
        return st;
    gpurt_life_lock();
    index = gpurt_life_vacant();
    if (index == GPURT_MAX_DEVICES)
        st = REFUSE(err, GPURT_E_OPEN, "%d devices are open, more cannot be: close one",
                    GPURT_MAX_DEVICES);
    else
        st = place_open(index, &read, err);
    if (st == GPURT_OK)
        *out = gpurt_life_let_in(index);
    gpurt_life_unlock();
    if (st == GPURT_OK)
        PARTS_EACH(part)
    if (part->ready)
        part->ready(*out);
    return st;
}

/* ---- close --------------------------------------------------------------------------- */

/* Returns: GPURT_E_TIMEOUT when a part cannot end yet; else the first failure. */
static gpurt_status_t parts_closing(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_status_t first = GPURT_OK, st;

    PARTS_EACH(part)
    {
        if (!part->closing)
            continue;
        st = part->closing(rt, first == GPURT_OK ? err : NULL);
        if (st == GPURT_E_TIMEOUT)
            return st;
        status_add(&first, st);
    }
    return first;
}

/* Work first, so that its failure is told with all the back end knows about it. */
static gpurt_status_t dismantle(gpurt_opened_t *o, gpurt_error_t *err)
{
    gpurt_status_t first = o->ops->sync(o->self, err);

    PARTS_EACH(part)
    if (part->close)
        status_add(&first, part->close(o, first, first == GPURT_OK ? err : NULL));
    status_add(&first, o->ops->close(o->self, first == GPURT_OK ? err : NULL));
    return first;
}

gpurt_status_t gpurt_close(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_place_t *p = gpurt_life_place(gpurt_life_index(rt));
    gpurt_status_t first;

    if (!rt)
        return GPURT_OK;
    settle();
    if (gpurt_life_is_forked(rt)) {
        gpurt_life_forked_close(rt);
        return GPURT_OK;
    }
    first = parts_closing(rt, err);
    if (first == GPURT_E_TIMEOUT)
        return first;
    gpurt_life_lock();
    if (gpurt_life_shut(rt)) {
        p->changes = true;
        status_add(&first, dismantle(&p->opened, first == GPURT_OK ? err : NULL));
        p->is_open = p->changes = false;
    } else {
        first = gpurt_life_refuse(rt, err);
    }
    gpurt_life_unlock();
    return first;
}
