/* SPDX-License-Identifier: Apache-2.0 */
/* Log calls of kernels, through the box to rendered text: every
 * form, every type, diverged warps, partly filled warps, thousands of lanes at one new
 * site, levels. */
#include "../check.h"
#include "../kernels/log_kernels.h"
#include "drain.h"
#include "levelset.h"
#include "life.h"
#include "logconnect.h"
#include "render.h"

#include <gpurt/gpurt.h>
#include <string.h>

enum {
    BLOCKS = 12,
    THREADS = 80,   /* two warps and a half */
    ARMS_STEPS = 4, /* what they log fits into a ring */
    ARMS_LAUNCHES = 20
};

GPURT_KERNEL_DECLARE(log_lanes, struct log_args);
GPURT_KERNEL_DECLARE(log_arms, struct log_args);
GPURT_KERNEL_DECLARE(log_turns, struct log_turn_args);
GPURT_KERNEL_DECLARE(log_turn_gone, struct log_args);
GPURT_KERNEL_DECLARE(log_one, struct log_args);
GPURT_KERNEL_DECLARE(log_types, struct log_args);
GPURT_KERNEL_DECLARE(log_limits, struct log_args);

/* What came out. */
typedef struct tally {
    uint64_t messages, lost;
    uint32_t all[BLOCKS * THREADS], third[BLOCKS * THREADS], rest, block, none;
    uint32_t rest_lanes; /* what the masks of `rest` add up to */
    uint64_t damaged;    /* of lost: for another reason than that there was no room */
    uint64_t ringless;   /* of lost: because warps have no ring */
    uint32_t integers, mixed, null, twelve, doubles; /* of log_types */
    uint32_t every, first, limit, ifs;
    uint32_t step[ARMS_LAUNCHES][32]; /* of log_arms: the lane's next */
    uint32_t disorder;                /* ... and how often it was another */
    uint32_t odd_lanes, even_lanes;
} tally_t;

static gpurt_error_t err;
static gpurt_dictionary_t dictionary;
static tally_t tally;

static void count_one(tally_t *t, const char *text)
{
    unsigned a, b;

    if (sscanf(text, "all %u of %u", &a, &b) == 2)
        t->all[a]++;
    else if (sscanf(text, "third %u", &a) == 1)
        t->third[a]++;
    else if (strncmp(text, "rest", 4) == 0)
        t->rest++;
    else if (strncmp(text, "block", 5) == 0)
        t->block++;
    else if (strcmp(text, "no arguments") == 0)
        t->none++;
    else if (sscanf(text, "lane %u step %u", &a, &b) == 2 ||
             sscanf(text, "other %u step %u", &a, &b) == 2)
        t->disorder += b % ARMS_STEPS != t->step[b / ARMS_STEPS][a]++;
    t->integers += strcmp(text, "-5 60000 -1099511627776 18446744073709551615 beef") == 0;
    t->mixed += strncmp(text, "1.50 1e+100 x one lit 0x", 24) == 0;
    t->null += strcmp(text, "of (null)") == 0;
    t->twelve += strcmp(text, "123456789101112 100%") == 0;
    t->doubles +=
        strncmp(text, "1.000000|2.000000|", 18) == 0 && strstr(text, "|11.000000|");
    t->every += strcmp(text, "every") == 0;
    t->first += strcmp(text, "first") == 0;
    t->limit += strcmp(text, "limit") == 0;
    t->ifs += strcmp(text, "if 3") == 0;
    CHECK_MSG(strncmp(text, "never", 5) != 0, "below the level");
}

