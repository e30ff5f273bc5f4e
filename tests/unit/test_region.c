/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, on both back ends: every block lies exactly where an allocator that only knows a
 * row of granules would put it, for each policy; blocks never share a byte, whoever frees
 * them; neighbours that are free are one; a cancelled block of lanes costs no granule. */
#include "region_stage.h"
#include "stage_parts.h"

enum {
    MIB = 1 << 20,
    GRANULES = 2000, /* about: of the traced region */
    OPS = 4000,
    SLOTS = 400
};

static const char *const fit_names[] = {"first", "best", "worst"};

/* ---- the oracle: a row of granules, and what a policy says about it ------------------- */

typedef struct oracle {
    uint32_t owner[GRANULES + 64]; /* 0: free, else a slot plus one */
    uint32_t granules, granule, fit;
    uint64_t origin; /* the base's address */
    uint32_t at[SLOTS], length[SLOTS];
} oracle_t;

static uint32_t in_granules(const oracle_t *o, uint64_t bytes)
{
    uint64_t n = (bytes + o->granule - 1) / o->granule;

    if (n > o->granules)
        return o->granules + 1;
    return n ? (uint32_t)n : 1;
}

static bool better(const oracle_t *o, uint32_t length, uint32_t than)
{
    return than == 0 || (o->fit == GPURT_FIT_BEST && length < than) ||
           (o->fit == GPURT_FIT_WORST && length > than);
}

/* Where n granules go; GPURT_REGION_NOWHERE and the number of free ones otherwise. */
static uint32_t oracle_look(const oracle_t *o, uint32_t n, uint32_t align,
                            uint32_t *free_granules)
{
    uint32_t place = GPURT_REGION_NOWHERE, best = 0;

    *free_granules = 0;
    for (uint32_t i = 0, end; i < o->granules; i = end + 1) {
        uint32_t at = i;

        for (end = i; end < o->granules && !o->owner[end];)
            end++;
        *free_granules += end - i;
        while (at < end && (o->origin + (uint64_t)at * o->granule) % align)
            at++;
        if (at + n > end || !better(o, end - i, best))
            continue;
        best = end - i;
        place = at;
    }
    return place;
}

static void oracle_set(oracle_t *o, uint32_t slot, uint32_t at, uint32_t n)
{
    for (uint32_t i = at; i < at + n; i++)
        o->owner[i] = slot + 1;
    o->at[slot] = at;
    o->length[slot] = n;
}

static void oracle_clear(oracle_t *o, uint32_t at, uint32_t n)
{
    for (uint32_t i = at; i < at + n; i++)
        o->owner[i] = 0;
}

static uint64_t told(uint32_t answer)
{
    return (uint64_t)answer << 48;
}

static uint64_t oracle_alloc(oracle_t *o, const region_op_t *op)
{
    uint32_t free_granules, n = in_granules(o, op->size), at;

    o->length[op->slot] = 0;
    if (!op->align || op->align & (op->align - 1) ||
        op->align > (uint64_t)o->granules * o->granule)
        return told(GPURT_REGION_ALIGNMENT);
    if (n > o->granules)
        return told(GPURT_REGION_TOO_LARGE);
    at = oracle_look(o, n, op->align, &free_granules);
    if (at == GPURT_REGION_NOWHERE)
        return told(free_granules < n ? GPURT_REGION_FULL : GPURT_REGION_FRAGMENTED);
    oracle_set(o, op->slot, at, n);
    return (uint64_t)at * o->granule + 1;
}

static uint64_t oracle_resize(oracle_t *o, const region_op_t *op)
{
    uint32_t at = o->at[op->slot], n = o->length[op->slot], to = in_granules(o, op->size);

    if (to > o->granules)
        return told(GPURT_REGION_TOO_LARGE);
    for (uint32_t i = at + n; i < at + to; i++)
        if (i >= o->granules || o->owner[i])
            return told(GPURT_REGION_TAKEN);
    oracle_clear(o, at, n);
    oracle_set(o, op->slot, at, to);
    return told(GPURT_REGION_OK);
}

