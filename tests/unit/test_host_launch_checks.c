/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that cannot run are refused before the back end hears of them, each with its
 * status and a line that says the remedy; those at the limits pass, with missing
 * dimensions filled. */
#include "../check.h"
#include "fake_backend.h"

#include <string.h>

struct args {
    uint64_t a, b, c;
};

static void cpu_half(const void *args)
{
    (void)args;
}

static const void *const cuda_half = &cuda_half;

static const gpurt_kernel_t both = {"both",   sizeof(struct args), 8,
                                    cpu_half, &cuda_half,          0};
static const gpurt_kernel_t cpu_only = {"cpu_only", sizeof(struct args), 8, cpu_half, NULL,
                                        0};
static const gpurt_kernel_t cuda_only = {"cuda_only", sizeof(struct args), 8,
                                         NULL,        &cuda_half,          0};
static const gpurt_kernel_t neither = {"neither", sizeof(struct args), 8, NULL, NULL, 0};
static const gpurt_kernel_t greedy = {
    "greedy", GPURT_MAX_ARGS_BYTES + 1, 8, cpu_half, &cuda_half, 0};
static const gpurt_kernel_t full = {"full",   GPURT_MAX_ARGS_BYTES, 8,
                                    cpu_half, &cuda_half,           0};
static const gpurt_kernel_t tiny = {"tiny", 1, 1, cpu_half, &cuda_half, 0};
static const gpurt_kernel_t frugal = {"frugal", 0, 1, cpu_half, &cuda_half, 0};

static gpurt_t *rt;
static fake_t *fake;
static const char some_args[GPURT_MAX_ARGS_BYTES + 1];

static const struct shape {
    gpurt_dim3_t grid, block, cluster;
    uint32_t shared_bytes;
    gpurt_status_t status;
    const char *text;
} shapes[] = {
    {{1, 0, 0}, {1, 0, 0}, {0, 0, 0}, 0, GPURT_OK, ""},
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, GPURT_OK, ""},
    {{0x7fffffff, 2, 1}, {1024, 1, 1}, {0, 0, 0}, 232448, GPURT_OK, ""},
    {{1, 65535, 65535}, {1024, 1, 1}, {0, 0, 0}, 232448, GPURT_OK, ""},
    {{0x7fffffff, 3, 1}, {1, 1, 1}, {0, 0, 0}, 0, GPURT_E_GRID, "more blocks than 32 bits"},
    {{1, 1, 1}, {1, 1024, 1}, {0, 0, 0}, 0, GPURT_OK, ""},
    {{1, 1, 1}, {4, 4, 64}, {0, 0, 0}, 0, GPURT_OK, ""},
    {{8, 4, 2}, {1, 1, 1}, {2, 2, 2}, 0, GPURT_OK, ""},
    {{8, 1, 1}, {1, 1, 1}, {8, 0, 0}, 0, GPURT_OK, ""},
    {{1, 8, 1}, {1, 1, 1}, {0, 8, 0}, 0, GPURT_OK, ""},

    {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 0, GPURT_E_GRID, "grid.x is 0"},
    {{0, 7, 7}, {1, 1, 1}, {0, 0, 0}, 0, GPURT_E_GRID, "grid.x is 0"},
    {{0x80000000, 1, 1},
     {1, 1, 1},
     {0, 0, 0},
     0,
     GPURT_E_GRID,
     "grid 2147483648 x 1 x 1: NVIDIA Stand-in allows 2147483647 x 65535 x 65535"},
    {{1, 65536, 1}, {1, 1, 1}, {0, 0, 0}, 0, GPURT_E_GRID, "grid 1 x 65536 x 1"},
    {{1, 1, 65536}, {1, 1, 1}, {0, 0, 0}, 0, GPURT_E_GRID, "grid 1 x 1 x 65536"},

    {{1, 1, 1}, {0, 1, 1}, {0, 0, 0}, 0, GPURT_E_BLOCK, "block.x is 0"},
    {{1, 1, 1}, {1025, 1, 1}, {0, 0, 0}, 0, GPURT_E_BLOCK, "allows 1024 x 1024 x 64"},
    {{1, 1, 1}, {1, 1025, 1}, {0, 0, 0}, 0, GPURT_E_BLOCK, "block 1 x 1025 x 1"},
    {{1, 1, 1}, {1, 1, 65}, {0, 0, 0}, 0, GPURT_E_BLOCK, "block 1 x 1 x 65"},
    {{1, 1, 1}, {33, 32, 1}, {0, 0, 0}, 0, GPURT_E_BLOCK, "1024 threads a block"},
    {{1, 1, 1}, {5, 5, 41}, {0, 0, 0}, 0, GPURT_E_BLOCK, "1024 threads a block"},
    {{1, 1, 1}, {1024, 1024, 64}, {0, 0, 0}, 0, GPURT_E_BLOCK, "use more blocks"},
    {{1, 1, 1}, {0xffffffff, 2, 2}, {0, 0, 0}, 0, GPURT_E_BLOCK, "block 4294967295"},

    {{1, 1, 1},
     {1, 1, 1},
     {0, 0, 0},
     232449,
     GPURT_E_SHARED,
     "shared_bytes 232449: NVIDIA Stand-in allows 232448 bytes"},
    {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0xffffffff, GPURT_E_SHARED, "allows 232448"},

    {{9, 1, 1}, {1, 1, 1}, {9, 1, 1}, 0, GPURT_E_CLUSTER, "allows 8 blocks"},
    {{8, 2, 1}, {1, 1, 1}, {8, 2, 1}, 0, GPURT_E_CLUSTER, "allows 8 blocks"},
    {{1, 9, 1}, {1, 1, 1}, {1, 9, 1}, 0, GPURT_E_CLUSTER, "allows 8 blocks"},
    {{1, 1, 9}, {1, 1, 1}, {1, 1, 9}, 0, GPURT_E_CLUSTER, "allows 8 blocks"},
    {{4, 4, 4}, {1, 1, 1}, {0x80000000, 2, 1}, 0, GPURT_E_CLUSTER, "allows 8 blocks"},
    {{4, 4, 4}, {1, 1, 1}, {0x80000000, 4, 0x80000000}, 0, GPURT_E_CLUSTER, "allows 8"},
    {{4, 4, 4}, {1, 1, 1}, {0x80000000, 0x80000000, 4}, 0, GPURT_E_CLUSTER, "allows 8"},
    {{3, 1, 1},
     {1, 1, 1},
     {2, 1, 1},
     0,
     GPURT_E_CLUSTER,
     "cluster 2 x 1 x 1 does not divide the grid 3 x 1 x 1"},
    {{2, 3, 1}, {1, 1, 1}, {2, 2, 1}, 0, GPURT_E_CLUSTER, "round the grid up"},
    {{2, 2, 3}, {1, 1, 1}, {2, 2, 2}, 0, GPURT_E_CLUSTER, "does not divide"},
};

