/* SPDX-License-Identifier: Apache-2.0 */
/* Collectors: made, run, and looked into. A cycle is a row of steps, each some kernels and
 * then a wait for the sections that were open; it can stop at any wait and go on later. */
#include "gccollect.h"
#include "heapmap.h"
#include "hosttime.h"
#include "ownwait.h"
#include "process.h"
#include "reclaimtable.h"
#include "reclaimview.h"
#include "refuse.h"

#include <errno.h>
#include <gpurt/epoch.h>
#include <gpurt/gc.h>
#include <gpurt/impl/heaprow.h>
#include <gpurt/object.h>
#include <gpurt/reclaim.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_OBJECTS = 65536,
    OBJECTS_MOST = 1 << 24,
    DEFAULT_ROOTS = 64,
    ROOTS_MOST = 1 << 24,
    DEFAULT_WAIT_MS = 10000,
    POLLS = 256,             /* of a kernel that waits, then the host looks at the clock */
    MAJOR_AT_LEAST = 1 << 20 /* cycles: marks of old objects must not outlive the wrap */
};
/* Just before the wrap, so that what depends on it shows at once. */
#define FIRST_CYCLE (GPURT_GC_CYCLES - 3)
static const char WHAT[] = "collector";
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_gc_reset;

typedef enum step {
    STEP_ARM,   /* what is overwritten from here on is shaded */
    STEP_AGAIN, /* and who is open now began when all did so */
    STEP_MARK,  /* from the roots on */
    STEP_SEEK,  /* until nothing is left to look through */
    STEP_FREE   /* what was condemned */
} step_t;

/* What the host keeps of a collector. Under collect_lock. */
typedef struct state {
    uint32_t id; /* of the collector that it is about */
    uint32_t cycle, last_major, wait_ms;
    step_t step;
    bool waits; /* for sections, before the step is done */
    gpurt_gc_kind_t kind;
} state_t;

static gpurt_lock_t collect_lock = GPURT_LOCK_INIT;
static state_t states[GPURT_RECLAIM_TABLES];

static state_t *state_of(const gpurt_gc_t *gc)
{
    return &states[gc->id % GPURT_RECLAIM_TABLES];
}

/* ---- make ---------------------------------------------------------------------------- */

/* The control comes first: its address is the table's. */
static size_t gc_place(gpurt_gc_t *gc, void *memory)
{
    size_t at = 0, n = gc->entry_count;

    gc->control = (gpurt_gc_control_t *)gpurt_table_part(memory, &at, sizeof *gc->control);
    gc->types = (gpurt_gc_type_t *)gpurt_table_part(memory, &at,
                                                    gc->type_count * sizeof *gc->types);
    gc->roots =
        (uint64_t *)gpurt_table_part(memory, &at, gc->root_count * sizeof *gc->roots);
    gc->unused.tree.trees = (uint64_t *)gpurt_table_part(
        memory, &at, gc->unused.tree.tree_words * sizeof(uint64_t));
    gc->queue = (uint32_t *)gpurt_table_part(memory, &at, n * sizeof *gc->queue);
    gc->entries =
        (gpurt_gc_entry_t *)gpurt_table_part(memory, &at, n * sizeof *gc->entries);
    return at;
}

static gpurt_status_t types_write(gpurt_t *rt, const gpurt_gc_t *gc,
                                  const gpurt_gc_options_t *o, gpurt_error_t *err)
{
    gpurt_gc_type_t types[GPURT_GC_TYPES] = {{.tail = GPURT_GC_NO_TAIL}};

    for (uint32_t i = 0; i < o->type_count; i++) {
        types[i] = o->types[i];
        if (types[i].tail < 64) /* said once is enough */
            types[i].handles &= (1ull << types[i].tail) - 1;
    }
    return gpurt_table_write(rt, gc->types, types, gc->type_count * sizeof *types, err);
}

