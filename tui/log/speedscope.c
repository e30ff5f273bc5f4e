/* SPDX-License-Identifier: Apache-2.0 */
/* The format is described by a schema, https://www.speedscope.app/file-format-schema.json. Its frames
 * are a table, and a sample is a list of indices into it, the outermost first. So frames are
 * collected in one pass over all stacks, and stacks written in the next. */
#include "speedscope.h"

#include "linestack.h"
#include "warpstate.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 256 /* frames; a power of two, as each room is */
};

typedef struct frame {
    char *name, *file; /* file "": none */
    uint32_t line;
} frame_t;

typedef struct profile {
    gpurt_json_t json;
    frame_t *frames;
    uint32_t *slots; /* twice as many as room: indices + 1 */
    uint32_t count, room;
    uint64_t samples;
    bool no_memory;
} profile_t;

/* ---- the table ----------------------------------------------------------------------- */

static uint32_t hash_of(const char *name, const char *file, uint32_t line)
{
    uint64_t h = 0xcbf29ce484222325ull ^ line;

    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3ull;
    h *= 31;
    for (; *file; file++)
        h = (h ^ (uint8_t)*file) * 0x100000001b3ull;
    return (uint32_t)(h ^ h >> 32);
}

/* Its slot, or the free one that it would have. */
static uint32_t *slot_of(const profile_t *p, const char *name, const char *file,
                         uint32_t line)
{
    uint32_t at = hash_of(name, file, line) & (2 * p->room - 1);
    const frame_t *f;

    for (; p->slots[at]; at = (at + 1) & (2 * p->room - 1)) {
        f = &p->frames[p->slots[at] - 1];
        if (f->line == line && strcmp(f->name, name) == 0 && strcmp(f->file, file) == 0)
            break;
    }
    return &p->slots[at];
}

static bool room_make(profile_t *p)
{
    const uint32_t room = p->room ? 2 * p->room : FIRST_ROOM;
    frame_t *frames = realloc(p->frames, room * sizeof *frames);
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);

    if (frames)
        p->frames = frames;
    if (!frames || !slots) {
        free(slots);
        return false;
    }
    free(p->slots);
    p->slots = slots;
    p->room = room;
    for (uint32_t i = 0; i < p->count; i++) {
        const frame_t *f = &p->frames[i];

        *slot_of(p, f->name, f->file, f->line) = i + 1;
    }
    return true;
}

static const char *name_of(const linestack_t *s, uint32_t index)
{
    const warpstate_t *state =
        index + 1 == s->count ? warpstate_find(s->of[index].name) : NULL;

    return state ? state->words : s->of[index].name;
}

static void frame_collect(profile_t *p, const char *name, const linestack_frame_t *f)
{
    uint32_t *slot;
    frame_t *to;

    if (p->no_memory || (p->count == p->room && !room_make(p))) {
        p->no_memory = true;
        return;
    }
    slot = slot_of(p, name, f->file, f->line);
    if (*slot)
        return;
    to = &p->frames[p->count];
    *to = (frame_t){strdup(name), strdup(f->file), f->line};
    p->no_memory = !to->name || !to->file;
    *slot = ++p->count;
}

static void stack_collect(void *context, const linestack_t *s)
{
    profile_t *p = context;

    p->samples += s->samples;
    for (uint32_t i = 0; i < s->count; i++)
        frame_collect(p, name_of(s, i), &s->of[i]);
}

/* ---- the file ------------------------------------------------------------------------ */

static void frames_put(profile_t *p)
{
    gpurt_json_t *j = &p->json;

    gpurt_json_object(j, "shared");
    gpurt_json_array(j, "frames");
    for (uint32_t i = 0; i < p->count; i++) {
        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "name", p->frames[i].name);
        if (p->frames[i].file[0])
            gpurt_json_text(j, "file", p->frames[i].file);
        if (p->frames[i].line)
            gpurt_json_number(j, "line", p->frames[i].line);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

static void sample_put(void *context, const linestack_t *s)
{
    profile_t *p = context;

    gpurt_json_array(&p->json, NULL);
    for (uint32_t i = 0; i < s->count; i++)
        gpurt_json_number(&p->json, NULL,
                          *slot_of(p, name_of(s, i), s->of[i].file, s->of[i].line) - 1);
    gpurt_json_array_end(&p->json);
}

static void weight_put(void *context, const linestack_t *s)
{
    profile_t *p = context;

    gpurt_json_number(&p->json, NULL, s->samples);
}

static void samples_put(profile_t *p, const lines_text_t *l, const char *name)
{
    gpurt_json_t *j = &p->json;

    gpurt_json_array(j, "profiles");
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "type", "sampled");
    gpurt_json_text(j, "name", name);
    gpurt_json_text(j, "unit", "none");
    gpurt_json_number(j, "startValue", 0);
    gpurt_json_number(j, "endValue", p->samples);
    gpurt_json_array(j, "samples");
    linestack_visit(l, sample_put, p);
    gpurt_json_array_end(j);
    gpurt_json_array(j, "weights");
    linestack_visit(l, weight_put, p);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_array_end(j);
}

static void file_put(profile_t *p, const lines_text_t *l, const char *name)
{
    gpurt_json_t *j = &p->json;

    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    gpurt_json_text(j, "exporter", "gpurt-log");
    gpurt_json_text(j, "name", name);
    gpurt_json_number(j, "activeProfileIndex", 0);
    frames_put(p);
    samples_put(p, l, name);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
}

gpurt_status_t speedscope_print(FILE *out, const lines_text_t *l, const char *name)
{
    profile_t p = {.count = 0};

    gpurt_json_file(&p.json, out);
    linestack_visit(l, stack_collect, &p);
    if (!p.no_memory)
        file_put(&p, l, name);
    for (uint32_t i = 0; i < p.count; i++) {
        free(p.frames[i].name);
        free(p.frames[i].file);
    }
    free(p.frames);
    free(p.slots);
    return p.no_memory ? GPURT_E_NOMEM : GPURT_OK;
}
