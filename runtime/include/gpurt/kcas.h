/* SPDX-License-Identifier: Apache-2.0 */
/* kcas.h - several words compared and exchanged as one.
 *
 *     gpurt_kcas_word_t move[2] = {{&from->balance, a, a - 5}, {&to->balance, b, b + 5}};
 *
 *     if (gpurt_kcas(&p->kcas, gpurt_global_id(), move, 2) == GPURT_KCAS_DONE)
 *         ...                        all words had their expected values, and have the new ones
 *     a = gpurt_kcas_load(&p->kcas, &from->balance);
 *
 * A word that takes part is changed by gpurt_kcas alone and read by gpurt_kcas_load, because it
 * holds a reference while an operation is under way. Its values are below 2^63. Before the first
 * operation, and after the last, it is a plain word.
 *
 * Each lane that may call at one time needs a slot of its own, zeroed once and used again without
 * end: no memory is allocated or freed. A cancelled block may leave an operation under way: others
 * finish it, but its slot must not be given to another lane before it is zeroed, and that only
 * when no lane uses these words.
 *
 * Progress: lock-free. Who meets another's operation finishes it first; words are taken in the
 * order of their addresses, so no two wait for each other. A load never helps and is lock-free.
 * Order: an operation that is done acquires and releases, one that differs acquires; a load
 * acquires. Scope: the device.
 * Cost without contention: 3 atomics and 4 fences a word, 1 atomic and 2 fences an operation. One of
 * the fences a word and one an operation are sequentially consistent.
 * Context: device code, any lane; the words and slots lie in global memory. */
#ifndef GPURT_KCAS_H
#define GPURT_KCAS_H

#include <gpurt/atomic.h>

enum {
    GPURT_KCAS_WORDS = 8,      /* of one operation, at most */
    GPURT_KCAS_SLOTS = 1 << 22 /* lanes at a time, at most */
};

typedef enum gpurt_kcas_result {
    GPURT_KCAS_DONE = 0,    /* every word was as expected, and has changed */
    GPURT_KCAS_DIFFERS = 1, /* one was not, and none has changed */
    GPURT_KCAS_INVALID =
        2 /* no words or too many, one twice, a value too large, no such slot */
} gpurt_kcas_result_t;

typedef struct gpurt_kcas_word {
    uint64_t *at;
    uint64_t expected, desired;
} gpurt_kcas_word_t;

/* One lane's operation, and its bid for one word on behalf of any operation. Others read both, so
 * the numbers say whether what they have read is still of the one they mean. */
typedef struct GPURT_ALIGN(256) gpurt_kcas_slot {
    uint64_t xstate; /* the operation's number, above 2 bits of gpurt_kcas_state */
    uint64_t xcount;
    uint64_t xat[GPURT_KCAS_WORDS], xexpected[GPURT_KCAS_WORDS], xdesired[GPURT_KCAS_WORDS];
    uint64_t xbid; /* the bid's number */
    uint64_t xbid_for, xbid_at, xbid_expected;
} gpurt_kcas_slot_t;

/* Owner of the slots: the program. */
typedef struct gpurt_kcas {
    gpurt_kcas_slot_t *slots;
    uint32_t slot_count;
} gpurt_kcas_t;

/* ---- references ------------------------------------------------------------------------ */
/* What a word holds meanwhile: mark, kind, slot, number. */
#define GPURT_KCAS_MARK (1ull << 63)
#define GPURT_KCAS_BID  (1ull << 62)
enum {
    GPURT_KCAS_NUMBER_BITS = 40
};

enum gpurt_kcas_state { /* of an operation */
    GPURT_KCAS_OPEN = 0,
    GPURT_KCAS_FAILED = 1,
    GPURT_KCAS_WON = 2,
    GPURT_KCAS_PAST = 3 /* never stored: its slot has another operation */
};

GPURT_DEV uint64_t gpurt_kcas_ref(uint64_t kind, uint32_t slot, uint64_t number)
{
    return GPURT_KCAS_MARK | kind | (uint64_t)slot << GPURT_KCAS_NUMBER_BITS | number;
}
GPURT_DEV gpurt_kcas_slot_t *gpurt_kcas_slot(const gpurt_kcas_t *k, uint64_t ref)
{
    return &k->slots[(ref & ~(GPURT_KCAS_MARK | GPURT_KCAS_BID)) >> GPURT_KCAS_NUMBER_BITS];
}
GPURT_DEV uint64_t gpurt_kcas_number(uint64_t ref)
{
    return ref & ((1ull << GPURT_KCAS_NUMBER_BITS) - 1);
}
GPURT_DEV bool gpurt_kcas_is_bid(uint64_t value)
{
    return (value & (GPURT_KCAS_MARK | GPURT_KCAS_BID)) ==
           (GPURT_KCAS_MARK | GPURT_KCAS_BID);
}

