/* SPDX-License-Identifier: Apache-2.0 */
/* combine.h - the table of collectives: which operators there are, over which types, and what
 * combines with anything to that thing.
 *
 * Included by collective.h and gridscan.h. How two values combine (gpurt_pair_add_f32 and its
 * kin) stands in the dialect, because it decides the bits of floats on both back ends.
 *
 *   GPURT_FOR_COLLECTIVES(def)   def(op, T, t, none, pair) for each operator and type
 *   GPURT_FOR_VALUES(def)        def(T, t) for each type
 *   gpurt_value_bits_T(v)            the value's bits, in 64;  gpurt_value_of_T(bits) */
#ifndef GPURT_COMBINE_H
#define GPURT_COMBINE_H

#include <gpurt/impl/dialect.h>

/* A function of a whole set that a program's file makes: most of it is not called there. */
#define GPURT_DEV_OF_SET GPURT_DEV __attribute__((unused))

#define GPURT_FOR_VALUES(def)                                                 \
    def(uint32_t, u32) def(int32_t, i32) def(uint64_t, u64) def(int64_t, i64) \
        def(float, f32) def(double, f64)

#define GPURT_COMBINE_ROW(def, T, t, least, most)                                     \
    def(add, T, t, (T)0, gpurt_pair_add_##t) def(min, T, t, most, gpurt_pair_min_##t) \
        def(max, T, t, least, gpurt_pair_max_##t)
#define GPURT_FOR_COLLECTIVES(def)                                                    \
    GPURT_COMBINE_ROW(def, uint32_t, u32, 0u, UINT32_MAX)                             \
    GPURT_COMBINE_ROW(def, int32_t, i32, INT32_MIN, INT32_MAX)                        \
    GPURT_COMBINE_ROW(def, uint64_t, u64, 0ull, UINT64_MAX)                           \
    GPURT_COMBINE_ROW(def, int64_t, i64, INT64_MIN, INT64_MAX)                        \
    GPURT_COMBINE_ROW(def, float, f32, -__builtin_huge_valf(), __builtin_huge_valf()) \
    GPURT_COMBINE_ROW(def, double, f64, -__builtin_huge_val(), __builtin_huge_val())

#define GPURT_DEF_BITS(T, t)                           \
    GPURT_DEV uint64_t gpurt_value_bits_##t(T value)   \
    {                                                  \
        uint64_t bits = 0;                             \
                                                       \
        __builtin_memcpy(&bits, &value, sizeof value); \
        return bits;                                   \
    }                                                  \
    GPURT_DEV T gpurt_value_of_##t(uint64_t bits)      \
    {                                                  \
        T value;                                       \
                                                       \
        __builtin_memcpy(&value, &bits, sizeof value); \
        return value;                                  \
    }
GPURT_FOR_VALUES(GPURT_DEF_BITS)

#endif
