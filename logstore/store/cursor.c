/* SPDX-License-Identifier: Apache-2.0 */
#include "cursor.h"

#include "timesort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A frame in memory. */
typedef struct loaded {
    uint64_t frame;
    uint8_t *bytes;
    gpurt_timed_t *order; /* count of them, then as many of spare room */
    uint32_t count, at;
    bool open;
} loaded_t;

/* Owner: whoever opened it. */
struct gpurt_cursor {
    gpurt_log_t *log;
    uint64_t next; /* frames before it were loaded or are damaged */
    loaded_t frames[GPURT_CURSOR_FRAMES];
    loaded_t *last; /* whose row was given out */
};

gpurt_status_t gpurt_cursor_open(gpurt_log_t *log, uint64_t frame, gpurt_cursor_t **out,
                                 gpurt_error_t *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: cursor");
    (*out)->log = log;
    (*out)->next = frame;
    return GPURT_OK;
}

static void unload(loaded_t *f)
{
    free(f->bytes);
    free(f->order);
    memset(f, 0, sizeof *f);
}

void gpurt_cursor_close(gpurt_cursor_t *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < GPURT_CURSOR_FRAMES; i++)
        unload(&c->frames[i]);
    free(c);
}

/* Without memory for a frame it counts as one that cannot be read. */
static void load(gpurt_cursor_t *c, loaded_t *f, uint64_t frame)
{
    const gpurt_row_t *row;
    gpurt_log_rows_t rows;
    uint32_t at = 0, start = 0;

    if (gpurt_log_read(c->log, frame, &rows, NULL) != GPURT_OK)
        return;
    f->bytes = malloc(rows.size);
    f->order = malloc(2 * (size_t)rows.count * sizeof *f->order);
    if (!f->bytes || !f->order) {
        unload(f);
        return;
    }
    memcpy(f->bytes, rows.bytes, rows.size);
    while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
        f->order[f->count].time_ns = row->time_ns;
        f->order[f->count++].offset = start;
        start = at;
    }
    gpurt_timesort(f->order, f->order + f->count, f->count);
    f->frame = frame;
    f->open = true;
}

/* The oldest row at hand; equal times go by the order of the file. */
static loaded_t *oldest(gpurt_cursor_t *c)
{
    loaded_t *best = NULL;

    for (uint32_t i = 0; i < GPURT_CURSOR_FRAMES; i++) {
        loaded_t *f = &c->frames[i];

        if (!f->open)
            continue;
        if (!best || f->order[f->at].time_ns < best->order[best->at].time_ns ||
            (f->order[f->at].time_ns == best->order[best->at].time_ns &&
             f->frame < best->frame))
            best = f;
    }
    return best;
}

static loaded_t *vacant(gpurt_cursor_t *c)
{
    for (uint32_t i = 0; i < GPURT_CURSOR_FRAMES; i++)
        if (!c->frames[i].open)
            return &c->frames[i];
    return NULL;
}

/* Frames ahead that may hold something older than the oldest row at hand are loaded
 * first. */
static loaded_t *choose(gpurt_cursor_t *c)
{
    loaded_t *best = oldest(c);

    for (;;) {
        uint64_t ahead = c->next;
        loaded_t *room = vacant(c);
        bool need = false;

        for (; room && ahead < gpurt_log_frames(c->log) &&
               ahead < c->next + GPURT_CURSOR_FRAMES && !need;
             ahead++)
            need = !best ||
                   gpurt_log_entry(c->log, ahead)->first_ns < best->order[best->at].time_ns;
        if (!need)
            return best;
        load(c, room, c->next++); /* in file order, up to the one that is needed */
        best = oldest(c);
    }
}

const gpurt_row_t *gpurt_cursor_next(gpurt_cursor_t *c)
{
    loaded_t *f;

    if (c->last && c->last->at == c->last->count)
        unload(c->last);
    c->last = f = choose(c);
    return f ? (const gpurt_row_t *)(f->bytes + f->order[f->at++].offset) : NULL;
}
