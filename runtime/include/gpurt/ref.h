/* SPDX-License-Identifier: Apache-2.0 */
/* ref.h - objects that are freed when nobody refers to them any more.
 *
 *     gpurt_ref_t r = gpurt_ref_alloc(&p->refs, sizeof(struct node), 0, &answer);
 *     struct node *n = (struct node *)gpurt_ref_get(&p->refs, r);
 *     gpurt_ref_retain(&p->refs, r);          before it is handed to somebody else
 *     gpurt_ref_release(&p->refs, r);         GPURT_REF_FREED: it was the last
 *
 * A reference is counted in a record of a table, not in the object: a call with one whose
 * object is gone says GPURT_REF_DEAD and does no harm. So a gpurt_ref_t that holds no count
 * is a weak reference, and gpurt_ref_try_retain makes a strong one of it, or says no.
 * Answers are gpurt_ref_answer_t. Lanes that call together with one reference share an
 * atomic. What was done with an object before a release comes before its memory is used
 * again. Lock-free. Context: device code, any lanes. */
#ifndef GPURT_REF_H
#define GPURT_REF_H

#include <gpurt/alloc.h>
#include <gpurt/impl/slotset.h>

GPURT_DEV uint32_t gpurt_ref_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}
/* References in a word, counting those that are being taken back. */
GPURT_DEV int32_t gpurt_ref_count(uint64_t word)
{
    return (int32_t)((word & GPURT_REF_COUNT) - GPURT_REF_BIAS);
}
/* Whether the word is of the life that the reference names. */
GPURT_DEV bool gpurt_ref_is_live(uint64_t word, gpurt_ref_t ref)
{
    return gpurt_ref_generation(word) == gpurt_ref_generation(ref) &&
           (word & GPURT_REF_LIVE) && gpurt_ref_count(word) > 0;
}

/* NULL when it names none of this table. */
GPURT_DEV gpurt_ref_record_t *gpurt_ref_record(const gpurt_refs_t *t, gpurt_ref_t ref)
{
    return ref && (uint32_t)ref < t->record_count ? t->records + (uint32_t)ref : NULL;
}

GPURT_DEV uint32_t gpurt_ref_refused(const gpurt_refs_t *t, uint32_t answer)
{
    if (t->counts) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&t->counts->xanswers[answer], 1);
    return answer;
}

/* After the last reference. Context: the lane whose exchange ended the record's life. */
GPURT_DEVN void gpurt_ref_free(const gpurt_refs_t *t, gpurt_ref_record_t *r)
{
    /* relaxed: written before the record came to life, which RC1 orders */
    void *object = (void *)(uintptr_t)gpurt_load_relaxed_dev_u64(&r->xobject);

    gpurt_red_add_relaxed_dev_u64(&t->counts->xanswers[GPURT_REF_FREED], 1);
    gpurt_store_relaxed_dev_u64(&r->xobject, 0); /* relaxed: the set publishes it */
    gpurt_slotset_put(&t->unused, (uint32_t)(r - t->records));
    gpurt_heap_free(&t->heap, object);
}

/* What is left of a word when n references go; the last ones end the life. No life has
 * number 0, so that no reference is 0. */
GPURT_DEV uint64_t gpurt_ref_less(uint64_t word, uint32_t n)
{
    uint32_t next = gpurt_ref_generation(word) + 1;

    if ((word & GPURT_REF_LIVE) && gpurt_ref_count(word) == (int32_t)n)
        return (uint64_t)(next ? next : 1) << 32 | GPURT_REF_BIAS;
    return word - n;
}

/* Takes n back that were added to a word that was not theirs; maybe another life's last. Has used
 * nothing of it, so there is nothing to release. */
GPURT_DEVN void gpurt_ref_undo(const gpurt_refs_t *t, gpurt_ref_record_t *r, uint32_t n)
{
    uint64_t word = gpurt_load_relaxed_dev_u64(&r->xword); /* relaxed: a guess */

    while (!gpurt_cas_acquire_dev_u64(&r->xword, &word, /* RC1.acq */
                                      gpurt_ref_less(word, n)))
        gpurt_pause();
    if ((word & GPURT_REF_LIVE) && gpurt_ref_count(word) == (int32_t)n)
        gpurt_ref_free(t, r);
}

