/* SPDX-License-Identifier: Apache-2.0 */
/* The words are the arguments as the site's types say, then block, thread, lane, failed
 * lanes, clock, and of a panic a 64-bit operand of each failed lane; then parts. A row of a
 * damaged file may end anywhere: what is missing reads as 0. */
#include "panicrow.h"

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

static gpurt_dim3_t next_triple(words_t *w)
{
    gpurt_dim3_t v;

    v.x = next(w);
    v.y = next(w);
    v.z = next(w);
    return v;
}

/* ---- parts --------------------------------------------------------------------------- */

static void read_about(words_t *w, gpurt_panicrow_t *p)
{
    uint32_t word = next(w);

    p->about = true;
    p->category = word & 0xffffu;
    p->own = word >> 16;
    p->number = next(w);
    p->launch = next_pair(w);
    p->grid = next_triple(w);
    p->block_dim = next_triple(w);
    p->cluster_rank = next(w);
    p->cluster_size = next(w);
    p->condition = next(w);
    p->function = next(w);
    p->kernel = next(w);
    p->log_sequence = next_pair(w);
    p->task = next_pair(w);
    p->parent_task = next_pair(w);
    p->contexts_left_out = next(w);
    p->frames_left_out = next(w);
    p->held_left_out = next(w);
}

static void read_lanes(words_t *w, gpurt_panicrow_t *p)
{
    uint32_t operand = next(w), mask = next(w);

    if (operand >= GPURT_PANIC_OWN)
        return;
    p->known[operand] |= mask;
    for (uint32_t m = mask; m; m &= m - 1)
        p->lanes[operand][__builtin_ctz(m)] = next_pair(w);
}

static void read_context(words_t *w, gpurt_panicrow_t *p)
{
    while (w->left && p->context_count < GPURT_PANIC_CONTEXTS) {
        gpurt_panic_context_t *c = &p->contexts[p->context_count++];

        c->name = next(w);
        c->type = next(w);
        c->value = next_pair(w);
    }
}

static void read_frames(words_t *w, gpurt_panicrow_t *p)
{
    while (w->left && p->frame_count < GPURT_PANIC_FRAMES) {
        gpurt_panic_frame_t *f = &p->frames[p->frame_count++];

        f->function = next(w);
        f->file = next(w);
        f->line = next(w);
    }
}

static void read_held(words_t *w, gpurt_panicrow_t *p)
{
    while (w->left && p->held_count < GPURT_PANIC_HELD) {
        gpurt_panic_held_t *h = &p->held[p->held_count++];

        h->kind = next(w);
        h->name = next(w);
        h->object = next_pair(w);
    }
}

static void read_window(words_t *w, gpurt_panicrow_t *p)
{
    gpurt_panicrow_window_t *v;

    if (p->window_count == GPURT_PANIC_WINDOWS)
        return;
    v = &p->windows[p->window_count++];
    v->name = next(w);
    v->base = next_pair(w);
    v->size = next_pair(w);
    v->start = next_pair(w);
    v->mark = next_pair(w);
    v->bytes = next(w);
    if (v->bytes > 4 * w->left)
        v->bytes = 4 * w->left;
    if (v->bytes > GPURT_PANIC_WINDOW)
        v->bytes = GPURT_PANIC_WINDOW;
    v->data = v->bytes ? (const uint8_t *)w->at : NULL;
}

/* A cut report ends with a whole line, if it has one. */
static void read_report(words_t *w, gpurt_panicrow_t *p)
{
    uint32_t whole = next(w), bytes = next(w);
    const char *end;

    if (p->report)
        return;
    if (bytes > 4 * w->left)
        bytes = 4 * w->left;
    p->report = bytes ? (const char *)w->at : NULL;
    end = bytes && bytes < whole ? memrchr(p->report, '\n', bytes) : NULL;
    p->report_bytes = end ? (uint32_t)(end + 1 - p->report) : bytes;
    p->report_left_out = whole > p->report_bytes ? whole - p->report_bytes : 0;
}

static void read_parts(words_t *w, gpurt_panicrow_t *p)
{
    while (w->left) {
        uint32_t head = next(w), size = head & 0xffffffu;
        words_t part = {w->at, size < w->left ? size : w->left};

        switch (head >> 24) {
        case GPLOG_PART_ABOUT:
            read_about(&part, p);
            break;
        case GPLOG_PART_LANES:
            read_lanes(&part, p);
            break;
        case GPLOG_PART_CONTEXT:
            read_context(&part, p);
            break;
        case GPLOG_PART_FRAMES:
            read_frames(&part, p);
            break;
        case GPLOG_PART_HELD:
            read_held(&part, p);
            break;
        case GPLOG_PART_WINDOW:
            read_window(&part, p);
            break;
        case GPLOG_PART_REPORT:
            read_report(&part, p);
            break;
        default:
            break;
        }
        size = size < w->left ? size : w->left;
        w->at += size;
        w->left -= size;
    }
}

/* ---- rows ---------------------------------------------------------------------------- */

void gpurt_panicrow_read(const gpurt_row_t *row, uint64_t types, gpurt_panicrow_t *out)
{
    words_t w = {gpurt_row_words(row), row->words};

    memset(out, 0, sizeof *out);
    out->types = types;
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS; i++, out->arg_count++) {
        uint32_t size = gpurt_type_words(gpurt_type_at(types, i));

        if (size == 0)
            break;
        out->args[i] = size == 2 ? next_pair(&w) : next(&w);
    }
    out->block = next_triple(&w);
    out->thread = next_triple(&w);
    out->lane = next(&w);
    out->failed = next(&w);
    out->clock = next_pair(&w);
    if (row->kind == GPURT_KIND_FAULT || row->kind == GPURT_KIND_HANG) {
        out->exception = next(&w);
        out->pc = next_pair(&w);
        out->dump = next_pair(&w);
        return;
    }
    out->known[0] = out->arg_count ? out->failed : 0;
    for (uint32_t m = out->failed; m; m &= m - 1)
        out->lanes[0][__builtin_ctz(m)] = next_pair(&w);
    read_parts(&w, out);
    if (out->report) /* its operands are the kernel's, not a lane's */
        out->known[0] = 0;
    if (out->category == GPURT_CATEGORY_NONE)
        out->category = GPURT_CATEGORY_PANIC;
    if (out->own > out->arg_count)
        out->own = out->arg_count;
}

uint32_t gpurt_panicrow_kind(const gpurt_row_t *row, const gpurt_panicrow_t *p)
{
    if (row->kind != GPURT_KIND_PANIC || p->category < GPURT_CATEGORY_FAULT ||
        p->category >= GPURT_CATEGORY_RUNTIME)
        return row->kind;
    return p->category < GPURT_CATEGORY_HANG ? GPURT_KIND_FAULT : GPURT_KIND_HANG;
}
