/* SPDX-License-Identifier: Apache-2.0 */
/* References and rows of blocks, clusters, grids, shared memory, time and launches
 * (tests/kernels/semantics_block_kernels.c). */
#include "semantics_table.h"

#include <stdlib.h>
#include <string.h>

#include <gpurt/atomic.h>

/* ---- barriers ------------------------------------------------------------------------ */
static void barrier_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint64_t first = self->id - self->rank;

    for (uint32_t round = 0; round < PROBE_BARRIER_ROUNDS; round++) {
        uint32_t yes = 0;

        for (uint32_t i = 0; i < self->threads; i++)
            yes += probe_predicate(first + i, round, PROBE_BARRIER_ROUNDS);
        expected[3 * round] = yes;
        expected[3 * round + 1] = yes == self->threads;
        expected[3 * round + 2] = yes != 0;
    }
}

static const char *barrier_word_name(uint32_t word)
{
    static const char *const names[] = {"count", "and", "or"};

    return names[word % 3];
}

static void barrier_exit_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t unit = self->row->mode ? 32 : 1, third = self->rank / unit % 3, stay = 0;

    for (uint32_t i = 0; i < self->threads; i++)
        stay += i / unit % 3 == 0;
    expected[0] = third == 1 ? PROBE_UNTOUCHED : stay;
    expected[1] = third == 0 ? stay : PROBE_UNTOUCHED;
}

static void exchange_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint64_t first = self->id - self->rank;
    uint32_t near = (self->rank + 1) % self->threads;
    uint32_t far = (self->rank + self->threads / 2) % self->threads;

    for (uint32_t round = 0; round < self->row->words; round++)
        expected[round] =
            probe_input(first + near, round) + 3 * probe_input(first + far, round);
}

static void named_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint64_t producer = self->id - self->rank + self->lane;

    for (uint32_t item = 0; item < PROBE_ITEMS; item++)
        expected[item] = probe_input(producer, item);
}

/* ---- shared memory ------------------------------------------------------------------- */
static void shared_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint64_t wide = probe_input(self->block, self->rank % 3);

    expected[0] = (uint8_t)(self->block + self->rank % 37);
    expected[1] = wide ^ wide << 1;
    expected[2] = (uint16_t)(self->block * 5 + self->rank % 5);
    expected[3] = probe_input(self->id, 0);
    expected[4] = (uint32_t)probe_input(self->id, 1);
    expected[5] = self->block + 9;
    expected[6] = 0;
    expected[7] = 0;
}

static void poison_reference(const probe_lane_t *self, uint64_t *expected)
{
    (void)self;
    expected[0] = expected[1] = 0xa5a5a5a5a5a5a5a5u;
}

/* ---- clusters and grids -------------------------------------------------------------- */
static uint32_t at_least_1(uint32_t v)
{
    return v ? v : 1;
}

/* Blocks of a cluster are numbered x fastest, like everything else. */
static void cluster_reference(const probe_lane_t *self, uint64_t *expected)
{
    gpurt_dim3_t grid = self->row->launch.grid, c = self->row->launch.cluster;
    uint32_t cx = at_least_1(c.x), cy = at_least_1(c.y), cz = at_least_1(c.z);
    uint32_t size = cx * cy * cz;
    uint32_t x = self->block % grid.x, y = self->block / grid.x % grid.y;
    uint32_t z = self->block / grid.x / grid.y;
    uint32_t rank = (z % cz * cy + y % cy) * cx + x % cx, next = (rank + 1) % size;
    uint32_t nx = x / cx * cx + next % cx, ny = y / cy * cy + next / cx % cy;
    uint32_t nz = z / cz * cz + next / cx / cy;
    uint64_t neighbour = ((uint64_t)nz * grid.y + ny) * grid.x + nx;

    expected[0] = probe_input(neighbour * self->threads + self->rank, 0);
    expected[1] = size * self->threads;
    expected[2] = rank;
    expected[3] = size;
}

static const char *cluster_word_name(uint32_t word)
{
    static const char *const names[] = {"neighbour's value", "count", "rank", "size"};

    return names[word];
}

static void grid_reference(const probe_lane_t *self, uint64_t *expected)
{
    for (uint32_t round = 0; round < PROBE_GRID_ROUNDS; round++) {
        expected[round] = 0;
        for (uint32_t i = 0; i < self->blocks; i++)
            expected[round] += probe_input(i, round);
    }
}

static void chain_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t unit = self->row->mode & 2 ? self->rank : self->block;
    uint32_t units = self->row->mode & 2 ? self->threads : self->blocks;

    expected[0] = self->row->mode & 1 ? units - unit : unit + 1;
}

