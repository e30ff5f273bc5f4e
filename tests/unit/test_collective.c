/* SPDX-License-Identifier: Apache-2.0 */
/* Scans, reductions, broadcasts and exchanges of warps, blocks and clusters, each beside what a
 * loop over the same values gives: every type, blocks that end in a warp that is partly filled,
 * masks with gaps, segments, an operator that does not commute. Floats that round: the same bits
 * each time, and on both back ends. */
#include "must.h"

#include "../kernels/collective_kernels.h"

#include <float.h>

enum {
    MOST = 2048, /* threads of a launch */
    CLUSTER = 2
};

typedef struct shape {
    uint32_t blocks, threads, y, mask, cluster;
} shape_t;

/* Shared with: nobody. The memory of a run: host and device. */
typedef struct run {
    gpurt_t *rt;
    gpurt_info_t info;
    void *in, *out, *head;
    shape_t shape;
    uint32_t n, from;
    uint8_t heads[MOST];
} run_t;

static uint64_t seed = 1;
static uint32_t draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static void run_launch(run_t *r, const gpurt_kernel_t *kernel, const void *in, size_t bytes,
                       void *out, size_t out_bytes)
{
    struct collective_args args = {r->in, (uint8_t *)r->head, r->out, r->shape.mask,
                                   r->from};
    gpurt_launch_t launch = {.grid = {r->shape.blocks, 1, 1},
                             .block = {r->shape.threads / r->shape.y, r->shape.y, 1},
                             .cluster = {r->shape.cluster, 1, 1},
                             .shared_bytes = r->shape.threads * COLLECTIVE_ITEMS * 8};
    gpurt_t *rt = r->rt;
    gpurt_error_t err;

    must(gpurt_copy(rt, 0, r->in, in, bytes, &err));
    must(gpurt_copy(rt, 0, r->head, r->heads, r->n, &err));
    must(gpurt_fill(rt, 0, r->out, 0, out_bytes, &err));
    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    must(gpurt_copy(rt, 0, out, r->out, out_bytes, &err));
    must(gpurt_sync(rt, &err));
}