/* A slot's fields, stored and loaded several at a time. On a GPU one fence orders all of them, where a
 * release waits some 800 cycles each; on the CPU each has its own order, which the race detector
 * understands. `ahead`: what the lane has stored comes before the fields that it puts next. `behind`: the
 * fields that it has got come before what it loads next. */
GPURT_DEV void gpurt_kcas_ahead(void)
{
    gpurt_release_ahead_dev();
}
GPURT_DEV void gpurt_kcas_put(uint64_t *field, uint64_t value)
{
    if (GPURT_IN_DEVICE)
        gpurt_store_relaxed_dev_u64(field, value); /* relaxed: behind the fence */
    else
        gpurt_store_release_dev_u64(field, value); /* KC2.rel, KC3.rel */
}
GPURT_DEV uint64_t gpurt_kcas_get(const uint64_t *field)
{
    return GPURT_IN_DEVICE
               ? gpurt_load_relaxed_dev_u64(field)  /* relaxed: before the fence */
               : gpurt_load_acquire_dev_u64(field); /* KC2.acq, KC3.acq */
}
GPURT_DEV void gpurt_kcas_behind(void)
{
    if (GPURT_IN_DEVICE)
        gpurt_fence_acquire_dev();
}

GPURT_DEV uint32_t gpurt_kcas_state_of(const gpurt_kcas_t *k, uint64_t op)
{
    uint64_t state =
        gpurt_load_acquire_dev_u64(&gpurt_kcas_slot(k, op)->xstate); /* KC2.acq */

    return state >> 2 == gpurt_kcas_number(op) ? (uint32_t)(state & 3)
                                               : (uint32_t)GPURT_KCAS_PAST;
}

/* Word i of an operation. Returns: false, it is past. The number is read behind the words. */
GPURT_DEV bool gpurt_kcas_entry(const gpurt_kcas_t *k, uint64_t op, uint32_t i,
                                gpurt_kcas_word_t *out)
{
    gpurt_kcas_slot_t *s = gpurt_kcas_slot(k, op);

    out->at = (uint64_t *)(uintptr_t)gpurt_kcas_get(&s->xat[i]);
    out->expected = gpurt_kcas_get(&s->xexpected[i]);
    out->desired = gpurt_kcas_get(&s->xdesired[i]);
    gpurt_kcas_behind();
    /* relaxed: behind acquires */
    return gpurt_load_relaxed_dev_u64(&s->xstate) >> 2 == gpurt_kcas_number(op);
}

/* ---- bids ------------------------------------------------------------------------------ */
/* A word is taken in two steps: a bid comes into it first, then the operation if it is still
 * open, or else the old value again. Without bids a lane that slept would take a word for an
 * operation that has long been decided. A lane makes no new bid before its last has left the word.
 * So if the exchange finds it there, what was read of it is of this bid. */
GPURT_DEV void gpurt_kcas_bid_end(const gpurt_kcas_t *k, uint64_t bid)
{
    gpurt_kcas_slot_t *s = gpurt_kcas_slot(k, bid);
    uint64_t op = gpurt_kcas_get(&s->xbid_for);
    uint64_t *at = (uint64_t *)(uintptr_t)gpurt_kcas_get(&s->xbid_at);
    uint64_t expected = gpurt_kcas_get(&s->xbid_expected), seen = bid;
    bool open;

    /* KC4: who decides looks at the word after that. On a GPU it acquires what has been got, too. */
    gpurt_fence_store_load_dev();
    open = gpurt_kcas_state_of(k, op) == GPURT_KCAS_OPEN;
    /* relaxed, as in settle: only atomics change the word, which pass on the bid's release */
    gpurt_cas_relaxed_dev_u64(at, &seen, open ? op : expected);
}

