/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4

#include "task_kernels.h"

#include <gpurt/device.h>

/* Plain words: only the executor orders them. All lanes see that of each task before it, and the
 * last lane writes that of this one. */
GPURT_DEV void mark_run(const struct task_mark_args *t, gpurt_task_run_t *run)
{
    task_mark_t *mine = &t->board->marks[t->mark];
    bool early = false;

    for (uint32_t i = 0; i < mine->before_count; i++)
        early |= t->board->marks[mine->befores[i]].data != mine->befores[i] + 1 &&
                 !gpurt_task_tainted(run);
    if (gpurt_any(GPURT_FULL_MASK, early) && gpurt_lane() == 0)
        mine->early = 1;
    if (gpurt_lane() == 0) {
        gpurt_add_relaxed_dev_u32(&mine->xruns, 1);
        mine->tainted = gpurt_task_tainted(run);
        mine->block = gpurt_block_rank();
        mine->order = gpurt_add_relaxed_dev_u32(&t->board->xorder, 1) + 1;
    }
    for (uint32_t i = 0; i < 3 * (t->mark % 4 == 3); i++)
        (void)gpurt_task_due(run); /* it gives others what they can run, and goes on */
    if (gpurt_lane() == 31 && !t->fails && !t->panics)
        mine->data = t->mark + 1;
    if (t->panics && gpurt_lane() == 7)
        GPURT_PANIC("mark %u had to", t->mark);
    if (t->fails)
        gpurt_task_fail(run, t->fails);
    gpurt_task_result(run, 100 + t->mark);
}

GPURT_TASK(mark, t, run)
{
    mark_run(t, run);
}

GPURT_TASK(gated, t, run)
{
    if (gpurt_lane() == 0) {
        gpurt_add_relaxed_sys_u32(&t->board->xhere, 1);
        (void)gpurt_hostword_await(&t->board->xgate, 0);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    mark_run(t, run);
}

GPURT_TASK(leaves, t, run)
{
    struct task_mark_args left = {t->board, t->mark, 0, 0};

    gpurt_task_spawn(run, mark, &left, gpurt_lane() == 7, 0);
    if (gpurt_lane() == 7)
        GPURT_PANIC("mark %u is left behind", t->mark);
}

GPURT_DEV void refused_count(task_board_t *board, bool refused)
{
    if (refused)
        gpurt_add_relaxed_dev_u32(&board->xrefused, 1);
}

GPURT_TASK(fan, t, run)
{
    uint32_t lane = gpurt_lane(), parts = t->count > 32 ? 32 : t->count;
    uint32_t from = (uint32_t)((uint64_t)t->count * lane / parts);
    uint32_t to = (uint32_t)((uint64_t)t->count * (lane + 1) / parts);
    struct task_fan_args part = {t->board, t->first + from, to - from, t->how,
                                 0,        t->places};
    uint32_t at = t->places ? GPURT_TASK_AT(lane % t->places) : 0;
    struct task_mark_args one = {t->board, t->first + lane, 0, 0};
    gpurt_task_t task;

    if (t->count > 32)
        task = gpurt_task_spawn(run, fan, &part, true, t->how);
    else
        task = gpurt_task_spawn(run, mark, &one, lane < t->count, t->how | at);
    refused_count(t->board, !task && lane < parts);
    if (t->mark && lane == 31) /* nothing that its lanes do together comes behind it */
        t->board->marks[t->mark].data = t->mark + 1;
}

GPURT_TASK(graph, t, run)
{
    gpurt_task_t first = 0, last = 0;
    uint32_t count = t->count;

    for (uint32_t i = 0; i < count; i += t->fans && i ? 32 : 1) {
        uint32_t at = i + (t->fans && i ? gpurt_lane() : 0);
        bool mine = at < count && (t->fans && i ? true : gpurt_lane() == 0);
        struct task_mark_args one = {t->board, t->first + at, 0, 0};
        gpurt_task_t task = gpurt_task_spawn(run, mark, &one, mine, GPURT_TASK_HELD);
        gpurt_status_t st;

        for (uint32_t j = 0; j < 400 * (t->soon && i % 2); j++)
            gpurt_pause(); /* the last one may end before this one waits for it */
        st = gpurt_task_after(run, mine && last, last, task);
        refused_count(t->board, (mine && !task) || st != GPURT_OK);
        if (i || t->soon) /* or the first starts when all wait for it */
            gpurt_task_start(run, mine, task);
        if (i == 0 || !t->fans) {
            last = gpurt_shfl_u64(GPURT_FULL_MASK, task, 0);
            first = first ? first : last;
        }
    }
    gpurt_task_start(run, gpurt_lane() == 0 && !t->soon, first);
}

GPURT_TASK(fib, t, run)
{
    uint32_t lane = gpurt_lane(), n = t->n, state = t->state;
    struct task_fib_args part = {&t->of[lane & 1u], n - 1 - (lane & 1u), 0, {0, 0}};
    uint64_t value = n;
    gpurt_task_t child;

    if (n >= 2 && state == 0) {
        child = gpurt_task_spawn(run, fib, &part, lane < 2, GPURT_TASK_CHILD);
        if (gpurt_any(GPURT_FULL_MASK, lane < 2 && !child))
            gpurt_task_fail(run, GPURT_E_NOMEM);
        if (lane == 3) /* all have read it before they spawned */
            t->state = 1;
        for (uint32_t i = 0; i < 400 * (n % 2);
             i++) /* they may end before it awaits them */
            gpurt_pause();
        gpurt_task_await(run);
        return;
    }
    if (n >= 2)
        value = t->of[0] + t->of[1];
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (t->to && lane == 0)
        *t->to = value;
    if (gpurt_task_tainted(run))
        gpurt_task_fail(run, GPURT_E_NOMEM);
    gpurt_task_result(run, value);
}

GPURT_TASK(yields, t, run)
{
    uint32_t left = t->count;

    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0) {
        gpurt_add_relaxed_dev_u32(&t->board->xorder, 1);
        t->count = left - 1;
    }
    if (left > 1)
        gpurt_task_await(run);
}

