/* SPDX-License-Identifier: Apache-2.0 */
/* unboundedmap.h - what an unbounded channel is made of: its description, its words, its directory, its
 * segments.
 *
 * unbounded.h is what kernels call, unboundeds.h what the host calls; docs/UNBOUNDED.md tells how
 * they work together. No memory is touched here.
 *
 *   xsent     tickets of senders << 1 | it is closed
 *   xtaken    tickets of receivers
 *   xbacked   tickets below it have a segment: only then are they drawn
 *   a row     of the directory: where segment k lies, k modulo rows; beside it the lap, k / rows.
 *             0 there: nowhere, and the lap is that of the next one
 *
 * Ticket t has slot t modulo GPURT_UNBOUNDED_SLOTS of segment t / GPURT_UNBOUNDED_SLOTS. A slot's
 * lines carry 12 bytes of the message beside 1; they are 0 when a segment is appended. Each slot
 * is used once. Tickets have 63 bits and never wrap. */
#ifndef GPURT_UNBOUNDEDMAP_H
#define GPURT_UNBOUNDEDMAP_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/impl/broadcastmap.h>

enum {
    GPURT_UNBOUNDED_CLOSED = 1, /* of xsent */
    GPURT_UNBOUNDED_SLOTS = 64, /* of a segment; a warp's messages lie in two at most */
    GPURT_UNBOUNDED_BYTES_MOST =
        360, /* of a message: a segment is one of the heap's small objects */
    GPURT_UNBOUNDED_ROWS = 1 << 14, /* of one whose options say none: a million messages */
    GPURT_UNBOUNDED_ROWS_MOST = 1 << 22,
    GPURT_UNBOUNDED_LAP_BITS = 20, /* of a row */
    GPURT_UNBOUNDED_FULL_TURN = 1  /* in each line of a message */
};

/* Before its slots. In memory of the heap. */
typedef struct GPURT_ALIGN(16) gpurt_unbounded_segment {
    uint32_t xread; /* slots that were; whoever reads the last one frees it */
    uint32_t unused[3];
} gpurt_unbounded_segment_t;

/* In device memory, at multiples of 256; the directory stands behind it. Owner: the host, which
 * keeps it for some time after its end. */
typedef struct GPURT_ALIGN(128) gpurt_unbounded_words {
    uint64_t xsent; /* written by: lanes that send and close */
    uint64_t unused[15];
    gpurt_channel_desk_t desk;
    uint64_t xdropped; /* messages. This and the next: by any lane, with atomics */
    uint64_t xfreed;   /* segments */
    uint64_t GPURT_ALIGN(128) xtaken; /* written by: lanes that receive */
    uint64_t unused2[15];
    uint64_t xbacked;  /* written by: lanes that append */
    uint32_t xgrowing; /* a hint: a lane is about to append */
    uint32_t unused3[29];
} gpurt_unbounded_words_t;

/* An unbounded channel as kernels see it: put it into a kernel's arguments. Owner: who made it.
 * Never written. */
typedef struct gpurt_unbounded {
    gpurt_unbounded_words_t *words; /* NULL: none */
    uint64_t *rows;
    gpurt_heap_t heap;
    uint32_t row_count;     /* a power of two */
    uint32_t shift;         /* its logarithm */
    uint32_t bytes, stride; /* of a message, of a slot */
    uint32_t policy;        /* gpurt_channel_policy_t */
    uint32_t id;            /* given once in a process */
} gpurt_unbounded_t;

GPURT_HD uint64_t gpurt_unbounded_segment_bytes(const gpurt_unbounded_t *c)
{
    return sizeof(gpurt_unbounded_segment_t) + (uint64_t)GPURT_UNBOUNDED_SLOTS * c->stride;
}
GPURT_HD uint64_t gpurt_unbounded_rows_bytes(const gpurt_unbounded_t *c)
{
    return c->row_count * sizeof(uint64_t);
}

/* ---- rows ---------------------------------------------------------------------------- */

GPURT_HD uint64_t gpurt_unbounded_lap(const gpurt_unbounded_t *c, uint64_t segment)
{
    return segment >> c->shift & ((1ull << GPURT_UNBOUNDED_LAP_BITS) - 1);
}

/* place: 0, or one more than its distance from the heap's begin, in units of 16 bytes. */
GPURT_HD uint64_t gpurt_unbounded_row(uint64_t place, uint64_t lap)
{
    return place << GPURT_UNBOUNDED_LAP_BITS | lap;
}
GPURT_HD uint64_t gpurt_unbounded_place(uint64_t row)
{
    return row >> GPURT_UNBOUNDED_LAP_BITS;
}

/* ---- what it has done ---------------------------------------------------------------- */

typedef struct gpurt_unbounded_counts {
    uint64_t sent, received, dropped, depth; /* sent = received + dropped + depth */
    uint64_t segments;                       /* that it has of the heap */
} gpurt_unbounded_counts_t;

/* Exact when nobody is at work, otherwise each part is of some moment. */
GPURT_HD gpurt_unbounded_counts_t gpurt_unbounded_count(const gpurt_unbounded_words_t *w)
{
    gpurt_unbounded_counts_t n;
    uint64_t in = w->xsent >> 1, segments = w->xbacked / GPURT_UNBOUNDED_SLOTS;

    n.sent = in + w->xdropped;
    n.received = w->xtaken;
    n.dropped = w->xdropped;
    n.depth = in > w->xtaken ? in - w->xtaken : 0;
    n.segments = segments > w->xfreed ? segments - w->xfreed : 0;
    return n;
}

#endif
