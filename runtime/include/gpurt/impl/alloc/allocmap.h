/* SPDX-License-Identifier: Apache-2.0 */
/* allocmap.h - what a heap is made of: the words that lanes and host share, and their
 * layout.
 *
 * docs/ALLOCATOR.md tells how they work together; alloc.h holds what kernels call, heap.h
 * what the host calls. No memory is touched here.
 *
 * A heap is a row of chunks of 64 KiB. All that is known of them lies outside, in tables of
 * its own, so that no write past an object can break the heap. */
#ifndef GPURT_ALLOCMAP_H
#define GPURT_ALLOCMAP_H

#include <gpurt/impl/dialect.h>
#include <gpurt/warp.h>

enum {
    GPURT_CHUNK_SHIFT = 16,
    GPURT_CHUNK_BYTES = 1 << GPURT_CHUNK_SHIFT,
    GPURT_CHUNK_BITS_WORDS = GPURT_CHUNK_BYTES / 16 / 32, /* a bit for each 16 bytes */
    GPURT_CLASS_COUNT = 40,
    GPURT_CLASS_STRIDE = 64, /* words a shard keeps: one a class, and */
    GPURT_CLASS_CLOSED =
        60, /* here how many chunks it has given back; the rest is padding */
    GPURT_SMALL_MAX = 32 << 10, /* the largest class; what is larger takes whole chunks */
    GPURT_RUN_SLOTS = 4096,     /* slots of a run of chunks that is handed out in order, */
    GPURT_RUN_CHUNKS = 64,      /* and its chunks: one word of the pool */
    GPURT_TREE_POOL = 0,
    GPURT_TREE_COUNT = 1 + 2 * GPURT_CLASS_COUNT
};

/* Why a request got NULL. */
typedef enum gpurt_alloc_reason {
    GPURT_ALLOC_OK = 0,
    GPURT_ALLOC_FULL = 1,       /* no free memory of that size is left */
    GPURT_ALLOC_FRAGMENTED = 2, /* free chunks would be enough, but not in a row */
    GPURT_ALLOC_TOO_LARGE = 3,  /* larger than the whole heap; for a warp, than a class */
    GPURT_ALLOC_ALIGNMENT = 4,  /* not a power of two, or above 64 KiB */
    GPURT_ALLOC_NO_HEAP = 5,    /* no heap was made */
    GPURT_ALLOC_REASONS
} gpurt_alloc_reason_t;

/* What is wrong with a pointer that was given back; it is not freed then. */
typedef enum gpurt_free_fault {
    GPURT_FREE_OK = 0,
    GPURT_FREE_FOREIGN = 1,  /* not of this heap */
    GPURT_FREE_INTERIOR = 2, /* inside of a chunk, but not where an object begins */
    GPURT_FREE_TWICE = 3,    /* free already */
    GPURT_FREE_FAULTS
} gpurt_free_fault_t;

/* Pools, one above the other (places.h). */
enum {
    GPURT_PLACE_THREAD = 0,
    GPURT_PLACE_WARP = 1,
    GPURT_PLACE_BLOCK = 2,
    GPURT_PLACE_GLOBAL = 3,
    GPURT_PLACES
};

/* Written with atomics by: any lane, on slow paths only. */
typedef struct gpurt_heap_counts {
    uint64_t xrefused[GPURT_ALLOC_REASONS]; /* requests that got NULL, by reason */
    uint64_t xbad_frees[GPURT_FREE_FAULTS];
    uint64_t xbad_pointer; /* the last of them */
    uint64_t xopened;      /* chunks taken from the pool for a class */
    uint64_t xclosed;   /* ... and given back, empty; kept by shard (GPURT_CLASS_CLOSED) */
    uint64_t xreused;   /* chunks whose freed slots were taken up */
    uint64_t xstolen;   /* ends of runs taken from another shard */
    uint64_t xlarge;    /* requests of whole chunks that were served */
    uint64_t xnews;     /* grows whenever there is something to find that was not there */
    uint64_t xgrown;    /* leaves of the pool that have memory. Written by: the host */
    uint64_t xtaken_up; /* ... that lanes know of */
    uint64_t xgot[GPURT_PLACES]; /* objects that pools of each level served, */
    uint64_t xput[GPURT_PLACES]; /* ... and took back, as told by their flushes */
} gpurt_heap_counts_t;

/* What a heap that checks or traces keeps besides (allocwatch.h). */
typedef struct gpurt_heap_watch gpurt_heap_watch_t;

/* A heap as kernels see it: put it into a kernel's arguments. Addresses are the device's.
 * Owner: the host's heap (heap.h), which it comes from and outlives. Never written. */
