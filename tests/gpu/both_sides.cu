/* SPDX-License-Identifier: Apache-2.0 */
/* Words of logs and assertions in functions for both sides: both_sides.sh runs the host's.
 * both_sides CASE: an assertion that fails, or none. */
#ifdef BOTH_SIDES_LOG
#    include <gpurt/gpurt.h>
#    include <gpurt/hostlog.h>
#endif
#include <gpurt/device.h>

#include <cstddef>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum class Color : unsigned char {
    red,
    green
};
enum class Wide : long long {
    least = -5000000000
};
static const int kMost = 40;

/* A template, whose types are not known yet where the words stand. */
template <class T> __host__ __device__ T clamped(T v, T most)
{
    GPURT_ASSERT(v >= 0, "value %d", v);
    GPURT_INFO("clamp %d of %d, %s", v, kMost, "as text");
    GPURT_LOG_IF(v > most, GPURT_LEVEL_WARN, "%d is too much", v);
    GPURT_ASSERT_LE(v, most);
    GPURT_ASSERT_LANES(v < 1000);
    return v;
}

/* Known to the compiler, or not. */
__host__ __device__ constexpr int twice(int n)
{
    GPURT_ASSERT(n > 0, "twice %d", n);
    GPURT_CHECK_BOUNDS(n, 1000);
    GPURT_INFO("twice %d", n);
    return 2 * n;
}
static_assert(twice(2) == 4, "");

/* Returns nothing behind what no lane passes. */
__host__ __device__ int told(int v)
{
    if (v < 3)
        return v;
    GPURT_UNREACHABLE("value %d", v);
}

__host__ __device__ void kinds(Color c, std::byte b, __half h, __nv_bfloat16 g, bool t,
                               Wide w, const char *text)
{
    GPURT_LOG_EVERY(2, GPURT_LEVEL_INFO, "%d %d %d", c, b, t);
    GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "%.2f %f", h, g);
    GPURT_ASSERT(t, "%d %d %.2f %g %d %lld [%6s] %c %x %llu 100%%", c, b, h, g, t, w, text,
                 'x', 255, 1ull << 40);
    GPURT_ASSERT_EQ(c, Color::red, "color");
    GPURT_ASSERT_LT(h, __half(1));
    GPURT_ASSERT_NE(text, NULL);
}

__host__ __device__ int at(const int *row, int i)
{
    GPURT_CHECK_INDEX(row, i, 4, "of four");
    return row[i];
}

struct Sum {
    int total;
    __host__ __device__ void add(int v)
    {
        GPURT_DEBUG("add %d", v);
        GPURT_CHECK_BOUNDS(v, 100);
        total += v;
    }
};

__global__ void on_device(int *out)
{
    const int row[4] = {1, 2, 3, 4};
    Sum sum = {0};
    auto both = [=] __host__ __device__(int v) {
        GPURT_INFO("lambda %d of %d", v, row[0]);
        GPURT_ASSERT(v);
        return v;
    };

    sum.add(both(out[0]));
    out[1] = clamped(out[2], 7) + twice(out[3]) + told(1) + at(row, out[3]) + sum.total;
    kinds(Color::red, std::byte{7}, __half(out[4]), __nv_bfloat16(2.5f), true, Wide::least,
          "t");
}

static void run(int which)
{
    const __half half = __float2half(0.5f);
    const int row[4] = {1, 2, 3, 4};
    const __nv_bfloat16 other = __float2bfloat16(2.5f);
    Sum sum = {0};
    auto both = [=] __host__ __device__(int v) {
        GPURT_INFO("lambda %d of %d", v, row[0]);
        GPURT_ASSERT(v);
        return v;
    };

    clamped(which == 1 ? -1 : 3, 7);
    clamped(which == 2 ? 9 : 3, 7);
    told(which == 3 ? 3 : 1);
    kinds(Color::red, std::byte{7}, half, other, which != 4, Wide::least, "text");
    kinds(which == 5 ? Color::green : Color::red, std::byte{7}, half, other, true,
          Wide::least, "");
    at(row, which == 6 ? -1 : 3);
    both(which == 7 ? 0 : 1);
    sum.add(which == 8 ? 100 : 99);
    twice(which == 9 ? -1 : 1);
}

int main(int argc, char **argv)
{
#ifdef BOTH_SIDES_LOG
    gpurt_options_t options = {};
    gpurt_t *rt = nullptr;

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CPU;
    if (gpurt_open(&options, &rt, NULL) != GPURT_OK)
        return 1;
    run(0);
    if (gpurt_close(rt, NULL) != GPURT_OK)
        return 1;
#endif
    run(argc > 1 ? atoi(argv[1]) : 0);
    return 0;
}
