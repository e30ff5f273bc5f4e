/* SPDX-License-Identifier: Apache-2.0 */
/* Order.
 *   CUP1  fill.rel -> next.acq   records, valid and order of a buffer
 *   CUP2  give.rel -> take.acq   the reader's loads come before CUPTI overwrites */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "pool.h"

#include <gpurt/atomic.h>
#include <sys/mman.h>

bool pool_open(pool_t *p)
{
    p->memory = mmap(NULL, (size_t)POOL_BUFFERS * POOL_BUFFER_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->memory == MAP_FAILED || sem_init(&p->filled, 0, 0) != 0)
        return false;
    for (int i = 0; i < POOL_WORDS; i++)
        gpurt_store_relaxed_dev_u64(&p->xfree[i],
                                    UINT64_MAX); /* relaxed: nobody else yet */
    return true;
}

uint8_t *pool_memory(const pool_t *p, int index)
{
    return p->memory + (size_t)index * POOL_BUFFER_BYTES;
}

uint8_t *pool_take(pool_t *p)
{
    for (int i = 0; i < POOL_WORDS; i++) {
        uint64_t word = gpurt_load_relaxed_dev_u64(&p->xfree[i]); /* relaxed: a guess */

        while (word) {
            int bit = __builtin_ctzll(word);

            if (gpurt_cas_acquire_dev_u64(&p->xfree[i], &word,
                                          word & ~(1ull << bit))) /* CUP2.acq */
                return pool_memory(p, i * 64 + bit);
        }
    }
    gpurt_add_relaxed_dev_u32(&p->xstarved, 1); /* relaxed: a count */
    return NULL;
}

void pool_fill(pool_t *p, uint8_t *memory, size_t valid)
{
    int index = (int)((size_t)(memory - p->memory) / POOL_BUFFER_BYTES);
    pool_entry_t *entry = &p->entries[index];
    uint64_t order = gpurt_add_relaxed_dev_u64(&p->xorder, 1); /* relaxed: a ticket */

    entry->valid = valid < POOL_BUFFER_BYTES ? valid : POOL_BUFFER_BYTES;
    entry->order = order;
    gpurt_or_release_dev_u64(&p->xfull[index / 64], 1ull << (index % 64)); /* CUP1.rel */
    if ((order + 1) % POOL_BELL == 0)
        sem_post(&p->filled);
}

/* The oldest buffer that one pass over the words finds. */
static int oldest(const pool_t *p)
{
    int best = -1;

    for (int i = 0; i < POOL_WORDS; i++)
        for (uint64_t word = gpurt_load_acquire_dev_u64(&p->xfull[i]); word; /* CUP1.acq */
             word &= word - 1) {
            int index = i * 64 + __builtin_ctzll(word);

            if (best < 0 || p->entries[index].order < p->entries[best].order)
                best = index;
        }
    return best;
}

/* Of many that wait the next one mostly lies behind the last: it is the next when as many were
 * filled before it as were read. Returns: it or -1. */
static int neighbour(const pool_t *p)
{
    int index = (p->last + 1) % POOL_BUFFERS;
    uint64_t word = gpurt_load_acquire_dev_u64(&p->xfull[index / 64]); /* CUP1.acq */

    return (word >> index % 64 & 1) && p->entries[index].order == p->given ? index : -1;
}

/* A pass reads the words one by one: what was filled before the one it found may have come
 * into a word that it had left behind. A second pass sees that. */
int pool_next(pool_t *p)
{
    int found = neighbour(p), again;

    if (found >= 0)
        return found;
    found = oldest(p);
    while (found >= 0 && (again = oldest(p)) != found)
        found = again;
    return found;
}

void pool_give(pool_t *p, int index)
{
    uint64_t bit = 1ull << (index % 64);

    p->given++;
    p->last = index;
    gpurt_and_relaxed_dev_u64(&p->xfull[index / 64], ~bit); /* relaxed: only we clear */
    gpurt_or_release_dev_u64(&p->xfree[index / 64], bit);   /* CUP2.rel */
}