static gpurt_status_t put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    tally_t *t = context;

    (void)e;
    t->messages += gpurt_row_messages(row);
    t->lost += gpurt_row_lost(row);
    if (gpurt_row_lost(row) && gpurt_row_words(row)[0] > GPURT_LOSS_OVERRUN)
        t->damaged += gpurt_row_lost(row);
    if (gpurt_row_lost(row) && gpurt_row_words(row)[0] == GPURT_LOSS_RINGLESS)
        t->ringless += gpurt_row_lost(row);
    for (uint32_t lane = 0; lane < gpurt_row_messages(row); lane++) {
        char text[256];
        gpurt_text_t out;

        gpurt_text_init(&out, text, sizeof text);
        gpurt_render_message(&dictionary, row, lane, &out);
        count_one(t, text);
        if (strncmp(text, "rest", 4) == 0)
            t->rest_lanes += (uint32_t)__builtin_popcount(row->mask);
        if (strncmp(text, "odd", 3) == 0)
            t->odd_lanes += (uint32_t)__builtin_popcount(row->mask);
        if (strncmp(text, "even", 4) == 0)
            t->even_lanes += (uint32_t)__builtin_popcount(row->mask);
    }
    return GPURT_OK;
}

static gpurt_t *rt;
static const gpurt_opened_t *opened;
static gpurt_boxmap_t map;

/* sm_count: multiprocessors that get rings; 0: all. */
static gpurt_drain_t *open_some(uint32_t ring_bytes, uint32_t policy, uint32_t sm_count)
{
    gpurt_section_plan_t s = {.ring_bytes = ring_bytes, .policy = policy};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.context = &tally, .put = put}},
                               .dictionary = &dictionary};
    gpurt_info_t info;
    gpurt_drain_t *d;

    CHECK_MSG(gpurt_info(rt, &info) == GPURT_OK, "info");
    s.kind = info.backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU;
    s.sm_count = sm_count ? sm_count : info.sm_count;
    s.warp_slots = info.warp_slots;
    memset(&tally, 0, sizeof tally);
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(opened->ops->box_connect(opened->self, &map, 0, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

static gpurt_drain_t *open_all(uint32_t ring_bytes, uint32_t policy)
{
    return open_some(ring_bytes, policy, 0);
}

static void close_all(gpurt_drain_t *d)
{
    opened->ops->box_disconnect(opened->self, &map, 0); /* brings a GPU's counts */
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

#define RUN(kernel, blocks, threads, value)                                           \
    do {                                                                              \
        gpurt_launch_t launch_ = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};  \
        struct log_args args_ = {value};                                              \
                                                                                      \
        CHECK_MSG(gpurt_launch(rt, &launch_, kernel, &args_, &err) == GPURT_OK, "%s", \
                  err.text);                                                          \
        if (gpurt_sync(rt, &err) != GPURT_OK) {                                       \
            char report_[8192];                                                       \
                                                                                      \
            gpurt_report(rt, report_, sizeof report_);                                \
            CHECK_MSG(false, "%s\n%s", err.text, report_);                            \
        }                                                                             \
    } while (0)

static void lanes(void)
{
    gpurt_drain_t *d = open_all(16384, GPURT_POLICY_DROP_NEWEST);

    RUN(log_lanes, BLOCKS, THREADS, 7);
    close_all(d);
    CHECK_MSG(tally.lost == 0, "%llu lost", (unsigned long long)tally.lost);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        CHECK_MSG(tally.all[i] == 1, "lane %u: %u times", i, tally.all[i]);
        CHECK_MSG(tally.third[i] == (i % 3 == 0), "third %u: %u times", i, tally.third[i]);
    }
    /* Lanes may come in any groups, so at least one message a warp. */
    CHECK_MSG(tally.rest >= BLOCKS * 3 && tally.rest <= BLOCKS * THREADS, "rest %u",
              tally.rest);
    CHECK_MSG(tally.rest_lanes == BLOCKS * THREADS - (BLOCKS * THREADS + 2) / 3,
              "rest of %u lanes", tally.rest_lanes);
    CHECK_MSG(tally.block == BLOCKS, "%u blocks", tally.block);
    CHECK_MSG(tally.none >= BLOCKS * 3, "none %u", tally.none);
}

/* Half warps that log at the same time: nothing is lost, each message is of those who logged it,
 * and a lane's own order stays. */
static void arms(void)
{
    enum {
        LANES = ARMS_STEPS * ARMS_LAUNCHES * 16
    };
    gpurt_drain_t *d = open_all(16384, GPURT_POLICY_DROP_NEWEST);
    uint32_t rows;

    for (int i = 0; i < ARMS_LAUNCHES; i++) {
        RUN(log_arms, 1, 32, i);
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    }
    close_all(d);
    CHECK_MSG(tally.lost == 0 && tally.disorder == 0, "%llu lost, %u out of order",
              (unsigned long long)tally.lost, tally.disorder);
    for (uint32_t lane = 0; lane < 32 * ARMS_LAUNCHES; lane++)
        CHECK_EQ(tally.step[lane / 32][lane % 32], ARMS_STEPS);
    CHECK_MSG(tally.odd_lanes == LANES && tally.even_lanes == LANES,
              "messages of %u and %u lanes", tally.odd_lanes, tally.even_lanes);
}

/* Each group of a warp's lanes gets room of its own. Nothing is written there. */
static void turns(void)
{
    enum {
        TAKES = 8,
        ALL = 32 * TAKES,
        ROOM = 2 * ALL + GPURT_MARK_GROUPS /* one lap ends */
    };
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    gpurt_drain_t *d = open_all(16384, GPURT_POLICY_DROP_NEWEST);
    struct log_turn_args args = {.takes = TAKES};
    bool taken[ROOM] = {false};

    CHECK_EQ(
        gpurt_host_create(rt, ALL * sizeof *args.positions, (void **)&args.positions, &err),
        GPURT_OK);
    CHECK_MSG(gpurt_launch(rt, &launch, log_turns, &args, &err) == GPURT_OK &&
                  gpurt_sync(rt, &err) == GPURT_OK,
              "%s", err.text);
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t slot = args.positions[i] - GPURT_RING_START;

        CHECK_MSG(slot < ROOM && !taken[slot], "lane %u was given %u", i / TAKES, slot);
        taken[slot] = true;
    }
    CHECK_EQ(gpurt_host_destroy(rt, args.positions), GPURT_OK);
    close_all(d);
}

