/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds of a drainer: a look that fills the batch, rows to the sinks, and batches handed
 * over to be written, which is what frees space in the rings. */
#include "drainpart.h"

#include "hosttime.h"
#include "procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_NS  100000000ull
#define SOON      4   /* a part of it: when a frame closes that has enough rows ... */
#define SOON_ROWS 256 /* ... so that its head, 250 bytes with all, is a byte of each */
#define SETTLE_NS 50000000ull
#define ALIVE_NS  5000000ull /* asking /proc takes 10 us */
/* A context of a GPU that waited for its turn among sixteen was silent for 0.2 s, and one that ended
 * among them took seconds. */
#define HEIRS_NS      5000000000ull
#define LOOK_HEIRS_NS 50000000ull

#define RATE_MAX 100000000 /* ppb: a tenth; real clocks stay far below */

/* ---- open and close ------------------------------------------------------------------ */

static bool section_open(gpurt_drain_t *d, uint32_t index)
{
    const gpurt_box_section_t *s = &d->map->sections[index];
    drain_section_t *own = &d->sections[index];

    own->positions = calloc(s->ring_count, sizeof *own->positions);
    own->cursors = calloc(s->ring_count, sizeof *own->cursors);
    own->sites = calloc(s->def_count ? s->def_count : 1, sizeof *own->sites);
    own->slots = calloc(s->panic_count ? s->panic_count : 1, sizeof *own->slots);
    own->slot_since = calloc(s->panic_count ? s->panic_count : 1, sizeof *own->slot_since);
    return own->positions && own->cursors && own->sites && own->slots && own->slot_since;
}

static gpurt_status_t memory_take(gpurt_drain_t *d, gpurt_error_t *err)
{
    uint32_t rings = 0;
    bool ordered = false, ok = true;

    for (uint32_t i = 0; i < d->map->section_count; i++) {
        ok = section_open(d, i) && ok;
        rings += d->map->sections[i].ring_count;
    }
    for (uint32_t i = 0; i < d->options.sink_count; i++)
        ordered |= d->options.sinks[i].put && d->options.sinks[i].in_order;
    d->hot.names = malloc((rings + 1) * sizeof *d->hot.names);
    d->flood.names = malloc((rings + 1) * sizeof *d->flood.names);
    d->entries = malloc(BATCH_ROWS * sizeof *d->entries);
    d->spare = ordered ? malloc(BATCH_ROWS * sizeof *d->spare) : NULL;
    if (!ok || !d->hot.names || !d->flood.names || !d->entries || (ordered && !d->spare))
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "drain: memory");
    return drain_batches_make(d, rings, err);
}

static gpurt_status_t options_take(gpurt_drain_t *d, const gpurt_drain_options_t *options,
                                   gpurt_error_t *err)
{
    d->options = *options;
    d->options.flush_ns = options->flush_ns ? options->flush_ns : FLUSH_NS;
    d->options.settle_ns = options->settle_ns ? options->settle_ns : SETTLE_NS;
    d->options.heirs_ns = options->heirs_ns ? options->heirs_ns : HEIRS_NS;
    for (uint32_t i = 0; i < options->sink_count; i++) {
        const gpurt_drain_sink_t *sink = &d->options.sinks[i];

        d->put_any |= sink->put != NULL;
        if (!sink->prepare)
            continue;
        if (d->store || !sink->commit || !sink->holds)
            return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "drain: one store, with commit and holds");
        d->store = sink;
    }
    return GPURT_OK;
}

bool gpurt_drain_is_patient(const gpurt_boxmap_t *map)
{
    return map->section_count == 1 && map->sections[0].kind == GPURT_SECTION_HOST;
}