static uint32_t filled(uint32_t dimension)
{
    return dimension ? dimension : 1;
}

static void check_filled(gpurt_dim3_t seen, gpurt_dim3_t given)
{
    CHECK_EQ(seen.x, filled(given.x));
    CHECK_EQ(seen.y, filled(given.y));
    CHECK_EQ(seen.z, filled(given.z));
}

static void expect(const gpurt_launch_t *launch, const gpurt_kernel_t *kernel,
                   const void *args, size_t args_bytes, gpurt_status_t status,
                   const char *text)
{
    uint32_t before = fake_calls(fake, FAKE_LAUNCH);
    gpurt_error_t err = {0};
    gpurt_status_t st = gpurt_launch_kernel(rt, launch, kernel, args, args_bytes, &err);

    CHECK_MSG(st == status, "%s instead of %s; \"%s\"", gpurt_status_name(st),
              gpurt_status_name(status), err.text);
    CHECK_EQ(err.status, status);
    CHECK_CONTAINS(err.text, text);
    CHECK(!strchr(err.text, '\n'));
    CHECK_EQ(gpurt_launch_kernel(rt, launch, kernel, args, args_bytes, NULL), status);
    CHECK_EQ(fake_calls(fake, FAKE_LAUNCH) - before, status == GPURT_OK ? 2 : 0);
}

static void check_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *s = &shapes[i];
        gpurt_launch_t launch = {.grid = s->grid,
                                 .block = s->block,
                                 .cluster = s->cluster,
                                 .shared_bytes = s->shared_bytes,
                                 .cooperative = i % 2 == 0};

        expect(&launch, &both, some_args, sizeof(struct args), s->status, s->text);
        if (s->status != GPURT_OK)
            continue;
        check_filled(fake->launch.grid, s->grid);
        check_filled(fake->launch.block, s->block);
        check_filled(fake->launch.cluster, s->cluster);
        CHECK_EQ(fake->launch.shared_bytes, s->shared_bytes);
        CHECK_EQ(fake->launch.cooperative, i % 2 == 0);
        CHECK(fake->stream == NULL);
        CHECK(fake->kernel == &both && fake->args == some_args);
        CHECK_EQ(fake->bytes, sizeof(struct args));
    }
}

