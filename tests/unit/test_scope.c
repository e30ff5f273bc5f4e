/* SPDX-License-Identifier: Apache-2.0 */
/* Work that fails inside a warp is put in order and done again while the warp lives on; and who
 * waits for what a cancelled block held is told so instead of waiting for ever. */
#include "../check.h"
#include "../kernels/scope_kernels.h"
#include "../must.h"

#include <gpurt/recover.h>

enum {
    WARPS = 3, /* a block */
    TASKS = SCOPE_BLOCKS * WARPS * SCOPE_TASKS,
    ROUNDS = 12
};

static gpurt_error_t err;
static gpurt_t *rt;
static struct scope_args args;
static gpurt_launch_t launch = {.grid = {SCOPE_BLOCKS, 1, 1}, .block = {32 * WARPS, 1, 1}};
static struct {
    uint64_t log[TASKS];
    int32_t status[TASKS];
    uint32_t count[TASKS];
} seen;

static void reset(void)
{
    must(gpurt_fill(rt, 0, args.log, 0, sizeof seen.log, &err));
    must(gpurt_fill(rt, 0, args.status, 0x55, sizeof seen.status, &err));
    must(gpurt_fill(rt, 0, args.count, 0, sizeof seen.count, &err));
    must(gpurt_fill(rt, 0, args.word, 0, sizeof *args.word, &err));
}

/* ends: what the wait says of the launches before. */
static void look(gpurt_status_t ends)
{
    must(gpurt_copy(rt, 0, seen.log, args.log, sizeof seen.log, &err));
    must(gpurt_copy(rt, 0, seen.status, args.status, sizeof seen.status, &err));
    must(gpurt_copy(rt, 0, seen.count, args.count, sizeof seen.count, &err));
    CHECK_EQ(gpurt_sync(rt, &err), ends);
}

/* ---- tasks --------------------------------------------------------------------------- */
static void tasks(uint32_t victim, uint32_t failures)
{
    uint32_t tries = failures < SCOPE_TRIES ? failures + 1 : SCOPE_TRIES;
    gpurt_guard_handle_t guard;
    gpurt_outcome_t out;
    uint64_t log = 0;

    for (uint32_t i = 0; i < failures && i < SCOPE_TRIES; i++)
        log = log * 100 + 21;
    args.victim = victim;
    args.failures = failures;
    reset();
    must(gpurt_launch_guarded(rt, &launch, scope_tasks, &args, NULL, &guard, &err));
    must(gpurt_guard_wait(rt, guard, &out, &err));
    must(gpurt_guard_destroy(rt, guard));
    look(GPURT_OK); /* its guard has told */
    CHECK_EQ(out.panics, (tries - (failures < SCOPE_TRIES)) * SCOPE_BLOCKS * WARPS);
    CHECK_EQ(out.failed, 0); /* no block was cancelled for it */
    for (uint32_t i = 0; i < TASKS; i++) {
        bool is_victim = i % SCOPE_TASKS == victim;

        CHECK_EQ(seen.count[i], is_victim ? tries : 1);
        CHECK_EQ(seen.log[i], is_victim ? log : 0);
        CHECK_EQ(seen.status[i],
                 is_victim && failures >= SCOPE_TRIES ? GPURT_E_PANIC : GPURT_OK);
    }
}

/* One panic too many in scopes goes further than the scopes. */
static void tasks_escalate(void)
{
    gpurt_recovery_t policy = {.escalate_after = 5};
    gpurt_guard_handle_t guard;
    gpurt_outcome_t out;

    args.victim = 2;
    args.failures = 99;
    reset();
    must(gpurt_launch_guarded(rt, &launch, scope_tasks, &args, &policy, &guard, &err));
    CHECK_EQ(gpurt_guard_wait(rt, guard, &out, &err), GPURT_E_PANIC);
    must(gpurt_guard_destroy(rt, guard));
    CHECK(out.escalated >= 1 && out.failed >= 1);
}

static void told(uint32_t limit_ns)
{
    args.rounds = limit_ns;
    reset();
    must(gpurt_launch(rt, &launch, scope_told, &args, &err));
    look(GPURT_OK);
    for (uint32_t b = 0; b < SCOPE_BLOCKS; b++) {
        CHECK_EQ(seen.status[b], limit_ns ? GPURT_E_TIMEOUT : GPURT_E_CANCELLED);
        CHECK_EQ(seen.count[b], 1);
    }
}

/* ---- objects ------------------------------------------------------------------------- */
static void objects(uint32_t kind, uint32_t victim, uint32_t at)
{
    static const char *const names[] = {"lock", "barrier", "queue"};
    bool gone = victim != SCOPE_NOBODY;
    uint32_t cancelled = 0, sum = 0;

    args.kind = kind;
    args.rounds = ROUNDS;
    args.victim = victim;
    args.at = at;
    reset();
    must(gpurt_launch(rt, &launch, scope_objects, &args, &err));
    look(gone ? GPURT_E_PANIC : GPURT_OK);
    for (uint32_t b = 0; b < SCOPE_BLOCKS; b++) {
        int32_t st = seen.status[b];

        CHECK_MSG(b == victim ? st == 0x55555555
                              : st == GPURT_OK || st == GPURT_E_CANCELLED,
                  "%s, victim %d: block %u has status %d", names[kind], (int)victim, b, st);
        cancelled += st == GPURT_E_CANCELLED;
    }
    if (kind == OBJECT_QUEUE) { /* what was sent was taken, and all learn that it is over */
        for (uint32_t i = 0; i < (gone ? at : SCOPE_ITEMS); i++)
            sum += i * 3;
        CHECK_EQ(seen.count[1], sum);
        CHECK_EQ(cancelled, SCOPE_BLOCKS - 1);
    } else if (!gone) {
        CHECK_EQ(cancelled, 0);
        CHECK_EQ(seen.count[1], kind == OBJECT_LOCK ? ROUNDS * SCOPE_BLOCKS : 0);
    } else if (kind == OBJECT_BARRIER) { /* nobody can have passed all of them */
        CHECK_EQ(cancelled, SCOPE_BLOCKS - 1);
    }
}

int main(void)
{
    void *memory[5];

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_mem_create(rt, sizeof seen.log, &memory[0], &err));
    must(gpurt_mem_create(rt, sizeof seen.status, &memory[1], &err));
    must(gpurt_mem_create(rt, sizeof seen.count, &memory[2], &err));
    must(gpurt_mem_create(rt, sizeof *args.word, &memory[3], &err));
    must(gpurt_mem_create(rt, SCOPE_ROOM * sizeof *args.data, &memory[4], &err));
    args = (struct scope_args){.log = memory[0],
                               .status = memory[1],
                               .count = memory[2],
                               .word = memory[3],
                               .data = memory[4]};
    for (uint32_t failures = 0; failures <= SCOPE_TRIES + 1; failures++)
        tasks(failures % SCOPE_TASKS, failures);
    tasks_escalate();
    told(0);
    told(1000);
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++) {
        objects(kind, SCOPE_NOBODY, 0);
        for (uint32_t at = 0; at < ROUNDS; at += 5) {
            objects(kind, kind == OBJECT_QUEUE ? 0 : 3, at);
            objects(kind, SCOPE_NOBODY, 0); /* and the next launch knows nothing of it */
        }
    }
    for (uint32_t i = 0; i < 5; i++)
        gpurt_mem_destroy(rt, memory[i]);
    must(gpurt_close(rt, &err));
    return 0;
}
