/* SPDX-License-Identifier: Apache-2.0 */
#include "gpufault.h"

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
/* A warp that ran on may have overwritten the registers; an address that explains the fault
 * is still the one. */
static bool is_borne_out(const gpucore_t *core, const fault_t *f)
{
    if (f->exception == FAULT_MISALIGNED)
        return f->op.size && f->address % f->op.size != 0;
    return f->exception == FAULT_OUT_OF_RANGE && f->op.space == SASS_SHARED &&
           f->warp != GPUCORE_NONE &&
           f->address + f->op.size > core->warps[f->warp].shared_bytes;
}

static void address_find(const gpucore_t *core, fault_t *f)
{
    uint32_t low = 0, high = 0, uniform[GPUCORE_REGISTERS_MAX], extra = 0;

    if (f->op.space == SASS_NOWHERE || !f->op.computable ||
        !fault_register(core, f, f->op.base, &low) ||
        (f->op.wide && f->op.base != SASS_RZ &&
         !fault_register(core, f, f->op.base + 1, &high)))
        return;
    if (f->op.extra != SASS_RZ) {
        if (f->warp == GPUCORE_NONE ||
            f->op.extra >= gpucore_uniform(core, &core->warps[f->warp], uniform))
            return;
        extra = uniform[f->op.extra];
    }
    f->address = (f->op.wide ? (uint64_t)high << 32 : 0) | low;
    f->address += (uint64_t)(int64_t)f->op.offset + extra;
    if (!f->op.wide)
        f->address &= 0xffffffff;
    f->has_address = !f->moved || is_borne_out(core, f);
}

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
    address_find(core, f);
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

/* What lane says of itself. Returns: whether it failed, with kind and place. */
static bool lane_failed(const gpucore_t *core, const gpucore_warp_t *w,
                        const gpucore_lane_t *lane, uint32_t *exception, uint64_t *pc,
                        bool *exact)
{
    sass_op_t op;

    if (!(w->active >> lane->lane & 1))
        return false;
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

static void warp_take(fault_book_t *book, uint32_t number)
{
    const gpucore_warp_t *w = &book->core->warps[number];
    uint64_t pc, passed = 0;
    uint32_t exception;
    gpucore_lane_t lane;
    bool exact;

    for (uint32_t row = 0; row < GPUCORE_LANES; row++) {
        fault_t *f;

        if (!gpucore_lane(book->core, w, row, &lane) ||
            (lane.exception == 0 && lane.pc == passed))
            continue; /* as the one before: no trap there */
        if (!lane_failed(book->core, w, &lane, &exception, &pc, &exact)) {
            passed = w->active >> lane.lane & 1 ? lane.pc : passed;
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
        }
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
static bool same_place(const fault_group_t *g, const code_place_t *place, uint64_t pc)
{
    const line_frame_t *a = g->place.frames, *b = place->frames;
    uint32_t out =
        g->place.frame_count - 1; /* the outermost: what the kernel's text says */

    if (g->pc == pc)
        return true;
    return g->place.frame_count && place->frame_count &&
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
    code_place_t place;
    uint32_t lanes = speaker_of(book->core, w, &speaker);
    uint64_t pc = speaker.pc;

    if (lanes == 0)
        return;
    for (uint32_t i = 0; i < book->other_count && !g; i++)
        if (book->others[i].pc == pc)
            g = &book->others[i];
    if (!g)
        code_find(book->core, pc, &place);
    for (uint32_t i = 0; i < book->other_count && !g; i++)
        if (same_place(&book->others[i], &place, pc))
            g = &book->others[i];
    if (!g) {
        if (book->other_count == FAULT_GROUPS_MAX) {
            book->left_out++;
            return;
        }
        g = &book->others[book->other_count++];
        g->place = place;
        g->pc = pc;
        g->warp = number;
        g->lane = speaker;
    }
    g->block_count += g->warp_count++ == 0 || g->last_block != w->block;
    g->last_block = w->block;
    g->lane_count += lanes;
}

static int most_warps(const void *a, const void *b)
{
    const fault_group_t *x = a, *y = b;

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

/* Nothing failed: the dump is of a kernel that ran, told by where most of it stood. */
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
        snprintf(size, sizeof size, "%u byte%s", f->op.size, f->op.size == 1 ? "" : "s");
    if (f->has_address)
        snprintf(where, sizeof where, " %s 0x%llx", ways[f->op.kind],
                 (unsigned long long)f->address);
    snprintf(out, room, "%s %s%s, %s memory", verbs[f->op.kind], size, where,
             sass_space_name(f->op.space));
}
