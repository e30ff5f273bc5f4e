/* SPDX-License-Identifier: Apache-2.0 */
/* Reference counts, epochs and hazard pointers, on both back ends: what is retired is freed
 * once and not too early, what cannot be kept is said to whom it belongs, a warp that is
 * cancelled holds nothing for ever, and a call that cannot be right says so. */
#include "reclaim_stage.h"

enum {
    MIB = 1 << 20
};

static const setting_t usual = {.heap = {.bytes = 16 * MIB},
                                .epochs = {.slots = 64, .limbo = 64},
                                .hazards = {.slots = 32, .retired = 64},
                                .refs = {.records = 512},
                                .node_bytes = 64,
                                .rounds = 24,
                                .cells = 300,
                                .blocks = 6,
                                .threads = 64};
/* Few nodes and slots: everybody is in everybody's way. */
static const setting_t tight = {.heap = {.bytes = 600 << 10, .shards = 1},
                                .epochs = {.slots = 5, .limbo = 8},
                                .hazards = {.slots = 4, .each = 3, .retired = 8},
                                .refs = {.records = 5},
                                .node_bytes = 4096,
                                .rounds = 24,
                                .cells = 40,
                                .blocks = 6,
                                .threads = 32,
                                .dawdle = 2};

/* ---- stack and queue ----------------------------------------------------------------- */

static void test_nodes(const setting_t *set)
{
    for (uint32_t guard = RECLAIM_EPOCH; guard <= RECLAIM_HAZARD; guard++)
        for (uint32_t queue = 0; queue < 2; queue++) {
            stage_t s;

            stage_open(&s, set, guard, 1 + queue);
            stage_storm(&s, queue);
            stage_quiet(&s, 0);
            stage_close(&s);
        }
}

/* A block that is cancelled in a section keeps its slot, and with epochs all that others
 * retire; the host takes it back. */
static void test_cancelled(uint32_t guard)
{
    gpurt_reclaim_stats_t stats;
    reclaim_verdict_t v;
    stage_t s;

    stage_open(&s, &usual, guard, 1);
    s.args.rounds = 200;
    s.launch.grid.x = 2;
    s.launch.block.x = 32;
    RUN(&s, reclaim_cancelled);
    v = stage_verdict(&s);
    stats = stage_reclaimed(&s);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(stats.open, 1);
    CHECK_EQ(stats.oldest_block, 0);
    CHECK_EQ(stats.named, guard == RECLAIM_HAZARD ? 32 : 0);
    CHECK_EQ(stats.refused, v.xfull);
    if (guard == RECLAIM_EPOCH) { /* block 1 came to the end of its room, and was told */
        CHECK(v.xfull > 0);
        CHECK_EQ(stats.waiting, s.args.epochs.limbo_size);
        CHECK_EQ(stats.freed, 0);
    } else { /* nobody names what block 1 retires */
        CHECK_EQ(v.xfull, 0);
        CHECK(stats.freed > 0);
    }
    stage_sweep(&s);
    s.args.mode = 1;
    RUN_AS(&s, one, reclaim_rest);
    stage_quiet(&s, 1);
    s.launch.grid.x = 1; /* and all is as before */
    s.args.mode = 0;
    RUN(&s, reclaim_stack);
    CHECK(stage_verdict(&s).xlives > v.xlives);
    stage_close(&s);
}

/* What a warp retires is freed while it goes on. */
static void test_goes_on(uint32_t guard)
{
    setting_t alone = usual;
    gpurt_reclaim_stats_t stats;
    stage_t s;

    alone.blocks = 1;
    alone.threads = 32;
    alone.rounds = 200;
    stage_open(&s, &alone, guard, 1);
    RUN(&s, reclaim_stack);
    stats = stage_reclaimed(&s);
    CHECK(stats.retired > 500);
    CHECK(stats.freed > stats.retired / 2);
    stage_close(&s);
}