/* The lane's next bid: for a word, on behalf of an operation. */
GPURT_DEV uint64_t gpurt_kcas_bid_make(const gpurt_kcas_t *k, uint32_t own, uint64_t op,
                                       const gpurt_kcas_word_t *w)
{
    gpurt_kcas_slot_t *s = &k->slots[own];
    uint64_t number = gpurt_kcas_number(gpurt_load_relaxed_dev_u64(&s->xbid) +
                                        1); /* relaxed, both: the lane's own */

    gpurt_store_relaxed_dev_u64(&s->xbid, number);
    gpurt_kcas_ahead();
    gpurt_kcas_put(&s->xbid_for, op);
    gpurt_kcas_put(&s->xbid_at, (uint64_t)(uintptr_t)w->at);
    gpurt_kcas_put(&s->xbid_expected, w->expected);
    return gpurt_kcas_ref(GPURT_KCAS_BID, own, number);
}

/* Takes a word for an operation, if that is open. Returns: what the word was; of a reference: of
 * an operation. */
GPURT_DEV uint64_t gpurt_kcas_bid(const gpurt_kcas_t *k, uint32_t own, uint64_t op,
                                  const gpurt_kcas_word_t *w)
{
    uint64_t bid = gpurt_kcas_bid_make(k, own, op, w), seen;

    for (;;) {
        seen = w->expected;
        if (gpurt_cas_acq_rel_dev_u64(w->at, &seen, bid)) { /* KC5.rel, KC5.acq */
            gpurt_kcas_bid_end(k, bid);
            return w->expected;
        }
        if (!gpurt_kcas_is_bid(seen))
            return seen;
        gpurt_kcas_bid_end(k, seen);
    }
}

/* ---- operations ------------------------------------------------------------------------ */
/* Takes the words of an open operation, and decides. Returns: the operation that is in the way,
 * or 0. */
GPURT_DEV uint64_t gpurt_kcas_decide(const gpurt_kcas_t *k, uint32_t own, uint64_t op)
{
    gpurt_kcas_slot_t *s = gpurt_kcas_slot(k, op);
    uint32_t count =
        (uint32_t)gpurt_kcas_get(&s->xcount); /* each entry says if it is past */
    uint64_t open = gpurt_kcas_number(op) << 2 | GPURT_KCAS_OPEN, found;
    uint64_t verdict = GPURT_KCAS_WON;
    gpurt_kcas_word_t w;

    for (uint32_t i = 0; i < count && verdict == GPURT_KCAS_WON; i++) {
        if (!gpurt_kcas_entry(k, op, i, &w))
            return 0;
        found = gpurt_kcas_bid(k, own, op, &w);
        if (found == op || found == w.expected)
            continue;
        if (found & GPURT_KCAS_MARK)
            return found;
        verdict = GPURT_KCAS_FAILED;
    }
    /* relaxed: what others had released into the words comes by the words */
    gpurt_cas_relaxed_dev_u64(&s->xstate, &open, open | verdict);
    return 0;
}

/* The words of a decided operation get their values, and no bid for it is left in them. */
GPURT_DEV void gpurt_kcas_settle(const gpurt_kcas_t *k, uint64_t op)
{
    uint32_t count = (uint32_t)gpurt_kcas_get(&gpurt_kcas_slot(k, op)->xcount);
    uint32_t state = gpurt_kcas_state_of(k, op);
    gpurt_kcas_word_t w;

    gpurt_fence_store_load_dev(); /* KC4: a bid that is not seen here sees the decision */
    for (uint32_t i = 0; i < count && gpurt_kcas_entry(k, op, i, &w); i++) {
        uint64_t seen;

        while (gpurt_kcas_is_bid(seen = gpurt_load_acquire_dev_u64(w.at))) /* KC5.acq */
            gpurt_kcas_bid_end(k, seen);
        if (seen == op)
            gpurt_cas_relaxed_dev_u64(w.at, &seen, /* relaxed: as above */
                                      state == GPURT_KCAS_WON ? w.desired : w.expected);
    }
}

/* Returns: as gpurt_kcas_decide. */
GPURT_DEV uint64_t gpurt_kcas_help(const gpurt_kcas_t *k, uint32_t own, uint64_t op)
{
    uint64_t blocker = 0;

    if (gpurt_kcas_state_of(k, op) == GPURT_KCAS_OPEN)
        blocker = gpurt_kcas_decide(k, own, op);
    if (!blocker)
        gpurt_kcas_settle(k, op);
    return blocker;
}

