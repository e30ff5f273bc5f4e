/* SPDX-License-Identifier: Apache-2.0 */
/* task_kernels.h - tasks that say that they ran, and what they found. */
#ifndef GPURT_TESTS_TASK_KERNELS_H
#define GPURT_TESTS_TASK_KERNELS_H

#include <gpurt/channel.h>
#include <gpurt/hostcall.h>
#include <gpurt/mutex.h>
#include <gpurt/task.h>

enum {
    TASK_BEFORES = 3,     /* tasks that one of a graph waits for, at most */
    SHARER_RUNS = 400000, /* at most */
    PATIENT_LOOKS = 1 << 22
};

/* Of one task of a test. Owner: the test, which reads it when all has ended. */
typedef struct task_mark {
    uint32_t xruns; /* written by: the task */
    uint32_t early; /* it ran before one that it waits for */
    uint32_t tainted;
    uint32_t order; /* its place in the order in which tasks ran, from 1 on */
    uint32_t block; /* that ran it */
    uint32_t befores[TASK_BEFORES],
        before_count; /* of marks; written before it is submitted */
    uint32_t data;    /* a plain word for those after it */
} task_mark_t;

typedef struct task_board {
    uint32_t xorder;    /* runs so far */
    uint32_t xgate;     /* `gated` waits for it; written by: the host */
    uint32_t xhere;     /* `gated` that have begun */
    uint32_t xrefused;  /* spawns that a task of the test's was refused */
    uint32_t xblocks;   /* a bit each: those that ran the `sharer` */
    uint32_t cancelled; /* 1: `regret` came in time */
    uint32_t woken;     /* times that `rouses` woke sleeping blocks */
    gpurt_task_t victim;
    task_mark_t marks[];
} task_board_t;

struct task_mark_args {
    task_board_t *board;
    uint32_t mark;
    int32_t fails; /* a status */
    uint32_t panics;
};
/* `count` marks from `first` on, 32 at a time, by a tree of itself. mark: 0, or one whose data it
 * writes. */
struct task_fan_args {
    task_board_t *board;
    uint32_t first, count, how, mark;
    uint32_t places; /* that its marks are spread over; 0: they have none */
};
/* Marks from `first` on, each after the one before, or all after the first. soon: the first starts
 * before the others are there. */
struct task_graph_args {
    task_board_t *board;
    uint32_t first, count, fans, soon;
};
struct task_fib_args {
    uint64_t *to;
    uint32_t n, state;
    uint64_t of[2];
};

/* left: runs before it does what it is for: by then its block knows how short they are. */
struct task_left_args {
    task_board_t *board;
    uint32_t left, state;
};

GPURT_CHANNEL(task_notes, uint32_t, 4);

/* Zeroed, but for the channel. Owner: the test. */
typedef struct task_desk {
    gpurt_mutex_t mutex;
    task_notes_t notes;
} task_desk_t;

struct task_holds_args {
    task_desk_t *desk;
    uint32_t note; /* 0: it panics */
};

/* to: the host's time, which a thread of the host answers. */
struct task_asks_args {
    const gpurt_hostcalls_t *calls;
    uint64_t *to;
};

/* until: runs of the board at which it ends; how: it spawns. */
struct task_patient_args {
    task_board_t *board;
    uint32_t spawns, until, yields, state, how;
};

/* spawns, until: as of a patient one; state: runs so far. */
struct task_clings_args {
    task_board_t *board;
    uint32_t spawns, until, state;
};

/* until: its second sleep; left: of those below it. Owner: the task. */
struct task_slumber_args {
    task_board_t *board;
    uint64_t until;
    uint32_t state, left;
};

/* A body of so many nanoseconds at least. asks: until its run is due to end, or that long. panics: it
 * does, behind that. */
struct task_spends_args {
    task_board_t *board;
    uint64_t ns;
    uint32_t asks, panics;
};

/* `left` naps, whole ones of `ns`. child: before each it spawns one that naps for twice as long, whose mark is
 * behind its own. */
struct task_sleeps_args {
    task_board_t *board;
    uint64_t ns, until;
    uint32_t mark, left, child;
};

/* depth: it spawns another such, as a child; else `count` marks from `first` on, and what cancels victim, the first
 * of them all. of_lanes: the marks are tasks of a lane. state: runs so far. */
struct task_warden_args {
    task_board_t *board;
    gpurt_task_t victim;
    uint32_t first, count, depth, state, of_lanes;
};

/* Waits for a note, or sends them: from 1 to `note`. */
struct task_hears_args {
    task_board_t *board;
    task_desk_t *desk;
    uint32_t mark, note, naps;
};

