/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - the devices that the process has open, and who is inside.
 *
 * Everything lies in static storage that is never freed. A gpurt_t is an address out of
 * a fixed array and is compared, never followed, so a call on a closed runtime, or on a
 * pointer that never was one, is told so and touches nothing. Each gpurt_open gives the
 * next address; after 512 of one place the oldest serves again.
 *
 * In a forked child nobody is inside, and nobody enters by a pointer from before the fork. The
 * first gpurt_open or gpurt_close there lets go what the parent had open (open.c).
 *
 * Calls enter and leave; gpurt_close refuses new ones, waits until those inside have
 * left, and only then takes the back end apart. */
#ifndef GPURT_HOST_LIFE_H
#define GPURT_HOST_LIFE_H

#include "choice.h"
#include "handle.h"
#include "process.h"

/* Until leave, *opened stays open. Lock-free. Returns: GPURT_E_CLOSED, GPURT_E_FORKED, or
 * GPURT_E_INVALID for a pointer that gpurt_open never gave. */
gpurt_status_t gpurt_life_enter(const gpurt_t *rt, const gpurt_opened_t **opened,
                                gpurt_error_t *err);

/* Returns: status, so that a call can end in this. Lock-free unless a close waits. */
gpurt_status_t gpurt_life_leave(const gpurt_opened_t *opened, gpurt_status_t status);

/* Enters and leaves: whether it is open, in the words that any call says it in. */
gpurt_status_t gpurt_life_check(const gpurt_t *rt, gpurt_error_t *err);

/* Its index, or, of what never was one, any. */
uint32_t gpurt_life_index(const gpurt_t *rt);

/* Whether gpurt_open gave it before this process was forked. */
bool gpurt_life_is_forked(const gpurt_t *rt);

/* Why a call with it is refused. */
gpurt_status_t gpurt_life_refuse(const gpurt_t *rt, gpurt_error_t *err);

/* ---- for open.c and choice.c: all of it under the lock -------------------------------- */

/* What an open device has, by its index. Written while nobody is inside. */
typedef struct gpurt_place {
    gpurt_opened_t opened;
    uint32_t next_token;
    bool is_open;
    bool changes; /* it is being opened or closed */
} GPURT_ALIGN(64) gpurt_place_t;

/* One opens or closes at a time, so an open waits for a close to end. */
void gpurt_life_lock(void);
void gpurt_life_unlock(void);

gpurt_place_t *gpurt_life_place(uint32_t index);

/* An index that is free. GPURT_MAX_DEVICES: all are taken. */
uint32_t gpurt_life_vacant(void);

/* Who has that device open already, or NULL. */
const gpurt_opened_t *gpurt_life_find(gpurt_backend_t backend, int32_t device);

/* From now on calls enter. Returns: what they enter by. */
gpurt_t *gpurt_life_let_in(uint32_t index);

/* From now on none enters; waits until all have left. Returns: false, it was not open. */
bool gpurt_life_shut(const gpurt_t *rt);

/* In a forked child: nobody is inside; and a pointer of the parent's has been closed. */
void gpurt_life_forked(void);
void gpurt_life_forked_close(const gpurt_t *rt);

#endif