static gpurt_status_t entries_write(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err)
{
    size_t bytes = gc->entry_count * sizeof *gc->entries;
    gpurt_gc_entry_t *entries = (gpurt_gc_entry_t *)gpurt_table_room(bytes);
    gpurt_status_t st;

    if (!entries)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%u entries",
                          gc->entry_count);
    memset(entries, 0, bytes);
    for (uint32_t i = 0; i < gc->entry_count; i++) {
        entries[i].xgeneration = gpurt_table_first_life(gc->id);
        entries[i].xmark = FIRST_CYCLE << 1 | 1;
    }
    st = gpurt_table_write(rt, gc->entries, entries, bytes, err);
    free(entries);
    return st;
}

static gpurt_status_t gc_fill(gpurt_t *rt, const gpurt_gc_t *gc,
                              const gpurt_gc_options_t *o, gpurt_error_t *err)
{
    uint64_t control = (uint64_t)FIRST_CYCLE << 32;
    gpurt_status_t st = types_write(rt, gc, o, err);

    if (st == GPURT_OK)
        st = entries_write(rt, gc, err);
    if (st == GPURT_OK)
        st = gpurt_slotset_fill(rt, &gc->unused, err);
    if (st == GPURT_OK)
        st = gpurt_table_write(rt, &gc->control->course.xcontrol, &control, sizeof control,
                               err);
    return st;
}

static gpurt_status_t options_check(const gpurt_gc_options_t *in, gpurt_gc_options_t *o,
                                    gpurt_error_t *err)
{
    gpurt_table_options(o, sizeof *o, in);
    o->objects = o->objects ? o->objects : DEFAULT_OBJECTS;
    o->roots = o->roots ? o->roots : DEFAULT_ROOTS;
    o->wait_ms = o->wait_ms ? o->wait_ms : DEFAULT_WAIT_MS;
    if (o->objects > OBJECTS_MOST || o->roots > ROOTS_MOST)
        return REFUSE(err, GPURT_E_INVALID, "%s: %u objects, %u roots: at most %d each",
                      WHAT, o->objects, o->roots, OBJECTS_MOST);
    if (o->type_count > GPURT_GC_TYPES || (o->type_count && !o->types))
        return REFUSE(err, GPURT_E_INVALID, "%s: %u types: at most %d, and not NULL", WHAT,
                      o->type_count, GPURT_GC_TYPES);
    return GPURT_OK;
}

gpurt_status_t gpurt_gc_create(gpurt_t *rt, const gpurt_heap_t *heap,
                               const gpurt_gc_options_t *options, gpurt_gc_t *out,
                               gpurt_error_t *err)
{
    gpurt_epochs_options_t sections = {.limbo = 1};
    gpurt_gc_options_t o;
    gpurt_gc_t gc = {0};
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", WHAT);
    memset(out, 0, sizeof *out);
    st = options_check(options, &o, err);
    if (st != GPURT_OK)
        return st;
    sections.slots = o.sections;
    st = gpurt_epochs_make(rt, heap, &sections, &gc.sections, err);
    if (st != GPURT_OK)
        return st;
    gc.heap = *heap;
    gc.entry_count = o.objects;
    gc.root_count = o.roots;
    gc.type_count = o.type_count ? o.type_count : 1;
    gpurt_slotset_shape(&gc.unused, gc.entry_count);
    st = gpurt_table_create(rt, WHAT, gc_place(&gc, NULL), &memory, &gc.id, err);
    gc_place(&gc, memory);
    if (st == GPURT_OK)
        st = gpurt_stream_create(rt, &gc.stream, err);
    if (st == GPURT_OK)
        st = gc_fill(rt, &gc, &o, err);
    if (st != GPURT_OK)
        goto fail;
    gpurt_lock_take(&collect_lock);
    *state_of(&gc) = (state_t){
        .id = gc.id, .cycle = FIRST_CYCLE, .last_major = FIRST_CYCLE, .wait_ms = o.wait_ms};
    gpurt_lock_give(&collect_lock);
    gpurt_reclaimview_begin(rt, &(gpurt_reclaim_look_t){.what = GPURT_RECLAIM_GC,
                                                        .table = gc.id,
                                                        .heap = heap->id,
                                                        .room = gc.entry_count,
                                                        .counts = gc.control,
                                                        .slots = gc.sections.slots,
                                                        .words = gc.sections.slot_count});
    *out = gc;
    return GPURT_OK;

fail:
    if (gc.stream)
        gpurt_stream_destroy(rt, gc.stream);
    if (memory)
        gpurt_table_destroy(rt, WHAT, gc.id, memory, NULL);
    gpurt_epochs_destroy(rt, &gc.sections, NULL);
    return st;
}

