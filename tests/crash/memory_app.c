/* SPDX-License-Identifier: Apache-2.0 */
/* memory_app - a kernel that holds memory of every kind and says on standard output what it
 * holds; after a line on standard input it lets the arenas go and ends, after the second one,
 * or the end of the input, the program does. */
#include "memory_app.h"

#include <gpurt/arenas.h>
#include <gpurt/atomic.h>
#include <gpurt/heap.h>
#include <gpurt/locks.h>
#include <gpurt/reclaim.h>
#include <gpurt/regions.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

GPURT_KERNEL_DECLARE(memory_hold, struct memory_app_args);

enum {
    SLOTS = MEMORY_LANES - 4
};

static gpurt_t *rt;
static gpurt_error_t err;

static void end(void)
{
    fprintf(stderr, "memory_app: %s\n", err.text);
    exit(1);
}
#define OK(call)                \
    do {                        \
        if ((call) != GPURT_OK) \
            end();              \
    } while (0)

static void say(const char *what, uint64_t value)
{
    printf("%s %llu\n", what, (unsigned long long)value);
}

static void figures_say(const memory_figures_t *f)
{
    static const char *const levels[GPURT_PLACES] = {"thread", "warp", "block", "heap"};
    char text[32];

    say("used", f->xused);
    say("blocks", f->xblocks);
    say("large_blocks", f->xlarge);
    say("arenas", f->xarenas);
    say("pieces", f->xpieces);
    say("no_slot", f->xno_slot);
    say("refs", f->xrefs);
    for (int i = 0; i < GPURT_PLACES; i++) {
        snprintf(text, sizeof text, "got_%s", levels[i]);
        say(text, f->xgot[i]);
        snprintf(text, sizeof text, "put_%s", levels[i]);
        say(text, f->xput[i]);
    }
    say("pid", (uint64_t)getpid());
    fflush(stdout);
}

/* Locks of the device, which the log is told of. */
static void desk_begin(struct memory_app_args *args, gpurt_lock_watch_t watches[2])
{
    memory_desk_t desk;
    void *memory = NULL;

    memset(&desk, 0, sizeof desk);
    gpurt_phaser_init(&desk.phaser, 3);
    OK(gpurt_mem_create(rt, sizeof desk, &memory, &err));
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, memory, &desk, sizeof desk, &err));
    OK(gpurt_sync(rt, &err));
    args->desk = (memory_desk_t *)memory;
    OK(gpurt_lock_watch(rt, GPURT_LOCK_MUTEX, &args->desk->mutex, "door", &watches[0],
                        &err));
    OK(gpurt_lock_watch(rt, GPURT_LOCK_PHASER, &args->desk->phaser, "round", &watches[1],
                        &err));
}

static void line_wait(void)
{
    int c;

    while ((c = getchar()) != '\n' && c != EOF)
        ;
}

/* The kernel, and what it says while it runs. */
static void hold(const struct memory_app_args *args)
{
    static const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {MEMORY_LANES, 1, 1}};
    const struct timespec pause = {0, 1000000};
    memory_figures_t *f = args->figures;

    OK(gpurt_launch(rt, &launch, memory_hold, args, &err));
    while (!gpurt_load_acquire_sys_u32(&f->xready))
        nanosleep(&pause, NULL);
    figures_say(f);
    line_wait();
    gpurt_store_release_sys_u32(&f->xstop, 1);
    OK(gpurt_sync(rt, &err));
}

int main(void)
{
    gpurt_heap_options_t heap = {.bytes = 12 << 20};
    gpurt_region_options_t region = {.bytes = 128 << 10,
                                     .granule = MEMORY_GRANULE,
                                     .fit = GPURT_FIT_BEST,
                                     .name = "scratch \"1\""};
    gpurt_region_options_t large = {.bytes = 60 << 20, .granule = 16};
    struct memory_app_args args = {.figures = NULL};
    gpurt_lock_watch_t watches[2];
    gpurt_region_stats_t stats;
    void *figures = NULL;

    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_heap_create(rt, &heap, &args.heap, &err));
    OK(gpurt_region_create(rt, &region, &args.region, &err));
    OK(gpurt_region_create(rt, &large, &args.large, &err));
    OK(gpurt_arena_source_create(rt, &args.heap, SLOTS, &args.source, &err));
    OK(gpurt_arena_source_create(rt, &args.heap, 0, &args.wide, &err));
    OK(gpurt_refs_create(rt, &args.heap, NULL, &args.refs, &err));
    OK(gpurt_host_create(rt, sizeof *args.figures, &figures, &err));
    memset(figures, 0, sizeof *args.figures);
    args.figures = (memory_figures_t *)figures;
    desk_begin(&args, watches);
    hold(&args);
    OK(gpurt_region_stats(rt, &args.region, &stats, &err));
    say("bytes", stats.bytes);
    say("live_bytes", stats.live_bytes);
    say("holes", stats.holes);
    say("largest", stats.largest);
    OK(gpurt_region_stats(rt, &args.large, &stats, &err));
    say("large_bytes", stats.live_bytes);
    say("large_holes", stats.holes);
    say("large_largest", stats.largest);
    say("end", 1);
    fflush(stdout);
    line_wait();
    OK(gpurt_lock_unwatch(rt, &watches[0], &err));
    OK(gpurt_lock_unwatch(rt, &watches[1], &err));
    OK(gpurt_mem_destroy(rt, args.desk));
    OK(gpurt_refs_destroy(rt, &args.refs, &err));
    OK(gpurt_arena_source_destroy(rt, &args.source, &err));
    OK(gpurt_arena_source_destroy(rt, &args.wide, &err));
    OK(gpurt_region_destroy(rt, &args.region, &err));
    OK(gpurt_region_destroy(rt, &args.large, &err));
    OK(gpurt_heap_destroy(rt, &args.heap, &err));
    OK(gpurt_host_destroy(rt, figures));
    OK(gpurt_close(rt, &err));
    return 0;
}
