/* SPDX-License-Identifier: Apache-2.0 */
/* filter_run.h - a filter over the rows of a log, with the count of messages that it could not
 * judge; and how a program tells that, and a wrong filter. */
#ifndef GPURT_TUI_FILTER_RUN_H
#define GPURT_TUI_FILTER_RUN_H

#include "dictionary.h"
#include "filter.h"

#include <stdio.h>

/* The grammar in short, as the help of a program has it. */
#define FILTER_HELP                                                                        \
    "Words must be in the message, in file:line, or name the level; any case. FIELD OP "   \
    "VALUE asks for a field: level, kind, category, back_end, pid, device, gpu, cpu, sm, " \
    "slot, block (5 or 1,0,2), warp, lane, thread, site (pool.c:42), file, line, func, "   \
    "kernel, name, msg. OP is = or !=; of numbers and levels also < <= > >=; of texts "    \
    "also ~ and !~, has a part. In texts * and ? stand for anything. Conditions side by "  \
    "side must all fit; or, and, not (! before it) and parentheses join them. A text "     \
    "with "                                                                                \
    "a space or with one of = < > ~ & | ( ) stands in quotes. A message that lacks a "     \
    "field fits no comparison of it. Where it has one that is not known, as the kernel "   \
    "of "                                                                                  \
    "a log line, it is left out, and a line says of how many.\n\n"                         \
    "FILTER.md in share/doc/gpurt tells all of it."

/* Owner: the caller. Zeroed nothing was seen. */
typedef struct filter_tally {
    uint64_t seen, unsure;
    uint32_t fields; /* why, a bit each */
} filter_tally_t;

void filter_tally_add(filter_tally_t *t, filter_answer_t answer, uint32_t unsure);
/* "kernel is not known for 3 of 12 messages". Returns: false where all is known. */
bool filter_tally_text(const filter_tally_t *t, char *to, size_t room);

/* Owner: the caller. */
typedef struct filter_run {
    filter_t filter;
    filter_tally_t tally;
} filter_run_t;

enum {
    FILTER_ANY_LANE = 32 /* all lanes of a row as one message, whose text is the first's */
};

/* lane: as gpurt_render_message has it, or FILTER_ANY_LANE. */
filter_answer_t filter_of_row(const filter_t *f, const gpurt_dictionary_t *d,
                              const gplog_file_t *about, const gpurt_row_t *row,
                              uint32_t lane, uint32_t *unsure);
/* The same with its tally; run: NULL lets everything through. Returns: whether it is shown. */
bool filter_run_message(filter_run_t *run, const gpurt_dictionary_t *d,
                        const gplog_file_t *about, const gpurt_row_t *row, uint32_t lane);
/* How many messages of a row are shown; of a LOSS 1 or 0. */
uint32_t filter_run_row(filter_run_t *run, const gpurt_dictionary_t *d,
                        const gplog_file_t *about, const gpurt_row_t *row);

/* The text of a wrong filter with a mark below the place. */
void filter_point(FILE *out, const char *text, const filter_error_t *err);
/* The tally, if there is something to tell. */
void filter_run_tell(const filter_run_t *run, const char *program, FILE *out);

#endif