gpurt_status_t gpurt_gc_take(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err)
{
    if (!gc)
        return gpurt_table_take(WHAT, 0, NULL, err);
    return gpurt_table_take_both(rt, WHAT, gc->id, gc->control, &gc->heap, err);
}

void gpurt_gc_drop(const gpurt_gc_t *gc)
{
    gpurt_table_drop_both(gc->id, &gc->heap);
}

gpurt_status_t gpurt_gc_destroy(gpurt_t *rt, gpurt_gc_t *gc, gpurt_error_t *err)
{
    gpurt_status_t st, stream;

    if (!gc || !gc->control)
        return GPURT_OK;
    gpurt_lock_take(&collect_lock);
    st = gpurt_table_destroy(rt, WHAT, gc->id, gc->control, err);
    gpurt_lock_give(&collect_lock);
    if (st != GPURT_OK) /* all of it is still there */
        return st;
    st = gpurt_epochs_destroy(rt, &gc->sections, err);
    stream = gpurt_stream_destroy(rt, gc->stream);
    memset(gc, 0, sizeof *gc);
    return st == GPURT_OK ? stream : st;
}

/* ---- collect ------------------------------------------------------------------------- */

/* A cycle that is under way. Owner: the call. */
typedef struct run {
    gpurt_t *rt;
    state_t *state;
    struct gpurt_gc_args args;
    gpurt_launch_t wide, warp; /* for all entries, for one warp */
    gpurt_error_t *err;
} run_t;

static void run_init(run_t *r, gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err)
{
    uint32_t blocks = (gc->entry_count + 255) / 256;
    gpurt_info_t info;

    memset(r, 0, sizeof *r);
    r->rt = rt;
    r->state = state_of(gc);
    r->args.gc = *gc;
    r->args.polls = POLLS;
    r->err = err;
    if (gpurt_info(rt, &info) == GPURT_OK && blocks > 2 * info.sm_count)
        blocks = 2 * info.sm_count;
    r->wide = (gpurt_launch_t){
        .grid = {blocks, 1, 1}, .block = {256, 1, 1}, .stream = gc->stream};
    r->warp =
        (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = gc->stream};
}

#define LAUNCH(r, shape, kernel) \
    gpurt_launch((r)->rt, &(r)->shape, kernel, &(r)->args, (r)->err)

/* Beside kernels of the program, which write other words. */
static gpurt_status_t course_read(const run_t *r, gpurt_gc_course_t *out)
{
    gpurt_stream_t stream = r->args.gc.stream;
    gpurt_status_t st =
        gpurt_copy(r->rt, stream, out, &r->args.gc.control->course, sizeof *out, r->err);

    return st == GPURT_OK ? gpurt_own_stream_sync(r->rt, stream, r->err) : st;
}

/* Until the sections that were open when the wait began have ended. */
static gpurt_status_t run_wait(run_t *r)
{
    uint64_t until_ns = gpurt_steady_ns() + r->state->wait_ms * 1000000ull;
    gpurt_gc_course_t c;
    gpurt_status_t st;

    for (;;) {
        st = course_read(r, &c);
        if (st != GPURT_OK || c.xreached)
            return st;
        if (gpurt_steady_ns() >= until_ns)
            return REFUSE(r->err, GPURT_E_NOT_READY,
                          "%s: a section has been open for %u ms: gpurt_gc_stats names its "
                          "block; collect again when it has ended",
                          WHAT, r->state->wait_ms);
        r->args.begins = 0;
        st = LAUNCH(r, warp, gpurt_gc_wait);
        if (st != GPURT_OK)
            return st;
    }
}