static uint64_t oracle_do(oracle_t *o, const region_op_t *op)
{
    uint32_t at = o->at[op->slot], n = o->length[op->slot], to = in_granules(o, op->size);

    switch (op->kind) {
    case REGION_ALLOC:
        return oracle_alloc(o, op);
    case REGION_FREE:
        oracle_clear(o, at, n);
        o->length[op->slot] = 0;
        return told(GPURT_REGION_OK);
    case REGION_RESIZE:
        return oracle_resize(o, op);
    case REGION_SPLIT:
        if (to >= n)
            return told(GPURT_REGION_TOO_LARGE);
        oracle_set(o, op->slot, at, to);
        oracle_set(o, op->other, at + to, n - to);
        return (uint64_t)(at + to) * o->granule + 1;
    default:
        if (o->at[op->other] != at + n)
            return told(GPURT_REGION_APART);
        oracle_set(o, op->slot, at, n + o->length[op->other]);
        o->length[op->other] = 0;
        return told(GPURT_REGION_OK);
    }
}

/* ---- traces -------------------------------------------------------------------------- */

static uint32_t rng;
static uint32_t dice(uint32_t sides)
{
    rng ^= rng << 13;
    rng ^= rng >> 17;
    rng ^= rng << 5;
    return rng % sides;
}

/* Mostly small, some large: what tells policies apart. */
static uint64_t some_size(const oracle_t *o)
{
    uint64_t granules = dice(8) ? 1 + dice(12) : 20 + dice(120);

    return dice(40) ? granules * o->granule - dice(o->granule) : dice(3) * 1ull << 40;
}

static uint32_t some_slot(const oracle_t *o, bool live)
{
    uint32_t slot = dice(SLOTS), tries = 0;

    while ((o->length[slot] > 0) != live && tries++ < SLOTS)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* A slot whose block begins where another's ends, or any. */
static uint32_t slot_behind(const oracle_t *o, uint32_t slot)
{
    for (uint32_t i = 0; i < SLOTS && dice(8); i++)
        if (i != slot && o->length[i] && o->at[i] == o->at[slot] + o->length[slot])
            return i;
    return some_slot(o, true);
}

/* The next call of a trace, of those that can be made now. */
static region_op_t some_op(const oracle_t *o, uint32_t done)
{
    static const uint16_t aligns[] = {1, 1, 16, 512, 4096, 3, 0};
    region_op_t op = {.kind = dice(REGION_KINDS), .align = aligns[dice(5)]};
    uint32_t live = 0;

    for (uint32_t i = 0; i < SLOTS; i++)
        live += o->length[i] > 0;
    if (live < 2 || (live < SLOTS - 8 && dice(10) < (done / 500 % 2 ? 4 : 6)))
        op.kind = REGION_ALLOC;
    else if (live >= SLOTS - 8 || dice(2))
        op.kind = REGION_FREE;
    op.align = dice(100) ? op.align : aligns[5 + dice(2)];
    op.size = some_size(o);
    op.slot = some_slot(o, op.kind != REGION_ALLOC);
    op.other = some_slot(o, false);
    if (op.kind == REGION_MERGE)
        op.other = slot_behind(o, op.slot);
    if (op.kind == REGION_MERGE && op.other == op.slot)
        op.kind = REGION_RESIZE;
    return op;
}

typedef struct trace {
    region_op_t ops[OPS];
    uint64_t expected[OPS], got[OPS];
    oracle_t oracle;
} trace_t;

/* Calls of all kinds. */
static uint32_t trace_any(trace_t *t)
{
    for (uint32_t i = 0; i < OPS; i++) {
        t->ops[i] = some_op(&t->oracle, i);
        t->expected[i] = oracle_do(&t->oracle, &t->ops[i]);
    }
    return OPS;
}

/* The same, and requests come in rows that want alike: what a warp gets by one call, it
 * gets as if its lanes had called one after the other. */
static uint32_t trace_alike(trace_t *t)
{
    uint32_t i = 0;

    while (i < OPS) {
        region_op_t op = some_op(&t->oracle, i);
        uint32_t n = op.kind == REGION_ALLOC ? 1 + dice(40) : 1;

        for (; n && i < OPS; n--) {
            op.slot = op.kind == REGION_ALLOC ? some_slot(&t->oracle, false) : op.slot;
            if (op.kind == REGION_ALLOC && t->oracle.length[op.slot])
                break; /* none is left */
            t->ops[i] = op;
            t->expected[i++] = oracle_do(&t->oracle, &op);
        }
    }
    return OPS;
}

/* Requests whose sizes and lifetimes are the same whatever a policy makes of them: small
 * ones that stay, and long ones that come and go. What is refused is missed. */
static uint32_t trace_lifetimes(trace_t *t)
{
    uint32_t until[SLOTS] = {0}, count = 0;

    for (uint32_t now = 1; count < OPS - 1; now++) {
        uint32_t slot = now % SLOTS, large = dice(10) == 0;
        uint64_t size = (large ? 60 + dice(60) : 1 + dice(10)) * t->oracle.granule;
        uint32_t life = large ? 1 + dice(80) : 1 + dice(390);

        for (uint32_t i = 0; i < SLOTS && count < OPS - 1; i++)
            if (until[i] && until[i] <= now) {
                until[i] = 0;
                if (!t->oracle.length[i])
                    continue; /* it had been refused */
                t->ops[count] = (region_op_t){.kind = REGION_FREE, .slot = i};
                t->expected[count] = oracle_do(&t->oracle, &t->ops[count]);
                count++;
            }
        if (until[slot])
            continue;
        until[slot] = now + life;
        t->ops[count] =
            (region_op_t){.kind = REGION_ALLOC, .slot = slot, .align = 1, .size = size};
        t->expected[count] = oracle_do(&t->oracle, &t->ops[count]);
        count++;
    }
    return count;
}

static void trace_begin(trace_t *t, const gpurt_region_t *r, uint32_t seed)
{
    rng = seed;
    memset(t, 0, sizeof *t);
    t->oracle.granules = r->granules;
    t->oracle.granule = 1u << r->shift;
    t->oracle.fit = r->fit;
    t->oracle.origin = (uint64_t)(uintptr_t)r->base;
    CHECK(r->granules <= GRANULES + 64);
}

static void trace_run(trace_t *t, region_stage_t *s, uint32_t count, uint32_t mode)
{
    s->args.ops = (region_op_t *)stage_zeros(sizeof t->ops);
    s->args.answers = (uint64_t *)stage_zeros(sizeof t->got);
    s->args.op_count = count;
    s->args.mode = mode;
    OK(gpurt_copy(rt, 0, s->args.ops, t->ops, sizeof t->ops, &err));
    s->launch.grid.x = 1;
    RUN(s, region_trace);
    OK(gpurt_copy(rt, 0, t->got, s->args.answers, sizeof t->got, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    for (uint32_t i = 0; i < count; i++)
        CHECK_MSG(t->got[i] == t->expected[i],
                  "%s fit, call %u of kind %u, %llu bytes: 0x%llx, expected 0x%llx",
                  fit_names[s->args.region.fit], i, t->ops[i].kind,
                  (unsigned long long)t->ops[i].size, (unsigned long long)t->got[i],
                  (unsigned long long)t->expected[i]);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.ops), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.answers), GPURT_OK);
}

