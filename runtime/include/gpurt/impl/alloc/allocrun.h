/* SPDX-License-Identifier: Apache-2.0 */
/* allocrun.h - the next run of a shard, when its current one is used up.
 *
 * The lane that draws the ticket at the limit fetches it. The others poll briefly, then
 * fetch their own, so a stalled lane blocks nobody. In order of preference: near the
 * shard's last run a chunk with enough freed slots, or new ones; new chunks of the
 * shard's own; of all a chunk with enough freed slots, new ones, a chunk with any freed
 * slot; the end of another shard's run, and at last the unused chunks of runs of other
 * classes.
 * Context: device code. For alloc.h only. */
#ifndef GPURT_ALLOCRUN_H
#define GPURT_ALLOCRUN_H

#include <gpurt/impl/alloc/allocslab.h>

enum {
    GPURT_RUN_POLLS = 256, /* looks of others for the run that somebody brings; */
    GPURT_RUN_LOOKS = 32   /* ... so many at a time where no lane of the warp is held up */
};

GPURT_DEV uint64_t *gpurt_run_current(const gpurt_heap_t *h, uint32_t shard, uint32_t c)
{
    return h->currents + shard * GPURT_CLASS_STRIDE + c;
}

/* Leaves of a part of the heap that is a shard's own: what lies there it takes first, and mostly
 * nobody else does. Where there are more shards than leaves, some share one. */
typedef struct gpurt_run_own {
    uint32_t first, beyond;
} gpurt_run_own_t;

GPURT_DEV gpurt_run_own_t gpurt_run_own(const gpurt_heap_t *h, uint32_t shard)
{
    gpurt_run_own_t own;

    own.first = shard * h->start_words / h->shard_count;
    own.beyond = (shard + 1) * h->start_words / h->shard_count;
    if (own.beyond == own.first)
        own.beyond++;
    return own;
}

/* ---- what others may take of a shard ------------------------------------------------- */

/* Two rows of bits a class, one a shard: it may have a run; its run may have chunks that
 * are untouched. Hints: a set one may be in vain, and costs a look, after which it is cleared;
 * none is missing. Who brings a run exchanges the shard's word, then looks at the hint; who
 * clears a hint does so, then touches that word: one of the two sees what the other did. */
GPURT_DEV uint64_t *gpurt_run_hints(const gpurt_heap_t *h, uint32_t c, bool whole)
{
    return h->tails + (2 * c + whole) * h->tail_words;
}

/* What a thief would find. */
GPURT_DEV bool gpurt_run_is_worth(uint64_t run, bool whole, uint32_t slots)
{
    if (!gpurt_run_is_live(run))
        return false;
    return !whole || (!(run & GPURT_RUN_REUSED) &&
                      gpurt_run_limit(run) - gpurt_run_ticket(run) >= slots);
}

/* Nearly always it is set already. was: what the word held, behind the exchange of the run.
 * Returns: whether it was missing. */
GPURT_DEV bool gpurt_run_hint(uint64_t *word, uint32_t i, uint64_t was)
{
    if (was >> (i % 64) & 1u)
        return false;
    gpurt_or_acq_rel_far_u64(word, 1ull << (i % 64)); /* AH5.rel AH5.acq */
    return true;
}

/* Clears the hint of a run that is not worth taking. Returns: the shard's word as it is then:
 * one that was brought meanwhile, and is, is the caller's to take. */
GPURT_DEVN uint64_t gpurt_run_unhint(const gpurt_heap_t *h, uint32_t shard, uint32_t c,
                                     bool whole)
{
    /* relaxed: before the next */
    gpurt_red_and_relaxed_dev_u64(gpurt_run_hints(h, c, whole) + shard / 64,
                                  ~(1ull << (shard % 64)));
    return gpurt_add_release_far_u64(gpurt_run_current(h, shard, c), 0); /* AH4.rel */
}

/* Takes what is left of a run. own: the shard that asks. whole: only of runs that have an
 * untouched chunk. Returns: it, or 0. */