static void check_args(void)
{
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

    expect(NULL, &both, some_args, 24, GPURT_E_INVALID, "launch is NULL");
    expect(&one, &both, some_args, 23, GPURT_E_ARGS,
           "kernel both takes 24 bytes of arguments, the launch passes 23: was the kernel "
           "file "
           "rebuilt");
    expect(&one, &both, some_args, 25, GPURT_E_ARGS, "passes 25");
    expect(&one, &both, some_args, ((size_t)1 << 32) + 24, GPURT_E_ARGS,
           "passes 4294967320");
    expect(&one, &both, NULL, 24, GPURT_E_ARGS, "args is NULL: kernel both takes 24 bytes");
    expect(&one, &tiny, some_args, 2, GPURT_E_ARGS,
           "kernel tiny takes 1 byte of arguments");
    expect(&one, &tiny, NULL, 1, GPURT_E_ARGS, "args is NULL: kernel tiny takes 1 byte of");
    expect(&one, &frugal, NULL, 0, GPURT_OK, "");
    expect(&one, &full, some_args, GPURT_MAX_ARGS_BYTES, GPURT_OK, "");
    expect(&one, &greedy, some_args, GPURT_MAX_ARGS_BYTES + 1, GPURT_E_ARGS,
           "at most 4064 fit: put them in memory");
}

static void check_kernels(const gpurt_kernel_t *good, const gpurt_kernel_t *bad,
                          const char *text)
{
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint32_t blocks = 5;
    gpurt_error_t err = {0};

    expect(&one, NULL, some_args, 24, GPURT_E_KERNEL, "kernel is NULL");
    expect(&one, &neither, some_args, 24, GPURT_E_KERNEL,
           "kernel neither was built for no");
    expect(&one, good, some_args, 24, GPURT_OK, "");
    expect(&one, bad, some_args, 24, GPURT_E_KERNEL, text);
    CHECK_EQ(gpurt_occupancy(rt, &one, bad, &blocks, &err), GPURT_E_KERNEL);
    CHECK_CONTAINS(err.text, text);
    CHECK_EQ(blocks, 0);
}

/* One asks for occupancy to find the grid: it may be missing, then it counts as one
 * cluster. */
static void check_occupancy(void)
{
    gpurt_launch_t l = {.block = {256, 0, 0}, .cluster = {2, 0, 0}};
    uint32_t blocks = 0;
    gpurt_error_t err = {0};

    CHECK_EQ(gpurt_occupancy(rt, &l, &both, &blocks, &err), GPURT_OK);
    CHECK_EQ(blocks, 99);
    check_filled(fake->launch.grid, l.cluster);
    check_filled(fake->launch.block, l.block);
    l.grid.x = 3;
    CHECK_EQ(gpurt_occupancy(rt, &l, &both, &blocks, &err), GPURT_E_CLUSTER);
    CHECK_EQ(blocks, 0);
    l.block.x = 0;
    CHECK_EQ(gpurt_occupancy(rt, &l, &both, &blocks, &err), GPURT_E_BLOCK);
    CHECK_EQ(gpurt_occupancy(rt, NULL, &both, &blocks, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_occupancy(rt, &l, &both, NULL, &err), GPURT_E_INVALID);
}

/* Limits as a back end to come might have them. */
static void check_wide_limits(void)
{
    gpurt_launch_t l = {.grid = {0xffffffff, 1, 1}, .block = {1, 1, 1}};

    fake_reset();
    fake_cuda.info.max_grid = (gpurt_dim3_t){0xffffffff, 0xffffffff, 0xffffffff};
    fake_cuda.info.max_block = fake_cuda.info.max_grid;
    fake_cuda.info.max_cluster = 1;
    rt = fake_gpurt_open(NULL);
    expect(&l, &both, some_args, 24, GPURT_OK, "");
    l.grid.z = 2;
    expect(&l, &both, some_args, 24, GPURT_E_GRID, "more blocks than 32 bits count");
    l.grid = (gpurt_dim3_t){0xffffffff, 0xffffffff, 0xffffffff}; /* nor 64 bits */
    expect(&l, &both, some_args, 24, GPURT_E_GRID, "more blocks than 32 bits count");
    l.grid = (gpurt_dim3_t){2, 1, 1};
    l.block = (gpurt_dim3_t){0x80000000, 0x80000000, 4}; /* 2^64 threads: 0 in 64 bits */
    expect(&l, &both, some_args, 24, GPURT_E_BLOCK, "1024 threads a block");
    l.block = (gpurt_dim3_t){1, 1, 1};
    l.cluster.x = 2;
    expect(&l, &both, some_args, 24, GPURT_E_CLUSTER, "has no clusters");
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
}

int main(void)
{
    gpurt_options_t cpu = {.struct_size = sizeof cpu, .backend = GPURT_BACKEND_CPU};

    fake_reset();
    fake = &fake_cuda;
    fake->keep = true;
    rt = fake_gpurt_open(NULL);
    check_shapes();
    check_args();
    check_kernels(&cuda_only, &cpu_only, "compile its file with nvcc too");
    check_occupancy();
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);

    check_wide_limits();

    fake = &fake_cpu;
    rt = fake_gpurt_open(&cpu);
    check_kernels(&cpu_only, &cuda_only, "compile its file as C too");
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    return 0;
}
