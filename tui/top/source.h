/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - where gpurt-top's view comes from. Each source has a thread or a process of
 * its own that feeds a model and publishes it in shared memory; the caller only reads
 * there, so a slow disk or a storm of records never holds a screen up.
 *
 *   source_live    the boxes of a program that we started, or of a process, one for each device
 *                  that is open: drains them, or reads what another drainer publishes
 *   source_replay  feeds a model from a log file, up to a position that the caller moves
 *
 * One thread uses a source. */
#ifndef GPURT_TUI_SOURCE_H
#define GPURT_TUI_SOURCE_H

#include "boxmap.h"
#include "gpu_capture.h"
#include "lobby.h"
#include "modelshare.h"
#include "writer.h"

typedef struct source source_t;

enum {
    SOURCE_BOXES = 64
};

/* What a source that drained leaves to whoever drains in its place: the boxes whose programs live,
 * which nobody has claimed any more, and the place where others are handed over. Owner: the
 * caller. */
typedef struct source_left {
    gpurt_lobby_t lobby;
    uint32_t count;
    gpurt_boxmap_t map[SOURCE_BOXES];
} source_left_t;

void source_left_drop(source_left_t *left);

typedef struct source_class {
    /* Copies what is new into *view. */
    void (*refresh)(source_t *s, gpurt_modelview_t *view);
    void (*seek)(source_t *s, uint64_t time_ns);      /* NULL: cannot */
    void (*play)(source_t *s, bool on, double speed); /* NULL: cannot */
    void (*next)(source_t *s);                        /* the next box; NULL: cannot */
    /* The program has ended: take what is left, then say ended. Waits for it. */
    void (*finish)(source_t *s);
    /* After finish; nothing is read or shown any more. NULL: it drains nothing of its own. */
    void (*leave)(source_t *s, source_left_t *left);
    void (*close)(source_t *s);
} source_class_t;

/* What sources have in common. Owner: whoever opened it. */
struct source {
    const source_class_t *class;
    uint32_t processes, shown; /* how many boxes there are, and which is read */
    bool ended;                /* nothing new will come */
    uint32_t coming;           /* panics that are counted, and not told yet */
    bool busy;                 /* a replay is on its way to a position */
    int news_fd;           /* readable: there is what somebody waits for; -1: not told */
    gpurt_error_t problem; /* status not 0: something to tell the user */
    gpurt_error_t log_failure; /* status not 0: why the log ends early */
};

/* What is done about failures of a program that we start. Borrowed until close. */
typedef struct source_failures {
    const gpu_capture_t *capture; /* where GPU core dumps come; NULL: nowhere */
    const char *command;          /* of panic_hook.h; NULL: none */
} source_failures_t;

/* A listener for boxes. log: what is read is written there too, until that fails, which
 * is told as a problem; NULL: it is not; borrowed.
 * *name: for GPURT_HANDOVER_ENV of the program; valid until close. */
gpurt_status_t source_live_open(const source_failures_t *failures, gpurt_writer_t *log,
                                source_t **out, const char **name, gpurt_error_t *err);

/* A process that runs: what its drainers publish, and its other boxes, drained by us when
 * nobody does and looked at otherwise. */
gpurt_status_t source_process_open(uint32_t pid, source_t **out, gpurt_error_t *err);

/* Starts at the end of the log, or at its start. What is damaged of it is a problem. path:
 * borrowed until close. */
gpurt_status_t source_replay_open(const char *path, bool at_start, source_t **out,
                                  gpurt_error_t *err);

#endif
