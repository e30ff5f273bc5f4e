/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: filled by the drain's thread, written by the scribe's or, without one, at once.
 *
 * A batch that is handed over carries all that its flush needs: rows, where its rings will
 * stand, its panics, its number. The scribe plans, writes and frees from that alone, so the
 * drain's own cursors go on meanwhile. Flushes are done in the order of their numbers, and
 * one that fails is the next to be tried, so a plan never speaks for rows of another.
 *   SC1  batch given (the scribe's lock) and xstate.rel -> collect.acq   rows, marks, and
 *        what the file has; by the first, the loads of groups come before B2.rel */
#include "drainpart.h"

#include <errno.h>
#include <stdlib.h>

/* ---- memory -------------------------------------------------------------------------- */

static bool batch_make(gpurt_drain_t *d, drain_batch_t *b, uint32_t rings, uint32_t panics)
{
    b->drain = d;
    b->job.owner = d;
    b->rows = malloc(BATCH_BYTES);
    b->marks = malloc((rings + 1) * sizeof *b->marks);
    b->panics = malloc((panics + 1) * sizeof *b->panics);
    return b->rows && b->marks && b->panics;
}

gpurt_status_t drain_batches_make(gpurt_drain_t *d, uint32_t rings, gpurt_error_t *err)
{
    uint32_t panics = 0;

    for (uint32_t i = 0; i < d->map->section_count; i++)
        panics += d->map->sections[i].panic_count;
    d->batch_count = d->options.scribe ? BATCHES : 1;
    d->batch = d->batches;
    for (uint32_t i = 0; i < d->batch_count; i++)
        if (!batch_make(d, &d->batches[i], rings, panics))
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                              "drain: memory");
    return GPURT_OK;
}

/* What was handed over is still written, if it can be; else it is in the rings or on the shelf. */
void drain_batches_free(gpurt_drain_t *d)
{
    if (d->handed) {
        gpurt_scribe_settle(d->options.scribe);
        gpurt_scribe_forget(d->options.scribe, d);
    }
    for (uint32_t i = 0; i < d->batch_count; i++) {
        free(d->batches[i].rows);
        free(d->batches[i].marks);
        free(d->batches[i].panics);
    }
}

/* ---- marks --------------------------------------------------------------------------- */

void drain_touch(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    drain_cursor_t *c = &d->sections[section].cursors[ring];

    if (c->touched)
        return;
    c->touched = true;
    d->batch->marks[d->batch->mark_count++].ring = drain_ring_name(section, ring);
}

void drain_marks_set(gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->batch->mark_count; i++) {
        drain_mark_t *m = &d->batch->marks[i];
        const drain_section_t *s = &d->sections[drain_name_section(m->ring)];
        const drain_cursor_t *c = &s->cursors[drain_name_ring(m->ring)];

        m->tail = s->positions[drain_name_ring(m->ring)];
        m->lost_told = c->lost_told;
        m->seen = c->seen;
    }
    for (uint32_t i = 0; i < d->map->section_count; i++)
        d->batch->missing_told[i] = d->sections[i].missing_told;
    d->batch->shelf_at = d->shelf_at;
}

void drain_marks_drop(gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->batch->mark_count; i++) {
        const drain_mark_t *m = &d->batch->marks[i];
        drain_section_t *s = &d->sections[drain_name_section(m->ring)];

        s->cursors[drain_name_ring(m->ring)].touched = false;
        s->cursors[drain_name_ring(m->ring)].handed = m->tail;
    }
}

/* ---- a flush ------------------------------------------------------------------------- */

static gpurt_status_t batch_write(drain_batch_t *b)
{
    const gpurt_drain_sink_t *store = b->drain->store;
    gpurt_box_intent_t place = {0};
    gpurt_status_t st = GPURT_OK;

    if (store && b->count)
        st = store->prepare(store->context, (const gpurt_row_t *)b->rows, b->used, b->count,
                            &place, &b->err);
    if (st != GPURT_OK)
        return st;
    drain_plan(b, &place);
    if (store && b->count)
        st = store->commit(store->context, &b->err);
    if (st == GPURT_OK)
        drain_free(b);
    return st;
}

