/* SPDX-License-Identifier: Apache-2.0 */
/* panic_kernels.h - every form in which device code breaks a promise. */
#ifndef PANIC_KERNELS_H
#define PANIC_KERNELS_H

#include <gpurt/kernel.h>

/* Types of operands, by the field that has two of each. */
#define PANIC_TYPES(X) X(i32) X(u32) X(i64) X(u64) X(f32) X(f64) X(ptr)
#define PANIC_OPS(X, type) \
    X(type, EQ) X(type, NE) X(type, LT) X(type, LE) X(type, GT) X(type, GE)
#define PANIC_CASE_(type, op) PANIC_##type##_##op,
#define PANIC_CASES_(type)    PANIC_OPS(PANIC_CASE_, type)
enum {
    PANIC_TYPES(PANIC_CASES_) PANIC_COMPARES
};

/* Types of index and count. */
#define PANIC_BOUNDS(X) \
    X(i32, i32)         \
    X(i32, u32) X(u32, i32) X(u32, u32) X(i64, u32) X(u64, u64) X(u32, i64) X(i32, u64)
#define PANIC_BOUND_(i, n) PANIC_BOUND_##i##_##n,
enum {
    PANIC_BOUNDS(PANIC_BOUND_) PANIC_BOUND_COUNT
};

/* Forms one by one. */
enum {
    PANIC_FORM_PANIC,
    PANIC_FORM_AS,
    PANIC_FORM_UNREACHABLE,
    PANIC_FORM_ASSERT,
    PANIC_FORM_ASSERT_MESSAGE,
    PANIC_FORM_COMPARE_MESSAGE,
    PANIC_FORM_BOUNDS,
    PANIC_FORM_BOUNDS_MESSAGE,
    PANIC_FORM_LANES,
    PANIC_FORM_NULL,
    PANIC_FORM_SMALL,
    PANIC_FORM_HELPER,
    PANIC_FORM_ONCE,
    PANIC_FORM_OFF,
    PANIC_FORM_COUNT
};

struct panic_form_args {
    int32_t i32[2];
    uint32_t u32[2];
    int64_t i64[2];
    uint64_t u64[2];
    float f32[2];
    double f64[2];
    char *ptr[2];
    uint32_t which;
    uint32_t *calls; /* of panic_called, and of kernels that go on to their end */
};

#endif