/* Returns: whether this run was one of those before. */
GPURT_DEV bool left_count(struct task_left_args *t, gpurt_task_run_t *run)
{
    uint32_t left = t->left;

    gpurt_syncwarp(GPURT_FULL_MASK);
    if (!left)
        return false;
    if (gpurt_lane() == 0)
        t->left = left - 1;
    gpurt_task_await(run);
    return true;
}

GPURT_TASK(renews, t, run)
{
    struct task_fan_args next = *t;

    next.count--;
    if (gpurt_lane() == 0)
        gpurt_add_relaxed_dev_u32(&t->board->xorder, 1);
    gpurt_task_spawn(run, renews, &next, gpurt_lane() == 0 && t->count > 1, 0);
}

GPURT_TASK(hoard, t, run)
{
    struct task_left_args one = {t->board, SHARER_RUNS, 0};

    if (!left_count(t, run))
        (void)gpurt_task_spawn(run, sharer, &one, gpurt_lane() < t->state, 0);
}

GPURT_TASK(sharer, t, run)
{
    uint32_t *blocks = &t->board->xblocks, mine = 1u << gpurt_block_rank(), seen = 0;

    if (gpurt_lane() == 0) /* relaxed: a mark */
        seen = gpurt_or_relaxed_dev_u32(blocks, mine) | mine;
    seen = gpurt_shfl_u32(GPURT_FULL_MASK, seen, 0);
    if (gpurt_popc(seen) < 2)
        (void)left_count(t, run);
}

GPURT_DEV void regret_begin(struct task_left_args *t, gpurt_task_run_t *run)
{
    struct task_mark_args mark = {t->board, 0, 0, 0};
    struct task_left_args next = {t->board, 0, 1};
    bool mine = gpurt_lane() == 0;
    gpurt_task_t before = gpurt_task_spawn(run, regret, &next, mine, GPURT_TASK_HELD);
    gpurt_task_t victim = gpurt_task_spawn(run, mark, &mark, mine, GPURT_TASK_HELD);

    if (mine)
        t->board->victim = victim;
    gpurt_task_start(run, mine, before);
    gpurt_task_start(run, mine, victim);
}

