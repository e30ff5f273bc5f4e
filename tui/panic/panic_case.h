/* SPDX-License-Identifier: Apache-2.0 */
/* panic_case.h - all that the sources tell of one failure, gathered once. What shows it, to people
 * or to programs, reads no source. */
#ifndef GPURT_TUI_PANIC_CASE_H
#define GPURT_TUI_PANIC_CASE_H

#include "panic_brief.h"
#include "panic_chain.h"
#include "panic_excerpt.h"
#include "panic_hang.h"
#include "panic_last.h"
#include "panic_ways.h"

/* Owner: the caller; close it. Borrows the book. Never copied. */
typedef struct panic_case {
    const panic_book_t *book;
    uint32_t number; /* from 0 */
    panic_source_t *source;
    const gpurt_row_t *row;
    panic_brief_t brief;
    panic_crowd_t crowd;
    panic_near_t near[PANIC_NEAR]; /* what was recorded before it */
    panic_chain_t chain;
    panic_ways_t ways;
    panic_last_t last;
    const fault_t *fault; /* in dump; NULL: it is none, or its dump was not kept */
    panic_dump_t dump;
    bool borrowed;  /* dump is the source's */
    bool has_graph; /* who waits for whom; false: it is no hang, or that was not kept */
    gpurt_waits_t waits;
    gpurt_waitgraph_t graph;
    gpurt_error_t lost; /* why a fault has no dump, or a hang no graph */
    bool has_excerpt;
    excerpt_t excerpt;
} panic_case_t;

/* number: below book->count, from 0. style: how many records before it, where sources lie.
 * Returns: a status that is not GPURT_OK leaves nothing to close. */
gpurt_status_t panic_case_open(const panic_book_t *book, uint32_t number,
                               const panic_style_t *style, panic_case_t *out,
                               gpurt_error_t *err);
void panic_case_close(panic_case_t *c);

/* panic_show.c, panic_json.c: all of it, for people, and as docs/PANIC_JSON.md has it. */
void panic_show_print(const panic_case_t *c, const panic_style_t *style);
void panic_show_json(const panic_case_t *c, FILE *out);

#endif
