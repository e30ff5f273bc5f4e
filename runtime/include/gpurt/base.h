/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - the words every other gpurt header is written in.
 *
 * One source is compiled three ways: by a C compiler (gnu11) and a C++ compiler (C++17) for
 * the CPU back end and for host code, and by nvcc for a GPU. This file is the only place that
 * asks which compiler reads it; everything below speaks GPURT_* and stays the same text.
 * It defines no function and includes nothing but the freestanding headers. */
#ifndef GPURT_BASE_H
#define GPURT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPURT_VERSION_MAJOR 0
#define GPURT_VERSION_MINOR 1
#define GPURT_VERSION_PATCH 0
#define GPURT_VERSION \
    (GPURT_VERSION_MAJOR * 10000 + GPURT_VERSION_MINOR * 100 + GPURT_VERSION_PATCH)

/* GPURT_ON_CUDA: nvcc reads this file (either of its passes).
 * GPURT_IN_DEVICE: code generated now runs on a GPU; 0 for device code on the CPU. */
#if defined(__CUDACC__)
#    define GPURT_ON_CUDA 1
#else
#    define GPURT_ON_CUDA 0
#endif
#if defined(__CUDA_ARCH__)
#    define GPURT_IN_DEVICE 1
#else
#    define GPURT_IN_DEVICE 0
#endif

/* nvcc compiles for the host: host code, and the host's side of functions for both. */
#if GPURT_ON_CUDA && !GPURT_IN_DEVICE
#    define GPURT_HOST_SIDE 1
#else
#    define GPURT_HOST_SIDE 0
#endif

#if defined(__cplusplus)
#    define GPURT_BEGIN_DECLS               extern "C" {
#    define GPURT_END_DECLS                 }
#    define GPURT_STATIC_ASSERT(cond, text) static_assert(cond, text)
#    define GPURT_CONSTEXPR                 constexpr
#    define GPURT_ALIGNOF(type)             alignof(type)
#else
#    define GPURT_BEGIN_DECLS
#    define GPURT_END_DECLS
#    define GPURT_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#    define GPURT_CONSTEXPR
#    define GPURT_ALIGNOF(type) _Alignof(type)
#endif

#define GPURT_ALIGN(bytes) __attribute__((aligned(bytes)))
#define GPURT_WEAK         __attribute__((weak))
#define GPURT_NORETURN     __attribute__((noreturn))
#define GPURT_NOINLINE     __attribute__((noinline))
#define GPURT_PRINTF(fmt_index, first_arg) \
    __attribute__((format(printf, fmt_index, first_arg)))
#define GPURT_LIKELY(x)   (__builtin_expect(!!(x), 1))
#define GPURT_UNLIKELY(x) (__builtin_expect(!!(x), 0))

/* A device function that does not return, how it ends, and what stands behind each call of it.
 * nvcc leaves out what follows a call that it knows not to return, and ptxas then lets that call
 * run into whatever comes next, and keeps the values of that for it. So nvcc must not find out,
 * and there is an exit. */
#if GPURT_ON_CUDA
#    define GPURT_ENDS
#else
#    define GPURT_ENDS GPURT_NORETURN
#endif
#if GPURT_IN_DEVICE
/* A constexpr function has no assembly of its own before C++20, but may call a function of it. */
static __device__ __forceinline__ void gpurt_end_lane(void)
{
    asm volatile("exit;");
}
#    define GPURT_NEVER()            \
        do {                         \
            gpurt_end_lane();        \
            __builtin_unreachable(); \
        } while (0)
#else
#    define GPURT_NEVER() __builtin_unreachable()
#endif

/* Fibers never change threads, so one fixed offset from the thread pointer is enough. */
#define GPURT_TLS __thread __attribute__((tls_model("initial-exec")))

