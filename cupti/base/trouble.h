/* SPDX-License-Identifier: Apache-2.0 */
/* trouble.h - what is not as it was asked for, in sentences for people. Each is a warning
 * once; what lasts is part of the collector's state, the worst first, until it ends. None
 * takes another's place, and one that comes before there is a log waits for it.
 *
 * Any thread of the collector says, one tells. Threads of the program that are inside CUPTI
 * never come here: it locks. */
#ifndef GPURT_CUPTI_TROUBLE_H
#define GPURT_CUPTI_TROUBLE_H

#include <gpurt/status.h>

enum {
    TROUBLE_TEXT = GPURT_ERROR_TEXT + 64,
    TROUBLE_STATE = 2 * TROUBLE_TEXT,
    TROUBLES = 48 /* each kind of record, each GPU, and what there is besides */
};

typedef enum trouble_rank {
    TROUBLE_NOTE, /* a warning alone */
    TROUBLE_PART, /* something is missing, and the rest goes on */
    TROUBLE_WHOLE /* no kernels are recorded */
} trouble_rank_t;

/* Says nothing twice that waits or lasts. */
void trouble_say(trouble_rank_t rank, const char *format, ...) GPURT_PRINTF(2, 3);

/* A note, whose text may differ the next time; then it is not said again. *told: false at
 * first, and trouble's own. */
void trouble_once(bool *told, const char *format, ...) GPURT_PRINTF(2, 3);

/* One that lasted does so no more. */
void trouble_end(const char *text);

/* Whether any waits to be told, or the state has changed. */
bool trouble_waits(void);

/* Warnings that were not given yet. Returns: whether the state has changed since the last
 * time. Context: between outlet_enter and exit. */
bool trouble_tell(uint64_t now_ns);

/* "on", "on; what is missing", or why there is nothing. */
void trouble_state(char text[TROUBLE_STATE]);

#endif