/* A message that waits for a turn in vain is counted, and the next one is written; also in the block
 * that finds such a word of another. Under a seed that wait is called a livelock; else it is none,
 * however long its rounds take: here several times as long as the limit. */
static void turn_gone(void)
{
    enum {
        LAUNCHES = 4
    };
    gpurt_drain_t *d;

    if (getenv("GPURT_SEED"))
        return;
    d = open_all(16384, GPURT_POLICY_DROP_NEWEST);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        RUN(log_turn_gone, 1, 32, i);
    close_all(d);
    CHECK_MSG(tally.lost == LAUNCHES && tally.messages == LAUNCHES,
              "%llu messages, %llu lost", (unsigned long long)tally.messages,
              (unsigned long long)tally.lost);
}

static void types(void)
{
    gpurt_drain_t *d = open_all(16384, GPURT_POLICY_DROP_NEWEST);

    RUN(log_types, 1, 32, 1);
    close_all(d);
    CHECK_MSG(tally.messages == 5 * 32, "%llu messages",
              (unsigned long long)tally.messages);
    CHECK_MSG(tally.integers == 32 && tally.twelve == 32 && tally.doubles == 32, "%u %u %u",
              tally.integers, tally.twelve, tally.doubles);
    CHECK_MSG(tally.mixed == 32 && tally.null == 32, "mixed %u, NULL %u", tally.mixed,
              tally.null);
}