gpurt_status_t gpurt_drain_open(const gpurt_boxmap_t *map,
                                const gpurt_drain_options_t *options, gpurt_drain_t **out,
                                gpurt_error_t *err)
{
    gpurt_drain_t *d;
    gpurt_status_t st;

    *out = NULL;
    if (!options || options->struct_size != sizeof *options || !options->dictionary ||
        options->sink_count > GPURT_DRAIN_SINKS)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "drain: options");
    d = calloc(1, sizeof *d);
    if (!d)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "drain");
    d->map = map;
    d->patient = gpurt_drain_is_patient(map);
    d->now_ns = d->last_row_ns = gpurt_real_ns();
    st = options_take(d, options, err);
    if (st == GPURT_OK)
        st = drain_claim(d, err);
    if (st == GPURT_OK)
        st = memory_take(d, err);
    if (st != GPURT_OK) {
        gpurt_drain_close(d);
        return st;
    }
    st = drain_take_over(d, err);
    if (st != GPURT_OK) {
        gpurt_drain_close(d);
        return st;
    }
    gpurt_scribe_join(d->options.scribe);
    d->joined = true;
    *out = d;
    return GPURT_OK;
}

void gpurt_drain_close(gpurt_drain_t *d)
{
    if (!d)
        return;
    drain_batches_free(d);
    if (d->joined)
        gpurt_scribe_leave(d->options.scribe);
    drain_unclaim(d);
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++) {
        free(d->sections[i].positions);
        free(d->sections[i].cursors);
        free(d->sections[i].sites);
        free(d->sections[i].slots);
        free(d->sections[i].slot_since);
    }
    free(d->hot.names);
    free(d->flood.names);
    free(d->lap);
    free(d->entries);
    free(d->spare);
    free(d);
}

/* ---- rows to sinks ------------------------------------------------------------------- */

/* One row to the sinks of a stage. A row that one of them refuses comes again to all of
 * them, so a sink that can fail should be the first of its stage. */
static gpurt_status_t row_put(gpurt_drain_t *d, const gpurt_row_t *row, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < d->options.sink_count; i++) {
        const gpurt_drain_sink_t *sink = &d->options.sinks[i];
        gpurt_status_t st;

        if (!sink->put || sink->in_order != d->sorted)
            continue;
        st = sink->put(sink->context, row, err);
        if (st != GPURT_OK)
            return st;
    }
    return GPURT_OK;
}

/* Lists the rows that are new in the batch. */
static void fresh_list(gpurt_drain_t *d)
{
    uint32_t offset = d->given_used;

    for (; d->fresh < d->batch->count - d->given; d->fresh++) {
        const gpurt_row_t *row = (const gpurt_row_t *)(d->batch->rows + offset);

        d->entries[d->fresh] = (gpurt_timed_t){row->time_ns, offset};
        offset += gpurt_row_bytes(row->words);
    }
}

/* Hands on what is new to the sinks that take rows: first as it was found, then in order. */
static gpurt_status_t fresh_give(gpurt_drain_t *d, gpurt_error_t *err)
{
    if (d->batch->count == d->given)
        return GPURT_OK;
    if (d->put_any && d->fresh == 0)
        fresh_list(d);
    while (d->fresh) {
        for (; d->put < d->fresh; d->put++) {
            gpurt_status_t st = row_put(
                d, (const gpurt_row_t *)(d->batch->rows + d->entries[d->put].offset), err);

            if (st != GPURT_OK)
                return st;
        }
        d->put = 0;
        if (d->sorted || !d->spare)
            break;
        gpurt_timesort(d->entries, d->spare, d->fresh);
        d->sorted = true;
    }
    for (uint32_t i = 0; i < d->options.sink_count; i++)
        if (d->options.sinks[i].watch)
            d->options.sinks[i].watch(d->options.sinks[i].context,
                                      (const gpurt_row_t *)(d->batch->rows + d->given_used),
                                      d->batch->used - d->given_used,
                                      d->batch->count - d->given, !d->batch->disordered);
    d->given = d->batch->count;
    d->given_used = d->batch->used;
    d->fresh = 0;
    d->sorted = false;
    return GPURT_OK;
}

