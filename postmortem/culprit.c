/* SPDX-License-Identifier: Apache-2.0 */
#include "culprit.h"

#include "code.h"
#include "faultkind.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE         4096ull /* the smallest that a GPU maps */
#define NULL_BYTES   PAGE
#define ADDRESS_BITS 49 /* of a GPU; the upper half of it is nobody's */
#define FAR_LEAST    (64ull << 10)
enum {
    STEPS_MAX = 64, /* instructions that a warp may have run on */
    LOOP_MAX = 512, /* and that a loop around it may have */
    FAR_TIMES = 8,  /* as far as the others reach */
    CROWD_LEAST = 4 /* lanes of which one may stand out */
};

bool culprit_applies(uint32_t exception)
{
    static const uint8_t about[] = {
        1, FAULT_OUT_OF_RANGE, FAULT_MISALIGNED, 10, 11, FAULT_ILLEGAL_ADDRESS, 30};

    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++)
        if (about[i] == exception)
            return true;
    return false;
}

static uint32_t count_of(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* ---- addresses --------------------------------------------------------------------- */
static bool is_source(const sass_op_t *op, const sass_op_t *writer)
{
    return sass_writes(writer, op->base) ||
           (op->wide && op->base != SASS_RZ && sass_writes(writer, op->base + 1)) ||
           sass_writes(writer, op->extra);
}

/* What the warp may have run since: from the instruction to where it stands, and whole loops
 * around that place. */
typedef struct passage {
    uint64_t from, to; /* addresses; the last one excluded */
    bool loops;
} passage_t;

static void passage_find(const culprit_case_t *c, uint64_t now, uint32_t major,
                         passage_t *out)
{
    sass_op_t op;

    *out = (passage_t){.from = c->pc, .to = now};
    for (uint64_t at = now; at < now + LOOP_MAX * SASS_BYTES; at += SASS_BYTES) {
        if (!sass_decode(bytes_part(c->code, at - c->pc, SASS_BYTES), major, &op))
            return;
        if (op.kind != SASS_BRANCH || op.target == 0 || at + op.target > now ||
            (int64_t)op.target > 0)
            continue;
        out->loops = true;
        out->to = at + SASS_BYTES;
        out->from = at + op.target < out->from ? at + op.target : out->from;
    }
}

/* Whether the registers of the address still hold what the instruction saw: nothing that may
 * have run since writes them, and the lanes that run now are those that ran it. */
static uint32_t is_kept(const culprit_case_t *c, uint64_t now, uint32_t major)
{
    bool together = c->warp->active == c->warp->valid;
    code_place_t place;
    passage_t passage;
    sass_op_t op;

    if (now < c->pc || now - c->pc > STEPS_MAX * SASS_BYTES)
        return CULPRIT_RAN_ON;
    passage_find(c, now, major, &passage);
    if (!code_find(c->core, passage.from, &place) || (passage.loops && !together))
        return CULPRIT_RAN_ON;
    for (uint64_t at = 0; passage.from + at < passage.to; at += SASS_BYTES) {
        bytes_t code = bytes_part(place.code, at, SASS_BYTES);

        if (!sass_decode(code, major, &op) || op.kind == SASS_CALL ||
            op.kind == SASS_JUMP || op.kind == SASS_EXIT || op.kind == SASS_CONVERGE ||
            (op.kind == SASS_BRANCH && !together))
            return CULPRIT_RAN_ON;
        if (is_source(c->op, &op) || sass_writes_predicate(code, &op, c->op->guard))
            return CULPRIT_OVERWRITTEN;
    }
    return CULPRIT_WANT_CLUE;
}

static bool address_of(const culprit_case_t *c, const gpucore_lane_t *lane, uint64_t *out)
{
    uint32_t words[GPUCORE_REGISTERS_MAX], uniform[GPUCORE_REGISTERS_MAX];
    uint32_t count = gpucore_registers(c->core, c->warp, lane, words);
    const sass_op_t *op = c->op;

    *out = 0;
    if (op->base != SASS_RZ) {
        if (op->base + op->wide >= count)
            return false;
        *out = words[op->base];
        if (op->wide)
            *out |= (uint64_t)words[op->base + 1] << 32;
    }
    if (op->extra != SASS_RZ) {
        if (op->extra >= gpucore_uniform(c->core, c->warp, uniform))
            return false;
        *out += uniform[op->extra];
    }
    *out += (uint64_t)(int64_t)op->offset;
    if (!op->wide)
        *out &= 0xffffffff;
    return true;
}

/* The lanes that may have run the instruction, and what each gave it. */
static void lanes_read(const culprit_case_t *c, culprit_t *out)
{
    const gpucore_block_t *block = &c->core->blocks[c->warp->block];
    uint32_t major = c->core->devices[c->core->sms[block->sm].device].sm_major;
    bool has_address = c->op && c->op->space != SASS_NOWHERE && c->op->computable;
    gpucore_lane_t lane;
    uint64_t seen = 0; /* lanes that run stand at one place */

    out->want = has_address ? CULPRIT_WANT_CLUE : CULPRIT_WANT_OP;
    for (uint32_t row = 0; row < GPUCORE_LANES; row++) {
        uint32_t bit;

        if (!gpucore_lane(c->core, c->warp, row, &lane) ||
            !(c->warp->active >> lane.lane & 1))
            continue;
        bit = 1u << lane.lane;
        out->ran |= bit;
        if (!has_address || out->want == CULPRIT_WANT_REGISTERS)
            continue;
        if (!address_of(c, &lane, &out->addresses[lane.lane]))
            out->want = CULPRIT_WANT_REGISTERS;
        else if (out->want == CULPRIT_WANT_CLUE && lane.pc != seen)
            out->want = is_kept(c, seen = lane.pc, major);
        if (c->op->guard != SASS_PT && out->want == CULPRIT_WANT_CLUE &&
            (gpucore_predicates(c->core, c->warp, &lane) >> c->op->guard & 1) ==
                c->op->guard_not)
            out->ran &= ~bit;
    }
    if (has_address && out->want != CULPRIT_WANT_REGISTERS)
        out->known = out->ran;
}

/* ---- what tells them apart ------------------------------------------------------------- */
static void take(culprit_t *out, uint32_t lanes, uint32_t clue, bool sure)
{
    if (lanes == 0 || out->lanes)
        return;
    out->lanes = lanes;
    out->clue = clue;
    out->sure = sure;
}

static bool is_held(const gpucore_t *core, uint64_t address)
{
    for (uint32_t i = 0; i < core->span_count; i++)
        if (address >= core->spans[i].address &&
            address - core->spans[i].address < core->spans[i].bytes)
            return true;
    return false;
}

/* What is true of an address by itself: it explains the fault even where the registers are of
 * later, but then it only may be the one. Returns: the lanes of such addresses. */
static uint32_t by_itself(const culprit_case_t *c, culprit_t *out, bool kept)
{
    uint32_t odd = 0, beyond = 0, null = 0, impossible = 0, size = c->op->size;
    bool shared = c->op->space == SASS_SHARED, local = c->op->space == SASS_LOCAL;

    for (uint32_t m = out->known; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), bit = 1u << lane;
        uint64_t a = out->addresses[lane];

        odd |= a % (size ? size : 4) ? bit : 0;
        beyond |= a + size > c->warp->shared_bytes ? bit : 0;
        null |= a < NULL_BYTES ? bit : 0;
        impossible |= a >> ADDRESS_BITS ? bit : 0;
    }
    if (c->exception == FAULT_MISALIGNED || c->exception == 11) {
        take(out, odd, CULPRIT_MISALIGNED, kept);
        return odd;
    }
    if (c->exception == FAULT_OUT_OF_RANGE && shared) {
        take(out, beyond, CULPRIT_BEYOND, kept);
        return beyond;
    }
    if (kept && !shared && !local) {
        take(out, null, CULPRIT_NULL, true);
        take(out, impossible, CULPRIT_IMPOSSIBLE, true);
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Three quarters of the lanes that lie closest together are the crowd; far is who is away from
 * it several times as far as it reaches. */
static void by_distance(culprit_t *out)
{
    uint32_t count = 0, crowd, at = 0, far = 0;
    uint64_t sorted[GPUCORE_LANES], reach, apart = UINT64_MAX;

    for (uint32_t m = out->known; m; m &= m - 1)
        sorted[count++] = out->addresses[__builtin_ctz(m)];
    if (count < CROWD_LEAST)
        return;
    qsort(sorted, count, sizeof sorted[0], by_value);
    crowd = count - count / 4;
    for (uint32_t i = 1; i + crowd <= count; i++)
        if (sorted[i + crowd - 1] - sorted[i] < sorted[at + crowd - 1] - sorted[at])
            at = i;
    reach = sorted[at + crowd - 1] - sorted[at];
    for (uint32_t m = out->known; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t a = out->addresses[lane], first = sorted[at],
                 last = sorted[at + crowd - 1];
        uint64_t away = a < first ? first - a : a > last ? a - last : 0;

        if (away < FAR_LEAST || away / FAR_TIMES < reach)
            continue;
        far |= 1u << lane;
        apart = away < apart ? away : apart;
    }
    out->apart = far ? apart : 0;
    take(out, far, CULPRIT_FAR, false);
}

/* What is true of an address among others; they must be those of the instruction. */
static void among_others(const culprit_case_t *c, culprit_t *out)
{
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t held = 0;

    for (uint32_t m = out->known; m; m &= m - 1) {
        uint64_t a = out->addresses[__builtin_ctz(m)];

        first = a < first ? a : first;
        last = a > last ? a : last;
        held |= is_held(c->core, a) ? m & -m : 0;
    }
    if (first == last)
        take(out, out->known, CULPRIT_EQUAL, true);
    if (c->op->space == SASS_GLOBAL || c->op->space == SASS_GENERIC) {
        if (first / PAGE == last / PAGE)
            take(out, out->known, CULPRIT_SAME, true);
        if (held)
            take(out, out->known & ~held, CULPRIT_UNMAPPED, false);
    }
    by_distance(out);
}

void culprit_find(const culprit_case_t *c, culprit_t *out)
{
    uint32_t borne = 0; /* by the fault */
    bool kept;

    memset(out, 0, sizeof *out);
    lanes_read(c, out);
    kept = out->want == CULPRIT_WANT_CLUE;
    if (out->ran == 0) { /* the predicate is not of then: nobody would have run it */
        out->ran = c->warp->active;
        out->known = 0;
        out->want = CULPRIT_OVERWRITTEN;
        kept = false;
    }
    if (count_of(out->ran) == 1)
        take(out, out->ran, out->ran == c->warp->active ? CULPRIT_ALONE : CULPRIT_GUARD,
             kept);
    if (out->known)
        borne = by_itself(c, out, kept);
    if (out->known && kept)
        among_others(c, out);
    if (!kept)
        out->known &= borne; /* the others are of later */
}

/* ---- words ------------------------------------------------------------------------- */
static void add(char *out, size_t room, const char *text)
{
    size_t used = strlen(out);

    snprintf(out + used, room - used, "%s", text);
}

/* "lane 9", "lanes 3, 9 and 31", "lanes 3, 4, 5 and 9 more" */
static void add_lanes(uint32_t lanes, char *out, size_t room)
{
    uint32_t count = count_of(lanes), shown = count > 4 ? 3 : count, i = 0;
    char number[32];

    add(out, room, count == 1 ? "lane " : "lanes ");
    for (uint32_t m = lanes; m && i < shown; m &= m - 1, i++) {
        snprintf(number, sizeof number, "%s%d",
                 i == 0                             ? ""
                 : i + 1 == count && count == shown ? " and "
                                                    : ", ",
                 __builtin_ctz(m));
        add(out, room, number);
    }
    if (count > shown) {
        snprintf(number, sizeof number, " and %u more", count - shown);
        add(out, room, number);
    }
}

static void add_distance(uint64_t bytes, char *out, size_t room)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    char text[48];
    int unit = 0;

    while (unit < 5 && value >= 1024) {
        value /= 1024;
        unit++;
    }
    snprintf(text, sizeof text, "%.*f %s", value < 10 && unit ? 1 : 0, value, units[unit]);
    add(out, room, text);
}

static void unknown_words(const culprit_t *c, char *out, size_t room)
{
    static const char *const whys[] = {
        [CULPRIT_WANT_CLUE] = "their addresses give no clue",
        [CULPRIT_WANT_OP] = "their addresses are not known, since the instruction is not "
                            "understood",
        [CULPRIT_WANT_REGISTERS] = "their addresses are not known, since the dump lacks "
                                   "registers",
        [CULPRIT_RAN_ON] = "the warp ran on before it stopped, and its registers are of "
                           "later",
        [CULPRIT_OVERWRITTEN] = "the registers of the address have been written since"};

    snprintf(out, room, "one or more of these %u lanes: %s", count_of(c->ran),
             whys[c->want]);
}

static bool is_about_address(uint32_t clue)
{
    return clue >= CULPRIT_MISALIGNED && clue != CULPRIT_EQUAL && clue != CULPRIT_SAME;
}

void culprit_words(const culprit_t *c, char *out, size_t room)
{
    static const char *const one[] = {
        [CULPRIT_ALONE] = ", the only one that ran",
        [CULPRIT_GUARD] = ", the only one that the instruction's predicate let run it",
        [CULPRIT_MISALIGNED] = " misaligned",
        [CULPRIT_BEYOND] = " beyond the shared memory of the block",
        [CULPRIT_NULL] = " in the page of NULL",
        [CULPRIT_IMPOSSIBLE] = " with more bits than a GPU's address has",
        [CULPRIT_EQUAL] = ": all used the same address",
        [CULPRIT_SAME] = ": all used one page, which is mapped as a whole or not at all",
        [CULPRIT_UNMAPPED] = " in no memory that the dump holds, where those of others are",
        [CULPRIT_FAR] = " "};

    out[0] = '\0';
    if (c->clue == CULPRIT_UNKNOWN) {
        unknown_words(c, out, room);
        return;
    }
    if (!c->sure && c->clue != CULPRIT_ALONE)
        add(out, room, "probably ");
    add_lanes(c->lanes, out, room);
    if (is_about_address(c->clue))
        add(out, room,
            count_of(c->lanes) == 1 ? ", by its address:" : ", by their addresses:");
    add(out, room, one[c->clue]);
    if (c->clue == CULPRIT_ALONE && !c->sure)
        add(out, room, " when the warp stopped");
    if (c->clue == CULPRIT_FAR) {
        add_distance(c->apart, out, room);
        add(out, room, " from those of the others");
    }
}
