/* SPDX-License-Identifier: Apache-2.0 */
/* phaser.h - a barrier between blocks of running kernels, in two halves (arrive, wait), whose
 * members come and go, and at which nobody waits for ever.
 *
 *     gpurt_phaser_t *p;                  device memory; the host or one lane made it:
 *     gpurt_phaser_init(p, members)
 *
 * Context: device code; one lane speaks for a member, be that a block, a warp or a cluster.
 *   uint32_t gpurt_phaser_arrive(p)              ends the caller's part of the phase; a token
 *   gpurt_status_t gpurt_phaser_wait(p, token)   until all members arrived
 *   gpurt_status_t gpurt_phaser_wait_for(p, token, ns)
 *   bool gpurt_phaser_test(p, token)             whether they have
 *   gpurt_status_t gpurt_phaser_join(p)          one more member, from the current phase on
 *   void gpurt_phaser_drop(p)                    arrives, and is no member any more
 *   void gpurt_phaser_break(p)                   ends all waits, now and later
 * Each member arrives once a phase, and waits before it arrives again.
 *
 * Whole blocks (every thread calls), member: a gpurt_member_t in shared memory, one a phaser:
 *   gpurt_status_t gpurt_member_begin(member, p)   the block is one of the members, or
 *                                                  (gpurt_phaser_join before) will be
 *   gpurt_status_t gpurt_member_sync(member)       arrives and waits; all threads get the status
 *   gpurt_status_t gpurt_member_sync_for(member, ns)
 *   gpurt_status_t gpurt_member_sync_cluster(member)   every thread of a cluster, whose block 0
 *                                                      alone is a member
 *   void gpurt_member_end(member)                  drops
 * With GPURT_DEFER_DEPTH defined (a row of warp 0) a block that is cancelled drops out by itself.
 *
 * Returns: GPURT_OK; GPURT_E_CANCELLED: a member was cancelled in this phase (all others have
 * arrived, and the next phase goes on without it), or the phaser was broken; GPURT_E_TIMEOUT:
 * not all arrived in time: the caller has, and may wait again with its token; GPURT_E_INVALID:
 * a phaser has no room for more members; GPURT_E_NOMEM: warp 0 has no row free.
 * All members must be resident at once: gpurt_phaser_fits (phasers.h) asks that on the host.
 *
 * Order: what a member wrote before it arrived is seen by all members after their wait.
 * Cost: an addition that releases, and polls. The addition of the last one ends the phase
 * itself, so nobody waits for a second word. */
#ifndef GPURT_PHASER_H
#define GPURT_PHASER_H

#include <gpurt/atomic.h>
#include <gpurt/clock.h>
#include <gpurt/collective.h>
#include <gpurt/defer.h>
#include <gpurt/status.h>
#include <gpurt/waits.h>

/* The word: members in the low 20 bits; three flags; a counter that overflows into the phase
 * when the last one arrives; the phase. Between that overflow and the last one's second addition
 * the counter is `low`: it does not know how many are to come. Arrivals go on meanwhile, those
 * who change the number of members wait. */
enum {
    GPURT_PHASER_MOST = (1 << 20) - 1,
    GPURT_PHASER_COUNT_BITS = 21,
    GPURT_PHASER_COUNT_SHIFT = 23,
    GPURT_PHASER_PHASE_SHIFT = GPURT_PHASER_COUNT_SHIFT + GPURT_PHASER_COUNT_BITS
};
/* On a GPU, before a lane sleeps between two of them: a few microseconds. */
enum {
    GPURT_PHASER_LOOKS = GPURT_ON_CUDA ? 16 : 1
};
#define GPURT_PHASER_BROKEN (1ull << 22)
#define GPURT_PHASER_ONE    (1ull << GPURT_PHASER_COUNT_SHIFT)
#define GPURT_PHASER_LIMIT  (1ull << GPURT_PHASER_COUNT_BITS)
#define GPURT_PHASER_ARMED  (1ull << (GPURT_PHASER_PHASE_SHIFT - 1))

/* Owner: the caller. Shared with: all members. */
typedef struct GPURT_ALIGN(128) gpurt_phaser {
    uint64_t xword; /* written by: members */
    gpurt_waitable_t waitable;
} gpurt_phaser_t;

/* A block's membership. Owner: the block, in shared memory. */
typedef struct gpurt_member {
    gpurt_phaser_t *phaser;
    uint32_t token;
    bool waits; /* it has arrived in phase `token` */
    int32_t status;
} gpurt_member_t;

