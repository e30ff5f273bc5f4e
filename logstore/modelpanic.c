/* SPDX-License-Identifier: Apache-2.0 */
/* Panic rows taken apart. Their words are the arguments as the site's types say, then
 * block, thread, lane, failed lanes, clock, and of a panic a 64-bit operand of each
 * failed lane. A row of a damaged file may end anywhere: what is missing reads as 0. */
#include "modelpart.h"

#include <string.h>

typedef struct words {
    const uint32_t *at;
    uint32_t left;
} words_t;

static uint32_t next(words_t *w)
{
    if (w->left == 0)
        return 0;
    w->left--;
    return *w->at++;
}

static uint64_t next_pair(words_t *w)
{
    uint64_t low = next(w);

    return low | (uint64_t)next(w) << 32;
}

static void read_place(words_t *w, gpurt_model_panic_t *p, bool operands)
{
    p->block.x = next(w);
    p->block.y = next(w);
    p->block.z = next(w);
    p->thread.x = next(w);
    p->thread.y = next(w);
    p->thread.z = next(w);
    p->lane = next(w);
    p->failed = next(w);
    p->clock = next_pair(w);
    for (uint32_t m = operands ? p->failed : 0; m; m &= m - 1)
        p->lanes[__builtin_ctz(m)] = next_pair(w);
}

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
    words_t words = {gpurt_row_words(row), row->words};
    char text[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t message;

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
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS; i++) {
        uint32_t size = gpurt_type_words(gpurt_type_at(out->types, i));

        if (size == 0)
            break;
        out->args[i] = size == 2 ? next_pair(&words) : next(&words);
        out->arg_count++;
    }
    read_place(&words, out, row->kind == GPURT_KIND_PANIC);
    gpurt_text_init(&message, text, sizeof text);
    gpurt_render_message(d, row, 0, &message);
    model_text_begin(out->message, sizeof out->message, text, message.used);
}