static void test_slots(uint32_t guard)
{
    uint32_t expected = guard == RECLAIM_EPOCH ? usual.epochs.slots : usual.hazards.slots;
    gpurt_reclaim_stats_t stats;
    uint64_t taken;
    stage_t s;

    stage_open(&s, &usual, guard, 1);
    RUN_AS(&s, one, reclaim_slots);
    stage_read(&taken, s.args.cells, sizeof taken);
    stats = stage_reclaimed(&s);
    CHECK_EQ(taken, expected);
    CHECK_EQ(stats.open, expected);
    CHECK_EQ(stats.no_slot, 1);
    CHECK_EQ(stage_verdict(&s).xwrong, 0);
    stage_sweep(&s);
    stage_quiet(&s, expected);
    stage_close(&s);
}

/* A section that is left twice is not one that another block has meanwhile. On a GPU only code that
 * checks notices. */
static void test_left_twice(uint32_t guard)
{
    gpurt_info_t info;
    stage_t s;

    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    if (info.backend == GPURT_BACKEND_CUDA)
        return;
    stage_open(&s, &usual, guard, 1);
    s.launch.grid.x = 2;
    s.launch.block.x = 32;
    s.args.mode = 2; /* block 1 enters, */
    RUN(&s, reclaim_leave_of);
    s.args.mode = 1; /* block 0 leaves, */
    RUN(&s, reclaim_leave_of);
    CHECK_EQ(stage_reclaimed(&s).open, 1);
    CHECK_EQ(stage_reclaimed(&s).wrong, 1);
    s.args.mode = 3; /* block 1 leaves, */
    RUN(&s, reclaim_leave_of);
    CHECK_EQ(stage_reclaimed(&s).open, 0);
    CHECK_EQ(stage_reclaimed(&s).wrong, 1);
    RUN(&s, reclaim_leave_of); /* and once more */
    CHECK_EQ(stage_reclaimed(&s).wrong, 2);
    stage_close(&s);
}

/* A warp that got no slot has no pointers, and no lane has more than `each`. */
static void test_no_pointer(void)
{
    uint64_t cells[4], object = 0x1000;
    gpurt_reclaim_stats_t stats;
    stage_t s;

    stage_open(&s, &usual, RECLAIM_HAZARD, 1);
    OK(gpurt_copy(rt, 0, s.args.cells + 4, &object, sizeof object, &err));
    RUN_AS(&s, one, reclaim_no_pointer);
    stage_read(cells, s.args.cells, sizeof cells);
    CHECK_EQ(cells[0], 0);
    CHECK_EQ(cells[1], 0);
    CHECK_EQ(cells[2], object);
    stats = stage_reclaimed(&s);
    CHECK_EQ(stats.wrong, 4 * 32);
    CHECK_EQ(stats.named + stats.open, 0);
    stage_close(&s);
}

/* ---- reference counts ---------------------------------------------------------------- */

static void test_refs(const setting_t *set, uint32_t seed)
{
    gpurt_refs_stats_t stats;
    reclaim_verdict_t v;
    stage_t s;

    stage_open(&s, set, RECLAIM_BARE, seed);
    RUN(&s, reclaim_refs);
    OK(gpurt_refs_stats(rt, &s.args.refs, &stats, &err));
    CHECK_EQ(stats.live, stats.references);
    CHECK_EQ(stage_live(&s), stats.live);
    CHECK_EQ(stats.records, set->refs.records);
    RUN(&s, reclaim_refs_end);
    v = stage_verdict(&s);
    CHECK_EQ(v.xwrong, 0);
    CHECK(v.xdone > 0);
    OK(gpurt_refs_stats(rt, &s.args.refs, &stats, &err));
    CHECK_EQ(stats.live + stats.references + stats.live_bytes, 0);
    CHECK(stats.counts.xanswers[GPURT_REF_DEAD] >= v.xdead);
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_NO_MEMORY] +
                 stats.counts.xanswers[GPURT_REF_NO_RECORD],
             v.xnull);
    CHECK_EQ(stage_live(&s), 0);
    stage_close(&s);
}

/* Lanes of a warp that retain at the same place, each group with a mask of its own: on a GPU one
 * launch in forty met a shuffle of a lane that had not come, while gpurt_activemask gave the bare
 * answer. */
static void test_refs_often(void)
{
    gpurt_info_t info;
    uint32_t launches;

    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    launches = info.backend == GPURT_BACKEND_CUDA ? 120 : 4;
    for (uint32_t seed = 0; seed < launches; seed++)
        test_refs(&usual, 100 + seed);
}

