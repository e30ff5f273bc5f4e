/* SPDX-License-Identifier: Apache-2.0 */
/* hostturn.h - a call of the host's at its end of a channel, from enter to leave: the channel stays
 * meanwhile, a wait is counted, told to who looks on, and ended by a destroy. hostchannel.c has what
 * the calls do; hostend.h is for who watches. */
#ifndef GPURT_HOST_HOSTTURN_H
#define GPURT_HOST_HOSTTURN_H

#include "choice.h"
#include "hostend.h"
#include "hostpoll.h"
#include "idtable.h"

extern gpurt_idtable_t gpurt_hostend_table;

/* Owner: its function. */
typedef struct gpurt_hostturn {
    const gpurt_hostchannel_t *c;
    const gpurt_opened_t *o;
    gpurt_hostpoll_t poll;
    gpurt_error_t *err;
    uint64_t ns;
    uint32_t reason; /* of its wait, GPURT_WAIT_* */
    uint32_t told;   /* of the wait, to who looks on */
    uint32_t waiter; /* among those whose ages are kept */
    bool waits;      /* it is counted as one that does */
} gpurt_hostturn_t;

/* The device and the channel stay until leave. reason: what a wait would wait for. */
gpurt_status_t gpurt_hostturn_enter(gpurt_hostturn_t *t, gpurt_t *rt,
                                    const gpurt_hostchannel_t *c, uint32_t reason,
                                    uint64_t ns, gpurt_error_t *err);
/* Returns: st, or what became of the device meanwhile. */
gpurt_status_t gpurt_hostturn_leave(const gpurt_hostturn_t *t, gpurt_status_t st);
/* A pass of a wait; what: it is late for. Returns: GPURT_OK, or why the wait is over. */
gpurt_status_t gpurt_hostturn_wait(gpurt_hostturn_t *t, const char *what);
/* This thread sends, or receives: kernels that wait at the other end may wait for it. Context: under
 * the end's lock. */
void gpurt_hostturn_uses(const gpurt_hostturn_t *t);

/* ---- the end ---------------------------------------------------------------------------- */
/* Before anybody looks; the name follows: GPURT_CHANNEL_NAME_BYTES. */
void gpurt_hostend_begin(const gpurt_hostchannel_t *c);
void gpurt_hostend_rename(const gpurt_hostchannel_t *c, const char *name);
void gpurt_hostend_lock(const gpurt_hostchannel_t *c);
void gpurt_hostend_unlock(const gpurt_hostchannel_t *c);
const char *gpurt_hostend_name(const gpurt_hostchannel_t *c);
/* Threads that wait are told, and leave; or it is not destroyed after all. */
gpurt_status_t gpurt_hostend_finish(const gpurt_opened_t *o, const gpurt_hostchannel_t *c,
                                    gpurt_error_t *err);
void gpurt_hostend_resume(const gpurt_hostchannel_t *c);

#endif