GPURT_DEVN uint64_t gpurt_run_steal(const gpurt_heap_t *h, uint32_t own, uint32_t c,
                                    bool whole)
{
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    uint64_t *hints = gpurt_run_hints(h, c, whole);

    for (uint32_t i = 0; i < h->tail_words; i++) {
        /* relaxed, here and below: looks; the exchange takes with acquire. Who has cleared
         * the class's own hint sees what was hinted before, or it is set again. */
        uint64_t shards =
            whole ? gpurt_add_acq_rel_far_u64(hints + i, 0) /* AH5.rel AH5.acq */
                  : gpurt_load_relaxed_dev_u64(hints + i);

        for (; shards; shards &= shards - 1) {
            uint32_t shard = i * 64 + gpurt_ctz64(shards);
            uint64_t *current = gpurt_run_current(h, shard, c);
            uint64_t run = gpurt_load_relaxed_dev_u64(current);

            if (shard == own)
                continue;
            if (!gpurt_run_is_worth(run, whole, slots) &&
                !gpurt_run_is_worth(gpurt_run_unhint(h, shard, c, whole), whole, slots))
                continue;
            run = gpurt_xchg_acquire_far_u64(current, 0); /* AH2.acq */
            if (gpurt_run_is_live(run)) {
                /* relaxed: a statistic */
                gpurt_red_add_relaxed_dev_u64(&h->counts->xstolen, 1);
                return run;
            }
        }
    }
    return 0;
}

/* A bit a class: its second row of hints may not be empty. */
GPURT_DEV uint64_t *gpurt_run_wholes(const gpurt_heap_t *h)
{
    return gpurt_run_hints(h, GPURT_CLASS_COUNT, false);
}

/* Gives untouched chunks of a run, of any class, back to the pool. Returns: whether there
 * was one. */
GPURT_DEVN bool gpurt_run_gather(const gpurt_heap_t *h)
{
    uint64_t *wholes = gpurt_run_wholes(h);
    uint64_t classes = gpurt_load_relaxed_dev_u64(wholes); /* relaxed, all: hints */

    for (; classes; classes &= classes - 1) {
        uint32_t c = gpurt_ctz64(classes);
        uint64_t run;

        gpurt_red_and_relaxed_dev_u64(wholes, ~(1ull << c));
        run = gpurt_run_steal(h, GPURT_TREE_NONE, c, true);
        if (run) {
            gpurt_red_or_relaxed_dev_u64(wholes, 1ull << c); /* perhaps there are more */
            gpurt_slab_dispose(h, c, run);
            return true;
        }
    }
    return false;
}

/* Leaves of the pool that lanes know of: whoever looks through the pool after this finds what they
 * hold. */
GPURT_DEV uint64_t gpurt_run_known(const gpurt_heap_t *h)
{
    return gpurt_load_acquire_dev_u64(&h->counts->xtaken_up); /* AV3.acq */
}

/* Makes leaves [from, to) known, and says so when all of them are: who relies on the number must
 * find them. Where several do so at a time they do it all: nobody depends on another. */
GPURT_DEVN void gpurt_run_raise(const gpurt_heap_t *h, uint64_t from, uint64_t to)
{
    uint64_t known = from;

    gpurt_tree_raise_row(h, gpurt_tree_leaves(h, GPURT_TREE_POOL), (uint32_t)from,
                         (uint32_t)to);
    while (known < to &&
           !gpurt_cas_release_far_u64(&h->counts->xtaken_up, &known, to)) /* AV3.rel */
        ;
}

/* Memory that the host has put behind the heap: who would go away empty tells the others that its
 * leaves are there. known: how many leaves were known before the caller's last look; it becomes
 * how many are now. Returns: whether that is more, and there is something to look for. */
GPURT_DEVN bool gpurt_run_take_up(const gpurt_heap_t *h, uint64_t *known)
{
    uint64_t grown = gpurt_load_acquire_sys_u64(&h->counts->xgrown); /* AV1.acq */
    uint64_t before = *known, now = gpurt_run_known(h);

    if (now < grown)
        gpurt_run_raise(h, now, grown);
    *known = now < grown ? grown : now;
    return *known > before;
}

