/* SPDX-License-Identifier: Apache-2.0 */
/* channelmap.h - what a channel is made of: its description, its words, its slots.
 *
 * channel.h is what kernels call, channels.h what the host calls; docs/COMMUNICATION.md tells how
 * they work together. No memory is touched here.
 *
 * Two words carry the protocol. Each holds the tickets of one side and the credits of the other:
 *
 *   xsent    tickets of senders << 28 | messages that receivers may ask for, biased
 *   xtaken   tickets of receivers << 28 | slots that senders may ask for, biased
 *
 * Who has a ticket has a slot: ticket modulo capacity. The slot's turn says whose it is: twice
 * the lap for the sender of that lap, one more for its receiver.
 *
 * Where receivers grant credits (GPURT_CHANNEL_GRANTED) a third word has the grants as tickets, and as
 * credits the room that nobody was promised.
 *
 * The ends of a pair (GPURT_CHANNEL_PAIR) draw from a line of their own, and tell in the words how
 * far they are: nobody needs credits. */
#ifndef GPURT_CHANNELMAP_H
#define GPURT_CHANNELMAP_H

#include <gpurt/impl/state.h>

/* What a send does that finds no room. */
typedef enum gpurt_channel_policy {
    GPURT_CHANNEL_BLOCK = 0,       /* waits */
    GPURT_CHANNEL_FAIL = 1,        /* GPURT_E_FULL; the message is the caller's still */
    GPURT_CHANNEL_DROP_NEWEST = 2, /* GPURT_E_DROPPED; the message is gone, and counted */
    GPURT_CHANNEL_DROP_OLDEST = 3, /* the oldest message makes room, and is counted */
    GPURT_CHANNEL_POLICIES
} gpurt_channel_policy_t;

/* Flags of a channel. */
enum {
    GPURT_CHANNEL_ALONE = 1, /* a message is all that is handed over: what the sender wrote
                              * elsewhere before need not be seen by the receiver */
    GPURT_CHANNEL_PAIR = 2,  /* one lane sends at a time, and closes; one receives */
    GPURT_CHANNEL_GRANTED = 4, /* senders need credits, which receivers grant */
    GPURT_CHANNEL_RESIZED = 8, /* its limit may change: up to its slots */
    GPURT_CHANNEL_FLAGS = 15
};

enum {
    GPURT_CHANNEL_OPEN = 0,
    GPURT_CHANNEL_SHUT = 1,     /* closed; what is in it can still be received */
    GPURT_CHANNEL_DESTROYED = 2 /* kept for a while so that late users are told */
};

enum {
    GPURT_CHANNEL_CREDIT_BITS = 28,
    GPURT_CHANNEL_TICKET_BITS = 64 - GPURT_CHANNEL_CREDIT_BITS,
    GPURT_CHANNEL_BIAS = 1 << 27,            /* credits of nobody */
    GPURT_CHANNEL_CLOSING = 1 << 26,         /* credits that a close takes */
    GPURT_CHANNEL_CLOSED_BELOW = -(1 << 25), /* fewer credits: it was closed */
    GPURT_CHANNEL_CAPACITY_MOST = 1 << 24,
    GPURT_CHANNEL_RESIZED_MOST = 1
                                 << 23, /* slots of one whose limit may change: what a lower
                                           * one takes is short, too */
    GPURT_CHANNEL_MANY_MOST =
        64,                    /* messages a lane asks for at once; with all lanes of a GPU
                                   * short of credits, a word stays above CLOSED_BELOW */
    GPURT_CHANNEL_LAPS = 4096, /* turns repeat after so many laps: tickets / most slots */
    GPURT_CHANNEL_FIRST_LAPS = 2,   /* before tickets wrap, so that it shows at once */
    GPURT_CHANNEL_LINE = 16,        /* bytes; a turn and 12 of the message */
    GPURT_CHANNEL_LINES_MOST = 4,   /* of a larger message the turn stands elsewhere */
    GPURT_CHANNEL_APART_FROM = 512, /* bytes: from then on, apart from other turns */
    GPURT_CHANNEL_BYTES_MOST = 1 << 20,
    GPURT_CHANNEL_NAME_BYTES = 48
};
#define GPURT_CHANNEL_TICKETS (1ull << GPURT_CHANNEL_TICKET_BITS)
/* The word of the limit: messages, a lane that changes it, how often it was changed. */
#define GPURT_CHANNEL_LIMIT_BUSY   (1ull << 32)
#define GPURT_CHANNEL_LIMIT_CHANGE (1ull << 33)