static uint64_t told_count(const trace_t *t, uint32_t count, uint32_t answer)
{
    uint64_t times = 0;

    for (uint32_t i = 0; i < count; i++)
        times += t->got[i] == told(answer);
    return times;
}

typedef uint32_t (*trace_fn)(trace_t *t);

/* Returns: requests refused though enough was free. */
static uint64_t test_trace(trace_fn make, uint32_t fit, uint32_t mode, uint32_t granule)
{
    static trace_t t;
    gpurt_region_options_t o = {
        .fit = fit, .granule = granule, .bytes = (uint64_t)GRANULES * granule + 9000};
    gpurt_region_stats_t stats;
    region_stage_t s;
    uint32_t count;

    region_stage_open(&s, &o, SLOTS);
    trace_begin(&t, &s.args.region, 77 + mode);
    count = make(&t);
    trace_run(&t, &s, count, mode);
    region_compare(&s);
    stats = region_look(&s);
    printf("%s fit: %llu of %u calls found no row long enough, %llu no room; %llu holes, "
           "the longest %llu of %llu free KiB\n",
           fit_names[fit],
           (unsigned long long)told_count(&t, count, GPURT_REGION_FRAGMENTED), count,
           (unsigned long long)told_count(&t, count, GPURT_REGION_FULL),
           (unsigned long long)stats.holes, (unsigned long long)stats.largest >> 10,
           (unsigned long long)(stats.bytes - stats.live_bytes) >> 10);
    region_stage_close(&s);
    return told_count(&t, count, GPURT_REGION_FRAGMENTED);
}