/* ---- the next run -------------------------------------------------------------------- */

/* How many new chunks a run gets: enough for all who wait, as the word says now; and a class
 * that used up a long one gets one twice as long. */
GPURT_DEV uint32_t gpurt_run_chunks(const gpurt_heap_t *h, uint32_t slots, uint64_t last,
                                    uint64_t now)
{
    uint32_t most = gpurt_class_run(slots, h->run_chunks), chunks = 1, wanted = 0;

    if (!(now & GPURT_RUN_DRY) && gpurt_run_ticket(now) > gpurt_run_limit(now))
        wanted = gpurt_run_ticket(now) - gpurt_run_limit(now);
    if (!(last & GPURT_RUN_REUSED) && gpurt_run_limit(last) >= wanted)
        wanted = gpurt_run_limit(last) + 1;
    while (chunks < most && chunks * slots < wanted)
        chunks *= 2;
    return chunks;
}

/* Looks everywhere, first for new chunks among the shard's own. Returns: a run that nobody else
 * has, or 0. */
GPURT_DEVN uint64_t gpurt_run_find(const gpurt_heap_t *h, uint32_t shard, uint32_t c,
                                   uint64_t last)
{
    gpurt_run_own_t own = gpurt_run_own(h, shard);
    /* relaxed: a guess */
    uint32_t chunks =
        gpurt_run_chunks(h, gpurt_shape_slots(gpurt_class_shape(c)), last,
                         gpurt_load_relaxed_dev_u64(gpurt_run_current(h, shard, c)));
    bool grows = h->start_words < h->leaf_words;
    uint64_t known = grows ? gpurt_run_known(h) : 0; /* before the looks */
    uint64_t run = gpurt_slab_open(h, c, chunks, own.first, own.beyond);

    for (uint32_t i = 0; !run && i <= h->shard_count; i++) {
        do {
            run = gpurt_slab_adopt(h, c, gpurt_tree_good(c), own.first, 0);
            if (!run)
                run = gpurt_slab_open(h, c, chunks, own.first, 0);
            if (!run)
                run = gpurt_slab_adopt(h, c, gpurt_tree_sparse(c), own.first, 0);
            if (!run)
                run = gpurt_run_steal(h, shard, c, false);
        } while (!run && grows && gpurt_run_take_up(h, &known));
        if (!run && !gpurt_run_gather(h))
            break;
    }
    return run;
}

/* Makes `run` the current one, n of whose tickets are the caller's. */
GPURT_DEV void gpurt_run_install(const gpurt_heap_t *h, uint32_t shard, uint32_t c,
                                 uint64_t run, uint32_t n)
{
    uint64_t *some = gpurt_run_hints(h, c, false) + shard / 64;
    uint64_t *whole = gpurt_run_hints(h, c, true) + shard / 64;
    uint64_t *classes = gpurt_run_wholes(h), some_was, whole_was, classes_were;
    uint64_t *current = gpurt_run_current(h, shard, c);
    uint64_t old =
        gpurt_xchg_acq_rel_far_u64(current, run + n); /* AH2.rel AH2.acq AH4.acq */

    /* relaxed, all: looks, on their way together */
    some_was = gpurt_load_relaxed_dev_u64(some);
    whole_was = gpurt_load_relaxed_dev_u64(whole);
    classes_were = gpurt_load_relaxed_dev_u64(classes);
    gpurt_run_hint(some, shard, some_was);
    if (gpurt_run_is_worth(run + n, true, gpurt_shape_slots(gpurt_class_shape(c)))) {
        /* A thief who has cleared the class's hint and found the shard's missing goes away:
         * who sets the shard's looks at the class's after that. */
        if (gpurt_run_hint(whole, shard, whole_was))
            classes_were = gpurt_load_relaxed_dev_u64(classes); /* relaxed: AH5.acq */
        gpurt_run_hint(classes, c, classes_were);
    }
    gpurt_tree_news(h);
    if (gpurt_run_is_live(old)) /* somebody else was as impatient */
        gpurt_slab_dispose(h, c, old);
}

