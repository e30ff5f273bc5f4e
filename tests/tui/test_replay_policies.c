/* SPDX-License-Identifier: Apache-2.0 */
/* A trace made again by each policy, on both back ends: no two live objects share a byte or
 * begin where they must not, each keeps what was written to it, every request is served or
 * counted as refused; and what a policy is for shows. The oracle follows the trace by itself. */
#include "../kernels/stage.h"
#include "replay_round.h"

#include <gpurt/impl/heaprow.h>

enum {
    EVENTS = CHECK_SANITIZED ? 1200 : 2000,
    ROOM = 3000,
    LIVE = 160, /* objects at a time, at most */
    TICK = 4,   /* events that the clock does not tell apart */
    MIB = 1 << 20
};

/* ---- a program's calls ---------------------------------------------------------------- */

typedef struct holder {
    uint32_t unit, born; /* tick */
} holder_t;

typedef struct script {
    replay_event_t events[ROOM];
    holder_t live[LIVE];
    uint32_t units[LIVE]; /* that nobody has, the last one is taken first */
    uint32_t count, held, unit_count, state;
} script_t;
static script_t script;

static uint32_t roll(script_t *s)
{
    s->state ^= s->state << 13;
    s->state ^= s->state >> 17;
    s->state ^= s->state << 5;
    return s->state;
}

static void script_begin(script_t *s, uint32_t seed)
{
    memset(s, 0, sizeof *s);
    s->state = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < LIVE; i++)
        s->units[s->unit_count++] = i * 7;
}

/* Numbers fall: of calls that the clock does not tell apart frees come first all the same. */
static void script_add(script_t *s, uint32_t tick, uint32_t what, uint32_t unit,
                       uint32_t size, uint32_t align)
{
    CHECK(s->count < ROOM);
    s->events[s->count] = (replay_event_t){tick, ROOM - s->count, unit, size, align, what};
    s->count++;
}

static void script_alloc(script_t *s, uint32_t tick, uint32_t size, uint32_t align)
{
    uint32_t unit = s->units[--s->unit_count];

    s->live[s->held++] = (holder_t){unit, tick};
    script_add(s, tick, REPLAY_ALLOC, unit, size, align);
}

static void script_free(script_t *s, uint32_t tick, uint32_t which)
{
    holder_t h = s->live[which];

    s->live[which] = s->live[--s->held];
    s->units[s->unit_count++] = h.unit;
    script_add(s, tick, REPLAY_FREE, h.unit, 0, 0);
}

/* Requests of all sizes and alignments; in the end all is given back. */
static void script_storm(script_t *s, uint32_t seed)
{
    script_begin(s, seed);
    while (s->count < EVENTS) {
        uint32_t any = roll(s), kind = any % 16, tick = s->count / TICK;
        uint32_t size = kind == 0 ? 40000 + any % 80000 : kind < 3 ? any % 17 : any % 3000;
        uint32_t which = s->held ? any / 16 % s->held : 0;

        if (s->held && s->live[which].born < tick && (s->held == LIVE || roll(s) % 3 == 0))
            script_free(s, tick, which);
        else if (s->held < LIVE)
            script_alloc(s, tick, size, roll(s) % 4 ? 16 : 16u << roll(s) % 7);
    }
    while (s->held)
        script_free(s, EVENTS, s->held - 1);
}

/* Which objects of one size are freed when the next round of them is there. */
enum {
    FREE_ALL,   /* those of the round: none outlives it */
    FREE_MOST,  /* all of the round but one */
    FREE_OLDER, /* those of the round before */
    FREE_ANY    /* as many, of both */
};

static void script_rounds(script_t *s, uint32_t rounds, uint32_t count, uint32_t size,
                          uint32_t which)
{
    script_begin(s, 1);
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t older = s->held, frees = which < FREE_OLDER ? count - which : older;

        for (uint32_t k = 0; k < count; k++)
            script_alloc(s, 2 * i, size, 16);
        for (uint32_t k = 0; k < frees; k++)
            script_free(s, 2 * i + 1,
                        which == FREE_ANY     ? roll(s) % s->held
                        : which == FREE_OLDER ? older - 1 - k
                                              : s->held - 1);
    }
}

/* ---- an oracle ------------------------------------------------------------------------- */

typedef struct object {
    uint64_t at;
    uint32_t size, batch;
} object_t;

