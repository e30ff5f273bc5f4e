/* SPDX-License-Identifier: Apache-2.0 */
/* allocwatch.h - what a heap that checks keeps of its objects, in device memory: a record
 * each, the places in the source that asked for them, what was found wrong.
 *
 * alloccheck.h is the code of kernels, heap.h what the host calls. All of it lies apart from
 * the objects: who writes past one cannot reach it. */
#ifndef GPURT_ALLOCWATCH_H
#define GPURT_ALLOCWATCH_H

#include <gpurt/impl/alloc/allocmap.h>

/* How much a heap checks. Code checks at most as much as GPURT_HEAP_CHECKS said when it was
 * compiled: 0 (the default), 1 or 2. Each holds what the one before does. */
typedef enum gpurt_heap_checks {
    GPURT_CHECKS_DEFAULT =
        0,                /* as GPURT_HEAP_CHECKS=off|cheap|full in the environment says */
    GPURT_CHECKS_OFF = 1, /* bad frees are counted, that is all */
    GPURT_CHECKS_CHEAP = 2, /* every object has a record: its size, who asked, who freed;
                                 bytes behind its end are guarded */
    GPURT_CHECKS_FULL = 3   /* bytes before it, too; what is freed is poisoned and kept
                                 back, so that a write after the free is seen */
} gpurt_heap_checks_t;

enum {
    GPURT_WATCH_SITES = 1024, /* places in the source; 0 stands for those without a row */
    GPURT_WATCH_SITE_TEXT = 104,
    GPURT_WATCH_FAULTS = 256, /* the first ones: they matter most */
    GPURT_WATCH_GRANULE =
        32,                  /* no object of a heap that checks is smaller: a record each */
    GPURT_GUARD_BYTES = 16,  /* at least so many behind the end */
    GPURT_GUARD_MOST = 1024, /* and at most, of what the slot has left */
    GPURT_GUARD_BEFORE = 64, /* at most so many before */
    GPURT_POISON_WHOLE = 32 << 10, /* larger objects are poisoned so far from either end */
    GPURT_WATCH_DEFS = 16
};

/* What was found. The first three are those of gpurt_free_fault_t. */
typedef enum gpurt_heap_wrong {
    GPURT_WRONG_NONE = 0,
    GPURT_WRONG_FOREIGN = 1,  /* freed: not of this heap */
    GPURT_WRONG_INTERIOR = 2, /* freed: a pointer into an object, not to it */
    GPURT_WRONG_TWICE = 3,    /* freed: free already */
    GPURT_WRONG_OVERRUN = 4,  /* bytes behind its end were written */
    GPURT_WRONG_UNDERRUN = 5, /* bytes before its begin */
    GPURT_WRONG_USED = 6,     /* it was written after it was freed */
    GPURT_WRONGS
} gpurt_heap_wrong_t;

/* Of the object whose slot begins in a granule. xstate: GPURT_RECORD_*, and bit 4 where the
 * slot begins in the granule's second half. Written by: who allocates, then who frees. Words
 * of their own, so that who frees a second time reads whole ones. */
typedef struct gpurt_alloc_record {
    uint32_t xstate;
    uint32_t xfront;   /* bytes from the slot's begin to the object */
    uint64_t xsize;    /* asked for */
    uint32_t xsites;   /* who asked; who freed, above it */
    uint32_t xthreads; /* in the block, likewise */
    uint32_t xblock, xfree_block;
} gpurt_alloc_record_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_alloc_record_t) == GPURT_WATCH_GRANULE, "a granule each");

#define GPURT_RECORD_NONE  0u /* never handed out, or by code that does not check */
#define GPURT_RECORD_LIVE  1u
#define GPURT_RECORD_KEPT  2u /* freed, poisoned, not yet given back */
#define GPURT_RECORD_FREE  3u
#define GPURT_RECORD_STATE 3u
#define GPURT_RECORD_HALF  4u

/* A place in the source. */
typedef struct gpurt_alloc_site {
    uint64_t xkey;   /* address of its "file:line"; 0 free; written by: who claims it */
    uint32_t xbytes; /* of text; likewise */
    uint32_t reserved;
    uint32_t xdefs[GPURT_WATCH_DEFS]; /* numbers of its definitions in the log; likewise */
    char text[GPURT_WATCH_SITE_TEXT]; /* the end of it, where it is longer */
} gpurt_alloc_site_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_alloc_site_t) == 184, "no padding");