/* ---- a flush ------------------------------------------------------------------------- */

static gpurt_status_t flush_begin(gpurt_drain_t *d, gpurt_error_t *err)
{
    gpurt_status_t st = fresh_give(d, err);

    for (uint32_t i = 0; st == GPURT_OK && i < d->options.sink_count; i++)
        if (d->options.sinks[i].flush)
            st = d->options.sinks[i].flush(d->options.sinks[i].context, err);
    if (st == GPURT_OK)
        st = drain_hand(d, err); /* last: what the store has must not come again */
    if (st != GPURT_OK)
        return st;
    d->given = d->given_used = 0;
    d->oldest_ns = 0;
    d->urgent = d->half = d->full = false;
    return GPURT_OK;
}

gpurt_status_t gpurt_drain_flush(gpurt_drain_t *d, gpurt_error_t *err)
{
    gpurt_status_t st = flush_begin(d, err);

    return st == GPURT_OK ? drain_settle(d, err) : st;
}

static bool rows_are_old(const gpurt_drain_t *d)
{
    uint64_t age = d->now_ns - d->oldest_ns;

    return age >= d->options.flush_ns ||
           (age >= d->options.flush_ns / SOON && d->batch->count >= SOON_ROWS);
}

/* A full batch; a panic; rows that have waited long enough. A ring half used up, whose space is
 * given back before it is missed, only where the shelf did not take it. Small ones wait until
 * the one before them is written, so that there are not many. */
static bool flush_due(const gpurt_drain_t *d)
{
    if (d->full)
        return drain_can_hand(d) || d->final;
    return d->oldest_ns && d->handed == 0 &&
           (d->urgent || (d->half && !d->cut) || rows_are_old(d));
}

/* ---- a round ------------------------------------------------------------------------- */

static void times_read(gpurt_drain_t *d)
{
    d->now_ns = gpurt_real_ns();
    for (uint32_t i = 0; i < d->map->section_count; i++) {
        drain_section_t *own = &d->sections[i];
        gpurt_clock_fit_t fit;

        if (gpurt_boxmap_clock(d->map, i, &fit)) {
            own->fit = fit;
            own->rate = labs(fit.rate_ppb) <= RATE_MAX ? (double)fit.rate_ppb * 1e-9 : 0;
        }
        drain_time_base(d, own);
    }
}

gpurt_status_t gpurt_drain_round(gpurt_drain_t *d, uint32_t *rows, gpurt_error_t *err)
{
    uint32_t before = d->batch->count;
    gpurt_status_t st;

    *rows = 0;
    d->sum.rounds++;
    times_read(d);
    if (d->fresh == 0)
        d->full = !drain_look(d) || d->full;
    *rows = d->batch->count - before;
    if (*rows) {
        d->last_row_ns = d->now_ns;
        d->oldest_ns = d->oldest_ns ? d->oldest_ns : d->now_ns;
    }
    st = fresh_give(d, err);
    if (st == GPURT_OK)
        st = drain_collect(d, err);
    if (st != GPURT_OK) {
        d->refused = true;
        return st;
    }
    /* The writers of a patient drain's ring can wait, and its frames are as large as it. */
    if (d->half && !d->cut && !d->full && !d->patient)
        d->half = !drain_shelve(d);
    if (flush_due(d))
        st = flush_begin(d, err);
    if (st == GPURT_OK)
        drain_beat(d);
    else
        d->refused = true;
    return st;
}

/* ---- the end ------------------------------------------------------------------------- */

static bool application_closed(const gpurt_drain_t *d)
{
    return gpurt_load_acquire_sys_u32(&d->map->box->xlife) ==
           GPURT_LIFE_CLOSED; /* B4.acq */
}

static bool application_gone(gpurt_drain_t *d)
{
    if (application_closed(d))
        return true;
    if (d->alive && d->now_ns - d->alive_ns < ALIVE_NS)
        return false;
    d->alive_ns = d->now_ns;
    d->alive = gpurt_boxmap_alive(d->map);
    return !d->alive;
}