static void exits_reference(const probe_lane_t *self, uint64_t *expected)
{
    expected[0] = expected[1] = PROBE_UNTOUCHED;
    if (self->lane & 1)
        return;
    expected[0] = self->live & 0x55555555u;
    expected[1] = 0;
    for (uint32_t i = 0; i < self->threads; i++)
        expected[1] += i % 2 == 0;
}

/* ---- time and place ------------------------------------------------------------------ */
static const char *clock_check(const probe_result_t *result)
{
    const uint64_t *row = result->out, *last = result->out + 4 * (result->lanes - 1);

    for (uint64_t id = 0; id < result->lanes; id++, row += 4) {
        if ((int64_t)(row[3] - row[0]) < 0)
            return probe_wrong("thread %llu: clock went back by %llu",
                               (unsigned long long)id,
                               (unsigned long long)(row[0] - row[3]));
        if (row[2] < row[1] || (id && row[1] < row[-2]))
            return probe_wrong("thread %llu: globaltimer went back",
                               (unsigned long long)id);
    }
    if (last[3] == last[0])
        return probe_wrong("clock stood still while %llu threads went by",
                           (unsigned long long)result->lanes);
    if (last[2] == result->out[1])
        return probe_wrong("globaltimer stood still while %llu threads went by",
                           (unsigned long long)result->lanes);
    return NULL;
}

static const char *slots_check(const probe_result_t *result)
{
    uint32_t slots = result->info->warp_slots, sms = result->info->sm_count;
    uint8_t *taken = (uint8_t *)calloc((size_t)sms * slots + 1, 1);
    const char *wrong = NULL;

    if (!taken)
        return probe_wrong("out of memory");
    for (uint64_t id = 0; id < result->lanes && !wrong; id++) {
        const uint64_t *row = result->out + 4 * id;
        probe_lane_t self;

        probe_place(result->row, id, &self);
        if (row[0] != row[2] || row[1] != row[3])
            wrong =
                probe_wrong("thread %llu: moved to another slot", (unsigned long long)id);
        else if (row[0] >= sms || row[1] >= slots)
            wrong = probe_wrong("thread %llu: sm %llu slot %llu, but there are %u and %u",
                                (unsigned long long)id, (unsigned long long)row[0],
                                (unsigned long long)row[1], sms, slots);
        else if (self.lane && (row[0] != row[-4] || row[1] != row[-3]))
            wrong = probe_wrong("thread %llu: not in the slot of its warp",
                                (unsigned long long)id);
        else if (self.lane == 0 && taken[row[0] * slots + row[1]]++)
            wrong = probe_wrong("two resident warps in sm %llu slot %llu",
                                (unsigned long long)row[0], (unsigned long long)row[1]);
    }
    free(taken);
    return wrong;
}

/* ---- launches ------------------------------------------------------------------------ */
static const char *large_check(const probe_result_t *result)
{
    uint64_t sum = 0;

    for (uint64_t id = 0; id < result->lanes; id++)
        sum += probe_mix(id);
    if (result->mem[0] != result->lanes)
        return probe_wrong("%llu threads ran, %llu were launched",
                           (unsigned long long)result->mem[0],
                           (unsigned long long)result->lanes);
    return result->mem[1] == sum ? NULL
                                 : probe_wrong("a thread ran twice, another not at all");
}

static uint8_t big_fill(uint32_t i)
{
    return (uint8_t)probe_mix(i);
}

/* The kernel reads its arguments only after the caller has written over them. */
static gpurt_status_t args_copy_drive(gpurt_t *rt, const probe_case_t *row, uint64_t *out,
                                      gpurt_error_t *err)
{
    struct probe_big_args args;
    void *go = NULL;
    gpurt_status_t st = gpurt_host_create(rt, sizeof(uint32_t), &go, err);

    if (st)
        return st;
    args.out = out;
    args.go = (uint32_t *)go;
    for (uint32_t i = 0; i < sizeof args.fill; i++)
        args.fill[i] = big_fill(i);
    gpurt_store_relaxed_sys_u32(args.go, 0); /* nobody else knows of it yet */
    st = gpurt_launch(rt, &row->launch, probe_args_copy, &args, err);
    memset(&args, 0x77, sizeof args);
    gpurt_store_release_sys_u32((uint32_t *)go, 1);
    if (!st)
        st = gpurt_sync(rt, err);
    gpurt_host_destroy(rt, go);
    return st;
}

static void args_copy_reference(const probe_lane_t *self, uint64_t *expected)
{
    (void)self;
    expected[0] = 0;
    for (uint32_t i = 0; i < sizeof(((struct probe_big_args *)0)->fill); i++)
        expected[0] = expected[0] * 31 + big_fill(i);
}

/* ---- rows ---------------------------------------------------------------------------- */
#define ROW(nm, kern, wrd, md, mem, ref, ...)                                              \
    {                                                                                      \
        .name = nm, .kernel = &gpurt_kernel_probe_##kern, .launch = PROBE_1D(__VA_ARGS__), \
        .words = wrd, .mode = md, .mem_words = mem, .reference = ref                       \
    }
