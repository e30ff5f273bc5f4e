/* SPDX-License-Identifier: Apache-2.0 */
/* panic_source.h - where panics are read from: a log file, or a black box of a program that
 * runs, has ended, or left a core dump, or the core dump of a GPU.
 *
 * A box is read through a private copy-on-write mapping whose rings are wound back, so that
 * records that a drainer has taken already are seen again, and nobody is disturbed. */
#ifndef GPURT_TUI_PANIC_SOURCE_H
#define GPURT_TUI_PANIC_SOURCE_H

#include "boxes.h"
#include "gpufault.h"
#include "panic_read.h"
#include "reader.h"

enum {
    PANIC_NEAR_MAX = 1024
};

/* What a GPU core dump adds up to. Owner: the caller. */
typedef struct panic_dump {
    gpucore_t *core;
    fault_book_t book;
    void *bytes; /* heap; NULL: the file is mapped */
} panic_dump_t;

/* Owner: the caller; close it. Exactly one of log, map and dump is in use. */
typedef struct panic_source {
    const char *name;         /* borrowed; as the user named it */
    gpurt_log_t *log;         /* NULL: a box */
    gpurt_boxmap_t map;       /* private */
    panic_dump_t dump;        /* of a GPU core dump */
    gpurt_dictionary_t sites; /* of a box or dump */
    gplog_file_t about;
    bool alive;           /* the box's program runs */
    uint64_t left_out;    /* panics of a box that found no slot or were not finished */
    uint64_t torn_frames; /* of a log */
    char
        damage[GPURT_DAMAGE_TEXT]; /* what is wrong with a log; "": nothing that was seen */
} panic_source_t;

enum {
    PANIC_SOURCES = GPURT_BOXES_MAX /* that one name may stand for */
};

/* A process, or its core dump, is a source for each of its boxes, the oldest first. *count: as
 * many as were opened; what could not be is told by the status, also where others were. */
gpurt_status_t panic_source_open(const char *path, panic_source_t out[PANIC_SOURCES],
                                 uint32_t *count, gpurt_error_t *err);
gpurt_status_t panic_source_open_pid(uint32_t pid, const char *name,
                                     panic_source_t out[PANIC_SOURCES], uint32_t *count,
                                     gpurt_error_t *err);
void panic_source_close(panic_source_t *source); /* a zeroed one is allowed */

const gpurt_dictionary_t *panic_source_sites(const panic_source_t *source);

/* A row is borrowed for the call. Returns: whether to go on. */
typedef bool panic_row_fn(void *context, const gpurt_row_t *row);

/* All panics, in no order. */
gpurt_status_t panic_source_panics(panic_source_t *source, panic_row_fn *take,
                                   void *context, gpurt_error_t *err);

/* The last rows before a panic, by time. Owner: the caller. */
typedef struct panic_near {
    gpurt_row_t **rows; /* heap, with their words */
    uint64_t *order;    /* of rows of one time */
    uint32_t count, room;
} panic_near_t;

/* Whose rows they are. A warp's are also its block's, and those are also its SM's, unless
 * those of others leave no room for them. */
enum {
    PANIC_OF_WARP,
    PANIC_OF_BLOCK,
    PANIC_OF_SM,
    PANIC_NEAR
};

/* Fills the lists, up to `room` rows each. */
gpurt_status_t panic_source_near(panic_source_t *source, const gpurt_row_t *panic,
                                 uint32_t room, panic_near_t near[PANIC_NEAR],
                                 gpurt_error_t *err);
void panic_near_fini(panic_near_t *near);

/* A copy of a row with its words; NULL without memory. */
gpurt_row_t *panic_row_copy(const gpurt_row_t *row);

/* panic_dump.c: opens a GPU core dump as a source. */
gpurt_status_t panic_dump_source(const char *path, panic_source_t *out, gpurt_error_t *err);
/* A row for each of its faults. */
gpurt_status_t panic_dump_each(panic_source_t *source, panic_row_fn *take, void *context,
                               gpurt_error_t *err);
/* The dump that a fault's row belongs to, and which of its faults it is. *borrowed: it is
 * the source's; else close it. */
gpurt_status_t panic_dump_of(panic_source_t *source, const panic_facts_t *f,
                             panic_dump_t *out, const fault_t **fault, bool *borrowed,
                             gpurt_error_t *err);
void panic_dump_close(panic_dump_t *dump);

/* panic_box.c: makes the map private and winds it back. */
gpurt_status_t panic_box_prepare(panic_source_t *source, gpurt_error_t *err);
/* Every row that a box still holds. */
gpurt_status_t panic_box_each(panic_source_t *source, panic_row_fn *take, void *context,
                              gpurt_error_t *err);

#endif