/* A call of so many lanes at once. Returns: how many got that answer. */
static uint32_t call(stage_t *s, uint32_t mode, uint32_t lanes, uint32_t answer)
{
    uint64_t cells[33];
    uint32_t n = 0;

    s->one.block.x = lanes;
    s->args.mode = mode;
    RUN_AS(s, one, reclaim_ref_call);
    stage_read(cells, s->args.cells, sizeof cells);
    for (uint32_t i = 0; i < lanes; i++)
        n += cells[1 + i] == answer;
    return n;
}

static bool only(void *context, const gpurt_ref_info_t *info)
{
    *(gpurt_ref_info_t *)context = *info;
    return false;
}

enum {
    ALLOC,
    RETAIN,
    TRY_RETAIN,
    RELEASE,
    GET
};

static void test_answers(void)
{
    gpurt_ref_info_t info = {0};
    gpurt_refs_stats_t stats;
    gpurt_ref_t ref, none = 0, foreign = 1ull << 32 | 100000;
    uint64_t word;
    stage_t s;

    stage_open(&s, &usual, RECLAIM_BARE, 1);
    CHECK_EQ(call(&s, ALLOC, 1, GPURT_REF_OK), 1);
    CHECK_EQ(call(&s, RETAIN, 20, GPURT_REF_OK), 20);
    CHECK_EQ(call(&s, TRY_RETAIN, 9, GPURT_REF_OK), 9);
    OK(gpurt_refs_walk(rt, &s.args.refs, only, &info, &err));
    stage_read(&ref, s.args.cells, sizeof ref);
    CHECK_EQ(info.ref, ref);
    CHECK_EQ(info.references, 30);
    CHECK_EQ(info.size, 64);
    CHECK_EQ(info.flags, 7);
    CHECK_EQ(info.heap, s.args.heap.id);
    CHECK(info.object != NULL);
    CHECK_EQ(call(&s, RELEASE, 24, GPURT_REF_OK), 24);
    CHECK_EQ(call(&s, GET, 1, 1), 1);
    CHECK_EQ(call(&s, RELEASE, 32, GPURT_REF_UNDERFLOW), 26); /* of 6: */
    CHECK_EQ(stage_live(&s), 0);
    CHECK_EQ(call(&s, GET, 1, 0), 1);
    CHECK_EQ(call(&s, RELEASE, 3, GPURT_REF_DEAD), 3);
    CHECK_EQ(call(&s, RETAIN, 3, GPURT_REF_DEAD), 3);
    CHECK_EQ(call(&s, TRY_RETAIN, 3, GPURT_REF_DEAD), 3);

    OK(gpurt_copy(rt, 0, s.args.cells, &none, sizeof none, &err));
    CHECK_EQ(call(&s, RETAIN, 1, GPURT_REF_FOREIGN), 1);
    OK(gpurt_copy(rt, 0, s.args.cells, &foreign, sizeof foreign, &err));
    CHECK_EQ(call(&s, RETAIN, 1, GPURT_REF_FOREIGN), 1);
    CHECK_EQ(call(&s, TRY_RETAIN, 1, GPURT_REF_FOREIGN), 1);
    CHECK_EQ(call(&s, RELEASE, 1, GPURT_REF_FOREIGN), 1);
    CHECK_EQ(call(&s, GET, 1, 0), 1);

    CHECK_EQ(call(&s, ALLOC, 1, GPURT_REF_OK), 1);
    stage_read(&ref, s.args.cells, sizeof ref);
    word = ref >> 32 << 32 | GPURT_REF_LIVE | (GPURT_REF_BIAS + GPURT_REF_LIMIT - 1);
    OK(gpurt_copy(rt, 0, &s.args.refs.records[(uint32_t)ref].xword, &word, sizeof word,
                  &err));
    CHECK_EQ(call(&s, RETAIN, 1, GPURT_REF_OK), 1);
    CHECK_EQ(call(&s, RETAIN, 1, GPURT_REF_OVERFLOW), 1);
    CHECK_EQ(call(&s, TRY_RETAIN, 32, GPURT_REF_OVERFLOW), 32);
    OK(gpurt_refs_walk(rt, &s.args.refs, only, &info, &err));
    CHECK_EQ(info.references, GPURT_REF_LIMIT);
    OK(gpurt_refs_stats(rt, &s.args.refs, &stats, &err));
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_OVERFLOW], 33);
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_UNDERFLOW], 26);
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_DEAD], 9);
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_FOREIGN], 4);
    CHECK_EQ(stats.counts.xanswers[GPURT_REF_FREED], 1);
    stage_close(&s);
}