static void test_traces(void)
{
    for (uint32_t mode = 0; mode < 3; mode++) { /* one lane, 32, and 8 with longer looks */
        uint64_t first, best, worst;

        for (uint32_t fit = 0; fit < GPURT_FITS; fit++)
            test_trace(mode ? trace_alike : trace_any, fit, mode, 16u << 2 * fit);
        first = test_trace(trace_lifetimes, GPURT_FIT_FIRST, mode, 256);
        best = test_trace(trace_lifetimes, GPURT_FIT_BEST, mode, 256);
        worst = test_trace(trace_lifetimes, GPURT_FIT_WORST, mode, 256);
        CHECK_MSG(worst > 2 * first && worst > 2 * best,
                  "worst fit leaves no long rows: %llu refused, first %llu, best %llu",
                  (unsigned long long)worst, (unsigned long long)first,
                  (unsigned long long)best);
    }
}

/* ---- storms -------------------------------------------------------------------------- */

static void test_storm(uint32_t fit, uint64_t bytes, uint32_t cells, uint32_t max_bytes,
                       uint32_t mode)
{
    gpurt_region_options_t o = {.fit = fit, .bytes = bytes};
    region_stage_t s;

    region_stage_open(&s, &o, cells);
    s.args.max_bytes = max_bytes;
    s.args.rounds = 30;
    s.args.mode = mode;
    for (s.args.seed = 1; s.args.seed < 3; s.args.seed++) {
        RUN(&s, region_storm);
        CHECK(region_verdict(&s).xserved > 0);
        region_compare(&s);
    }
    region_empty(&s);
    region_stage_close(&s);
}

static void test_storms(void)
{
    for (uint32_t fit = 0; fit < GPURT_FITS; fit++) {
        test_storm(fit, 2 * MIB, 200, 8000, REGION_MADE);
        test_storm(fit, 150000, 200, 3000, REGION_MADE);
        test_storm(fit, 150000, 100, 3000, REGION_CANCELS);
    }
}

/* ---- what cannot be done ------------------------------------------------------------- */

/* One call of a kernel; blocks stay in cells 0 and 1. */
static uint64_t one(region_stage_t *s, region_op_t op)
{
    uint64_t answer;

    OK(gpurt_copy(rt, 0, s->args.ops, &op, sizeof op, &err));
    RUN(s, region_trace);
    OK(gpurt_copy(rt, 0, &answer, s->args.answers, sizeof answer, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    return answer;
}

/* A region for single calls. */
static void calls_open(region_stage_t *s, const gpurt_region_options_t *o)
{
    region_stage_open(s, o, 2);
    s->args.ops = (region_op_t *)stage_zeros(sizeof *s->args.ops);
    s->args.answers = (uint64_t *)stage_zeros(sizeof *s->args.answers);
    s->args.op_count = 1;
    s->launch.grid.x = 1;
}

static void calls_close(region_stage_t *s)
{
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.ops), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.answers), GPURT_OK);
    region_stage_close(s);
}

static uint32_t call(region_stage_t *s, uint32_t kind, const void *block, uint64_t size)
{
    OK(gpurt_copy(rt, 0, s->args.cells, &block, sizeof block, &err));
    return (
        uint32_t)(one(s,
                      (region_op_t){.kind = kind, .other = 1, .align = 1, .size = size}) >>
                  48);
}

static uint32_t merge(region_stage_t *s, const void *block, const void *next)
{
    OK(gpurt_copy(rt, 0, s->args.cells + 1, &next, sizeof next, &err));
    return call(s, REGION_MERGE, block, 0);
}

static uint32_t request(region_stage_t *s, uint64_t size, uint32_t align)
{
    return (
        uint32_t)(one(s,
                      (region_op_t){.kind = REGION_ALLOC, .align = align, .size = size}) >>
                  48);
}

