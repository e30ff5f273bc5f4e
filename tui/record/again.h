/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - whether a program that has ended is started again, and when.
 *
 * It is when it failed: a signal ended it, or it said so by AGAIN_STATUS, or its device code
 * panicked, faulted or hung and it ended with any status but 0. It is not when it ended
 * with 0, or with another status and nothing of that kind; nor when somebody asked for its
 * end. Each time in a row is waited for twice as long; who has lived longer than the window
 * begins anew. */
#ifndef GPURT_TUI_AGAIN_H
#define GPURT_TUI_AGAIN_H

#include <gpurt/base.h>

enum {
    AGAIN_STATUS = 75 /* EX_TEMPFAIL of sysexits.h: try again */
};
#define AGAIN_DELAY_NS  100000000ull
#define AGAIN_WINDOW_NS 60000000000ull
#define AGAIN_LIMIT_NS  30000000000ull /* no delay is longer */

/* Zeroed but for times it is ready; 0 means the defaults above. */
typedef struct again {
    uint64_t times, delay_ns, window_ns;
    uint64_t in_a_row; /* that it was started again */
} again_t;

typedef struct again_end {
    int wait_status;
    uint64_t lived_ns, panics;
    bool asked; /* its end was asked for */
} again_end_t;

/* Returns: whether to, after *wait_ns. */
bool again_is_due(again_t *a, const again_end_t *end, uint64_t *wait_ns);

/* Why it counts as a failure: a few words; NULL where it does not. */
const char *again_reason(const again_end_t *end);

#endif