/* Calls with a reference whose object is gone. */
static void call_dead(stage_t *s, gpurt_ref_t dead)
{
    OK(gpurt_copy(rt, 0, s->args.cells, &dead, sizeof dead, &err));
    CHECK_EQ(call(s, RETAIN, 3, GPURT_REF_DEAD), 3);
    CHECK_EQ(call(s, TRY_RETAIN, 3, GPURT_REF_DEAD), 3);
    CHECK_EQ(call(s, RELEASE, 3, GPURT_REF_DEAD), 3);
    CHECK_EQ(call(s, GET, 1, 0), 1);
}

/* Another table's reference names no object of this one. */
static void test_two_tables(void)
{
    gpurt_refs_options_t one = {.records = 1}; /* so that both name the same */
    setting_t set = usual;
    gpurt_ref_t foreign, own;
    gpurt_refs_t first, second;
    stage_t s;

    set.refs = one;
    stage_open(&s, &set, RECLAIM_BARE, 1);
    first = s.args.refs;
    OK(gpurt_refs_create(rt, &s.args.heap, &one, &second, &err));
    CHECK_EQ(call(&s, ALLOC, 1, GPURT_REF_OK), 1);
    stage_read(&foreign, s.args.cells, sizeof foreign);
    s.args.refs = second;
    CHECK_EQ(call(&s, ALLOC, 1, GPURT_REF_OK), 1);
    stage_read(&own, s.args.cells, sizeof own);
    CHECK_EQ((uint32_t)own, (uint32_t)foreign);
    call_dead(&s, foreign);
    OK(gpurt_copy(rt, 0, s.args.cells, &own, sizeof own, &err));
    CHECK_EQ(call(&s, RELEASE, 1, GPURT_REF_FREED), 1);
    s.args.refs = first;
    OK(gpurt_copy(rt, 0, s.args.cells, &foreign, sizeof foreign, &err));
    CHECK_EQ(call(&s, RELEASE, 1, GPURT_REF_FREED), 1);
    OK(gpurt_refs_destroy(rt, &second, &err));
    stage_close(&s);
}

/* One record, used again for so long that the number of its lives comes round: a dead
 * reference touches neither the life after it nor the one that is to come. */
static void test_lives(void)
{
    setting_t one = usual;
    const uint64_t near = 0xfffffff0ull << 32 | GPURT_REF_BIAS; /* the wrap */
    gpurt_ref_t refs[20];
    stage_t s;

    one.refs.records = 1;
    stage_open(&s, &one, RECLAIM_BARE, 1);
    OK(gpurt_copy(rt, 0, &s.args.refs.records[0].xword, &near, sizeof near, &err));
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_EQ(call(&s, ALLOC, 1, GPURT_REF_OK), 1);
        stage_read(&refs[i], s.args.cells, sizeof refs[i]);
        CHECK(refs[i] != 0);
        for (uint32_t before = 0; before < i; before++)
            CHECK(refs[before] != refs[i]);
        if (i > 0)
            call_dead(&s, refs[i - 1]);
        OK(gpurt_copy(rt, 0, s.args.cells, &refs[i], sizeof refs[i], &err));
        CHECK_EQ(call(&s, GET, 1, 1), 1);
        CHECK_EQ(call(&s, RELEASE, 1, GPURT_REF_FREED), 1);
        call_dead(&s, refs[i]);
    }
    CHECK_EQ(stage_live(&s), 0);
    stage_close(&s);
}

/* ---- the host's calls ---------------------------------------------------------------- */