/* One more. Context: the caller has a reference, or knows that somebody keeps one
 * meanwhile. Returns: OK, DEAD, OVERFLOW, FOREIGN. */
GPURT_DEV uint32_t gpurt_ref_retain(const gpurt_refs_t *t, gpurt_ref_t ref)
{
    gpurt_ref_record_t *r = gpurt_ref_record(t, ref);
    uint32_t lanes, group, answer = GPURT_REF_OK;
    uint64_t word = 0;

    if (!r)
        return gpurt_ref_refused(t, GPURT_REF_FOREIGN);
    lanes = gpurt_activemask();
    group = gpurt_match_any_u64(lanes, ref);
    if (gpurt_is_leader(group)) /* relaxed: who has one has seen the object already */
        word = gpurt_add_relaxed_dev_u64(&r->xword, gpurt_popc(group));
    word = gpurt_shfl_u64(lanes, word, gpurt_leader(group));
    if (GPURT_UNLIKELY(!gpurt_ref_is_live(word, ref)))
        answer = GPURT_REF_DEAD;
    else if (GPURT_UNLIKELY(gpurt_ref_count(word) + gpurt_popc(group) > GPURT_REF_LIMIT))
        answer = GPURT_REF_OVERFLOW;
    if (GPURT_LIKELY(answer == GPURT_REF_OK))
        return answer;
    if (gpurt_is_leader(group))
        gpurt_ref_undo(t, r, gpurt_popc(group));
    return gpurt_ref_refused(t, answer);
}

/* One more, of a reference that may hold no count. Returns: OK, DEAD, OVERFLOW, FOREIGN.
 * Order: acquire, of the record; what its maker wrote into the object comes with whatever
 * handed the reference over, as ever. */
GPURT_DEVN uint32_t gpurt_ref_try_retain(const gpurt_refs_t *t, gpurt_ref_t ref)
{
    gpurt_ref_record_t *r = gpurt_ref_record(t, ref);
    uint32_t lanes, group, n, answer = GPURT_REF_OK;
    uint64_t word;

    if (!r)
        return gpurt_ref_refused(t, GPURT_REF_FOREIGN);
    lanes = gpurt_activemask();
    group = gpurt_match_any_u64(lanes, ref);
    n = gpurt_popc(group);
    if (gpurt_is_leader(group)) {
        word = gpurt_load_relaxed_dev_u64(&r->xword); /* relaxed: a guess */
        do {
            answer = !gpurt_ref_is_live(word, ref)                 ? GPURT_REF_DEAD
                     : gpurt_ref_count(word) + n > GPURT_REF_LIMIT ? GPURT_REF_OVERFLOW
                                                                   : GPURT_REF_OK;
        } while (answer == GPURT_REF_OK &&
                 !gpurt_cas_acquire_dev_u64(&r->xword, &word, word + n)); /* RC2.acq */
    }
    gpurt_syncwarp(lanes); /* what the leaders have acquired holds for all */
    answer = gpurt_shfl_u32(lanes, answer, gpurt_leader(group));
    return answer == GPURT_REF_OK ? answer : gpurt_ref_refused(t, answer);
}

/* n releases at once. Returns: how many references there were. Each exchange is of a word
 * that was looked at, so a release too many never shows, not even for a moment: it could
 * take a stranger's last reference. The last one acquires; what it did itself the set of unused
 * records and the heap release. */
GPURT_DEV uint32_t gpurt_ref_subtract(const gpurt_refs_t *t, gpurt_ref_record_t *r,
                                      gpurt_ref_t ref, uint32_t n)
{
    uint64_t word = gpurt_load_relaxed_dev_u64(&r->xword); /* relaxed: a guess */

    while (gpurt_ref_is_live(word, ref)) {
        uint32_t had = (uint32_t)gpurt_ref_count(word), less = had < n ? had : n;

        if (had > n) {
            if (gpurt_cas_release_dev_u64(&r->xword, &word, word - n)) /* RC1.rel */
                return had;
        } else if (gpurt_cas_acquire_dev_u64(&r->xword, &word, /* RC1.acq */
                                             gpurt_ref_less(word, less))) {
            gpurt_ref_free(t, r);
            return had;
        }
        gpurt_pause();
    }
    return 0;
}

