/* SPDX-License-Identifier: Apache-2.0 */
/* How a GPU's time is taken apart: by hand for each reason, for any crowd as by hand, the same in
 * any order; and what comes late is taken back, also where gaps have become coarse. */
#include "gaps.h"

#include "check.h"

enum {
    EVENTS = 700, /* fewer gaps than become coarse */
    CROWD = 200000,
    FAR = 3 /* a kind of times: see any_time */
};
#define T0 1000000000000ull

static gaps_t gaps;

static void begin(void)
{
    memset(&gaps, 0, sizeof gaps);
}
static void kernel(uint64_t from, uint64_t to)
{
    gaps_kernel(&gaps, T0 + from, T0 + to);
}
static void copy(uint64_t from, uint64_t to)
{
    gaps_copy(&gaps, T0 + from, T0 + to);
}
static void wait_for(uint64_t from, uint64_t to)
{
    gaps_wait(&gaps, T0 + from, T0 + to);
}

static gpurt_model_busy_t sums_of(uint64_t from, uint64_t to)
{
    gpurt_model_busy_t b;

    gaps_sums(&gaps, from, to, &b);
    CHECK_EQ(b.kernels + b.copying + b.waiting + b.launching + b.idle, b.ns);
    return b;
}

static void sums(uint64_t kernels, uint64_t copying, uint64_t waiting, uint64_t launching,
                 uint64_t idle)
{
    gpurt_model_busy_t b = sums_of(0, UINT64_MAX);

    CHECK_EQ(b.kernels, kernels);
    CHECK_EQ(b.copying, copying);
    CHECK_EQ(b.waiting, waiting);
    CHECK_EQ(b.launching, launching);
    CHECK_EQ(b.idle, idle);
}

static void check_reasons(void)
{
    begin();
    sums(0, 0, 0, 0, 0);
    kernel(0, 1000);
    kernel(500, 2000); /* two at once count once */
    kernel(5000, 6000);
    sums(3000, 0, 0, 3000, 0);

    begin(); /* a copy in the gap, one beside a kernel and one behind the last */
    kernel(0, 1000);
    copy(500, 1500);
    copy(1400, 2000);
    kernel(3000, 4000);
    copy(3500, 5000);
    sums(2000, 2000, 0, 1000, 0);

    begin(); /* a copy is the first of all */
    copy(0, 1000);
    kernel(2000, 3000);
    sums(1000, 1000, 0, 1000, 0);

    begin(); /* the host sleeps until 2000, then does something else for long */
    kernel(0, 1000);
    wait_for(100, 2000);
    kernel(1000000, 1001000);
    sums(2000, 0, 1000, 0, 998000);

    begin(); /* a wait that began after the GPU fell idle explains nothing */
    kernel(0, 1000);
    wait_for(1500, 2000);
    kernel(100000, 101000);
    sums(2000, 0, 0, 0, 99000);

    begin(); /* a copy of 10 us while the host sleeps, and one that it outlasts */
    kernel(0, 1000);
    wait_for(100, 20000);
    copy(5000, 15000);
    copy(19000, 22000);
    kernel(100000, 101000);
    sums(2000, 13000, 8000, 0, 78000);

    begin(); /* what nothing is known of yet is not idle */
    kernel(0, 1000);
    sums(1000, 0, 0, 0, 0);
    kernel(1000000, 1500000);
    sums(501000, 0, 0, 0, 999000);
    kernel(3000000, 3000000);
    copy(3000000, 3000000);
    wait_for(3000000, 3000000);
    sums(501000, 0, 0, 0, 999000);
}

/* Whoever tells first: sums are as if all had been there in order. */
static void check_late(void)
{
    begin(); /* one that ran all the time */
    kernel(1000, 2000);
    kernel(100000, 101000);
    copy(50000, 60000);
    sums(2000, 10000, 0, 0, 88000);
    kernel(500, 200000);
    sums(199500, 0, 0, 0, 0);

    begin(); /* one before all others, in the middle, at either end of a gap */
    kernel(100000, 101000);
    kernel(300000, 301000);
    kernel(500000, 501000);
    kernel(0, 1000);
    sums(4000, 0, 0, 0, 497000);
    kernel(200000, 210000);
    sums(14000, 0, 0, 0, 487000);
    kernel(301000, 302000);
    kernel(498000, 500000);
    sums(17000, 0, 0, 0, 484000);
    kernel(100000, 499000); /* over several gaps */
    sums(402000, 0, 0, 0, 99000);
    kernel(0, 501000);
    sums(501000, 0, 0, 0, 0);

    begin(); /* a copy and waits that are late, the last before another that is there */
    kernel(10000, 20000);
    kernel(120000, 130000);
    copy(60000, 70000);
    copy(30000, 40000);
    copy(35000, 65000);
    copy(5000, 6000);
    sums(20000, 41000, 0, 4000, 60000);
    wait_for(15000, 28000);
    wait_for(12000, 25000);
    sums(20000, 41000, 8000, 4000, 52000);
    wait_for(11000, 29000);
    sums(20000, 41000, 9000, 4000, 51000);
}

