/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has noted comes with its panic: context, frames, what is held, memory; and
 * nothing of it with the panic of a warp that has noted nothing. Many panics at once: each
 * slot is one panic's, whole, and none is lost uncounted. */
#include "../check.h"
#include "../kernels/note_kernels.h"
#include "boxmap.h"
#include "drain.h"
#include "life.h"
#include "panicrow.h"
#include "render.h"

#include <gpurt/gpurt.h>
#include <string.h>

GPURT_KERNEL_DECLARE(panic_notes, struct note_args);
GPURT_KERNEL_DECLARE(panic_crowded, struct note_args);
GPURT_KERNEL_DECLARE(panic_many, struct many_args);

enum {
    SLOTS = 256,
    BLOCKS = 9,
    THREADS = 96,
    ROUNDS = 2 /* the second finds too few slots */
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t texts;
static gpurt_drain_t *drain;
static gpurt_t *rt;
static const gpurt_opened_t *opened;

static struct {
    gpurt_row_t row;
    uint32_t words[GPLOG_ROW_WORDS + 1];
    uint64_t panics, missing;
    gpurt_panicrow_t p;
} told;
static bool many; /* of panic_many: looked at one by one */
static uint32_t seed;
static bool seen[BLOCKS * THREADS];

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

static const char *text_of(uint32_t id)
{
    static char room[4][256];
    static uint32_t turn;
    char *out = room[turn++ % 4];
    gpurt_site_info_t info;

    if (!gpurt_dictionary_get(&texts, id, &info))
        return "";
    snprintf(out, 256, "%.*s", (int)info.format_bytes, info.format);
    return out;
}

/* Each lane's values are those that only it can have. */
static void check_one_of_many(const gpurt_panicrow_t *p)
{
    for (uint32_t m = p->failed; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint32_t id = p->block.x * THREADS + (p->thread.x & ~31u) + lane;
        uint32_t mine = (id * 2654435761u) ^ seed;

        CHECK_MSG(id < BLOCKS * THREADS && (id + seed) % 3 == 0, "lane %u of %u", lane, id);
        CHECK_MSG(!seen[id], "thread %u panics once", id);
        seen[id] = true;
        CHECK_EQ(p->lanes[0][lane], mine);
        CHECK_EQ(p->lanes[1][lane], ~mine);
        if (lane == p->lane)
            CHECK_MSG(p->args[0] == mine && p->args[1] == (uint32_t)~mine &&
                          p->args[2] == id,
                      "the leader's operands");
    }
    CHECK_EQ(p->context_count, 1);
    CHECK_EQ(p->contexts[0].value, p->block.x * 100 + p->thread.x / 32);
}

static gpurt_status_t take(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    gpurt_site_info_t site;

    (void)context;
    (void)e;
    if (row->kind == GPURT_KIND_LOSS) {
        CHECK_EQ(gpurt_row_words(row)[0], GPURT_LOSS_SLOTS);
        told.missing += gpurt_row_lost(row);
        return GPURT_OK;
    }
    CHECK_EQ(row->kind, GPURT_KIND_PANIC);
    CHECK_MSG(gpurt_dictionary_get(&texts, row->site, &site), "a panic has a site");
    memcpy(&told.row, row, sizeof *row + 4u * row->words);
    gpurt_panicrow_read(&told.row, site.types, &told.p);
    told.panics++;
    if (many)
        check_one_of_many(&told.p);
    return GPURT_OK;
}

static void drain_all(uint64_t panics)
{
    uint32_t rows;

    for (int i = 0; told.panics < panics && i < 100000; i++)
        OK(gpurt_drain_round(drain, &rows, &err));
    OK(gpurt_drain_round(drain, &rows, &err));
    CHECK_EQ(told.panics, panics);
}

/* A warp may come to its panic in several groups; each of them tells the same. */
static void run(const gpurt_kernel_t *kernel, const void *args, size_t bytes)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint32_t before = map.box->sections[0].xpanics, raised;

    OK(gpurt_launch_kernel(rt, &launch, kernel, args, bytes, &err));
    OK(gpurt_sync(rt, &err));
    raised = map.box->sections[0].xpanics - before;
    CHECK_MSG(raised > 0 && before + raised <= SLOTS, "%u panics", raised);
    drain_all(told.panics + raised);
}

/* ---- notes --------------------------------------------------------------------------- */