/* The common case, in little code and few trips to memory: what is wanted lies where the
 * shard's last run came from, or right after, among its own. That a leaf was emptied is left for
 * a search to find out. last: the run that is used up. Returns: the run that is current now, n of
 * whose tickets are the caller's; or 0, and there is none. */
GPURT_DEV uint64_t gpurt_run_bring_near(const gpurt_heap_t *h, uint32_t shard, uint32_t c,
                                        uint64_t last, uint32_t n)
{
    gpurt_run_own_t own = gpurt_run_own(h, shard);
    uint32_t at = gpurt_run_chunk(last) / 64, next, chunks;
    const uint64_t *good = gpurt_tree_leaves(h, gpurt_tree_good(c));
    const uint64_t *pool = gpurt_tree_leaves(h, GPURT_TREE_POOL);
    uint64_t freed[2], fresh[2], now, run = 0;

    if (!gpurt_run_limit(last) || at < own.first || at >= own.beyond)
        at = own.first;
    next = at + 1 < own.beyond ? at + 1 : own.first;
    /* relaxed: looks, on their way together; what is found is taken with acquire */
    freed[0] = gpurt_load_relaxed_dev_u64(good + at);
    freed[1] = gpurt_load_relaxed_dev_u64(good + next);
    fresh[0] = gpurt_load_relaxed_dev_u64(pool + at);
    fresh[1] = gpurt_load_relaxed_dev_u64(pool + next);
    now = gpurt_load_relaxed_dev_u64(gpurt_run_current(h, shard, c));
    chunks = gpurt_run_chunks(h, gpurt_shape_slots(gpurt_class_shape(c)), last, now);
    if (freed[0] | freed[1])
        run = gpurt_slab_adopt_in(h, c, gpurt_tree_good(c), freed[0] ? at : next,
                                  freed[0] ? freed[0] : freed[1], shard % 64, NULL);
    if (!run && gpurt_popc64(fresh[0]) < chunks &&
        gpurt_popc64(fresh[0]) < gpurt_popc64(fresh[1])) {
        fresh[0] = fresh[1];
        at = next;
    }
    if (!run && fresh[0])
        run = gpurt_slab_open_in(h, c, chunks, at, fresh[0], NULL);
    if (run)
        gpurt_run_install(h, shard, c, run, n);
    return run;
}

/* Nothing was found: says so to those who wait, unless somebody else has brought a run.
 * word: the new one; 0: they go on waiting. Returns: whether he has. */
GPURT_DEVN bool gpurt_run_dry(const gpurt_heap_t *h, uint32_t shard, uint32_t c,
                              uint64_t word)
{
    uint64_t *current = gpurt_run_current(h, shard, c);
    uint64_t run = gpurt_load_relaxed_dev_u64(current); /* relaxed: a look */

    if (gpurt_run_is_live(run))
        return true;
    if (!word || (run >> 24 == word >> 24 && gpurt_run_ticket(run) < GPURT_RUN_WORN))
        return false;                                    /* that has been said */
    run = gpurt_xchg_acquire_far_u64(current, word + 1); /* AH2.acq */
    if (!gpurt_run_is_live(run))
        return false;
    gpurt_slab_dispose(h, c, run); /* it came between the two */
    return true;
}

/* What a look that finds nothing is as old as. */
GPURT_DEV uint64_t gpurt_run_news(const gpurt_heap_t *h)
{
    /* relaxed: the host's own count; the other one orders both */
    uint64_t grown = gpurt_load_relaxed_sys_u64(&h->counts->xgrown);

    return grown + gpurt_load_acquire_dev_u64(&h->counts->xnews); /* AV2.acq */
}

/* Looks for a run that somebody else brings, at most so often, and takes n tickets of it. One
 * that who brought it has used up already counts, too: whoever takes a ticket right at its limit
 * brings the next. Returns: the word before that. */
GPURT_DEV uint64_t gpurt_run_look(uint64_t *current, uint32_t n, uint32_t looks)
{
    uint64_t run = gpurt_load_relaxed_dev_u64(current); /* relaxed, all: looks */

    while (gpurt_run_is_over(run) && looks--) {
        gpurt_pause();
        run = gpurt_load_relaxed_dev_u64(current);
    }
    if (!gpurt_run_is_over(run) && !(run & GPURT_RUN_DRY))
        run = gpurt_add_acquire_far_u64(current, n); /* AH2.acq */
    return run;
}

