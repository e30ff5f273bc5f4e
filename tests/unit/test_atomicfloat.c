/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of floats: halves convert and add with the same bits on both back ends, against sums that
 * are rounded by search; every form does what its name says, in global and in shared memory; no
 * addition to an element is lost. */
#include "../kernels/atomicfloat_kernels.h"
#include "../kernels/stage.h"

#include <math.h>
#include <string.h>

enum {
    F16,
    BF16
};

static double values[2][FLOATS_HALVES / 2 + 1]; /* of 0 up to infinity, by bits */
static const uint32_t infinity_of[2] = {0x7c00, 0x7f80};

static float f32_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Infinity stands for the number that would come next, as rounding takes it. */
static void values_make(void)
{
    for (uint32_t h = 0; h <= 0x7c00; h++)
        values[F16][h] =
            h < 0x400 ? ldexp(h, -24) : ldexp(0x400 + (h & 0x3ff), (int)(h >> 10) - 25);
    for (uint32_t h = 0; h <= 0x7f80; h++)
        values[BF16][h] =
            h < 0x80 ? ldexp(h, -133) : ldexp(0x80 + (h & 0x7f), (int)(h >> 7) - 134);
}

static bool half_is_nan(uint32_t type, uint32_t half)
{
    return (half & 0x7fff) > infinity_of[type];
}

static double half_value(uint32_t type, uint32_t half)
{
    double v = (half & 0x7fff) == infinity_of[type] ? (double)INFINITY
                                                    : values[type][half & 0x7fff];

    return half_is_nan(type, half) ? (double)NAN : half & 0x8000 ? -v : v;
}

/* The nearest half, by search among all; of two the even one. */
static uint32_t half_nearest(uint32_t type, double v)
{
    uint32_t low = 0, high = infinity_of[type], sign = signbit(v) ? 0x8000 : 0;
    double magnitude = fabs(v), below, above;

    if (isnan(v))
        return 0x7fff;
    if (magnitude >= values[type][high])
        return sign | high;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (values[type][middle] <= magnitude)
            low = middle;
        else
            high = middle;
    }
    below = magnitude - values[type][low];
    above = values[type][high] - magnitude;
    if (below != above)
        return sign | (below < above ? low : high);
    return sign | (low & 1 ? high : low);
}

/* Around the middle of a half and the next one: the float before, it, the float behind. */
static void near_make(uint32_t type, uint32_t *floats)
{
    for (uint32_t half = 0; half < FLOATS_HALVES; half++) {
        uint32_t magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
        bool number = magnitude < infinity_of[type];
        float middle =
            number ? (float)((values[type][magnitude] + values[type][magnitude + 1]) / 2)
                   : f32_of(0x7f800000u + (magnitude - infinity_of[type]) * 77);

        for (uint32_t i = 0; i < FLOATS_NEAR; i++)
            *floats++ = (bits_of(middle) + i - 1) | sign;
    }
}