GPURT_TASK(regret, t, run)
{
    struct task_left_args next = {t->board, 0, 2};
    bool mine = gpurt_lane() == 0;

    if (left_count(t, run))
        return;
    if (t->state == 0)
        regret_begin(t, run);
    else if (t->state == 1)
        (void)gpurt_task_spawn(run, regret, &next, mine, GPURT_TASK_PRIORITY(3));
    else if (mine)
        t->board->cancelled = gpurt_task_cancel(run, t->board->victim);
}

GPURT_TASK(holds, t, run)
{
    gpurt_status_t st = GPURT_OK;
    uint32_t note = 0;

    if (gpurt_lane() == 3) {
        st = gpurt_receive(&t->desk->notes, &note);
    } else if (gpurt_lane() == 7) {
        st = gpurt_mutex_lock(&t->desk->mutex);
        if (!t->note)
            GPURT_PANIC("it holds a mutex");
        (void)gpurt_send(&t->desk->notes, &t->note);
        (void)gpurt_mutex_unlock(&t->desk->mutex);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    note = gpurt_shfl_u32(GPURT_FULL_MASK, note, 3);
    if (gpurt_any(GPURT_FULL_MASK, st == GPURT_E_OWNER_DIED))
        gpurt_task_result(run, 1ull << 32 | note);
    else
        gpurt_task_result(run, note);
}

GPURT_TASK(asks, t, run)
{
    uint64_t ns = 0;

    if (gpurt_lane())
        return;
    if (gpurt_host_time(t->calls, &ns) == GPURT_OK) /* relaxed: the host polls it */
        gpurt_store_relaxed_sys_u64(t->to, ns);
}

GPURT_DEV void patient_begin(struct task_patient_args *t, gpurt_task_run_t *run)
{
    struct task_mark_args mark = {t->board, 1 + gpurt_lane(), 0, 0};

    (void)gpurt_task_spawn(run, mark, &mark, gpurt_lane() < t->spawns, t->how);
    if (gpurt_lane() == 0) {
        t->state = 1;
        gpurt_add_relaxed_sys_u32(&t->board->xhere, 1);
    }
}

GPURT_TASK(patient, t, run)
{
    uint32_t until = t->until, state = t->state, yields = t->yields, ran = 0;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (state == 0)
        patient_begin(t, run);
    for (uint32_t i = 0; i < PATIENT_LOOKS && ran < until; i++) {
        if (gpurt_lane() == 0) /* relaxed: a count */
            ran = gpurt_load_relaxed_dev_u32(&t->board->xorder);
        ran = gpurt_shfl_u32(GPURT_FULL_MASK, ran, 0);
        if (!gpurt_task_due(run) || !yields)
            continue;
        gpurt_task_await(run);
        return;
    }
    gpurt_task_result(run, ran);
}

GPURT_TASK(clings, t, run)
{
    uint32_t until = t->until, spawns = t->spawns, state = t->state, ran = 0;
    task_board_t *board = t->board;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (state == 0) {
        if (gpurt_lane() == 0)
            t->state = 1;
        gpurt_task_sleep(run, 2000000);
        return;
    }
    for (uint32_t i = gpurt_lane(); i - gpurt_lane() < spawns; i += GPURT_WARP_SIZE) {
        struct task_mark_args one = {board, i, 0, 0};
        gpurt_task_t task = gpurt_task_spawn(run, mark, &one, i < spawns, 0);

        refused_count(board, i < spawns && !task);
    }
    if (gpurt_lane() == 0)
        gpurt_add_relaxed_sys_u32(&board->xhere, 1);
    for (uint32_t i = 0; i < PATIENT_LOOKS && ran < until; i++) {
        if (gpurt_lane() == 0) /* relaxed: a count */
            ran = gpurt_load_relaxed_dev_u32(&board->xorder);
        ran = gpurt_shfl_u32(GPURT_FULL_MASK, ran, 0);
        gpurt_pause();
    }
    gpurt_task_result(run, ran);
}

GPURT_TASK(spends, t, run)
{
    uint64_t begin = gpurt_globaltimer();
    bool due = false, goes_on = true;

    while (goes_on && !due) {
        due = t->asks && gpurt_task_due(run);
        gpurt_pause();
        goes_on = gpurt_shfl_u32(GPURT_FULL_MASK, gpurt_globaltimer() - begin < t->ns, 0);
    }
    if (t->panics && gpurt_lane() == 0)
        GPURT_PANIC("all of it is spent");
    gpurt_task_result(run, due);
}

GPURT_TASK(sleeps, t, run)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};
    struct task_sleeps_args child = {t->board, 2 * t->ns, 0, t->mark + t->left, 1, 0};
    uint32_t left = t->left;
    uint64_t ns = t->ns;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0) {         /* the child that it has spawned before has ended */
        task_mark_t *marks = t->board->marks;

        marks[mine.mark].early |= gpurt_globaltimer() < t->until;
        if (t->child && t->until)
            marks[mine.mark].early |= marks[child.mark + 1].data != child.mark + 2;
        t->until = gpurt_globaltimer() + ns;
        t->left = left - 1;
    }
    if (!left) {
        mark_run(&mine, run);
        return;
    }
    if (t->child)
        (void)gpurt_task_spawn(run, sleeps, &child, gpurt_lane() == 0, GPURT_TASK_CHILD);
    gpurt_task_sleep(run, ns);
}

