/* SPDX-License-Identifier: Apache-2.0 */
/* Panic rows as the model keeps them. */
#include "modelpart.h"

#include "panicrow.h"

#include <string.h>

void model_text_begin(char *to, size_t room, const char *from, size_t bytes)
{
    if (bytes > room - 1) {
        bytes = room - 1;
        while (bytes > 0 && ((uint8_t)from[bytes] & 0xc0) == 0x80)
            bytes--; /* no half character */
    }
    memcpy(to, from, bytes);
    memset(to + bytes, 0, room - bytes);
}

void model_text_end(char *to, size_t room, const char *from, size_t bytes)
{
    if (bytes > room - 1) {
        from += bytes - (room - 1);
        bytes = room - 1;
    }
    model_text_begin(to, room, from, bytes);
}

void model_panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                      gpurt_model_panic_t *out)
{
    char text[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t message, condition;
    gpurt_panicrow_t p;

    memset(out, 0, sizeof *out);
    out->time_ns = row->time_ns;
    out->section = row->section;
    out->sm = row->sm;
    out->slot = row->slot;
    out->warp = row->warp;
    out->mask = row->mask;
    if (gpurt_dictionary_get(d, row->site, &site) && site.kind == GPURT_DEF_SITE) {
        out->line = site.line;
        out->types = site.types;
        model_text_end(out->file, sizeof out->file, site.file, site.file_bytes);
        model_text_begin(out->format, sizeof out->format, site.format, site.format_bytes);
    }
    gpurt_panicrow_read(row, out->types, &p);
    out->block = p.block;
    out->thread = p.thread;
    out->lane = p.lane;
    out->failed = p.failed;
    out->clock = p.clock;
    out->arg_count = p.arg_count;
    out->category = p.category;
    memcpy(out->args, p.args, sizeof out->args);
    memcpy(out->lanes, p.lanes[0], sizeof out->lanes);
    if (p.condition) {
        gpurt_text_init(&condition, text, sizeof text);
        gpurt_render_string(d, p.condition, &condition);
        model_text_begin(out->condition, sizeof out->condition, text, condition.used);
    }
    gpurt_text_init(&message, text, sizeof text);
    gpurt_render_message(d, row, 0, &message);
    model_text_begin(out->message, sizeof out->message, text, message.used);
}
