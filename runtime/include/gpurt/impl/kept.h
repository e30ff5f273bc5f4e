/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - what a word keeps in the block it stands in, for C and C++, also in a constexpr function.
 * C++14 and C++17 allow no static object there, but a class with a function that has one; and no
 * variable without a value, but one whose constructor gives it none. Included by log.h; not for users.
 *
 *   GPURT_KEPT(type, name, {...})     a static object
 *   GPURT_KEPT_NUMBER(name, value)    a number for it, worked out where the arguments' names are
 *   GPURT_KEPT_AS(name, value)        known, and as it stands in the braces
 *   GPURT_KEPT_ROOM(type, name, n)    an array of n to be filled, on the stack
 *   GPURT_AT_COMPILE_TIME()           the compiler works out a constant */
#ifndef GPURT_KEPT_H
#define GPURT_KEPT_H

#include <gpurt/base.h>

#if defined(__cplusplus)
#    if GPURT_ON_CUDA
#        define GPURT_KEPT_HD __host__ __device__ __forceinline__
#    else
#        define GPURT_KEPT_HD inline
#    endif
#    define GPURT_KEPT(type, name, ...)         \
        struct name##of_ {                      \
            static GPURT_KEPT_HD type *kept()   \
            {                                   \
                static type one_ = __VA_ARGS__; \
                return &one_;                   \
            }                                   \
        };                                      \
        type &name = *name##of_::kept()
#    define GPURT_KEPT_NUMBER(name, value) \
        enum : uint64_t {                  \
            name = value                   \
        };
#    define GPURT_KEPT_AS(name, value) name
/* The constructor that is used does nothing; the other one makes it a type for a constexpr function. */
template <class T, uint32_t N> struct gpurt_kept_room {
    T at[N];
    GPURT_KEPT_HD gpurt_kept_room() {}
    GPURT_KEPT_HD constexpr explicit gpurt_kept_room(T v) : at{v} {}
};
#    define GPURT_KEPT_ROOM(type, name, n)      \
        gpurt_kept_room<type, (n)> name##room_; \
        type *const name = name##room_.at
GPURT_HD constexpr bool gpurt_at_compile_time()
{
    return __builtin_is_constant_evaluated();
}
#    define GPURT_AT_COMPILE_TIME() gpurt_at_compile_time()
#else
#    define GPURT_KEPT(type, name, ...) static type name = __VA_ARGS__
#    define GPURT_KEPT_NUMBER(name, value)
#    define GPURT_KEPT_AS(name, value)     value
#    define GPURT_KEPT_ROOM(type, name, n) type name[n]
#    define GPURT_AT_COMPILE_TIME()        false
#endif

#endif