GPURT_TASK(hears, t, run)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};
    uint32_t note = 0;

    GPURT_TASK_UNTIL(run, &t->naps,
                     gpurt_lane() == 5 &&
                         gpurt_try_receive(&t->desk->notes, &note) == GPURT_OK);
    mark_run(&mine, run);
    gpurt_task_result(run, gpurt_shfl_u32(GPURT_FULL_MASK, note, 5));
}

GPURT_TASK(says, t, run)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};

    while (t->note) {
        GPURT_TASK_UNTIL(run, &t->naps,
                         gpurt_lane() == 0 &&
                             gpurt_try_send(&t->desk->notes, &t->note) == GPURT_OK);
        if (gpurt_lane() == 0)
            t->note--;
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    mark_run(&mine, run);
}

/* Its block's hint of others without work. The whole warp. */
GPURT_DEV bool rouses_knows_hungry(const gpurt_task_run_t *run)
{
    uint32_t hungry =
        gpurt_load_relaxed_near_u32(&run->hall->xhungry); /* relaxed: a hint */

    return gpurt_shfl_u32(GPURT_FULL_MASK, hungry, 0) != 0;
}
GPURT_TASK(rouses, t, run)
{
    struct task_mark_args urgent = {t->board, t->mark, 0, 0};
    uint32_t *xwake = &run->map->words->xwake, before;

    for (uint32_t i = 0; i < PATIENT_LOOKS && rouses_knows_hungry(run); i++)
        (void)gpurt_task_due(run);
    if (gpurt_lane() == 0) {
        gpurt_add_relaxed_sys_u32(&t->board->xhere, 1);
        for (uint32_t seen = 0; seen < 2;)
            seen = gpurt_hostword_await(&t->board->xgate, seen);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    before = gpurt_load_relaxed_dev_u32(xwake); /* relaxed, both: a count */
    (void)gpurt_task_spawn(run, mark, &urgent, gpurt_lane() == 0, GPURT_TASK_PRIORITY(3));
    if (gpurt_lane() == 0)
        t->board->woken = gpurt_load_relaxed_dev_u32(xwake) - before;
}

/* ---- tasks of a lane --------------------------------------------------------------------- */

/* As mark_run, by one lane. */
GPURT_DEV void mark_each(const struct task_mark_args *t, gpurt_lane_run_t *lane)
{
    task_mark_t *mine = &t->board->marks[t->mark];
    bool tainted = gpurt_lane_tainted(lane);

    for (uint32_t i = 0; i < mine->before_count; i++)
        if (t->board->marks[mine->befores[i]].data != mine->befores[i] + 1 && !tainted)
            mine->early = 1;
    gpurt_add_relaxed_dev_u32(&mine->xruns, 1);
    mine->tainted = tainted;
    mine->order = gpurt_add_relaxed_dev_u32(&t->board->xorder, 1) + 1;
    if (!t->fails && !t->panics)
        mine->data = t->mark + 1;
    if (t->panics)
        GPURT_PANIC("mark %u had to", t->mark);
    if (t->fails)
        gpurt_lane_fail(lane, t->fails);
    gpurt_lane_result(lane, 100 + t->mark);
}

GPURT_TASK_LANE(each, t, lane)
{
    mark_each(t, lane);
}

GPURT_TASK_LANE(forks, t, lane)
{
    uint64_t value = t->n;

    if (t->n >= 2 && t->state == 0) {
        for (uint32_t i = 0; i < 2; i++) {
            struct task_fib_args part = {&t->of[i], t->n - 1 - i, 0, {0, 0}};

            (void)gpurt_lane_spawn(lane, forks, &part, GPURT_TASK_CHILD);
        }
        t->state = 1;
        gpurt_lane_await(lane);
        return;
    }
    if (t->n >= 2)
        value = t->of[0] + t->of[1];
    if (t->to)
        *t->to = value;
    if (gpurt_lane_tainted(lane))
        gpurt_lane_fail(lane, GPURT_E_NOMEM);
    gpurt_lane_result(lane, value);
}

GPURT_TASK_LANE(dozes, t, lane)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};
    struct task_sleeps_args child = {t->board, 2 * t->ns, 0, t->mark + t->left, 1, 0};
    task_mark_t *marks = t->board->marks;

    marks[t->mark].early |= gpurt_globaltimer() < t->until;
    if (t->child && t->until) /* the child that it has spawned before has ended */
        marks[t->mark].early |= marks[child.mark + 1].data != child.mark + 2;
    if (t->left == 0) {
        mark_each(&mine, lane);
        return;
    }
    t->until = gpurt_globaltimer() + t->ns;
    t->left--;
    if (t->child)
        (void)gpurt_lane_spawn(lane, dozes, &child, GPURT_TASK_CHILD);
    if (t->ns)
        gpurt_lane_sleep(lane, t->ns);
    else
        gpurt_lane_await(lane);
}

