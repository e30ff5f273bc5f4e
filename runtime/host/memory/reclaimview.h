/* SPDX-License-Identifier: Apache-2.0 */
/* reclaimview.h - tables of reclamation, as the log is told of them (viewer.h): what their
 * counts and their slots say. Records and entries of single objects are not looked at. */
#ifndef GPURT_HOST_RECLAIMVIEW_H
#define GPURT_HOST_RECLAIMVIEW_H

#include "viewer.h"

#include <gpurt/impl/gcmap.h>

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

/* For viewer.c, under its lock. */
void gpurt_reclaimview_tell(gpurt_viewer_t *v, bool last);
void gpurt_reclaimview_forget(const gpurt_t *rt);

#endif
