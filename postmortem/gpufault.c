/* SPDX-License-Identifier: Apache-2.0 */
#include "gpufault.h"

#include "plural.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- places ------------------------------------------------------------------------ */
const gpucore_block_t *fault_block(const gpucore_t *core, const fault_t *fault)
{
    return fault->warp == GPUCORE_NONE ? NULL
                                       : &core->blocks[core->warps[fault->warp].block];
}

const gpucore_grid_t *fault_grid(const gpucore_t *core, const fault_t *fault)
{
    const gpucore_block_t *b = fault_block(core, fault);

    return !b || b->grid == GPUCORE_NONE ? NULL : &core->grids[b->grid];
}

const gpucore_sm_t *fault_sm(const gpucore_t *core, const fault_t *fault)
{
    return &core->sms[fault->sm];
}

static uint32_t sm_of(const gpucore_t *core, const gpucore_warp_t *w)
{
    return core->blocks[w->block].sm;
}

static uint32_t major_of(const gpucore_t *core, const gpucore_warp_t *w)
{
    return core->devices[core->sms[sm_of(core, w)].device].sm_major;
}

bool fault_register(const gpucore_t *core, const fault_t *fault, uint32_t number,
                    uint32_t *value)
{
    uint32_t words[GPUCORE_REGISTERS_MAX], count;

    *value = 0;
    if (number == SASS_RZ || fault->warp == GPUCORE_NONE)
        return number == SASS_RZ;
    count = gpucore_registers(core, &core->warps[fault->warp], &fault->lane, words);
    if (number >= count)
        return false;
    *value = words[number];
    return true;
}

/* ---- the instruction --------------------------------------------------------------- */
static bool op_at(const gpucore_t *core, uint32_t sm, uint64_t pc, sass_op_t *out)
{
    code_place_t place;

    return code_find(core, pc, &place) &&
           sass_decode(place.code, core->devices[core->sms[sm].device].sm_major, out);
}

/* Whether the lane is still in the function in which it failed. */
static bool same_function(const gpucore_t *core, const fault_t *f)
{
    code_place_t now;

    return !f->moved ||
           (code_find(core, f->lane.pc, &now) && now.function == f->place.function);
}

/* A return address stands behind a call; what the unwinder made up does not. */
static void calls_take(const gpucore_t *core, fault_t *f)
{
    uint64_t calls[GPUCORE_CALLS_MAX];
    uint32_t count;
    sass_op_t op;

    if (f->warp == GPUCORE_NONE || !same_function(core, f))
        return; /* they belong to where it stands now */
    count = gpucore_calls(core, &core->warps[f->warp], &f->lane, calls);
    for (uint32_t i = 0; i < count; i++) {
        if (!op_at(core, f->sm, calls[i] - SASS_BYTES, &op) || op.kind != SASS_CALL)
            return;
        f->calls[f->call_count++] = calls[i] - SASS_BYTES;
    }
}

static const faultkind_t *kind_of(const fault_t *f)
{
    if (f->exception == FAULT_OUT_OF_RANGE && f->has_op) {
        if (f->op.space == SASS_LOCAL)
            return faultkind_of(FAULT_STACK);
        if (f->op.space == SASS_SHARED)
            return faultkind_of(FAULT_SHARED_RANGE);
    }
    if (f->snapshot)
        return faultkind_of(FAULT_SNAPSHOT);
    return faultkind_of(f->exception ? f->exception : FAULT_TRAP);
}

static void fault_fill(const gpucore_t *core, fault_t *f)
{
    const gpucore_grid_t *grid = fault_grid(core, f);
    code_place_t entry;

    code_find(core, f->pc, &f->place);
    f->kernel =
        grid && code_find(core, grid->entry, &entry) ? entry.kernel : f->place.kernel;
    f->has_op = sass_decode(f->place.code,
                            core->devices[fault_sm(core, f)->device].sm_major, &f->op);
    /* a precise fault leaves the lane at the instruction or right behind it */
    f->moved = f->warp == GPUCORE_NONE || (f->exact && f->lane.pc - f->pc > SASS_BYTES);
    if (f->narrowed && !f->vague) {
        f->has_address = f->culprit.known >> f->lane.lane & 1;
        f->address = f->has_address ? f->culprit.addresses[f->lane.lane] : 0;
    }
    calls_take(core, f);
    f->kind = kind_of(f);
}