GPURT_TASK_LANE(meets, t, lane)
{
    uint32_t *here = &t->board->xhere, looks = 0;
    uint32_t most = t->how ? t->how : (uint32_t)PATIENT_LOOKS;

    gpurt_add_relaxed_dev_u32(here, 1);
    while (gpurt_load_relaxed_dev_u32(here) < t->count && ++looks < most)
        gpurt_relax();
    if (t->mark)
        GPURT_PANIC("all %u are here", t->count);
    gpurt_lane_result(lane, gpurt_load_relaxed_dev_u32(here) >= t->count);
}

GPURT_TASK_LANE(sows, t, lane)
{
    struct task_mark_args one = {t->board, t->first, 0, 0};
    uint32_t how = GPURT_TASK_CHILD | GPURT_TASK_HELD | t->how, spawned = 0;

    uint32_t most = t->mark && t->mark < t->count ? t->mark : t->count;

    for (; spawned < most; spawned++, one.mark++)
        if (!(one.mark % 3 ? gpurt_lane_spawn(lane, each, &one, how)
                           : gpurt_lane_spawn(lane, mark, &one, how)))
            break;
    refused_count(t->board, spawned > GPURT_LANE_SPAWNS);
    t->first += spawned;
    t->count -= spawned;
    if (t->count)
        gpurt_lane_await(lane);
}

GPURT_TASK_BLOCK(crowd, t, run)
{
    struct task_mark_args child = {t->board, t->first + gpurt_warp(), 0, 0};
    uint32_t threads = gpurt_block_barrier_count(true), second = t->soon;
    bool ran;

    gpurt_block_barrier(); /* all have read it */
    if (!second) {
        (void)gpurt_task_spawn(run, mark, &child, gpurt_lane() == 0, GPURT_TASK_CHILD);
        if (gpurt_thread_rank() == 0)
            t->soon = 1;
        gpurt_task_await(run);
        return;
    }
    ran = gpurt_block_barrier_and(t->board->marks[child.mark].data == child.mark + 1);
    if (t->fans && gpurt_warp() + 1 == gpurt_warps() && gpurt_lane() == 3)
        GPURT_PANIC("one of %u threads had to", threads);
    if (t->count)
        gpurt_task_fail(run, -(int32_t)t->count);
    gpurt_task_result(run, ran ? threads : 0);
}

GPURT_TASK(halts, t, run)
{
    if (gpurt_lane() == 3 && gpurt_task_cancel(run, t->victim))
        gpurt_add_relaxed_dev_u32(&t->board->xrefused,
                                  1); /* it has begun: that cannot be */
}

