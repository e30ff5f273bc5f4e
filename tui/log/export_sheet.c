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
