/* SPDX-License-Identifier: Apache-2.0 */
/* How long a drain sleeps when nothing comes.
 *
 * With nothing to do for a second and no launch under way it sleeps for long, and a launch by
 * gpurt_launch ends that through a futex. A kernel that plain CUDA launches rings no bell, but
 * its launch costs its process time on a processor: that clock is looked at every 2.5 ms,
 * which costs less than one look at all rings. When it has moved, the drain is awake for a
 * while. What is left is a kernel that has been silent for a second under a host that
 * sleeps: its next message waits for the end of the long sleep. */
#include "drainpart.h"

#include "hosttime.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REST_AFTER_NS 50000ull
#define REST_MIN_NS   20000ull
#define REST_MAX_NS   700000ull /* with the look itself and a timer's slack below 1 ms */
#define REST_SHARE    4         /* of the time that nothing came */
/* Host code alone: it waits for room, and has a millisecond of it. */
#define HOST_NS       200000ull
#define STORE_NS      50000ull /* between looks, while rows wait for the store */
#define DEEP_AFTER_NS 1000000000ull
#define DEEP_NS       20000000ull
#define DEEP_STEP_NS  2500000ull
#define AWAKE_NS      20000000ull /* after the application did something */
#define FUTEX_WAITV   449         /* of the system calls of any machine */
enum {
    FUTEX_OF_32_BITS = 2,
    BELLS = 128 /* the most that a wait takes */
};

/* Launches that have not ended, as far as the application tells. */
static bool is_working(const gpurt_drain_t *d)
{
    const gpurt_box_t *box = d->map->box;

    return gpurt_load_relaxed_sys_u32(&box->xwork) != /* relaxed: a hint */
           gpurt_load_relaxed_sys_u32(&box->xended);
}

uint64_t gpurt_drain_patience(const gpurt_drain_t *d)
{
    uint64_t quiet = d->now_ns - d->last_row_ns;

    if (d->options.spin)
        return 0;
    if (d->full || d->held || (d->urgent && d->handed))
        return STORE_NS;
    if (quiet < REST_AFTER_NS)
        return d->patient ? HOST_NS : 0;
    if (quiet >= DEEP_AFTER_NS && d->oldest_ns == 0 && d->handed == 0 && !is_working(d) &&
        d->now_ns - d->host_ns >= AWAKE_NS)
        return DEEP_NS;
    quiet /= REST_SHARE;
    return quiet < REST_MIN_NS ? REST_MIN_NS : quiet > REST_MAX_NS ? REST_MAX_NS : quiet;
}

/* Whether the application's host code ran since this was last asked: what it has had of its
 * processors has grown. Of one that is not to be seen, or that is ourselves, nobody knows. */
static bool host_ran(gpurt_drain_t *d)
{
    uint32_t pid = d->map->box->identity.pid;
    struct timespec t;
    clockid_t clock;
    uint64_t ran;
    bool grown;

    if (pid == (uint32_t)getpid() || clock_getcpuclockid((pid_t)pid, &clock) != 0 ||
        clock_gettime(clock, &t) != 0)
        return false;
    ran = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    grown = d->host_ran_ns && ran != d->host_ran_ns;
    d->host_ran_ns = ran;
    return grown;
}

/* As the kernel has it (struct futex_waitv, Linux 5.16). */
typedef struct bell {
    uint64_t value, word;
    uint32_t flags, reserved;
} bell_t;
GPURT_STATIC_ASSERT(sizeof(bell_t) == 24, "of the system call");

/* Until one of the words is changed, at most a step. Returns: whether one rang. */
static bool bells_wait(bell_t *bells, uint32_t count)
{
    struct timespec end = {0, (long)DEEP_STEP_NS};
    bool rang;

    if (count == 1)
        return syscall(SYS_futex, (uint32_t *)(uintptr_t)bells->word, FUTEX_WAIT,
                       (uint32_t)bells->value, &end, NULL, 0) == 0;
    end = gpurt_steady_in(DEEP_STEP_NS);
    rang = syscall(FUTEX_WAITV, bells, count, 0, &end, CLOCK_MONOTONIC) >= 0;
    /* Linux before 5.16, or a sandbox that does not know it */
    if (!rang && errno != ETIMEDOUT && errno != EAGAIN && errno != EINTR) {
        end = (struct timespec){0, (long)REST_MAX_NS};
        nanosleep(&end, NULL);
    }
    return rang;
}

/* Returns: whether the application did something, or is about to. Else *bell is what its next
 * launch rings. */
static bool is_up(gpurt_drain_t *d, bell_t *bell)
{
    gpurt_box_t *box = d->map->box;
    uint32_t work = gpurt_load_relaxed_sys_u32(&box->xwork); /* relaxed: a hint */

    *bell = (bell_t){work, (uint64_t)(uintptr_t)&box->xwork, FUTEX_OF_32_BITS, 0};
    if (host_ran(d)) {
        d->host_ns = gpurt_real_ns();
        return true;
    }
    return work != gpurt_load_relaxed_sys_u32(&box->xended); /* relaxed: as above */
}

static void asleep_set(gpurt_drain_t *const *drains, uint32_t count, uint32_t asleep)
{
    for (uint32_t i = 0; i < count; i++) /* relaxed: the wait is bounded */
        gpurt_xchg_relaxed_sys_u32(&drains[i]->map->box->xasleep, asleep);
}

/* Whoever launches between our look at the launches and our sleep changes the word that
 * the futex compares, or sees that we sleep. */
static void sleep_deep(gpurt_drain_t *const *drains, uint32_t count)
{
    bell_t bells[BELLS];
    bool up = false;

    asleep_set(drains, count, 1);
    for (uint64_t slept = 0; !up && slept < DEEP_NS; slept += DEEP_STEP_NS) {
        for (uint32_t i = 0; i < count; i++)
            up |= is_up(drains[i], &bells[i]);
        up = up || bells_wait(bells, count);
    }
    asleep_set(drains, count, 0);
}

void gpurt_drain_rest(gpurt_drain_t *d)
{
    uint64_t ns = gpurt_drain_patience(d);
    const struct timespec t = {0, (long)ns};

    if (ns == DEEP_NS && d->map->writable)
        sleep_deep(&d, 1);
    else if (ns == STORE_NS && d->handed)
        gpurt_scribe_wait(d->options.scribe, ns);
    else if (ns)
        nanosleep(&t, NULL);
}

void gpurt_drains_rest(gpurt_drain_t *const *drains, uint32_t count)
{
    uint64_t least = DEEP_NS;
    struct timespec t = {0, 0};

    if (count == 1) {
        gpurt_drain_rest(drains[0]);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t ns = gpurt_drain_patience(drains[i]);

        if (ns == DEEP_NS && !drains[i]->map->writable)
            ns = REST_MAX_NS; /* it cannot say that it sleeps */
        least = ns < least ? ns : least;
    }
    if (least == DEEP_NS && count > 0 && count <= BELLS) {
        sleep_deep(drains, count);
    } else if (least) {
        t.tv_nsec = (long)(least < REST_MAX_NS ? least : REST_MAX_NS);
        nanosleep(&t, NULL);
    }
}
