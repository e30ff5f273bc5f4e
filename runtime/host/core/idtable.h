/* SPDX-License-Identifier: Apache-2.0 */
/* idtable.h - device memory that its users know by an id: tables of reclamation, regions,
 * sources of arenas. An id is given once in a process, so a copy of a description whose
 * memory is gone is recognised, also where the same memory serves again.
 *
 * As in heaptable.h: a call takes a thing and drops it; a destroy retires it, so that nobody
 * new gets it, and its memory goes with whoever drops it last. Nobody waits for anybody, but one
 * who destroys what calls answer with (gpurt_id_outlast).
 * Context of all: host, any thread. */
#ifndef GPURT_HOST_IDTABLE_H
#define GPURT_HOST_IDTABLE_H

#include <gpurt/gpurt.h>

#include "choice.h"
#include "process.h"

/* All under the table's lock. */
typedef struct gpurt_id_entry {
    const void *begin; /* what a description must name besides the id; NULL: free */
    void *memory;      /* freed at its end; NULL: nothing is */
    gpurt_t *rt;       /* of one that is retired: the destroyer's */
    uint32_t id;
    uint32_t users;
    bool live; /* it can be taken */
} gpurt_id_entry_t;

/* Owner: static storage. A thing lies in entry id % count. */
typedef struct gpurt_idtable {
    gpurt_lock_t lock;
    const char *what; /* what things are called in messages: "regions: the region" */
    gpurt_id_entry_t *entries;
    uint32_t count;
    uint32_t last;    /* id; before the first: it, less one */
    uint32_t process; /* generation of who has what is in it; 0: nobody yet */
    uint32_t parent;  /* the last id from before a fork; 0: none is */
} gpurt_idtable_t;

/* Returns: its id, not 0; 0 when there is no room. */
uint32_t gpurt_id_add(gpurt_idtable_t *t, gpurt_t *rt, const void *begin, void *memory);

/* Returns: GPURT_E_HANDLE when the id does not name what begins there, GPURT_E_FORKED when it is
 * from before a fork. */
gpurt_status_t gpurt_id_take(gpurt_idtable_t *t, const char *name, uint32_t id,
                             const void *begin, gpurt_error_t *err);
/* As take, of a device that the caller has entered. Returns: GPURT_E_HANDLE of another's, too. */
gpurt_status_t gpurt_id_take_of(gpurt_idtable_t *t, const char *name,
                                const gpurt_opened_t *opened, uint32_t id,
                                const void *begin, gpurt_error_t *err);
/* Returns: what became of its memory where that went with it, else GPURT_OK. */
gpurt_status_t gpurt_id_drop(gpurt_idtable_t *t, uint32_t id);

/* Takes it, for one of several callers, and lets nobody else do so any more. Returns: as take;
 * GPURT_E_HANDLE of another device's pointer, too; GPURT_E_CLOSED. */
gpurt_status_t gpurt_id_retire(gpurt_idtable_t *t, const char *name, gpurt_t *rt,
                               uint32_t id, const void *begin, gpurt_error_t *err);
/* Of one that the caller has retired: waits for calls that took it before. */
void gpurt_id_outlast(gpurt_idtable_t *t, uint32_t id);

/* What is left of a device that closes: nobody takes it any more, and its place serves again.
 * Context: of a table whose things have no memory of their own. */
void gpurt_id_close(gpurt_idtable_t *t, uint32_t device);

#endif
