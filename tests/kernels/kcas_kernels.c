/* SPDX-License-Identifier: Apache-2.0 */
#include "kcas_kernels.h"

#include <gpurt/device.h>

GPURT_DEV uint32_t kcas_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

GPURT_DEV void kcas_wrong(const struct kcas_args *p)
{
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xwrong, 1); /* relaxed, all: statistics */
}

/* Between the first account and the next ones, a unit each, there or back, in a random order. What
 * is expected is at times a guess: so an operation fails, and the value comes back meanwhile. */
GPURT_DEVN void kcas_move(const struct kcas_args *p, uint32_t *state)
{
    uint32_t n = 2 + kcas_random(state) % 3, first = kcas_random(state) % p->accounts_used;
    uint64_t unit = kcas_random(state) % 2 ? 1 : -1ull;
    bool guess = kcas_random(state) % 2;
    gpurt_kcas_word_t words[4];
    gpurt_kcas_result_t result;

    n = n < p->accounts_used ? n : p->accounts_used;
    for (uint32_t i = 0; i < n; i++) {
        words[i].at = &p->accounts[(first + i) % p->accounts_used];
        words[i].expected =
            guess ? (uint64_t)KCAS_MONEY : gpurt_kcas_load(&p->kcas, words[i].at);
        words[i].desired = words[i].expected + (i ? unit : unit - n * unit);
    }
    result = gpurt_kcas(&p->kcas, gpurt_global_id(), words, n);
    if (result == GPURT_KCAS_INVALID)
        kcas_wrong(p);
    gpurt_red_add_relaxed_dev_u32(
        result == GPURT_KCAS_DONE ? &p->verdict->xdone : &p->verdict->xdiffers, 1);
    for (uint32_t i = 0; i < n && result == GPURT_KCAS_DONE; i++)
        gpurt_red_add_relaxed_dev_u64(&p->verdict->xmoved[words[i].at - p->accounts],
                                      words[i].desired - words[i].expected);
}

/* All accounts as of one moment: then no money is under way. */
GPURT_DEVN void kcas_moment(const struct kcas_args *p)
{
    gpurt_kcas_word_t words[KCAS_ACCOUNTS];
    uint64_t sum = 0;

    for (uint32_t i = 0; i < KCAS_ACCOUNTS; i++) {
        words[i].at = &p->accounts[KCAS_ACCOUNTS - 1 - i];
        words[i].expected = words[i].desired = gpurt_kcas_load(&p->kcas, words[i].at);
        sum += words[i].expected;
    }
    if (gpurt_kcas(&p->kcas, gpurt_global_id(), words, KCAS_ACCOUNTS) != GPURT_KCAS_DONE)
        return;
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xmoments, 1);
    if (sum != (uint64_t)KCAS_ACCOUNTS * KCAS_MONEY)
        kcas_wrong(p);
}

GPURT_KERNEL(kcas_storm, struct kcas_args, p)
{
    uint32_t state = (gpurt_global_id() + 1) * 747796405u + p->seed * 2891336453u;

    if (gpurt_lane() >= p->lanes)
        return;
    for (uint32_t i = 0; i < p->rounds; i++)
        if (kcas_random(&state) % 4)
            kcas_move(p, &state);
        else
            kcas_moment(p);
}

/* A pair of words as a lock: what its owners write plainly, the next one has. */
GPURT_KERNEL(kcas_lock, struct kcas_args, p)
{
    gpurt_kcas_word_t words[2] = {{p->accounts, 0, 1}, {p->accounts + 1, 0, 1}};
    gpurt_kcas_word_t back[2] = {{p->accounts, 1, 0}, {p->accounts + 1, 1, 0}};

    if (gpurt_lane() >= p->lanes)
        return;
    for (uint32_t i = 0; i < p->rounds;) {
        if (gpurt_kcas(&p->kcas, gpurt_global_id(), words, 2) != GPURT_KCAS_DONE) {
            gpurt_relax();
            continue;
        }
        p->verdict->owned++;
        if (gpurt_kcas(&p->kcas, gpurt_global_id(), back, 2) != GPURT_KCAS_DONE)
            kcas_wrong(p);
        i++;
    }
}