/* Something wrong. Written by: the lane that found it. */
typedef struct gpurt_heap_found {
    uint32_t xready, what; /* GPURT_WRONG_* */
    uint64_t object, size;
    int64_t at; /* byte of the object: the first that was written, or was freed */
    uint32_t site, free_site, found_site; /* who asked, who freed it, who is told */
    uint32_t block, thread, free_block, free_thread, found_block, found_thread;
    uint32_t reserved;
} gpurt_heap_found_t;

/* Owner: the host's heap. Written by: the host before the first kernel; what has an x in
 * front by any lane. */
struct gpurt_heap_watch {
    gpurt_alloc_record_t *records; /* one a granule of the chunks; NULL when off */
    gpurt_alloc_site_t *sites;     /* GPURT_WATCH_SITES */
    gpurt_heap_found_t *found;     /* GPURT_WATCH_FAULTS */
    uint64_t *xplaces;    /* slots kept back, 0 none; in the order of their frees */
    uint64_t keep_bytes;  /* at most so much is kept back */
    uint32_t place_count; /* a power of two */
    uint32_t level;       /* GPURT_CHECKS_* */
    uint32_t trace;       /* every call is a record of the log */
    uint32_t id;          /* of the heap */
    uint64_t xfound[GPURT_WRONGS]; /* all, also those without a row */
    uint64_t xrows;                /* rows of `found` taken */
    uint64_t xhead, xtail;         /* places given out, emptied; free running */
    uint64_t xkept_bytes, xkept;   /* held back now */
    uint64_t xuntold;              /* records that found no room in the log */
};

/* ---- guards -------------------------------------------------------------------------- */
/* Bytes that nobody may write hold a pattern of their address, each from 0x80 to 0xbf: the end of
 * a string, a letter of ASCII, a small number or -1 in their place is seen at any address. */

#define GPURT_POISON_WORD 0xdbdbdbdbdbdbdbdbull

GPURT_HD uint64_t gpurt_guard_word(uint64_t address)
{
    uint64_t mixed = ((address >> 3) + 1) * 0x9e3779b97f4a7c15ull;

    return (mixed & 0x3f3f3f3f3f3f3f3full) | 0x8080808080808080ull;
}

/* Bytes [from, to) of memory that a device calls `address`. Returns: the first one that is
 * not the guard's, `to` when all are. Context: to is a multiple of 8 behind memory. */
GPURT_HD uint64_t gpurt_guard_damage(const char *memory, uint64_t address, uint64_t from,
                                     uint64_t to)
{
    for (uint64_t i = from; i < to;) {
        uint64_t at = address + i, word = gpurt_guard_word(at);

        if ((at & 7u) == 0 && *(const uint64_t *)(const void *)(memory + i) == word) {
            i += 8;
            continue;
        }
        if ((uint8_t)memory[i] != (uint8_t)(word >> 8 * (at & 7u)))
            return i;
        i++;
    }
    return to;
}

/* The same for poison; from and to are multiples of 8. */
GPURT_HD uint64_t gpurt_poison_damage(const char *memory, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i += 8) {
        uint64_t word = *(const uint64_t *)(const void *)(memory + i) ^ GPURT_POISON_WORD;

        for (uint32_t byte = 0; word; byte++, word >>= 8)
            if (word & 0xffu)
                return i + byte;
    }
    return to;
}

/* Where the guard behind an object ends. object, end: addresses; end: of the slot. */
GPURT_HD uint64_t gpurt_guard_end(uint32_t level, uint64_t behind, uint64_t end)
{
    uint64_t most = level == GPURT_CHECKS_FULL ? GPURT_GUARD_MOST : GPURT_GUARD_BYTES;
    uint64_t to = ((behind + 7) & ~7ull) + most;

    return to < end ? to : end;
}

/* Bytes of an object that are poisoned from its begin, and from its end: whole words. */
GPURT_HD uint64_t gpurt_poison_first(uint64_t size)
{
    return (size < GPURT_POISON_WHOLE ? size : (uint64_t)GPURT_POISON_WHOLE) & ~7ull;
}
GPURT_HD uint64_t gpurt_poison_last(uint64_t size)
{
    uint64_t words = size & ~7ull;

    return words > 2 * GPURT_POISON_WHOLE ? words - GPURT_POISON_WHOLE
           : words > GPURT_POISON_WHOLE   ? (uint64_t)GPURT_POISON_WHOLE
                                          : words;
}

/* The ceiling says 1 for cheap, 2 for full. */
#define GPURT_CHECKS_CEILING(checks) ((checks) + 1u)

#endif
