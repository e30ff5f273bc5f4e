/* SPDX-License-Identifier: Apache-2.0 */
/* hostchannelmap.h - what a channel with ends on two places is made of: its description, the words
 * in device memory, the memory that both sides reach. The other end is the host's, or another
 * device's.
 *
 * hostchannel.h is what kernels call, hostchannels.h what the host calls; docs/HOST_CHANNELS.md
 * tells how they work together. Of two devices: peerchannel.h, peerchannels.h,
 * docs/PEER_CHANNELS.md. No memory is touched here.
 *
 * Tickets count messages. Each side has its own next one: lanes in the words, the host in the side.
 * What the sides tell each other lies in memory of the host, a word with one writer each:
 *
 *   xtold          tickets that the host has used: what it sent, or took. By the host
 *   xended         tickets that lanes drew before they closed. By the lane that closes
 *   marks[slot]    a ticket and 1: of a message that a kernel acknowledged. By its lane
 *   slot           a ticket and 1, then the message. By its sender; the host tells the turns of small
 *                  ones alone
 *
 * Between devices the sender's memory has the marks, the receiver's has xended and the slots. */
#ifndef GPURT_HOSTCHANNELMAP_H
#define GPURT_HOSTCHANNELMAP_H

#include <gpurt/impl/channelmap.h>

enum {
    GPURT_TO_DEVICE = 1, /* the host sends, kernels receive */
    GPURT_TO_HOST = 2,   /* kernels send, the host receives */
    GPURT_FROM_PEER = 3, /* the receiver's end; another device's kernels send */
    GPURT_TO_PEER = 4    /* the sender's end; another device's kernels receive */
};

enum {
    GPURT_HOSTCHANNEL_CAPACITY_MOST = 1 << 16,
    GPURT_HOSTCHANNEL_UNIT = 16, /* bytes of one access */
    GPURT_HOSTCHANNEL_HEAD = 4,  /* of a slot, before the message: its turn */
    GPURT_HOSTCHANNEL_SMALL =
        GPURT_HOSTCHANNEL_UNIT - GPURT_HOSTCHANNEL_HEAD, /* bytes beside the turn */
    GPURT_HOSTCHANNEL_BYTES_MOST = 4096 - GPURT_HOSTCHANNEL_HEAD
};
/* In a word that is told: the lower bits of a ticket, and whether its side closed. */
#define GPURT_HOSTCHANNEL_CLOSED  0x80000000u
#define GPURT_HOSTCHANNEL_TICKETS 0x7fffffffu

/* What the host counts. Written by: the host, under the channel's lock. */
typedef struct gpurt_hostchannel_tally {
    uint64_t xnext; /* ticket */
    uint64_t xdropped, xrefused, xlate;
    uint32_t xwaiting; /* threads that wait at this moment */
    uint32_t xclosed;
} gpurt_hostchannel_tally_t;

/* In memory of gpurt_host_create; behind it marks, then slots. Owner: the host. */
typedef struct GPURT_ALIGN(128) gpurt_hostchannel_side {
    uint32_t xtold; /* kernels read it over the bus: it has a line of its own */
    uint32_t GPURT_ALIGN(128) xended;
    gpurt_hostchannel_tally_t GPURT_ALIGN(128) tally;
} gpurt_hostchannel_side_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_hostchannel_side_t) == 384, "three lines");

/* In device memory. Owner: the host, which keeps it for some time after the channel's end. */
typedef struct GPURT_ALIGN(128) gpurt_hostchannel_words {
    uint32_t xdrawing; /* a lane draws tickets; it writes this, the next two and xlooks */
    uint32_t unused;
    uint64_t next;     /* ticket */
    uint64_t limit;    /* lanes may draw up to there */
    uint64_t xlooks;   /* reads of the host's word */
    uint64_t xdropped; /* messages; written by: any lane */
    gpurt_channel_desk_t desk;
} gpurt_hostchannel_words_t;

/* A channel as kernels see it: put it into a kernel's arguments. Owner: who made it. Never
 * written. */