#define BARRIER(nm, threads)                                               \
    {                                                                      \
        .name = "barrier_" nm, .kernel = &gpurt_kernel_probe_barrier,      \
        .launch = PROBE_1D(3, threads), .words = 3 * PROBE_BARRIER_ROUNDS, \
        .reference = barrier_reference, .word_name = barrier_word_name     \
    }
#define WITH_SHARED(nm, kern, wrd, ref, needed, dyn_bytes, blocks, threads) \
    {                                                                       \
        .name = nm, .kernel = &gpurt_kernel_probe_##kern,                   \
        .launch = {.grid = {blocks, 1, 1},                                  \
                   .block = {threads, 1, 1},                                \
                   .shared_bytes = dyn_bytes},                              \
        .words = wrd, .reference = ref, .needs = needed                     \
    }
#define CLUSTER(nm, gx, gy, gz, cx, cy, cz, threads)                              \
    {                                                                             \
        .name = "cluster_" nm, .kernel = &gpurt_kernel_probe_cluster,             \
        .launch = {.grid = {gx, gy, gz},                                          \
                   .block = {threads, 1, 1},                                      \
                   .cluster = {cx, cy, cz}},                                      \
        .words = 4, .reference = cluster_reference, .needs = PROBE_NEEDS_CLUSTER, \
        .word_name = cluster_word_name                                            \
    }
#define COOPERATIVE(blocks, threads)                                          \
    {                                                                         \
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .cooperative = true \
    }

static const probe_case_t rows[] = {
    BARRIER("1", 1),
    BARRIER("31", 31),
    BARRIER("33", 33),
    BARRIER("96", 96),
    BARRIER("1024", 1024),
    ROW("barrier_exited_threads", barrier_exit, 2, 0, 0, barrier_exit_reference, 3, 100),
    ROW("barrier_exited_warps", barrier_exit, 2, 1, 0, barrier_exit_reference, 3, 200),
    WITH_SHARED("exchange_33", exchange, 6, exchange_reference, 0, 33 * 8, 4, 33),
    WITH_SHARED("exchange_1024", exchange, 6, exchange_reference, 0, 1024 * 8, 3, 1024),
    ROW("named_64", named, PROBE_ITEMS, 0, 0, named_reference, 4, 64),
    ROW("named_96", named, PROBE_ITEMS, 0, 0, named_reference, 4, 96),
    ROW("named_256", named, PROBE_ITEMS, 0, 0, named_reference, 2, 256),
    WITH_SHARED("shared_objects", shared, 8, shared_reference, 0, 96 * 4, 9, 96),
    WITH_SHARED("shared_poison", poison, 2, poison_reference, PROBE_CPU_ONLY, 64 * 8, 24,
                64),
    CLUSTER("2", 6, 1, 1, 2, 1, 1, 40),
    CLUSTER("8", 16, 1, 1, 8, 1, 1, 64),
    CLUSTER("2d", 4, 6, 1, 2, 2, 1, 32),
    CLUSTER("3d", 2, 4, 4, 1, 2, 2, 33),
    {.name = "grid_barrier",
     .kernel = &gpurt_kernel_probe_grid,
     .launch = COOPERATIVE(8, 96),
     .words = PROBE_GRID_ROUNDS,
     .mem_words = 8,
     .reference = grid_reference},
    ROW("chain_blocks", chain, 1, 0, 64, chain_reference, 64, 40),
    ROW("chain_blocks_backward", chain, 1, 1, 4, chain_reference, 4, 32),
    ROW("chain_threads", chain, 1, 2, 256, chain_reference, 1, 256),
    ROW("chain_threads_backward", chain, 1, 3, 256, chain_reference, 1, 256),
    ROW("thread_exit", exits, 2, 0, 0, exits_reference, 4, 75),
    {.name = "clock",
     .kernel = &gpurt_kernel_probe_clock,
     .launch = PROBE_1D(4, 40),
     .words = 4,
     .mem_words = 1,
     .check = clock_check},
    {.name = "slots",
     .kernel = &gpurt_kernel_probe_slots,
     .launch = COOPERATIVE(8, 80),
     .words = 4,
     .check = slots_check},
    {.name = "large_grid",
     .kernel = &gpurt_kernel_probe_large,
     .launch = PROBE_1D(65536, 32),
     .mem_words = 2,
     .check = large_check},
    {.name = "args_copy",
     .kernel = &gpurt_kernel_probe_args_copy,
     .launch = PROBE_1D(2, 32),
     .words = 1,
     .reference = args_copy_reference,
     .drive = args_copy_drive},
};

const probe_table_t semantics_block_table = {rows, sizeof rows / sizeof rows[0]};
