/* SPDX-License-Identifier: Apache-2.0 */
/* regionmap.h - what a region is made of: its description, its tables and where they lie.
 *
 * region.h is what kernels call, regions.h what the host calls; docs/PLACEMENT.md tells how
 * they work together. No memory is touched here. */
#ifndef GPURT_REGIONMAP_H
#define GPURT_REGIONMAP_H

#include <gpurt/base.h>

/* Where a request goes among the rows of free granules that are long enough; of equals to
 * the lowest. */
typedef enum gpurt_region_fit {
    GPURT_FIT_FIRST = 0, /* the lowest row */
    GPURT_FIT_BEST = 1,  /* the shortest */
    GPURT_FIT_WORST = 2, /* the longest */
    GPURT_FITS
} gpurt_region_fit_t;

/* What a call was told. */
typedef enum gpurt_region_answer {
    GPURT_REGION_OK = 0,
    GPURT_REGION_FULL = 1,       /* less is free than was asked for */
    GPURT_REGION_FRAGMENTED = 2, /* enough is free, but not in a row */
    GPURT_REGION_TOO_LARGE = 3,  /* larger than the region; of a split, than the block */
    GPURT_REGION_ALIGNMENT = 4,  /* not a power of two, or larger than the region */
    GPURT_REGION_NONE = 5,       /* no region, or no memory for one */
    GPURT_REGION_FOREIGN = 6,    /* the pointer is not of this region, */
    GPURT_REGION_INTERIOR = 7,   /* ... not the begin of a block, */
    GPURT_REGION_TWICE = 8,      /* ... of what is free already */
    GPURT_REGION_TAKEN = 9,      /* resize: what follows is not free */
    GPURT_REGION_APART = 10,     /* merge: one does not begin where the other ends */
    GPURT_REGION_ANSWERS
} gpurt_region_answer_t;

enum {
    GPURT_REGION_GRANULE = 256, /* the least that is chosen by itself */
    GPURT_REGION_AIM = 65536    /* granules a region has by itself, at most */
};

/* Written with atomics by: any lane, on refusal. */
typedef struct gpurt_region_counts {
    uint64_t xanswers[GPURT_REGION_ANSWERS]; /* refusals, by answer; OK is not counted */
    uint64_t xbad_pointer;                   /* the last one that was no block */
    uint64_t xlost_races; /* places that another lane took between look and claim */
    uint64_t xlooking;    /* warps that look for a place at this moment */
} gpurt_region_counts_t;

/* A region as kernels see it: put it into a kernel's arguments. Blocks lie at the begin of
 * its memory, tables at the end. Owner: who made it. Never written. */
typedef struct gpurt_region {
    char *base;
    gpurt_region_counts_t *counts;
    uint64_t *bits;    /* a bit a granule; set: it is free */
    uint32_t *lengths; /* a granule: of the block that begins there, else 0 */
    uint32_t granules, words;
    uint32_t shift; /* log2 of a granule */
    uint32_t fit;   /* gpurt_region_fit_t */
    void *owned;    /* memory that ends with the region, the host's business */
    uint32_t id;    /* of one that the host made (regions.h); 0: it is not told apart */
} gpurt_region_t;

/* ---- layout -------------------------------------------------------------------------- */

GPURT_HD size_t gpurt_region_table_bytes(const gpurt_region_t *r)
{
    return sizeof(gpurt_region_counts_t) + r->words * sizeof(uint64_t) +
           r->granules * sizeof(uint32_t);
}

/* Points the tables of a region with its numbers set into `memory`. */
GPURT_HD void gpurt_region_place(gpurt_region_t *r, char *memory)
{
    r->counts = (gpurt_region_counts_t *)memory;
    r->bits = (uint64_t *)(memory + sizeof(gpurt_region_counts_t));
    r->lengths = (uint32_t *)(r->bits + r->words);
}

/* As many granules as fit into the memory with their tables. granule: a power of two from
 * 16 on, or 0: by size. Returns: GPURT_REGION_OK or what is wrong; the tables still are to
 * be filled. */
GPURT_HD uint32_t gpurt_region_layout(gpurt_region_t *r, void *memory, size_t bytes,
                                      size_t granule, uint32_t fit)
{
    uintptr_t from = (uintptr_t)memory;
    size_t most = bytes, group, rest;

    if (granule & (granule - 1) || (granule && granule < 16) || granule > 1u << 30)
        return GPURT_REGION_ALIGNMENT;
    for (r->shift = 0; granule >> r->shift > 1;)
        r->shift++;
    if (!granule)
        for (r->shift = 8; bytes >> r->shift > GPURT_REGION_AIM;)
            r->shift++;
    r->fit = fit;
    rest = ((from - 1) | (((size_t)1 << r->shift) - 1)) + 1 - from; /* to align the first */
    if (!memory || fit >= GPURT_FITS || bytes < rest + sizeof(gpurt_region_counts_t))
        return GPURT_REGION_NONE;
    most = bytes - rest - sizeof(gpurt_region_counts_t);
    group = ((size_t)64 << r->shift) + sizeof(uint64_t) + 64 * sizeof(uint32_t);
    if (most / group >= 1u << 24)
        return GPURT_REGION_TOO_LARGE;
    r->granules = (uint32_t)(most / group) * 64;
    most %= group;
    if (most > sizeof(uint64_t))
        r->granules += (uint32_t)((most - sizeof(uint64_t)) /
                                  (((size_t)1 << r->shift) + sizeof(uint32_t)));
    r->words = (r->granules + 63) / 64;
    r->base = (char *)memory + rest;
    gpurt_region_place(r, r->base + ((size_t)r->granules << r->shift));
    return r->granules ? GPURT_REGION_OK : GPURT_REGION_NONE;
}

/* Word i of the bits of a region in which all is free. */
GPURT_HD uint64_t gpurt_region_all_free(const gpurt_region_t *r, uint32_t i)
{
    uint32_t rest = r->granules - i * 64;

    return rest >= 64 ? ~0ull : (1ull << rest) - 1;
}

#endif
