/* SPDX-License-Identifier: Apache-2.0 */
/* Channels, a schedule a seed: games whose histories are those of a queue; storms, each with
 * another size, policy, capacity and mode; blocks that are cancelled. */
#include "seeds.h"

#include "channel_stage.h"

static const gpurt_launch_t shape = {.grid = {2, 1, 1}, .block = {66, 1, 1}};

static void storms_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, CHANNEL_TRIES, CHANNEL_MANY, CHANNEL_PART,
                                     CHANNEL_CANCELS};
    uint32_t size = seed % CHANNEL_SIZES, policy = seed / 4 % GPURT_CHANNEL_POLICIES;
    uint32_t capacity = 1u << seed / 16 % 4;

    channel_storm(size, capacity, policy, seed / 7 % 2, modes[seed % 5], shape, 2);
}

static void pipes_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, CHANNEL_TRIES, CHANNEL_MANY};
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    uint32_t flags = GPURT_CHANNEL_PAIR | (seed / 5 % 2 ? GPURT_CHANNEL_ALONE : 0);
    uint32_t mode = modes[seed / 2 % 3], policy = mode == CHANNEL_MANY ? 0 : seed % 3;

    channel_storm(seed % CHANNEL_SIZES, 1u << seed / 3 % 7, policy, flags, mode, one, 5);
}

/* More senders than a small channel holds, each dropping the oldest: by priorities, where one that
 * claims in vain without a pause keeps the others from running. */
static void oldest_run(uint32_t seed)
{
    const gpurt_launch_t crowd = {.grid = {2 + seed % 2, 1, 1}, .block = {66, 1, 1}};

    channel_storm(seed % CHANNEL_SIZES, 1u << seed / 2 % 3, GPURT_CHANNEL_DROP_OLDEST,
                  seed % 2, CHANNEL_PART, crowd, 1 + seed % 5);
}

/* The first message has a credit. */
static void credit_is_told(char *report, size_t bytes)
{
    channel_step_t steps[2] = {{.what = CHANNEL_SEND}, {.what = CHANNEL_SEND}};
    channel_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};

    s.args.channel = channel_made(4, 8, 0, GPURT_CHANNEL_GRANTED);
    s.args.steps = (channel_step_t *)stage_zeros(sizeof steps);
    s.args.step_count = 2;
    OK(gpurt_copy(rt, 0, s.args.steps, steps, sizeof steps, &err));
    OK(gpurt_launch(rt, &s.launch, channel_trace, &s.args, &err));
    CHECK_EQ(gpurt_sync(rt, NULL), GPURT_E_LIVELOCK);
    gpurt_report(rt, report, bytes);
    CHECK_CONTAINS(report, "thread 0: waits for a credit of channel \"tested\", relaxed ");
    OK(gpurt_channel_destroy(rt, &s.args.channel, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.steps), GPURT_OK);
}

/* A report of lanes that wait for each other names the channels and the lines. */
static void knot_is_told(void)
{
    struct channel_knot_args args = {channel_named("left", 1, 4, 0, 0),
                                     channel_named("right", 1, 4, 0, 0)};
    const gpurt_launch_t two = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    static char report[16384];

    OK(gpurt_launch(rt, &two, channel_knot, &args, &err));
    CHECK_EQ(gpurt_sync(rt, NULL), GPURT_E_LIVELOCK);
    gpurt_report(rt, report, sizeof report);
    CHECK_CONTAINS(report, "block 0 thread 0: waits for channel \"left\", relaxed ");
    CHECK_CONTAINS(report, "block 1 thread 0: waits for channel \"right\", relaxed ");
    CHECK_CONTAINS(report, "channel_kernels.c:");
    credit_is_told(report, sizeof report);
    OK(gpurt_channel_destroy(rt, &args.left, &err));
    OK(gpurt_channel_destroy(rt, &args.right, &err));
}

static void cut_is_counted(const struct channel_cut_args *args)
{
    gpurt_channel_status_t s = channel_look(&args->two.channel);
    uint64_t sent, received, wrong;
    int32_t answers[2];

    stage_read(&sent, args->sent, sizeof sent);
    stage_read(&received, args->received, sizeof received);
    stage_read(&wrong, args->wrong, sizeof wrong);
    stage_read(answers, args->answers, sizeof answers);
    CHECK(sent == CHANNEL_CUT_MOST || answers[0] == GPURT_E_CHANNEL_CLOSED);
    CHECK_EQ(answers[1], GPURT_E_CHANNEL_CLOSED);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(s.counts.sent, sent);
    CHECK_EQ(s.counts.received, received);
}

/* Who closes a pair beside its sender, which is not allowed, breaks neither end: all that was sent
 * is received in order, or still in it. */
static void cut_run(uint32_t seed)
{
    const gpurt_launch_t ends = {.grid = {3, 1, 1}, .block = {1, 1, 1}};
    struct channel_cut_args args = {.pauses = seed % 9, .many = seed % 3 ? 1 : 4};

    args.two.channel = channel_made(1u << seed / 2 % 4, 8, 0, GPURT_CHANNEL_PAIR);
    args.sent = (uint64_t *)stage_zeros(3 * sizeof(uint64_t));
    args.received = args.sent + 1;
    args.wrong = args.sent + 2;
    args.answers = (int32_t *)stage_zeros(2 * sizeof(int32_t));
    OK(gpurt_launch(rt, &ends, channel_cut, &args, &err));
    OK(gpurt_sync(rt, &err));
    cut_is_counted(&args);
    OK(gpurt_channel_destroy(rt, &args.two.channel, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, args.sent), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, args.answers), GPURT_OK);
}

/* Receivers grant, and both sides move the limit, also beside the close. */
static void room_run(uint32_t seed)
{
    uint32_t flags = seed % 3 == 0 ? GPURT_CHANNEL_GRANTED : GPURT_CHANNEL_RESIZED;

    if (seed % 3 == 2)
        flags |= GPURT_CHANNEL_GRANTED;
    channel_storm(seed % CHANNEL_SIZES, 1u << seed / 2 % 4, seed / 5 % 3, flags,
                  (seed % 3 ? CHANNEL_LIMITS : 0) | (seed % 4 == 1 ? CHANNEL_CANCELS : 0),
                  shape, 3);
}

int main(int argc, char **argv)
{
    enum {
        BOTH = GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED
    };
    static const uint32_t flags[] = {0,    GPURT_CHANNEL_RESIZED, GPURT_CHANNEL_GRANTED,
                                     BOTH, GPURT_CHANNEL_PAIR,    GPURT_CHANNEL_RESIZED,
                                     BOTH, GPURT_CHANNEL_PAIR};
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        if (s.seed == s.first && !CHECK_SANITIZED) /* what tells of it is not watched */
            knot_is_told();
        channel_games(4, s.seed, flags[s.seed % 8]);
        if (s.seed % 8 == 5)
            room_run(s.seed / 8);
        if (s.seed % 2 && !CHECK_SANITIZED) /* it is a race, by contract */
            cut_run(s.seed / 2);
        if (s.seed % 4 == 0)
            storms_run(s.seed / 4);
        if (s.seed % 4 == 2)
            pipes_run(s.seed / 4);
        if (s.seed % 6 == 3)
            oldest_run(s.seed / 6);
        if (s.seed % 16 == 1)
            channel_urgent_storm((gpurt_launch_t){.grid = {2, 1, 1}, .block = {64, 1, 1}});
    }
    return 0;
}