GPURT_DEV bool gpurt_kcas_is_valid(const gpurt_kcas_t *k, uint32_t own,
                                   const gpurt_kcas_word_t *words, uint32_t n)
{
    bool valid = own < k->slot_count && n > 0 && n <= GPURT_KCAS_WORDS;

    for (uint32_t i = 0; valid && i < n; i++) {
        valid = !((words[i].expected | words[i].desired) & GPURT_KCAS_MARK);
        for (uint32_t j = 0; j < i; j++)
            valid &= words[j].at != words[i].at;
    }
    return valid;
}

/* The lane's next operation, its words by address. Returns: its reference. */
GPURT_DEV uint64_t gpurt_kcas_begin(const gpurt_kcas_t *k, uint32_t own,
                                    const gpurt_kcas_word_t *words, uint32_t n)
{
    gpurt_kcas_slot_t *s = &k->slots[own];
    uint64_t number =
        ((gpurt_load_relaxed_dev_u64(&s->xstate) >> 2) + 1) & /* relaxed: its own */
        ((1ull << GPURT_KCAS_NUMBER_BITS) - 1);

    /* relaxed: the releases below keep it in front of the words */
    gpurt_store_relaxed_dev_u64(&s->xstate, number << 2 | GPURT_KCAS_OPEN);
    gpurt_kcas_ahead();
    gpurt_kcas_put(&s->xcount, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = 0;

        for (uint32_t j = 0; j < n; j++)
            place += (uintptr_t)words[j].at < (uintptr_t)words[i].at;
        gpurt_kcas_put(&s->xat[place], (uint64_t)(uintptr_t)words[i].at);
        gpurt_kcas_put(&s->xexpected[place], words[i].expected);
        gpurt_kcas_put(&s->xdesired[place], words[i].desired);
    }
    return gpurt_kcas_ref(0, own, number);
}

/* own: the lane's slot. A loop, not a recursion: an operation in the way becomes the one to
 * finish, and then the own one begins anew. */
GPURT_DEVN gpurt_kcas_result_t gpurt_kcas(const gpurt_kcas_t *k, uint32_t own,
                                          const gpurt_kcas_word_t *words, uint32_t n)
{
    uint64_t op, at, blocker;

    if (!gpurt_kcas_is_valid(k, own, words, n))
        return GPURT_KCAS_INVALID;
    op = at = gpurt_kcas_begin(k, own, words, n);
    while ((blocker = gpurt_kcas_help(k, own, at)) != 0 || at != op)
        at = blocker ? blocker
                     : op; /* the lane itself settles its own, then its slot is free */
    return gpurt_kcas_state_of(k, op) == GPURT_KCAS_WON ? GPURT_KCAS_DONE
                                                        : GPURT_KCAS_DIFFERS;
}

/* ---- loads ----------------------------------------------------------------------------- */
/* What a bid's word is meanwhile. Returns: false, the bid has ended. */
GPURT_DEV bool gpurt_kcas_bid_value(const gpurt_kcas_t *k, uint64_t bid, uint64_t *value)
{
    gpurt_kcas_slot_t *s = gpurt_kcas_slot(k, bid);

    *value = gpurt_load_acquire_dev_u64(&s->xbid_expected); /* KC3.acq */
    return gpurt_load_relaxed_dev_u64(&s->xbid) ==
           gpurt_kcas_number(bid); /* relaxed: behind it */
}

/* What the word of an operation is. Returns: false, the operation is past. */
GPURT_DEV bool gpurt_kcas_op_value(const gpurt_kcas_t *k, uint64_t op, const uint64_t *at,
                                   uint64_t *value)
{
    uint32_t count =
        (uint32_t)gpurt_load_acquire_dev_u64(&gpurt_kcas_slot(k, op)->xcount); /* KC2.acq */
    bool won = gpurt_kcas_state_of(k, op) == GPURT_KCAS_WON;
    gpurt_kcas_word_t w;

    for (uint32_t i = 0; i < count; i++) {
        if (!gpurt_kcas_entry(k, op, i, &w))
            return false;
        *value = won ? w.desired : w.expected;
        if (w.at == at)
            return true;
    }
    return false;
}

GPURT_DEVN uint64_t gpurt_kcas_load(const gpurt_kcas_t *k, const uint64_t *at)
{
    uint64_t value, inside;

    while ((value = gpurt_load_acquire_dev_u64(at)) & GPURT_KCAS_MARK) { /* KC5.acq */
        if (gpurt_kcas_is_bid(value) ? gpurt_kcas_bid_value(k, value, &inside)
                                     : gpurt_kcas_op_value(k, value, at, &inside))
            return inside;
    }
    return value;
}

#endif