/* mark: checks what it waits for. gated: the same, once the gate is open. fan: spawns marks. graph:
 * spawns them with edges. fib: children, and a second run when they have ended. yields: waits for
 * nothing, `count` times. hoard: spawns `state` sharers, which run on until two blocks have run one, or
 * `left` times. regret: a task, and behind it one that an urgent one cancels, which the first has spawned.
 * leaves: spawns a mark, and panics while an idle warp of its block is about to take that.
 * holds: one lane sends a note, or panics, while it holds the mutex and another lane receives; the
 * result is the note, and above it whether the owner before died. asks: calls the host.
 * patient: spawns marks from 1 on, and waits in its body until so many tasks ran, while it asks what
 * is due. With `yields` it then ends its run, and goes on in another. clings: sleeps, so that its block
 * looks around; then it spawns marks from 0 on, and waits in its body until so many ran, without asking anything. rouses: its block sees that no
 * other is without work, and does not look again; when the gate is 2 it spawns an urgent mark.
 * spends: takes time; its result is 1 when it was due. sleeps: naps, and then is a mark, which is early when
 * a nap was too short. hears, says: by a channel, each in its own time.
 * Tasks of a lane: each is a mark, forks is fib, dozes is sleeps, or yields. meets: waits in its body until `count` are in
 * one; its result is whether they came. With `mark` it panics then, and
 * with `how` it looks that often at most. sows: marks from `first` on, four a run, or `mark` of them, of both kinds; a fifth spawn
 * that is taken counts as refused.
 * Of a block: crowd spawns a mark in each warp, and sees in a second run that all have run; its result is how many
 * threads did. fans: one of them panics then; count: it fails with that status.
 * stale: has a mark run as a child, and then another in the same row, which it cancels by the first one's handle.
 * warden: has children, and awaits them; its result is whether it was to stop. halts: cancels one. obeys: runs until it
 * is to stop, and ends its run whenever that is due.
 * flaky, flakes, falters: marks of a warp, a lane and a block, which panic in as many runs as `panics` says, counted on the
 * board; with a status in `fails` the warp's spawns a child first.
 * slumber, drowses: of a warp and a lane, each a child of the other. They sleep for an hour, and when they are woken to
 * stop for 5 ms more; what is not as it should be counts as refused.
 * stays, camps: gated, of a lane and of a block. */
#define TASK_TESTS(TASK)                    \
    TASK(mark, struct task_mark_args)       \
    TASK(gated, struct task_mark_args)      \
    TASK(fan, struct task_fan_args)         \
    TASK(graph, struct task_graph_args)     \
    TASK(fib, struct task_fib_args)         \
    TASK(yields, struct task_fan_args)      \
    TASK(renews, struct task_fan_args)      \
    TASK(hoard, struct task_left_args)      \
    TASK(sharer, struct task_left_args)     \
    TASK(regret, struct task_left_args)     \
    TASK(leaves, struct task_mark_args)     \
    TASK(holds, struct task_holds_args)     \
    TASK(asks, struct task_asks_args)       \
    TASK(patient, struct task_patient_args) \
    TASK(clings, struct task_clings_args)   \
    TASK(rouses, struct task_mark_args)     \
    TASK(spends, struct task_spends_args)   \
    TASK(sleeps, struct task_sleeps_args)   \
    TASK(hears, struct task_hears_args)     \
    TASK(says, struct task_hears_args)      \
    TASK(each, struct task_mark_args)       \
    TASK(forks, struct task_fib_args)       \
    TASK(dozes, struct task_sleeps_args)    \
    TASK(meets, struct task_fan_args)       \
    TASK(sows, struct task_fan_args)        \
    TASK(crowd, struct task_graph_args)     \
    TASK(warden, struct task_warden_args)   \
    TASK(halts, struct task_warden_args)    \
    TASK(stale, struct task_graph_args)     \
    TASK(obeys, struct task_patient_args)   \
    TASK(slumber, struct task_slumber_args) \
    TASK(drowses, struct task_slumber_args) \
    TASK(flaky, struct task_mark_args)      \
    TASK(flakes, struct task_mark_args)     \
    TASK(falters, struct task_mark_args)    \
    TASK(stays, struct task_mark_args)      \
    TASK(camps, struct task_mark_args)

GPURT_EXECUTOR_DECLARE(task_tests, TASK_TESTS);

/* A ring of two slots, both full. Owner: the test. */
struct taskring_args {
    uint32_t *words; /* credits, head and tail */
    uint64_t *slots;
    uint32_t *xflag, *wrong;
};
/* Block 1 pushes a third number while block 0, which has a ticket, does not read the first yet. */
GPURT_KERNEL_DECLARE(taskring_unread, struct taskring_args);

/* Of an executor of two tasks. left_ns: until it looks at those that sleep again. Owner: the test. */
struct tasktimed_args {
    gpurt_executor_words_t *words;
    uint64_t *slots, *due, *left_ns;
};
/* One begins to sleep while a warp goes through those that do: none yet. */
GPURT_KERNEL_DECLARE(tasktimed_meanwhile, struct tasktimed_args);

#endif