static void check_context(void)
{
    const gpurt_panicrow_t *p = &told.p;

    CHECK_EQ(p->context_count, 3);
    CHECK_EQ(p->contexts_left_out, 0);
    CHECK_STR(text_of(p->contexts[0].name), "request");
    CHECK_EQ(p->contexts[0].type, GPURT_TYPE_U64);
    CHECK_EQ(p->contexts[0].value, 4711);
    CHECK_STR(text_of(p->contexts[1].name), "user");
    CHECK_EQ(p->contexts[1].type, GPURT_TYPE_STRING);
    CHECK_STR(text_of((uint32_t)p->contexts[1].value), "joe");
    CHECK_STR(text_of(p->contexts[2].name), "share");
    CHECK_EQ(p->contexts[2].type, GPURT_TYPE_F64);
    CHECK_EQ(p->contexts[2].value, 0x3fd0000000000000);
}

static void check_trail(void)
{
    const gpurt_panicrow_t *p = &told.p;

    CHECK_EQ(p->frame_count, GPURT_PANIC_FRAMES);
    CHECK_EQ(p->frames_left_out, NOTE_DEEP + 1 - GPURT_PANIC_FRAMES);
    CHECK_STR(text_of(p->frames[0].function), "note_leaf");
    CHECK_STR(text_of(p->frames[1].function), "note_deep");
    CHECK_MSG(p->frames[0].line + 7 == p->frames[1].line, "lines %u and %u",
              p->frames[0].line, p->frames[1].line);
    CHECK_CONTAINS(text_of(p->frames[7].file), "note_kernels.c");
    CHECK_MSG(p->task == 77 && p->parent_task == 70, "the task");
    CHECK_EQ(p->held_count, 1);
    CHECK_EQ(p->held[0].kind, GPURT_HELD_ALLOCATION);
    CHECK_STR(text_of(p->held[0].name), "node");
}

static void check_window(const uint32_t *table, uint32_t index, uint64_t mark)
{
    const gpurt_panicrow_window_t *w = &told.p.windows[index];
    const uint64_t base = (uint64_t)(uintptr_t)table;
    const uint32_t *words = (const uint32_t *)(const void *)w->data;

    CHECK_EQ(w->base, base);
    CHECK_EQ(w->size, 4 * NOTE_TABLE);
    CHECK_EQ(w->mark, mark);
    CHECK_EQ(w->bytes, GPURT_PANIC_WINDOW);
    CHECK_MSG(w->start >= base && w->start + w->bytes <= base + w->size, "inside");
    for (uint32_t i = 0; i < w->bytes / 4; i++)
        CHECK_EQ(words[i], (w->start - base) / 4 + i);
}

static void check_notes(struct note_args *a)
{
    run(&gpurt_kernel_panic_notes, a, sizeof *a);
    check_context();
    check_trail();
    CHECK_EQ(told.p.window_count, 1);
    check_window(a->table, 0, (uint64_t)(uintptr_t)(a->table + 150));
    CHECK_STR(text_of(told.p.windows[0].name), "table");
    CHECK_MSG(told.p.windows[0].start <= told.p.windows[0].mark &&
                  told.p.windows[0].mark < told.p.windows[0].start + GPURT_PANIC_WINDOW,
              "the address is shown");

    /* The next warp in the slot has none of it. */
    a->which = 1;
    run(&gpurt_kernel_panic_notes, a, sizeof *a);
    CHECK_MSG(told.p.context_count == 0 && told.p.frame_count == 0 &&
                  told.p.held_count == 0 && told.p.window_count == 0 && told.p.task == 0,
              "notes are a warp's own");
    run(&gpurt_kernel_panic_crowded, a, sizeof *a);
    CHECK_EQ(told.p.context_count, GPURT_PANIC_CONTEXTS);
    CHECK_MSG(told.p.contexts_left_out > 0, "the ninth is counted");
    CHECK_STR(text_of(told.p.contexts[7].name), "h");
    CHECK_EQ(told.p.contexts[7].value, 10);
}

static void check_index(struct note_args *a)
{
    static const int32_t bad[] = {-1, NOTE_TABLE, NOTE_TABLE + 7, INT32_MAX};

    a->which = 2;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        a->index = bad[i];
        run(&gpurt_kernel_panic_notes, a, sizeof *a);
        CHECK_EQ(told.p.category, GPURT_CATEGORY_BOUNDS);
        CHECK_EQ(told.p.arg_count, 2);
        CHECK_EQ((int32_t)told.p.args[0], bad[i]);
        check_window(a->table, 0, (uint64_t)(uintptr_t)a->table + 4 * (int64_t)bad[i]);
        CHECK_EQ(told.p.windows[0].start - told.p.windows[0].base,
                 bad[i] < 0 ? 0 : 4 * NOTE_TABLE - GPURT_PANIC_WINDOW);
    }
    a->which = 3;
    run(&gpurt_kernel_panic_notes, a, sizeof *a);
    CHECK_EQ(told.p.window_count, 1);
    CHECK_EQ(told.p.windows[0].bytes, 24);
    CHECK_EQ(told.p.windows[0].data[0], 4);
}

