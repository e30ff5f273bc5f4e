/* SPDX-License-Identifier: Apache-2.0 */
/* bench_assert.h - kernels with promises in them, and the same text without. */
#ifndef GPURT_TESTS_BENCH_ASSERT_H
#define GPURT_TESTS_BENCH_ASSERT_H

#include <gpurt/kernel.h>

enum {
    BENCH_ASSERT_TILE = 32, /* of the transpose; a block has TILE x ROWS threads */
    BENCH_ASSERT_ROWS = 8,
    BENCH_ASSERT_STEPS = 64 /* multiply-adds between two polls */
};

/* What a lane loads at once. */
typedef struct GPURT_ALIGN(16) bench_quad {
    float a, b, c, d;
} bench_quad_t;

struct bench_assert_args {
    const float *in;
    float *out;
    uint64_t count;   /* of in; all that is read lies below it */
    uint32_t side;    /* of the square matrix */
    uint32_t repeats; /* of the loop that computes */
    float factor;
    const uint32_t *stop; /* where a poll of global memory looks */
};

/* As bare as a loop can be, and gpurt's. */
#define BENCH_ASSERT_FOR(type, i, from, to, step) for (type i = from; i < to; i += step)

GPURT_KERNEL_DECLARE(bench_transpose, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_transpose_assert, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_transpose_each, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_transpose_libc, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_transpose_trap, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_transpose_trap_each, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_assert, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_libc, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_trap, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_poll, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_loop, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_shared, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_sum_global, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_compute, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_compute_poll, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_compute_loop, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_compute_shared, struct bench_assert_args);
GPURT_KERNEL_DECLARE(bench_compute_global, struct bench_assert_args);

/* once: before the first element; each: at every element that is read, and that is written. */
#define BENCH_ASSERT_TRANSPOSE(name, once, each)                                 \
    GPURT_KERNEL(name, struct bench_assert_args, p)                              \
    {                                                                            \
        GPURT_SHARED(float, tile, BENCH_ASSERT_TILE *(BENCH_ASSERT_TILE + 1));   \
        uint32_t x = gpurt_block_x() * BENCH_ASSERT_TILE, tx = gpurt_thread_x(); \
        uint32_t y = gpurt_block_y() * BENCH_ASSERT_TILE, ty = gpurt_thread_y(); \
        uint64_t at = (uint64_t)(y + BENCH_ASSERT_TILE - 1) * p->side + x + tx;  \
                                                                                 \
        once;                                                                    \
        for (uint32_t i = ty; i < BENCH_ASSERT_TILE; i += BENCH_ASSERT_ROWS) {   \
            at = (uint64_t)(y + i) * p->side + x + tx;                           \
            each;                                                                \
            tile[i * (BENCH_ASSERT_TILE + 1) + tx] = p->in[at];                  \
        }                                                                        \
        gpurt_block_barrier();                                                   \
        for (uint32_t i = ty; i < BENCH_ASSERT_TILE; i += BENCH_ASSERT_ROWS) {   \
            at = (uint64_t)(x + i) * p->side + y + tx;                           \
            each;                                                                \
            p->out[at] = tile[tx * (BENCH_ASSERT_TILE + 1) + i];                 \
        }                                                                        \
    }

/* Sixteen bytes a lane at once; `each` for each of these. */
#define BENCH_ASSERT_SUM(name, loop, each)                                       \
    GPURT_KERNEL(name, struct bench_assert_args, p)                              \
    {                                                                            \
        GPURT_SHARED(uint32_t, word, 1);                                         \
        const bench_quad_t *in = (const bench_quad_t *)(const void *)p->in;      \
        uint64_t stride = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads(); \
        float sum = 0.0f;                                                        \
                                                                                 \
        (void)word;                                                              \
        loop(uint64_t, i, gpurt_global_id(), p->count / 4, stride)               \
        {                                                                        \
            bench_quad_t q = in[i];                                              \
            float v = q.a + q.b + q.c + q.d;                                     \
                                                                                 \
            each;                                                                \
            sum += v;                                                            \
        }                                                                        \
        p->out[gpurt_global_id()] = sum;                                         \
    }

/* Nothing but multiply-adds, in four rows that do not wait for each other. */
#define BENCH_ASSERT_COMPUTE(name, loop, poll)                              \
    GPURT_KERNEL(name, struct bench_assert_args, p)                         \
    {                                                                       \
        GPURT_SHARED(uint32_t, word, 1);                                    \
        const float f = p->factor;                                          \
        float a = (float)gpurt_thread_x(), b = a + 1, c = a + 2, d = a + 3; \
                                                                            \
        (void)word;                                                         \
        loop(uint32_t, i, 0, p->repeats, 1)                                 \
        {                                                                   \
            for (uint32_t k = 0; k < BENCH_ASSERT_STEPS / 4; k++) {         \
                a = a * f + 1.0f;                                           \
                b = b * f + 2.0f;                                           \
                c = c * f + 3.0f;                                           \
                d = d * f + 4.0f;                                           \
            }                                                               \
            poll;                                                           \
        }                                                                   \
        p->out[gpurt_global_id()] = a + b + c + d;                          \
    }

#endif
