/* SPDX-License-Identifier: Apache-2.0 */
/* segringmap.h - what a ring of segments is made of: its description, its words, its spots, its data.
 *
 * segring.h is what kernels call, segrings.h what the host calls; docs/SEGMENTS.md tells how they
 * work together. No memory is touched here.
 *
 *   xhead     reserved up to there << 1 | it is closed
 *   xtail     free up to there
 *   a spot    position of the segment that begins in its unit << 2 | GPURT_SPOT_*
 *
 * Positions count units of 64 bytes and never wrap, so a position is also a generation: nothing
 * of an earlier lap can be taken for it. A segment's first 16 bytes are its header; what it
 * holds follows, around the end of the memory where need be. The state is kept apart from the
 * data: a writer that is too late may spoil data, which the checksum tells, but no state. */
#ifndef GPURT_SEGRINGMAP_H
#define GPURT_SEGRINGMAP_H

#include <gpurt/impl/channelmap.h>

/* What becomes of a segment that readers leave no room for. */
typedef enum gpurt_segring_policy {
    GPURT_SEGRING_BLOCK = 0,     /* it waits for them */
    GPURT_SEGRING_FAIL = 1,      /* GPURT_E_FULL */
    GPURT_SEGRING_OVERWRITE = 2, /* the oldest ones are lost, and readers are told */
    GPURT_SEGRING_POLICIES
} gpurt_segring_policy_t;

enum {
    GPURT_SEGRING_UNIT = 64, /* bytes: two sectors */
    GPURT_SEGRING_UNIT_SHIFT = 6,
    GPURT_SEGRING_LINE = 16, /* bytes: what is stored and loaded at once */
    GPURT_SEGRING_BYTES_MOST = 1 << 30,
    GPURT_SEGRING_CLOSED = 1,         /* of xhead */
    GPURT_SEGRING_PATIENCE_SHIFT = 10 /* times of spots: units of 1,024 ns */
};
/* ns; until a reservation that nobody commits is given up */
#define GPURT_SEGRING_PATIENCE      1000000000ull
#define GPURT_SEGRING_PATIENCE_MOST (1ull << 40)

/* States of a spot. */
enum {
    GPURT_SPOT_RESERVED = 0,
    GPURT_SPOT_COMMITTED = 1,
    GPURT_SPOT_ABORTED = 2, /* its writer wants none of it */
    GPURT_SPOT_TORN = 3,    /* its writer was given up */
    GPURT_SPOT_BITS = 2
};

/* Of the unit in which a segment begins. Written by: its writer; who gives it up. */
typedef struct GPURT_ALIGN(16) gpurt_spot_row {
    uint64_t xstate; /* all ones at first: no position has them */
    uint32_t
        xunits; /* stored before anybody can pass it: never by a writer that is too late */
    uint32_t xsince; /* when it was reserved */
} gpurt_spot_row_t;

/* In device memory, at multiples of 256; spots and data stand behind it. Owner: the host, which
 * keeps it for some time after its end. */
typedef struct GPURT_ALIGN(128) gpurt_segring_words {
    uint64_t xhead;     /* written by: lanes that reserve and close */
    uint64_t xsegments; /* reserved. This and the other counts: by any lane, with atomics */
    uint64_t unused[14];
    gpurt_channel_desk_t desk;
    uint64_t xlost; /* overwritten before anybody read them, or given up then */
    uint64_t xtold; /* of those: readers know */
    uint64_t GPURT_ALIGN(128) xtail; /* written by: lanes that read, or make room */
    uint64_t xread, xtorn, xaborted; /* segments */
    uint64_t unused2[12];
} gpurt_segring_words_t;
GPURT_STATIC_ASSERT(offsetof(gpurt_segring_words_t, xtail) % 256 == 128 ||
                        offsetof(gpurt_segring_words_t, xtail) % 256 == 0,
                    "a line of its own");

/* A ring as kernels see it: put it into a kernel's arguments. Owner: who made it. Never written. */
typedef struct gpurt_segring {
    gpurt_segring_words_t *words; /* NULL: none */
    gpurt_spot_row_t *spots;      /* one a unit */
    char *data;
    uint32_t units;    /* a power of two */
    uint32_t policy;   /* gpurt_segring_policy_t */
    uint32_t patience; /* in units of GPURT_SEGRING_PATIENCE_SHIFT; 0: for ever */
    uint32_t id;       /* given once in a process */
} gpurt_segring_t;

/* A part of a ring that one lane writes. Owner: that lane, until it commits or aborts. */
typedef struct gpurt_segment {
    gpurt_segring_t of; /* words NULL: none */
    uint64_t at;        /* position */
    uint64_t room, put; /* bytes: reserved, written so far */
    uint64_t sum;       /* of whole lines so far */
    gpurt_u128_t line;  /* the last one, while it is not whole */
} gpurt_segment_t;

GPURT_HD uint64_t gpurt_segring_bytes(const gpurt_segring_t *r)
{
    return (uint64_t)r->units << GPURT_SEGRING_UNIT_SHIFT;
}
/* Of a segment, at most. */
GPURT_HD uint64_t gpurt_segring_room(const gpurt_segring_t *r)
{
    return gpurt_segring_bytes(r) - GPURT_SEGRING_LINE;
}
GPURT_HD size_t gpurt_segring_spots_bytes(const gpurt_segring_t *r)
{
    return r->units * sizeof(gpurt_spot_row_t);
}
/* Units of a segment with so many bytes. */
GPURT_HD uint32_t gpurt_segring_units(uint64_t bytes)
{
    return (uint32_t)((bytes + GPURT_SEGRING_LINE + GPURT_SEGRING_UNIT - 1) >>
                      GPURT_SEGRING_UNIT_SHIFT);
}

/* ---- what it has done ---------------------------------------------------------------- */

typedef struct gpurt_segring_counts {
    uint64_t reserved; /* segments, = read + lost + torn + aborted + depth */
    uint64_t read, lost, torn, aborted, depth;
    uint64_t used; /* bytes that are not free */
} gpurt_segring_counts_t;

/* Exact when nobody is at work, otherwise each part is of some moment. */
GPURT_HD gpurt_segring_counts_t gpurt_segring_count(const gpurt_segring_words_t *w)
{
    gpurt_segring_counts_t n = {w->xsegments, w->xread, w->xlost, w->xtorn,
                                w->xaborted,  0,        0};
    uint64_t gone = n.read + n.lost + n.torn + n.aborted, head = w->xhead >> 1;

    n.depth = n.reserved > gone ? n.reserved - gone : 0;
    n.used = head > w->xtail ? (head - w->xtail) << GPURT_SEGRING_UNIT_SHIFT : 0;
    return n;
}

#endif