GPURT_HD uint64_t gpurt_phaser_members(uint64_t w)
{
    return w & GPURT_PHASER_MOST;
}
GPURT_HD uint32_t gpurt_phaser_phase(uint64_t w)
{
    return (uint32_t)(w >> GPURT_PHASER_PHASE_SHIFT);
}
GPURT_HD uint64_t gpurt_phaser_arrived(uint64_t w)
{
    return w >> GPURT_PHASER_COUNT_SHIFT & (GPURT_PHASER_LIMIT - 1);
}
/* That a member was lost in a phase: two flags, of the phase that runs and the one before. */
GPURT_HD uint64_t gpurt_phaser_lost(uint32_t phase)
{
    return 1ull << (20 + (phase & 1u));
}
/* The counter when so many are to come. */
GPURT_HD uint64_t gpurt_phaser_armed(uint64_t members)
{
    return members ? (GPURT_PHASER_LIMIT - members) << GPURT_PHASER_COUNT_SHIFT : 0;
}

GPURT_HD void gpurt_phaser_init(gpurt_phaser_t *p, uint32_t members)
{
    p->xword = members | gpurt_phaser_armed(members);
    p->waitable.xnumber = 0;
}

/* word: the phaser's. Returns: as the arrival found it. */
GPURT_DEV uint64_t gpurt_phaser_come(uint64_t *word)
{
    return gpurt_add_release_far_u64(word, GPURT_PHASER_ONE); /* PH1.rel */
}
/* w: as an arrival found it. The last one of a phase sets up the next. */
GPURT_DEV void gpurt_phaser_arm(gpurt_phaser_t *p, uint64_t w)
{
    uint64_t old_loss = w & gpurt_phaser_lost(gpurt_phaser_phase(w) + 1);

    if (GPURT_UNLIKELY(gpurt_phaser_arrived(w) == GPURT_PHASER_LIMIT - 1))
        /* relaxed: as an addition it leaves the others' releases standing */
        gpurt_red_add_relaxed_dev_u64(
            &p->xword, gpurt_phaser_armed(gpurt_phaser_members(w)) - old_loss);
}
GPURT_DEV uint32_t gpurt_phaser_arrive(gpurt_phaser_t *p)
{
    uint64_t w = gpurt_phaser_come(&p->xword);

    gpurt_phaser_arm(p, w);
    return gpurt_phaser_phase(w);
}

/* What a word means to who has arrived: GPURT_E_NOT_READY while the phase runs. */
GPURT_DEV gpurt_status_t gpurt_phaser_read(uint64_t w, uint32_t token)
{
    if (gpurt_phaser_phase(w) != token)
        return w & gpurt_phaser_lost(token) ? GPURT_E_CANCELLED : GPURT_OK;
    return w & GPURT_PHASER_BROKEN ? GPURT_E_CANCELLED : GPURT_E_NOT_READY;
}
GPURT_DEV gpurt_status_t gpurt_phaser_look(gpurt_phaser_t *p, uint32_t token)
{
    uint64_t w = gpurt_load_acquire_dev_u64(&p->xword); /* PH1.acq */

    return gpurt_phaser_read(w, token);
}
GPURT_DEV bool gpurt_phaser_test(gpurt_phaser_t *p, uint32_t token)
{
    return gpurt_phaser_look(p, token) != GPURT_E_NOT_READY;
}

/* ns: UINT64_MAX: for ever. */
GPURT_DEV gpurt_status_t gpurt_phaser_wait_for(gpurt_phaser_t *p, uint32_t token,
                                               uint64_t ns)
{
    gpurt_status_t st = gpurt_phaser_look(p, token);
    uint64_t begin;
    GPURT_PLACE(place, "phaser");

    for (uint32_t i = 1; i < GPURT_PHASER_LOOKS && st == GPURT_E_NOT_READY; i++)
        st = gpurt_phaser_look(p, token);
    if (st != GPURT_E_NOT_READY)
        return st;
    begin = gpurt_globaltimer();
    gpurt_wait_begin(&p->waitable, GPURT_WAIT_ALL, &place);
    while ((st = gpurt_phaser_look(p, token)) == GPURT_E_NOT_READY) {
        if (ns != UINT64_MAX && gpurt_globaltimer() - begin >= ns) {
            st = GPURT_E_TIMEOUT;
            break;
        }
        gpurt_wait_relax_until(gpurt_until(begin, ns));
    }
    gpurt_wait_end(&place);
    return st;
}
GPURT_DEV gpurt_status_t gpurt_phaser_wait(gpurt_phaser_t *p, uint32_t token)
{
    return gpurt_phaser_wait_for(p, token, UINT64_MAX);
}