static void test_bad_input(void)
{
    gpurt_refs_options_t many = {.records = 1u << 30};
    gpurt_epochs_options_t odd = {.limbo = 3}, wide = {.slots = 1u << 30};
    gpurt_hazards_options_t each = {.each = 9}, long_list = {.retired = 1u << 20};
    gpurt_heap_t gone = {0};
    gpurt_hazards_t h, h_copy;
    gpurt_epochs_t e, e_copy;
    gpurt_refs_t r, r_copy;
    gpurt_reclaim_stats_t stats;
    gpurt_refs_stats_t rstats;
    stage_t s;

    stage_open(&s, &usual, RECLAIM_BARE, 1);
    CHECK_EQ(gpurt_refs_create(rt, &s.args.heap, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_epochs_create(rt, &s.args.heap, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_hazards_create(rt, &s.args.heap, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_refs_create(rt, &gone, NULL, &r, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_epochs_create(rt, &gone, NULL, &e, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_hazards_create(rt, NULL, NULL, &h, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_refs_create(rt, &s.args.heap, &many, &r, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_epochs_create(rt, &s.args.heap, &odd, &e, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_epochs_create(rt, &s.args.heap, &wide, &e, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_hazards_create(rt, &s.args.heap, &each, &h, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_hazards_create(rt, &s.args.heap, &long_list, &h, NULL), GPURT_E_INVALID);
    CHECK(r.counts == NULL && e.counts == NULL && h.counts == NULL);

    OK(gpurt_refs_create(rt, &s.args.heap, NULL, &r, &err));
    OK(gpurt_epochs_create(rt, &s.args.heap, NULL, &e, &err));
    OK(gpurt_hazards_create(rt, &s.args.heap, NULL, &h, &err));
    CHECK_EQ(gpurt_epochs_stats(rt, &e, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_hazards_stats(rt, &h, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_refs_stats(rt, &r, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_refs_walk(rt, &r, NULL, NULL, NULL), GPURT_E_INVALID);
    r_copy = r, e_copy = e, h_copy = h;
    OK(gpurt_refs_destroy(rt, &r, &err));
    OK(gpurt_refs_destroy(rt, &r, &err));
    OK(gpurt_refs_destroy(rt, NULL, &err));
    OK(gpurt_epochs_destroy(rt, &e, &err));
    OK(gpurt_epochs_destroy(rt, &e, &err));
    OK(gpurt_hazards_destroy(rt, &h, &err));
    OK(gpurt_hazards_destroy(rt, &h, &err));
    CHECK_EQ(gpurt_refs_stats(rt, &r_copy, &rstats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_epochs_stats(rt, &e_copy, &stats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_epochs_sweep(rt, &e_copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_hazards_stats(rt, &h_copy, &stats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_hazards_sweep(rt, &h_copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_epochs_sweep(rt, NULL, NULL), GPURT_E_HANDLE);
    OK(gpurt_refs_create(rt, &s.args.heap, NULL, &r, &err)); /* maybe where the other was */
    CHECK_EQ(gpurt_refs_stats(rt, &r_copy, &rstats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_refs_destroy(rt, &r_copy, NULL), GPURT_E_HANDLE);
    OK(gpurt_refs_destroy(rt, &r, &err));
    stage_close(&s);
}

/* More tables than can be. */
static void test_tables(void)
{
    static gpurt_refs_t tables[GPURT_RECLAIM_TABLES];
    gpurt_refs_options_t small = {.records = 1};
    gpurt_refs_t more;
    uint32_t n = 0;
    stage_t s;

    stage_open(&s, &usual, RECLAIM_BARE, 1); /* three of them */
    while (n < GPURT_RECLAIM_TABLES &&
           gpurt_refs_create(rt, &s.args.heap, &small, &tables[n], NULL) == GPURT_OK)
        n++;
    CHECK_EQ(n, GPURT_RECLAIM_TABLES - 3);
    CHECK_EQ(gpurt_refs_create(rt, &s.args.heap, &small, &more, NULL), GPURT_E_NOMEM);
    CHECK(more.counts == NULL);
    while (n)
        OK(gpurt_refs_destroy(rt, &tables[--n], &err));
    stage_close(&s);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_nodes(&usual);
    test_nodes(&tight);
    for (uint32_t guard = RECLAIM_EPOCH; guard <= RECLAIM_HAZARD; guard++) {
        test_goes_on(guard);
        test_cancelled(guard);
        test_slots(guard);
        test_left_twice(guard);
    }
    test_no_pointer();
    test_refs(&usual, 3);
    test_refs(&tight, 3);
    test_refs_often();
    test_answers();
    test_two_tables();
    test_lives();
    test_bad_input();
    test_tables();
    OK(gpurt_close(rt, &err));
    return 0;
}
