/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the buffers that CUPTI fills: a fixed number, taken, filled and given back
 * without a lock and without allocation, from any thread.
 *
 * A buffer belongs to CUPTI from take to fill; the pool is never unmapped, because CUPTI
 * may still write behind anybody's back. When none is free, take says NULL: CUPTI then
 * drops records and counts them. */
#ifndef GPURT_CUPTI_POOL_H
#define GPURT_CUPTI_POOL_H

#include <gpurt/base.h>
#include <semaphore.h>

enum {
    POOL_BUFFERS = 512,
    POOL_WORDS = POOL_BUFFERS / 64,
    /* About 300 kernels. A buffer comes back when all in it have ended, so with a GPU that is
     * always busy only when it is full: small ones come sooner. */
    POOL_BUFFER_BYTES = 64 << 10,
    /* But each costs the program's thread a trip through the scheduler, by CUPTI's doing: one
     * that fills them fast is given as many in one piece, */
    POOL_LARGE = 4,
    POOL_PLENTY = POOL_BUFFERS / 4, /* while fewer are in use: many threads want one each */
    POOL_ASKERS = 1024,             /* places for threads that asked; a power of two */
    POOL_BELL =
        8 /* buffers that the reader is woken for: else it looks by itself, and after
                     each flush */
};

#define POOL_SOON_NS 10000000ull

typedef struct pool_entry {
    size_t valid;   /* bytes of records; set before the buffer is seen full */
    uint32_t parts; /* buffers that it is made of; whoever has taken it */
    uint64_t order; /* buffers are read in the order in which they were filled; likewise */
} pool_entry_t;

/* Owner: the collector, static: never freed. */
typedef struct pool {
    uint8_t *memory;
    uint64_t xfree[POOL_WORDS];    /* bit a buffer; written by: any thread */
    uint64_t xfull[POOL_WORDS];    /* likewise */
    uint64_t xorder;               /* buffers filled so far; likewise */
    uint64_t xheld[POOL_WORDS];    /* first buffers of pieces that CUPTI has; likewise */
    uint64_t xtaken_ns;            /* the last take; likewise */
    uint64_t xaskers[POOL_ASKERS]; /* a thread, and when it took one last; likewise */
    uint64_t xstarved;             /* takes that found none; likewise */
    uint32_t xforeign;             /* fills of what is not CUPTI's to fill; likewise */
    pool_entry_t entries[POOL_BUFFERS];
    uint64_t xgiven; /* buffers given back so far; written by: the reader */
    int behind;      /* the place behind the last of them; likewise */
    sem_t filled;    /* posted by fill, for each POOL_BELL of them */
} pool_t;

/* Returns: false without memory. */
bool pool_open(pool_t *p);

/* Context: any thread of the application, inside CUPTI. Large where this thread took one
 * some POOL_SOON_NS before now_ns or later, and there is plenty. */
uint8_t *pool_take(pool_t *p, uint64_t now_ns, size_t *bytes);
/* What take has not given, or was filled since, is another's: it is counted and not touched. */
void pool_fill(pool_t *p, uint8_t *memory, size_t valid);

/* How many takes found none; UINT32_MAX: so many, or more. Context: any. */
uint32_t pool_starved(const pool_t *p);

/* How many fills were another's. Context: any. */
uint32_t pool_foreign(const pool_t *p);

/* How many are CUPTI's now. Context: any. */
uint32_t pool_out(const pool_t *p);

/* How many were read and given back, and how many wait to be read. Context: any. */
uint64_t pool_given(const pool_t *p);
uint64_t pool_unread(const pool_t *p);

/* Context: one thread. The oldest full buffer, still owned by it until give. Returns: its
 * index, -1 when there is none. */
int pool_next(pool_t *p);
uint8_t *pool_memory(const pool_t *p, int index);
void pool_give(pool_t *p, int index);

#endif
