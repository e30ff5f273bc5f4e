/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h - who launched: the calls of host code and, where the thread runs Python, its frames, of
 * so many launches of a thread each second, the first ones of a burst (callers_pace_t). So a thread
 * that launches all the time pays little for each launch, and one that launches seldom, whose
 * kernels are the long ones, has all of them. A stack takes as long as several launches.
 *
 * Stacks are numbered; each has one text, which stays. Nothing is allocated: the room is fixed. */
#ifndef GPURT_CUPTI_CALLERS_H
#define GPURT_CUPTI_CALLERS_H

#include "cupti_api.h"

/* Who takes stacks: each has its own pace. */
typedef enum callers_pace {
    CALLERS_SELDOM, /* 50 a second: what runs */
    CALLERS_OFTEN,  /* 1,000 a second, and one in 16: launches that are all recorded */
    CALLERS_PACES
} callers_pace_t;
enum {
    CALLERS_SAVED = 8 /* of a second's, at most, for a burst */
};

/* One stack as it is told. Texts stay as long as the process. */
typedef struct callers_text {
    const char *calls;  /* "app+0x12 < ..."; NULL: not known */
    const char *python; /* "train.py:9 step < ..."; NULL: not known */
    uint32_t whose;     /* GPURT_PYTHON_*, of python */
} callers_text_t;

/* Looks for CPython, and says where it is one whose frames are not read. Again where there was none
 * before: it may come later. Context: a thread that may wait for the loader. */
void callers_begin(const cupti_api_t *api);
void callers_look(void);

/* Whether it is the turn of this launch of the calling thread. */
bool callers_turn(callers_pace_t pace, uint64_t now_ns);

/* The stack of the calling thread; native: with the calls of host code. Returns: its number, 0:
 * nothing is known, or there is no room for more. */
uint32_t callers_take(bool native);

/* Python frames in which another thread stands now, by its pthread_self. Returns: likewise. */
uint32_t callers_of(uint64_t thread);

/* By its number; of 0 nothing. Asks the loader for modules, where a stack is told the first time.
 * Context: one thread; or of stacks without calls of host code any. */
void callers_tell(uint32_t number, callers_text_t *out);

#endif
