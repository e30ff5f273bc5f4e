/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_kernels.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

/* What mixes signs is meant to: the operands come to the host as they are. */
#if !GPURT_ON_CUDA
#    pragma GCC diagnostic ignored "-Wsign-compare"
#endif

#define COMPARE_CASE(type, op)                     \
    case PANIC_##type##_##op:                      \
        GPURT_ASSERT_##op(p->type[0], p->type[1]); \
        break;
#define COMPARE_CASES(type) PANIC_OPS(COMPARE_CASE, type)

GPURT_KERNEL(panic_compare, struct panic_form_args, p)
{
    switch (p->which) {
        PANIC_TYPES(COMPARE_CASES)
    default:
        break;
    }
    gpurt_add_relaxed_dev_u32(p->calls, 1);
}

#define BOUND_CASE(i, n)                      \
    case PANIC_BOUND_##i##_##n:               \
        GPURT_CHECK_BOUNDS(p->i[0], p->n[1]); \
        break;

GPURT_KERNEL(panic_bound, struct panic_form_args, p)
{
    switch (p->which) {
        PANIC_BOUNDS(BOUND_CASE)
    default:
        break;
    }
    gpurt_add_relaxed_dev_u32(p->calls, 1);
}

GPURT_DEVN void panic_helper(const struct panic_form_args *p)
{
    GPURT_ASSERT_GT(p->u64[0], p->u64[1]);
}

GPURT_DEV uint32_t panic_called(const struct panic_form_args *p)
{
    return gpurt_add_relaxed_dev_u32(p->calls, 1) + 1;
}

typedef struct small {
    uint32_t three : 3;
    int8_t byte;
} small_t;

/* Odd lanes break it; all tell their value. */
GPURT_DEV void panic_lanes(const struct panic_form_args *p)
{
    uint32_t lane = gpurt_lane();

    GPURT_ASSERT_LANES(lane % 2 == 0, "lane %u of %u", lane * 10, p->u32[0]);
}

GPURT_KERNEL(panic_form, struct panic_form_args, p)
{
    small_t small;

    small.three = (uint32_t)p->u32[0] & 7u;
    small.byte = (int8_t)p->i32[0];
    switch (p->which) {
    case PANIC_FORM_PANIC:
        GPURT_PANIC("stopped at %u", p->u32[0]);
        break;
    case PANIC_FORM_AS:
        GPURT_PANIC_AS(GPURT_CATEGORY_USER + 3, "of our own");
        break;
    case PANIC_FORM_UNREACHABLE:
        GPURT_UNREACHABLE();
        break;
    case PANIC_FORM_ASSERT:
        GPURT_ASSERT(p->u32[0] % 100 != 5 % 100 && p->u32[1]);
        break;
    case PANIC_FORM_ASSERT_MESSAGE:
        GPURT_ASSERT(p->u32[0] != 5, "%s %d%%", "five", p->i32[0]);
        break;
    case PANIC_FORM_COMPARE_MESSAGE:
        GPURT_ASSERT_LT(p->u64[0], p->i32[1], "of %s, %g", "both", p->f64[1]);
        break;
    case PANIC_FORM_BOUNDS:
        GPURT_CHECK_BOUNDS(p->i32[0], p->u32[1]);
        break;
    case PANIC_FORM_BOUNDS_MESSAGE:
        GPURT_CHECK_BOUNDS(p->i32[0], 3, "row %u", p->u32[1]);
        break;
    case PANIC_FORM_LANES:
        panic_lanes(p);
        break;
    case PANIC_FORM_NULL:
        GPURT_ASSERT_EQ(p->ptr[0], NULL);
        break;
    case PANIC_FORM_SMALL:
        GPURT_ASSERT_NE(small.three, small.byte);
        break;
    case PANIC_FORM_HELPER:
        panic_helper(p);
        break;
    case PANIC_FORM_ONCE:
        GPURT_ASSERT_LT(panic_called(p), 1u, "%u", p->u32[0]);
        break;
    default:
        break;
    }
    gpurt_add_relaxed_dev_u32(p->calls, 1);
}
