/* SPDX-License-Identifier: Apache-2.0 */
/* serviceown.h - what the host keeps of a service (services.h), and what other parts of the runtime
 * do with services: gpurt_sync passes them over, gpurt_close stops them.
 *
 * service.c has one service's life, servicebook.c the list of a device's. */
#ifndef GPURT_HOST_SERVICEOWN_H
#define GPURT_HOST_SERVICEOWN_H

#include "choice.h"

#include <gpurt/atomic.h>
#include <gpurt/services.h>

#include <pthread.h>

/* Owner: its handle. */
typedef struct gpurt_service_own {
    gpurt_t *rt;
    const gpurt_opened_t *opened;
    gpurt_service_t handle;
    uint32_t id;  /* counted from 1, in the process */
    void *stream; /* the back end's */
    gpurt_service_words_t *words;
    uint32_t blocks, stop_ms, share_percent; /* of the device */
    uint64_t started_ns;
    const char *kernel;
    uint32_t heaps[GPURT_SERVICE_HEAPS], heap_count; /* ids; that it declared */
    char name[GPURT_SERVICE_NAME];
    uint32_t xrings; /* with commands; written by: who gives them, under lock */
    pthread_mutex_t lock;
    uint32_t xstate; /* gpurt_service_state_t, but for STARTING; written under lock */
    /* under lock */
    uint32_t command; /* as stored in words */
    uint32_t rests;   /* who wants it at rest: servicerest.c */
    bool ended;
    gpurt_status_t status; /* how; `error` says more */
    gpurt_error_t error;
} gpurt_service_own_t;

/* Blocks by what they answered last: what they wrote before is seen. */
typedef struct gpurt_service_count {
    uint32_t coming, running, resting, left;
    uint32_t first; /* that has not left; `blocks` when all have */
} gpurt_service_count_t;

gpurt_service_count_t gpurt_service_count(const gpurt_service_own_t *s);
/* As of the last time that somebody asked whether its kernel has ended. */
gpurt_service_state_t gpurt_service_state(const gpurt_service_own_t *s,
                                          const gpurt_service_count_t *count);

/* ---- for servicerest.c ------------------------------------------------------------------ */
/* Until it is let go, it stays. Returns: NULL, it is gone. */
gpurt_service_own_t *gpurt_service_hold(const gpurt_opened_t *o, gpurt_service_t handle);
void gpurt_service_let(const gpurt_opened_t *o, const gpurt_service_own_t *s);
bool gpurt_service_has_ended(gpurt_service_own_t *s);

/* Whether all its blocks have left: none looks for work any more. */
bool gpurt_service_has_left(gpurt_t *rt, gpurt_service_t service);
/* Stores a command and rings. Under the service's lock. */
void gpurt_service_command(gpurt_service_own_t *s, uint32_t command);

/* Whether a device has services. Context: a call is inside. */
bool gpurt_services_run(const gpurt_opened_t *o);

/* ---- servicebook.c, for service.c ----------------------------------------------------- */
/* The words of a service, all 0. */
gpurt_status_t gpurt_service_words_take(const gpurt_opened_t *o,
                                        gpurt_service_words_t **out, gpurt_error_t *err);
void gpurt_service_words_give(const gpurt_opened_t *o, gpurt_service_words_t *words);

/* Holds the book of the device: whether there is room for so many of `capacity` blocks.
 * Returns: GPURT_OK with the book held, or a refusal. */
gpurt_status_t gpurt_service_book_open(const gpurt_opened_t *o,
                                       const gpurt_service_own_t *s, uint32_t capacity,
                                       gpurt_error_t *err);
/* launched: it is in the book from now on. */
void gpurt_service_book_close(const gpurt_opened_t *o, const gpurt_service_own_t *s,
                              uint32_t capacity, bool launched);
/* Those that run, in the order of their launches. Returns: how many. */
uint32_t gpurt_service_book_list(const gpurt_opened_t *o,
                                 gpurt_service_t to[GPURT_SERVICES]);
void gpurt_service_book_strike(const gpurt_opened_t *o, const gpurt_service_own_t *s);

/* ---- servicebook.c, for servicepart.c -------------------------------------------------- */
/* No service can be launched, or one can again. */
void gpurt_service_book_shut(const gpurt_opened_t *o, bool shut);
/* It is empty, as before gpurt_open. o NULL: words of ended services stay. Context: nothing runs. */
void gpurt_service_book_end(uint32_t index, const gpurt_opened_t *o);

#endif
