/* SPDX-License-Identifier: Apache-2.0 */
/* scrub.h - the numbers of the last minutes, one moment a second, to look back at while a
 * program runs. Only what a model uses is kept: about 16 kB a moment on a large GPU. */
#ifndef GPURT_TUI_SCRUB_H
#define GPURT_TUI_SCRUB_H

#include "modelview.h"

enum {
    SCRUB_MOMENTS = 300
};

typedef struct scrub_moment scrub_moment_t;

/* Owner: the caller. Zeroed it is empty. */
typedef struct scrub {
    scrub_moment_t *moments[SCRUB_MOMENTS]; /* by count modulo the number of them */
    uint64_t count;
    uint64_t second; /* of the newest */
} scrub_t;

/* Keeps the numbers when a second has passed since the last ones. */
void scrub_keep(scrub_t *s, const gpurt_model_numbers_t *numbers);

/* Writes the numbers as they were at time_ns over those of now; the history stays.
 * Returns: false when nothing so old is kept. */
bool scrub_show(const scrub_t *s, uint64_t time_ns, gpurt_model_numbers_t *numbers);

/* Real time of the oldest moment, 0: none. */
uint64_t scrub_first_ns(const scrub_t *s);

void scrub_fini(scrub_t *s);

#endif
