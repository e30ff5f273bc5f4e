/* SPDX-License-Identifier: Apache-2.0 */
/* operand.h - the two sides of a comparison, each evaluated once and kept with its type.
 * Included by panic.h; not for users.
 *
 *   GPURT_OPERAND(name, x, other)       declares name with the value of x
 *   GPURT_OPERAND_TYPE(x)               GPURT_TYPE_* and 64 bits of one: a char * is compared by
 *   GPURT_OPERAND_BITS(x)               its address, and may not be a text
 *   GPURT_OPERANDS_QUIETLY(statement)   no warning about signs in there
 *   GPURT_OPERANDS_NATURAL(a, op, b)    but the warnings that `a op b` deserves
 *   GPURT_OPERANDS_UNUSED(a, b)         compiles both, runs neither */
#ifndef GPURT_OPERAND_H
#define GPURT_OPERAND_H

#include <gpurt/impl/logargs.h>

#if defined(__cplusplus)
/* By value: arrays become pointers, bit-fields integers. */
template <class T> T gpurt_operand_decay(T);
template <class T, class Other> struct gpurt_operand_type {
    typedef T type;
};
/* A pointer's other side may be NULL, which is an integer, or nullptr. */
template <class T, class Other> struct gpurt_operand_type<T, Other *> {
    typedef Other *type;
};
template <class T, class Other> struct gpurt_operand_type<T *, Other *> {
    typedef T *type;
};
/* By another name, because in a template that one would need `typename`. */
template <class T, class Other>
using gpurt_operand_of = typename gpurt_operand_type<T, Other>::type;
#    define GPURT_OPERAND(name, x, other)                            \
        const gpurt_operand_of<decltype(gpurt_operand_decay(x)),     \
                               decltype(gpurt_operand_decay(other))> \
            name = (x)
template <class T> struct gpurt_operand_code {
    static const uint32_t code = gpurt_type_of<T>::code;
};
template <class T> struct gpurt_operand_code<T *> {
    static const uint32_t code = GPURT_TYPE_PTR;
};
template <class T> GPURT_HD uint64_t gpurt_operand_bits(T v)
{
    return gpurt_bits_of(v);
}
template <class T> GPURT_HD uint64_t gpurt_operand_bits(T *v)
{
    return gpurt_bits_ptr(v);
}
#    define GPURT_OPERAND_TYPE(x) gpurt_operand_code<decltype(gpurt_arg(x))>::code
#    define GPURT_OPERAND_BITS(x) gpurt_operand_bits(gpurt_arg(x))
#else
#    define GPURT_OPERAND_TYPE(x)                                                          \
        GPURT_ARG_PICK_(x, GPURT_TYPE_I32, GPURT_TYPE_U32, GPURT_TYPE_I64, GPURT_TYPE_U64, \
                        GPURT_TYPE_F32, GPURT_TYPE_F64, GPURT_TYPE_PTR, GPURT_TYPE_PTR)
#    define GPURT_OPERAND_BITS(x)                                                          \
        GPURT_ARG_PICK_(x, gpurt_bits_i64, gpurt_bits_u64, gpurt_bits_i64, gpurt_bits_u64, \
                        gpurt_bits_f32, gpurt_bits_f64, gpurt_bits_ptr, gpurt_bits_ptr)    \
        (x)
/* A conditional does what a call of printf would: arrays become pointers, bit-fields and
 * small integers int. One of its two sides is evaluated. */
#    define GPURT_OPERAND(name, x, other) const __auto_type name = (1 ? (x) : (x))
#endif

#if GPURT_ON_CUDA
#    define GPURT_OPERANDS_QUIETLY(...) __VA_ARGS__
#    define GPURT_OPERANDS_NATURAL(a, op, b)
#else
#    define GPURT_OPERANDS_QUIETLY(...)                          \
        _Pragma("GCC diagnostic push")                           \
            _Pragma("GCC diagnostic ignored \"-Wsign-compare\"") \
                __VA_ARGS__ _Pragma("GCC diagnostic pop")
#    define GPURT_OPERANDS_NATURAL(a, op, b) \
        if (false)                           \
            (void)((a)op(b));
#endif

#define GPURT_OPERANDS_UNUSED(a, b) \
    do {                            \
        if (false) {                \
            (void)(a);              \
            (void)(b);              \
        }                           \
    } while (0)

/* Whether 0 <= i < n. As 64 bits, sign extended; i_signed, n_signed: of their types. The compiler
 * makes one comparison of it where it can. */
GPURT_HD GPURT_CONSTEXPR bool gpurt_operand_within(bool i_signed, uint64_t i, bool n_signed,
                                                   uint64_t n)
{
    if (i_signed && (int64_t)i < 0)
        return false;
    if (n_signed && (int64_t)n < 0)
        return false;
    return i < n;
}

#endif