/* An end of a pair: plain memory, in the cache of who uses it. Written by: the lane that has it. */
typedef struct GPURT_ALIGN(128) gpurt_channel_end {
    uint64_t next;  /* ticket */
    uint64_t limit; /* of the sender: it knows of room up to there */
} gpurt_channel_end_t;

/* What channels of all kinds count and tell of themselves. Written on ways that are seldom gone,
 * with atomics, by any lane. */
typedef struct gpurt_channel_desk {
    uint64_t xrefused;             /* sends that found it full or closed */
    uint64_t xcancelled, xlate;    /* waits that ended so */
    uint32_t xsending, xreceiving; /* lanes that wait at this moment */
    uint32_t xstate;               /* GPURT_CHANNEL_OPEN ... */
    uint32_t id;                   /* as in descriptions of it */
    gpurt_waitable_t waitable;
    int32_t xanswer; /* to the host's last close; written by: its kernel */
    char name[GPURT_CHANNEL_NAME_BYTES];
} gpurt_channel_desk_t;

/* In device memory, at multiples of 256. Owner: the host, which keeps it for some time after the
 * channel's end. The three words are 256 bytes apart: nearer ones share a part of the cache, which
 * does their additions one after the other (bench_channel, apart_*). */
typedef struct GPURT_ALIGN(128) gpurt_channel_words {
    uint64_t xsent; /* written by: lanes that send, and that receive */
    uint64_t unused[15];
    /* Written on ways that are seldom gone, with atomics, by any lane. */
    uint64_t xsent_wraps, xtaken_wraps;  /* of tickets */
    uint64_t xdropped_new, xdropped_old; /* messages, by what was dropped */
    gpurt_channel_desk_t desk;
    uint64_t
        GPURT_ALIGN(128) xtaken; /* written by: lanes that receive, that send, that close */
    uint64_t unused2[31];
    uint64_t
        xgranted;    /* written by: lanes that receive, that grant, that change the limit */
    uint64_t xlimit; /* written by: lanes that change it */
    uint32_t xdone;  /* of the host's last grant; written by: its kernel */
    uint32_t unused3[27];
    gpurt_channel_end_t out, in; /* of a pair; who watches does not read them */
} gpurt_channel_words_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_channel_words_t) == 896, "seven lines");
GPURT_STATIC_ASSERT(offsetof(gpurt_channel_words_t, xtaken) == 256, "as above");
GPURT_STATIC_ASSERT(offsetof(gpurt_channel_words_t, xgranted) == 512, "as above");
#define GPURT_CHANNEL_WATCHED_BYTES offsetof(gpurt_channel_words_t, out)

/* A channel as kernels see it: put it into a kernel's arguments. Owner: who made it. Never
 * written. */
typedef struct gpurt_channel {
    gpurt_channel_words_t *words; /* NULL: none */
    char *slots;
    uint32_t capacity, shift; /* slots, a power of two; its logarithm */
    uint32_t bytes, stride;   /* of a message, of a slot */
    uint32_t policy;          /* gpurt_channel_policy_t */
    uint32_t flags;           /* GPURT_CHANNEL_ALONE ... */
    uint32_t id;              /* given once in a process */
} gpurt_channel_t;

/* ---- slots --------------------------------------------------------------------------- */

/* What is known of messages when a call is compiled: their bytes, at what multiples they lie, and
 * whether the channel is a pair. */
#define GPURT_CHANNEL_SHAPE_(m) ((uint64_t)sizeof *(m) | (uint64_t) __alignof__(*(m)) << 32)
#define GPURT_CHANNEL_SHAPE_OF_(c, m) \
    (GPURT_CHANNEL_SHAPE_(m) | ((uint64_t)sizeof *(c)->ends - 1) << 63)
#define GPURT_CHANNEL_SHAPE_BYTES_(shape) ((uint32_t)(shape))
#define GPURT_CHANNEL_SHAPE_ALIGN_(shape) ((uint32_t)((shape) >> 32) & 0xffffffu)
#define GPURT_CHANNEL_SHAPE_PAIR_(shape)  ((bool)((shape) >> 63))

/* Lines of a message that carries its turn in each of them; 0: it is larger. */
GPURT_HD uint32_t gpurt_channel_lines(uint32_t bytes)
{
    uint32_t lines = (bytes + 11) / 12;

    return lines > GPURT_CHANNEL_LINES_MOST ? 0 : lines;
}

GPURT_HD uint32_t gpurt_channel_stride(uint32_t bytes)
{
    uint32_t lines = gpurt_channel_lines(bytes);

    return GPURT_CHANNEL_LINE * (lines ? lines : (bytes + 15) / 16);
}