GPURT_TASK(stale, t, run)
{
    uint32_t run_before = t->soon, lane = gpurt_lane();
    struct task_mark_args one = {t->board, t->first + run_before, 0, 0};
    gpurt_task_t child;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (run_before == 2)
        return;
    child =
        gpurt_task_spawn(run, mark, &one, lane == 0, GPURT_TASK_CHILD | GPURT_TASK_HELD);
    if (lane == 0 && run_before)
        t->board->cancelled = gpurt_task_cancel(run, t->board->victim);
    if (lane == 0)
        t->board->victim = child;
    if (lane == 0)
        t->soon++;
    gpurt_task_start(run, child != 0, child);
    gpurt_task_await(run);
}

GPURT_DEV void warden_spawns(const struct task_warden_args *t, gpurt_task_run_t *run)
{
    struct task_warden_args next = *t;
    uint32_t lane = gpurt_lane(), soon = GPURT_TASK_CHILD | GPURT_TASK_PRIORITY(3);

    next.victim = t->victim ? t->victim : run->task;
    if (t->depth) {
        next.depth--;
        (void)gpurt_task_spawn(run, warden, &next, lane == 0, GPURT_TASK_CHILD);
        return;
    }
    (void)gpurt_task_spawn(run, halts, &next, lane == 0, soon);
    for (uint32_t at = 0; at < t->count; at += GPURT_WARP_SIZE) {
        struct task_mark_args one = {t->board, t->first + at + lane, 0, 0};
        bool wanted = at + lane < t->count;

        if (t->of_lanes)
            (void)gpurt_task_spawn(run, each, &one, wanted, GPURT_TASK_CHILD);
        else
            (void)gpurt_task_spawn(run, mark, &one, wanted, GPURT_TASK_CHILD);
    }
}

GPURT_TASK(warden, t, run)
{
    uint32_t state = t->state;

    if (state || gpurt_task_stopped(run)) {
        gpurt_task_result(run, gpurt_task_stopped(run));
        if (gpurt_task_stopped(run) && gpurt_lane() == 0)
            gpurt_add_relaxed_dev_u32(&t->board->xhere, 1);
        return;
    }
    warden_spawns(t, run);
    if (gpurt_lane() == 0)
        t->state = 1;
    gpurt_task_await(run);
}

GPURT_TASK(obeys, t, run)
{
    if (gpurt_task_stopped(run)) {
        gpurt_task_result(run, 1);
        return;
    }
    if (gpurt_lane() == 0 && t->state++ == 0)
        gpurt_add_relaxed_sys_u32(&t->board->xhere, 1);
    for (uint32_t i = 0; i < PATIENT_LOOKS; i++)
        if (gpurt_task_due(run)) {
            gpurt_task_await(run);
            return;
        }
}

enum {
    SLUMBER_SHORT_NS = 5000000
};
#define SLUMBER_LONG_NS (3600ull * 1000000000)

/* One lane, as its task's run begins. stopped: as that is told. Returns: how long it sleeps; 0: it ends. */
GPURT_DEV uint64_t slumber_for(struct task_slumber_args *t, bool stopped)
{
    uint64_t now = gpurt_globaltimer();

    switch (t->state++) {
    case 0:
        gpurt_add_relaxed_sys_u32(&t->board->xhere, 1);
        return SLUMBER_LONG_NS;
    case 1:
        if (!stopped)
            gpurt_add_relaxed_sys_u32(&t->board->xrefused, 1);
        t->until = now + SLUMBER_SHORT_NS;
        return SLUMBER_SHORT_NS;
    default:
        if (now < t->until)
            gpurt_add_relaxed_sys_u32(&t->board->xrefused, 1);
        return 0;
    }
}

GPURT_TASK(slumber, t, run)
{
    struct task_slumber_args child = {t->board, 0, 0, t->left - 1};
    bool spawns = t->state == 0 && t->left;
    uint64_t ns = 0;

    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        ns = slumber_for(t, gpurt_task_stopped(run));
    ns = gpurt_shfl_u64(GPURT_FULL_MASK, ns, 0);
    (void)gpurt_task_spawn(run, drowses, &child, spawns && gpurt_lane() == 0,
                           GPURT_TASK_CHILD);
    if (ns)
        gpurt_task_sleep(run, ns);
}

