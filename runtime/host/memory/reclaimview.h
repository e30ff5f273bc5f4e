/* SPDX-License-Identifier: Apache-2.0 */
/* reclaimview.h - classes of objects (watch.h): tables of reclamation, by what their counts and
 * their slots say. Records and entries of single objects are not looked at. */
#ifndef GPURT_HOST_RECLAIMVIEW_H
#define GPURT_HOST_RECLAIMVIEW_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/gcmap.h>

enum {
    GPURT_RECLAIM_REFS = 1,
    GPURT_RECLAIM_EPOCHS = 2,
    GPURT_RECLAIM_HAZARDS = 3,
    GPURT_RECLAIM_GC = 4
};

/* What is looked at; all addresses are the device's. */
typedef struct gpurt_reclaim_look {
    uint32_t what; /* GPURT_RECLAIM_* */
    uint32_t table, heap, room;
    const void *counts; /* gpurt_ref_counts_t, gpurt_reclaim_counts_t, gpurt_gc_control_t */
    const uint64_t
        *slots; /* words: of refs a bit set is a free record, of others each that is
                              not 0 is taken */
    uint32_t words;
} gpurt_reclaim_look_t;

/* It is looked at from now on, until its end. */
void gpurt_reclaimview_begin(gpurt_t *rt, const gpurt_reclaim_look_t *look);
/* That table ends: a last look, if it was looked at. Context: before its memory goes. */
void gpurt_reclaimview_end(gpurt_t *rt, uint32_t table);

#endif
