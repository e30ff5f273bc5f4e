/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: no buffer has two owners, buffers are read in the order in which they were
 * filled, and when none is left it says so. Many threads have one each, and what is another's
 * is left alone. */
#include "check.h"
#include "pool.h"

#include <gpurt/atomic.h>
#include <pthread.h>
#include <sys/mman.h>

enum {
    THREADS = 4,
    EACH = 5000,
    MANY = 300
};

static pool_t pool;
static uint32_t xowners[POOL_BUFFERS]; /* written by: whoever has the buffer */
static uint32_t xfilled;

static int index_of(const uint8_t *memory)
{
    return (int)((memory - pool.memory) / POOL_BUFFER_BYTES);
}

/* A small one: a second after the last. */
static uint8_t *take(void)
{
    static uint64_t xnow_ns = 1000000000;
    size_t bytes;
    uint64_t now_ns = gpurt_add_relaxed_dev_u64(&xnow_ns, 1000000000);
    uint8_t *memory = pool_take(&pool, now_ns, &bytes);

    CHECK_EQ(bytes, memory ? POOL_BUFFER_BYTES : 0);
    return memory;
}

static void *fill(void *context)
{
    uint32_t thread = (uint32_t)(uintptr_t)context;

    for (uint32_t i = 0; i < EACH;) {
        uint8_t *memory = take();
        int index;

        if (!memory)
            continue;
        index = index_of(memory);
        CHECK_EQ(gpurt_add_relaxed_dev_u32(&xowners[index], 1), 0);
        memcpy(memory, &thread, sizeof thread);
        memcpy(memory + 4, &i, sizeof i);
        i++;
        CHECK_EQ(gpurt_sub_relaxed_dev_u32(&xowners[index], 1), 1);
        gpurt_add_relaxed_dev_u32(&xfilled, 1);
        pool_fill(&pool, memory, 8);
    }
    return NULL;
}

static void check_crowd(void)
{
    uint32_t next[THREADS] = {0};
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, fill, (void *)i), 0);
    for (uint32_t done = 0; done < THREADS * EACH;) {
        int index = pool_next(&pool);
        uint32_t thread, i;

        if (index < 0)
            continue;
        CHECK_EQ(gpurt_add_relaxed_dev_u32(&xowners[index], 1), 0);
        CHECK_EQ(pool.entries[index].valid, 8);
        memcpy(&thread, pool_memory(&pool, index), sizeof thread);
        memcpy(&i, pool_memory(&pool, index) + 4, sizeof i);
        CHECK(thread < THREADS);
        CHECK_EQ(i, next[thread]);
        next[thread]++;
        CHECK_EQ(gpurt_sub_relaxed_dev_u32(&xowners[index], 1), 1);
        pool_give(&pool, index);
        done++;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(pool_next(&pool), -1);
}

static void check_end_of_pool(void)
{
    uint8_t *all[POOL_BUFFERS];
    uint32_t starved = pool_starved(&pool);
    int rung;

    CHECK_EQ(sem_getvalue(&pool.filled, &rung), 0);
    CHECK_EQ(rung, THREADS * EACH / POOL_BELL); /* nobody waited */

    for (int i = 0; i < POOL_BUFFERS; i++) {
        all[i] = take();
        CHECK(all[i] != NULL);
    }
    CHECK(take() == NULL);
    CHECK_EQ(pool_starved(&pool), starved + 1);
    pool.xstarved = UINT32_MAX - 1;
    for (int more = 0; more < 3; more++) {
        CHECK(take() == NULL);
        CHECK_EQ(pool_starved(&pool), UINT32_MAX);
    }
    pool.xstarved = 0;
    /* Back in an order that is not that of their places. */
    pool_fill(&pool, all[200], 1);
    pool_fill(&pool, all[3], POOL_BUFFER_BYTES + 1);
    pool_fill(&pool, all[77], 3);
    CHECK_EQ(pool_next(&pool), index_of(all[200]));
    CHECK_EQ(pool_next(&pool), index_of(all[200])); /* until it is given back */
    pool_give(&pool, index_of(all[200]));
    CHECK_EQ(pool_next(&pool), index_of(all[3]));
    CHECK_EQ(pool.entries[index_of(all[3])].valid, POOL_BUFFER_BYTES); /* never beyond it */
    pool_give(&pool, index_of(all[3]));
    CHECK_EQ(pool_next(&pool), index_of(all[77]));
    CHECK(take() != NULL);
    pool_give(&pool, index_of(all[77]));
    /* The neighbour of the last one is no older than what was filled before it. */
    pool_fill(&pool, all[40], 4);
    pool_fill(&pool, all[78], 5);
    CHECK_EQ(pool_next(&pool), index_of(all[40]));
    pool_give(&pool, index_of(all[40]));
    CHECK_EQ(pool_next(&pool), index_of(all[78]));
    pool_give(&pool, index_of(all[78]));
    CHECK_EQ(pool_next(&pool), -1);
}

static void all_back(void)
{
    for (int index; (index = pool_next(&pool)) >= 0;)
        pool_give(&pool, index);
}

/* Who takes them fast is given four in one piece, while there are plenty; nothing is taken twice,
 * and what comes back may be taken again as one or as four. */