/* Of a part of the time. */
static void check_parts(void)
{
    gpurt_model_busy_t b;

    begin();
    kernel(0, 1000);
    kernel(101000, 102000);
    b = sums_of(T0 + 500, T0 + 51000);
    CHECK_EQ(b.kernels, 500);
    CHECK_EQ(b.idle, 50000);
    b = sums_of(T0 + 1000, T0 + 101000);
    CHECK_EQ(b.idle, 100000);
    b = sums_of(T0 + 101500, T0 + 900000);
    CHECK_EQ(b.ns, 500);
    CHECK_EQ(b.kernels, 500);
    b = sums_of(0, T0);
    CHECK_EQ(b.ns, 0);
}

/* What nobody watched counts as nothing, and a pause of one who does counts. */
static void check_unwatched(void)
{
    const uint64_t second = 1000000000;

    begin();
    gaps_begin(&gaps, T0); /* nothing is known yet */
    sums(0, 0, 0, 0, 0);
    kernel(second, 2 * second);
    copy(2 * second, 2 * second + 500);
    gaps_watched(&gaps, T0 + 5 * second);
    gaps_watched(&gaps, T0 + 4 * second);
    gaps_begin(&gaps, T0 + 7 * second); /* a second process */
    kernel(9 * second, 10 * second);
    sums(2 * second, 500, 0, 0, 7 * second - 500);
    gaps_begin(&gaps, T0 + 100 * second); /* another run */
    kernel(101 * second, 102 * second);
    sums(3 * second, 500, 0, 0, 8 * second - 500);
    kernel(50 * second, 60 * second); /* and yet one ran there */
    sums(13 * second, 500, 0, 0, 8 * second - 500);
}

/* A gap that reaches into a time without records counts as nothing, whatever comes first; what ran
 * there counts, if it is known after all. */
static void check_off(void)
{
    const uint64_t second = 1000000000;

    begin();
    gaps_off(&gaps, T0, T0 + 10);
    kernel(100, 1100);
    kernel(2100, 3100); /* launches */
    wait_for(3000, 5 * second);
    gaps_off(&gaps, T0 + 10000, T0 + second);
    copy(2 * second, 2 * second + 500);
    kernel(3 * second, 3 * second + 1000);
    sums(3000, 0, 0, 1000, 0);
    kernel(3 * second + 2000, 3 * second + 3000);
    sums(4000, 0, 1000, 1000, 0);
    kernel(1000000,
           1000500); /* late: began in a window, and what lies around it stays unknown */
    sums(4500, 0, 1000, 1000, 0);

    gaps_off_begins(&gaps, T0 + 4 * second);
    CHECK_EQ(gaps.off, T0 + 4 * second);
    gaps_begin(&gaps, T0 + 5 * second); /* another process, which is recorded */
    CHECK_EQ(gaps.off, 0);

    begin(); /* more such times than are kept, each between two kernels; two may overlap */
    for (uint64_t i = 0; i < 10 * GAPS_OFFS; i++) {
        kernel(i * second, i * second + 1000);
        gaps_off(&gaps, T0 + i * second + 2000, T0 + i * second + 9000);
        gaps_off(&gaps, T0 + i * second + 8000, T0 + i * second + 900000);
    }
    sums(10 * GAPS_OFFS * 1000, 0, 0, 0, 0);
}