static bool batch_run(gpurt_scribe_job_t *job)
{
    drain_batch_t *b = (drain_batch_t *)job; /* its first member */
    bool ok;

    b->status = batch_write(b);
    ok = b->status == GPURT_OK;

    gpurt_store_release_sys_u32(&b->xstate,
                                ok ? BATCH_WRITTEN : BATCH_FAILED); /* SC1.rel */
    return ok;
}

static void batch_clear(drain_batch_t *b)
{
    b->used = b->count = b->mark_count = b->panic_count = 0;
    b->newest_ns = 0;
    b->disordered = false;
}

bool drain_can_hand(const gpurt_drain_t *d)
{
    return d->batch_count == 1 || d->handed < d->batch_count - 1;
}

static void batch_submit(gpurt_drain_t *d)
{
    drain_batch_t *b = d->batch;

    b->job.run = batch_run;
    gpurt_store_relaxed_sys_u32(&b->xstate,
                                BATCH_HANDED); /* relaxed: the lock carries it */
    gpurt_scribe_submit(d->options.scribe, &b->job);
    d->handed++;
    d->batch = &d->batches[(uint32_t)(b - d->batches + 1) % d->batch_count];
}

/* Without a scribe, or where nobody minds, nor any other drain of this thread, and the scribe is
 * at rest: then rows are packed where they are in the cache, and nobody is woken. */
static bool writes_itself(const gpurt_drain_t *d)
{
    return !d->options.scribe || (d->patient && gpurt_scribe_rests(d->options.scribe));
}

gpurt_status_t drain_hand(gpurt_drain_t *d, gpurt_error_t *err)
{
    drain_batch_t *b = d->batch;
    bool itself;
    gpurt_status_t st = GPURT_OK;

    if (!drain_can_hand(d))
        st = drain_settle(d, err);
    if (st == GPURT_OK && d->store && d->store->note)
        st = d->store->note(d->store->context, err);
    if (st != GPURT_OK)
        return st;
    b->number = d->flush_number + 1;
    drain_marks_set(d);
    itself = writes_itself(d);
    if (itself) {
        st = batch_write(b);
        if (st != GPURT_OK) {
            if (err)
                *err = b->err;
            return st;
        }
    }
    d->flush_number++;
    d->sum.rows += b->count;
    drain_marks_drop(d);
    if (itself) {
        batch_clear(b);
        d->refused = false;
    } else {
        batch_submit(d);
    }
    return GPURT_OK;
}

static gpurt_status_t batch_again(gpurt_drain_t *d, drain_batch_t *b, gpurt_error_t *err)
{
    gpurt_status_t st = b->status; /* read before it is the scribe's again */

    if (err)
        *err = b->err;
    gpurt_store_relaxed_sys_u32(&b->xstate,
                                BATCH_HANDED); /* relaxed: the lock carries it */
    gpurt_scribe_retry(d->options.scribe);
    return st;
}

gpurt_status_t drain_collect(gpurt_drain_t *d, gpurt_error_t *err)
{
    while (d->handed) {
        uint32_t at = (uint32_t)(d->batch - d->batches);
        drain_batch_t *b = &d->batches[(at + d->batch_count - d->handed) % d->batch_count];
        uint32_t state = gpurt_load_acquire_sys_u32(&b->xstate); /* SC1.acq */

        if (state == BATCH_HANDED)
            break;
        if (state == BATCH_FAILED)
            return batch_again(d, b, err);
        batch_clear(b);
        d->handed--;
        d->refused = false;
    }
    return GPURT_OK;
}

gpurt_status_t drain_settle(gpurt_drain_t *d, gpurt_error_t *err)
{
    for (;;) {
        gpurt_status_t st = drain_collect(d, err);
        bool settled;

        if (st != GPURT_OK || d->handed == 0)
            return st;
        settled = gpurt_scribe_settle(d->options.scribe);
        st = drain_collect(d, err);
        if (st != GPURT_OK || d->handed == 0)
            return st;
        if (!settled)
            return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                              "the log cannot be written: other rows wait before ours");
    }
}
