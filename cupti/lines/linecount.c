/* SPDX-License-Identifier: Apache-2.0 */
#include "linecount.h"

#include <stdlib.h>
#include <string.h>

#define NEARLY(slots) ((slots) / 2) /* used: forgotten at the next chance */
#define MOST(slots)   ((slots) / 4 * 3)

struct linecount {
    linecount_place_t places[LINECOUNT_PLACES];
    linecount_row_t rows[LINECOUNT_ROWS];
    char *texts[LINECOUNT_TEXTS]; /* NULL: free */
    uint32_t place_count, row_count, text_count;
    linecount_rest_t rest[LINECOUNT_DEVICES];
    uint32_t reason_count;
    char reasons[PCSAMPLER_REASONS][PCSAMPLER_REASON_TEXT]; /* of all GPUs */
};

linecount_t *linecount_create(void)
{
    return calloc(1, sizeof(linecount_t));
}

static void texts_free(linecount_t *c)
{
    for (uint32_t i = 0; i < LINECOUNT_TEXTS; i++) {
        free(c->texts[i]);
        c->texts[i] = NULL;
    }
    c->text_count = 0;
}

void linecount_destroy(linecount_t *c)
{
    if (c)
        texts_free(c);
    free(c);
}

/* ---- finding ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

static uint64_t text_hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
    return h ^ h >> 32;
}

const char *linecount_text(linecount_t *c, const char *text)
{
    uint32_t at = (uint32_t)text_hash(text) & (LINECOUNT_TEXTS - 1);

    while (c->texts[at] && strcmp(c->texts[at], text) != 0)
        at = (at + 1) & (LINECOUNT_TEXTS - 1);
    if (!c->texts[at] && c->text_count < MOST(LINECOUNT_TEXTS)) {
        c->texts[at] = strdup(text);
        c->text_count += c->texts[at] != NULL;
    }
    return c->texts[at];
}

/* A function's text has one address, so that places are compared by it. Returns: NULL, no room. */
static linecount_place_t *place_of(linecount_t *c, const pcsample_t *s)
{
    const char *function = linecount_text(c, s->function);
    uint64_t h = mix(mix(mix(1, s->cubin), s->offset), (uint64_t)(uintptr_t)function);
    uint32_t at = (uint32_t)h & (LINECOUNT_PLACES - 1);
    linecount_place_t *p = &c->places[at];

    if (!function)
        return NULL;
    while (p->function &&
           (p->function != function || p->offset != s->offset || p->cubin != s->cubin)) {
        at = (at + 1) & (LINECOUNT_PLACES - 1);
        p = &c->places[at];
    }
    if (p->function)
        return p;
    if (c->place_count == MOST(LINECOUNT_PLACES))
        return NULL;
    *p = (linecount_place_t){.cubin = s->cubin, .offset = s->offset, .function = function};
    c->place_count++;
    return p;
}

/* Returns: PCSAMPLER_REASONS, no room. */
static uint32_t reason_of(linecount_t *c, const char *text)
{
    uint32_t i = 0;

    while (i < c->reason_count && strcmp(c->reasons[i], text) != 0)
        i++;
    if (i < c->reason_count || i == PCSAMPLER_REASONS)
        return i;
    strncpy(c->reasons[i], text, PCSAMPLER_REASON_TEXT - 1);
    c->reason_count++;
    return i;
}

static bool row_is_free(const linecount_row_t *r)
{
    return r->samples == 0 && r->idle == 0;
}

/* Returns: NULL, no room. */
static linecount_row_t *row_of(linecount_t *c, uint32_t device, const linecount_place_t *p,
                               uint32_t reason)
{
    uint32_t place = (uint32_t)(p - c->places);
    uint64_t h = mix(mix(1, place), (uint64_t)device << 8 | reason);
    uint32_t at = (uint32_t)h & (LINECOUNT_ROWS - 1);
    linecount_row_t *r = &c->rows[at];

    while (!row_is_free(r) &&
           (r->place != place || r->device != device || r->reason != reason)) {
        at = (at + 1) & (LINECOUNT_ROWS - 1);
        r = &c->rows[at];
    }
    if (!row_is_free(r))
        return r;
    if (c->row_count == MOST(LINECOUNT_ROWS))
        return NULL;
    r->place = place;
    r->device = (uint8_t)device;
    r->reason = (uint8_t)reason;
    c->row_count++;
    return r;
}

