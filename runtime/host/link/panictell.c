/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "panictell.h"

#include "boxwork.h"
#include "hostthread.h"
#include "hosttime.h"
#include "panichang.h"
#include "panictext.h"
#include "plural.h"
#include "tell.h"

#include <gpurt/impl/guard.h>

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LEAST_NS = 20000000,    /* behind a launch, or a panic */
    MOST_NS = 500000000,    /* while kernels may run that nobody told us of */
    NOTHING_NS = 2000000000 /* while none can: a launch wakes the thread */
};
#define PATIENCE_NS   1000000000ull /* for a record that is being written */
#define COUNT_NS      1000000000ull /* between two counts, at first */
#define COUNT_MOST_NS 60000000000ull

/* Of an open device. Written by: start and stop, under the lock of gpurt_open; below `lock`, by
 * whoever holds it. */
typedef struct watch {
    const gpurt_boxmap_t *map; /* NULL: none is watched */
    uint32_t section;
    bool cpu; /* kernels run by gpurt's launches alone */
    pid_t pid;
    char more[GPURT_BOXPART_MORE];
    pthread_t thread;
    bool running;
    gpurt_panichang_t hang; /* of the thread alone */
    uint32_t xstop;         /* written by: stop */
    pthread_mutex_t lock;
    uint32_t seen;     /* panics that had their line, or were counted */
    uint32_t untold;   /* of them, counted and in no line yet */
    uint64_t since_ns; /* the next one's record is being written since; 0: it is not */
    uint64_t count_ns, count_pause_ns; /* when the next count may be told */
    bool trap_told;
} watch_t;

static watch_t watches[GPURT_MAX_DEVICES] = {
    {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};
GPURT_STATIC_ASSERT(GPURT_MAX_DEVICES == 8, "a lock for each");

static uint32_t xlines; /* of this process; written by: who tells */

/* ---- lines --------------------------------------------------------------------------- */

static uint32_t raised(const watch_t *w)
{
    /* relaxed: a count; each record has its own release */
    return gpurt_load_relaxed_sys_u32(&w->map->box->sections[w->section].xpanics);
}

/* Under the lock, as all below. number: of a slot. */
static void line_tell(const watch_t *w, uint32_t number, uint32_t line)
{
    char text[GPURT_PANICTEXT_BYTES];

    gpurt_panictext_put(w->map, w->section, number, text);
    if (line == 0)
        gpurt_tell_always("%s; see more: %s", text, w->more);
    else
        gpurt_tell_always("%s", text);
}

/* Whether the next panic can be told, or will not be whole any more. */
static bool is_due(watch_t *w, uint32_t slots, bool last)
{
    uint64_t now;

    if (last || w->seen >= slots || gpurt_panictext_ready(w->map, w->section, w->seen))
        return true;
    now = gpurt_steady_ns();
    if (w->since_ns == 0)
        w->since_ns = now;
    return now - w->since_ns >= PATIENCE_NS;
}

static void count_tell(watch_t *w, bool last)
{
    uint64_t now = gpurt_steady_ns();

    if (w->untold == 0 || (!last && now < w->count_ns))
        return;
    gpurt_tell_always("%u more panic%s, %u so far; see them: %s", w->untold,
                      gpurt_plural(w->untold, "s"), w->seen, w->more);
    w->untold = 0;
    w->count_ns = now + w->count_pause_ns;
    w->count_pause_ns =
        w->count_pause_ns * 2 < COUNT_MOST_NS ? w->count_pause_ns * 2 : COUNT_MOST_NS;
}

/* A kernel that was trapped behind its panic took the context with it: once, behind the line of
 * the panic. */
static void trap_tell(watch_t *w)
{
    /* relaxed: it says nothing of other words */
    uint32_t why = gpurt_load_relaxed_sys_u32(&w->map->box->sections[w->section].xtrap);

    if (why == GPURT_TRAP_NEVER || w->trap_told)
        return;
    w->trap_told = true;
    if (why == GPURT_TRAP_GROUPS)
        gpurt_tell_always(
            "that panic trapped its kernel and ended the CUDA context: in this "
            "cooperative launch the grid.sync() of cooperative groups would "
            "wait for ever for the block that is gone; use "
            "gpurt_grid_barrier(), and -DGPURT_PANIC_TRAP=0 where that is the "
            "only one");
    else if (why == GPURT_TRAP_COUNTS)
        gpurt_tell_always(
            "that panic trapped its kernel and ended the CUDA context: its file includes "
            "<cuda/barrier>, whose barriers would wait for ever for the lanes that are "
            "gone; -DGPURT_PANIC_TRAP=1 where none of them can, and the context lives");
    else
        gpurt_tell_always(
            "that panic trapped its kernel and ended the CUDA context: its file "
            "is compiled with -DGPURT_PANIC_TRAP=%u; without it the block is "
            "cancelled and the context lives",
            why);
}

static void look(watch_t *w, bool last)
{
    uint32_t slots = w->map->sections[w->section].panic_count, all = raised(w);

    while (w->seen != all && is_due(w, slots, last)) {
        uint32_t line = GPURT_PANICTELL_LINES;

        if (w->seen < slots && /* relaxed: a count */
            gpurt_load_relaxed_sys_u32(&xlines) < GPURT_PANICTELL_LINES)
            line = gpurt_add_relaxed_sys_u32(&xlines, 1);
        if (line < GPURT_PANICTELL_LINES)
            line_tell(w, w->seen, line);
        else if (w->untold++ == 0 && w->count_ns == 0)
            w->count_ns = gpurt_steady_ns() + w->count_pause_ns;
        w->since_ns = 0;
        w->seen++;
    }
    if (w->seen == raised(w))
        trap_tell(w);
    count_tell(w, last);
}

/* Of this process, not of one that forked it: a child has no such thread, and the lock may be
 * taken in it for ever. */
static bool is_ours(const watch_t *w)
{
    return w->pid == getpid();
}

/* ---- the thread ---------------------------------------------------------------------- */

/* Outside of the lock: whoever waits for it must not wait for the driver. Work of a kernel that was
 * trapped ends. */
static void hang_look(watch_t *w)
{
    gpurt_box_section_t *s = &w->map->box->sections[w->section];

    /* relaxed: counts and a fact */
    if (gpurt_load_relaxed_sys_u32(&s->xtrap) == GPURT_TRAP_NEVER)
        gpurt_panichang_look(&w->hang, gpurt_load_relaxed_sys_u32(&s->xfailed),
                             gpurt_steady_ns());
}

/* Wakes when the box's count of launches is not `work` any more, or time is over. */
static void rest(const watch_t *w, uint32_t work, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    syscall(SYS_futex, &w->map->box->xwork, FUTEX_WAIT, work, &t, NULL, 0);
}

/* Whether a kernel may run, as far as the host API knows. */
static bool is_idle(const watch_t *w, uint32_t work)
{
    /* relaxed: hints */
    return w->cpu && gpurt_load_relaxed_sys_u32(&w->map->box->xended) == work;
}

static void *watch_main(void *context)
{
    watch_t *w = context;
    gpurt_box_t *box = w->map->box;
    uint32_t work = 0, panics = 0, now;
    uint64_t pause = LEAST_NS;

    /* relaxed, here: nothing is handed over with these words */
    while (!gpurt_load_relaxed_sys_u32(&w->xstop)) {
        pthread_mutex_lock(&w->lock);
        look(w, false);
        pthread_mutex_unlock(&w->lock);
        hang_look(w);
        now = gpurt_load_relaxed_sys_u32(&box->xwork);
        if (now != work || raised(w) != panics)
            pause = LEAST_NS;
        else
            pause = pause * 2 < MOST_NS ? pause * 2 : MOST_NS;
        work = now;
        panics = raised(w);
        if (is_idle(w, work) && w->untold == 0)
            pause = NOTHING_NS;
        if (w->map->bare) /* its only reader: a launch wakes it */
            gpurt_store_relaxed_sys_u32(&box->xasleep, pause > 8 * LEAST_NS);
        if (!gpurt_load_relaxed_sys_u32(&w->xstop))
            rest(w, work, pause);
    }
    return NULL;
}

/* ---- the end of the process ---------------------------------------------------------- */

/* Kernels may run still; what they have said is told. A thread that is caught in a line gives
 * the lock back soon. */
static void tell_at_exit(void)
{
    for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++) {
        watch_t *w = &watches[i];
        struct timespec until;

        if (!is_ours(w))
            continue;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        if (pthread_mutex_timedlock(&w->lock, &until) != 0)
            continue;
        if (w->map)
            look(w, true);
        pthread_mutex_unlock(&w->lock);
    }
}