static void test_bad_input(void)
{
    static const gpurt_region_t none;
    gpurt_region_options_t o = {.bytes = MIB, .granule = 256};
    gpurt_region_stats_t stats;
    gpurt_region_t kept;
    region_stage_t s;
    char *base;

    calls_open(&s, &o);
    base = s.args.region.base;
    CHECK_EQ(request(&s, 64, 0), GPURT_REGION_ALIGNMENT);
    CHECK_EQ(request(&s, 64, 24), GPURT_REGION_ALIGNMENT);
    CHECK_EQ(request(&s, 64, 1u << 31), GPURT_REGION_ALIGNMENT);
    CHECK_EQ(request(&s, 2 * MIB, 1), GPURT_REGION_TOO_LARGE);
    CHECK_EQ(request(&s, ~0ull, 1), GPURT_REGION_TOO_LARGE);
    CHECK_EQ(request(&s, 0, 1), GPURT_REGION_OK); /* a granule */
    CHECK_EQ(region_look(&s).live_bytes, 256);
    CHECK_EQ(request(&s, 1000, 1), GPURT_REGION_OK);
    CHECK_EQ(call(&s, REGION_FREE, NULL, 0), GPURT_REGION_OK);
    CHECK_EQ(call(&s, REGION_FREE, s.args.cells, 0), GPURT_REGION_FOREIGN);
    CHECK_EQ(call(&s, REGION_FREE, base - 256, 0), GPURT_REGION_FOREIGN);
    CHECK_EQ(call(&s, REGION_FREE, base + 512, 0), GPURT_REGION_INTERIOR);
    CHECK_EQ(call(&s, REGION_FREE, base + 257, 0), GPURT_REGION_INTERIOR);
    CHECK_EQ(call(&s, REGION_FREE, base + 8192, 0), GPURT_REGION_TWICE);
    CHECK_EQ(call(&s, REGION_RESIZE, base + 512, 8), GPURT_REGION_INTERIOR);
    CHECK_EQ(call(&s, REGION_RESIZE, base, 8000), GPURT_REGION_TAKEN);
    CHECK_EQ(call(&s, REGION_RESIZE, base + 256, MIB), GPURT_REGION_TOO_LARGE);
    CHECK_EQ(call(&s, REGION_SPLIT, base, 256), GPURT_REGION_TOO_LARGE);
    call(&s, REGION_SPLIT, base + 512, 256); /* NULL in any case: the counts say why */
    CHECK_EQ(merge(&s, base + 512, base + 256), GPURT_REGION_INTERIOR);
    CHECK_EQ(merge(&s, base + 256, base + 256 + 1024), GPURT_REGION_TWICE);
    CHECK_EQ(merge(&s, base + 256, base), GPURT_REGION_APART);
    CHECK_EQ(region_look(&s).live, 2);
    CHECK_EQ(call(&s, REGION_FREE, base + 256, 0), GPURT_REGION_OK);
    CHECK_EQ(call(&s, REGION_FREE, base + 256, 0), GPURT_REGION_TWICE);
    CHECK_EQ(call(&s, REGION_FREE, base, 0), GPURT_REGION_OK);
    stats = region_look(&s);
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.largest, stats.bytes);
    CHECK_EQ(stats.counts.xanswers[GPURT_REGION_ALIGNMENT], 3);
    CHECK_EQ(stats.counts.xanswers[GPURT_REGION_TOO_LARGE], 4);
    CHECK_EQ(stats.counts.xanswers[GPURT_REGION_INTERIOR], 3 + 2);
    CHECK_EQ(stats.counts.xanswers[GPURT_REGION_TWICE], 2 + 1);
    CHECK_EQ(stats.counts.xanswers[GPURT_REGION_FOREIGN], 2);
    CHECK_EQ(stats.counts.xbad_pointer, (uint64_t)(uintptr_t)(base + 256));
    kept = s.args.region;
    s.args.region = none;
    CHECK_EQ(request(&s, 64, 1), GPURT_REGION_NONE);
    CHECK_EQ(call(&s, REGION_FREE, base, 0), GPURT_REGION_NONE);
    s.args.region = kept;
    calls_close(&s);
}

/* A block at the end of a region whose bits end with a word: what lies behind them, the lengths, is
 * no granule, though it looks like a free one. */
