/* SPDX-License-Identifier: Apache-2.0 */
/* recover.h - launches that are told what a panic means, and what to do after it.
 *
 *     gpurt_recovery_t policy = {.struct_size = sizeof policy, .retries = 3};
 *     gpurt_guard_handle_t guard;
 *
 *     gpurt_launch_guarded(rt, &launch, kernel, &args, &policy, &guard, err);
 *     ...                                    // gpurt_guard_cancel(rt, guard), from any thread
 *     status = gpurt_guard_wait(rt, guard, &outcome, err);
 *     gpurt_guard_destroy(rt, guard);
 *
 * The kernel is one of GPURT_KERNEL_GUARDED (unwind.h). Its blocks must be able to run again:
 * what a block that failed has written is overwritten, or does not matter.
 *
 * Retries, fallbacks and the verdict happen in gpurt_guard_wait, or in gpurt_sync, which does it
 * for every guard nobody has waited for. Work put into the stream behind a guarded launch does
 * not wait for them. docs/UNWINDING.md tells the whole of it. */
#ifndef GPURT_RECOVER_H
#define GPURT_RECOVER_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/guard.h>

typedef uint64_t gpurt_guard_handle_t;

/* Context: the host thread that waits. Does the work of one block that failed for good.
 * Returns: GPURT_OK when it did. */
typedef gpurt_status_t (*gpurt_fallback_t)(void *context, gpurt_dim3_t block);

/* Zero means the default everywhere. */
typedef struct gpurt_recovery {
    uint32_t struct_size;        /* sizeof(gpurt_recovery_t), or 0 */
    uint32_t on_panic;           /* GPURT_ON_PANIC_*; default: the block */
    uint32_t highest;            /* to which it escalates at most; default: the kernel */
    uint32_t escalate_after;     /* so many panics: the next level; 0: never */
    uint64_t escalate_window_ns; /* ... within that time; 0: in the whole launch */
    uint32_t degrade_after;      /* so many panics: gpurt_degraded() is true; 0: never */
    uint32_t retries;            /* launches of the blocks that failed; default none */
    uint32_t backoff_us; /* before the first of them; twice as long before each next */
    const gpurt_kernel_t
        *fallback_kernel;      /* with the same arguments, for what still failed */
    gpurt_fallback_t fallback; /* for what failed there too */
    void *context;             /* of fallback */
} gpurt_recovery_t;

/* What happened. status: GPURT_OK when every block did its work in the end; GPURT_E_PANIC when
 * some did not; GPURT_E_CANCELLED when it was told to stop; or why a launch failed. */
typedef struct gpurt_outcome {
    gpurt_status_t status;
    uint32_t launches;     /* of the kernel, and of the fallback kernel */
    uint32_t panics;       /* in all of them; lanes that panic together count once */
    uint32_t nested;       /* panics in deferred handlers, besides */
    uint32_t escalated;    /* panics that went further than on_panic */
    uint32_t failed_first; /* blocks that failed, or were stopped, at first */
    uint32_t failed;       /* ... and in the end */
    uint32_t fallbacks;    /* blocks that `fallback` did */
    bool degraded;
} gpurt_outcome_t;

/* What gpurt_on_panic tells. */
typedef struct gpurt_panic_news {
    uint32_t
        recorded; /* panics in the black box so far, this runtime's, with faults and hangs of
                          the CPU back end; 0 without one */
    gpurt_guard_handle_t
        guard;       /* whose launch it was; 0: one without a guard, or not known */
    uint32_t panics; /* of that launch so far */
} gpurt_panic_news_t;
typedef void (*gpurt_on_panic_t)(void *context, const gpurt_panic_news_t *news);

GPURT_BEGIN_DECLS

/* Prefer gpurt_launch_guarded. recovery: NULL for defaults. A launch of more than 4,194,304
 * blocks is refused: a word is kept for each. */
gpurt_status_t gpurt_launch_guarded_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                           const gpurt_kernel_t *kernel, const void *args,
                                           size_t args_bytes,
                                           const gpurt_recovery_t *recovery,
                                           gpurt_guard_handle_t *out, gpurt_error_t *err);

/* Returns, and fills in: what happened. outcome may be NULL. The same answer each time. */
gpurt_status_t gpurt_guard_wait(gpurt_t *rt, gpurt_guard_handle_t guard,
                                gpurt_outcome_t *outcome, gpurt_error_t *err);

/* From any thread, while it runs or before: its blocks end at their next safe point, nothing is
 * tried again. */
gpurt_status_t gpurt_guard_cancel(gpurt_t *rt, gpurt_guard_handle_t guard);

/* What the next panic does, from now on. */
gpurt_status_t gpurt_guard_on_panic(gpurt_t *rt, gpurt_guard_handle_t guard,
                                    uint32_t on_panic);
gpurt_status_t gpurt_guard_degrade(gpurt_t *rt, gpurt_guard_handle_t guard, bool degraded);

/* Numbers of blocks that failed in the end, at most `room` of them, as gpurt_block_rank counts.
 * Returns: how many there are; before gpurt_guard_wait, 0. */
uint32_t gpurt_guard_failed(gpurt_t *rt, gpurt_guard_handle_t guard, uint32_t *blocks,
                            uint32_t room);

/* From now on `fn` is called when kernels panic, while they run: within milliseconds, several
 * panics perhaps at once, one perhaps twice (first without its guard). NULL: no more; returns
 * when no call is under way. fn runs in a thread of the runtime; it may use the runtime, but not
 * gpurt_on_panic or gpurt_close. Panics of launches without a guard are not heard of under
 * GPURT_PANICS=off without a log. Costs a thread that looks at a few words each millisecond. */
gpurt_status_t gpurt_on_panic(gpurt_t *rt, gpurt_on_panic_t fn, void *context,
                              gpurt_error_t *err);

/* Waits for its launch, and tries nothing again. 0: nothing happens. */
gpurt_status_t gpurt_guard_destroy(gpurt_t *rt, gpurt_guard_handle_t guard);

GPURT_END_DECLS

#define gpurt_launch_guarded(rt, launch, kernel, args, recovery, out, err)         \
    (gpurt_launch_from(__FILE__, __LINE__),                                        \
     gpurt_launch_guarded_kernel(rt, launch, &gpurt_kernel_##kernel,               \
                                 (1 ? (args) : (const gpurt_args_of_##kernel *)0), \
                                 sizeof *(args), recovery, out, err))

#endif
