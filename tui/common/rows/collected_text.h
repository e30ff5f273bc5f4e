/* SPDX-License-Identifier: Apache-2.0 */
/* collected_text.h - what the collector saw, in the last words of a program that writes a
 * log. */
#ifndef GPURT_TUI_COLLECTED_TEXT_H
#define GPURT_TUI_COLLECTED_TEXT_H

#include "option.h"
#include "writer.h"

enum {
    COLLECTED_SUMS = 96,
    COLLECTED_LINES = 4, /* of processes, on a terminal that somebody works in */
    COLLECTED_LINE = 1280
};

/* Taken before the writer is closed, told behind it. */
typedef struct collected_text {
    char
        sums[COLLECTED_SUMS]; /* "; 12 kernels, 3 launches of graphs"; "" where no collector
                                  told of anything */
    /* Of each process whose collector was not plainly on when it spoke last, the worst
     * first. */
    char lines[COLLECTED_LINES][COLLECTED_LINE];
    uint32_t count; /* of them, with those that have no line */
    /* What records have cost the program, where that is much. */
    uint32_t cost_percent; /* 0: not much */
    uint64_t recorded;
} collected_text_t;

void collected_text_take(collected_text_t *t, gpurt_writer_t *w);
/* The lines. */
void collected_text_tell(const collected_text_t *t, const gpurt_option_program_t *program);

#endif