/* ---- counting ---------------------------------------------------------------------- */
static fault_t *fault_at(fault_book_t *book, uint32_t exception, uint64_t pc)
{
    for (uint32_t i = 0; i < book->count; i++)
        if (book->faults[i].exception == exception && book->faults[i].pc == pc)
            return &book->faults[i];
    if (book->count == FAULTS_MAX) {
        book->left_out++;
        return NULL;
    }
    return &book->faults[book->count++];
}

/* What a lane that ran says of itself. Returns: whether it failed, with kind and place. */
static bool lane_failed(const gpucore_t *core, const gpucore_warp_t *w,
                        const gpucore_lane_t *lane, uint32_t *exception, uint64_t *pc,
                        bool *exact)
{
    sass_op_t op;

    *exception = lane->exception;
    *exact = w->has_error_pc;
    *pc = w->has_error_pc ? w->error_pc : lane->pc;
    if (lane->exception == FAULT_ASSERT && !*exact &&
        op_at(core, sm_of(core, w), lane->pc - SASS_BYTES, &op) && op.kind == SASS_CALL)
        *pc -= SASS_BYTES; /* it stands behind the call that reported it */
    if (lane->exception)
        return true;
    /* A trap leaves no mark but where the lane stands: at it or right behind it. */
    for (uint32_t back = 0; back <= SASS_BYTES; back += SASS_BYTES)
        if (op_at(core, sm_of(core, w), lane->pc - back, &op) && op.kind == SASS_TRAP) {
            *pc = lane->pc - back;
            return true;
        }
    return false;
}

/* Which lanes of a marked warp it was. Returns: whether the fault is about an address of an
 * instruction that is known. */
static bool warp_narrow(const gpucore_t *core, const gpucore_warp_t *w, culprit_t *out)
{
    culprit_case_t c = {.core = core, .warp = w, .pc = w->error_pc};
    code_place_t place;
    gpucore_lane_t lane;
    sass_op_t op;

    for (uint32_t row = 0; row < GPUCORE_LANES && !c.exception; row++)
        if (gpucore_lane(core, w, row, &lane) && (w->active >> lane.lane & 1))
            c.exception = lane.exception;
    if (!w->has_error_pc || !culprit_applies(c.exception))
        return false;
    code_find(core, w->error_pc, &place);
    c.code = place.code;
    if (sass_decode(place.code, major_of(core, w), &op))
        c.op = &op;
    culprit_find(&c, out);
    return true;
}

static void warp_take(fault_book_t *book, uint32_t number)
{
    const gpucore_warp_t *w = &book->core->warps[number];
    uint32_t exception, among = w->active;
    uint64_t pc, passed = 0;
    culprit_t culprit = {0};
    bool narrowed = warp_narrow(book->core, w, &culprit);
    gpucore_lane_t lane;
    bool exact;

    if (narrowed)
        among = culprit.lanes ? culprit.lanes : culprit.ran;

    for (uint32_t row = 0; row < GPUCORE_LANES; row++) {
        fault_t *f;

        if (!gpucore_lane(book->core, w, row, &lane) ||
            (lane.exception == 0 && lane.pc == passed))
            continue; /* as the one before: no trap there */
        if (!(among >> lane.lane & 1))
            continue;
        if (!lane_failed(book->core, w, &lane, &exception, &pc, &exact)) {
            passed = lane.pc;
            continue;
        }
        f = fault_at(book, exception, pc);
        if (!f)
            return;
        if (f->lane_count++ == 0) {
            f->exception = exception;
            f->pc = pc;
            f->exact = exact;
            f->warp = (int32_t)number;
            f->sm = sm_of(book->core, w);
            f->lane = lane;
            f->narrowed = narrowed;
            f->culprit = culprit;
        }
        f->vague = f->vague || (narrowed && !culprit.lanes);
        if (f->warp == (int32_t)number)
            f->lanes |= 1u << lane.lane;
    }
}