/* From now on `flags` hold, and sections of before are waited for. */
static gpurt_status_t run_begin_wait(run_t *r, uint64_t flags)
{
    r->args.control = (uint64_t)r->state->cycle << 32 | flags;
    r->args.begins = 1;
    r->args.marked = r->state->step >= STEP_MARK;
    r->state->waits = true;
    return LAUNCH(r, warp, gpurt_gc_wait);
}

/* Returns: whether some were found that had not been looked through. */
static gpurt_status_t run_seek(run_t *r, bool *found)
{
    gpurt_gc_course_t c;
    gpurt_status_t st =
        gpurt_fill(r->rt, r->args.gc.stream, &r->args.gc.control->course.xfound, 0,
                   sizeof c.xfound, r->err);

    if (st == GPURT_OK)
        st = LAUNCH(r, wide, gpurt_gc_seek);
    if (st == GPURT_OK)
        st = course_read(r, &c);
    *found = st == GPURT_OK && c.xfound > 0;
    return st;
}

/* The kernels of a step, and the wait behind them. */
static gpurt_status_t run_step(run_t *r, step_t *next)
{
    uint64_t active = GPURT_GC_ACTIVE | r->args.flags;
    gpurt_status_t st = GPURT_OK;
    bool found = false;

    *next = (step_t)(r->state->step + 1);
    switch (r->state->step) {
    case STEP_ARM:
        st = LAUNCH(r, wide, gpurt_gc_reset);
        active |= GPURT_GC_ARMING;
        break;
    case STEP_AGAIN:
        break;
    case STEP_MARK:
        st = LAUNCH(r, wide, gpurt_gc_begin);
        if (st == GPURT_OK)
            st = LAUNCH(r, wide, gpurt_gc_mark);
        break;
    case STEP_SEEK:
        st = run_seek(r, &found);
        if (found)
            *next = STEP_SEEK;
        if (st == GPURT_OK)
            st = found ? LAUNCH(r, wide, gpurt_gc_mark) : LAUNCH(r, wide, gpurt_gc_condemn);
        active = found ? active : 0;
        break;
    case STEP_FREE:
        st = LAUNCH(r, wide, gpurt_gc_free);
        return st == GPURT_OK ? gpurt_own_stream_sync(r->rt, r->args.gc.stream, r->err)
                              : st;
    }
    return st == GPURT_OK ? run_begin_wait(r, active) : st;
}

static gpurt_status_t cycle_begin(run_t *r, gpurt_gc_kind_t kind)
{
    state_t *s = r->state;
    gpurt_gc_course_t c;
    gpurt_status_t st = course_read(r, &c);

    if (st != GPURT_OK)
        return st;
    s->cycle = ((uint32_t)(c.xcontrol >> 32) + 1) & GPURT_GC_CYCLES;
    if (((s->cycle - s->last_major) & GPURT_GC_CYCLES) > MAJOR_AT_LEAST)
        kind = GPURT_GC_MAJOR_CYCLE;
    if (kind == GPURT_GC_MAJOR_CYCLE)
        s->last_major = s->cycle;
    s->kind = kind;
    return st;
}

static gpurt_status_t run_cycle(run_t *r, gpurt_gc_kind_t kind)
{
    gpurt_status_t st = GPURT_OK;
    state_t *s = r->state;

    if (s->step == STEP_ARM && !s->waits)
        st = cycle_begin(r, kind);
    r->args.cycle = s->cycle;
    r->args.flags = s->kind == GPURT_GC_MINOR_CYCLE ? GPURT_GC_MINOR : 0;
    for (bool done = false; !done && st == GPURT_OK;) {
        step_t next = s->step;

        if (s->waits)
            st = run_wait(r);
        if (st != GPURT_OK)
            return st;
        s->waits = false;
        done = s->step == STEP_FREE;
        st = run_step(r, &next);
        s->step = done ? STEP_ARM : next;
    }
    return st;
}

