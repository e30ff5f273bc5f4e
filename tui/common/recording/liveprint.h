/* SPDX-License-Identifier: Apache-2.0 */
/* liveprint.h - messages of a program as text while it runs: a sink of its box's drain. Lines
 * are as gpurt-log cat has them; each is written whole, so they mix with the program's own
 * output by lines. A row is printed a tenth of a second after it was found at the latest, and
 * what fails is left: the drain goes on. */
#ifndef GPURT_TUI_LIVEPRINT_H
#define GPURT_TUI_LIVEPRINT_H

#include "drain.h"
#include "rowprint.h"

/* Where to, for all boxes of a drainer. Owner: the program. */
typedef struct liveprint_to {
    FILE *out; /* NULL: nothing is printed */
    bool colour;
    uint32_t level; /* lowest shown; what has no level always is */
} liveprint_to_t;

/* Opens it on standard error. Returns: false without memory. */
bool liveprint_open(liveprint_to_t *to, uint32_t level);
/* Closes it; NULL in it is allowed. */
void liveprint_close(liveprint_to_t *to);

/* Of one box. Owner: the caller, as long as the drain. */
typedef struct liveprint {
    rowprint_t text;
    uint32_t level;
    gplog_file_t about;
} liveprint_t;

/* dictionary: the drain's. */
gpurt_drain_sink_t liveprint_sink(liveprint_t *p, const liveprint_to_t *to,
                                  const gpurt_boxmap_t *map,
                                  const gpurt_dictionary_t *dictionary);

#endif