/* Warps and blocks of a fault, once its lanes are counted. */
static void warp_count(fault_book_t *book, uint32_t number, uint32_t last[FAULTS_MAX],
                       const uint64_t before[FAULTS_MAX])
{
    uint32_t block = book->core->warps[number].block;

    for (uint32_t i = 0; i < book->count; i++) {
        fault_t *f = &book->faults[i];

        if (f->lane_count == before[i])
            continue;
        f->warp_count++;
        f->block_count += f->warp_count == 1 || last[i] != block;
        last[i] = block;
    }
}

/* ---- the others -------------------------------------------------------------------- */
static bool same_place(const fault_group_t *g, const code_place_t *place,
                       const standing_t *doing, uint64_t pc)
{
    const line_frame_t *a = g->place.frames, *b = place->frames;
    uint32_t out =
        g->place.frame_count - 1; /* the outermost: what the kernel's text says */

    if (g->pc == pc)
        return true;
    return g->doing.kind == doing->kind && g->place.frame_count && place->frame_count &&
           a[out].line == b[place->frame_count - 1].line &&
           strcmp(a[out].file, b[place->frame_count - 1].file) == 0 &&
           strcmp(g->place.function, place->function) == 0;
}

/* The lane that a warp is counted by: one that runs. Returns: how many lanes it has. */
static uint32_t speaker_of(const gpucore_t *core, const gpucore_warp_t *w,
                           gpucore_lane_t *out)
{
    gpucore_lane_t lane;
    uint32_t lanes = 0;

    for (uint32_t row = 0; row < GPUCORE_LANES; row++)
        if (gpucore_lane(core, w, row, &lane) &&
            (lanes++ == 0 || (w->active >> lane.lane & 1)))
            *out = lane;
    return lanes;
}

static void others_take(fault_book_t *book, uint32_t number)
{
    const gpucore_warp_t *w = &book->core->warps[number];
    fault_group_t *g = NULL;
    gpucore_lane_t speaker;
    standing_t doing;
    code_place_t place;
    uint32_t lanes = speaker_of(book->core, w, &speaker);
    uint64_t pc = speaker.pc;

    if (lanes == 0)
        return;
    for (uint32_t i = 0; i < book->other_count && !g; i++)
        if (book->others[i].pc == pc)
            g = &book->others[i];
    if (!g) {
        code_find(book->core, pc, &place);
        standing_find(book->core, &place, pc, major_of(book->core, w), &doing);
    }
    for (uint32_t i = 0; i < book->other_count && !g; i++)
        if (same_place(&book->others[i], &place, &doing, pc))
            g = &book->others[i];
    if (!g) {
        if (book->other_count == FAULT_GROUPS_MAX) {
            book->left_out++;
            return;
        }
        g = &book->others[book->other_count++];
        g->place = place;
        g->doing = doing;
        g->pc = pc;
        g->warp = number;
        g->lane = speaker;
    }
    g->block_count += g->warp_count++ == 0 || g->last_block != w->block;
    g->last_block = w->block;
    g->lane_count += lanes;
}

/* How much a place is worth a look in a kernel that does not end: a loop that polls before
 * another loop, both before what stands anywhere else, but never who waits for others. */
static uint32_t rank_of(const fault_group_t *g)
{
    return g->doing.kind == STANDING_POLLS   ? 3
           : g->doing.kind == STANDING_LOOPS ? 2
           : standing_waits(g->doing.kind)   ? 0
                                             : 1;
}

/* Where nothing is told apart, nothing is suspected. */
static void suspects_mark(fault_book_t *book)
{
    uint32_t most = 0, least = UINT32_MAX;

    for (uint32_t i = 0; i < book->other_count; i++) {
        uint32_t rank = rank_of(&book->others[i]);

        most = rank > most ? rank : most;
        least = rank < least ? rank : least;
    }
    for (uint32_t i = 0; i < book->other_count; i++)
        book->others[i].suspect =
            rank_of(&book->others[i]) == most && (most > 1 || (most == 1 && least == 0));
}

static int most_warps(const void *a, const void *b)
{
    const fault_group_t *x = a, *y = b;

    if (x->suspect != y->suspect)
        return x->suspect ? -1 : 1;
    return x->warp_count != y->warp_count ? (x->warp_count < y->warp_count ? 1 : -1) : 0;
}

