/* SPDX-License-Identifier: Apache-2.0 */
/* panic_book.h - the panics of all sources, numbered by time, and by site. */
#ifndef GPURT_TUI_PANIC_BOOK_H
#define GPURT_TUI_PANIC_BOOK_H

#include "filter_run.h"
#include "panic_source.h"
#include "render.h"

#include <stdio.h>

typedef struct panic_entry {
    panic_source_t *source;
    gpurt_row_t *row; /* heap */
    uint32_t site;    /* of the book; once all are there */
} panic_entry_t;

/* Panics with the same file, line and format, of whatever process. */
typedef struct panic_site {
    uint32_t first, last; /* of the book */
    uint64_t count;
} panic_site_t;

/* Owner: the caller. A panic's number is its place in `list` plus one. */
typedef struct panic_book {
    filter_run_t *run; /* which panics; NULL: all. Borrowed */
    panic_source_t *sources;
    uint32_t source_count;
    panic_entry_t *list; /* by time */
    uint32_t count, room;
    uint32_t left_out;   /* by `run` */
    panic_site_t *sites; /* by first panic */
    uint32_t site_count;
} panic_book_t;

/* Reads all sources, which the caller has opened. A zeroed book is empty. */
gpurt_status_t panic_book_fill(panic_book_t *book, gpurt_error_t *err);
/* Closes the sources too. */
void panic_book_fini(panic_book_t *book);

/* One panic among others. Ranks are from 1. */
typedef struct panic_crowd {
    uint32_t at_site, site_rank; /* of the same site */
    uint32_t in_block,
        block_rank; /* of the same block of the same launch, as they were raised;
                                      0: not known */
} panic_crowd_t;

void panic_book_crowd(const panic_book_t *book, uint32_t number, panic_crowd_t *out);

/* ---- output -------------------------------------------------------------------------- */
typedef struct panic_style {
    FILE *out;
    bool colour;
    uint32_t columns;   /* of a terminal; 0: lines are not cut */
    const char *folder; /* where sources are looked for too; NULL: none */
    uint32_t near;      /* records shown before a panic */
} panic_style_t;

void panic_list_print(const panic_book_t *book, const panic_style_t *style);
void panic_list_json(const panic_book_t *book, FILE *out);

/* SARIF 2.1.0. folder: sources below it get relative places; NULL: none. */
void panic_sarif(const panic_book_t *book, const char *folder, FILE *out);
/* Returns: whether b has sites that a has not, or more failures at one; -1 without memory. */
int panic_diff(const panic_book_t *a, const panic_book_t *b, bool json,
               const panic_style_t *style);
/* Prints each failure once, when it comes, until the log is closed or the program ends. book:
 * what one name stands for, not filled; its sources are opened anew meanwhile. Returns:
 * GPURT_E_TRUNCATED for a log that nobody is left to close; it has been told. */
typedef enum panic_watch {
    PANIC_WATCH_LINE,
    PANIC_WATCH_JSON,
    PANIC_WATCH_WHOLE /* as `show` does */
} panic_watch_t;
gpurt_status_t panic_watch(panic_book_t *book, uint32_t pid, panic_watch_t how,
                           const panic_style_t *style, gpurt_error_t *err);

#endif
