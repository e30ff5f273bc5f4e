/* SPDX-License-Identifier: Apache-2.0 */
/* atomic.h - the only file that names compiler atomics.
 *
 * Every access to a shared word says in its name what it does, in which order, who can see
 * it, and on which type:
 *
 *     gpurt_<op>_<order>_<scope>_<type>(pointer, ...)
 *
 *   op      load store | add sub and or xor min max xchg (all return the old value) | cas
 *           red_add red_and red_or red_xor red_min red_max (return nothing)
 *   order   load: relaxed acquire      store, red: relaxed release
 *           others: relaxed acquire release acq_rel
 *   scope   blk (the block)  clu (the cluster)  dev (the device)  sys (host and peers too);
 *           far: as dev, for a word that does not lie in shared memory (u32 u64: add and or xchg
 *           cas). One instruction on a GPU, which else asks first where the word lies;
 *           near: as blk, for a word that lies in shared memory (u32 u64: load store add and or
 *           xchg cas). A GPU takes a third of the cycles for it
 *   type    u32 u64; i32 i64 (all but and or xor, no red); f32 f64 (load store add xchg);
 *           u128 (load store xchg cas)
 *
 *   bool gpurt_cas_<order>_<scope>_<type>(T *p, T *expected, T desired)
 *       strong; on failure *expected becomes the value found, read with acquire when the
 * order
 *       acquires and relaxed otherwise.
 *   T gpurt_inc_wrap_<order>_<scope>_<type>(T *p, T top)       0 behind top, else one more
 *   T gpurt_dec_wrap_<order>_<scope>_<type>(T *p, T top)       top behind 0 and above it, else one less
 *   T gpurt_add_most_<order>_<scope>_<type>(T *p, T v, T most) adds v where the sum is most at most
 *   T gpurt_sub_least_<order>_<scope>_<type>(T *p, T v, T least)   likewise, least at least
 *       u32 and u64; all return the old value, from which one knows whether it was changed. On a GPU
 *       inc and dec of u32 are one instruction, the others a loop of compare-exchanges.
 *   void gpurt_fence_<acquire|release|acq_rel|seq_cst>_<scope>(void)
 *       prefer an ordered operation: it costs no more and the race detector understands it.
 *
 *   void gpurt_red_<op>_<order>_<scope>_<type>(T *p, T value)
 *       for who does not look at the old value: on a GPU nothing comes back. It has a name of its
 *       own because nvcc makes an atomic of it even where nobody reads the answer. With scope
 *       dev or sys the word must not lie in shared memory.
 * The functions work in device code on both back ends and in host code. Order and scope are
 * part of the name because nvcc wants them literal and a reader wants them visible.
 * On the CPU back end each access is a preemption point (point.h).
 * u128: load and store everywhere; xchg and cas on a GPU need sm_90. On the CPU a 128-bit
 * load is a compare-exchange, so the word must be writable. On a GPU a load of scope blk is one
 * access only where all of the value is used: the log's own words pay for no more. */
#ifndef GPURT_ATOMIC_H
#define GPURT_ATOMIC_H

#include <gpurt/base.h>
#include <gpurt/impl/point.h>

typedef struct GPURT_ALIGN(16) gpurt_u128 {
    uint64_t lo, hi;
} gpurt_u128_t;

/* ---- raw accesses: what the compiler at hand offers -------------------------------------
 * */
#if GPURT_IN_DEVICE

#    define GPURT_ORDER_relaxed __NV_ATOMIC_RELAXED
#    define GPURT_ORDER_acquire __NV_ATOMIC_ACQUIRE
#    define GPURT_ORDER_release __NV_ATOMIC_RELEASE
#    define GPURT_ORDER_acq_rel __NV_ATOMIC_ACQ_REL
#    define GPURT_ORDER_seq_cst __NV_ATOMIC_SEQ_CST
#    define GPURT_SCOPE_blk     __NV_THREAD_SCOPE_BLOCK
#    if __CUDA_ARCH__ >= 900
#        define GPURT_SCOPE_clu __NV_THREAD_SCOPE_CLUSTER
#    else
#        define GPURT_SCOPE_clu \
            __NV_THREAD_SCOPE_DEVICE /* no clusters there: the next wider scope */
#    endif
#    define GPURT_SCOPE_dev  __NV_THREAD_SCOPE_DEVICE
#    define GPURT_SCOPE_sys  __NV_THREAD_SCOPE_SYSTEM
#    define GPURT_SCOPE_far  GPURT_SCOPE_dev
#    define GPURT_SCOPE_near GPURT_SCOPE_blk

