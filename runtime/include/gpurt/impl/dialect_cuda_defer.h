/* SPDX-License-Identifier: Apache-2.0 */
/* dialect_cuda_defer.h - a warp's stack of deferred handlers, in shared memory (defer.h).
 *
 * Included by dialect_cuda_cancel.h only, where GPURT_DEFER_DEPTH is said. Nobody fills shared
 * memory, so a stack's head carries a tag of its block; with any other it is empty. Diverged
 * groups of one warp come here beside each other: the head's lowest bit is their lock, held
 * for a few instructions without a safe point. */
#ifndef GPURT_DIALECT_CUDA_H
#    ifndef GPURT_DEFER_DEPTH
#        define GPURT_DEFER_DEPTH 4
#    endif
#    include <gpurt/impl/dialect_cuda.h> /* which includes this file where it belongs */
#endif
#ifndef GPURT_DIALECT_CUDA_DEFER_H
#    define GPURT_DIALECT_CUDA_DEFER_H

typedef void (*gpurt_handler_t)(uint64_t arg);

typedef struct gpurt_cuda_deferred {
    gpurt_handler_t handler;
    uint64_t arg;
    uint32_t mask; /* lanes that have not left */
    uint32_t scope;
} gpurt_cuda_deferred_t;

/* Owner: the block. head: tag << 32 | count << 1 | lock. All else under the lock. */
typedef struct gpurt_cuda_defers {
    uint64_t xhead;    /* written by: lanes of the warp */
    uint32_t xrunning; /* lanes that run handlers because they leave; likewise */
    uint32_t reserved;
    gpurt_cuda_deferred_t rows[GPURT_DEFER_DEPTH];
} gpurt_cuda_defers_t;

__device__ __forceinline__ gpurt_cuda_defers_t *gpurt_cuda_defers(void)
{
    __shared__ gpurt_cuda_defers_t stacks[GPURT_WARP_SIZE];

    return &stacks[gpurt_cuda_warp()];
}

/* Returns: how many rows there are. */
GPURT_DEV uint32_t gpurt_cuda_defers_lock(gpurt_cuda_defers_t *s)
{
    uint64_t tag = gpurt_cuda_key() << 32;
    uint64_t found = gpurt_load_relaxed_blk_u64(&s->xhead);

    for (;;) { /* ends: who holds the lock is about to let it go */
        uint64_t now = found >> 32 == tag >> 32 ? found : tag;

        if (now & 1) {
            asm volatile("nanosleep.u32 32;");
            found = gpurt_load_relaxed_blk_u64(&s->xhead);
        } else if (gpurt_cas_acquire_blk_u64(&s->xhead, &found, now | 1)) { /* CDEF1.acq */
            if (now != found) /* a block's first */
                gpurt_store_relaxed_blk_u32(&s->xrunning, 0);
            return (uint32_t)now >> 1;
        }
    }
}
GPURT_DEV void gpurt_cuda_defers_unlock(gpurt_cuda_defers_t *s, uint32_t count)
{
    gpurt_store_release_blk_u64(&s->xhead, /* CDEF1.rel */
                                gpurt_cuda_key() << 32 | (uint64_t)count << 1);
}

GPURT_DEVN bool gpurt_defer_note(uint32_t mask, uint32_t scope, gpurt_handler_t handler,
                                 uint64_t arg)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();
    uint32_t count = gpurt_cuda_defers_lock(s);
    bool room = count < GPURT_DEFER_DEPTH;

    if (room) {
        gpurt_cuda_deferred_t row = {handler, arg, mask, scope};

        s->rows[count++] = row;
    }
    gpurt_cuda_defers_unlock(s, count);
    return room;
}

/* Under the lock. */
GPURT_DEV uint32_t gpurt_cuda_defers_remove(gpurt_cuda_defers_t *s, uint32_t count,
                                            uint32_t at, gpurt_cuda_deferred_t *out)
{
    *out = s->rows[at];
    for (count--; at < count; at++)
        s->rows[at] = s->rows[at + 1];
    return count;
}

/* Takes the newest row with that mask and scope. Returns: whether there is one. */
GPURT_DEV bool gpurt_cuda_defers_take(uint32_t mask, uint32_t scope,
                                      gpurt_cuda_deferred_t *out)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();
    uint32_t count = gpurt_cuda_defers_lock(s), i = count;
    bool found = false;

    while (i-- > 0 && !found)
        if (s->rows[i].mask == mask && s->rows[i].scope == scope) {
            count = gpurt_cuda_defers_remove(s, count, i, out);
            found = true;
        }
    gpurt_cuda_defers_unlock(s, count);
    return found;
}

/* The newest that these lanes noted with that argument: rows of other objects stay. */
GPURT_DEVN void gpurt_defer_forget(uint32_t mask, gpurt_handler_t handler, uint64_t arg)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();
    uint32_t count = gpurt_cuda_defers_lock(s);
    gpurt_cuda_deferred_t gone;

    for (uint32_t i = count; i-- > 0;)
        if (s->rows[i].mask == mask && s->rows[i].handler == handler &&
            s->rows[i].arg == arg) {
            count = gpurt_cuda_defers_remove(s, count, i, &gone);
            break;
        }
    gpurt_cuda_defers_unlock(s, count);
}

/* Takes this lane's bit out of the newest row that has it, of the older ones, until one is
 * nobody's any more: an older handler runs when all its lanes are through with the newer ones.
 * Returns: whether there was one. */
GPURT_DEV bool gpurt_cuda_defers_leave(gpurt_cuda_deferred_t *out)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();
    uint32_t count = gpurt_cuda_defers_lock(s), i = count, bit = 1u << gpurt_lane();
    bool due = false;

    while (i-- > 0 && !due) {
        due = s->rows[i].mask == bit;
        s->rows[i].mask &= ~bit;
        if (due)
            count = gpurt_cuda_defers_remove(s, count, i, out);
    }
    gpurt_cuda_defers_unlock(s, count);
    return due;
}

GPURT_DEVN uint32_t gpurt_defer_drop(uint32_t mask, uint32_t scope, uint32_t most, bool run)
{
    gpurt_cuda_deferred_t row;
    uint32_t found = 0;

    while (found < most && gpurt_cuda_defers_take(mask, scope, &row)) {
        found++;
        if (run)
            row.handler(row.arg);
    }
    return found;
}

GPURT_DEV bool gpurt_in_deferred(void)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();

    return gpurt_load_relaxed_blk_u64(&s->xhead) >> 32 == (uint32_t)gpurt_cuda_key() &&
           (gpurt_load_relaxed_blk_u32(&s->xrunning) >> gpurt_lane() & 1u);
}

/* One lane, for those of `mask` that leave together: it stands for all of them. Called again by a
 * panic in a handler, it goes on with the rest; each call takes a row away, so that ends. */
GPURT_DEVN void gpurt_cuda_defers_run(uint32_t mask)
{
    gpurt_cuda_defers_t *s = gpurt_cuda_defers();
    uint32_t count = gpurt_cuda_defers_lock(s);
    gpurt_cuda_deferred_t row;

    for (uint32_t i = 0; i < count; i++)
        if (s->rows[i].mask & mask)
            s->rows[i].mask = (s->rows[i].mask & ~mask) | 1u << gpurt_lane();
    gpurt_or_relaxed_blk_u32(&s->xrunning, 1u << gpurt_lane());
    gpurt_cuda_defers_unlock(s, count);
    while (gpurt_cuda_defers_leave(&row))
        row.handler(row.arg);
}

#endif