gpurt_status_t gpurt_gc_collect(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_gc_kind_t kind,
                                gpurt_error_t *err)
{
    gpurt_status_t st;
    run_t r;

    if (kind != GPURT_GC_MAJOR_CYCLE && kind != GPURT_GC_MINOR_CYCLE)
        return REFUSE(err, GPURT_E_INVALID, "%s: kind %d: major or minor", WHAT, (int)kind);
    gpurt_lock_take(&collect_lock);
    st = gpurt_gc_take(rt, gc, err);
    if (st == GPURT_OK) {
        run_init(&r, rt, gc, err);
        st = run_cycle(&r, kind);
        gpurt_gc_drop(gc);
    }
    gpurt_lock_give(&collect_lock);
    return st;
}

gpurt_status_t gpurt_gc_recover(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_gc_take(rt, gc, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_epochs_sweep(rt, &gc->sections, err);
    gpurt_gc_drop(gc);
    return st;
}

/* ---- look ---------------------------------------------------------------------------- */

gpurt_status_t gpurt_gc_entries_read(gpurt_t *rt, const gpurt_gc_t *gc,
                                     gpurt_gc_entry_t **out, gpurt_error_t *err)
{
    size_t bytes = gc->entry_count * sizeof **out;
    gpurt_status_t st;

    *out = (gpurt_gc_entry_t *)gpurt_table_room(bytes);
    if (!*out)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%u entries",
                          gc->entry_count);
    st = gpurt_table_read(rt, *out, gc->entries, bytes, err);
    if (st != GPURT_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

static void stats_entry(const gpurt_gc_entry_t *e, gpurt_gc_stats_t *out)
{
    if (!e->xaddress)
        return;
    out->objects++;
    out->bytes += e->xsize;
    out->dying += (e->xmeta & GPURT_GC_DYING) != 0;
    out->old += gpurt_gc_is_old(e->xmeta);
}

static void stats_control(const gpurt_gc_control_t *c, gpurt_gc_stats_t *out)
{
    out->allocated = c->xallocated;
    out->freed = c->xfreed;
    out->freed_bytes = c->xfreed_bytes;
    out->promoted = c->xpromoted;
    out->marked = c->xmarked;
    memcpy(out->answers, c->xanswers, sizeof out->answers);
    out->cycle = (uint32_t)(c->course.xcontrol >> 32);
}

gpurt_status_t gpurt_gc_stats(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_gc_stats_t *out,
                              gpurt_error_t *err)
{
    gpurt_reclaim_stats_t sections;
    gpurt_gc_entry_t *entries;
    gpurt_gc_control_t control;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", WHAT);
    memset(out, 0, sizeof *out);
    if (!gc)
        return gpurt_table_take(WHAT, 0, NULL, err);
    st = gpurt_table_take(WHAT, gc->id, gc->control, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_epochs_stats(rt, &gc->sections, &sections, err);
    if (st == GPURT_OK)
        st = gpurt_table_read(rt, &control, gc->control, sizeof control, err);
    if (st == GPURT_OK)
        st = gpurt_gc_entries_read(rt, gc, &entries, err);
    gpurt_table_drop(gc->id);
    if (st != GPURT_OK)
        return st;
    stats_control(&control, out);
    for (uint32_t i = 0; i < gc->entry_count; i++)
        stats_entry(&entries[i], out);
    gpurt_lock_take(&collect_lock);
    out->unfinished = state_of(gc)->waits;
    gpurt_lock_give(&collect_lock);
    out->open_sections = sections.open;
    out->oldest_block = sections.oldest_block;
    free(entries);
    return st;
}
