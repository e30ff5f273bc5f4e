/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim.h - the host's side of reference counts, epochs and hazard pointers: make their
 * tables, look into them, clear up after warps that ended without leaving.
 *
 *     gpurt_epochs_t epochs;
 *     gpurt_epochs_create(rt, &heap, NULL, &epochs, &err);
 *     struct args a = {.heap = heap, .epochs = epochs};     kernels: epoch.h
 *     ...
 *     gpurt_epochs_sweep(rt, &epochs, &err);                 after gpurt_sync
 *     gpurt_epochs_destroy(rt, &epochs, &err);
 *
 * Objects are those of an ordinary heap, which must outlive the table: destroy tables first.
 * Where the heap went before them, sweeps say GPURT_E_HANDLE. A description may be copied
 * freely; one whose table was destroyed is recognised: GPURT_E_HANDLE. A destroy that is
 * refused, such as with the pointer of another device, leaves table and description alone.
 * Context of all calls: host, any thread. */
#ifndef GPURT_RECLAIM_H
#define GPURT_RECLAIM_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/reclaimmap.h>

enum {
    GPURT_RECLAIM_TABLES = 128 /* at a time in a process */
};

/* ---- reference counts ---------------------------------------------------------------- */

typedef struct gpurt_refs_options {
    uint32_t struct_size; /* sizeof(gpurt_refs_options_t), or 0: lets the library grow it */
    uint32_t records;     /* objects at a time; default 65,536, at most 16 M */
} gpurt_refs_options_t;

typedef struct gpurt_refs_stats {
    uint64_t live;       /* objects */
    uint64_t references; /* to all of them */
    uint64_t live_bytes; /* as they were asked for */
    uint64_t records;    /* of the table */
    gpurt_ref_counts_t counts;
} gpurt_refs_stats_t;

/* A live object. */
typedef struct gpurt_ref_info {
    gpurt_ref_t ref;
    void *object;
    uint64_t size;
    uint32_t references, generation, record, flags, heap;
} gpurt_ref_info_t;

/* Returns: false to stop. */
typedef bool (*gpurt_ref_visit_fn)(void *context, const gpurt_ref_info_t *info);

/* ---- deferred frees ------------------------------------------------------------------ */

typedef struct gpurt_epochs_options {
    uint32_t struct_size;
    uint32_t slots; /* sections at a time; default one for each warp that can be resident */
    uint32_t limbo; /* objects that wait in a slot, a power of two; default 128 */
} gpurt_epochs_options_t;

typedef struct gpurt_hazards_options {
    uint32_t struct_size;
    uint32_t slots;   /* warps at a time; default one for each that can be resident */
    uint32_t each;    /* pointers of a lane, at most 8; default 2 */
    uint32_t retired; /* objects that wait in a slot; default 128 */
} gpurt_hazards_options_t;

typedef struct gpurt_reclaim_stats {
    uint64_t retired, freed; /* objects */
    uint64_t waiting;        /* of them not freed yet */
    uint64_t lost;    /* a lane was cancelled while it freed them: neither freed nor kept */
    uint64_t refused; /* answers GPURT_RETIRE_FULL */
    uint64_t no_slot; /* sections that found none */
    uint64_t abandoned; /* slots that a sweep took back */
    uint64_t wrong; /* calls with a slot that is not the caller's, a pointer that is none */
    uint32_t slots, open;
    uint32_t epoch;        /* hazards: 0 */
    uint32_t named;        /* hazard pointers that are set */
    uint32_t oldest_block; /* of the open section that the epoch waits for longest */
} gpurt_reclaim_stats_t;

GPURT_BEGIN_DECLS

/* options: NULL for defaults. */
gpurt_status_t gpurt_refs_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                 const gpurt_refs_options_t *options, gpurt_refs_t *out,
                                 gpurt_error_t *err);
/* Its objects stay in the heap. Context: no kernel uses it. NULL and zeros: nothing. */
gpurt_status_t gpurt_refs_destroy(gpurt_t *rt, gpurt_refs_t *refs, gpurt_error_t *err);
/* While kernels run, a snapshot whose parts may differ by what they did meanwhile. */
gpurt_status_t gpurt_refs_stats(gpurt_t *rt, const gpurt_refs_t *refs,
                                gpurt_refs_stats_t *out, gpurt_error_t *err);
/* Calls visit for every live object, by record: what is here at the end has leaked. */
gpurt_status_t gpurt_refs_walk(gpurt_t *rt, const gpurt_refs_t *refs,
                               gpurt_ref_visit_fn visit, void *context, gpurt_error_t *err);

gpurt_status_t gpurt_epochs_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                   const gpurt_epochs_options_t *options,
                                   gpurt_epochs_t *out, gpurt_error_t *err);
gpurt_status_t gpurt_hazards_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                    const gpurt_hazards_options_t *options,
                                    gpurt_hazards_t *out, gpurt_error_t *err);

/* What waits in it stays in the heap, so sweep before. Context: no kernel uses it. */
gpurt_status_t gpurt_epochs_destroy(gpurt_t *rt, gpurt_epochs_t *e, gpurt_error_t *err);
gpurt_status_t gpurt_hazards_destroy(gpurt_t *rt, gpurt_hazards_t *h, gpurt_error_t *err);

/* Frees all that waits, and takes back slots of warps that ended without leaving. Waits for
 * the default stream. Context: no kernel uses the table. */
gpurt_status_t gpurt_epochs_sweep(gpurt_t *rt, const gpurt_epochs_t *e, gpurt_error_t *err);
gpurt_status_t gpurt_hazards_sweep(gpurt_t *rt, const gpurt_hazards_t *h,
                                   gpurt_error_t *err);

gpurt_status_t gpurt_epochs_stats(gpurt_t *rt, const gpurt_epochs_t *e,
                                  gpurt_reclaim_stats_t *out, gpurt_error_t *err);
gpurt_status_t gpurt_hazards_stats(gpurt_t *rt, const gpurt_hazards_t *h,
                                   gpurt_reclaim_stats_t *out, gpurt_error_t *err);

GPURT_END_DECLS

#endif