typedef struct gpurt_heap {
    char *chunks;
    uint32_t *states;   /* a chunk */
    uint32_t *bits;     /* GPURT_CHUNK_BITS_WORDS a chunk; set: the slot is free again */
    uint64_t *currents; /* GPURT_CLASS_STRIDE a shard */
    uint64_t *trees;    /* GPURT_TREE_COUNT, each of tree_words */
    uint64_t *tails; /* 2 * GPURT_CLASS_COUNT + 1 rows of tail_words: hints for thieves */
    gpurt_heap_counts_t *counts;
    uint32_t chunk_count, shard_count;
    uint32_t spread;     /* log2 of the shards a multiprocessor */
    uint32_t run_chunks; /* longest run */
    uint32_t leaf_words, branch_words, root_words, tree_words;
    uint32_t tail_words;
    uint32_t start_words; /* leaves that had memory from the first: searches begin there */
    uint32_t id;          /* of the host's heap */
    gpurt_heap_watch_t *watch; /* NULL: nothing is checked */
} gpurt_heap_t;

/* ---- size classes -------------------------------------------------------------------- */
/* 16, 32, 48, 64, then four steps a doubling: 80, 96, 112, 128, 160 ... 32 KiB. Each is a
 * multiple of 16, and slots of a power of two are aligned to it, because a chunk is. */

/* Context: size from 1 to GPURT_SMALL_MAX. */
GPURT_DEV uint32_t gpurt_class_of(uint32_t size)
{
    uint32_t last = size - 1, e = gpurt_log2(last | 64u); /* at least 6, and no branch */

    return (e - 6) * 4 + (last >> (e - 2));
}

/* A class's slot is (multiplier << shift) bytes. */
GPURT_DEV uint32_t gpurt_class_shift(uint32_t c)
{
    return (c < 4 ? 1u : c >> 2) + 3u;
}
GPURT_DEV uint32_t gpurt_class_bytes(uint32_t c)
{
    uint32_t shift = gpurt_class_shift(c);

    return (c + 17 - 4 * shift) << shift;
}

/* What division would have to find out each time, of each class: slots a chunk, and the
 * reciprocals of that and of the multiplier. */
#define GPURT_CLASS_SHAPE_(multiplier, shift)                                    \
    ((uint64_t)((GPURT_CHUNK_BYTES >> (shift)) / (multiplier)) |                 \
     (uint64_t)(((1u << 19) + (multiplier)-1) / (multiplier)) << 16 |            \
     (uint64_t)(((1u << 24) + (GPURT_CHUNK_BYTES >> (shift)) / (multiplier)-1) / \
                ((GPURT_CHUNK_BYTES >> (shift)) / (multiplier)))                 \
         << 40)
#define GPURT_CLASS_SHAPES_(shift)                              \
    GPURT_CLASS_SHAPE_(5, shift), GPURT_CLASS_SHAPE_(6, shift), \
        GPURT_CLASS_SHAPE_(7, shift), GPURT_CLASS_SHAPE_(8, shift)

GPURT_TABLE const uint64_t gpurt_class_shapes[GPURT_CLASS_COUNT] = {
    GPURT_CLASS_SHAPE_(1, 4), GPURT_CLASS_SHAPE_(2, 4), GPURT_CLASS_SHAPE_(3, 4),
    GPURT_CLASS_SHAPE_(4, 4), GPURT_CLASS_SHAPES_(4),   GPURT_CLASS_SHAPES_(5),
    GPURT_CLASS_SHAPES_(6),   GPURT_CLASS_SHAPES_(7),   GPURT_CLASS_SHAPES_(8),
    GPURT_CLASS_SHAPES_(9),   GPURT_CLASS_SHAPES_(10),  GPURT_CLASS_SHAPES_(11),
    GPURT_CLASS_SHAPES_(12)};

GPURT_DEV uint64_t gpurt_class_shape(uint32_t c)
{
    return gpurt_class_shapes[c];
}
GPURT_DEV uint32_t gpurt_shape_slots(uint64_t shape)
{
    return (uint32_t)shape & 0xffffu;
}
/* Slot of a byte of a chunk. */
GPURT_DEV uint32_t gpurt_shape_slot(uint64_t shape, uint32_t shift, uint32_t offset)
{
    return (offset >> shift) * ((uint32_t)(shape >> 16) & 0xffffffu) >> 19;
}
/* Chunk of a run in which its slot number t lies; t below GPURT_RUN_SLOTS. */
GPURT_DEV uint32_t gpurt_shape_chunk(uint64_t shape, uint32_t t)
{
    return t * (uint32_t)(shape >> 40) >> 24;
}

