/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: no buffer has two owners, buffers are read in the order in which they were
 * filled, and when none is left it says so. */
#include "check.h"
#include "pool.h"

#include <gpurt/atomic.h>
#include <pthread.h>

enum {
    THREADS = 4,
    EACH = 5000
};

static pool_t pool;
static uint32_t xowners[POOL_BUFFERS]; /* written by: whoever has the buffer */
static uint32_t xfilled;

static int index_of(const uint8_t *memory)
{
    return (int)((memory - pool.memory) / POOL_BUFFER_BYTES);
}

static void *fill(void *context)
{
    uint32_t thread = (uint32_t)(uintptr_t)context;

    for (uint32_t i = 0; i < EACH;) {
        uint8_t *memory = pool_take(&pool);
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
    uint32_t starved = pool.xstarved;
    int rung;

    CHECK_EQ(sem_getvalue(&pool.filled, &rung), 0);
    CHECK_EQ(rung, THREADS * EACH / POOL_BELL); /* nobody waited */

    for (int i = 0; i < POOL_BUFFERS; i++) {
        all[i] = pool_take(&pool);
        CHECK(all[i] != NULL);
    }
    CHECK(pool_take(&pool) == NULL);
    CHECK_EQ(pool.xstarved, starved + 1);
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
    CHECK(pool_take(&pool) != NULL);
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

int main(void)
{
    CHECK(pool_open(&pool));
    check_crowd();
    check_end_of_pool();
    return 0;
}
