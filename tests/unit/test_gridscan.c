/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions by a whole grid, each beside what a loop gives: lengths around tiles,
 * groups and rows, places that are not aligned, more blocks than are resident, areas that are
 * used again, in a launch and in the next; a block that is cancelled; floats that round. */
#include "must.h"

#include "../kernels/gridscan_kernels.h"

#include <gpurt/gridscan.h>

enum {
    MOST = 600000, /* elements: more than two rows of 1,024 tiles of a warp */
    BLOCKS = 64,
    ROUNDS = 7
};

typedef struct shape {
    uint32_t blocks, threads;
} shape_t;

typedef struct run {
    gpurt_t *rt;
    gpurt_info_t info;
    void *area, *in, *heads, *out, *status;
    uint64_t *host_in, *host_out; /* MOST elements of 8 bytes */
    uint8_t *host_heads;
    shape_t shape;
    uint64_t n;
    uint32_t skew; /* elements that input and output lie off */
    int32_t told[BLOCKS];
} run_t;

static uint64_t seed = 1;
static uint32_t draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static void area_zero(run_t *r)
{
    gpurt_t *rt = r->rt;
    gpurt_error_t err;

    must(gpurt_fill(rt, 0, r->area, 0, gpurt_grid_area_bytes(MOST, BLOCKS, 32, 8), &err));
}

/* The area is not touched: whatever the last run left there has to do. */
static gpurt_status_t run_try(run_t *r, const gpurt_kernel_t *kernel, uint32_t kind,
                              uint32_t bytes, uint32_t rounds)
{
    struct gridscan_args args = {.area = r->area,
                                 .in = (char *)r->in + (size_t)r->skew * bytes,
                                 .heads = (uint8_t *)r->heads,
                                 .out = (char *)r->out + (size_t)r->skew * bytes,
                                 .status = (int32_t *)r->status,
                                 .n = r->n,
                                 .kind = kind,
                                 .rounds = rounds};
    gpurt_launch_t launch = {.grid = {r->shape.blocks, 1, 1},
                             .block = {r->shape.threads, 1, 1},
                             .cooperative = rounds > 1};
    gpurt_t *rt = r->rt;
    gpurt_error_t err;
    gpurt_status_t st;

    for (uint32_t i = 0; i < BLOCKS; i++)
        r->told[i] = GPURT_E_NOT_READY;
    must(gpurt_copy(rt, 0, (void *)args.in, r->host_in, r->n * bytes, &err));
    must(gpurt_copy(rt, 0, r->heads, r->host_heads, r->n, &err));
    must(gpurt_copy(rt, 0, r->status, r->told, sizeof r->told, &err));
    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    must(gpurt_copy(rt, 0, r->told, r->status, sizeof r->told, &err));
    must(gpurt_copy(rt, 0, r->host_out, args.out, r->n * bytes * rounds, &err));
    st = gpurt_sync(rt, &err);
    return st;
}

static void run_kernel(run_t *r, const gpurt_kernel_t *kernel, uint32_t kind,
                       uint32_t bytes, uint32_t rounds)
{
    gpurt_error_t err = {0};
    gpurt_t *rt = r->rt;

    must(run_try(r, kernel, kind, bytes, rounds));
    for (uint32_t i = 0; i < r->shape.blocks; i++)
        CHECK_EQ(r->told[i], GPURT_OK);
}

