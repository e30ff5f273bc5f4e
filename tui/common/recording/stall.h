/* SPDX-License-Identifier: Apache-2.0 */
/* stall.h - notices that a program's device code has stopped recording, and tells the last
 * record of each SM: where somebody stands alone is where to look.
 *
 * Silence is not a hang: code that logs nothing for so long looks the same from here. What
 * host code records breaks no silence, be it a gauge of each second; that a kernel, a graph or
 * a copy has ended does. One thread uses it. */
#ifndef GPURT_TUI_STALL_H
#define GPURT_TUI_STALL_H

#include "drain.h"

#include <stdio.h>

enum {
    STALL_SMS = 1024, /* a section; others are not told of */
    STALL_WORDS = 24, /* of a record; enough for nearly all, longer ones are cut */
    STALL_LINES = 12
};

typedef struct stall_row {
    gpurt_row_t row;
    uint32_t words[STALL_WORDS];
} stall_row_t;

/* Owner: the caller. Zeroed it does nothing. */
typedef struct stall {
    uint64_t limit_ns;               /* 0: off */
    uint64_t last_ns;                /* of the last record; monotonic, 0: none yet */
    uint32_t silences;               /* that were too long */
    bool told;                       /* of this silence */
    const gpurt_dictionary_t *sites; /* borrowed */
    stall_row_t *rows[GPURT_BOX_SECTIONS][STALL_SMS]; /* heap; the last of each SM */
} stall_t;

void stall_init(stall_t *s, uint64_t limit_ns, const gpurt_dictionary_t *sites);
gpurt_drain_sink_t stall_sink(stall_t *s);
void stall_fini(stall_t *s);

/* now_ns: of the steady clock. Returns: whether the silence has just become too long, and somebody has recorded before.
 * Who waits is asked for in code that records nothing, too (stall_silence). */
bool stall_check(stall_t *s, uint64_t now_ns);

/* Whether device code records: then its silence tells of a hang, and a kernel that does not end is
 * none. */
bool stall_is_of_records(const stall_t *s);

/* Returns: number of the silence that is too long and lasts, from 1; 0: there is none. */
uint32_t stall_silence(const stall_t *s);

/* A line for each site that was the last one of some SM, the rarest first. name: of the
 * program that says so. */
void stall_print(const stall_t *s, const char *name, FILE *out);

#endif
