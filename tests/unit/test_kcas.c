/* SPDX-License-Identifier: Apache-2.0 */
/* Several words exchanged as one, by more lanes than the seeded test has, on both back ends: no money
 * is lost or made, at no moment there is another sum, and who owns a pair of words as a lock has what
 * its last owner wrote plainly. */
#include "../kernels/kcas_kernels.h"
#include "../kernels/stage.h"

GPURT_KERNEL_DECLARE(kcas_storm, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_decided, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_left, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_lock, struct kcas_args);
GPURT_KERNEL_DECLARE(kcas_refusals, struct kcas_args);

enum {
    BLOCKS = 8,
    WARPS = 2,
    SLOTS = BLOCKS * WARPS * GPURT_WARP_SIZE,
    RUNS = 4
};

typedef struct stage {
    struct kcas_args args;
    gpurt_launch_t launch;
} stage_t;

static void accounts_fill(stage_t *s, uint64_t each)
{
    uint64_t money[KCAS_ACCOUNTS];

    for (int i = 0; i < KCAS_ACCOUNTS; i++)
        money[i] = each;
    OK(gpurt_fill(rt, 0, s->args.verdict, 0, sizeof *s->args.verdict, &err));
    OK(gpurt_copy(rt, 0, s->args.accounts, money, sizeof money, &err));
    OK(gpurt_sync(rt, &err)); /* it reads `money` until then */
}

static void storm(stage_t *s)
{
    uint64_t money[KCAS_ACCOUNTS];
    kcas_verdict_t v;

    accounts_fill(s, KCAS_MONEY);
    RUN(s, kcas_refusals);
    RUN(s, kcas_left);
    RUN(s, kcas_decided);
    RUN(s, kcas_storm);
    OK(gpurt_copy(rt, 0, &v, s->args.verdict, sizeof v, &err));
    OK(gpurt_copy(rt, 0, money, s->args.accounts, sizeof money, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(v.xwrong, 0);
    CHECK(v.xdone > 0 && v.xdiffers > 0 && v.xmoments > 0);
    for (int i = 0; i < KCAS_ACCOUNTS; i++)
        CHECK_EQ(money[i], KCAS_MONEY + v.xmoved[i]);
}

static void lock(stage_t *s)
{
    kcas_verdict_t v;

    accounts_fill(s, 0);
    RUN(s, kcas_lock);
    OK(gpurt_copy(rt, 0, &v, s->args.verdict, sizeof v, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.owned, s->args.rounds * s->args.lanes * BLOCKS * WARPS);
}

int main(void)
{
    stage_t s = {
        .launch = {.grid = {BLOCKS, 1, 1}, .block = {WARPS * GPURT_WARP_SIZE, 1, 1}}};

    OK(gpurt_open(NULL, &rt, &err));
    s.args.kcas.slot_count = SLOTS;
    s.args.kcas.slots = (gpurt_kcas_slot_t *)stage_zeros(SLOTS * sizeof *s.args.kcas.slots);
    s.args.accounts = (uint64_t *)stage_zeros(KCAS_ACCOUNTS * sizeof *s.args.accounts);
    s.args.verdict = (kcas_verdict_t *)stage_zeros(sizeof *s.args.verdict);
    s.args.accounts_used = KCAS_ACCOUNTS;
    for (uint32_t run = 0; run < RUNS; run++) {
        s.args.seed = run;
        s.args.lanes = 1 + run;
        s.args.rounds = 24;
        storm(&s);
        s.args.rounds = 8;
        lock(&s);
    }
    OK(gpurt_mem_destroy(rt, s.args.kcas.slots));
    OK(gpurt_mem_destroy(rt, s.args.accounts));
    OK(gpurt_mem_destroy(rt, s.args.verdict));
    OK(gpurt_close(rt, &err));
    return 0;
}