#define SUBJECT(T, t, value)                                                              \
    static void test_##t(run_t *r)                                                        \
    {                                                                                     \
        T *in = (T *)r->host_in, *out = (T *)r->host_out, scan = 0;                       \
                                                                                          \
        for (uint64_t i = 0; i < r->n; i++)                                               \
            in[i] = (T)(value);                                                           \
        run_kernel(r, &gpurt_kernel_gridscan_##t, GRIDSCAN_SCAN, sizeof(T), 1);           \
        for (uint64_t i = 0; i < r->n; i++) {                                             \
            scan = scan + in[i];                                                          \
            CHECK_MSG(out[i] == scan, "scan " #t " %zu of %zu", (size_t)i, (size_t)r->n); \
        }                                                                                 \
        run_kernel(r, &gpurt_kernel_gridscan_##t, GRIDSCAN_REDUCE, sizeof(T), 1);         \
        CHECK_MSG(r->n == 0 || out[0] == scan, "reduce " #t);                             \
    }
SUBJECT(uint32_t, u32, draw() * 3u)
SUBJECT(int32_t, i32, (int32_t)(draw() % 2001) - 1000)
SUBJECT(uint64_t, u64, ((uint64_t)draw() << 40) ^ draw())
SUBJECT(int64_t, i64, ((int64_t)draw() << 8) - ((int64_t)draw() << 8))
SUBJECT(float, f32, (int32_t)(draw() % 17) - 8)
SUBJECT(double, f64, (int64_t)draw() - (1 << 30))

static void test_kinds(run_t *r)
{
    uint32_t *in = (uint32_t *)r->host_in, *out = (uint32_t *)r->host_out;
    uint32_t before = 0, seg = 0, least = UINT32_MAX;
    const gpurt_kernel_t *kernel = &gpurt_kernel_gridscan_kinds;

    for (uint64_t i = 0; i < r->n; i++)
        in[i] = draw();
    run_kernel(r, kernel, GRIDSCAN_EXSCAN, 4, 1);
    for (uint64_t i = 0; i < r->n; before += in[i++])
        CHECK_MSG(out[i] == before, "exscan %zu of %zu", (size_t)i, (size_t)r->n);
    run_kernel(r, kernel, GRIDSCAN_SEGSCAN, 4, 1);
    for (uint64_t i = 0; i < r->n; i++) {
        seg = r->host_heads[i] ? in[i] : seg + in[i];
        CHECK_MSG(out[i] == seg, "segscan %zu of %zu", (size_t)i, (size_t)r->n);
    }
    run_kernel(r, kernel, GRIDSCAN_MIN, 4, 1);
    for (uint64_t i = 0; i < r->n; i++) {
        least = in[i] < least ? in[i] : least;
        CHECK_MSG(out[i] == least, "min %zu of %zu", (size_t)i, (size_t)r->n);
    }
}

static void test_segments(run_t *r)
{
    uint64_t seg = 0;

    for (uint64_t i = 0; i < r->n; i++)
        r->host_in[i] = (uint64_t)draw() << 20;
    run_kernel(r, &gpurt_kernel_gridscan_segments, 0, 8, 1);
    for (uint64_t i = 0; i < r->n; i++) {
        seg = r->host_heads[i] ? r->host_in[i] : seg + r->host_in[i];
        CHECK_MSG(r->host_out[i] == seg, "segscan u64 %zu", (size_t)i);
    }
}

static void test_maps(run_t *r)
{
    uint64_t scan = 1;

    for (uint64_t i = 0; i < r->n; i++)
        r->host_in[i] = (uint64_t)draw() << 32 | draw();
    run_kernel(r, &gpurt_kernel_gridscan_maps, 0, 8, 1);
    for (uint64_t i = 0; i < r->n; i++) {
        scan = collective_compose(scan, r->host_in[i]);
        CHECK_MSG(r->host_out[i] == scan, "compose %zu of %zu", (size_t)i, (size_t)r->n);
    }
}

static void shape_run(run_t *r, uint32_t blocks, uint32_t threads, uint64_t n,
                      uint32_t skew)
{
    r->shape.blocks = blocks;
    r->shape.threads = threads;
    r->n = n;
    r->skew = skew;
    area_zero(r);
    for (uint64_t i = 0; i < n; i++)
        r->host_heads[i] = draw() % (skew ? 9 : 700) == 0;
    test_u32(r);
    test_kinds(r);
    test_segments(r);
    if (n > 100000)
        return;
    test_u64(r);
    test_i32(r);
    test_i64(r);
    test_f32(r);
    test_f64(r);
    test_maps(r);
}

/* One launch, many uses: of another length and another operation each time. */
static void test_rounds(run_t *r)
{
    uint32_t *in = (uint32_t *)r->host_in, *out = (uint32_t *)r->host_out, all = 0;

    gpurt_launch_t launch = {.block = {64, 1, 1}};
    gpurt_error_t err = {0};
    gpurt_t *rt = r->rt;
    uint32_t fit;

    must(gpurt_occupancy(rt, &launch, &gpurt_kernel_gridscan_rounds, &fit, &err));
    r->shape = (shape_t){fit < 4 ? fit : 4, 64};
    r->n = 4500;
    r->skew = 0;
    area_zero(r);
    for (uint64_t i = 0; i < r->n; i++)
        all += in[i] = draw();
    for (uint32_t again = 0; again < 2; again++)
        run_kernel(r, &gpurt_kernel_gridscan_rounds, 0, 4, ROUNDS);
    for (uint32_t round = 0; round < ROUNDS; round++, out += r->n) {
        uint32_t scan = 0;

        if (round % 3 == 1)
            CHECK_EQ(out[0], all);
        for (uint64_t i = 0; round % 3 != 1 && i < r->n >> round % 3; i++)
            CHECK_MSG(out[i] == (scan += in[i]), "round %u, %zu", round, (size_t)i);
    }
}

/* One element cancels the block that comes to it: the others end, and say so. */
static void test_cancelled(run_t *r)
{
    uint32_t *in = (uint32_t *)r->host_in, ok = 0, cancelled = 0, none = 0;
    uint64_t bad = 40 * 512 + 17; /* in tile 40: behind a group's end */

    r->shape = (shape_t){8, 32};
    r->n = 200 * 512;
    area_zero(r);
    for (uint64_t i = 0; i < r->n; i++)
        in[i] = i == bad ? GRIDSCAN_POISON : 1;
    (void)run_try(r, &gpurt_kernel_gridscan_poison, 0, 4, 1);
    for (uint32_t i = 0; i < r->shape.blocks; i++) {
        ok += r->told[i] == GPURT_OK;
        cancelled += r->told[i] == GPURT_E_CANCELLED;
        none += r->told[i] == GPURT_E_NOT_READY;
    }
    CHECK_EQ(none, 1);
    CHECK_EQ(ok, 0);
    CHECK_EQ(cancelled, r->shape.blocks - 1);
    for (uint64_t i = 0; i < 40 * 512; i++)
        CHECK_EQ(((uint32_t *)r->host_out)[i], i + 1);
    area_zero(r);
    in[bad] = 1;
    run_kernel(r, &gpurt_kernel_gridscan_poison, 0, 4, 1);
    CHECK_EQ(((uint32_t *)r->host_out)[r->n - 1], r->n);
}

static void test_refused(run_t *r)
{
    r->shape = (shape_t){2, 48};
    r->n = 100;
    (void)run_try(r, &gpurt_kernel_gridscan_u32, GRIDSCAN_SCAN, 4, 1);
    CHECK_EQ(r->told[0], GPURT_E_INVALID);
    r->shape.threads = 32;
    r->area = (char *)r->area + 64;
    (void)run_try(r, &gpurt_kernel_gridscan_u32, GRIDSCAN_SCAN, 4, 1);
    CHECK_EQ(r->told[1], GPURT_E_INVALID);
    r->area = (char *)r->area - 64;
}

/* What GPURT_KERNEL_FIT promises; the CPU back end counts in lanes and promises nothing. */
static void test_fits(run_t *r)
{
    gpurt_launch_t launch = {.block = {GRIDSCAN_FIT_THREADS, 1, 1}};
    gpurt_t *rt = r->rt; /* of must() */
    gpurt_error_t err = {0};
    uint32_t blocks;

    must(gpurt_occupancy(rt, &launch, &gpurt_kernel_gridscan_kinds, &blocks, &err));
    if (r->info.backend == GPURT_BACKEND_CUDA)
        CHECK(blocks >= GRIDSCAN_FIT_BLOCKS * r->info.sm_count);
}

/* A hash of sums that round: the same each time, and on both back ends. */
static uint64_t rounded(run_t *r, uint32_t kind)
{
    float *in = (float *)r->host_in;
    uint64_t hash = 14695981039346656037ull;

    seed = 7;
    r->shape = (shape_t){8, 64};
    r->n = 100000;
    r->skew = 0;
    area_zero(r);
    for (uint64_t i = 0; i < r->n; i++)
        in[i] = ((float)draw() - 1e9f) / 3.0f;
    run_kernel(r, &gpurt_kernel_gridscan_f32, kind, 4, 1);
    for (uint64_t i = 0; i < (kind == GRIDSCAN_REDUCE ? 1 : r->n); i++)
        hash = (hash ^ ((uint32_t *)r->host_out)[i]) * 1099511628211ull;
    return hash;
}

static void test_bits(run_t *r)
{
    uint64_t scan = rounded(r, GRIDSCAN_SCAN), reduce = rounded(r, GRIDSCAN_REDUCE);

    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(scan, rounded(r, GRIDSCAN_SCAN));
        CHECK_EQ(reduce, rounded(r, GRIDSCAN_REDUCE));
    }
    CHECK_EQ(scan, UINT64_C(0x1d0352dbd486e263)); /* of both back ends */
    CHECK_EQ(reduce, UINT64_C(0xc13ea9cdc858b6e3));
}

/* short: without the length that takes as long as all the rest. */
int main(int argc, char **argv)
{
    static run_t r;
    gpurt_error_t err = {0};
    gpurt_t *rt;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    r.rt = rt;
    r.host_in = (uint64_t *)calloc(MOST, 8);
    r.host_out = (uint64_t *)calloc(MOST, 8);
    r.host_heads = (uint8_t *)calloc(MOST, 1);
    must(gpurt_info(rt, &r.info));
    must(gpurt_mem_create(rt, gpurt_grid_area_bytes(MOST, BLOCKS, 32, 8), &r.area, &err));
    must(gpurt_mem_create(rt, MOST * 8, &r.in, &err));
    must(gpurt_mem_create(rt, MOST * 8, &r.out, &err));
    must(gpurt_mem_create(rt, MOST, &r.heads, &err));
    must(gpurt_mem_create(rt, sizeof r.told, &r.status, &err));
    shape_run(&r, 1, 32, 0, 0);
    shape_run(&r, 3, 32, 1, 0);
    shape_run(&r, 2, 96, 1536, 0);
    shape_run(&r, 4, 64, 3001, 1);
    shape_run(&r, BLOCKS, 32, 20000, 0);
    if (argc < 2 || strcmp(argv[1], "short") != 0)
        shape_run(&r, 5, 32, MOST - 77, 0);
    test_rounds(&r);
    test_cancelled(&r);
    test_refused(&r);
    test_fits(&r);
    test_bits(&r);
    gpurt_mem_destroy(rt, r.area);
    gpurt_mem_destroy(rt, r.in);
    gpurt_mem_destroy(rt, r.out);
    gpurt_mem_destroy(rt, r.heads);
    gpurt_mem_destroy(rt, r.status);
    free(r.host_in);
    free(r.host_out);
    free(r.host_heads);
    must(gpurt_close(rt, &err));
    return 0;
}