typedef struct gpurt_hostchannel {
    gpurt_hostchannel_words_t *words; /* NULL: none */
    gpurt_hostchannel_side_t *side;
    uint32_t *marks; /* not of GPURT_TO_HOST */
    char *slots;
    const gpurt_hostchannel_words_t *far; /* the other end's; NULL: that is the host's */
    uint32_t capacity;                    /* slots, a power of two */
    uint32_t bytes, stride;               /* of a message, of a slot */
    uint32_t policy;                      /* gpurt_channel_policy_t, not DROP_OLDEST */
    uint32_t way;                         /* GPURT_TO_DEVICE ... */
    uint32_t id;                          /* given once in a process */
} gpurt_hostchannel_t;

/* Kernels send at this end. */
GPURT_HD bool gpurt_hostchannel_sends(const gpurt_hostchannel_t *c)
{
    return c->way == GPURT_TO_HOST || c->way == GPURT_TO_PEER;
}

GPURT_HD uint32_t gpurt_hostchannel_stride(uint32_t bytes)
{
    return (GPURT_HOSTCHANNEL_HEAD + bytes + GPURT_HOSTCHANNEL_UNIT - 1) /
           GPURT_HOSTCHANNEL_UNIT * GPURT_HOSTCHANNEL_UNIT;
}

GPURT_HD uint32_t gpurt_hostchannel_at(const gpurt_hostchannel_t *c, uint64_t ticket)
{
    return (uint32_t)ticket & (c->capacity - 1);
}

GPURT_HD char *gpurt_hostchannel_slot(const gpurt_hostchannel_t *c, uint64_t ticket)
{
    return c->slots + (size_t)gpurt_hostchannel_at(c, ticket) * c->stride;
}

/* All tickets, and the words that tell of them, wrap two laps after the first. */
GPURT_HD uint64_t gpurt_hostchannel_first(uint32_t capacity)
{
    return 0 - (uint64_t)capacity * GPURT_CHANNEL_FIRST_LAPS;
}

/* Tickets from `to` on, up to a word that was told, and so many more. */
GPURT_HD uint32_t gpurt_hostchannel_ahead(uint32_t told, uint32_t more, uint64_t to)
{
    return (told + more - (uint32_t)to) & GPURT_HOSTCHANNEL_TICKETS;
}

/* What a send does that finds no room: a time limit stands above the channel's policy. */
GPURT_HD uint32_t gpurt_hostchannel_policy(const gpurt_hostchannel_t *c, uint64_t ns)
{
    if (ns == UINT64_MAX)
        return c->policy;
    return ns == 0 ? (uint32_t)GPURT_CHANNEL_FAIL : (uint32_t)GPURT_CHANNEL_BLOCK;
}

/* Exact when nobody is at work, otherwise each part is of some moment. */
GPURT_HD gpurt_channel_counts_t
gpurt_hostchannel_count(const gpurt_hostchannel_t *c, const gpurt_hostchannel_words_t *w,
                        const gpurt_hostchannel_tally_t *host)
{
    const uint64_t first = gpurt_hostchannel_first(c->capacity);
    const bool sends = c->way == GPURT_TO_DEVICE;
    uint64_t in = (sends ? host->xnext : w->next) - first;
    uint64_t out = (sends ? w->next : host->xnext) - first;
    gpurt_channel_counts_t n;

    n.dropped = sends ? host->xdropped : w->xdropped;
    n.sent = in + n.dropped;
    n.received = out;
    n.depth = in > out ? in - out : 0;
    return n;
}

/* Of two devices; each end has its own words. */
GPURT_HD gpurt_channel_counts_t gpurt_peer_count(uint32_t capacity,
                                                 const gpurt_hostchannel_words_t *out,
                                                 const gpurt_hostchannel_words_t *in)
{
    const uint64_t first = gpurt_hostchannel_first(capacity);
    gpurt_channel_counts_t n;

    n.dropped = out->xdropped;
    n.sent = out->next - first + n.dropped;
    n.received = in->next - first;
    n.depth = out->next - first > n.received ? out->next - first - n.received : 0;
    return n;
}

#endif