/* A site is "file:line" as one constant: two uses of one line compare equal as pointers. */
#define GPURT_STRINGIFY_(x) #x
#define GPURT_STRINGIFY(x)  GPURT_STRINGIFY_(x)
#define GPURT_HERE          (__FILE__ ":" GPURT_STRINGIFY(__LINE__))

/* Function words of the dialect.
 *   GPURT_DEV    device code, inlined        GPURT_DEVN   device code, kept out of line
 *   GPURT_HD     device and host code, inlined (the body must be valid on both) */
/* GPURT_QUIET behind a function's head: it calls nothing that logs, and ends no lane (log.h). */
#if defined(__cplusplus)
#    define GPURT_QUIET noexcept
#else
#    define GPURT_QUIET
#endif
/* GPURT_ROLLED before a loop: its code stays short, and needs few registers. */
#if GPURT_ON_CUDA
#    define GPURT_ROLLED _Pragma("unroll 1")
#else
#    define GPURT_ROLLED
#endif
/* First in a block: it runs so many times as often as one that says GPURT_SELDOM. A kernel that may
 * use no more registers than it has puts values into memory where it costs least; without these words
 * nvcc takes the way that is hardly ever gone for the common one, and spills for the functions called
 * there on the common way too. From 100 on it also moves the seldom block behind the kernel: one jump
 * less on a way that waits for little (a magazine's hit: 5 to 9 cycles less on an H200), but a worse
 * order where loads are on their way (the warp-log: 12 cycles more). */
#if GPURT_IN_DEVICE && __CUDACC_VER_MAJOR__ >= 13
#    define GPURT_OFTEN(times) asm volatile(".pragma \"frequency " #    times "\";")
#    define GPURT_SELDOM()     asm volatile(".pragma \"frequency 1\";")
#else
#    define GPURT_OFTEN(times) ((void)0)
#    define GPURT_SELDOM()     ((void)0)
#endif
/* A word is worked out by here, not where it is first used, which may be behind a wait. */
#if GPURT_IN_DEVICE
#    define GPURT_BY_NOW(word) asm volatile("" : "+l"(word))
#else
#    define GPURT_BY_NOW(word) ((void)(word))
#endif
/* A function that is seldom called, for those who are in a hurry when they do not call it:
 * GPURT_FAR(f)(arguments). nvcc lets a kernel's functions share out its registers among
 * themselves, and keeps what the caller needs after a call in memory, where the call is not
 * made as well; but what is called through a pointer keeps its caller's registers itself. */
#if GPURT_ON_CUDA
#    define GPURT_FAR(function)            \
        ({                                 \
            auto gpurt_far_ = &(function); \
            asm("" : "+l"(gpurt_far_));    \
            gpurt_far_;                    \
        })
#else
#    define GPURT_FAR(function) (function)
#endif
#if GPURT_ON_CUDA
#    define GPURT_DEV  static __device__ __forceinline__
#    define GPURT_DEVN static __device__ __noinline__ __attribute__((unused))
#    define GPURT_HD   static __host__ __device__ __forceinline__
#else
#    define GPURT_DEV  static inline __attribute__((unused))
#    define GPURT_DEVN static __attribute__((noinline, unused))
#    define GPURT_HD   static inline __attribute__((unused))
#endif

enum {
    GPURT_WARP_SIZE = 32,
    GPURT_MAX_BLOCK_THREADS = 1024,
    GPURT_MAX_ARGS_BYTES = 4064,  /* what every supported GPU takes as kernel parameters */
    GPURT_MAX_CLUSTER_BLOCKS = 8, /* portable cluster size */
    GPURT_NAMED_BARRIERS = 16,    /* per block; 0 is the block barrier itself */
    GPURT_MAX_DEVICES = 8         /* that a process has open at once */
};
#define GPURT_FULL_MASK 0xffffffffu
#define GPURT_FOREVER   UINT64_MAX /* a time limit of calls that wait: none */

typedef struct gpurt_dim3 {
    uint32_t x, y, z;
} gpurt_dim3_t;

#endif
