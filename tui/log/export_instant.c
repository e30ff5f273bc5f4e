/* SPDX-License-Identifier: Apache-2.0 */
#include "export_instant.h"

#include "objectrow.h"
#include "render.h"

#include <string.h>

/* ---- counters ------------------------------------------------------------------------ */

static void count(const export_sheet_t *s, const gpurt_row_t *row, uint32_t which,
                  double value)
{
    export_sheet_counter(s, row->block, which, row->time_ns, value);
}

static void environment_row(const export_sheet_t *s, const gpurt_row_t *row,
                            const gpurt_activity_environment_t *e)
{
    count(s, row, EXPORT_COUNT_SM_CLOCK, e->sm_mhz);
    count(s, row, EXPORT_COUNT_MEMORY_CLOCK, e->memory_mhz);
    count(s, row, EXPORT_COUNT_POWER, e->milliwatts / 1e3);
    count(s, row, EXPORT_COUNT_TEMPERATURE, e->celsius);
    count(s, row, EXPORT_COUNT_GPU_USE, e->gpu_percent);
    count(s, row, EXPORT_COUNT_MEMORY_USE, e->memory_percent);
    count(s, row, EXPORT_COUNT_MEMORY, (double)gpurt_pair_value(e->memory_used));
}

static void sample_row(const export_sheet_t *s, const gpurt_row_t *row,
                       const gpurt_activity_sample_t *sample)
{
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        if (sample->percent[i] != GPURT_SAMPLE_UNKNOWN)
            count(s, row, EXPORT_COUNT_SAMPLE + i, sample->percent[i] / 100.0);
}

/* ---- messages ------------------------------------------------------------------------ */

static void message(const export_sheet_t *s, const gpurt_row_t *row, uint32_t lane)
{
    char room[GPURT_MESSAGE_MAX];
    const char *level = gpurt_level_name(row->level);
    gpurt_site_info_t site = {0};
    export_event_t e = {.type = EXPORT_INSTANT, .time_ns = row->time_ns};
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_message(s->out->dictionary, row, lane, &text);
    e.in = gpurt_row_is_panic(row)          ? EXPORT_IN_PANIC
           : row->kind == GPURT_KIND_LOSS   ? EXPORT_IN_LOSS
           : row->kind == GPURT_KIND_LAUNCH ? EXPORT_IN_LAUNCH
           : row->kind == GPURT_KIND_MEMORY ? EXPORT_IN_MEMORY
                                            : EXPORT_IN_LOG;
    e.text = room;
    e.text_bytes = text.used;
    export_event_text(&e, EXPORT_ARG_LEVEL, level, strlen(level));
    if (gpurt_dictionary_get(s->out->dictionary, row->site, &site) && site.file_bytes) {
        export_event_text(&e, EXPORT_ARG_FILE, site.file, site.file_bytes);
        export_event_arg(&e, EXPORT_ARG_LINE, EXPORT_AS_NUMBER, site.line);
    }
    e.track = export_sheet_place(s, row);
    if (e.track->key.kind == EXPORT_WARP) {
        export_event_arg(&e, EXPORT_ARG_BLOCK, EXPORT_AS_NUMBER, row->block);
        export_event_arg(&e, EXPORT_ARG_WARP, EXPORT_AS_NUMBER, row->warp);
        export_event_arg(&e, EXPORT_ARG_LANES, EXPORT_AS_ADDRESS,
                         gpurt_render_lanes(row, lane));
    }
    export_sheet_event(s, &e);
}

/* The device that the row names: in a log of the CPU back end that is no GPU. */
static uint32_t object_device(const export_sheet_t *s, const gpurt_row_t *row)
{
    const gplog_file_t *about = &s->out->sum.about;

    for (uint32_t i = 0; i < about->section_count; i++)
        if (about->sections[i].kind == GPURT_SECTION_CPU &&
            about->sections[i].device == row->block)
            return row->block | EXPORT_CPU;
    return row->block;
}

/* Each field that is a number is a counter of its own. */
void export_instant_object(const export_sheet_t *s, const gpurt_row_t *row)
{
    gpurt_objectrow_t o;
    uint64_t value;

    if (!gpurt_objectrow_read(&o, s->out->dictionary, row))
        return;
    for (uint32_t i = 0; i < o.def.field_count; i++)
        if (gpurt_field_is_number(o.def.fields[i].kind) &&
            gpurt_objectrow_value(&o, &o.def.fields[i], 0, &value) &&
            value != GPURT_VALUE_UNKNOWN)
            s->writer->counter(s->out,
                               export_sheet_track(s, EXPORT_OBJECT, object_device(s, row),
                                                  row->site << EXPORT_FIELD_BITS | i, o.id),
                               row->time_ns, (double)value);
}