static void exit_await(void)
{
    (void)atexit(tell_at_exit); /* refused: gpurt_close tells the rest */
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_panictell_start(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                           uint32_t section, const char *more)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    watch_t *w = &watches[opened->index];

    pthread_once(&once, exit_await);
    if (!is_ours(w))
        pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_lock(&w->lock);
    w->map = map;
    w->section = section;
    w->cpu = opened->info.backend == GPURT_BACKEND_CPU;
    w->pid = getpid();
    snprintf(w->more, sizeof w->more, "%s", more);
    w->seen = w->untold = w->xstop = 0;
    w->since_ns = w->count_ns = 0;
    w->trap_told = false;
    w->count_pause_ns = COUNT_NS;
    pthread_mutex_unlock(&w->lock);
    gpurt_panichang_init(&w->hang, opened);
    w->running = gpurt_thread_start(&w->thread, watch_main, w) == 0;
}

void gpurt_panictell_stop(const gpurt_opened_t *opened)
{
    watch_t *w = &watches[opened->index];

    if (!w->map || !is_ours(w)) {
        w->map = NULL;
        return;
    }
    if (w->running) {
        gpurt_box_t *box = w->map->box;

        gpurt_store_relaxed_sys_u32(&w->xstop, 1); /* relaxed: the join orders the rest */
        /* A number that the thread has not seen: it does not go to sleep any more. */
        gpurt_add_relaxed_sys_u32(&box->xwork, 1); /* relaxed: likewise */
        gpurt_boxwork_wake(box);
        pthread_join(w->thread, NULL);
        gpurt_boxwork_ended(box, gpurt_boxwork_count(box));
        w->running = false;
    }
    pthread_mutex_lock(&w->lock);
    look(w, true);
    w->map = NULL;
    pthread_mutex_unlock(&w->lock);
}

void gpurt_panictell_forked(uint32_t index)
{
    watches[index].map = NULL;
    watches[index].running = false;
}

/* ---- those who wait ------------------------------------------------------------------ */

void gpurt_panictell_look(const gpurt_opened_t *opened)
{
    watch_t *w = &watches[opened->index];

    if (!w->map || !is_ours(w))
        return;
    pthread_mutex_lock(&w->lock);
    look(w, false);
    pthread_mutex_unlock(&w->lock);
}