/* Sees whether somebody has inherited the box from an application that did not close it. A process
 * that it forked holds what it held of the GPU, too, and the GPU's kernels run on until the last
 * holder is gone. It may be any process that is about to end: which ones had the box, nothing
 * tells then. */
static void heirs_look(gpurt_drain_t *d)
{
    bool possible = d->map->fd >= 0 && !application_closed(d);

    if (d->alone_ns ||
        (possible && d->heirs_seen_ns && d->now_ns - d->heirs_seen_ns < LOOK_HEIRS_NS))
        return;
    d->heirs_seen_ns = d->now_ns;
    if (!possible || !gpurt_file_held_elsewhere(d->map->fd))
        d->alone_ns = d->now_ns;
}

/* Whether all rings were looked at, and what they held is in the file, so that its room is free
 * again. Before, who writes may be waiting for us: that nothing comes then tells nothing. */
static bool caught_up(const gpurt_drain_t *d)
{
    return !d->cut && d->batch->count == 0 && d->handed == 0;
}

/* A store that refuses is not waited for: it may for ever, and the finish says so. The last heir is
 * seen gone after the round's look at the rings, and may have written in between: the silence
 * that counts begins there. */
bool gpurt_drain_over(gpurt_drain_t *d)
{
    uint64_t quiet;

    if (!application_gone(d)) {
        d->quiet_since = 0;
        return false;
    }
    d->urgent |= d->batch->count > 0; /* no more will come to fill its frame */
    if (d->quiet_since == 0 || d->last_row_ns > d->quiet_since ||
        (!caught_up(d) && !d->refused))
        d->quiet_since = d->now_ns;
    quiet = d->now_ns - d->quiet_since;
    heirs_look(d);
    if (d->alone_ns && d->now_ns - d->alone_ns < quiet)
        quiet = d->now_ns - d->alone_ns;
    return quiet >= (d->alone_ns ? d->options.settle_ns : d->options.heirs_ns);
}

static void laps_limit(gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->map->section_count; i++)
        for (uint32_t r = 0; r < d->map->sections[i].ring_count; r++)
            d->sections[i].cursors[r].records_left =
                d->map->sections[i].ring_bytes / GPURT_GROUP_BYTES;
}

gpurt_status_t gpurt_drain_finish(gpurt_drain_t *d, gpurt_error_t *err)
{
    uint32_t rows;
    gpurt_status_t st;

    laps_limit(d);
    d->final = true;
    d->alive = false;
    d->over = application_gone(d);
    d->looking = false; /* one that was under way was less thorough */
    d->at_section = d->at_ring = 0;
    do
        st = gpurt_drain_round(d, &rows, err);
    while (st == GPURT_OK && (rows > 0 || d->looking || d->cut));
    return st == GPURT_OK ? gpurt_drain_flush(d, err) : st;
}

void gpurt_drain_figures(const gpurt_drain_t *d, gpurt_drain_figures_t *out)
{
    *out = d->sum;
}

void gpurt_drain_about(const gpurt_boxmap_t *map, gplog_file_t *out)
{
    memset(out, 0, sizeof *out);
    out->created_ns = gpurt_real_ns();
    out->gpurt_version = map->box->gpurt_version;
    out->section_count = map->section_count;
    memcpy(&out->identity, &map->box->identity, sizeof out->identity);
    for (uint32_t i = 0; i < map->section_count; i++) {
        const gpurt_box_section_t *s = &map->sections[i];
        gplog_section_t *to = &out->sections[i];

        to->kind = s->kind;
        to->device = s->device;
        to->sm_count = s->sm_count;
        to->warp_slots = s->warp_slots;
        memcpy(to->uuid, s->uuid, sizeof to->uuid);
        memcpy(to->name, s->name, sizeof to->name);
    }
}