static void limits(void)
{
    gpurt_drain_t *d = open_all(16384, GPURT_POLICY_DROP_NEWEST);

    RUN(log_limits, 1, 32, 50);
    close_all(d);
    /* Lanes that arrive apart count apart: at least the 50 calls of a whole warp. */
    CHECK_MSG(tally.every >= 5 && tally.every <= 160 && tally.first == 7 && tally.ifs == 32,
              "%u %u %u", tally.every, tally.first, tally.ifs);
    CHECK_MSG(tally.limit >= 5 && tally.limit <= 10, "limit %u", tally.limit);
}

/* Rings that cannot hold it: what is missing is counted, to the message. */
static void storm(uint32_t policy)
{
    gpurt_drain_t *d = open_all(4096, policy);
    uint64_t all = 0;

    for (int i = 0; i < 30; i++) {
        RUN(log_lanes, BLOCKS, 64, 1);
        all += BLOCKS * 64;
    }
    close_all(d);
    CHECK_MSG(tally.lost > 0 && tally.messages > 0, "a storm");
    CHECK_MSG(tally.damaged == 0, "%llu messages damaged",
              (unsigned long long)tally.damaged);
    /* One message a lane and one of every third; of the rest at least five a block. */
    CHECK_MSG(tally.messages + tally.lost >= all / 3 * 4 + 30 * BLOCKS * 5,
              "%llu and %llu of %llu", (unsigned long long)tally.messages,
              (unsigned long long)tally.lost, (unsigned long long)(all / 3 * 4));
}

/* A multiprocessor whose number is beyond what the driver spoke of: its warps' messages are counted. */
static void ringless(void)
{
    gpurt_info_t info;
    uint64_t lanes = 0;
    gpurt_drain_t *d;
    uint32_t rows;

    CHECK_MSG(gpurt_info(rt, &info) == GPURT_OK, "info");
    if (info.sm_count < 2)
        return;
    d = open_some(16384, GPURT_POLICY_DROP_NEWEST, info.sm_count / 2);
    for (int i = 0; i < 100 && (!tally.ringless || !tally.messages); i++) { /* chance */
        RUN(log_one, 4 * info.sm_count, 32, 1);
        lanes += 4 * info.sm_count * 32;
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    }
    close_all(d);
    CHECK_MSG(tally.ringless > 0 && tally.messages > 0,
              "%llu without a ring, %llu with one", (unsigned long long)tally.ringless,
              (unsigned long long)tally.messages);
    CHECK_EQ(tally.ringless + tally.messages, lanes);
    CHECK_EQ(tally.lost, tally.ringless);
}

static void unconnected_and_levels(void)
{
    gpurt_levelset_t levels;
    gpurt_drain_t *d;

    RUN(log_lanes, 2, 32, 1); /* nothing is connected: nothing happens */
    d = open_all(16384, GPURT_POLICY_DROP_NEWEST);
    CHECK_MSG(gpurt_levelset_parse("panic,log_*.c=warn,nowhere.c=trace", &levels, &err) ==
                  GPURT_OK,
              "%s", err.text);
    gpurt_levelset_write(&map, &levels);
    RUN(log_lanes, BLOCKS, 32, 1); /* sites that are defined now ask the rules */
    close_all(d);
    CHECK_MSG(tally.all[0] == 0 && tally.third[0] == 1 && tally.none >= BLOCKS,
              "info %u, warn %u, error %u", tally.all[0], tally.third[0], tally.none);
}

int main(void)
{
    const gpurt_options_t own = {.panics = GPURT_PANICS_OFF, /* the box is the test's */
                                 .cpu = {.spin_limit_ms = 20}};

    CHECK_MSG(gpurt_open(&own, &rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_life_enter(rt, &opened, &err) == GPURT_OK, "%s", err.text);
    gpurt_life_leave(opened, GPURT_OK);
    lanes();
    arms();
    turns();
    turn_gone();
    types();
    limits();
    storm(GPURT_POLICY_DROP_NEWEST);
    storm(GPURT_POLICY_OVERWRITE);
    ringless();
    unconnected_and_levels();
    CHECK_MSG(gpurt_close(rt, &err) == GPURT_OK, "%s", err.text);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
