/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that sort: every type, lengths around a warp's stretch, many equal keys (stable), with
 * values and without, in device memory and in shared memory; and blocks that count. */
#include "must.h"

#include "../kernels/blocksort_kernels.h"

#include <gpurt/blocksort.h>

enum {
    BLOCKS = 2,
    MOST = 1500
};

static gpurt_t *rt;
static gpurt_error_t err;
static struct blocksort_args args;
static void *keys, *values, *room, *status;
static uint64_t host_keys[BLOCKS * MOST], sorted[BLOCKS * MOST];
static uint32_t host_values[BLOCKS * MOST];

static uint64_t seed = 1;
static uint32_t draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static void run(const gpurt_kernel_t *kernel, uint32_t threads, uint32_t n, uint32_t bytes,
                bool with_values, bool shared, int32_t want)
{
    uint64_t need = gpurt_block_sort_bytes(n, threads, bytes);
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1},
                             .block = {threads, 1, 1},
                             .shared_bytes = shared ? (uint32_t)need : 0};
    int32_t told[BLOCKS] = {0};

    args.keys = keys;
    args.values = with_values ? (uint32_t *)values : NULL;
    args.room = shared ? NULL : (char *)room;
    args.room_bytes = (need + 7) / 8 * 8;
    args.status = (int32_t *)status;
    args.n = n;
    for (uint32_t i = 0; i < BLOCKS * n; i++)
        host_values[i] = i;
    must(gpurt_copy(rt, 0, keys, host_keys, (size_t)BLOCKS * n * bytes, &err));
    must(gpurt_copy(rt, 0, values, host_values, (size_t)BLOCKS * n * 4, &err));
    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    must(gpurt_copy(rt, 0, sorted, keys, (size_t)BLOCKS * n * bytes, &err));
    must(gpurt_copy(rt, 0, host_values, values, (size_t)BLOCKS * n * 4, &err));
    must(gpurt_copy(rt, 0, told, status, sizeof told, &err));
    must(gpurt_sync(rt, &err));
    for (uint32_t b = 0; b < BLOCKS; b++)
        CHECK_EQ(told[b], want);
}

/* A value is the key's place before: the same order, and for equal keys upwards. */
#define SUBJECT(T, t, value)                                                            \
    static void test_##t(uint32_t threads, uint32_t n, bool with_values, bool shared)   \
    {                                                                                   \
        T *in = (T *)host_keys, *out = (T *)sorted;                                     \
        double sum = 0;                                                                 \
                                                                                        \
        for (uint32_t i = 0; i < BLOCKS * n; i++)                                       \
            sum += (double)(in[i] = (T)(value));                                        \
        run(&gpurt_kernel_blocksort_##t, threads, n, sizeof(T), with_values, shared,    \
            GPURT_OK);                                                                  \
        for (uint32_t i = 0; i < BLOCKS * n; i++) {                                     \
            bool first = i % n == 0;                                                    \
                                                                                        \
            sum -= (double)out[i];                                                      \
            CHECK_MSG(first || out[i - 1] <= out[i], #t " %u of %u", i, n);             \
            CHECK_MSG(!with_values || in[host_values[i]] == out[i], #t " value %u", i); \
            CHECK_MSG(!with_values || first || out[i - 1] < out[i] ||                   \
                          host_values[i - 1] < host_values[i],                          \
                      #t " %u: not stable", i);                                         \
        }                                                                               \
        CHECK_MSG(sum == 0, #t ": other keys came out");                                \
    }
SUBJECT(uint32_t, u32, draw() % 2 ? draw() * 2u : draw() % 7)
SUBJECT(int32_t, i32, (int32_t)(draw() % 201) - 100)
SUBJECT(uint64_t, u64, (uint64_t)(draw() % 1000) << 40)
SUBJECT(int64_t, i64, (int64_t)(draw() % 100000) - 50000)
SUBJECT(float, f32, ((int32_t)(draw() % 2001) - 1000) / 8.0f)
SUBJECT(double, f64, ((double)draw() - (1 << 30)) / 64.0)

static void test_counts(uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {threads, 1, 1}};
    uint32_t want[BLOCKSORT_BINS + 1], got[BLOCKSORT_BINS + 1];
    uint32_t *wide = (uint32_t *)host_keys;

    for (uint32_t bytes = 1; bytes <= 4; bytes += 3) {
        memset(want, 0, sizeof want);
        for (uint32_t i = 0; i < BLOCKS * MOST; i++) {
            uint32_t key = draw() % (bytes == 1 ? 120 : 5000) >> (i % 3 ? 0 : 4);

            want[key < BLOCKSORT_BINS ? key : BLOCKSORT_BINS]++;
            if (bytes == 1)
                ((uint8_t *)host_keys)[i] = (uint8_t)key;
            else
                wide[i] = key;
        }
        args.keys = keys;
        args.n = MOST;
        args.total = (uint32_t *)values;
        args.outside = args.total + BLOCKSORT_BINS;
        must(gpurt_fill(rt, 0, values, 0, sizeof got, &err));
        must(gpurt_copy(rt, 0, keys, host_keys, (size_t)BLOCKS * MOST * bytes, &err));
        must(gpurt_launch_kernel(rt, &launch,
                                 bytes == 1 ? &gpurt_kernel_blocksort_bytes
                                            : &gpurt_kernel_blocksort_count,
                                 &args, sizeof args, &err));
        must(gpurt_copy(rt, 0, got, values, sizeof got, &err));
        must(gpurt_sync(rt, &err));
        for (uint32_t i = 0; i <= BLOCKSORT_BINS; i++)
            CHECK_EQ(got[i], want[i]);
    }
}

int main(void)
{
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_mem_create(rt, sizeof host_keys, &keys, &err));
    must(gpurt_mem_create(rt, sizeof host_values, &values, &err));
    must(gpurt_mem_create(rt, BLOCKS * (gpurt_block_sort_bytes(MOST, 1024, 8) + 8), &room,
                          &err));
    must(gpurt_mem_create(rt, BLOCKS * 4, &status, &err));
    for (uint32_t i = 0; i < 4; i++) {
        static const uint32_t threads[] = {32, 96, 256, 64}, lengths[] = {33, 700, 1500, 1};

        test_u32(threads[i], lengths[i], true, i % 2);
        test_i32(threads[i], lengths[i], true, false);
        test_u64(threads[i], lengths[i], i % 2, true);
        test_i64(threads[i], lengths[i], true, i % 2);
        test_f32(threads[i], lengths[i], false, i % 2);
        test_f64(threads[i], lengths[i], true, true);
    }
    run(&gpurt_kernel_blocksort_u32, 32, 0, 4, true, true, GPURT_OK);
    run(&gpurt_kernel_blocksort_u32, 48, 10, 4, true, true, GPURT_E_INVALID);
    test_counts(77);
    test_counts(256);
    gpurt_mem_destroy(rt, keys);
    gpurt_mem_destroy(rt, values);
    gpurt_mem_destroy(rt, room);
    gpurt_mem_destroy(rt, status);
    must(gpurt_close(rt, &err));
    return 0;
}
