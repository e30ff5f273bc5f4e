/* SPDX-License-Identifier: Apache-2.0 */
/* Order.
 *   CUP1  fill.rel -> next.acq   records, valid and order of a buffer
 *   CUP2  give.rel -> take.acq   the reader's loads come before CUPTI overwrites */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "pool.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <pthread.h>
#include <sys/mman.h>

enum {
    STEP_BITS = 16 /* times of threads are in steps of 65 us: 32 bits are three days */
};

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

static uint64_t bits_of(uint32_t parts)
{
    return (1ull << parts) - 1;
}

/* Of a word of free buffers: where POOL_LARGE of them begin, side by side and at a multiple. */
static uint64_t large_ones(uint64_t word)
{
    word &= word >> 1;
    word &= word >> 2;
    return word & 0x1111111111111111ull;
}
GPURT_STATIC_ASSERT(POOL_LARGE == 4, "large_ones");

/* Returns: the first of so many, or -1. */
static int parts_take(pool_t *p, uint32_t parts)
{
    for (int i = 0; i < POOL_WORDS; i++) {
        uint64_t word = gpurt_load_relaxed_dev_u64(&p->xfree[i]); /* relaxed: a guess */
        uint64_t begins;

        while ((begins = parts == POOL_LARGE ? large_ones(word) : word) != 0) {
            int bit = __builtin_ctzll(begins);

            if (gpurt_cas_acquire_dev_u64(&p->xfree[i], &word,
                                          word & ~(bits_of(parts) << bit))) /* CUP2.acq */
                return i * 64 + bit;
        }
    }
    return -1;
}

/* Whether this thread took one a short while ago. Two that have one place both seem to be
 * there for the first time. */
static bool is_soon(pool_t *p, uint64_t now_ns)
{
    uint64_t key = (uint64_t)pthread_self() * 0x9e3779b97f4a7c15ull;
    uint32_t tag = (uint32_t)(key >> 16), step = (uint32_t)(now_ns >> STEP_BITS);
    /* relaxed: a hint */
    uint64_t last = gpurt_xchg_relaxed_dev_u64(&p->xaskers[key >> 48 & (POOL_ASKERS - 1)],
                                               (uint64_t)tag << 32 | step);

    return last >> 32 == tag && step - (uint32_t)last <= POOL_SOON_NS >> STEP_BITS;
}

static bool is_plenty(const pool_t *p)
{
    int idle = 0;

    for (int i = 0; i < POOL_WORDS; i++) /* relaxed: a guess */
        idle += __builtin_popcountll(gpurt_load_relaxed_dev_u64(&p->xfree[i]));
    return idle > POOL_BUFFERS - POOL_PLENTY;
}

uint8_t *pool_take(pool_t *p, uint64_t now_ns, size_t *bytes)
{
    uint32_t parts = is_soon(p, now_ns) && is_plenty(p) ? POOL_LARGE : 1;
    int index = parts_take(p, parts);

    gpurt_store_relaxed_dev_u64(&p->xtaken_ns, now_ns); /* relaxed: a time, of any thread */
    if (index < 0 && parts != 1)
        index = parts_take(p, parts = 1);
    *bytes = 0;
    if (index < 0) {
        gpurt_add_relaxed_dev_u64(&p->xstarved, 1); /* relaxed: a count */
        return NULL;
    }
    p->entries[index].parts = parts;
    /* relaxed: CUPTI hands the buffer on from here to fill, with all that is known of it */
    gpurt_or_relaxed_dev_u64(&p->xheld[index / 64], 1ull << (index % 64));
    *bytes = (size_t)parts * POOL_BUFFER_BYTES;
    return pool_memory(p, index);
}

/* It may be anywhere, and any place of our memory. Returns: the buffer's index, which is not
 * CUPTI's from here on; -1: it was not. */
static int held_end(pool_t *p, const uint8_t *memory)
{
    uintptr_t at = (uintptr_t)memory - (uintptr_t)p->memory;
    size_t index = at / POOL_BUFFER_BYTES;
    uint64_t bit = 1ull << (index % 64);

    if (index >= POOL_BUFFERS || at % POOL_BUFFER_BYTES != 0)
        return -1;
    /* relaxed: as where it is set */
    return gpurt_and_relaxed_dev_u64(&p->xheld[index / 64], ~bit) & bit ? (int)index : -1;
}

void pool_fill(pool_t *p, uint8_t *memory, size_t valid)
{
    const int index = held_end(p, memory);
    pool_entry_t *entry = &p->entries[index < 0 ? 0 : index];
    uint64_t order;
    uint32_t parts;
    size_t most;

    if (index < 0) {
        gpurt_add_relaxed_dev_u32(&p->xforeign, 1); /* relaxed: a count */
        return;
    }
    order = gpurt_add_relaxed_dev_u64(&p->xorder, 1); /* relaxed: a ticket */
    parts = entry->parts;
    most = (size_t)parts * POOL_BUFFER_BYTES;
    entry->valid = valid < most ? valid : most;
    entry->order = order;
    gpurt_or_release_dev_u64(&p->xfull[index / 64], 1ull << (index % 64)); /* CUP1.rel */
    if ((order + 1) % (POOL_BELL / parts) == 0)
        sem_post(&p->filled);
}

uint32_t pool_out(const pool_t *p)
{
    int out = 0;

    for (int i = 0; i < POOL_WORDS; i++) /* relaxed: a count */
        out += __builtin_popcountll(gpurt_load_relaxed_dev_u64(&p->xheld[i]));
    return (uint32_t)out;
}

uint32_t pool_starved(const pool_t *p)
{
    return gpurt_at_least(gpurt_load_relaxed_dev_u64(&p->xstarved)); /* relaxed: a count */
}

uint32_t pool_foreign(const pool_t *p)
{
    return gpurt_load_relaxed_dev_u32(&p->xforeign); /* relaxed: a count */
}

uint64_t pool_given(const pool_t *p)
{
    return gpurt_load_relaxed_dev_u64(&p->xgiven); /* relaxed: a count */
}

uint64_t pool_unread(const pool_t *p)
{
    return gpurt_load_relaxed_dev_u64(&p->xorder) - pool_given(p); /* relaxed: a count */
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
    int index = p->behind % POOL_BUFFERS;
    uint64_t word = gpurt_load_acquire_dev_u64(&p->xfull[index / 64]); /* CUP1.acq */

    return (word >> index % 64 & 1) && p->entries[index].order == pool_given(p) ? index
                                                                                : -1;
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
    uint32_t parts = p->entries[index].parts;

    gpurt_store_relaxed_dev_u64(&p->xgiven, pool_given(p) + 1); /* relaxed: a count */
    p->behind = index + (int)parts;
    gpurt_and_relaxed_dev_u64(&p->xfull[index / 64], ~bit); /* relaxed: only we clear */
    gpurt_or_release_dev_u64(&p->xfree[index / 64], bits_of(parts)
                                                        << index % 64); /* CUP2.rel */
}
