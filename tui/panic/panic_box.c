/* SPDX-License-Identifier: Apache-2.0 */
/* A black box read once more from the oldest record that its rings hold. */
#include "drain.h"
#include "panic_source.h"
#include "ringread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ---- winding back -------------------------------------------------------------------- */
/* The first position whose record is still there. A program that runs overwrites the oldest
 * while they are read: it keeps a margin. */
static uint32_t ring_start(const panic_source_t *source, uint32_t section, uint32_t ring)
{
    const gpurt_box_section_t *s = &source->map.sections[section];
    const gpurt_group_t *groups = gpurt_boxmap_groups(&source->map, section, ring);
    uint32_t count = s->ring_bytes / GPURT_GROUP_BYTES;
    uint32_t tail = gpurt_boxmap_control(&source->map, section, ring)->xtail;
    uint32_t from = tail - count + (source->alive ? count / 8 : 0) - 1;
    uint32_t start = gpurt_ring_find(groups, count, from);

    return start == from || (int32_t)(start - tail) > 0 ? tail : start;
}

/* What no file has yet is on the shelf, if the ring has it no longer. */
static void ring_wind_back(const panic_source_t *source, uint32_t section, uint32_t ring)
{
    gpurt_ring_control_t *c = gpurt_boxmap_control(&source->map, section, ring);
    uint32_t start = ring_start(source, section, ring);

    if ((int32_t)(c->xfiled - start) > 0)
        c->xfiled = start;
    c->xtail = start;
}

/* All panics are told once more, and whoever drained has no say in this copy. Returns: how
 * many slots a lane that died inside its panic has left unfinished. */
static uint32_t panics_prepare(panic_source_t *source, uint32_t section)
{
    uint32_t count = source->map.sections[section].panic_count, unfinished = 0;
    uint32_t raised = source->map.box->sections[section].xpanics;

    for (uint32_t i = 0; i < count; i++) {
        gpurt_panic_t *p = gpurt_boxmap_panic(&source->map, section, i);

        p->xtold = 0;
        unfinished += i < raised && gpurt_load_acquire_sys_u32(&p->xstate) != /* B6.acq */
                                        GPURT_PANIC_WRITTEN;
    }
    return unfinished;
}

static void section_prepare(panic_source_t *source, uint32_t section)
{
    const gpurt_box_section_t *s = &source->map.sections[section];
    gpurt_box_t *box = source->map.box;
    uint32_t raised = box->sections[section].xpanics;

    for (uint32_t r = 0; r < s->ring_count; r++)
        ring_wind_back(source, section, r);
    source->left_out += raised > s->panic_count ? raised - s->panic_count : 0;
    source->left_out += panics_prepare(source, section);
    box->sections[section].xpanics_told = 0;
    box->claim.xplanned = box->claim.xdone = 0;
}

gpurt_status_t panic_box_prepare(panic_source_t *source, gpurt_error_t *err)
{
    gpurt_boxmap_t *map = &source->map;
    void *at = map->box;

    source->alive = gpurt_boxmap_alive(map);
    if (map->fd >= 0)
        at = mmap(map->box, map->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                  map->fd, 0);
    else if (mprotect(map->box, map->bytes, PROT_READ | PROT_WRITE) != 0)
        at = MAP_FAILED;
    if (at == MAP_FAILED)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "%s: no private copy of the box", source->name);
    gpurt_drain_about(map, &source->about);
    for (uint32_t i = 0; i < map->section_count; i++)
        section_prepare(source, i);
    return GPURT_OK;
}

/* ---- reading ------------------------------------------------------------------------- */
typedef struct box_reader {
    const panic_source_t *source;
    panic_row_fn *take;
    void *context;
    uint64_t left; /* rows: a program that logs all the time must not hold us */
    bool stopped;
    gpurt_row_t row; /* a copy, with its words right behind */
    uint32_t words[GPLOG_ROW_WORDS + 1];
} box_reader_t;

static gpurt_status_t reader_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    box_reader_t *r = context;

    if (r->left == 0 || r->stopped || row->words > GPLOG_ROW_WORDS)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0, "enough was read");
    r->left--;
    memcpy(&r->row, row, sizeof *row + 4u * row->words);
    r->stopped = !r->take(r->context, &r->row);
    return GPURT_OK;
}

gpurt_status_t panic_box_each(panic_source_t *source, panic_row_fn *take, void *context,
                              gpurt_error_t *err)
{
    box_reader_t reader = {.source = source, .take = take, .context = context};
    gpurt_drain_options_t options = {.struct_size = sizeof options,
                                     .sink_count = 1,
                                     .sinks = {{.context = &reader, .put = reader_put}},
                                     .dictionary = &source->sites};
    gpurt_drain_t *drain;
    gpurt_status_t st;

    for (uint32_t i = 0; i < source->map.section_count; i++) {
        const gpurt_box_section_t *s = &source->map.sections[i];

        reader.left += s->panic_count + s->ring_count * (uint64_t)(s->ring_bytes / 32 + 4);
    }
    st = gpurt_drain_open(&source->map, &options, &drain, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_drain_finish(drain, err);
    gpurt_drain_close(drain);
    return reader.left == 0 || reader.stopped ? GPURT_OK : st;
}