/* Two accounts of one GPU. */
static void check_join(void)
{
    static gaps_t other;
    gpurt_model_busy_t b;

    begin();
    kernel(0, 1000);
    copy(1000, 2000);
    wait_for(500, 8000);
    wait_for(600, 700);
    kernel(10000, 11000);
    gaps_watched(&gaps, T0 + 90000);
    other = gaps;
    begin();
    kernel(4000, 5000);
    kernel(100000, 101000);
    gaps_join(&gaps, &other);
    CHECK_EQ(gaps.seen, T0 + 90000);
    b = sums_of(0, UINT64_MAX);
    CHECK_EQ(b.kernels, 4000);
    CHECK_EQ(b.copying, 1000);
    CHECK_EQ(b.waiting, 2000 + 3000);
    CHECK_EQ(b.launching, 2000);
    CHECK_EQ(b.idle, 89000);
}

/* ---- any crowd ----------------------------------------------------------------------- */

static uint32_t rng = 1;
static uint32_t draw(uint32_t below)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)rng * below >> 32);
}

typedef struct event {
    uint64_t start, end;
    uint32_t kind; /* 0, 1 kernel, 2 copy, 3 wait */
} event_t;
static event_t events[EVENTS];

static void put(const event_t *e)
{
    if (e->kind < 2)
        kernel(e->start, e->end);
    else if (e->kind == 2)
        copy(e->start, e->end);
    else
        wait_for(e->start, e->end);
}

enum {
    STEP = 100,
    STEPS = 1 << 20
};
static uint8_t ran[STEPS]; /* by steps: 1 a kernel, 2 a copy */

/* One gap, step by step. */
static void oracle_gap(uint32_t from, uint32_t to, gpurt_model_busy_t *b)
{
    uint64_t woke = (uint64_t)from * STEP, rest = 0;

    for (int i = 0; i < EVENTS; i++)
        if (events[i].kind == 3 && events[i].start <= (uint64_t)from * STEP &&
            events[i].end > woke)
            woke = events[i].end;
    for (uint32_t s = from; s < to; s++) {
        if (ran[s] & 2)
            b->copying += STEP;
        else if ((uint64_t)s * STEP < woke)
            b->waiting += STEP;
        else
            rest += STEP;
    }
    if (rest < GPURT_ACTIVITY_LAUNCH_NS)
        b->launching += rest;
    else
        b->idle += rest;
}

static gpurt_model_busy_t oracle(void)
{
    gpurt_model_busy_t b = {0};
    uint32_t first = STEPS, last = 0;

    memset(ran, 0, sizeof ran);
    for (int i = 0; i < EVENTS; i++) {
        const event_t *e = &events[i];

        if (e->kind == 3)
            continue;
        CHECK(e->end / STEP < STEPS);
        for (uint64_t s = e->start / STEP; s < e->end / STEP; s++)
            ran[s] |= e->kind < 2 ? 1 : 2;
        first = e->start / STEP < first ? (uint32_t)(e->start / STEP) : first;
        last = e->end / STEP > last ? (uint32_t)(e->end / STEP) : last;
    }
    for (uint32_t s = first, to; s < last; s = to) {
        for (to = s; to < last && (ran[to] & 1) == (ran[s] & 1);)
            to++;
        if (ran[s] & 1)
            b.kernels += (uint64_t)(to - s) * STEP;
        else
            oracle_gap(s, to, &b);
    }
    b.ns = (uint64_t)(last - first) * STEP;
    return b;
}

static void check_order(void)
{
    gpurt_model_busy_t want, got;
    uint64_t at = 0;

    for (uint32_t i = 0; i < EVENTS; i++) {
        at += draw(400) * STEP;
        events[i].start = at;
        events[i].end = at + (1 + (draw(40) ? draw(300) : draw(9000))) * STEP;
        events[i].kind = draw(4);
    }
    want = oracle();
    CHECK(want.copying && want.waiting && want.launching && want.idle);
    for (int round = 0; round < 20; round++) {
        begin();
        for (uint32_t i = 0; i < EVENTS; i++)
            put(&events[i]);
        got = sums_of(0, UINT64_MAX);
        CHECK_MSG(memcmp(&want, &got, sizeof want) == 0,
                  "round %d: %llu %llu %llu %llu %llu, not %llu %llu %llu %llu %llu", round,
                  (unsigned long long)got.kernels, (unsigned long long)got.copying,
                  (unsigned long long)got.waiting, (unsigned long long)got.launching,
                  (unsigned long long)got.idle, (unsigned long long)want.kernels,
                  (unsigned long long)want.copying, (unsigned long long)want.waiting,
                  (unsigned long long)want.launching, (unsigned long long)want.idle);
        for (uint32_t i = 0; i < EVENTS; i++) {
            uint32_t j = draw(EVENTS);
            event_t e = events[i];

            events[i] = events[j];
            events[j] = e;
        }
    }
}

