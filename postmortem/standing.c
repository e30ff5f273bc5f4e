/* SPDX-License-Identifier: Apache-2.0 */
#include "standing.h"

#include "sass.h"

enum {
    WINDOW = 512,      /* instructions before and behind that are looked at */
    LINES_SAMPLED = 16 /* of a loop: each costs a walk over the line table */
};

/* Code of one function around an instruction. */
typedef struct stretch {
    bytes_t code;  /* from `from` on */
    uint64_t from; /* address */
    uint32_t major;
} stretch_t;

static bool op_at(const stretch_t *s, uint64_t pc, sass_op_t *out)
{
    return pc >= s->from &&
           sass_decode(bytes_part(s->code, pc - s->from, SASS_BYTES), s->major, out);
}

/* The smallest loop around pc: a branch at or behind it that leads to or before it. */
static bool loop_find(const stretch_t *s, uint64_t pc, standing_t *out)
{
    uint64_t smallest = UINT64_MAX, end = pc + WINDOW * SASS_BYTES;
    sass_op_t op;

    for (uint64_t at = pc; at < end && op_at(s, at, &op); at += SASS_BYTES) {
        uint64_t to = at + op.target;

        if (op.kind != SASS_BRANCH || to > pc || to < s->from || at - to >= smallest)
            continue;
        smallest = at - to;
        out->first = to;
        out->last = at;
    }
    return smallest != UINT64_MAX;
}

/* Whether something in the loop changes the address that `read` asks. */
static bool is_moved(const stretch_t *s, const standing_t *loop, const sass_op_t *read)
{
    sass_op_t op;

    for (uint64_t at = loop->first; at <= loop->last && op_at(s, at, &op); at += SASS_BYTES)
        if (sass_writes(&op, read->base) || sass_writes(&op, read->extra) ||
            (read->wide && read->base != SASS_RZ && sass_writes(&op, read->base + 1)))
            return true;
    return false;
}

/* A loop polls if it asks an mbarrier, or what other threads write at one address. */
static bool loop_polls(const stretch_t *s, const standing_t *loop)
{
    sass_op_t op;

    for (uint64_t at = loop->first; at <= loop->last && op_at(s, at, &op); at += SASS_BYTES)
        if (op.kind == SASS_TRY ||
            (((op.kind == SASS_LOAD && (op.strong || op.space == SASS_SHARED)) ||
              op.kind == SASS_ATOMIC) &&
             !is_moved(s, loop, &op)))
            return true;
    return false;
}

void standing_find(const gpucore_t *core, const code_place_t *place, uint64_t pc,
                   uint32_t major, standing_t *out)
{
    uint64_t back =
        place->offset < WINDOW * SASS_BYTES ? place->offset : WINDOW * SASS_BYTES;
    code_place_t start;
    stretch_t s = {.from = pc - back, .major = major};
    sass_op_t op, before;

    memset(out, 0, sizeof *out);
    if (!code_find(core, s.from, &start))
        return;
    s.code = start.code;
    if (!op_at(&s, pc, &op))
        return;
    /* a warp that waits may be told to stand behind its barrier */
    if (op.kind == SASS_BARRIER ||
        (back && op_at(&s, pc - SASS_BYTES, &before) && before.kind == SASS_BARRIER))
        out->kind = STANDING_BARRIER;
    else if (op.kind == SASS_CONVERGE)
        out->kind = STANDING_CONVERGE;
    else if (op.kind == SASS_EXIT && op.guard == SASS_PT)
        out->kind = STANDING_ENDS;
    else if (loop_find(&s, pc, out))
        out->kind = loop_polls(&s, out) ? STANDING_POLLS : STANDING_LOOPS;
    else
        out->kind = STANDING_RUNS;
}

bool standing_lines(const gpucore_t *core, const code_place_t *place, const standing_t *s,
                    uint32_t *first, uint32_t *last)
{
    uint64_t steps = (s->last - s->first) / SASS_BYTES;
    uint64_t step = (steps / LINES_SAMPLED + 1) * SASS_BYTES;

    if ((s->kind != STANDING_POLLS && s->kind != STANDING_LOOPS) || !place->frame_count)
        return false;
    *first = *last = place->frames[place->frame_count - 1].line;
    for (uint64_t at = s->first; at <= s->last; at += step) {
        const line_frame_t *f;
        code_place_t p;

        if (!code_find(core, at, &p) || !p.frame_count)
            continue;
        f = &p.frames[p.frame_count - 1];
        if (f->line == 0 ||
            strcmp(f->file, place->frames[place->frame_count - 1].file) != 0)
            continue;
        *first = f->line < *first ? f->line : *first;
        *last = f->line > *last ? f->line : *last;
    }
    return true;
}

bool standing_waits(uint32_t kind)
{
    return kind == STANDING_BARRIER || kind == STANDING_CONVERGE || kind == STANDING_ENDS;
}

static const struct {
    const char *id, *words;
} kinds[STANDING_KINDS] = {
    [STANDING_UNKNOWN] = {NULL, NULL},
    [STANDING_RUNS] = {"runs", NULL},
    [STANDING_POLLS] = {"polls", "polls"},
    [STANDING_LOOPS] = {"loops", "loops"},
    [STANDING_BARRIER] = {"barrier", "waits at a barrier"},
    [STANDING_CONVERGE] = {"converge", "waits for lanes of its warp"},
    [STANDING_ENDS] = {"ends", "ends"},
};

const char *standing_id(uint32_t kind)
{
    return kind < STANDING_KINDS ? kinds[kind].id : NULL;
}

const char *standing_words(uint32_t kind)
{
    return kind < STANDING_KINDS ? kinds[kind].words : NULL;
}