/* The next class whose slots have the alignment; GPURT_CLASS_COUNT when there is none. */
GPURT_DEV uint32_t gpurt_class_next(uint32_t c, uint32_t align)
{
    do
        c++;
    while (c < GPURT_CLASS_COUNT && (gpurt_class_bytes(c) & (align - 1)));
    return c;
}

/* Whether nothing has been there for this class nor the next ones, and nothing has come since.
 */
GPURT_DEV bool gpurt_run_is_vain(const gpurt_heap_t *h, uint64_t run)
{
    return (run & GPURT_RUN_BARE) == GPURT_RUN_BARE &&
           gpurt_run_ticket(run) < GPURT_RUN_WORN &&
           gpurt_run_is_bare(run, gpurt_run_news(h));
}

/* What a lane keeps while it asks for slots. */
typedef struct gpurt_run_ask {
    uint32_t first, c; /* classes: asked for; the one it has come to */
    uint32_t align;
    uint32_t polls;
    bool alone; /* no other lane of the warp asks for slots of another class meanwhile */
} gpurt_run_ask_t;

/* Nothing was near: looks everywhere, then in the next classes, up to twice as large. Who has
 * looked in vain says so in the word of the class that was asked for, so that others need not.
 * Returns: as gpurt_run_next. */
GPURT_DEVN uint64_t gpurt_run_next_far(const gpurt_heap_t *h, gpurt_run_ask_t *ask,
                                       uint64_t run, uint32_t n)
{
    uint32_t shard = gpurt_run_shard(h);
    bool all = ask->align <= 16; /* the next classes will all be asked */
    uint64_t next, news = 0;

    for (;;) {
        if (ask->c == ask->first)
            news = gpurt_run_news(h);
        next = gpurt_run_find(h, shard, ask->c, run);
        if (next) {
            gpurt_run_install(h, shard, ask->c, next, n);
            return next;
        }
        if (!gpurt_run_dry(h, shard, ask->c,
                           all && ask->c == ask->first ? 0 : GPURT_RUN_DRY)) {
            ask->c = gpurt_class_next(ask->c, ask->align);
            if (ask->c > ask->first + 4 || ask->c >= GPURT_CLASS_COUNT) {
                ask->c = ask->first;
                if (!all || !gpurt_run_dry(h, shard, ask->first, gpurt_run_bare(news)))
                    return GPURT_RUN_NONE;
            }
        }
        run =
            gpurt_add_acquire_far_u64(gpurt_run_current(h, shard, ask->c), n); /* AH2.acq */
        if (gpurt_run_is_live(run) || gpurt_run_is_over(run))
            return run;
    }
}

/* One lane, for n: a step towards the word out of which their slots come, ticket first. run:
 * the word that was used up before all had one. ask->c becomes the class of the slots.
 * Returns: one that is used up, too: ask again; GPURT_RUN_NONE: there is nothing left. */
GPURT_DEV uint64_t gpurt_run_next(const gpurt_heap_t *h, gpurt_run_ask_t *ask, uint64_t run,
                                  uint32_t n)
{
    uint32_t shard = gpurt_run_shard(h), looks;
    uint64_t next;

    /* Never for long while another lane may bring what other warps wait for. */
    looks = ask->alone ? GPURT_RUN_LOOKS : 1;
    if (gpurt_run_is_over(run) && ask->polls < GPURT_RUN_POLLS) {
        ask->polls += looks;
        return gpurt_run_look(gpurt_run_current(h, shard, ask->c), n, looks);
    }
    ask->polls = 0;
    if (ask->c == ask->first && gpurt_run_is_vain(h, run))
        return GPURT_RUN_NONE;
    next = gpurt_run_bring_near(h, shard, ask->c, run, n);
    return next ? next : gpurt_run_next_far(h, ask, run, n);
}

#endif