/* With this many free slots a chunk is taken up again before new ones are: half. With fewer,
 * only when nothing else is left. So chunks that nobody takes up are half full. */
GPURT_DEV uint32_t gpurt_class_enough(uint32_t slots)
{
    return slots - slots / 2;
}
/* The longest run, in chunks: a power of two. */
GPURT_DEV uint32_t gpurt_class_run(uint32_t slots, uint32_t most)
{
    uint32_t chunks = 1;

    while (chunks < most && 2 * chunks * slots <= GPURT_RUN_SLOTS)
        chunks *= 2;
    return chunks;
}

/* ---- the state of a chunk ------------------------------------------------------------ */
/* kind << 30. In the pool: nothing else. Of a class: class << 13 | slots that were freed
 * and not taken up. Of a large object: its length in chunks at its first, POOL at the
 * others. */
#define GPURT_STATE_POOL  0u
#define GPURT_STATE_SLAB  (1u << 30)
#define GPURT_STATE_LARGE (2u << 30)
#define GPURT_STATE_KIND  (3u << 30)

GPURT_DEV uint32_t gpurt_state_slab(uint32_t c)
{
    return GPURT_STATE_SLAB | c << 13;
}
GPURT_DEV bool gpurt_state_is_slab(uint32_t state)
{
    return (state & GPURT_STATE_KIND) == GPURT_STATE_SLAB;
}
GPURT_DEV uint32_t gpurt_state_class(uint32_t state)
{
    return state >> 13 & 63u;
}
GPURT_DEV uint32_t gpurt_state_free(uint32_t state)
{
    return state & 0x1fffu;
}
GPURT_DEV uint32_t gpurt_state_chunks(uint32_t state)
{
    return state & ~GPURT_STATE_KIND;
}

/* ---- the current run of a shard and class -------------------------------------------- */
/* One word, so that one addition both takes slots and tells which: ticket (24 bits), limit
 * (13), first chunk (24), reused, dry. A ticket below the limit is a slot: the slot itself
 * in a fresh run; in a reused chunk the right to one of its free slots. Tickets beyond the
 * limit mean nothing; who got the one at the limit brings the next run. */
#define GPURT_RUN_TICKETS 0xffffffu
#define GPURT_RUN_REUSED  (1ull << 61)
#define GPURT_RUN_DRY     (1ull << 62) /* nobody is bringing one */
#define GPURT_RUN_BARE    (3ull << 61) /* ... and the next classes had none either */
#define GPURT_RUN_WORN    (1u << 20)   /* so many requests, and a dry word begins anew */
#define GPURT_RUN_NONE    (~0ull)      /* no run: the answer when nothing is left */

GPURT_DEV uint64_t gpurt_run(uint32_t chunk, uint32_t limit)
{
    return (uint64_t)chunk << 37 | (uint64_t)limit << 24;
}
GPURT_DEV uint32_t gpurt_run_ticket(uint64_t run)
{
    return (uint32_t)run & GPURT_RUN_TICKETS;
}
GPURT_DEV uint32_t gpurt_run_limit(uint64_t run)
{
    return (uint32_t)(run >> 24) & 0x1fffu;
}
GPURT_DEV uint32_t gpurt_run_chunk(uint64_t run)
{
    return (uint32_t)(run >> 37) & 0xffffffu;
}
/* Of one that is bare: the news that the look knew of, as far as they fit. */
GPURT_DEV uint64_t gpurt_run_bare(uint64_t news)
{
    return GPURT_RUN_BARE | (news & 0xffffffu) << 37;
}
GPURT_DEV bool gpurt_run_is_bare(uint64_t run, uint64_t news)
{
    return (run & GPURT_RUN_BARE) == GPURT_RUN_BARE &&
           gpurt_run_chunk(run) == (news & 0xffffffu);
}
GPURT_DEV bool gpurt_run_is_live(uint64_t run)
{
    return gpurt_run_ticket(run) < gpurt_run_limit(run);
}
/* Used up, and somebody else brings the next. */
GPURT_DEV bool gpurt_run_is_over(uint64_t run)
{
    return gpurt_run_ticket(run) > gpurt_run_limit(run) && !(run & GPURT_RUN_DRY);
}

/* ---- trees --------------------------------------------------------------------------- */
/* Leaves: a bit a chunk. Branches: a bit a leaf that may not be empty. Roots: likewise of
 * branches. The tables follow one another. */
GPURT_DEV uint32_t gpurt_tree_good(uint32_t c)
{
    return 1 + 2 * c; /* chunks with enough free slots to be worth it */
}
GPURT_DEV uint32_t gpurt_tree_sparse(uint32_t c)
{
    return 2 + 2 * c; /* chunks with any */
}

#endif
