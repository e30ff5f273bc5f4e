/* SPDX-License-Identifier: Apache-2.0 */
#include "hang_watch.h"

#include "hang_text.h"
#include "hosttime.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_NS = 100000000,
    SHARE = 4, /* of the limit, between two looks */
    LEAST_NS = 10000000,
    ARGS = 2,
    WORDS = ARGS + 6 + 4 + 5 /* as a fault has them */
};

void hang_watch_fini(hang_watch_t *w)
{
    gpurt_waits_fini(&w->waits);
}

static uint64_t limit_of(const hang_watch_t *w)
{
    return w->limit_ns ? w->limit_ns : HANG_DEFAULT_NS;
}

static uint64_t pause_of(const hang_watch_t *w)
{
    uint64_t share = limit_of(w) / SHARE;

    return share < LEAST_NS ? LEAST_NS : share > LOOK_NS ? LOOK_NS : share;
}

/* A circle that was told stays told, whoever has joined it since. */
static bool is_new(hang_watch_t *w, uint64_t hash)
{
    for (uint32_t i = 0; i < w->told_count; i++)
        if (w->told[i] == hash)
            return false;
    if (w->told_count == HANG_TOLD)
        return false;
    w->told[w->told_count++] = hash;
    return true;
}

static bool look(hang_watch_t *w, const gpurt_boxmap_t *map, uint64_t min_ns,
                 gpurt_waitgraph_t *g)
{
    memset(g, 0, sizeof *g);
    return gpurt_waits_look(map, gpurt_real_ns(), min_ns, &w->waits, NULL) == GPURT_OK &&
           w->waits.count > 0 && gpurt_waitgraph_make(&w->waits, g, NULL) == GPURT_OK;
}

static bool deadlock_look(hang_watch_t *w, const gpurt_boxmap_t *map, uint64_t min_ns,
                          gpurt_waitgraph_t *g)
{
    if (!look(w, map, min_ns, g))
        return false;
    if (g->circles && is_new(w, g->hash))
        return true;
    gpurt_waitgraph_fini(g);
    return false;
}

bool hang_watch_look(hang_watch_t *w, const gpurt_boxmap_t *map, gpurt_waitgraph_t *g)
{
    uint64_t now = gpurt_steady_ns();

    if (now - w->looked_ns < pause_of(w))
        return false;
    w->looked_ns = now;
    return deadlock_look(w, map, limit_of(w), g);
}

bool hang_watch_last(hang_watch_t *w, const gpurt_boxmap_t *map, gpurt_waitgraph_t *g)
{
    return deadlock_look(w, map, 0, g);
}

/* Threads of the host wait for their channels in an idle program, too: that is no hang. Nor is a task that runs. */
static bool lanes_wait(const gpurt_waits_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const gpurt_wait_task_t *task = gpurt_wait_task(w, &w->waits[i]);

        if (!gpurt_wait_thread(w, &w->waits[i]) &&
            !(task && task->why == GPURT_TASKWAIT_RUNS))
            return true;
    }
    return false;
}

static hang_found_t silence_look(hang_watch_t *w, const gpurt_boxmap_t *map,
                                 gpurt_waitgraph_t *g)
{
    hang_silence_t *s = &w->silence;
    bool any = look(w, map, limit_of(w), g) && lanes_wait(&w->waits);

    s->over = any && (w->waits.young == 0 || s->looked_ns - s->since_ns >= limit_of(w));
    if (s->over && (!g->circles || is_new(w, g->hash)))
        return HANG_FOUND;
    gpurt_waitgraph_fini(g);
    return w->waits.young && !s->over ? HANG_SOON : HANG_NOTHING;
}

hang_found_t hang_watch_silence(hang_watch_t *w, const gpurt_boxmap_t *map, uint32_t number,
                                gpurt_waitgraph_t *g)
{
    hang_silence_t *s = &w->silence;
    uint64_t now = gpurt_steady_ns();

    if (s->number != number)
        *s = (hang_silence_t){.number = number, .since_ns = now};
    if (s->over)
        return HANG_NOTHING;
    if (now - s->looked_ns >= pause_of(w)) {
        s->looked_ns = now;
        s->found = silence_look(w, map, g);
    }
    return s->found;
}

/* ---- rows ---------------------------------------------------------------------------- */
static uint32_t site_of(gpurt_dictionary_t *d, const gpurt_waitgraph_t *g, uint32_t first)
{
    uint32_t at = g->waits->waits[first].site;
    gpurt_site_info_t site = {.kind = GPURT_DEF_SITE,
                              .record_kind = GPURT_KIND_HANG,
                              .level = GPURT_LEVEL_PANIC,
                              .arg_count = ARGS,
                              .types = GPURT_TYPE_U32 | GPURT_TYPE_STRING << 4,
                              .file = "",
                              .module = "gpurt",
                              .module_bytes = 5};

    site.format = g->circles ? "deadlock of %u: %s" : "%u wait: %s";
    site.format_bytes = (uint32_t)strlen(site.format);
    if (at != GPURT_WAIT_NOBODY) {
        site.file = g->waits->sites[at].file;
        site.file_bytes = (uint32_t)strlen(site.file);
        site.line = g->waits->sites[at].line;
    }
    return gpurt_dictionary_add(d, &site);
}

static uint32_t sentence_of(gpurt_dictionary_t *d, const gpurt_waitgraph_t *g)
{
    char room[1024];
    gpurt_text_t text;
    gpurt_site_info_t info = {.kind = GPURT_DEF_STRING, .file = "", .module = ""};

    gpurt_text_init(&text, room, sizeof room);
    hang_sentence(g, &text);
    info.format = room;
    info.format_bytes = (uint32_t)text.used;
    return gpurt_dictionary_add(d, &info);
}

gpurt_row_t *hang_row_make(gpurt_dictionary_t *d, const gpurt_waitgraph_t *g, uint64_t blob)
{
    uint32_t first = hang_first(g), *w;
    gpurt_row_t *row = calloc(1, gpurt_row_bytes(WORDS));
    const gpurt_wait_t *wait;

    if (!row || first == GPURT_WAIT_NOBODY) {
        free(row);
        return NULL;
    }
    wait = &g->waits->waits[first];
    row->time_ns = g->waits->time_ns;
    row->site = site_of(d, g, first);
    row->block = wait->block;
    row->mask = wait->mask;
    row->sm = (uint16_t)wait->sm;
    row->slot = (uint16_t)wait->slot;
    row->warp = (uint8_t)wait->warp;
    row->kind = GPURT_KIND_HANG;
    row->section = (uint8_t)wait->section;
    row->form = GPURT_FORM_WARP_PART;
    row->level = GPURT_LEVEL_PANIC;
    row->words = WORDS;
    w = gpurt_row_words(row);
    w[0] = g->circles ? g->stuck_count : g->waits->count;
    w[1] = sentence_of(d, g);
    w[2] = wait->block;
    w[5] = wait->warp * GPURT_WARP_SIZE + (uint32_t)__builtin_ctz(wait->mask | 1u << 31);
    w[8] = (uint32_t)__builtin_ctz(wait->mask | 1u << 31);
    w[9] = wait->mask;
    w[15] = (uint32_t)blob;
    w[16] = (uint32_t)(blob >> 32);
    return row;
}
