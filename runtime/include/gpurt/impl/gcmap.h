/* SPDX-License-Identifier: Apache-2.0 */
/* gcmap.h - what a collector is made of: the table that handles name, types, roots, and the
 * words of a cycle.
 *
 * docs/RECLAMATION.md tells how they work together; object.h is what kernels call, gc.h
 * what the host calls. No memory is touched here. */
#ifndef GPURT_GCMAP_H
#define GPURT_GCMAP_H

#include <gpurt/impl/reclaimmap.h>

/* Names an object wherever it lies: generation << 32 | entry. 0 names none. */
typedef uint64_t gpurt_object_t;

enum {
    GPURT_GC_TYPES = 256, /* of a collector */
    GPURT_GC_OLD_AGE = 2, /* collections that an object has to live through to be old */
    GPURT_GC_NO_TAIL = 0x7fffffff
};

/* Which words of an object are handles; a word has 8 bytes. */
typedef struct gpurt_gc_type {
    uint64_t handles; /* bit i: word i is one, of the first 64 */
    uint32_t tail;    /* from this word on all are; GPURT_GC_NO_TAIL: none are */
    uint32_t bytes;   /* of the smallest object */
} gpurt_gc_type_t;

typedef enum gpurt_gc_answer {
    GPURT_GC_OK = 0,
    GPURT_GC_DEAD = 1,         /* the object was collected: nothing referred to it */
    GPURT_GC_FOREIGN = 2,      /* no handle of this collector */
    GPURT_GC_NO_SECTION = 3,   /* outside of a section */
    GPURT_GC_NOT_A_HANDLE = 4, /* that word is none by the object's type, or beyond it */
    GPURT_GC_NO_TYPE = 5,   /* not registered; or the size is too small for it, or 4 GiB */
    GPURT_GC_NO_MEMORY = 6, /* the heap refused */
    GPURT_GC_NO_ENTRY = 7,  /* the table is full */
    GPURT_GC_ANSWERS
} gpurt_gc_answer_t;

/* ---- an entry ------------------------------------------------------------------------ */
/* xmeta: type << 16 | age << 8 | flags */
#define GPURT_GC_DIRTY 1u /* old, and may refer to a young one */
#define GPURT_GC_DYING 2u /* unreachable; freed when all sections of now have ended */
#define GPURT_GC_AGE   (1u << 8)

/* An object. Shared with: every lane and the collector. Written by: who makes it, until
 * xaddress is set; then marks, flags and ages by atomics; then by whoever frees it. */
typedef struct GPURT_ALIGN(32) gpurt_gc_entry {
    uint64_t xaddress;    /* 0: unused */
    uint32_t xgeneration; /* of the handles that name it */
    uint32_t xmark;       /* cycle << 1 | its words were looked through */
    uint32_t xmeta;
    uint32_t xsize; /* bytes */
    uint64_t unused;
} gpurt_gc_entry_t;

/* ---- a cycle ------------------------------------------------------------------------- */
/* xcontrol: cycle << 32 | flags. Cycles have 31 bits. */
#define GPURT_GC_ACTIVE 1ull /* what is overwritten is shaded */
#define GPURT_GC_MINOR  2ull /* old objects count as marked */
#define GPURT_GC_ARMING \
    4ull /* not yet by all: what is born now may still be told of things
                              * that nobody shades, and has to be looked through */
#define GPURT_GC_CYCLES 0x7fffffffu

/* Where a cycle is. Written by: the collector's kernels, one after the other; so the host may
 * copy it while kernels of the program run. */
typedef struct gpurt_gc_course {
    uint64_t xcontrol;
    uint64_t xtarget;  /* the epoch that a wait is for */
    uint32_t xreached; /* whether it came */
    uint32_t xfound;   /* shaded ones that were not in the queue */
} gpurt_gc_course_t;

/* Written with atomics by: lanes and the collector. */
typedef struct gpurt_gc_control {
    gpurt_gc_course_t course;
    GPURT_ALIGN(128) uint32_t xtail; /* of the queue of shaded entries */
    uint32_t xhead;                  /* places that warps of the collector have drawn, */
    uint32_t xdone;                  /* and entries in them that were looked through */
    uint64_t xallocated, xfreed, xfreed_bytes;
    uint64_t xpromoted;
    uint64_t xmarked;                    /* in the last cycle */
    uint64_t xanswers[GPURT_GC_ANSWERS]; /* calls that got them */
} gpurt_gc_control_t;

/* Owner: the host (gpurt_gc_create). Never written. */
typedef struct gpurt_gc {
    gpurt_heap_t heap;
    gpurt_epochs_t sections;
    gpurt_slotset_t unused;
    gpurt_gc_control_t *control;
    gpurt_gc_entry_t *entries;
    gpurt_gc_type_t *types;
    uint64_t *roots;
    uint32_t *queue; /* shaded entries + 1; each at most once a cycle, so there is room */
    uint64_t stream; /* the collector's own */
    uint32_t entry_count, type_count, root_count;
    uint32_t id; /* of the host's table */
} gpurt_gc_t;

/* What the lanes of a section know of the cycle that it began in. */
typedef struct gpurt_section {
    uint32_t slot;
    uint32_t cycle;
    uint32_t flags; /* GPURT_GC_ACTIVE and the others */
} gpurt_section_t;

#endif