static bool is_failed(const fault_book_t *book, const uint64_t before[FAULTS_MAX])
{
    for (uint32_t i = 0; i < book->count; i++)
        if (book->faults[i].lane_count != before[i])
            return true;
    return false;
}

/* ---- faults without a lane -------------------------------------------------------------- */
static bool sms_failed(const gpucore_t *core)
{
    for (uint32_t i = 0; i < core->sm_count; i++)
        if (core->sms[i].exception)
            return true;
    return false;
}

/* An SM remembers the fault of a warp that has ended since. */
static void sms_take(fault_book_t *book)
{
    for (uint32_t i = 0; i < book->core->sm_count; i++) {
        const gpucore_sm_t *sm = &book->core->sms[i];
        bool told = sm->exception == 0;
        fault_t *f;

        for (uint32_t k = 0; k < book->count; k++)
            told = told || book->faults[k].exception == sm->exception;
        f = told ? NULL : fault_at(book, sm->exception, sm->error_pc);
        if (!f)
            continue;
        f->exception = sm->exception;
        f->pc = sm->error_pc;
        f->exact = sm->has_error_pc;
        f->sm = i;
        f->warp = GPUCORE_NONE;
    }
}

/* Nothing failed: the dump is of a kernel that ran, told by what is suspected first, or else
 * by where most of it stood. */
static void snapshot_take(fault_book_t *book)
{
    const fault_group_t *g = book->others;
    fault_t *f = book->faults;

    if (book->count || !book->other_count)
        return;
    book->count = 1;
    f->pc = g->pc;
    f->warp = (int32_t)g->warp;
    f->sm = sm_of(book->core, &book->core->warps[g->warp]);
    f->lane = g->lane;
    f->lane_count = g->lane_count;
    f->warp_count = g->warp_count;
    f->block_count = g->block_count;
    f->snapshot = true;
}

gpurt_status_t fault_book_fill(fault_book_t *book, const gpucore_t *core,
                               gpurt_error_t *err)
{
    uint64_t before[FAULTS_MAX];
    uint32_t last[FAULTS_MAX] = {0};

    memset(book, 0, sizeof *book);
    book->core = core;
    book->faults = calloc(FAULTS_MAX, sizeof *book->faults);
    book->others = calloc(FAULT_GROUPS_MAX, sizeof *book->others);
    if (!book->faults || !book->others) {
        fault_book_fini(book);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "core dump: faults");
    }
    for (uint32_t i = 0; i < core->warp_count; i++) {
        for (uint32_t k = 0; k < FAULTS_MAX; k++)
            before[k] = book->faults[k].lane_count;
        warp_take(book, i);
        if (is_failed(book, before))
            warp_count(book, i, last, before);
        else
            others_take(book, i);
    }
    if (book->count == 0 && !sms_failed(core))
        suspects_mark(book);
    qsort(book->others, book->other_count, sizeof *book->others, most_warps);
    sms_take(book);
    snapshot_take(book);
    for (uint32_t i = 0; i < book->count; i++)
        fault_fill(core, &book->faults[i]);
    return GPURT_OK;
}

void fault_book_fini(fault_book_t *book)
{
    free(book->faults);
    free(book->others);
    memset(book, 0, sizeof *book);
}

/* ---- words ------------------------------------------------------------------------- */
void fault_deed(const fault_t *f, char *out, size_t room)
{
    static const char *const verbs[] = {"", "loads", "stores", "atomically changes"};
    static const char *const ways[] = {"", "from", "to", "at"};
    char size[24] = "memory", where[48] = "";

    out[0] = '\0';
    if (!f->has_op || f->op.kind < SASS_LOAD || f->op.kind > SASS_ATOMIC)
        return;
    if (f->op.size)
        snprintf(size, sizeof size, "%u byte%s", f->op.size, gpurt_plural(f->op.size, "s"));
    if (f->has_address)
        snprintf(where, sizeof where, " %s 0x%llx", ways[f->op.kind],
                 (unsigned long long)f->address);
    snprintf(out, room, "%s %s%s, %s memory", verbs[f->op.kind], size, where,
             sass_space_name(f->op.space));
}
