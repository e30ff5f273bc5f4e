/* SPDX-License-Identifier: Apache-2.0 */
/* reclaimmap.h - tables of reference counts, epochs and hazard pointers: the words that
 * lanes and host share.
 *
 * docs/RECLAMATION.md tells how they work; ref.h, epoch.h and hazard.h are what kernels
 * call, reclaim.h what the host calls. Each description is put into a kernel's arguments,
 * as a heap's is. No memory is touched here. */
#ifndef GPURT_RECLAIMMAP_H
#define GPURT_RECLAIMMAP_H

#include <gpurt/impl/alloc/allocmap.h>

/* ---- sets of free numbers ------------------------------------------------------------ */

/* Numbers below `count` that are free: the bit tree of the allocator, with one set in it.
 * Written by: any lane, through slotset.h. */
typedef struct gpurt_slotset {
    gpurt_heap_t tree; /* only its trees and their counts of words mean something */
    uint32_t count;
} gpurt_slotset_t;

#define GPURT_SLOT_NONE 0xffffffffu

/* ---- reference counts ---------------------------------------------------------------- */

/* Names an object, and which life of its record: generation << 32 | record. 0 names none.
 * It may be kept, copied and asked about when the object is long dead. */
typedef uint64_t gpurt_ref_t;

typedef enum gpurt_ref_answer {
    GPURT_REF_OK = 0,
    GPURT_REF_FREED = 1,     /* this release was the last: the object is gone */
    GPURT_REF_DEAD = 2,      /* the object was freed before */
    GPURT_REF_OVERFLOW = 3,  /* more than GPURT_REF_LIMIT references */
    GPURT_REF_UNDERFLOW = 4, /* more releases together than there were references */
    GPURT_REF_FOREIGN = 5,   /* names no record of this table */
    GPURT_REF_NO_MEMORY = 6, /* the heap refused */
    GPURT_REF_NO_RECORD = 7, /* all records are in use */
    GPURT_REF_ANSWERS
} gpurt_ref_answer_t;

/* The word of a record: generation << 32 | live << 31 | bias + references. The bias lets a
 * retain of a dead reference be taken back whatever happened meanwhile. */
#define GPURT_REF_LIVE  (1ull << 31)
#define GPURT_REF_COUNT (GPURT_REF_LIVE - 1)
#define GPURT_REF_BIAS  (1ull << 28)
#define GPURT_REF_LIMIT (1u << 27)

/* What is known of an allocation. Written by: whoever makes, retains or releases. */
typedef struct GPURT_ALIGN(32) gpurt_ref_record {
    uint64_t xword;
    uint64_t xobject;
    uint64_t xsize;  /* as it was asked for */
    uint32_t xflags; /* the program's own */
    uint32_t heap;   /* id */
} gpurt_ref_record_t;

/* Written with atomics by: any lane. */
typedef struct gpurt_ref_counts {
    uint64_t xanswers[GPURT_REF_ANSWERS]; /* calls that got them; OK is not counted */
} gpurt_ref_counts_t;

/* Owner: the host (gpurt_refs_create). Never written. */
typedef struct gpurt_refs {
    gpurt_heap_t heap;
    gpurt_slotset_t unused;
    gpurt_ref_record_t *records;
    gpurt_ref_counts_t *counts;
    uint32_t record_count;
    uint32_t id; /* of the host's table */
} gpurt_refs_t;

/* ---- deferred frees ------------------------------------------------------------------ */

typedef enum gpurt_retire_answer {
    GPURT_RETIRE_KEPT = 0,   /* it will be freed when nobody can use it any more */
    GPURT_RETIRE_FULL = 1,   /* no room: it is still the caller's */
    GPURT_RETIRE_NO_SLOT = 2 /* the caller is in no section; still the caller's */
} gpurt_retire_answer_t;

/* A slot's word: 0, or epoch << 32 | taken | the owner's block. */
#define GPURT_SLOT_TAKEN (1ull << 31)

/* Written with atomics by: any lane. */
typedef struct gpurt_reclaim_counts {
    uint64_t xretired;   /* objects that were taken in */
    uint64_t xfreed;     /* and freed */
    uint64_t xfull;      /* that were not taken in */
    uint64_t xno_slot;   /* sections that were refused: every slot was taken */
    uint64_t xabandoned; /* slots whose owner ended without leaving */
    uint64_t xepoch;     /* 32 bits of it */
    uint64_t xwrong;     /* calls with a slot or pointer that is not the caller's */
} gpurt_reclaim_counts_t;

/* A slot's objects that wait, oldest first, in a ring. Written by: the slot's owner. */
typedef struct gpurt_limbo {
    uint32_t head, tail; /* run free */
    uint32_t looked;     /* the epoch that the owner met last */
} gpurt_limbo_t;

typedef struct gpurt_limbo_item {
    uint64_t object;
    uint32_t stamp; /* the last epoch in which somebody may have met it */
    uint32_t unused;
} gpurt_limbo_item_t;

/* Owner: the host (gpurt_epochs_create). Never written. */
typedef struct gpurt_epochs {
    gpurt_heap_t heap;
    uint64_t *slots;
    gpurt_limbo_t *limbos;     /* a slot */
    gpurt_limbo_item_t *items; /* limbo_size a slot */
    gpurt_reclaim_counts_t *counts;
    uint32_t slot_count, limbo_size; /* limbo_size is a power of two */
    uint32_t id;                     /* of the host's table */
} gpurt_epochs_t;

/* Owner: the host (gpurt_hazards_create). Never written. */
typedef struct gpurt_hazards {
    gpurt_heap_t heap;
    uint64_t *slots;
    uint64_t *pointers;       /* each * 32 a slot: pointer k of lane l at k * 32 + l */
    uint64_t *retired;        /* retired_size a slot */
    uint32_t *retired_counts; /* written by: the slot's owner */
    gpurt_reclaim_counts_t *counts;
    uint32_t slot_count, each, retired_size;
    uint32_t id; /* of the host's table */
} gpurt_hazards_t;

#endif