typedef struct oracle {
    replay_run_t run;
    replay_trace_t trace;
    object_t *objects; /* by handle */
    uint64_t *now;     /* what the device says of them */
    uint64_t served, refused, bytes;
    uint32_t spoil_batch; /* one of its objects is written to */
    bool spoil, spoil_past_end;
} oracle_t;

static int by_place(const void *a, const void *b)
{
    const object_t *x = (const object_t *)a, *y = (const object_t *)b;

    return (x->at > y->at) - (x->at < y->at);
}

static void oracle_call(oracle_t *o, const replay_call_t *call, uint32_t batch)
{
    object_t *object = &o->objects[call->handle];
    uint64_t now = o->now[call->handle];

    if (call->what == REPLAY_FREE) {
        CHECK(object->batch < batch); /* not at the same time */
        CHECK_EQ(now, 0);
        object->at = 0;
        return;
    }
    *object = (object_t){now, call->size ? call->size : 1, batch};
    o->served += now != 0;
    o->refused += now == 0;
    o->bytes += now ? call->size : 0;
    CHECK_MSG((now & (call->align - 1)) == 0, "%u bytes at 0x%llx, not at a multiple of %u",
              call->size, (unsigned long long)now, call->align);
}

static void oracle_overlaps(const oracle_t *o)
{
    object_t *live = (object_t *)calloc(o->trace.handles + 1ull, sizeof *live);
    uint32_t count = 0;

    CHECK(live);
    for (uint32_t h = 0; h < o->trace.handles; h++)
        if (o->objects[h].at)
            live[count++] = o->objects[h];
    qsort(live, count, sizeof *live, by_place);
    for (uint32_t i = 1; i < count; i++)
        CHECK_MSG(live[i - 1].at + live[i - 1].size <= live[i].at,
                  "%u bytes at 0x%llx reach into 0x%llx", live[i - 1].size,
                  (unsigned long long)live[i - 1].at, (unsigned long long)live[i].at);
    free(live);
}

/* Somebody writes where he must not: to an object, or right behind one. */
static void oracle_spoil(oracle_t *o, uint32_t batch)
{
    for (uint32_t h = 0; h < o->trace.handles; h++) {
        const object_t *its = &o->objects[h];

        if (!its->at || its->batch != batch || its->size < 8)
            continue;
        OK(gpurt_fill(rt, 0,
                      (void *)(uintptr_t)(its->at + (o->spoil_past_end ? its->size : 0)),
                      0x5a, 4, &err));
        o->spoil = false;
        return;
    }
}

static gpurt_status_t oracle_see(void *context, uint32_t batch, gpurt_error_t *error)
{
    oracle_t *o = (oracle_t *)context;

    (void)error;
    stage_read(o->now, o->run.args.objects, o->trace.handles * sizeof *o->now);
    for (uint32_t i = o->trace.batches[batch]; i < o->trace.batches[batch + 1]; i++)
        oracle_call(o, &o->trace.calls[i], batch);
    for (uint32_t h = 0; h < o->trace.handles; h++) /* nothing moves */
        CHECK_EQ(o->now[h], o->objects[h].at);
    oracle_overlaps(o);
    if (o->spoil && batch >= o->spoil_batch)
        oracle_spoil(o, batch);
    return GPURT_OK;
}

/* trace: made already; else of the script. */
static void oracle_open(oracle_t *o, uint64_t bytes, const replay_trace_t *trace)
{
    replay_shape_t shape = {.bytes = bytes, .granule = 256, .piece_bytes = 1024};

    memset(o, 0, sizeof *o);
    if (trace)
        o->trace = *trace;
    else
        CHECK(replay_trace_make(&o->trace, script.events, script.count));
    o->objects = (object_t *)calloc(o->trace.handles, sizeof *o->objects);
    o->now = (uint64_t *)calloc(o->trace.handles, sizeof *o->now);
    CHECK(o->objects && o->now);
    OK(replay_run_open(&o->run, rt, &o->trace, &shape, &err));
}

static void oracle_close(oracle_t *o)
{
    replay_run_close(&o->run);
    replay_trace_free(&o->trace);
    free(o->objects);
    free(o->now);
}

