/* SPDX-License-Identifier: Apache-2.0 */
/* linewrite.h - samples of warps become records of kind LINE: counted by line (linecount.h), written
 * a second at a time with the names that they need. */
#ifndef GPURT_CUPTI_LINEWRITE_H
#define GPURT_CUPTI_LINEWRITE_H

#include "pcsampler.h"

#include <stdbool.h>

/* Again and again, by one thread at a time, and before all others. Returns: false without memory. */
bool linewrite_open(void);

/* Context: any thread. */
void linewrite_add(uint32_t device, const pcsample_t *sample);

/* Writes what is due; the first samples are at once, and so is what is left at the last look.
 * Returns: so many nanoseconds are over with it; 0: it was not due. Context: the writer's thread. */
uint64_t linewrite_look(bool last);

/* Whether something was written. Context: the same thread. */
bool linewrite_begun(void);

#endif