/* More than there is room for: sums stay exact where nothing is late, a kernel over all of it takes all of
 * it back, and one over a part that lies far back as much of that, but for a stretch at each end. */
static void check_coarse(void)
{
    const uint64_t far = CROWD / 10 * 3000ull;
    uint64_t at = 0;
    gpurt_model_busy_t b;

    begin(); /* kernels alone: why is found as they become coarse */
    for (uint32_t i = 0; i < CROWD; i++)
        kernel(i * 3000ull, i * 3000ull + 1000);
    sums(CROWD * 1000ull, 0, 0, (CROWD - 1) * 2000ull, 0);

    begin();
    for (uint32_t i = 0; i < CROWD; i++, at += 3000) {
        kernel(at, at + 1000);
        copy(at + 1500, at + 2000);
        wait_for(at + 500, at + 1200);
    }
    sums(CROWD * 1000ull, CROWD * 500ull, CROWD * 200ull, CROWD * 1300ull - 1000, 0);
    CHECK(gaps.count < GAPS_MOST);
    kernel(far, 2 * far);
    b = sums_of(0, UINT64_MAX);
    CHECK_MSG(b.kernels > CROWD * 1000ull + far / 3 * 2 * 98 / 100 &&
                  b.kernels < CROWD * 1000ull + far / 3 * 2 * 102 / 100,
              "%llu", (unsigned long long)b.kernels);
    kernel(0, at);
    sums(at, 0, 0, 0, 0);
}

/* Times of any size, as a file that somebody made may have: the list stays in order, and no part
 * is more than the whole. */
static uint64_t any_time(uint32_t kind)
{
    uint64_t time = (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX);

    switch (kind) {
    case 0:
        return T0 + time % 100000000;
    case 1:
        return time >> draw(50);
    case 2:
        return UINT64_MAX - time % 100000000;
    default: /* centuries apart, and next to a power of two */
        return draw(4) == 0   ? (1ull << draw(64)) - draw(3)
               : draw(3) == 0 ? UINT64_MAX - draw(4)
               : draw(2)      ? 1700000000000000000ull + draw(1000000)
                              : draw(100000) * 1000ull;
    }
}

static void check_list(void)
{
    CHECK(gaps.count <= GAPS_MOST);
    for (uint32_t i = 0; i < gaps.count; i++) {
        CHECK(gaps.list[i].start < gaps.list[i].end && gaps.list[i].end <= gaps.until);
        CHECK(i == 0 || gaps.list[i - 1].end <= gaps.list[i].start);
    }
}

static void any_put(uint32_t kind)
{
    uint64_t start = any_time(kind), end = any_time(kind);

    if (kind == FAR)
        end += start;
    else if (draw(4))
        end = start + draw(5000);
    switch (draw(5)) {
    case 0:
        gaps_copy(&gaps, start, end);
        break;
    case 1:
        gaps_wait(&gaps, start, end);
        break;
    case 2:
        if (kind == FAR || draw(200) == 0)
            gaps_begin(&gaps, start);
        break;
    default:
        gaps_kernel(&gaps, start, end);
    }
}

static void check_any(void)
{
    for (uint32_t round = 0; round < 30; round++) {
        begin();
        for (uint32_t i = 0; i < 10000; i++) {
            any_put(round % 3);
            if (i % 500 == 0) {
                gpurt_model_busy_t b = sums_of(any_time(round % 3), any_time(round % 3));

                CHECK(b.kernels <= b.ns && b.idle <= b.ns);
                sums_of(0, UINT64_MAX);
                check_list();
            }
        }
    }
}

/* Few of them, with gaps so long that their parts are rounded. */
static void check_far(void)
{
    for (uint32_t round = 0; round < 20000; round++) {
        begin();
        for (uint32_t i = 0; i < 12; i++) {
            gpurt_model_busy_t b;

            any_put(FAR);
            b = sums_of(0, UINT64_MAX);
            CHECK(b.kernels <= b.ns && b.copying <= b.ns && b.waiting <= b.ns &&
                  b.launching <= b.ns && b.idle <= b.ns);
        }
    }
}

int main(void)
{
    check_reasons();
    check_late();
    check_parts();
    check_unwatched();
    check_off();
    check_join();
    check_order();
    check_coarse();
    check_any();
    check_far();
    return 0;
}