/* Returns: what the round says, which is what the oracle counted. */
static replay_outcome_t oracle_round(oracle_t *o, const replay_policy_t *policy)
{
    replay_watcher_t watcher = {oracle_see, o};
    replay_outcome_t out;

    o->served = o->refused = o->bytes = 0;
    memset(o->objects, 0, o->trace.handles * sizeof *o->objects);
    OK(replay_round_looked(&o->run, policy, &watcher, &out, &err));
    CHECK_EQ(out.sums.xserved, o->served);
    CHECK_EQ(out.sums.xrefused, o->refused);
    CHECK_EQ(out.sums.xbytes, o->bytes);
    CHECK_EQ(out.sums.xlooked, o->served);
    CHECK_EQ(o->served + o->refused, o->trace.handles);
    CHECK(out.peak_used >= out.peak_live);
    return out;
}

static const replay_policy_t *named(const char *name)
{
    const replay_policy_t *policy = replay_policy_find(name, strlen(name));

    CHECK_MSG(policy, "no policy %s", name);
    return policy;
}

/* ---- tests ----------------------------------------------------------------------------- */

/* All is served where there is room, and what is not is counted where there is none; timed
 * rounds say the same. */
static void test_storms(uint64_t bytes, bool room)
{
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++) {
        const replay_policy_t *policy = &replay_policies[i];
        replay_outcome_t looked, timed;
        oracle_t o;

        script_storm(&script, i + 1);
        oracle_open(&o, bytes, NULL);
        CHECK_EQ(o.trace.odd, 0);
        CHECK_EQ(o.trace.left, 0);
        looked = oracle_round(&o, policy);
        CHECK_MSG((looked.sums.xrefused == 0) == room, "%s: %llu refused", policy->name,
                  (unsigned long long)looked.sums.xrefused);
        OK(replay_round(&o.run, policy, &timed, &err));
        CHECK_EQ(timed.sums.xserved + timed.sums.xrefused, o.trace.handles);
        CHECK(timed.time_ns > 0);
        if (room)
            CHECK_EQ(timed.sums.xbytes, looked.sums.xbytes);
        oracle_close(&o);
    }
}

/* Calls that do not fit: of an object that is not there, or for one where another has not gone. */
static uint32_t script_odd(const script_t *s)
{
    bool lives[LIVE * 7] = {false};
    uint32_t odd = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        bool *its = &lives[s->events[i].unit];

        odd += *its == (s->events[i].what == REPLAY_ALLOC);
        *its = s->events[i].what == REPLAY_ALLOC;
    }
    return odd;
}

/* Every tenth call is not there: what does not fit is left out, the rest is as good. */
static void test_holes(void)
{
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++) {
        uint32_t kept = 0;
        oracle_t o;

        script_storm(&script, 99);
        for (uint32_t k = 0; k < script.count; k++)
            if (k % 10)
                script.events[kept++] = script.events[k];
        script.count = kept;
        oracle_open(&o, 64 * MIB, NULL);
        CHECK(o.trace.odd > 50);
        CHECK_EQ(o.trace.odd, script_odd(&script));
        CHECK(o.trace.left > 0);
        CHECK(o.trace.handles == o.trace.allocs && o.trace.allocs > EVENTS / 3);
        CHECK_EQ(oracle_round(&o, &replay_policies[i]).sums.xrefused, 0);
        oracle_close(&o);
    }
}

/* Of a byte that changes somebody hears: an object's own by all, behind it by heaps that
 * check. */
static void test_spoiled(const replay_policy_t *policy, bool past_end)
{
    const char *want = past_end ? ", faults told 1" : "did not keep their bytes 1";
    replay_watcher_t watcher;
    gpurt_error_t failed = {0};
    replay_outcome_t out;
    oracle_t o;

    script_storm(&script, 7);
    oracle_open(&o, 64 * MIB, NULL);
    watcher = (replay_watcher_t){oracle_see, &o};
    o.spoil = true;
    o.spoil_past_end = past_end;
    o.spoil_batch = o.trace.batch_count / 2;
    CHECK_EQ(replay_round_looked(&o.run, policy, &watcher, &out, &failed), GPURT_E_FAULT);
    CHECK(!o.spoil);
    CHECK_MSG(strstr(failed.text, want), "%s: %s", policy->name, failed.text);
    oracle_close(&o);
}

/* ---- what a policy is for --------------------------------------------------------------- */

/* A trace whose calls come one after the other. */
static replay_trace_t one_by_one(const replay_call_t *calls, uint32_t count)
{
    replay_trace_t t = {.call_count = count, .batch_count = count, .batch_most = 1};

    t.calls = (replay_call_t *)calloc(count, sizeof *t.calls);
    t.batches = (uint32_t *)calloc(count + 1ull, sizeof *t.batches);
    t.passes = (replay_pass_t *)calloc(count, sizeof *t.passes);
    CHECK(t.calls && t.batches && t.passes);
    for (uint32_t i = 0; i < count; i++) {
        t.calls[i] = calls[i];
        t.batches[i + 1] = i + 1;
        t.handles += calls[i].what == REPLAY_ALLOC;
    }
    return t;
}

