/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - floats of 16 bits, which are kept in memory and added by atomics (atomicfloat.h).
 *
 *   gpurt_f16_t   IEEE binary16: 5 bits of exponent, 10 of fraction; the bits of CUDA's __half
 *   gpurt_bf16_t  the upper half of a float; the bits of CUDA's __nv_bfloat16
 *
 * Each is a struct of its bits, so neither is taken for the other, nor for a number. Arithmetic is
 * done in float: convert, work, convert back. A conversion to 16 bits rounds to nearest even, keeps
 * subnormals, and makes one NaN of all, 0x7fff. Both back ends give the same bits.
 * Context: host and device code. */
#ifndef GPURT_HALF_H
#define GPURT_HALF_H

#include <gpurt/base.h>

typedef struct gpurt_f16 {
    uint16_t bits;
} gpurt_f16_t;
typedef struct gpurt_bf16 {
    uint16_t bits;
} gpurt_bf16_t;

/* Two that lie in one word: `at[0]` in its lower half. */
typedef union GPURT_ALIGN(4) gpurt_f16x2 {
    gpurt_f16_t at[2];
    uint32_t bits;
} gpurt_f16x2_t;
typedef union GPURT_ALIGN(4) gpurt_bf16x2 {
    gpurt_bf16_t at[2];
    uint32_t bits;
} gpurt_bf16x2_t;

enum {
    GPURT_HALF_NAN = 0x7fff /* what a GPU's units make of each NaN, of both types */
};

GPURT_HD uint32_t gpurt_bits_of_f32(float value)
{
    union {
        float value;
        uint32_t bits;
    } pun;

    pun.value = value;
    return pun.bits;
}
GPURT_HD float gpurt_f32_of_bits(uint32_t bits)
{
    union {
        float value;
        uint32_t bits;
    } pun;

    pun.bits = bits;
    return pun.value;
}

/* v / 2^shift, to nearest even. shift: 1 to 31. */
GPURT_HD uint32_t gpurt_half_round(uint32_t v, uint32_t shift)
{
    uint32_t kept = v >> shift, rest = v & ((1u << shift) - 1u), half = 1u << (shift - 1u);

    return kept + (rest > half || (rest == half && (kept & 1u)) ? 1u : 0u);
}

/* The next three of the magnitude of a float that is no NaN. In those that round, a carry out of the
 * fraction goes on into the exponent, up to infinity, which is right. */
GPURT_HD uint32_t gpurt_f16_small(uint32_t magnitude) /* below 2^-14: so many 2^-24 */
{
    uint32_t exponent = magnitude >> 23;

    if (exponent < 102) /* below 2^-25 */
        return 0;
    return gpurt_half_round((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent);
}
GPURT_HD uint32_t gpurt_f16_magnitude(uint32_t magnitude)
{
    if (magnitude >= 0x47800000u) /* 2^16 */
        return 0x7c00;
    if (magnitude < 0x38800000u) /* 2^-14 */
        return gpurt_f16_small(magnitude);
    return gpurt_half_round(magnitude - 0x38000000u, 13);
}

GPURT_HD gpurt_f16_t gpurt_f16_from_f32(float value)
{
    gpurt_f16_t half;
#if GPURT_IN_DEVICE
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
#else
    uint32_t bits = gpurt_bits_of_f32(value), magnitude = bits & 0x7fffffffu;

    half.bits = GPURT_HALF_NAN;
    if (magnitude <= 0x7f800000u)
        half.bits = (uint16_t)((bits >> 16 & 0x8000u) | gpurt_f16_magnitude(magnitude));
#endif
    return half;
}

GPURT_HD float gpurt_f16_to_f32(gpurt_f16_t half)
{
#if GPURT_IN_DEVICE
    float value;

    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
    return value;
#else
    uint32_t sign = (half.bits & 0x8000u) << 16, magnitude = half.bits & 0x7fffu;

    if (magnitude > 0x7c00u)
        return gpurt_f32_of_bits(0x7fffffffu); /* as a GPU's conversion */
    if (magnitude == 0x7c00u)
        return gpurt_f32_of_bits(sign | 0x7f800000u);
    if (magnitude < 0x400u) /* exact: so many 2^-24 */
        return gpurt_f32_of_bits(
            sign | gpurt_bits_of_f32((float)magnitude * (1.0f / 16777216.0f)));
    return gpurt_f32_of_bits(sign | ((magnitude << 13) + 0x38000000u));
#endif
}

GPURT_HD gpurt_bf16_t gpurt_bf16_from_f32(float value)
{
    gpurt_bf16_t half;
#if GPURT_IN_DEVICE && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
#else
    uint32_t bits = gpurt_bits_of_f32(value);

    half.bits = GPURT_HALF_NAN;
    if ((bits & 0x7fffffffu) <= 0x7f800000u)
        half.bits = (uint16_t)gpurt_half_round(bits, 16);
#endif
    return half;
}

/* Moves the bits, those of a NaN too. */
GPURT_HD float gpurt_bf16_to_f32(gpurt_bf16_t half)
{
    return gpurt_f32_of_bits((uint32_t)half.bits << 16);
}

/* The sum, rounded once: a float's 24 bits are enough that rounding twice changes nothing (2 * 11
 * + 2 of f16, 2 * 8 + 2 of bf16), and a subnormal sum is exact. */
GPURT_HD gpurt_f16_t gpurt_f16_add(gpurt_f16_t a, gpurt_f16_t b)
{
    return gpurt_f16_from_f32(gpurt_f16_to_f32(a) + gpurt_f16_to_f32(b));
}
GPURT_HD gpurt_bf16_t gpurt_bf16_add(gpurt_bf16_t a, gpurt_bf16_t b)
{
    return gpurt_bf16_from_f32(gpurt_bf16_to_f32(a) + gpurt_bf16_to_f32(b));
}

GPURT_HD gpurt_f16x2_t gpurt_f16x2_from_f32(float first, float second)
{
    gpurt_f16x2_t pair;

    pair.bits = gpurt_f16_from_f32(first).bits | (uint32_t)gpurt_f16_from_f32(second).bits
                                                     << 16;
    return pair;
}
GPURT_HD gpurt_bf16x2_t gpurt_bf16x2_from_f32(float first, float second)
{
    gpurt_bf16x2_t pair;

    pair.bits = gpurt_bf16_from_f32(first).bits | (uint32_t)gpurt_bf16_from_f32(second).bits
                                                      << 16;
    return pair;
}

#endif
