/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds of a drainer: claim, panics, rings, sort, sinks, flush, and only then the
 * tails. */
#include "drainpart.h"

#include "procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS  100000000ull
#define SETTLE_NS 50000000ull
enum {
    REST_AFTER = 64,
    REST_MIN_NS = 20000,
    REST_MAX_NS = 500000
};

/* ---- claim --------------------------------------------------------------------------- */

static gpurt_status_t claim(gpurt_drain_t *d, gpurt_error_t *err)
{
    gpurt_box_claim_t *c = &d->map->box->claim;
    uint64_t owner = gpurt_load_acquire_sys_u64(&c->xowner); /* B7.acq */
    uint32_t pid = (uint32_t)owner;

    if (!d->map->writable)
        return GPURT_OK;
    /* start_ticks of a claim that is being made right now may still be 0: then it is
     * alive. */
    if (pid && (c->start_ticks == 0 ? gpurt_process_start(pid) != 0
                                    : gpurt_process_alive(pid, c->start_ticks)))
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "the box is drained by process %u; end that one first", pid);
    d->epoch = (uint32_t)(owner >> 32) + 1;
    if (!gpurt_cas_acquire_sys_u64(
            &c->xowner, &owner, (uint64_t)d->epoch << 32 | (uint32_t)getpid())) /* B7.acq */
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "the box was just claimed by process %u", (uint32_t)owner);
    c->start_ticks = gpurt_process_start((uint32_t)getpid());
    d->sum.takeovers = d->epoch - 1;
    return GPURT_OK;
}

static void unclaim(gpurt_drain_t *d)
{
    gpurt_box_claim_t *c = &d->map->box->claim;
    uint64_t mine = (uint64_t)d->epoch << 32 | (uint32_t)getpid();

    if (!d->map->writable || d->epoch == 0)
        return;
    c->start_ticks = 0;
    gpurt_cas_release_sys_u64(&c->xowner, &mine, (uint64_t)d->epoch << 32); /* B7.rel */
}

/* ---- open and close ------------------------------------------------------------------ */

static bool section_open(gpurt_drain_t *d, uint32_t index)
{
    const gpurt_box_section_t *s = &d->map->sections[index];
    drain_section_t *own = &d->sections[index];

    own->cursors = calloc(s->ring_count, sizeof *own->cursors);
    own->sites = calloc(s->def_count ? s->def_count : 1, sizeof *own->sites);
    if (!own->cursors || !own->sites)
        return false;
    for (uint32_t r = 0; r < s->ring_count; r++) {
        const gpurt_ring_control_t *c = gpurt_boxmap_control(d->map, index, r);

        own->cursors[r].position = gpurt_load_acquire_sys_u32(&c->xtail); /* B2.acq */
        own->cursors[r].freed = own->cursors[r].position;
        own->cursors[r].seen = c->xseen | (uint64_t)c->xseen_high << 32;
        own->cursors[r].lost_told = c->xlost_told;
    }
    own->next_panic = d->map->box->claim.panics_told[index];
    return true;
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
    d->options = *options;
    d->options.flush_ns = options->flush_ns ? options->flush_ns : FLUSH_NS;
    d->options.settle_ns = options->settle_ns ? options->settle_ns : SETTLE_NS;
    d->now_ns = d->last_row_ns = gpurt_real_ns();
    st = claim(d, err);
    if (st != GPURT_OK)
        goto fail;
    d->rows = malloc(BATCH_BYTES + LONGEST_ROW);
    d->entries = malloc(BATCH_ROWS * sizeof *d->entries);
    d->spare = malloc(BATCH_ROWS * sizeof *d->spare);
    if (!d->rows || !d->entries || !d->spare) {
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "drain: batch");
        goto fail;
    }
    for (uint32_t i = 0; i < map->section_count; i++)
        if (!section_open(d, i)) {
            st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "drain: cursors");
            goto fail;
        }
    *out = d;
    return GPURT_OK;

