/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that holds memory of every kind and a lock, counts what it holds, and waits. */
#ifndef GPURT_TESTS_MEMORY_APP_H
#define GPURT_TESTS_MEMORY_APP_H

#include <gpurt/arena.h>
#include <gpurt/impl/reclaimmap.h>
#include <gpurt/impl/regionmap.h>
#include <gpurt/kernel.h>
#include <gpurt/mutex.h>
#include <gpurt/phaser.h>

enum {
    MEMORY_LANES = 64,
    MEMORY_GRANULE = 256,
    MEMORY_PIECE = 1024,
    MEMORY_OBJECTS = 20,  /* of an arena, 100 bytes each: three pieces */
    MEMORY_ROUNDS = 30,   /* of the pools */
    MEMORY_LARGE = 700000 /* bytes of a block */
};

/* What the kernel knows. Written by: lanes, with atomics; read by the host. */
typedef struct memory_figures {
    uint32_t xready, xstop; /* xstop: written by the host */
    uint32_t xbeat;         /* the kernel is alive: a wait that writes is no livelock */
    uint32_t xused, xblocks, xlarge;
    uint32_t xarenas, xpieces, xno_slot;
    uint32_t xrefs;
    uint32_t xgot[GPURT_PLACES], xput[GPURT_PLACES];
} memory_figures_t;

/* In memory of the device. */
typedef struct memory_desk {
    gpurt_mutex_t mutex; /* a lane holds it */
    gpurt_phaser_t phaser;
} memory_desk_t;

struct memory_app_args {
    gpurt_heap_t heap;
    gpurt_region_t region, large;      /* large: more than is copied at a time */
    gpurt_arena_source_t source, wide; /* likewise */
    gpurt_refs_t refs;
    memory_figures_t *figures;
    memory_desk_t *desk;
};

#endif
