/* SPDX-License-Identifier: Apache-2.0 */
/* broadcastmap.h - what a broadcast is made of: its description, its words, its seats, its slots.
 *
 * broadcast.h is what kernels call, broadcasts.h what the host calls; docs/BROADCAST.md tells how
 * they work together. No memory is touched here.
 *
 *   xsent     tickets drawn << 1 | it is closed
 *   xlimit    every reader has read up to there, and no reader begins before it
 *   a seat    the next ticket of its reader << 2 | GPURT_SEAT_*
 *
 * A ticket's slot is the ticket modulo capacity. A message lies in lines of 16 bytes, each with
 * 12 bytes of it beside a turn, the ticket's lap: 32 bits, of which ones are the lap before the
 * first. Tickets have 62 bits and begin at 0, so they never wrap; turns wrap at the first message. */
#ifndef GPURT_BROADCASTMAP_H
#define GPURT_BROADCASTMAP_H

#include <gpurt/impl/channelmap.h>

/* What becomes of a message that the slowest reader leaves no room for. */
typedef enum gpurt_broadcast_policy {
    GPURT_BROADCAST_BLOCK = 0, /* it waits for that reader */
    GPURT_BROADCAST_FAIL = 1,  /* GPURT_E_FULL; the message is the caller's still */
    GPURT_BROADCAST_DROP = 2,  /* it goes on; that reader misses the oldest, and is told */
    GPURT_BROADCAST_POLICIES
} gpurt_broadcast_policy_t;

enum {
    GPURT_BROADCAST_BYTES_MOST = 4096,  /* of a message: a line at a time is compared */
    GPURT_BROADCAST_READERS_MOST = 256, /* a sender that lacks room looks at each */
    GPURT_BROADCAST_READERS = 64,       /* seats of one whose options say none */
    GPURT_BROADCAST_CLOSED = 1,         /* of xsent */
    GPURT_BROADCAST_LINE_BYTES = 12     /* of the message, in a line */
};

/* States of a seat. */
enum {
    GPURT_SEAT_FREE = 0,    /* above it: where its last reader stopped */
    GPURT_SEAT_JOINING = 1, /* a lane is about to say where it begins */
    GPURT_SEAT_TAKEN = 2,
    GPURT_SEAT_BITS = 2
};

/* Where a reader is. Written by: the lane that has it; who waits for a seat takes it by its
 * state. A sector, so that readers do not share one. */
typedef struct GPURT_ALIGN(32) gpurt_seat {
    uint64_t xcursor; /* next ticket << 2 | GPURT_SEAT_* */
    uint64_t
        xskew; /* tickets that no reader of this seat has read; cursor less it: were read */
    uint64_t xlost;  /* of those: that came while it had a reader, which was too slow */
    uint32_t xjoins; /* one more at each join and each leave: number of its reader */
    uint32_t unused;
} gpurt_seat_t;

/* In device memory, at multiples of 256; seats and slots stand behind it. Owner: the host, which
 * keeps it for some time after its end. */
typedef struct GPURT_ALIGN(128) gpurt_broadcast_words {
    uint64_t xsent; /* written by: lanes that publish, join and close */
    uint64_t unused[15];
    gpurt_channel_desk_t desk;
    uint64_t xunseated;               /* joins that found no seat */
    uint64_t GPURT_ALIGN(128) xlimit; /* only grows; written by: lanes that lack room */
    uint64_t unused2[15];
} gpurt_broadcast_words_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_broadcast_words_t) == 384, "three lines");

/* A broadcast as kernels see it: put it into a kernel's arguments. Owner: who made it. Never
 * written. */
typedef struct gpurt_broadcast {
    gpurt_broadcast_words_t *words; /* NULL: none */
    gpurt_seat_t *seats;
    char *slots;
    uint32_t capacity, shift; /* slots, a power of two; its logarithm */
    uint32_t bytes, stride;   /* of a message, of a slot */
    uint32_t policy;          /* gpurt_broadcast_policy_t */
    uint32_t readers;         /* seats */
    uint32_t id;              /* given once in a process */
} gpurt_broadcast_t;

/* Who reads: one lane at a time. Owner: the caller, who may keep it from kernel to kernel. */
typedef struct gpurt_reader {
    gpurt_broadcast_t of;
    gpurt_seat_t *seat; /* NULL: none, or it has left */
    uint64_t next;      /* ticket */
    uint64_t lost;      /* since it joined */
    uint32_t join;      /* as in its seat */
} gpurt_reader_t;

GPURT_HD uint32_t gpurt_broadcast_lines(uint32_t bytes)
{
    return (bytes + GPURT_BROADCAST_LINE_BYTES - 1) / GPURT_BROADCAST_LINE_BYTES;
}

GPURT_HD size_t gpurt_broadcast_seats_bytes(const gpurt_broadcast_t *b)
{
    return b->readers * sizeof(gpurt_seat_t);
}
GPURT_HD size_t gpurt_broadcast_slots_bytes(const gpurt_broadcast_t *b)
{
    return (size_t)b->capacity * b->stride;
}

/* What a slot's lines carry that hold the message of a ticket. */
GPURT_HD uint32_t gpurt_broadcast_turn(const gpurt_broadcast_t *b, uint64_t ticket)
{
    return (uint32_t)(ticket >> b->shift);
}

/* ---- what it has done ---------------------------------------------------------------- */

typedef struct gpurt_broadcast_counts {
    uint64_t sent;
    uint64_t received, lost; /* by all readers together */
    uint64_t lag;            /* messages that the slowest reader has before it */
    uint32_t readers;
} gpurt_broadcast_counts_t;

/* Exact when nobody is at work, otherwise each part is of some moment. */
GPURT_HD gpurt_broadcast_counts_t gpurt_broadcast_count(const gpurt_broadcast_words_t *w,
                                                        const gpurt_seat_t *seats,
                                                        uint32_t count)
{
    gpurt_broadcast_counts_t n = {w->xsent >> 1, 0, 0, 0, 0};

    for (uint32_t i = 0; i < count; i++) {
        uint64_t cursor = seats[i].xcursor >> GPURT_SEAT_BITS;
        uint32_t state = (uint32_t)seats[i].xcursor & ((1u << GPURT_SEAT_BITS) - 1);

        n.received += cursor > seats[i].xskew ? cursor - seats[i].xskew : 0;
        n.lost += seats[i].xlost;
        n.readers += state == GPURT_SEAT_TAKEN;
        if (state == GPURT_SEAT_TAKEN && n.sent > cursor && n.sent - cursor > n.lag)
            n.lag = n.sent - cursor;
    }
    return n;
}

#endif
