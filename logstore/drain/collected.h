/* SPDX-License-Identifier: Apache-2.0 */
/* collected.h - what rows say that the collector saw, for who keeps no model of them: how
 * many kernels, and the last word of the collector of each process about itself. */
#ifndef GPURT_LOG_COLLECTED_H
#define GPURT_LOG_COLLECTED_H

#include "dictionary.h"

/* What a collector said of itself. */
typedef struct gplog_collector_word {
    uint64_t time_ns; /* 0: it said nothing */
    uint32_t state;   /* id of a string */
    uint32_t unused;
} gplog_collector_word_t;

/* Zeroed: nothing. */
typedef struct gplog_collected {
    uint64_t kernels, graphs; /* graphs: launches of them that were told of whole */
    uint64_t words;           /* records behind `last`, of all processes */
    gplog_collector_word_t last[GPLOG_PROGRAM_OTHERS + 1]; /* by program */
} gplog_collected_t;

/* A row, and those that are like it, each of the same size. One that is too short for its
 * kind counts for nothing, as in a model. */
void gplog_collected_add(gplog_collected_t *c, const gpurt_row_t *row, uint32_t count);
void gplog_collected_join(gplog_collected_t *c, const gplog_collected_t *more);

/* How much a collector lacks, by its state: cupti/base/trouble.h makes these. */
typedef enum gplog_collector_rank {
    GPLOG_COLLECTOR_ON = 0,
    GPLOG_COLLECTOR_PART = 1, /* "on; what is missing"; or its state has no text */
    GPLOG_COLLECTOR_NONE = 2, /* no kernels */
    GPLOG_COLLECTOR_RANKS = 3
} gplog_collector_rank_t;

/* The text of a state, or "(no name)". It is not terminated. */
const char *gplog_collector_state(const gpurt_dictionary_t *d, uint32_t state,
                                  uint32_t *bytes);
gplog_collector_rank_t gplog_collector_rank(const gpurt_dictionary_t *d, uint32_t state);

#endif