/* ---- adding -------------------------------------------------------------------------- */

/* A sum in 32 bits stays at its most. */
static void sum(uint32_t *to, uint32_t more)
{
    *to = *to > UINT32_MAX - more ? UINT32_MAX : *to + more;
}

void linecount_add(linecount_t *c, uint32_t device, const pcsample_t *s)
{
    linecount_row_t *row = NULL;
    linecount_place_t *place;
    uint32_t reason;

    if (device >= LINECOUNT_DEVICES || (s->samples == 0 && s->idle == 0))
        return;
    reason = reason_of(c, s->reason);
    place = reason < PCSAMPLER_REASONS ? place_of(c, s) : NULL;
    if (place)
        row = row_of(c, device, place, reason);
    sum(row ? &row->samples : &c->rest[device].samples, s->samples);
    sum(row ? &row->idle : &c->rest[device].idle, s->idle);
}

bool linecount_any(const linecount_t *c)
{
    uint32_t rest = 0;

    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
        rest |= c->rest[i].samples | c->rest[i].idle;
    return c->row_count || rest;
}

/* ---- taking -------------------------------------------------------------------------- */

/* Rows of as many samples keep an order that does not depend on where they lay. */
static int compare(const void *a, const void *b)
{
    const linecount_row_t *x = a, *y = b;

    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (int)x->reason - (int)y->reason;
}

/* A heap whose first row has the fewest samples of all that are kept. */
static void sink(linecount_row_t *heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t least = at, child = 2 * at + 1;
        linecount_row_t row = heap[at];

        for (uint32_t i = child; i < child + 2 && i < count; i++)
            if (heap[i].samples < heap[least].samples)
                least = i;
        if (least == at)
            return;
        heap[at] = heap[least];
        heap[least] = row;
        at = least;
    }
}

static void rest_add(linecount_rest_t *rest, const linecount_row_t *row)
{
    sum(&rest[row->device].samples, row->samples);
    sum(&rest[row->device].idle, row->idle);
}

/* One more row than there is room for: the smallest goes to the rest. */
static void crowd(linecount_row_t out[LINECOUNT_WRITTEN], const linecount_row_t *row,
                  linecount_rest_t *rest)
{
    if (row->samples <= out[0].samples) {
        rest_add(rest, row);
        return;
    }
    rest_add(rest, &out[0]);
    out[0] = *row;
    sink(out, LINECOUNT_WRITTEN, 0);
}

uint32_t linecount_take(linecount_t *c, linecount_row_t out[LINECOUNT_WRITTEN],
                        linecount_rest_t rest[LINECOUNT_DEVICES])
{
    uint32_t count = 0;

    memcpy(rest, c->rest, sizeof c->rest);
    memset(c->rest, 0, sizeof c->rest);
    for (uint32_t i = 0; i < LINECOUNT_ROWS && c->row_count; i++) {
        if (row_is_free(&c->rows[i]))
            continue;
        if (count == LINECOUNT_WRITTEN)
            crowd(out, &c->rows[i], rest);
        else {
            out[count++] = c->rows[i];
            for (uint32_t k = LINECOUNT_WRITTEN / 2; count == LINECOUNT_WRITTEN && k > 0;)
                sink(out, count, --k);
        }
    }
    if (c->row_count)
        memset(c->rows, 0, sizeof c->rows);
    c->row_count = 0;
    qsort(out, count, sizeof out[0], compare);
    return count;
}

void linecount_trim(linecount_t *c)
{
    if (c->row_count || (c->place_count < NEARLY(LINECOUNT_PLACES) &&
                         c->text_count < NEARLY(LINECOUNT_TEXTS)))
        return;
    memset(c->places, 0, sizeof c->places);
    c->place_count = 0;
    texts_free(c);
}

linecount_place_t *linecount_place(linecount_t *c, const linecount_row_t *row)
{
    return &c->places[row->place];
}

const char *linecount_reason(const linecount_t *c, const linecount_row_t *row)
{
    return c->reasons[row->reason];
}