void export_instant_messages(const export_sheet_t *s, const gpurt_row_t *row)
{
    uint32_t messages = row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row);

    for (uint32_t lane = 0; lane < messages; lane++)
        message(s, row, lane);
}

/* ---- launches, memory ---------------------------------------------------------------- */

static void launch_row(const export_sheet_t *s, const gpurt_row_t *row,
                       const gpurt_activity_launch_t *l)
{
    export_event_t e = {.type = EXPORT_INSTANT,
                        .in = EXPORT_IN_LAUNCH,
                        .time_ns = row->time_ns,
                        .name = l->name};

    e.track = export_sheet_thread(s, l->thread);
    export_event_dims(&e, EXPORT_ARG_GRID, l->grid);
    export_event_dims(&e, EXPORT_ARG_BLOCK, l->block);
    export_event_arg(&e, EXPORT_ARG_SHARED, EXPORT_AS_NUMBER, l->shared_bytes);
    export_event_arg(&e, EXPORT_ARG_FILE, EXPORT_AS_STRING, l->file);
    export_event_arg(&e, EXPORT_ARG_LINE, EXPORT_AS_NUMBER, l->line);
    export_event_arg(&e, EXPORT_ARG_NUMBER, EXPORT_AS_NUMBER, l->number);
    export_sheet_event(s, &e);
}

static void driver_launch_row(const export_sheet_t *s, const gpurt_row_t *row,
                              const gpurt_activity_driver_launch_t *l)
{
    export_event_t e = {.type = EXPORT_INSTANT,
                        .in = EXPORT_IN_LAUNCH,
                        .time_ns = row->time_ns,
                        .name = l->name};

    e.track = export_sheet_thread(s, l->thread);
    e.text = gpurt_render_nicely(s->out->dictionary, l->name);
    e.text_bytes = e.text ? strlen(e.text) : 0;
    if (!l->graph) {
        export_event_dims(&e, EXPORT_ARG_GRID, l->grid);
        export_event_dims(&e, EXPORT_ARG_BLOCK, l->block);
        export_event_arg(&e, EXPORT_ARG_SHARED, EXPORT_AS_NUMBER, l->shared_bytes);
    }
    export_event_arg(&e, EXPORT_ARG_FROM, EXPORT_AS_STRING, l->calls);
    export_event_arg(&e, EXPORT_ARG_CALL, EXPORT_AS_NUMBER, l->correlation);
    export_sheet_event(s, &e);
}

static void memory_row(const export_sheet_t *s, const gpurt_row_t *row,
                       const gpurt_activity_memory_t *m)
{
    export_event_t e = {.type = EXPORT_INSTANT,
                        .in = EXPORT_IN_MEMORY,
                        .time_ns = row->time_ns,
                        .name = m->name};

    e.track = export_sheet_track(s, EXPORT_DEVICE, row->block, 0, 0);
    export_event_arg(&e, EXPORT_ARG_BYTES, EXPORT_AS_NUMBER, gpurt_pair_value(m->bytes));
    export_event_arg(&e, EXPORT_ARG_ADDRESS, EXPORT_AS_ADDRESS,
                     gpurt_pair_value(m->address));
    export_sheet_event(s, &e);
}

static void pool_row(const export_sheet_t *s, const gpurt_row_t *row,
                     const gpurt_activity_pool_t *p)
{
    export_event_t e = {.type = EXPORT_INSTANT,
                        .in = EXPORT_IN_MEMORY,
                        .time_ns = row->time_ns,
                        .name = p->name};

    e.track = export_sheet_track(s, EXPORT_DEVICE, row->block, 0, 0);
    if (gpurt_pair_value(p->bytes) != UINT64_MAX)
        export_event_arg(&e, EXPORT_ARG_BYTES, EXPORT_AS_NUMBER,
                         gpurt_pair_value(p->bytes));
    export_event_arg(&e, EXPORT_ARG_ADDRESS, EXPORT_AS_ADDRESS,
                     gpurt_pair_value(p->address));
    export_event_arg(&e, EXPORT_ARG_CALL, EXPORT_AS_NUMBER, p->correlation);
    export_sheet_event(s, &e);
}

void export_instant_activity(const export_sheet_t *s, const gpurt_row_t *row,
                             const void *words)
{
    switch (row->kind) {
    case GPURT_KIND_LAUNCH:
        launch_row(s, row, words);
        break;
    case GPURT_KIND_DRIVER_LAUNCH:
        driver_launch_row(s, row, words);
        break;
    case GPURT_KIND_MEMORY:
        memory_row(s, row, words);
        break;
    case GPURT_KIND_POOL:
        pool_row(s, row, words);
        break;
    case GPURT_KIND_ENVIRONMENT:
        environment_row(s, row, words);
        break;
    case GPURT_KIND_SAMPLE:
        sample_row(s, row, words);
        break;
    default: /* the collector's sums are of no moment */
        break;
    }
}
