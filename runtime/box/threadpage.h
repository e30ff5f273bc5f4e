/* SPDX-License-Identifier: Apache-2.0 */
/* threadpage.h - threads of the host in the state pages of the host's section: which of them wait at
 * an object that lanes know, and which were seen to use it. Lanes tell the same in the state pages of
 * their device (state.h).
 *
 * A wait is an entry (waitentry.h). A user is one group.
 * Nothing here is ever waited for. What is full takes no more: then a wait is not told. */
#ifndef GPURT_THREADPAGE_H
#define GPURT_THREADPAGE_H

#include "waitentry.h"

enum {
    GPURT_THREADPAGE_WAITS = 64,   /* threads that wait at once */
    GPURT_THREADPAGE_USERS = 1024, /* places; whose is whose is the writer's */
    GPURT_THREAD_NAME = 16,
    GPURT_THREADWAIT_OBJECT = 48
};

/* A wait. Texts are cut, and terminated. */
typedef struct gpurt_threadwait {
    uint32_t since[2]; /* real time, low half first */
    uint32_t thread;   /* as the kernel counts */
    uint32_t key;      /* gpurt_waitable_key of what it waits at */
    uint8_t section;   /* of the lanes that know it */
    uint8_t kind;      /* GPURT_WAITABLE_* */
    uint8_t reason;    /* GPURT_WAIT_* */
    uint8_t limited;   /* it ends by itself */
    char name[GPURT_THREAD_NAME];
    char object[GPURT_THREADWAIT_OBJECT]; /* its name */
} gpurt_threadwait_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_threadwait_t) == GPURT_WAITENTRY_BYTES,
                    "what an entry holds");

/* Who sends or receives at an object, or serves it. */
typedef struct gpurt_threaduser {
    uint32_t key, thread;
    uint32_t section, role; /* GPURT_HOLD_* */
    uint64_t since_ns;      /* in steps of 2^16 ns, below 2^48 */
} gpurt_threaduser_t;

typedef struct gpurt_threadpage {
    gpurt_waitentry_t waits[GPURT_THREADPAGE_WAITS];
    gpurt_group_t xusers[GPURT_THREADPAGE_USERS]; /* written by: who has the place */
} gpurt_threadpage_t;

/* ---- the application's; any thread ------------------------------------------------------ */
/* Returns: the entry, from 1; 0: there is no room. */
uint32_t gpurt_threadpage_begin(gpurt_threadpage_t *page, const gpurt_threadwait_t *wait);
void gpurt_threadpage_end(gpurt_threadpage_t *page, uint32_t entry); /* 0: nothing */
/* Context: one thread at a time for a place. user->key 0: nobody. */
void gpurt_threadpage_use(gpurt_threadpage_t *page, uint32_t place,
                          const gpurt_threaduser_t *user);

/* ---- a reader's; index must be below its count ------------------------------------------ */
/* Returns: false, nobody waits there. */
bool gpurt_threadpage_wait(const gpurt_threadpage_t *page, uint32_t index,
                           gpurt_threadwait_t *out);
bool gpurt_threadpage_user(const gpurt_threadpage_t *page, uint32_t place,
                           gpurt_threaduser_t *out);

#endif