#    define GPURT_RAW_load(T, p, o, s) \
        __nv_atomic_load_n((T *)(p), GPURT_ORDER_##o, GPURT_SCOPE_##s)
#    define GPURT_RAW_store(p, v, o, s) \
        __nv_atomic_store_n(p, v, GPURT_ORDER_##o, GPURT_SCOPE_##s)
/* On a generic address an atomic asks first whether that is in shared memory; `far` does not. */
#    define GPURT_RAW_rmw(op, T, p, v, o, s) \
        __nv_atomic_##op(p, v, GPURT_ORDER_##o, GPURT_SCOPE_##s)
#    define GPURT_RAW_any(op, ptx, T, W, t, p, v, o, s) \
        ((T)GPURT_RAW_rmw(op, W, (W *)(p), (W)(v), o, s))
#    define GPURT_RAW_far(op, ptx, T, W, t, p, v, o, s)                                 \
        ({                                                                              \
            T gpurt_old_;                                                               \
            asm volatile("atom." #o "." GPURT_FENCE_PTX_##s                             \
                         ".global." GPURT_PTX_##ptx(t) " %0, [%1], %2;"                 \
                         : "=" GPURT_PTX_WORD_##t(gpurt_old_)                           \
                         : "l"(__cvta_generic_to_global(p)), GPURT_PTX_WORD_##t((T)(v)) \
                         : "memor"                                                      \
                           "y");                                                        \
            gpurt_old_;                                                                 \
        })
#    define GPURT_RAW_near(op, ptx, T, W, t, p, v, o, s)                                \
        ({                                                                              \
            T gpurt_old_;                                                               \
            asm volatile("atom." #o ".cta.shared." GPURT_PTX_##ptx(t) " %0, [%1], %2;"  \
                         : "=" GPURT_PTX_WORD_##t(gpurt_old_)                           \
                         : "l"(__cvta_generic_to_shared(p)), GPURT_PTX_WORD_##t((T)(v)) \
                         : "memor"                                                      \
                           "y");                                                        \
            gpurt_old_;                                                                 \
        })
#    define GPURT_RAW_load_near(T, t, p, o)                                      \
        ({                                                                       \
            T gpurt_now_;                                                        \
            asm volatile("ld." #o ".cta.shared." GPURT_PTX_BITS_##t " %0, [%1];" \
                         : "=" GPURT_PTX_WORD_##t(gpurt_now_)                    \
                         : "l"(__cvta_generic_to_shared(p))                      \
                         : "memor"                                               \
                           "y");                                                 \
            gpurt_now_;                                                          \
        })
#    define GPURT_RAW_store_near(T, t, p, v, o)                       \
        asm volatile("st." #o ".cta.shared." GPURT_PTX_BITS_##t       \
                     " [%0], %1;" ::"l"(__cvta_generic_to_shared(p)), \
                     GPURT_PTX_WORD_##t((T)(v))                       \
                     : "memor"                                        \
                       "y")
#    define GPURT_RAW_at_blk  GPURT_RAW_any
#    define GPURT_RAW_at_clu  GPURT_RAW_any
#    define GPURT_RAW_at_dev  GPURT_RAW_any
#    define GPURT_RAW_at_sys  GPURT_RAW_any
#    define GPURT_RAW_at_far  GPURT_RAW_far
#    define GPURT_RAW_at_near GPURT_RAW_near
#    define GPURT_RAW_add_(T, U, t, p, v, o, s) \
        GPURT_RAW_at_##s(fetch_add, add_, T, U, t, p, v, o, s)
#    define GPURT_RAW_sub_(T, U, t, p, v, o, s) \
        ((T)GPURT_RAW_rmw(fetch_sub, U, (U *)(p), (U)(v), o, s))
#    define GPURT_RAW_and_(T, U, t, p, v, o, s) \
        GPURT_RAW_at_##s(fetch_and, and_, T, T, t, p, v, o, s)
#    define GPURT_RAW_or_(T, U, t, p, v, o, s) \
        GPURT_RAW_at_##s(fetch_or, or_, T, T, t, p, v, o, s)
#    define GPURT_RAW_xor_(T, U, t, p, v, o, s) GPURT_RAW_rmw(fetch_xor, T, p, v, o, s)
#    define GPURT_RAW_min_(T, U, t, p, v, o, s) GPURT_RAW_rmw(fetch_min, T, p, v, o, s)
#    define GPURT_RAW_max_(T, U, t, p, v, o, s) GPURT_RAW_rmw(fetch_max, T, p, v, o, s)
#    define GPURT_RAW_xchg_(T, U, t, p, v, o, s) \
        GPURT_RAW_at_##s(exchange_n, xchg_, T, T, t, p, v, o, s)
#    define GPURT_RAW_cas(T, t, p, e, d, o, fo, s) \
        GPURT_RAW_cas_##s(T, t, p, e, d, o, fo, s)
#    define GPURT_RAW_cas_blk(T, t, p, e, d, o, fo, s)                                    \
        __nv_atomic_compare_exchange_n(p, e, d, false, GPURT_ORDER_##o, GPURT_ORDER_##fo, \
                                       GPURT_SCOPE_##s)
#    define GPURT_RAW_cas_clu GPURT_RAW_cas_blk
#    define GPURT_RAW_cas_dev GPURT_RAW_cas_blk
#    define GPURT_RAW_cas_sys GPURT_RAW_cas_blk
#    define GPURT_RAW_cas_far(T, t, p, e, d, o, fo, s)                                 \
        ({                                                                             \
            T gpurt_want_ = *(e), gpurt_old_;                                          \
            asm volatile("atom." #o "." GPURT_FENCE_PTX_##s                            \
                         ".global.cas." GPURT_PTX_BITS_##t " %0, [%1], %2, %3;"        \
                         : "=" GPURT_PTX_WORD_##t(gpurt_old_)                          \
                         : "l"(__cvta_generic_to_global(p)),                           \
                           GPURT_PTX_WORD_##t(gpurt_want_), GPURT_PTX_WORD_##t((T)(d)) \
                         : "memor"                                                     \
                           "y");                                                       \
            *(e) = gpurt_old_;                                                         \
            gpurt_want_ == gpurt_old_;                                                 \
        })
#    define GPURT_RAW_cas_near(T, t, p, e, d, o, fo, s)                                \
        ({                                                                             \
            T gpurt_want_ = *(e), gpurt_old_;                                          \
            asm volatile("atom." #o ".cta.shared.cas." GPURT_PTX_BITS_##t              \
                         " %0, [%1], %2, %3;"                                          \
                         : "=" GPURT_PTX_WORD_##t(gpurt_old_)                          \
                         : "l"(__cvta_generic_to_shared(p)),                           \
                           GPURT_PTX_WORD_##t(gpurt_want_), GPURT_PTX_WORD_##t((T)(d)) \
                         : "memor"                                                     \
                           "y");                                                       \
            *(e) = gpurt_old_;                                                         \
            gpurt_want_ == gpurt_old_;                                                 \
        })
#    define GPURT_PTX_WORD_u32 "r"
#    define GPURT_PTX_WORD_u64 "l"
#    define GPURT_PTX_BITS_u32 "b32"
#    define GPURT_PTX_BITS_u64 "b64"
#    define GPURT_PTX_add_(t)  "add." #    t
#    define GPURT_PTX_min_(t)  "min." #    t
#    define GPURT_PTX_max_(t)  "max." #    t
#    define GPURT_PTX_and_(t)  "and." GPURT_PTX_BITS_##t
#    define GPURT_PTX_or_(t)   "or." GPURT_PTX_BITS_##t
#    define GPURT_PTX_xor_(t)  "xor." GPURT_PTX_BITS_##t
#    define GPURT_PTX_xchg_(t) "exch." GPURT_PTX_BITS_##t
#    define GPURT_RAW_get(p, v, o, s) \
        __nv_atomic_load(p, v, GPURT_ORDER_##o, GPURT_SCOPE_##s)
#    define GPURT_RAW_put(p, v, o, s) \
        __nv_atomic_store(p, v, GPURT_ORDER_##o, GPURT_SCOPE_##s)
#    define GPURT_RAW_swap(p, v, old, o, s) \
        __nv_atomic_exchange(p, v, old, GPURT_ORDER_##o, GPURT_SCOPE_##s)
#    define GPURT_RAW_cas_any(p, e, d, o, fo, s)                                        \
        __nv_atomic_compare_exchange(p, e, d, false, GPURT_ORDER_##o, GPURT_ORDER_##fo, \
                                     GPURT_SCOPE_##s)
#    define GPURT_RAW_addf(T, p, v, o, s) GPURT_RAW_rmw(fetch_add, T, p, v, o, s)
/* On a generic address even red is an atomic with an answer, which must be told apart from
 * one in shared memory; a word of scope dev or sys lies in memory all the same. */
#    define GPURT_RED_SPACE_blk   ""
#    define GPURT_RED_SPACE_clu   ""
#    define GPURT_RED_SPACE_dev   "global."
#    define GPURT_RED_SPACE_sys   "global."
#    define GPURT_RED_ADDR_blk(p) (p)
#    define GPURT_RED_ADDR_clu(p) (p)
#    define GPURT_RED_ADDR_dev(p) __cvta_generic_to_global(p)
#    define GPURT_RED_ADDR_sys(p) __cvta_generic_to_global(p)
#    define GPURT_RAW_red(op, t, p, v, o, s)                                       \
        asm volatile("red." #o "." GPURT_FENCE_PTX_##s                             \
                     "." GPURT_RED_SPACE_##s GPURT_PTX_##op(t) " [%0], %1;" ::"l"( \
                         GPURT_RED_ADDR_##s(p)),                                   \
                     GPURT_PTX_WORD_##t(v)                                         \
                     : "memor"                                                     \
                       "y")
/* Spelled in PTX: the compiler's own fence is sequentially consistent whatever is asked. */
/* A release leaves the first cache as it is, and an acquire waits for no store. */
#    define GPURT_FENCE_PTX_acquire "acquire"
#    define GPURT_FENCE_PTX_release "release"
#    define GPURT_FENCE_PTX_acq_rel "acq_rel"
#    define GPURT_FENCE_PTX_seq_cst "sc"
#    define GPURT_FENCE_PTX_blk     "cta"
#    if __CUDA_ARCH__ >= 900
#        define GPURT_FENCE_PTX_clu "cluster"
#    else
#        define GPURT_FENCE_PTX_clu "gpu"
#    endif
#    define GPURT_FENCE_PTX_dev "gpu"
#    define GPURT_FENCE_PTX_far "gpu"
#    define GPURT_FENCE_PTX_sys "sys"
#    define GPURT_RAW_fence(o, s)                                                \
        asm volatile("fence." GPURT_FENCE_PTX_##o "." GPURT_FENCE_PTX_##s ";" :: \
                         : "memor"                                               \
                           "y")
#    define GPURT_RAW_point(p, bytes, s, kind) ((void)0)

#else /* the CPU back end, and host code under any compiler */

#    define GPURT_ORDER_relaxed __ATOMIC_RELAXED
#    define GPURT_ORDER_acquire __ATOMIC_ACQUIRE
#    define GPURT_ORDER_release __ATOMIC_RELEASE
#    define GPURT_ORDER_acq_rel __ATOMIC_ACQ_REL
#    define GPURT_ORDER_seq_cst __ATOMIC_SEQ_CST
#    define GPURT_SCOPE_blk     GPURT_SCOPE_BLK
#    define GPURT_SCOPE_clu     GPURT_SCOPE_CLU
#    define GPURT_SCOPE_dev     GPURT_SCOPE_DEV
#    define GPURT_SCOPE_sys     GPURT_SCOPE_SYS
#    define GPURT_SCOPE_far     GPURT_SCOPE_FAR
#    define GPURT_SCOPE_near    GPURT_SCOPE_NEAR

/* gcc 12.2 at -O1 puts the answer where the operand is, and then loses the operand in the loop
 * that it makes of the operation; so the operand is needed for longer. */
#    define GPURT_RAW_bits_(op, T, p, v, o)                                             \
        __extension__({                                                                 \
            T gpurt_v_ = (v), gpurt_old_ = __atomic_##op(p, gpurt_v_, GPURT_ORDER_##o); \
                                                                                        \
            __asm__("" : : "r"(gpurt_v_));                                              \
            gpurt_old_;                                                                 \
        })
#    define GPURT_RAW_load(T, p, o, s)           __atomic_load_n(p, GPURT_ORDER_##o)
#    define GPURT_RAW_store(p, v, o, s)          __atomic_store_n(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_load_near(T, t, p, o)      GPURT_RAW_load(T, p, o, near)
#    define GPURT_RAW_store_near(T, t, p, v, o)  GPURT_RAW_store(p, v, o, near)
#    define GPURT_RAW_add_(T, U, t, p, v, o, s)  __atomic_fetch_add(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_sub_(T, U, t, p, v, o, s)  __atomic_fetch_sub(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_and_(T, U, t, p, v, o, s)  GPURT_RAW_bits_(fetch_and, T, p, v, o)
#    define GPURT_RAW_or_(T, U, t, p, v, o, s)   GPURT_RAW_bits_(fetch_or, T, p, v, o)
#    define GPURT_RAW_xor_(T, U, t, p, v, o, s)  GPURT_RAW_bits_(fetch_xor, T, p, v, o)
#    define GPURT_RAW_xchg_(T, U, t, p, v, o, s) __atomic_exchange_n(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_cas(T, t, p, e, d, o, fo, s) \
        __atomic_compare_exchange_n(p, e, d, false, GPURT_ORDER_##o, GPURT_ORDER_##fo)
#    define GPURT_RAW_get(p, v, o, s)       __atomic_load(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_put(p, v, o, s)       __atomic_store(p, v, GPURT_ORDER_##o)
#    define GPURT_RAW_swap(p, v, old, o, s) __atomic_exchange(p, v, old, GPURT_ORDER_##o)
/* Floats have no fetch-add here either; the exchange compares bits, so a NaN cannot spin.
 * */
#    define GPURT_RAW_addf(T, p, v, o, s)                                          \
        __extension__({                                                            \
            T gpurt_old_, gpurt_new_;                                              \
            __atomic_load(p, &gpurt_old_, __ATOMIC_RELAXED);                       \
            do                                                                     \
                gpurt_new_ = gpurt_old_ + (v);                                     \
            while (!__atomic_compare_exchange(p, &gpurt_old_, &gpurt_new_, true,   \
                                              GPURT_ORDER_##o, __ATOMIC_RELAXED)); \
            gpurt_old_;                                                            \
        })
/* What a read alone keeps of an order. */
#    define GPURT_READ_relaxed __ATOMIC_RELAXED
#    define GPURT_READ_acquire __ATOMIC_ACQUIRE
#    define GPURT_READ_release __ATOMIC_RELAXED
#    define GPURT_READ_acq_rel __ATOMIC_ACQUIRE
/* No CPU has a fetch-min: replace while ours is the better one. When nothing is stored, the
 * last read carries the order. */
#    define GPURT_RAW_pick(T, p, v, o, better)                                            \
        __extension__({                                                                   \
            T gpurt_old_ = __atomic_load_n(p, GPURT_READ_##o);                            \
            while ((v)better gpurt_old_ &&                                                \
                   !__atomic_compare_exchange_n(p, &gpurt_old_, v, true, GPURT_ORDER_##o, \
                                                GPURT_READ_##o))                          \
                ;                                                                         \
            gpurt_old_;                                                                   \
        })
#    define GPURT_RAW_min_(T, U, t, p, v, o, s) GPURT_RAW_pick(T, p, v, o, <)
#    define GPURT_RAW_max_(T, U, t, p, v, o, s) GPURT_RAW_pick(T, p, v, o, >)
#    define GPURT_RAW_red(op, t, p, v, o, s) \
        ((void)GPURT_RAW_##op(__typeof__(v), __typeof__(v), t, p, v, o, s))
/* GPURT_NO_POINTS: set for code that must not be interrupted by an executor, such as the
 * executor itself. */
#    if GPURT_ON_CUDA || defined(GPURT_NO_POINTS)
#        define GPURT_RAW_point(p, bytes, s, kind) ((void)0)
#    else
#        define GPURT_RAW_point(p, bytes, s, kind) \
            gpurt_point(p, bytes, GPURT_SCOPE_##s, kind)
#    endif

/* The race detector does not model fences. In its build a fence becomes an order on one
 * global word: correct programs stay quiet, a missing release or acquire is still found. */
#    if defined(__SANITIZE_THREAD__)
#        define GPURT_TSAN_FENCE 1
#    elif defined(__has_feature)
#        if __has_feature(thread_sanitizer)
#            define GPURT_TSAN_FENCE 1
#        endif
#    endif
#    if defined(GPURT_TSAN_FENCE)
GPURT_BEGIN_DECLS
extern void __tsan_acquire(void *addr);
extern void __tsan_release(void *addr);
extern uint32_t gpurt_fence_word;
GPURT_END_DECLS
#        define GPURT_FENCE_acquire() __tsan_acquire(&gpurt_fence_word)
#        define GPURT_FENCE_release() __tsan_release(&gpurt_fence_word)
#        define GPURT_FENCE_acq_rel() (GPURT_FENCE_acquire(), GPURT_FENCE_release())
#        define GPURT_FENCE_seq_cst() GPURT_FENCE_acq_rel()
#        define GPURT_RAW_fence(o, s) GPURT_FENCE_##o()
#    else
#        define GPURT_RAW_fence(o, s) __atomic_thread_fence(GPURT_ORDER_##o)
#    endif
#endif

/* ---- the table: every name of the grammar above -----------------------------------------
 * */
#define GPURT_DEF_load(T, t, o, s)                          \
    GPURT_HD T gpurt_load_##o##_##s##_##t(const T *p)       \
    {                                                       \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_LOAD); \
        return GPURT_RAW_load(T, p, o, s);                  \
    }
#define GPURT_DEF_store(T, t, o, s)                          \
    GPURT_HD void gpurt_store_##o##_##s##_##t(T *p, T value) \
    {                                                        \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_STORE); \
        GPURT_RAW_store(p, value, o, s);                     \
    }
/* U is T without its sign: device atomics add 64-bit words as unsigned ones only. An op
 * token ends in an underscore because three of the bare names are operators in C++. */
#define GPURT_DEF_rmw(op, T, U, t, o, s)                   \
    GPURT_HD T gpurt_##op##o##_##s##_##t(T *p, T value)    \
    {                                                      \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_RMW); \
        return GPURT_RAW_##op(T, U, t, p, value, o, s);    \
    }
/* What a red is looked for as. */
#define GPURT_RED_SCOPE_blk()        blk
#define GPURT_RED_SCOPE_clu()        clu
#define GPURT_RED_SCOPE_dev()        far
#define GPURT_RED_SCOPE_sys()        far
#define GPURT_RED_POINT(p, bytes, s) GPURT_RAW_point(p, bytes, s, GPURT_POINT_RMW)
#define GPURT_DEF_red(op, T, t, o, s)                          \
    GPURT_HD void gpurt_red_##op##o##_##s##_##t(T *p, T value) \
    {                                                          \
        GPURT_RED_POINT(p, sizeof(T), GPURT_RED_SCOPE_##s());  \
        GPURT_RAW_red(op, t, p, value, o, s);                  \
    }
#define GPURT_DEF_xchg(T, U, t, o, s)                       \
    GPURT_HD T gpurt_xchg_##o##_##s##_##t(T *p, T value)    \
    {                                                       \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_SWAP); \
        return GPURT_RAW_xchg_(T, U, t, p, value, o, s);    \
    }
#define GPURT_DEF_cas(T, t, o, fo, s)                                     \
    GPURT_HD bool gpurt_cas_##o##_##s##_##t(T *p, T *expected, T desired) \
    {                                                                     \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_SWAP);               \
        return GPURT_RAW_cas(T, t, p, expected, desired, o, fo, s);       \
    }

#define GPURT_FOR_SCOPES(def, ...) \
    def(__VA_ARGS__, blk) def(__VA_ARGS__, clu) def(__VA_ARGS__, dev) def(__VA_ARGS__, sys)
#define GPURT_FOR_ORDERS(def, ...)              \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, relaxed) \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, acquire) \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, release) \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, acq_rel)

#define GPURT_FOR_FAR(def, ...)                                   \
    def(__VA_ARGS__, relaxed, far) def(__VA_ARGS__, acquire, far) \
        def(__VA_ARGS__, release, far) def(__VA_ARGS__, acq_rel, far)

#define GPURT_DEFINE_ACCESS(T, t)                    \
    GPURT_FOR_SCOPES(GPURT_DEF_load, T, t, relaxed)  \
    GPURT_FOR_SCOPES(GPURT_DEF_load, T, t, acquire)  \
    GPURT_FOR_SCOPES(GPURT_DEF_store, T, t, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_store, T, t, release)
#define GPURT_DEFINE_ARITH(T, U, t)                         \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, add_, T, U, t)          \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, sub_, T, U, t)          \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, min_, T, U, t)          \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, max_, T, U, t)          \
    GPURT_FOR_ORDERS(GPURT_DEF_xchg, T, U, t)               \
    GPURT_FOR_SCOPES(GPURT_DEF_cas, T, t, relaxed, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_cas, T, t, acquire, acquire) \
    GPURT_FOR_SCOPES(GPURT_DEF_cas, T, t, release, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_cas, T, t, acq_rel, acquire)
#define GPURT_DEFINE_BITS(T, U, t)                 \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, and_, T, U, t) \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, or_, T, U, t)  \
    GPURT_FOR_ORDERS(GPURT_DEF_rmw, xor_, T, U, t)

#define GPURT_DEFINE_RED(op, T, t)                     \
    GPURT_FOR_SCOPES(GPURT_DEF_red, op, T, t, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_red, op, T, t, release)
#define GPURT_DEFINE_REDS(T, t)  \
    GPURT_DEFINE_RED(add_, T, t) \
    GPURT_DEFINE_RED(and_, T, t) \
    GPURT_DEFINE_RED(or_, T, t)  \
    GPURT_DEFINE_RED(xor_, T, t) \
    GPURT_DEFINE_RED(min_, T, t) \
    GPURT_DEFINE_RED(max_, T, t)

#define GPURT_DEFINE_FAR(T, t)                                                            \
    GPURT_FOR_FAR(GPURT_DEF_rmw, add_, T, T, t)                                           \
    GPURT_FOR_FAR(GPURT_DEF_rmw, and_, T, T, t)                                           \
    GPURT_FOR_FAR(GPURT_DEF_rmw, or_, T, T, t)                                            \
    GPURT_FOR_FAR(GPURT_DEF_xchg, T, T, t)                                                \
    GPURT_DEF_cas(T, t, relaxed, relaxed, far) GPURT_DEF_cas(T, t, acquire, acquire, far) \
        GPURT_DEF_cas(T, t, release, relaxed, far)                                        \
            GPURT_DEF_cas(T, t, acq_rel, acquire, far)

#define GPURT_DEF_load_near(T, t, o)                           \
    GPURT_HD T gpurt_load_##o##_near_##t(const T *p)           \
    {                                                          \
        GPURT_RAW_point(p, sizeof(T), near, GPURT_POINT_LOAD); \
        return GPURT_RAW_load_near(T, t, p, o);                \
    }
#define GPURT_DEF_store_near(T, t, o)                           \
    GPURT_HD void gpurt_store_##o##_near_##t(T *p, T value)     \
    {                                                           \
        GPURT_RAW_point(p, sizeof(T), near, GPURT_POINT_STORE); \
        GPURT_RAW_store_near(T, t, p, value, o);                \
    }
#define GPURT_FOR_NEAR(def, ...)                                    \
    def(__VA_ARGS__, relaxed, near) def(__VA_ARGS__, acquire, near) \
        def(__VA_ARGS__, release, near) def(__VA_ARGS__, acq_rel, near)
#define GPURT_DEFINE_NEAR(T, t)                                                 \
    GPURT_DEF_load_near(T, t, relaxed) GPURT_DEF_load_near(T, t, acquire)       \
        GPURT_DEF_store_near(T, t, relaxed) GPURT_DEF_store_near(T, t, release) \
            GPURT_FOR_NEAR(GPURT_DEF_rmw, add_, T, T, t)                        \
                GPURT_FOR_NEAR(GPURT_DEF_rmw, and_, T, T, t)                    \
                    GPURT_FOR_NEAR(GPURT_DEF_rmw, or_, T, T, t)                 \
                        GPURT_FOR_NEAR(GPURT_DEF_xchg, T, T, t)                 \
                            GPURT_DEF_cas(T, t, relaxed, relaxed, near)         \
                                GPURT_DEF_cas(T, t, acquire, acquire, near)     \
                                    GPURT_DEF_cas(T, t, release, relaxed, near) \
                                        GPURT_DEF_cas(T, t, acq_rel, acquire, near)

GPURT_DEFINE_ACCESS(uint32_t, u32)
GPURT_DEFINE_ACCESS(uint64_t, u64)
GPURT_DEFINE_ACCESS(int32_t, i32)
GPURT_DEFINE_ACCESS(int64_t, i64)
GPURT_DEFINE_ARITH(uint32_t, uint32_t, u32)
GPURT_DEFINE_ARITH(uint64_t, uint64_t, u64)
GPURT_DEFINE_ARITH(int32_t, uint32_t, i32)
GPURT_DEFINE_ARITH(int64_t, uint64_t, i64)
GPURT_DEFINE_BITS(uint32_t, uint32_t, u32)
GPURT_DEFINE_BITS(uint64_t, uint64_t, u64)
GPURT_DEFINE_REDS(uint32_t, u32)
GPURT_DEFINE_REDS(uint64_t, u64)
GPURT_DEFINE_FAR(uint32_t, u32)
GPURT_DEFINE_FAR(uint64_t, u64)
GPURT_DEFINE_NEAR(uint32_t, u32)
GPURT_DEFINE_NEAR(uint64_t, u64)

/* ---- with a bound ------------------------------------------------------------------------- */
/* old: the value found; next: of it, while `may` holds. */
#define GPURT_RAW_bound(T, t, p, o, fo, s, may, next)                   \
    T old;                                                              \
                                                                        \
    GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_RMW);                  \
    old = GPURT_RAW_load(T, p, fo, s);                                  \
    while ((may) && !GPURT_RAW_cas(T, t, p, &old, (T)(next), o, fo, s)) \
        ; /* ends: each failure is another's success */                 \
    return old
#define GPURT_DEF_bound(T, t, o, fo, s)                                          \
    GPURT_HD T gpurt_add_most_##o##_##s##_##t(T *p, T value, T most)             \
    {                                                                            \
        GPURT_RAW_bound(T, t, p, o, fo, s, old <= most && value <= most - old,   \
                        old + value);                                            \
    }                                                                            \
    GPURT_HD T gpurt_sub_least_##o##_##s##_##t(T *p, T value, T least)           \
    {                                                                            \
        GPURT_RAW_bound(T, t, p, o, fo, s, old >= least && value <= old - least, \
                        old - value);                                            \
    }
#define GPURT_DEF_wrap(T, t, o, fo, s)                                                   \
    GPURT_HD T gpurt_inc_wrap_##o##_##s##_##t(T *p, T top)                               \
    {                                                                                    \
        GPURT_RAW_bound(T, t, p, o, fo, s, true, old >= top ? 0 : old + 1);              \
    }                                                                                    \
    GPURT_HD T gpurt_dec_wrap_##o##_##s##_##t(T *p, T top)                               \
    {                                                                                    \
        GPURT_RAW_bound(T, t, p, o, fo, s, true, old == 0 || old > top ? top : old - 1); \
    }
#if GPURT_IN_DEVICE
#    define GPURT_RAW_wrap(op, p, top, o, s)                                        \
        uint32_t old;                                                               \
                                                                                    \
        asm volatile("atom." #o "." GPURT_FENCE_PTX_##s "." op ".u32 %0, [%1], %2;" \
                     : "=r"(old)                                                    \
                     : "l"(p), "r"(top)                                             \
                     : "memory");                                                   \
        return old
#    define GPURT_DEF_wrap_u32(T, t, o, fo, s)                 \
        GPURT_HD T gpurt_inc_wrap_##o##_##s##_##t(T *p, T top) \
        {                                                      \
            GPURT_RAW_wrap("inc", p, top, o, s);               \
        }                                                      \
        GPURT_HD T gpurt_dec_wrap_##o##_##s##_##t(T *p, T top) \
        {                                                      \
            GPURT_RAW_wrap("dec", p, top, o, s);               \
        }
#else
#    define GPURT_DEF_wrap_u32 GPURT_DEF_wrap
#endif
#define GPURT_DEFINE_BOUND(def, T, t)             \
    GPURT_FOR_SCOPES(def, T, t, relaxed, relaxed) \
    GPURT_FOR_SCOPES(def, T, t, acquire, acquire) \
    GPURT_FOR_SCOPES(def, T, t, release, relaxed) \
    GPURT_FOR_SCOPES(def, T, t, acq_rel, acquire)
GPURT_DEFINE_BOUND(GPURT_DEF_bound, uint32_t, u32)
GPURT_DEFINE_BOUND(GPURT_DEF_bound, uint64_t, u64)
GPURT_DEFINE_BOUND(GPURT_DEF_wrap_u32, uint32_t, u32)
GPURT_DEFINE_BOUND(GPURT_DEF_wrap, uint64_t, u64)

/* ---- floats: bits move as they are, add rounds to nearest -------------------------------
 * */
#define GPURT_DEF_loadf(T, t, o, s)                         \
    GPURT_HD T gpurt_load_##o##_##s##_##t(const T *p)       \
    {                                                       \
        T value;                                            \
                                                            \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_LOAD); \
        GPURT_RAW_get((T *)p, &value, o, s);                \
        return value;                                       \
    }
#define GPURT_DEF_storef(T, t, o, s)                         \
    GPURT_HD void gpurt_store_##o##_##s##_##t(T *p, T value) \
    {                                                        \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_STORE); \
        GPURT_RAW_put(p, &value, o, s);                      \
    }
#define GPURT_DEF_swapf(T, t, o, s)                         \
    GPURT_HD T gpurt_xchg_##o##_##s##_##t(T *p, T value)    \
    {                                                       \
        T old;                                              \
                                                            \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_SWAP); \
        GPURT_RAW_swap(p, &value, &old, o, s);              \
        return old;                                         \
    }
#define GPURT_DEF_addf(T, t, o, s)                         \
    GPURT_HD T gpurt_add_##o##_##s##_##t(T *p, T value)    \
    {                                                      \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_RMW); \
        return GPURT_RAW_addf(T, p, value, o, s);          \
    }
#define GPURT_DEFINE_FLOAT(T, t)                      \
    GPURT_FOR_SCOPES(GPURT_DEF_loadf, T, t, relaxed)  \
    GPURT_FOR_SCOPES(GPURT_DEF_loadf, T, t, acquire)  \
    GPURT_FOR_SCOPES(GPURT_DEF_storef, T, t, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_storef, T, t, release) \
    GPURT_FOR_ORDERS(GPURT_DEF_swapf, T, t)           \
    GPURT_FOR_ORDERS(GPURT_DEF_addf, T, t)

GPURT_DEFINE_FLOAT(float, f32)
GPURT_DEFINE_FLOAT(double, f64)

/* ---- 128 bit: an index with a tag, or two words that must change together
 * ---------------- */
#if !GPURT_IN_DEVICE
__extension__ typedef unsigned __int128 __attribute__((may_alias)) gpurt_wide_t;
#    if defined(GPURT_TSAN_FENCE)
GPURT_BEGIN_DECLS
extern gpurt_wide_t __tsan_atomic128_compare_exchange_val(volatile gpurt_wide_t *p,
                                                          gpurt_wide_t expected,
                                                          gpurt_wide_t desired, int order,
                                                          int fail_order);
GPURT_END_DECLS
#    endif

/* Full order always, but what the race detector is told is the order that was asked for. On
 * x86-64 the instruction is written out: compilers for the baseline architecture would call a
 * library for it. */
GPURT_HD bool gpurt_cas128_raw(gpurt_u128_t *p, gpurt_u128_t *expected,
                               gpurt_u128_t desired, int order, int fail_order)
{
#    if defined(GPURT_TSAN_FENCE)
    gpurt_wide_t want = *(gpurt_wide_t *)expected;
    gpurt_wide_t found = __tsan_atomic128_compare_exchange_val(
        (volatile gpurt_wide_t *)p, want, *(gpurt_wide_t *)&desired, order, fail_order);

    *(gpurt_wide_t *)expected = found;
    return found == want;
#    elif defined(__x86_64__)
    bool same;

    (void)order;
    (void)fail_order;
    __asm__ __volatile__("lock cmpxchg16b %1"
                         : "=@ccz"(same), "+m"(*p), "+a"(expected->lo), "+d"(expected->hi)
                         : "b"(desired.lo), "c"(desired.hi)
                         : "memory");
    return same;
#    else
    gpurt_wide_t want = *(gpurt_wide_t *)expected;
    gpurt_wide_t found =
        __sync_val_compare_and_swap((gpurt_wide_t *)p, want, *(gpurt_wide_t *)&desired);

    (void)order;
    (void)fail_order;
    *(gpurt_wide_t *)expected = found;
    return found == want;
#    endif
}
#    define GPURT_128_load(p, v, o, s)                                         \
        ((void)gpurt_cas128_raw((gpurt_u128_t *)(p), v, *(v), GPURT_ORDER_##o, \
                                GPURT_ORDER_##o))
#    define GPURT_128_cas(p, e, d, o, fo, s) \
        gpurt_cas128_raw(p, e, d, GPURT_ORDER_##o, GPURT_ORDER_##fo)
#    define GPURT_128_swap(p, v, old, o, s) \
        do {                                \
        } while (!gpurt_cas128_raw(p, old, v, GPURT_ORDER_##o, GPURT_READ_##o))
#    define GPURT_128_store(p, v, o, s)                                                  \
        do {                                                                             \
            gpurt_u128_t gpurt_old_ = {0, 0};                                            \
            while (                                                                      \
                !gpurt_cas128_raw(p, &gpurt_old_, v, GPURT_ORDER_##o, __ATOMIC_RELAXED)) \
                ;                                                                        \
        } while (0)
#else
/* ptxas 13.0 loads only those of the four parts that are used, if need be one after the other,
 * also where the instruction is one of 128 bits with an order. So all are used here, in a way
 * that it does not see through: no word has more than 32 bits set. */
GPURT_DEV void gpurt_128_whole(const gpurt_u128_t *v)
{
    asm volatile("{\n\t"
                 ".reg .b32 a, b, c, d;\n\t"
                 ".reg .pred never;\n\t"
                 "mov.b64 {a, b}, %0;\n\t"
                 "mov.b64 {c, d}, %1;\n\t"
                 "xor.b32 a, a, b;\n\t"
                 "xor.b32 c, c, d;\n\t"
                 "xor.b32 a, a, c;\n\t"
                 "popc.b32 a, a;\n\t"
                 "setp.gt.u32 never, a, 32;\n\t"
                 "@never trap;\n\t"
                 "}" ::"l"(v->lo),
                 "l"(v->hi));
}
#    define GPURT_128_WHOLE_clu    gpurt_128_whole
#    define GPURT_128_WHOLE_dev    gpurt_128_whole
#    define GPURT_128_WHOLE_sys    gpurt_128_whole
#    define GPURT_128_WHOLE_blk(v) ((void)(v)) /* see the head */
#    define GPURT_128_load(p, v, o, s)                   \
        do {                                             \
            GPURT_RAW_get((gpurt_u128_t *)(p), v, o, s); \
            GPURT_128_WHOLE_##s(v);                      \
        } while (0)
#    define GPURT_128_store(p, v, o, s)      GPURT_RAW_put(p, &(v), o, s)
#    define GPURT_128_swap(p, v, old, o, s)  GPURT_RAW_swap(p, &(v), old, o, s)
#    define GPURT_128_cas(p, e, d, o, fo, s) GPURT_RAW_cas_any(p, e, &(d), o, fo, s)
#endif

#define GPURT_DEF_load128(o, s)                                              \
    GPURT_HD gpurt_u128_t gpurt_load_##o##_##s##_u128(const gpurt_u128_t *p) \
    {                                                                        \
        gpurt_u128_t value = {0, 0};                                         \
                                                                             \
        GPURT_RAW_point(p, 16, s, GPURT_POINT_LOAD);                         \
        GPURT_128_load(p, &value, o, s);                                     \
        return value;                                                        \
    }
#define GPURT_DEF_store128(o, s)                                                    \
    GPURT_HD void gpurt_store_##o##_##s##_u128(gpurt_u128_t *p, gpurt_u128_t value) \
    {                                                                               \
        GPURT_RAW_point(p, 16, s, GPURT_POINT_STORE);                               \
        GPURT_128_store(p, value, o, s);                                            \
    }
#define GPURT_DEF_xchg128(o, s)                                                            \
    GPURT_HD gpurt_u128_t gpurt_xchg_##o##_##s##_u128(gpurt_u128_t *p, gpurt_u128_t value) \
    {                                                                                      \
        gpurt_u128_t old = {0, 0};                                                         \
                                                                                           \
        GPURT_RAW_point(p, 16, s, GPURT_POINT_SWAP);                                       \
        GPURT_128_swap(p, value, &old, o, s);                                              \
        return old;                                                                        \
    }
#define GPURT_DEF_cas128(o, fo, s)                                                    \
    GPURT_HD bool gpurt_cas_##o##_##s##_u128(gpurt_u128_t *p, gpurt_u128_t *expected, \
                                             gpurt_u128_t desired)                    \
    {                                                                                 \
        GPURT_RAW_point(p, 16, s, GPURT_POINT_SWAP);                                  \
        return GPURT_128_cas(p, expected, desired, o, fo, s);                         \
    }

GPURT_FOR_SCOPES(GPURT_DEF_load128, relaxed)
GPURT_FOR_SCOPES(GPURT_DEF_load128, acquire)
GPURT_FOR_SCOPES(GPURT_DEF_store128, relaxed)
GPURT_FOR_SCOPES(GPURT_DEF_store128, release)
#if !GPURT_IN_DEVICE || __CUDA_ARCH__ >= 900
GPURT_FOR_SCOPES(GPURT_DEF_xchg128, relaxed)
GPURT_FOR_SCOPES(GPURT_DEF_xchg128, acquire)
GPURT_FOR_SCOPES(GPURT_DEF_xchg128, release)
GPURT_FOR_SCOPES(GPURT_DEF_xchg128, acq_rel)
GPURT_FOR_SCOPES(GPURT_DEF_cas128, relaxed, relaxed)
GPURT_FOR_SCOPES(GPURT_DEF_cas128, acquire, acquire)
GPURT_FOR_SCOPES(GPURT_DEF_cas128, release, relaxed)
GPURT_FOR_SCOPES(GPURT_DEF_cas128, acq_rel, acquire)
#endif

/* ---- fences
 * ------------------------------------------------------------------------------ */
#define GPURT_DEF_fence(o, s)                 \
    GPURT_HD void gpurt_fence_##o##_##s(void) \
    {                                         \
        GPURT_RAW_fence(o, s);                \
    }
GPURT_FOR_SCOPES(GPURT_DEF_fence, acquire)
GPURT_FOR_SCOPES(GPURT_DEF_fence, release)
GPURT_FOR_SCOPES(GPURT_DEF_fence, acq_rel)
GPURT_FOR_SCOPES(GPURT_DEF_fence, seq_cst)

/* The wait of a release, begun early, beside a load's, or for several; then the releases themselves,
 * by the same lane, which has written nothing in between that they release. On the CPU the latter are
 * the order. */
GPURT_HD void gpurt_release_ahead_dev(void)
{
    if (GPURT_IN_DEVICE)
        gpurt_fence_release_dev();
}
GPURT_HD void gpurt_store_ahead_dev_u32(uint32_t *p, uint32_t v)
{
    if (GPURT_IN_DEVICE)
        gpurt_store_relaxed_dev_u32(p, v);
    else
        gpurt_store_release_dev_u32(p, v);
}
GPURT_HD uint32_t gpurt_or_ahead_far_u32(uint32_t *p, uint32_t v)
{
    return GPURT_IN_DEVICE ? gpurt_or_relaxed_far_u32(p, v)
                           : gpurt_or_release_far_u32(p, v);
}
GPURT_HD uint64_t gpurt_or_ahead_far_u64(uint64_t *p, uint64_t v)
{
    return GPURT_IN_DEVICE ? gpurt_or_relaxed_far_u64(p, v)
                           : gpurt_or_release_far_u64(p, v);
}

/* Four words that others store one by one: one read on a GPU. Not on the CPU: there a load of 128 bits
 * is a compare-exchange, and a sanitizer's undoes a store of 32 bits beside it. */
GPURT_HD void gpurt_load_four_relaxed_sys(const uint32_t *p, uint32_t *four)
{
    if (GPURT_IN_DEVICE) {
        gpurt_u128_t v = gpurt_load_relaxed_sys_u128((const gpurt_u128_t *)(const void *)p);

        four[0] = (uint32_t)v.lo;
        four[1] = (uint32_t)(v.lo >> 32);
        four[2] = (uint32_t)v.hi;
        four[3] = (uint32_t)(v.hi >> 32);
    }
    for (uint32_t i = 0; !GPURT_IN_DEVICE && i < 4; i++)
        four[i] = gpurt_load_relaxed_sys_u32(p + i);
}

/* What relaxed loads of p[i] have seen is acquired, for each bit i of some: on a GPU by one fence
 * behind the loads, which then wait beside each other. On the CPU other loads are the order. */
GPURT_HD void gpurt_acquire_behind_dev_u32(const uint32_t *p, uint32_t some)
{
    if (GPURT_IN_DEVICE && some)
        gpurt_fence_acquire_dev();
    for (uint32_t i = 0; !GPURT_IN_DEVICE && i < 32; i++)
        if (some >> i & 1u)
            (void)gpurt_load_acquire_dev_u32(p + i);
}
GPURT_HD void gpurt_acquire_behind_sys_u32(const uint32_t *p, uint32_t some)
{
    if (GPURT_IN_DEVICE && some)
        gpurt_fence_acquire_sys();
    for (uint32_t i = 0; !GPURT_IN_DEVICE && i < 32; i++)
        if (some >> i & 1u)
            (void)gpurt_load_acquire_sys_u32(p + i);
}

/* A store before it comes before the loads after it, for who does the same the other way
 * round: one of both sees the other. It hands nothing over, and the race detector is told
 * so: there it is an order on a word of the caller's own. */
GPURT_HD void gpurt_fence_store_load_dev(void)
{
#if defined(GPURT_TSAN_FENCE)
    uint32_t own = 0;

    __atomic_fetch_add(&own, 1, __ATOMIC_SEQ_CST);
#else
    GPURT_RAW_fence(seq_cst, dev);
#endif
}

/* An acquire fence makes acquiring loads of the relaxed ones before it, which the race
 * detector cannot see: after the fence, names such a word to it. Nothing in other builds.
 * */
GPURT_HD void gpurt_fence_covers(const void *p)
{
#if defined(GPURT_TSAN_FENCE)
    __tsan_acquire((void *)p);
#else
    (void)p;
#endif
}

#endif