static void check_large(void)
{
    uint8_t *all[POOL_BUFFERS], *back[2] = {take(), take()}, *small = take();
    bool taken[POOL_BUFFERS] = {false};
    uint64_t now_ns = pool.xtaken_ns + POOL_SOON_NS / 2;
    int count = 0, larges = 0;
    size_t bytes;

    for (int i = 0; i < 2; i++) { /* the first four are not all free: the third is taken */
        pool_fill(&pool, back[i], 1);
        pool_give(&pool, pool_next(&pool));
    }
    taken[index_of(small)] = true;
    for (;; count++) {
        all[count] = pool_take(&pool, now_ns, &bytes);
        if (!all[count])
            break;
        CHECK(bytes == POOL_BUFFER_BYTES || bytes == POOL_LARGE * POOL_BUFFER_BYTES);
        larges += bytes != POOL_BUFFER_BYTES;
        for (size_t i = 0; i < bytes / POOL_BUFFER_BYTES; i++) {
            CHECK(!taken[index_of(all[count]) + (int)i]);
            taken[index_of(all[count]) + (int)i] = true;
        }
    }
    CHECK_EQ(larges, POOL_PLENTY / POOL_LARGE);
    CHECK_EQ(count, POOL_BUFFERS - 1 - larges * (POOL_LARGE - 1));
    CHECK_EQ(pool_out(&pool), count + 1);
    pool_fill(&pool, all[1], POOL_LARGE * POOL_BUFFER_BYTES + 1);
    pool_fill(&pool, small, 2);
    CHECK_EQ(pool_next(&pool), index_of(all[1]));
    CHECK_EQ(pool.entries[index_of(all[1])].valid, POOL_LARGE * POOL_BUFFER_BYTES);
    pool_give(&pool, index_of(all[1]));
    CHECK_EQ(pool_next(&pool), index_of(small));
    pool_give(&pool, index_of(small));
    for (int i = 0; i < count; i++)
        if (i != 1)
            pool_fill(&pool, all[i], 1);
    all_back();
    CHECK_EQ(pool_out(&pool), 0);
    CHECK_EQ(pool_foreign(&pool), 0);
    CHECK(pool_take(&pool, now_ns, &bytes) != NULL);
    CHECK_EQ(bytes, POOL_LARGE * POOL_BUFFER_BYTES);
    for (count = POOL_LARGE; pool_take(&pool, now_ns + 2 * POOL_SOON_NS, &bytes); count++) {
        CHECK_EQ(bytes, POOL_BUFFER_BYTES);
        now_ns += 2 * POOL_SOON_NS;
    }
    CHECK_EQ(count, POOL_BUFFERS);
}

static pthread_barrier_t together;

static void *take_one(void *context)
{
    size_t *bytes = context;

    pthread_barrier_wait(&together); /* no two threads of one number */
    CHECK(pool_take(&pool, 1000000000, bytes) != NULL);
    pthread_barrier_wait(&together);
    return NULL;
}

/* Each thread of a server wants a first buffer, all at once: none goes without. */
static void check_many(void)
{
    static size_t bytes[MANY];
    pthread_t threads[MANY];

    CHECK_EQ(pthread_barrier_init(&together, NULL, MANY), 0);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, take_one, &bytes[i]), 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(bytes[i], POOL_BUFFER_BYTES);
    CHECK_EQ(pool.xstarved, 0);
    CHECK_EQ(pool_out(&pool), MANY);
}

/* Another tool of the program has buffers of its own, and CUPTI gives them to whom it likes. */
static void check_foreign(void)
{
    static uint8_t theirs[POOL_BUFFER_BYTES];
    uint8_t *ours = take(), *gone = take();

    pool_fill(&pool, theirs, sizeof theirs);
    pool_fill(&pool, ours + 64, 1);
    pool_fill(&pool, pool.memory - POOL_BUFFER_BYTES, 1);
    pool_fill(&pool, pool.memory + (size_t)POOL_BUFFERS * POOL_BUFFER_BYTES, 1);
    pool_fill(&pool, pool_memory(&pool, POOL_BUFFERS - 1), 1); /* ours, and not out */
    CHECK_EQ(pool_foreign(&pool), 5);
    CHECK_EQ(pool_next(&pool), -1);
    pool_fill(&pool, gone, 1);
    pool_fill(&pool, gone, 2); /* once more */
    CHECK_EQ(pool_foreign(&pool), 6);
    CHECK_EQ(pool_next(&pool), index_of(gone));
    CHECK_EQ(pool.entries[index_of(gone)].valid, 1);
    pool_give(&pool, index_of(gone));
    CHECK_EQ(pool_next(&pool), -1);
    CHECK_EQ(pool_out(&pool), 1);
}

static void begin(void)
{
    if (pool.memory)
        munmap(pool.memory, (size_t)POOL_BUFFERS * POOL_BUFFER_BYTES);
    memset(&pool, 0, sizeof pool);
    CHECK(pool_open(&pool));
}

int main(void)
{
    begin();
    check_large();
    begin();
    check_many();
    begin();
    check_foreign();
    begin();
    check_crowd();
    check_end_of_pool();
    return 0;
}