fail:
    gpurt_drain_close(d);
    return st;
}

void gpurt_drain_close(gpurt_drain_t *d)
{
    if (!d)
        return;
    unclaim(d);
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++) {
        free(d->sections[i].cursors);
        free(d->sections[i].sites);
    }
    free(d->rows);
    free(d->entries);
    free(d->spare);
    free(d);
}

/* ---- a round ------------------------------------------------------------------------- */

/* Panics come first: they are few, and someone waits for them. Slots fill nearly in
 * order. */
static bool panics_take(gpurt_drain_t *d, uint32_t section)
{
    drain_section_t *own = &d->sections[section];

    while (own->next_panic < d->map->sections[section].panic_count) {
        const gpurt_panic_t *slot = gpurt_boxmap_panic(d->map, section, own->next_panic);
        gpurt_panic_t copy;

        if (gpurt_load_acquire_sys_u32(&slot->xstate) != GPURT_PANIC_WRITTEN) /* B6.acq */
            return true;
        memcpy(&copy, slot, sizeof copy);
        if (!drain_panic(d, section, &copy))
            return false;
        own->next_panic++;
        d->urgent = true;
    }
    return true;
}

/* Fills the batch; goes on next time at the ring that did not fit. */
static void sweep(gpurt_drain_t *d)
{
    uint32_t sections = d->map->section_count;

    for (uint32_t i = 0; i < sections; i++)
        if (!panics_take(d, i))
            return;
    for (uint32_t n = 0; n < sections; n++) {
        uint32_t rings = d->map->sections[d->at_section].ring_count;

        for (; d->at_ring < rings; d->at_ring++)
            if (!drain_ring(d, d->at_section, d->at_ring))
                return;
        d->at_ring = 0;
        d->at_section = (d->at_section + 1) % sections;
    }
}

/* Space in the rings may be used again; a drainer after us starts here. */
static void tails_publish(gpurt_drain_t *d)
{
    if (!d->map->writable)
        return;
    for (uint32_t i = 0; i < d->map->section_count; i++) {
        drain_section_t *own = &d->sections[i];

        for (uint32_t r = 0; r < d->map->sections[i].ring_count; r++) {
            gpurt_ring_control_t *c = gpurt_boxmap_control(d->map, i, r);
            drain_cursor_t *cursor = &own->cursors[r];

            if (c->xlost_told != cursor->lost_told)
                c->xlost_told = cursor->lost_told;
            if (cursor->freed == cursor->position)
                continue;
            cursor->freed = cursor->position;
            c->xseen = (uint32_t)cursor->seen;
            c->xseen_high = (uint32_t)(cursor->seen >> 32);
            gpurt_store_release_sys_u32(&c->xtail, cursor->position); /* B2.rel */
        }
        d->map->box->claim.panics_told[i] = own->next_panic;
    }
    d->map->box->claim.xbeat_ns = d->now_ns;
}

gpurt_status_t gpurt_drain_flush(gpurt_drain_t *d, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < d->options.sink_count; i++) {
        const gpurt_drain_sink_t *sink = &d->options.sinks[i];
        gpurt_status_t st = sink->flush ? sink->flush(sink->context, err) : GPURT_OK;

        if (st != GPURT_OK)
            return st;
    }
    d->oldest_ns = 0;
    d->urgent = false;
    tails_publish(d);
    return GPURT_OK;
}

/* One row to the sinks of a stage. A row that one of them refuses comes again to all of
 * them, so a sink that can fail should be the first of its stage. */
static gpurt_status_t row_put(gpurt_drain_t *d, const gpurt_row_t *row, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < d->options.sink_count; i++) {
        const gpurt_drain_sink_t *sink = &d->options.sinks[i];
        gpurt_status_t st;

        if (sink->in_order != d->sorted)
            continue;
        st = sink->put(sink->context, row, err);
        if (st != GPURT_OK)
            return st;
    }
    return GPURT_OK;
}

