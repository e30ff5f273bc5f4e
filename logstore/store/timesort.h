/* SPDX-License-Identifier: Apache-2.0 */
/* timesort.h - rows in order of time, for the drain and for readers. */
#ifndef GPURT_TIMESORT_H
#define GPURT_TIMESORT_H

#include <stdint.h>

typedef struct gpurt_timed {
    uint64_t time_ns;
    uint32_t offset; /* of the row in its buffer */
} gpurt_timed_t;

/* Equal times stay in order. spare: room for count. */
void gpurt_timesort(gpurt_timed_t *entries, gpurt_timed_t *spare, uint32_t count);

#endif