static void test_end(void)
{
    enum {
        BYTES = 256,
        ROW = 64
    };
    char *memory = (char *)stage_zeros(MIB), *last;
    gpurt_region_options_t o = {.memory = memory,
                                .bytes = sizeof(gpurt_region_counts_t) + sizeof(uint64_t) +
                                         ROW * (BYTES + sizeof(uint32_t)),
                                .granule = BYTES};
    region_stage_t s;

    calls_open(&s, &o);
    CHECK_EQ(s.args.region.granules, ROW);
    last = s.args.region.base + (ROW - 1) * BYTES;
    CHECK_EQ(request(&s, (ROW - 1) * BYTES, 1), GPURT_REGION_OK); /* an odd length */
    CHECK_EQ(request(&s, BYTES, 1), GPURT_REGION_OK);
    CHECK_EQ(call(&s, REGION_RESIZE, last, 2 * BYTES), GPURT_REGION_TAKEN);
    CHECK_EQ(region_look(&s).live_bytes, ROW * BYTES);
    CHECK_EQ(call(&s, REGION_FREE, last, 0), GPURT_REGION_OK);
    CHECK_EQ(call(&s, REGION_FREE, s.args.region.base, 0), GPURT_REGION_OK);
    CHECK_EQ(region_look(&s).live, 0);
    calls_close(&s);
    CHECK_EQ(gpurt_mem_destroy(rt, memory), GPURT_OK);
}

static void test_host(void)
{
    gpurt_region_options_t o = {.bytes = 300};
    gpurt_region_stats_t stats;
    gpurt_region_t r = {0};
    gpurt_error_t failed = {0};
    void *memory = stage_zeros(MIB);

    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    o = (gpurt_region_options_t){.granule = 48};
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    o = (gpurt_region_options_t){.granule = 1ull << 40}; /* a power of two, it is */
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    CHECK_CONTAINS(failed.text, "at most 2^30");
    o = (gpurt_region_options_t){.struct_size = 3};
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    CHECK_CONTAINS(failed.text, "struct_size is 3");
    o = (gpurt_region_options_t){.fit = 3};
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    o = (gpurt_region_options_t){.memory = memory};
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    o = (gpurt_region_options_t){.bytes = 1ull << 40, .granule = 16};
    CHECK_EQ(gpurt_region_create(rt, &o, &r, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_region_create(rt, &o, NULL, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_region_stats(rt, &r, &stats, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_region_destroy(rt, NULL, &failed), GPURT_OK);
    CHECK_EQ(gpurt_region_destroy(rt, &r, &failed), GPURT_OK);
    for (uint32_t granule = 16; granule <= 65536; granule *= 4)
        for (uint32_t from = 0; from < 300; from += 100) { /* nothing outside is touched */
            o = (gpurt_region_options_t){.memory = (char *)memory + 16 + from,
                                         .bytes = MIB - 400 - from * 7,
                                         .granule = granule};
            OK(gpurt_region_create(rt, &o, &r, &err));
            OK(gpurt_region_check(rt, &r, &err));
            CHECK_EQ((uintptr_t)r.base % granule, 0);
            CHECK(r.base >= (char *)o.memory && r.base < (char *)o.memory + granule);
            CHECK((char *)r.counts >= r.base + (size_t)r.granules * granule);
            CHECK((char *)r.counts + gpurt_region_table_bytes(&r) <=
                  (char *)o.memory + o.bytes);
            CHECK((r.granules + 3) * (uint64_t)(granule + 5) + 200 > o.bytes);
            OK(gpurt_region_destroy(rt, &r, &err));
        }
    CHECK_EQ(gpurt_mem_destroy(rt, memory), GPURT_OK);
}

/* A region in an object of a heap, made by a block for itself. */
static void test_inner(void)
{
    gpurt_heap_options_t heap = {.bytes = 8 * MIB};
    gpurt_region_options_t o = {.bytes = MIB};
    gpurt_heap_stats_t stats;
    uint64_t had[4];
    region_stage_t s;

    region_stage_open(&s, &o, 4);
    OK(gpurt_heap_create(rt, &heap, &s.args.heap, &err));
    RUN(&s, region_inner);
    region_verdict(&s);
    OK(gpurt_copy(rt, 0, had, s.args.cells, sizeof had, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(had[i], 64);
    OK(gpurt_heap_stats(rt, &s.args.heap, &stats, &err));
    CHECK_EQ(stats.live, 0);
    OK(gpurt_heap_destroy(rt, &s.args.heap, &err));
    region_stage_close(&s);
}

static const stage_part_t parts[] = {
    {"host", test_host},     {"traces", test_traces}, {"bad_input", test_bad_input},
    {"storms", test_storms}, {"inner", test_inner},   {"end", test_end},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