/* Eight granules and two are free between others, then all the rest: where do two go? */
static void test_fits(void)
{
    enum {
        LONG,
        BETWEEN,
        SHORT,
        LAST,
        NEW
    };
    static const replay_call_t calls[] = {
        {LONG, 2048, 16, REPLAY_ALLOC}, {BETWEEN, 256, 16, REPLAY_ALLOC},
        {SHORT, 512, 16, REPLAY_ALLOC}, {LAST, 256, 16, REPLAY_ALLOC},
        {LONG, 2048, 16, REPLAY_FREE},  {SHORT, 512, 16, REPLAY_FREE},
        {NEW, 512, 16, REPLAY_ALLOC}};
    static const char *const fits[] = {"first", "best", "worst"};
    static const uint64_t wanted[] = {0, 2048 + 256, 2048 + 256 + 512 + 256};

    for (uint32_t i = 0; i < 3; i++) {
        replay_trace_t trace = one_by_one(calls, sizeof calls / sizeof *calls);
        oracle_t o;

        oracle_open(&o, MIB, &trace);
        oracle_round(&o, named(fits[i]));
        CHECK_MSG(o.objects[NEW].at - (o.objects[BETWEEN].at - 2048) == wanted[i], "%s fit",
                  fits[i]);
        oracle_close(&o);
    }
}

static uint64_t rounds_peak(const char *policy, uint32_t rounds, uint32_t which)
{
    replay_outcome_t out;
    oracle_t o;

    script_rounds(&script, rounds, LIVE / 2, 20000, which);
    oracle_open(&o, 64 * MIB, NULL);
    out = oracle_round(&o, named(policy));
    CHECK_EQ(out.sums.xrefused, 0);
    oracle_close(&o);
    return out.peak_used;
}

/* Arenas go back where nothing younger lives; else what is freed stays, which costs a heap
 * nothing. */
static void test_arenas_go_back(void)
{
    uint64_t once = rounds_peak("arena", 1, FREE_ALL);

    CHECK(rounds_peak("arena", 15, FREE_ALL) <= 2 * once);
    CHECK(rounds_peak("arena", 15, FREE_MOST) > once); /* and who stays is left alone */
    CHECK(rounds_peak("arena", 15, FREE_ANY) >= 6 * once);
    CHECK(rounds_peak("heap", 15, FREE_ANY) <= 4 * once);
}

/* What is freed in a batch serves its requests, without the heap. */
static void test_pools_serve(void)
{
    uint64_t low, all = 0;
    replay_outcome_t out;
    oracle_t o;

    script_rounds(&script, 15, LIVE / 2, 100, FREE_OLDER);
    oracle_open(&o, 64 * MIB, NULL);
    out = oracle_round(&o, named("pools"));
    low = out.end.got[GPURT_PLACE_THREAD] + out.end.got[GPURT_PLACE_WARP];
    for (uint32_t i = 0; i < GPURT_PLACES; i++)
        all += out.end.got[i];
    CHECK_EQ(all, out.sums.xserved);
    CHECK_MSG(low > all / 4, "%llu of %llu", (unsigned long long)low,
              (unsigned long long)all);
    oracle_close(&o);
}

static void test_names(void)
{
    CHECK(replay_policy_find("heap", 4) == &replay_policies[0]);
    CHECK(replay_policy_find("heap,best", 4) == &replay_policies[0]);
    CHECK(!replay_policy_find("hea", 3));
    CHECK(!replay_policy_find("heaps", 5));
    CHECK(!replay_policy_find("", 0));
}

int main(void)
{
    static const char *const spoiled[] = {"heap", "best", "pools", "arena"};
    gpurt_error_t failed = {0};

    test_names();
    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_fits();
    test_arenas_go_back();
    test_pools_serve();
    test_storms(64 * MIB, true);
    test_storms(640 << 10, false);
    test_holes();
    for (uint32_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++)
        test_spoiled(named(spoiled[i]), false);
    test_spoiled(named("cheap"), true);
    test_spoiled(named("full"), true);
    OK(gpurt_close(rt, &err));
    return 0;
}