/* Turns of larger messages stand behind the slots, side by side: a warp reads those of its messages at once. Of messages
 * that a warp may send as one (channelwarp.h) each has a sector, since many warps wait for turns then. */
GPURT_HD uint32_t gpurt_channel_turn_bytes(uint32_t bytes)
{
    if (gpurt_channel_lines(bytes))
        return 0;
    return bytes < GPURT_CHANNEL_APART_FROM ? (uint32_t)sizeof(uint32_t) : 32u;
}

/* Of all slots and turns. */
GPURT_HD size_t gpurt_channel_slots_bytes(const gpurt_channel_t *c)
{
    return (size_t)c->capacity * (c->stride + gpurt_channel_turn_bytes(c->bytes));
}

GPURT_HD bool gpurt_channel_is_pair(const gpurt_channel_t *c)
{
    return c->flags & GPURT_CHANNEL_PAIR;
}
GPURT_HD bool gpurt_channel_is_granted(const gpurt_channel_t *c)
{
    return c->flags & GPURT_CHANNEL_GRANTED;
}
GPURT_HD bool gpurt_channel_is_resized(const gpurt_channel_t *c)
{
    return c->flags & GPURT_CHANNEL_RESIZED;
}

/* ---- the two words ------------------------------------------------------------------- */

GPURT_HD int32_t gpurt_channel_credits(uint64_t word)
{
    return (int32_t)(word & ((1u << GPURT_CHANNEL_CREDIT_BITS) - 1)) - GPURT_CHANNEL_BIAS;
}
GPURT_HD uint64_t gpurt_channel_tickets(uint64_t word)
{
    return word >> GPURT_CHANNEL_CREDIT_BITS;
}

/* Messages between two tickets. None where the receivers seem ahead: their word was read later,
 * or the sender of a pair has not told yet what it stored. */
GPURT_HD uint64_t gpurt_channel_between(uint64_t sent, uint64_t taken)
{
    uint64_t n = (gpurt_channel_tickets(sent) - gpurt_channel_tickets(taken)) &
                 (GPURT_CHANNEL_TICKETS - 1);

    return n < GPURT_CHANNEL_TICKETS / 2 ? n : 0;
}

GPURT_HD uint64_t gpurt_channel_first(uint32_t capacity)
{
    return GPURT_CHANNEL_TICKETS - (uint64_t)capacity * GPURT_CHANNEL_FIRST_LAPS;
}

/* A word with so many credits, as it is at first. */
GPURT_HD uint64_t gpurt_channel_word(uint32_t capacity, uint32_t credits)
{
    return gpurt_channel_first(capacity) << GPURT_CHANNEL_CREDIT_BITS |
           (GPURT_CHANNEL_BIAS + credits);
}

/* Turn of the sender of a ticket; its receiver's is one more. 0 in the first lap. */
GPURT_HD uint32_t gpurt_channel_turn(const gpurt_channel_t *c, uint64_t ticket)
{
    return (uint32_t)((ticket >> c->shift) + GPURT_CHANNEL_FIRST_LAPS) %
           GPURT_CHANNEL_LAPS * 2;
}

/* ---- what it has done ---------------------------------------------------------------- */

typedef struct gpurt_channel_counts {
    uint64_t sent, received, dropped, depth; /* sent = received + dropped + depth */
} gpurt_channel_counts_t;

/* Credits that senders have left, when nobody is at work. */
GPURT_HD uint32_t gpurt_channel_credits_left(const gpurt_channel_words_t *w)
{
    return (uint32_t)gpurt_channel_between(w->xgranted, w->xsent);
}

/* All of one side since the begin. */
GPURT_HD uint64_t gpurt_channel_drawn(uint32_t capacity, uint64_t word, uint64_t wraps)
{
    return wraps * GPURT_CHANNEL_TICKETS + gpurt_channel_tickets(word) -
           gpurt_channel_first(capacity);
}

/* Exact when nobody is at work, otherwise each part is of some moment. */
GPURT_HD gpurt_channel_counts_t gpurt_channel_count(uint32_t capacity,
                                                    const gpurt_channel_words_t *w)
{
    gpurt_channel_counts_t n;
    uint64_t in = gpurt_channel_drawn(capacity, w->xsent, w->xsent_wraps);
    uint64_t out = gpurt_channel_drawn(capacity, w->xtaken, w->xtaken_wraps);

    n.sent = in + w->xdropped_new;
    n.dropped = w->xdropped_new + w->xdropped_old;
    n.received = out > w->xdropped_old ? out - w->xdropped_old : 0;
    n.depth = in > out ? in - out : 0;
    return n;
}

#endif