/* One less. Returns: OK, FREED to the one whose release was the last, DEAD, UNDERFLOW,
 * FOREIGN. Order: release. */
GPURT_DEVN uint32_t gpurt_ref_release(const gpurt_refs_t *t, gpurt_ref_t ref)
{
    gpurt_ref_record_t *r = gpurt_ref_record(t, ref);
    uint32_t lanes, group, rank, had = 0;

    if (!r)
        return gpurt_ref_refused(t, GPURT_REF_FOREIGN);
    lanes = gpurt_activemask();
    group = gpurt_match_any_u64(lanes, ref);
    rank = gpurt_popc(group & gpurt_lanes_below());
    gpurt_syncwarp(lanes); /* the leaders release for all */
    if (gpurt_is_leader(group))
        had = gpurt_ref_subtract(t, r, ref, gpurt_popc(group));
    had = gpurt_shfl_u32(lanes, had, gpurt_leader(group));
    if (rank + 1 < had || (rank + 1 == had && gpurt_popc(group) < had))
        return GPURT_REF_OK;
    if (rank + 1 == had)
        return GPURT_REF_FREED; /* counted where it was done */
    return gpurt_ref_refused(t, had ? GPURT_REF_UNDERFLOW : GPURT_REF_DEAD);
}

/* The object, while somebody keeps a reference; NULL when it is gone. */
GPURT_DEV void *gpurt_ref_get(const gpurt_refs_t *t, gpurt_ref_t ref)
{
    gpurt_ref_record_t *r = gpurt_ref_record(t, ref);

    /* relaxed: who holds a reference got it in order */
    if (!r || !gpurt_ref_is_live(gpurt_load_relaxed_dev_u64(&r->xword), ref))
        return NULL;
    return (void *)(uintptr_t)gpurt_load_relaxed_dev_u64(&r->xobject);
}

/* A new object with one reference. flags: the program's own, for the host to see.
 * Returns: 0 when there is none; *answer says why. */
GPURT_DEVN gpurt_ref_t gpurt_ref_alloc(const gpurt_refs_t *t, size_t size, uint32_t flags,
                                       uint32_t *answer GPURT_ASKED_BY)
{
    void *object = gpurt_heap_alloc_aligned_at(&t->heap, size, 16, GPURT_ASKER);
    gpurt_ref_record_t *r;
    uint32_t index;
    uint64_t word;

    *answer = GPURT_REF_OK;
    if (!object) {
        *answer = gpurt_ref_refused(t, GPURT_REF_NO_MEMORY);
        return 0;
    }
    /* From here on nothing ends a lane before the record is live. */
    index = gpurt_slotset_take(&t->unused, gpurt_activemask());
    if (index == GPURT_SLOT_NONE) {
        gpurt_heap_free_at(&t->heap, object, GPURT_ASKER);
        *answer = gpurt_ref_refused(t, GPURT_REF_NO_RECORD);
        return 0;
    }
    r = t->records + index;
    /* relaxed, all three: RC2 publishes them */
    gpurt_store_relaxed_dev_u64(&r->xobject, (uint64_t)(uintptr_t)object);
    gpurt_store_relaxed_dev_u64(&r->xsize, size);
    gpurt_store_relaxed_dev_u32(&r->xflags, flags);
    word = gpurt_add_release_dev_u64(&r->xword, GPURT_REF_LIVE + 1); /* RC2.rel */
    return word >> 32 << 32 | index;
}

/* here: as of gpurt_heap_alloc_at. */
GPURT_DEV gpurt_ref_t gpurt_ref_alloc_at(const gpurt_refs_t *t, size_t size, uint32_t flags,
                                         uint32_t *answer, const char *here)
{
    (void)here;
    return gpurt_ref_alloc(t, size, flags, answer GPURT_ASKS);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_ref_alloc(t, size, flags, answer) \
        gpurt_ref_alloc_at(t, size, flags, answer, GPURT_HERE)
#endif

#endif
