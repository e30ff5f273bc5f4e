/* SPDX-License-Identifier: Apache-2.0 */
/* Several words exchanged as one: money moves between accounts, none is lost or made, at no moment
 * there is another sum, each account has what operations that were done left in it, and no
 * reference stays in a word. An argument is the number of seeds, a second one the first. */
#include "kcas_kernels.h"
#include "seeds.h"

GPURT_KERNEL_DECLARE(kcas_storm, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_decided, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_left, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_lock, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_refusals, struct kcas_args);

typedef struct stage {
    struct kcas_args args;
    gpurt_launch_t launch;
} stage_t;

static void stage_open(stage_t *s, uint32_t seed)
{
    uint32_t warps = 1 + seed % 3;
    uint64_t money[KCAS_ACCOUNTS];

    memset(s, 0, sizeof *s);
    s->launch =
        (gpurt_launch_t){.grid = {2, 1, 1}, .block = {warps * GPURT_WARP_SIZE, 1, 1}};
    s->args.lanes = 1 + seed % 4;
    s->args.accounts_used = 2 + seed % (KCAS_ACCOUNTS - 1);
    s->args.rounds = 12;
    s->args.seed = seed;
    s->args.kcas.slot_count = 2 * warps * GPURT_WARP_SIZE;
    s->args.kcas.slots = (gpurt_kcas_slot_t *)stage_zeros(s->args.kcas.slot_count *
                                                          sizeof *s->args.kcas.slots);
    s->args.accounts = (uint64_t *)stage_zeros(sizeof money);
    s->args.verdict = (kcas_verdict_t *)stage_zeros(sizeof *s->args.verdict);
    for (int i = 0; i < KCAS_ACCOUNTS; i++)
        money[i] = KCAS_MONEY;
    OK(gpurt_copy(rt, 0, s->args.accounts, money, sizeof money, &err));
    OK(gpurt_stream_sync(rt, 0, &err)); /* it reads `money` until then */
}

static void stage_close(stage_t *s)
{
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.kcas.slots), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.accounts), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

static kcas_verdict_t run(uint32_t seed)
{
    uint64_t money[KCAS_ACCOUNTS];
    kcas_verdict_t v;
    stage_t s;

    stage_open(&s, seed);
    RUN(&s, kcas_refusals);
    RUN(&s, kcas_left);
    RUN(&s, kcas_decided);
    RUN(&s, kcas_storm);
    stage_read(&v, s.args.verdict, sizeof v);
    stage_read(money, s.args.accounts, sizeof money);
    CHECK_EQ(v.xwrong, 0);
    for (int i = 0; i < KCAS_ACCOUNTS; i++)
        CHECK_EQ(money[i], KCAS_MONEY + v.xmoved[i]);
    stage_close(&s);
    return v;
}

static void run_lock(uint32_t seed)
{
    kcas_verdict_t v;
    stage_t s;

    stage_open(&s, seed);
    s.args.rounds = 3;
    OK(gpurt_fill(rt, 0, s.args.accounts, 0, 2 * sizeof *s.args.accounts, &err));
    RUN(&s, kcas_lock);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.owned, s.args.rounds * s.args.lanes * s.launch.grid.x * s.launch.block.x /
                          GPURT_WARP_SIZE);
    stage_close(&s);
}

int main(int argc, char **argv)
{
    uint32_t done = 0, differs = 0, moments = 0;
    seeds_t seeds;

    for (seeds_begin(&seeds, argc, argv, 200); seeds_next(&seeds, 3);) {
        kcas_verdict_t v = run(seeds.seed);

        done += v.xdone;
        differs += v.xdiffers;
        moments += v.xmoments;
        run_lock(seeds.seed);
    }
    /* Else they did not meet. */
    CHECK(done > seeds.count && differs > seeds.count && moments > seeds.count);
    fprintf(stderr, "%u done, %u differ, %u moments\n", done, differs, moments);
    return 0;
}