/* Hands the batch on: first as it was found, then in order. Ring by ring it compresses
 * better and twice as fast (few columns change), so the store takes it so; its reader
 * sorts. */
static gpurt_status_t batch_put(gpurt_drain_t *d, gpurt_error_t *err)
{
    bool ordered = false;

    for (uint32_t i = 0; i < d->options.sink_count; i++)
        ordered |= d->options.sinks[i].in_order;
    for (;;) {
        for (; d->put < d->count; d->put++) {
            gpurt_status_t st =
                row_put(d, (const gpurt_row_t *)(d->rows + d->entries[d->put].offset), err);

            if (st != GPURT_OK)
                return st;
        }
        if (d->sorted || !ordered)
            break;
        gpurt_timesort(d->entries, d->spare, d->count);
        d->sorted = true;
        d->put = 0;
    }
    for (uint32_t i = 0; i < d->count; i++)
        d->sum.messages +=
            gpurt_row_messages((const gpurt_row_t *)(d->rows + d->entries[i].offset));
    d->sum.rows += d->count;
    d->count = d->put = d->rows_used = 0;
    d->sorted = false;
    return GPURT_OK;
}

static void clocks_read(gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->map->section_count; i++) {
        drain_section_t *own = &d->sections[i];
        gpurt_clock_fit_t fit;

        if (gpurt_boxmap_clock(d->map, i, &fit)) {
            own->fit = fit;
            own->rate = (double)fit.rate_ppb * 1e-9;
        }
    }
}

gpurt_status_t gpurt_drain_round(gpurt_drain_t *d, uint32_t *rows, gpurt_error_t *err)
{
    gpurt_status_t st;

    *rows = 0;
    d->now_ns = gpurt_real_ns();
    d->sum.rounds++;
    if (d->count == 0) {
        clocks_read(d);
        sweep(d);
    }
    *rows = d->count;
    d->idle = d->count ? 0 : d->idle + 1;
    if (d->count) {
        d->last_row_ns = d->now_ns;
        d->oldest_ns = d->oldest_ns ? d->oldest_ns : d->now_ns;
    }
    st = batch_put(d, err);
    if (st != GPURT_OK)
        return st;
    /* A large batch, or a ring half used up (urgent): give the space back before it is
     * missed. */
    if (d->oldest_ns && (d->urgent || *rows >= BATCH_ROWS / 2 ||
                         d->now_ns - d->oldest_ns >= d->options.flush_ns))
        return gpurt_drain_flush(d, err);
    return GPURT_OK;
}

void gpurt_drain_rest(gpurt_drain_t *d)
{
    struct timespec t = {0, REST_MIN_NS};

    if (d->options.spin || d->idle < REST_AFTER)
        return;
    t.tv_nsec <<=
        (d->idle - REST_AFTER) / REST_AFTER < 5 ? (d->idle - REST_AFTER) / REST_AFTER : 5;
    if (t.tv_nsec > REST_MAX_NS)
        t.tv_nsec = REST_MAX_NS;
    nanosleep(&t, NULL);
}

bool gpurt_drain_over(gpurt_drain_t *d)
{
    const gpurt_box_t *box = d->map->box;
    bool closed = gpurt_load_acquire_sys_u32(&box->xlife) == GPURT_LIFE_CLOSED; /* B4.acq */

    if (!closed && gpurt_boxmap_alive(d->map)) {
        d->quiet_since = 0;
        return false;
    }
    if (d->quiet_since == 0 || d->last_row_ns > d->quiet_since)
        d->quiet_since = d->now_ns;
    return d->now_ns - d->quiet_since >= d->options.settle_ns;
}

gpurt_status_t gpurt_drain_finish(gpurt_drain_t *d, gpurt_error_t *err)
{
    uint32_t rows;
    gpurt_status_t st;

    d->final = true;
    do
        st = gpurt_drain_round(d, &rows, err);
    while (st == GPURT_OK && rows > 0);
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