/* ---- many ---------------------------------------------------------------------------- */

static uint64_t threads_seen(void)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        count += seen[i];
    return count;
}

/* Warps may panic in several groups of lanes, as they come. Lanes whose block was cancelled before
 * they came to it end without. */
static void check_many(uint32_t *done)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct many_args args = {.done = done};

    many = true;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t before = map.box->sections[0].xpanics, raised;
        uint64_t had = told.panics, missed = told.missing;

        *done = 0;
        memset(seen, 0, sizeof seen);
        seed = args.seed = round + 1;
        OK(gpurt_launch(rt, &launch, panic_many, &args, &err));
        OK(gpurt_sync(rt, &err));
        raised = map.box->sections[0].xpanics - before;
        CHECK_MSG(raised >= BLOCKS && raised <= BLOCKS * THREADS, "%u raised", raised);
        drain_all(before + raised > SLOTS ? SLOTS : had + raised);
        CHECK_EQ(told.panics - had + told.missing - missed, raised);
        CHECK_MSG(*done < 1000, "a block without all its lanes passes no barrier");
        if (told.missing == 0)
            CHECK_MSG(threads_seen() >= raised, "%llu threads in %u panics",
                      (unsigned long long)threads_seen(), raised);
    }
    CHECK_MSG(told.missing > 0 || map.box->sections[0].xpanics <= SLOTS, "counted");
    many = false;
}

static void check_missing(uint32_t *done)
{
    while (map.box->sections[0].xpanics <= SLOTS)
        check_many(done);
    CHECK_EQ(told.missing, map.box->sections[0].xpanics - SLOTS);
    CHECK_EQ(told.panics, SLOTS);
    /* Whoever drains next tells them no second time. */
    OK(gpurt_drain_flush(drain, &err));
    gpurt_drain_close(drain);
}

static void connect(gpurt_drain_options_t *options)
{
    const gpurt_options_t own = {.panics = GPURT_PANICS_OFF}; /* the box is the test's */
    gpurt_section_plan_t s = {.panic_count = SLOTS};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_info_t info;

    OK(gpurt_open(&own, &rt, &err));
    OK(gpurt_info(rt, &info));
    OK(gpurt_life_enter(rt, &opened, &err));
    gpurt_life_leave(opened, GPURT_OK);
    s.kind = info.backend == GPURT_BACKEND_CPU ? GPURT_SECTION_CPU : GPURT_SECTION_CUDA;
    s.sm_count = info.sm_count;
    s.warp_slots = info.warp_slots;
    OK(gpurt_boxmap_create(&plan, &map, &err));
    OK(opened->ops->box_connect(opened->self, &map, 0, &err));
    OK(gpurt_drain_open(&map, options, &drain, &err));
}

int main(void)
{
    gpurt_drain_options_t options = {.struct_size = sizeof options,
                                     .sink_count = 1,
                                     .sinks = {{.put = take}},
                                     .dictionary = &texts};
    struct note_args args = {.bad = (const void *)16};
    uint64_t missing;
    uint32_t *done;

    connect(&options);
    OK(gpurt_host_create(rt, sizeof *done, (void **)&done, &err));
    OK(gpurt_host_create(rt, NOTE_TABLE * sizeof *args.table, (void **)&args.table, &err));
    for (uint32_t i = 0; i < NOTE_TABLE; i++)
        args.table[i] = i;
    check_notes(&args);
    check_index(&args);
    check_missing(done);
    missing = told.missing;
    OK(gpurt_drain_open(&map, &options, &drain, &err));
    OK(gpurt_drain_finish(drain, &err));
    CHECK_MSG(told.missing == missing && told.panics == SLOTS, "told once");
    gpurt_drain_close(drain);
    gpurt_dictionary_fini(&texts);
    opened->ops->box_disconnect(opened->self, &map, 0);
    gpurt_boxmap_detach(&map);
    gpurt_host_destroy(rt, args.table);
    gpurt_host_destroy(rt, done);
    OK(gpurt_close(rt, &err));
    return 0;
}