static void converted(struct floats_args *args)
{
    const size_t ups = 2 * FLOATS_HALVES, downs = 2 * FLOATS_NEAR * FLOATS_HALVES;
    gpurt_launch_t launch = {.grid = {FLOATS_HALVES / 256, 1, 1}, .block = {256, 1, 1}};
    uint32_t *up = (uint32_t *)calloc(ups, sizeof *up);
    uint32_t *floats = (uint32_t *)calloc(downs, sizeof *floats);
    uint16_t *down = (uint16_t *)calloc(downs, sizeof *down);

    CHECK(up && floats && down);
    near_make(F16, floats);
    near_make(BF16, floats + downs / 2);
    args->up = (uint32_t *)stage_zeros(ups * sizeof *up);
    args->floats = (uint32_t *)stage_zeros(downs * sizeof *floats);
    args->down = (uint16_t *)stage_zeros(downs * sizeof *down);
    OK(gpurt_copy(rt, 0, (void *)(uintptr_t)args->floats, floats, downs * sizeof *floats,
                  &err));
    OK(gpurt_launch(rt, &launch, floats_convert, args, &err));
    OK(gpurt_copy(rt, 0, up, args->up, ups * sizeof *up, &err));
    OK(gpurt_copy(rt, 0, down, args->down, downs * sizeof *down, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < ups; i++) {
        uint32_t type = i / FLOATS_HALVES, half = i % FLOATS_HALVES;
        uint32_t nan = type == F16 ? 0x7fffffffu : half << 16;
        uint32_t want =
            half_is_nan(type, half) ? nan : bits_of((float)half_value(type, half));

        CHECK_MSG(up[i] == want, "half 0x%04x of type %u became 0x%08x, not 0x%08x", half,
                  type, up[i], want);
    }
    for (uint32_t i = 0; i < downs; i++) {
        uint32_t type = i / (FLOATS_NEAR * FLOATS_HALVES);
        uint32_t want = half_nearest(type, (double)f32_of(floats[i]));

        CHECK_MSG(down[i] == want, "float 0x%08x became 0x%04x of type %u, not 0x%04x",
                  floats[i], down[i], type, want);
    }
    OK(gpurt_mem_destroy(rt, args->up));
    OK(gpurt_mem_destroy(rt, (void *)(uintptr_t)args->floats));
    OK(gpurt_mem_destroy(rt, args->down));
    free(up);
    free(floats);
    free(down);
}

static uint32_t half_sum(uint32_t type, uint32_t a, uint32_t b)
{
    double x = half_value(type, a), y = half_value(type, b);

    return half_nearest(type, x + y);
}

static void summed(struct floats_args *args)
{
    const size_t count = (size_t)FLOATS_ROUNDS * FLOATS_SUMS * FLOATS_HALVES;
    gpurt_launch_t launch = {.grid = {FLOATS_HALVES / 256, 1, 1}, .block = {256, 1, 1}};
    uint16_t *sums = (uint16_t *)calloc(count, sizeof *sums);

    CHECK(sums);
    args->sums = (uint16_t *)stage_zeros(count * sizeof *sums);
    OK(gpurt_launch(rt, &launch, floats_sums, args, &err));
    OK(gpurt_copy(rt, 0, sums, args->sums, count * sizeof *sums, &err));
    OK(gpurt_sync(rt, &err));
    for (size_t i = 0; i < count; i++) {
        uint32_t half = i % FLOATS_HALVES,
                 sum = (uint32_t)(i / FLOATS_HALVES % FLOATS_SUMS);
        uint32_t round = (uint32_t)(i / FLOATS_HALVES / FLOATS_SUMS), type = sum / 3;
        uint32_t b = floats_operand(half, round), a = sum % 3 == 2 ? b : half;
        uint32_t want = half_sum(type, a, b);

        CHECK_MSG(sums[i] == want, "sum %u: 0x%04x + 0x%04x is 0x%04x, not 0x%04x", sum, a,
                  b, sums[i], want);
    }
    OK(gpurt_mem_destroy(rt, args->sums));
    free(sums);
}

static void forms(struct floats_args *args, uint32_t place)
{
    static uint32_t wrong[FLOATS_ADDS];
    gpurt_launch_t launch = {.grid = {FLOATS_BLOCKS, 1, 1},
                             .block = {FLOATS_THREADS, 1, 1}};

    args->place = place;
    OK(gpurt_fill(rt, 0, args->wrong, 0xff, sizeof wrong, &err));
    OK(gpurt_launch(rt, &launch, floats_forms, args, &err));
    OK(gpurt_copy(rt, 0, wrong, args->wrong, sizeof wrong, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < FLOATS_ADDS; i++)
        CHECK_MSG(wrong[i] == 0, "place %u, lane %u: type %u, form %u", place, i,
                  wrong[i] >> 8, wrong[i] & 255u);
}

static const uint32_t parts_of[FLOATS_TYPES] = {1, 1, 1, 1, 2, 2, 2, 4};

static void storm(struct floats_args *args, uint32_t place)
{
    static uint32_t seen[FLOATS_TYPES][FLOATS_PARTS][FLOATS_ADDS];
    float left[FLOATS_TYPES][FLOATS_PARTS] = {0};
    gpurt_launch_t launch = {.grid = {FLOATS_BLOCKS, 1, 1},
                             .block = {FLOATS_THREADS, 1, 1}};
    uint32_t adds = FLOATS_ADDS;

    if (place == FLOATS_SHARED) {
        launch.grid.x = 1;
        adds = FLOATS_THREADS;
    }
    if (place == FLOATS_OTHERS)
        launch.cluster.x = FLOATS_BLOCKS;
    args->place = place;
    OK(gpurt_fill(rt, 0, args->seen, 0, sizeof seen, &err));
    OK(gpurt_fill(rt, 0, args->cells, 0, FLOATS_TYPES * 16, &err));
    OK(gpurt_launch(rt, &launch, floats_storm, args, &err));
    OK(gpurt_copy(rt, 0, seen, args->seen, sizeof seen, &err));
    OK(gpurt_copy(rt, 0, left, args->left, sizeof left, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t type = 0; type < FLOATS_TYPES; type++)
        for (uint32_t part = 0; part < parts_of[type]; part++) {
            for (uint32_t i = 0; i < adds; i++)
                CHECK_MSG(seen[type][part][i] == 1,
                          "place %u, type %u.%u: %u was found %u times", place, type, part,
                          i, seen[type][part][i]);
            CHECK(place == FLOATS_GLOBAL || left[type][part] == (float)adds);
        }
}

/* A vector is not changed as one: a schedule that may switch at each atomic shows it. */
static void between(struct floats_args *args, bool seeded)
{
    uint32_t seen[2 * GPURT_WARP_SIZE], all = 0;
    float left[4];
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};

    OK(gpurt_fill(rt, 0, args->cells, 0, sizeof left, &err));
    OK(gpurt_launch(rt, &launch, floats_between, args, &err));
    OK(gpurt_copy(rt, 0, seen, args->wrong, sizeof seen, &err));
    OK(gpurt_copy(rt, 0, left, args->cells, sizeof left, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < 2 * GPURT_WARP_SIZE; i++)
        all += seen[i];
    for (uint32_t i = 0; i < 4; i++)
        CHECK(left[i] == 64 * GPURT_WARP_SIZE);
    CHECK(!seeded || all > 0);
}

/* What half.h and atomicfloat.h say of a GPU and of the CPU. */
static void subnormal(struct floats_args *args, bool gpu)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    float left[3];

    OK(gpurt_launch(rt, &launch, floats_subnormal, args, &err));
    OK(gpurt_copy(rt, 0, left, args->left, sizeof left, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(bits_of(left[0]), gpu ? 0 : 3);
    CHECK_EQ(bits_of(left[1]), gpu ? 0 : 3);
    CHECK_EQ(bits_of(left[2]), 3);
}

static void astray(struct floats_args *args)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    gpurt_error_t err = {0};

    if (gpurt_launch(rt, &launch, floats_astray, args, &err) == GPURT_OK)
        CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_SCOPE);
}

int main(void)
{
    struct floats_args args = {0};
    const char *schedule = getenv("GPURT_SCHEDULE");
    gpurt_info_t info;

    values_make();
    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_info(rt, &info));
    args.cells = (uint32_t *)stage_zeros(FLOATS_HALVES * sizeof *args.cells);
    args.wrong = (uint32_t *)stage_zeros(FLOATS_ADDS * sizeof *args.wrong);
    args.seen = (uint32_t *)stage_zeros(FLOATS_TYPES * FLOATS_PARTS * FLOATS_ADDS *
                                        sizeof *args.seen);
    args.left = (float *)stage_zeros(FLOATS_TYPES * FLOATS_PARTS * sizeof *args.left);
    converted(&args);
    summed(&args);
    forms(&args, FLOATS_GLOBAL);
    forms(&args, FLOATS_SHARED);
    storm(&args, FLOATS_GLOBAL);
    storm(&args, FLOATS_SHARED);
    if (info.max_cluster >= FLOATS_BLOCKS)
        storm(&args, FLOATS_OTHERS);
    between(&args,
            info.backend == GPURT_BACKEND_CPU && schedule && !strcmp(schedule, "random"));
    subnormal(&args, info.backend == GPURT_BACKEND_CUDA);
    if (info.backend == GPURT_BACKEND_CPU)
        astray(&args);
    OK(gpurt_mem_destroy(rt, args.cells));
    OK(gpurt_mem_destroy(rt, args.wrong));
    OK(gpurt_mem_destroy(rt, args.seen));
    OK(gpurt_mem_destroy(rt, args.left));
    OK(gpurt_close(rt, &err));
    return 0;
}