/* Whether who changes the members has to look again. */
GPURT_DEV bool gpurt_phaser_low(uint64_t w)
{
    return gpurt_phaser_members(w) && !(w & GPURT_PHASER_ARMED);
}

GPURT_DEV gpurt_status_t gpurt_phaser_join(gpurt_phaser_t *p)
{
    uint64_t w = gpurt_load_relaxed_dev_u64(&p->xword),
             now; /* relaxed: the exchange decides */

    do {
        while (gpurt_phaser_low(w)) {
            gpurt_pause();
            w = gpurt_load_relaxed_dev_u64(&p->xword); /* relaxed: likewise */
        }
        if (gpurt_phaser_members(w) == GPURT_PHASER_MOST)
            return GPURT_E_INVALID;
        now = gpurt_phaser_members(w) ? w + 1 - GPURT_PHASER_ONE
                                      : (w + 1) | gpurt_phaser_armed(1);
        /* relaxed: who joins tells nothing, and learns by its first wait */
    } while (!gpurt_cas_relaxed_dev_u64(&p->xword, &w, now));
    return GPURT_OK;
}

/* What the word becomes when a member leaves that has to arrive yet, or has. */
GPURT_DEV uint64_t gpurt_phaser_without(uint64_t w, bool arrived, bool lost)
{
    uint32_t phase = gpurt_phaser_phase(w);
    uint64_t now = (w | (lost ? gpurt_phaser_lost(phase) : 0)) - 1;

    if (arrived)
        return now;
    now += GPURT_PHASER_ONE; /* the last one: the phase is over, and the counter 0 */
    if (gpurt_phaser_phase(now) == phase)
        return now;
    return (now & ~gpurt_phaser_lost(phase + 1)) +
           gpurt_phaser_armed(gpurt_phaser_members(now));
}

/* arrived: the caller has in phase `token`, and did not wait. */
GPURT_DEV void gpurt_phaser_leave(gpurt_phaser_t *p, bool arrived, uint32_t token,
                                  bool lost)
{
    uint64_t w = gpurt_load_relaxed_dev_u64(&p->xword),
             now; /* relaxed: the exchange decides */

    do {
        while (gpurt_phaser_low(w)) {
            gpurt_pause();
            w = gpurt_load_relaxed_dev_u64(&p->xword); /* relaxed: likewise */
        }
        now = gpurt_phaser_without(w, arrived && gpurt_phaser_phase(w) == token, lost);
    } while (!gpurt_cas_release_dev_u64(&p->xword, &w, now)); /* PH1.rel */
}
GPURT_DEV void gpurt_phaser_drop(gpurt_phaser_t *p)
{
    gpurt_phaser_leave(p, false, 0, false);
}

GPURT_DEV void gpurt_phaser_break(gpurt_phaser_t *p)
{
    gpurt_or_relaxed_dev_u64(&p->xword,
                             GPURT_PHASER_BROKEN); /* relaxed: nothing goes with it */
}

/* ---- blocks ------------------------------------------------------------------------------- */

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
GPURT_DEVN void gpurt_member_lost(uint64_t arg)
{
    gpurt_member_t *m = (gpurt_member_t *)(uintptr_t)arg;

    gpurt_phaser_leave(m->phaser, m->waits, m->token, true);
}
GPURT_DEV gpurt_status_t gpurt_member_guard(gpurt_member_t *m)
{
    return GPURT_DEFER(gpurt_member_lost, (uint64_t)(uintptr_t)m);
}
GPURT_DEV void gpurt_member_unguard(void)
{
    gpurt_undefer(1u << gpurt_lane(), false);
}
#else
GPURT_DEV gpurt_status_t gpurt_member_guard(gpurt_member_t *m)
{
    (void)m;
    return GPURT_OK;
}
GPURT_DEV void gpurt_member_unguard(void) {}
#endif

GPURT_DEV gpurt_status_t gpurt_member_begin(gpurt_member_t *m, gpurt_phaser_t *p)
{
    uint32_t st = 0;

    if (gpurt_thread_rank() == 0) {
        m->phaser = p;
        m->token = 0;
        m->waits = false;
        st = (uint32_t)gpurt_member_guard(m);
    }
    return (gpurt_status_t)(int32_t)gpurt_block_broadcast_u32(st, 0);
}