/* What a loop gives, thread after thread. */
#define REFERENCE(op, T, t, none, pair)                                                    \
    static void expect_##op##_##t(const run_t *r, const T *in, const T *rows, bool maps)   \
    {                                                                                      \
        uint32_t threads = r->shape.threads, n = r->n, size = r->shape.cluster * threads;  \
                                                                                           \
        for (uint32_t first = 0; first < n; first += threads) {                            \
            T scan = none, seg = none, all = none, cluster = none, warp = none,            \
              wseg = none;                                                                 \
                                                                                           \
            for (uint32_t i = first; i < first + threads; i++)                             \
                all = pair(all, in[i]);                                                    \
            for (uint32_t i = first / size * size; i < (first / size + 1) * size; i++)     \
                cluster = pair(cluster, in[i]);                                            \
            for (uint32_t i = first; i < first + threads; i++) {                           \
                CHECK_MSG(rows[COLLECTIVE_EXSCAN * n + i] == scan,                         \
                          "exscan " #op " " #t " %u", i);                                  \
                scan = pair(scan, in[i]);                                                  \
                seg = r->heads[i] ? in[i] : pair(seg, in[i]);                              \
                CHECK_MSG(rows[COLLECTIVE_SCAN * n + i] == scan, "scan " #op " " #t " %u", \
                          i);                                                              \
                CHECK_MSG(rows[COLLECTIVE_SEGSCAN * n + i] == seg,                         \
                          "segscan " #op " " #t " %u", i);                                 \
                CHECK_MSG(rows[COLLECTIVE_REDUCE * n + i] == all,                          \
                          "reduce " #op " " #t " %u", i);                                  \
                CHECK_MSG(rows[COLLECTIVE_TOTAL * n + i] == all,                           \
                          "total " #op " " #t " %u", i);                                   \
                CHECK_MSG(rows[COLLECTIVE_CLUSTER * n + i] == cluster,                     \
                          "cluster " #op " " #t " %u", i);                                 \
                if ((i - first) % 32 == 0)                                                 \
                    warp = wseg = none;                                                    \
                if (!(r->shape.mask >> (i - first) % 32 & 1u))                             \
                    continue;                                                              \
                CHECK_MSG(rows[COLLECTIVE_WARP_EXSCAN * n + i] == warp,                    \
                          "warp exscan " #op " " #t " %u", i);                             \
                warp = pair(warp, in[i]);                                                  \
                wseg = r->heads[i] ? in[i] : pair(wseg, in[i]);                            \
                CHECK_MSG(rows[COLLECTIVE_WARP_SCAN * n + i] == warp,                      \
                          "warp scan " #op " " #t " %u", i);                               \
                CHECK_MSG(rows[COLLECTIVE_WARP_SEGSCAN * n + i] == wseg,                   \
                          "warp segscan " #op " " #t " %u", i);                            \
            }                                                                              \
        }                                                                                  \
        (void)maps;                                                                        \
    }
#define MOVES(T, t)                                                                       \
    static void expect_moves_##t(const run_t *r, const T *in, const T *rows)              \
    {                                                                                     \
        uint32_t threads = r->shape.threads, n = r->n, size = r->shape.cluster * threads; \
                                                                                          \
        for (uint32_t at = 0; at < n; at++) {                                             \
            uint32_t first = at / threads * threads, rank = at - first;                   \
            uint32_t last = at / size * size + size - threads;                            \
            uint32_t other = first + (rank + r->from) % threads;                          \
                                                                                          \
            CHECK_MSG(rows[COLLECTIVE_BROADCAST * n + at] == in[first + r->from],         \
                      "broadcast " #t);                                                   \
            CHECK_MSG(rows[COLLECTIVE_SCATTER * n + other] == in[at], "scatter " #t);     \
            CHECK_MSG(rows[COLLECTIVE_GATHER * n + at] == in[other], "gather " #t);       \
            CHECK_MSG(rows[COLLECTIVE_CLUSTER_BROADCAST * n + at] == in[last + r->from],  \
                      "cluster broadcast " #t);                                           \
            for (uint32_t i = 0; i < COLLECTIVE_ITEMS; i++) {                             \
                CHECK_MSG(rows[(COLLECTIVE_STRIPED + i) * n + at] ==                      \
                              (T)(i * threads + rank),                                    \
                          "striped " #t);                                                 \
                CHECK_MSG(rows[(COLLECTIVE_BLOCKED + i) * n + at] ==                      \
                              (T)(rank * COLLECTIVE_ITEMS + i),                           \
                          "blocked " #t);                                                 \
            }                                                                             \
        }                                                                                 \
    }
#define ADD(a, b) ((a) + (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))
#define SUBJECT(T, t, least, most, value)                                            \
    REFERENCE(add, T, t, (T)0, ADD)                                                  \
    REFERENCE(min, T, t, (T)most, MIN)                                               \
    REFERENCE(max, T, t, (T)least, MAX)                                              \
    MOVES(T, t)                                                                      \
    static void test_##t(run_t *r)                                                   \
    {                                                                                \
        static T in[MOST],                                                           \
            out[(COLLECTIVE_OPS * COLLECTIVE_ROWS + COLLECTIVE_MOVES) * MOST];       \
                                                                                     \
        for (uint32_t i = 0; i < r->n; i++)                                          \
            in[i] = (T)(value);                                                      \
        run_launch(r, &gpurt_kernel_collective_##t, in, r->n * sizeof(T), out,       \
                   (COLLECTIVE_OPS * COLLECTIVE_ROWS + COLLECTIVE_MOVES) * r->n *    \
                       sizeof(T));                                                   \
        expect_add_##t(r, in, out, false);                                           \
        expect_min_##t(r, in, out + COLLECTIVE_MIN * COLLECTIVE_ROWS * r->n, false); \
        expect_max_##t(r, in, out + COLLECTIVE_MAX * COLLECTIVE_ROWS * r->n, false); \
        expect_moves_##t(r, in, out + COLLECTIVE_OPS * COLLECTIVE_ROWS * r->n);      \
    }
/* Sums of floats are exact here: whole numbers, and few. */
SUBJECT(uint32_t, u32, 0, UINT32_MAX, draw() * 3u)
SUBJECT(int32_t, i32, INT32_MIN, INT32_MAX, (int32_t)(draw() % 2000001) - 1000000)
SUBJECT(uint64_t, u64, 0, UINT64_MAX, ((uint64_t)draw() << 40) ^ draw())
SUBJECT(int64_t, i64, INT64_MIN, INT64_MAX,
        ((int64_t)draw() << 16) - ((int64_t)draw() << 16))
SUBJECT(float, f32, -__builtin_huge_valf(), __builtin_huge_valf(),
        (int32_t)(draw() % 4001) - 2000)
SUBJECT(double, f64, -__builtin_huge_val(), __builtin_huge_val(),
        (int64_t)draw() - (1 << 30))
REFERENCE(compose, uint64_t, u64, 1ull, collective_compose)

static void test_maps(run_t *r)
{
    static uint64_t in[MOST], out[COLLECTIVE_ROWS * MOST];

    for (uint32_t i = 0; i < r->n; i++)
        in[i] = (uint64_t)draw() << 32 | draw();
    run_launch(r, &gpurt_kernel_collective_maps, in, r->n * sizeof *in, out,
               COLLECTIVE_ROWS * r->n * sizeof *out);
    expect_compose_u64(r, in, out, true);
}

/* A hash of all rows of sums that round: what another back end must give, too. */
static uint64_t rounded(run_t *r)
{
    static float in[MOST], out[COLLECTIVE_ROWS * MOST];
    uint64_t hash = 14695981039346656037ull;

    seed = 7;
    for (uint32_t i = 0; i < r->n; i++)
        in[i] = ((float)draw() - 1e9f) / 3.0f;
    run_launch(r, &gpurt_kernel_collective_f32, in, r->n * sizeof *in, out,
               COLLECTIVE_ROWS * r->n * sizeof *out);
    for (uint32_t i = 0; i < COLLECTIVE_ROWS * r->n; i++) {
        uint32_t bits;

        memcpy(&bits, out + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211ull;
    }
    return hash;
}

static void test_shape(run_t *r, const shape_t *s)
{
    r->shape = *s;
    r->n = s->blocks * s->threads;
    r->from = draw() % s->threads;
    for (uint32_t i = 0; i < r->n; i++)
        r->heads[i] = draw() % 7 == 0;
    test_u32(r);
    test_i32(r);
    test_u64(r);
    test_i64(r);
    test_f32(r);
    test_f64(r);
    test_maps(r);
}

int main(void)
{
    static const shape_t shapes[] = {
        {2, 32, 1, GPURT_FULL_MASK, 1},   {1, 1, 1, GPURT_FULL_MASK, 1},
        {2, 96, 1, 0x0000ffffu, CLUSTER}, {2, 33, 1, 0xdeadbeefu, 1},
        {1, 77, 7, 0x80000001u, 1},       {1, 250, 2, 0x55555554u, 1},
        {1, 1024, 1, 0x7ffffff0u, 1}};
    static run_t r;
    size_t most = (size_t)(COLLECTIVE_OPS * COLLECTIVE_ROWS + COLLECTIVE_MOVES) * MOST * 8;
    gpurt_error_t err = {0};
    gpurt_t *rt;
    uint64_t hash;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    r.rt = rt;
    must(gpurt_info(rt, &r.info));
    must(gpurt_mem_create(rt, MOST * 8, &r.in, &err));
    must(gpurt_mem_create(rt, MOST, &r.head, &err));
    must(gpurt_mem_create(rt, most, &r.out, &err));
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        shape_t shape = shapes[i];

        if (shape.cluster > r.info.max_cluster)
            shape.cluster = 1;
        test_shape(&r, &shape);
    }
    test_shape(&r, &shapes[3]);
    r.shape.mask = 0xdeadbeefu;
    hash = rounded(&r);
    CHECK_EQ(hash, rounded(&r));
    CHECK_EQ(hash, UINT64_C(0x7b06247432044900)); /* of both back ends */
    gpurt_mem_destroy(rt, r.in);
    gpurt_mem_destroy(rt, r.head);
    gpurt_mem_destroy(rt, r.out);
    must(gpurt_close(rt, &err));
    return 0;
}
