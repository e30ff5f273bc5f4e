/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - what source_live.c and live_box.c share: the boxes that gpurt-top looks at while
 * they are written. A program has a box for each device that each of its processes has open. */
#ifndef GPURT_TUI_LIVE_H
#define GPURT_TUI_LIVE_H

#include "hang_watch.h"
#include "lobby.h"
#include "panic_hook.h"
#include "source.h"

#include <pthread.h>

enum {
    LIVE_BOXES = SOURCE_BOXES
};

typedef struct live live_t;

/* Written by the drain thread alone, save `reader`. */
typedef struct live_box {
    live_t *live;
    gpurt_boxmap_t map; /* box NULL: another process drains it, and shows what comes */
    uint64_t made_ns;
    gplog_numbers_t numbers; /* in the log */
    gpurt_drain_t *drain;    /* NULL: it has ended, or was never there */
    gpurt_dictionary_t dictionary;
    bool dumped;  /* its process left a GPU core dump */
    bool sampled; /* it has lines, and that was told */
    panic_tap_t tap;
    gpurt_model_t *model;
    gpurt_modelshare_t *share;  /* the writer's end; an end of the other process's */
    gpurt_modelshare_t *reader; /* the screen's end; the screen's when the box is counted */
    hang_watch_t watch;
} live_box_t;

/* Owner: whoever opened it. Shared with: the drain thread. */
struct live {
    source_t source;
    pthread_t thread;
    bool started;
    gpurt_lobby_t lobby; /* closed: boxes of a process that runs */
    uint32_t pid;        /* that process */
    gpurt_writer_t *log; /* NULL: nothing is recorded */
    bool log_failed;
    source_failures_t failures;
    panic_hook_t hook; /* of the drain thread */
    uint64_t found_ns; /* when it last looked for boxes of the process */
    live_box_t box[LIVE_BOXES];
    pthread_mutex_t lock; /* guards the fields below */
    uint32_t count;       /* boxes that can be looked at; grows */
    bool stop, done;
    bool over; /* nothing comes from the process any more */
    gpurt_error_t problem, log_failure;
};

/* Context: of all below, the drain thread, or before it starts. */

void live_problem(live_t *l, const gpurt_error_t *err);

/* Begins to drain, or where the map is read-only to look at, one->map; all is released on
 * failure. one: the next that is not counted. */
gpurt_status_t live_box_start(live_t *l, live_box_t *one, gpurt_error_t *err);
/* What another process shows becomes the next box; share is given away. */
void live_box_show(live_t *l, gpurt_modelshare_t *share);
/* Shows what there is, ten times a second, and the first lines of its kernels at once. */
void live_box_tick(live_t *l, live_box_t *one);
/* Takes what is left, and shows the end. */
void live_box_end(live_t *l, live_box_t *one);
void live_box_fini(live_box_t *one); /* a zeroed one is allowed */

/* A deadlock becomes a panic of the model, and of the log if there is one. */
void live_hang_take(live_t *l, live_box_t *one, gpurt_waitgraph_t *g);

#endif
