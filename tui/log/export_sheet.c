/* SPDX-License-Identifier: Apache-2.0 */
#include "export_sheet.h"

export_key_t export_sheet_key(const export_sheet_t *s, uint32_t kind, uint32_t device,
                              uint32_t a, uint32_t b)
{
    return (export_key_t){
        .kind = (uint16_t)kind, .program = s->program, .device = device, .a = a, .b = b};
}

export_track_t *export_sheet_track(const export_sheet_t *s, uint32_t kind, uint32_t device,
                                   uint32_t a, uint32_t b)
{
    return export_tracks_get(s->tracks, export_sheet_key(s, kind, device, a, b));
}

export_track_t *export_sheet_thread(const export_sheet_t *s, uint32_t thread)
{
    return thread ? export_sheet_track(s, EXPORT_THREAD, 0, thread, 0)
                  : export_sheet_track(s, EXPORT_PROCESS, 0, 0, 0);
}

export_track_t *export_sheet_place(const export_sheet_t *s, const gpurt_row_t *row)
{
    const gplog_file_t *about = &s->out->sum.about;
    uint32_t device = 0;

    if (row->section < about->section_count) {
        if (about->sections[row->section].kind == GPURT_SECTION_HOST)
            return export_sheet_thread(s, row->kind == GPURT_KIND_LOG ? row->block : 0);
        device = about->sections[row->section].device;
        if (about->sections[row->section].kind == GPURT_SECTION_CPU)
            device |= EXPORT_CPU;
    }
    if (row->kind == GPURT_KIND_LOSS &&
        (row->words < 4 || gpurt_row_words(row)[3] == UINT32_MAX))
        return export_sheet_track(s, EXPORT_DEVICE, device, 0, 0);
    return export_sheet_track(s, EXPORT_WARP, device, row->sm, row->slot);
}

void export_sheet_event(const export_sheet_t *s, const export_event_t *e)
{
    s->writer->event(s->out, e);
}

void export_sheet_counter(const export_sheet_t *s, uint32_t device, uint32_t which,
                          uint64_t time_ns, double value)
{
    s->writer->counter(s->out, export_sheet_track(s, EXPORT_COUNTER, device, which, 0),
                       time_ns, value);
}

export_arg_t *export_event_arg(export_event_t *e, uint8_t key, uint8_t as, uint64_t value)
{
    uint32_t at = e->arg_count < EXPORT_ARGS ? e->arg_count++ : EXPORT_ARGS - 1;
    export_arg_t *a = &e->args[at]; /* nobody has more: it would show as a wrong last one */

    *a = (export_arg_t){.key = key, .as = as, .value = value};
    return a;
}

void export_event_dims(export_event_t *e, uint8_t key, const uint32_t dims[3])
{
    export_arg_t *a = export_event_arg(e, key, EXPORT_AS_DIMS, dims[0]);

    a->y = dims[1];
    a->z = dims[2];
}

void export_event_text(export_event_t *e, uint8_t key, const char *text, size_t bytes)
{
    export_arg_t *a = export_event_arg(e, key, EXPORT_AS_TEXT, 0);

    a->text = text;
    a->bytes = bytes;
}