/* One lane plays two. The second has a bid for the third word when the first fails at the second
 * word: nothing of the operation may stay, for the first lane's slot is soon another's. */
GPURT_KERNEL(kcas_left, struct kcas_args, p)
{
    gpurt_kcas_word_t words[3];
    uint64_t op, bid, seen = KCAS_MONEY;

    if (gpurt_global_id() != 0)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        words[i].at = &p->accounts[i];
        words[i].expected = i == 1 ? KCAS_MONEY + 1 : KCAS_MONEY;
        words[i].desired = 0;
    }
    op = gpurt_kcas_begin(&p->kcas, 0, words, 3);
    gpurt_kcas_bid(&p->kcas, 0, op, &words[0]);
    bid = gpurt_kcas_bid_make(&p->kcas, 1, op, &words[2]);
    gpurt_cas_relaxed_dev_u64(words[2].at, &seen, bid); /* relaxed: one lane */
    if (gpurt_kcas_load(&p->kcas, words[2].at) != KCAS_MONEY)
        kcas_wrong(p);
    gpurt_kcas_help(&p->kcas, 0, op);
    for (uint32_t i = 0; i < 3; i++)
        if (gpurt_load_relaxed_dev_u64(words[i].at) != KCAS_MONEY) /* relaxed: one lane */
            kcas_wrong(p);
}

/* Between the decision and the new values a load has the new value already. */
GPURT_KERNEL(kcas_decided, struct kcas_args, p)
{
    gpurt_kcas_word_t words[2] = {{p->accounts, KCAS_MONEY, 7},
                                  {p->accounts + 1, KCAS_MONEY, 8}};
    uint64_t op;

    if (gpurt_global_id() != 0)
        return;
    op = gpurt_kcas_begin(&p->kcas, 0, words, 2);
    gpurt_kcas_decide(&p->kcas, 0, op);
    if (gpurt_load_relaxed_dev_u64(p->accounts) != op || /* relaxed: one lane */
        gpurt_kcas_load(&p->kcas, p->accounts) != 7 ||
        gpurt_kcas_load(&p->kcas, p->accounts + 1) != 8)
        kcas_wrong(p);
    gpurt_kcas_settle(&p->kcas, op);
    for (uint32_t i = 0; i < 2; i++) {
        words[i].expected = words[i].desired;
        words[i].desired = KCAS_MONEY;
    }
    if (gpurt_kcas(&p->kcas, 0, words, 2) != GPURT_KCAS_DONE)
        kcas_wrong(p);
}

/* What is refused. */
GPURT_KERNEL(kcas_refusals, struct kcas_args, p)
{
    gpurt_kcas_word_t words[2] = {{p->accounts, KCAS_MONEY, 7},
                                  {p->accounts, KCAS_MONEY, 8}};

    if (gpurt_global_id() != 0)
        return;
    if (gpurt_kcas(&p->kcas, 0, words, 2) != GPURT_KCAS_INVALID ||
        gpurt_kcas(&p->kcas, 0, words, 0) != GPURT_KCAS_INVALID ||
        gpurt_kcas(&p->kcas, 0, words, GPURT_KCAS_WORDS + 1) != GPURT_KCAS_INVALID ||
        gpurt_kcas(&p->kcas, p->kcas.slot_count, words, 1) != GPURT_KCAS_INVALID)
        kcas_wrong(p);
    words[1].at++;
    words[1].desired = GPURT_KCAS_MARK;
    if (gpurt_kcas(&p->kcas, 0, words, 2) != GPURT_KCAS_INVALID)
        kcas_wrong(p);
    words[1].desired = 8;
    words[1].expected = 0; /* it has another value */
    if (gpurt_kcas(&p->kcas, 0, words, 2) != GPURT_KCAS_DIFFERS)
        kcas_wrong(p);
}