/* Arrives, and looks before the answer to that is back. Lane 0, which its number makes no
 * address of all lanes: of an addition to one of those ptxas makes a warp's, and waits. */
GPURT_DEV gpurt_status_t gpurt_member_arrive(gpurt_member_t *m)
{
    gpurt_phaser_t *p = m->phaser;
    uint64_t *word = &p->xword + gpurt_lane();
    uint64_t w = gpurt_phaser_come(word), now;

    gpurt_let_arrive();
    now = gpurt_load_acquire_dev_u64(word); /* PH1.acq */
    gpurt_phaser_arm(p, w);
    m->token = gpurt_phaser_phase(w);
    m->waits = true;
    return gpurt_phaser_read(now, m->token);
}

/* Thread 0, between two barriers of its block. */
GPURT_DEV uint32_t gpurt_member_meet(gpurt_member_t *m, uint64_t ns)
{
    gpurt_status_t st = m->waits ? GPURT_E_NOT_READY : gpurt_member_arrive(m);

    if (st == GPURT_E_NOT_READY)
        st = gpurt_phaser_wait_for(m->phaser, m->token, ns);
    m->waits = st == GPURT_E_TIMEOUT;
    return (uint32_t)st;
}

/* After GPURT_E_TIMEOUT the next call waits on in the same phase. */
GPURT_DEV gpurt_status_t gpurt_member_sync_for(gpurt_member_t *m, uint64_t ns)
{
    gpurt_block_barrier(); /* also: all have read the last status */
    if (gpurt_thread_rank() == 0)
        m->status = (int32_t)gpurt_member_meet(m, ns);
    gpurt_block_barrier();
    return (gpurt_status_t)m->status;
}
GPURT_DEV gpurt_status_t gpurt_member_sync(gpurt_member_t *m)
{
    return gpurt_member_sync_for(m, UINT64_MAX);
}

GPURT_DEV gpurt_status_t gpurt_member_sync_cluster(gpurt_member_t *m)
{
    uint32_t st = 0;

    gpurt_cluster_barrier();
    if (gpurt_cluster_rank() == 0 && gpurt_thread_rank() == 0)
        st = gpurt_member_meet(m, UINT64_MAX);
    return (gpurt_status_t)(int32_t)gpurt_cluster_broadcast_u32(st, 0, 0);
}

GPURT_DEV void gpurt_member_end(gpurt_member_t *m)
{
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        gpurt_member_unguard();
        gpurt_phaser_leave(m->phaser, m->waits, m->token, false);
    }
}

/* ---- the butterfly ------------------------------------------------------------------------ */

/* Without a word that all write: in step k a member tells the one 2^k places on. More steps than
 * a phaser, and slower where one word bears all members (docs/COLLECTIVES.md).
 *   words: gpurt_butterfly_words(members) of them, device memory, zeroed once
 *   me: 0..members-1; turn: 1, 2, 3... the same to all
 * Context: one lane a member. Returns: GPURT_OK, or GPURT_E_CANCELLED: gpurt_butterfly_break. */
enum {
    GPURT_BUTTERFLY_STEPS = 32
};
GPURT_HD uint64_t gpurt_butterfly_words(uint32_t members)
{
    return (uint64_t)members * GPURT_BUTTERFLY_STEPS + 1;
}
GPURT_DEV uint32_t *gpurt_butterfly_word(uint32_t *words, uint32_t member, uint32_t step)
{
    return words + 1 + (size_t)member * GPURT_BUTTERFLY_STEPS + step;
}
GPURT_DEV void gpurt_butterfly_break(uint32_t *words)
{
    gpurt_store_relaxed_dev_u32(words, 1); /* relaxed: nothing goes with it */
}
GPURT_DEV gpurt_status_t gpurt_butterfly_sync(uint32_t *words, uint32_t members,
                                              uint32_t me, uint32_t turn)
{
    uint32_t step = 0;

    for (uint64_t far = 1; far < members; far *= 2, step++) {
        uint32_t partner = (uint32_t)((me + far) % members);
        uint32_t *mine = gpurt_butterfly_word(words, me, step);

        gpurt_store_release_dev_u32(gpurt_butterfly_word(words, partner, step),
                                    turn);                               /* PH2.rel */
        while ((int32_t)(gpurt_load_acquire_dev_u32(mine) - turn) < 0) { /* PH2.acq */
            if (gpurt_load_relaxed_dev_u32(words)) /* relaxed: nothing goes with it */
                return GPURT_E_CANCELLED;
            gpurt_relax();
        }
    }
    return GPURT_OK;
}

#endif