GPURT_TASK_LANE(drowses, t, lane)
{
    struct task_slumber_args child = {t->board, 0, 0, t->left - 1};
    bool spawns = t->state == 0 && t->left;
    uint64_t ns = slumber_for(t, gpurt_lane_stopped(lane));

    if (spawns)
        (void)gpurt_lane_spawn(lane, slumber, &child, GPURT_TASK_CHILD);
    if (ns)
        gpurt_lane_sleep(lane, ns);
}

GPURT_DEV bool flaky_panics(const struct task_mark_args *t)
{
    return gpurt_add_relaxed_dev_u32(&t->board->xhere, 1) < t->panics;
}

GPURT_TASK(flaky, t, run)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};

    if (t->fails)
        (void)gpurt_task_spawn(run, mark, &mine, gpurt_lane() == 0, GPURT_TASK_CHILD);
    if (gpurt_lane() == 5 && flaky_panics(t))
        GPURT_PANIC("mark %u is to be tried again", t->mark);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_cancel_point(); /* none goes on where another has panicked */
    mark_run(&mine, run);
}

GPURT_TASK_LANE(flakes, t, lane)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};

    if (flaky_panics(t))
        GPURT_PANIC("mark %u is to be tried again", t->mark);
    mark_each(&mine, lane);
}

GPURT_TASK_BLOCK(falters, t, run)
{
    struct task_mark_args mine = {t->board, t->mark, 0, 0};

    if (gpurt_thread_rank() == 40 && flaky_panics(t))
        GPURT_PANIC("mark %u is to be tried again", t->mark);
    gpurt_block_barrier();
    if (gpurt_warp() == 0)
        mark_run(&mine, run);
}

/* As gated: of a lane, and of a block. */
GPURT_TASK_LANE(stays, t, lane)
{
    (void)gpurt_hostword_await(&t->board->xgate, 0);
    mark_each(t, lane);
}

GPURT_TASK_BLOCK(camps, t, run)
{
    if (gpurt_thread_rank() == 0)
        (void)gpurt_hostword_await(&t->board->xgate, 0);
    gpurt_block_barrier();
    if (gpurt_warp() == 0) /* whose words count */
        mark_run(t, run);
}

GPURT_EXECUTOR(task_tests, TASK_TESTS)

GPURT_KERNEL(taskring_unread, struct taskring_args, p)
{
    const gpurt_taskring_t ring = {&p->words[0], &p->words[1], &p->words[2], p->slots, 1};
    uint32_t ticket = gpurt_taskring_first(1), me = 1u << gpurt_lane();
    uint64_t first = gpurt_taskring_full(ticket, 1, 0);

    if (gpurt_block_rank() == 1) {
        while (
            !gpurt_load_relaxed_dev_u32(p->xflag)) /* relaxed, all: words for themselves */
            gpurt_relax();
        gpurt_taskring_push(&ring, me, me, 2);
        return;
    }
    for (uint32_t i = 0; i < 2; i++)
        gpurt_taskring_push(&ring, me, me, i);
    gpurt_store_relaxed_dev_u32(p->xflag, 1);
    for (uint32_t i = 0; i < 1000 && *p->wrong == 0; i++) {
        *p->wrong = gpurt_load_relaxed_dev_u64(&p->slots[0]) != first;
        gpurt_pause();
    }
    if (*p->wrong == 0 && gpurt_taskring_read(&ring, ticket) != 0)
        *p->wrong = 1;
}

GPURT_KERNEL(tasktimed_meanwhile, struct tasktimed_args, p)
{
    gpurt_executor_map_t m;
    uint64_t claim;

    __builtin_memset(&m, 0, sizeof m);
    m.words = p->words;
    m.slots = p->slots;
    m.due = p->due;
    m.task_shift = m.edge_shift = 1;
    claim = gpurt_timed_claim(&m);
    gpurt_timed_hold(&m, 0, claim + 1000 * (uint64_t)GPURT_TIMED_CLAIM_NS);
    gpurt_timed_done(&m, claim, GPURT_DUE_NEVER, 0);
    *p->left_ns = gpurt_timed_next(&m);
}
