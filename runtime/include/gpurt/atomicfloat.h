/* SPDX-License-Identifier: Apache-2.0 */
/* atomicfloat.h - atomic additions to floats: halves, pairs, vectors, and those without an answer.
 *
 * The names are those of atomic.h, which has `add` of f32 and f64:
 *
 *     T gpurt_add_<order>_<scope>_<type>(T *p, T value)           returns the old value
 *     void gpurt_red_add_<order>_<scope>_<type>(T *p, T value)    order: relaxed release
 *     T gpurt_load_<order>_<scope>_<type>(const T *p)             f16 bf16; order: relaxed acquire
 *     void gpurt_store_<order>_<scope>_<type>(T *p, T value)      f16 bf16; order: relaxed release
 *
 *   type    f32 f64 (red; add of scope far), f16 bf16 (half.h), and vectors of them:
 *           f16x2 bf16x2, f32x2 f32x4 (gpurt_f32x2_t, gpurt_f32x4_t)
 *   scope   blk clu dev sys; of add also far, of a word that does not lie in shared memory. With
 *           scope dev or sys the word of a red must not lie there
 *
 * Each element of a vector is added to as one; the vector is not. Another lane may see one element
 * changed and the next one not yet, and the elements that add returns are of different moments. The
 * order holds for each element. There is no load of a vector for that reason: load its elements.
 *
 * What a GPU does of it:
 *   f16x2, bf16x2   one instruction in global memory, a loop of compare-exchanges in shared
 *   f32x2, f32x4    one instruction in global memory from sm_90 on; else element by element.
 *                   Before it add asks where the word lies, which far and red of dev and sys don't
 *   f16, bf16       a loop of compare-exchanges on the word of 32 bits around it, everywhere:
 *                   f16x2 with -0 (bits 0x8000) for the other half costs less
 *   bf16, bf16x2    before sm_90 by such a loop too
 * The CPU back end does it element by element, each with a preemption point.
 *
 * All round to nearest even. f16 and bf16 keep subnormals, on both back ends. f32 keeps them on the
 * CPU; a GPU's f32 additions in global memory take a subnormal for 0, operand and sum. The bits of a
 * NaN may differ. */
#ifndef GPURT_ATOMICFLOAT_H
#define GPURT_ATOMICFLOAT_H

#include <gpurt/atomic.h>
#include <gpurt/half.h>

typedef struct GPURT_ALIGN(8) gpurt_f32x2 {
    float x, y;
} gpurt_f32x2_t;
typedef struct GPURT_ALIGN(16) gpurt_f32x4 {
    float x, y, z, w;
} gpurt_f32x4_t;

/* ---- one element: what the compiler at hand offers ------------------------------------- */
#if GPURT_IN_DEVICE
/* nvcc 13.0 crashes on its own cast where it knows that p lies in shared memory, in branches that are
 * never taken too; here it sees none. */
GPURT_DEV uint64_t gpurt_far_address(const void *p)
{
    uint64_t address;

    asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(p));
    return address;
}
#    define GPURT_PTX_SPACE_blk       ""
#    define GPURT_PTX_SPACE_clu       ""
#    define GPURT_PTX_SPACE_dev       ""
#    define GPURT_PTX_SPACE_sys       ""
#    define GPURT_PTX_SPACE_far       "global."
#    define GPURT_PTX_ADDR_blk(p)     (p)
#    define GPURT_PTX_ADDR_clu(p)     (p)
#    define GPURT_PTX_ADDR_dev(p)     (p)
#    define GPURT_PTX_ADDR_sys(p)     (p)
#    define GPURT_PTX_ADDR_far(p)     gpurt_far_address(p)
#    define GPURT_PTX_RED_ADDR_blk(p) (p)
#    define GPURT_PTX_RED_ADDR_clu(p) (p)
#    define GPURT_PTX_RED_ADDR_dev(p) gpurt_far_address(p)
#    define GPURT_PTX_RED_ADDR_sys(p) gpurt_far_address(p)

/* word: the operand's bits or value, of PTX's constraint c. */
#    define GPURT_PTX_ADD_IN(space, addr, type, c, word, old, o, s)           \
        asm volatile("atom." #o "." GPURT_FENCE_PTX_##s "." space "add." type \
                                                        " %0, [%1], %2;"      \
                     : "=" c(old)                                             \
                     : "l"(addr), c(word)                                     \
                     : "memory")
#    define GPURT_PTX_RED_IN(space, addr, type, c, word, o, s)                   \
        asm volatile("red." #o "." GPURT_FENCE_PTX_##s "." space "add." type     \
                                                       " [%0], %1;" ::"l"(addr), \
                     c(word)                                                     \
                     : "memory")
#    define GPURT_PTX_ADD(type, c, p, word, old, o, s)                                   \
        GPURT_PTX_ADD_IN(GPURT_PTX_SPACE_##s, GPURT_PTX_ADDR_##s(p), type, c, word, old, \
                         o, s)
#    define GPURT_PTX_RED(type, c, p, word, o, s)                                          \
        GPURT_PTX_RED_IN(GPURT_RED_SPACE_##s, GPURT_PTX_RED_ADDR_##s(p), type, c, word, o, \
                         s)

#    define GPURT_ADD_f32(p, value, old, o, s) \
        GPURT_PTX_ADD("f32", "f", p, value, old, o, s)
#    define GPURT_ADD_f64(p, value, old, o, s) \
        GPURT_PTX_ADD("f64", "d", p, value, old, o, s)
#    define GPURT_RED_f32(p, value, o, s) GPURT_PTX_RED("f32", "f", p, value, o, s)
#    define GPURT_RED_f64(p, value, o, s) GPURT_PTX_RED("f64", "d", p, value, o, s)
#    define GPURT_ADD_f16(p, value, old, o, s) \
        GPURT_PTX_ADD("noftz.f16", "h", p, (value).bits, (old).bits, o, s)
#    define GPURT_RED_f16(p, value, o, s) \
        GPURT_PTX_RED("noftz.f16", "h", p, (value).bits, o, s)
#    if __CUDA_ARCH__ >= 900
#        define GPURT_ADD_bf16(p, value, old, o, s) \
            GPURT_PTX_ADD("noftz.bf16", "h", p, (value).bits, (old).bits, o, s)
#        define GPURT_RED_bf16(p, value, o, s) \
            GPURT_PTX_RED("noftz.bf16", "h", p, (value).bits, o, s)
#    else
/* In the word of 32 bits that holds it: what the other half has meanwhile, it keeps. */
#        define GPURT_ADD_bf16(p, value, old, o, s)                                       \
            do {                                                                          \
                uint32_t *word_ = (uint32_t *)((uintptr_t)(p) & ~(uintptr_t)3);           \
                uint32_t by_ = ((uintptr_t)(p)&2u) * 8u;                                  \
                uint32_t found_ = GPURT_RAW_load(uint32_t, word_, relaxed, s), next_;     \
                                                                                          \
                do { /* ends: each failure is another's success */                        \
                    (old).bits = (uint16_t)(found_ >> by_);                               \
                    next_ = (found_ & ~(0xffffu << by_)) |                                \
                            (uint32_t)gpurt_bf16_add(old, value).bits << by_;             \
                } while (                                                                 \
                    !GPURT_RAW_cas(uint32_t, u32, word_, &found_, next_, o, relaxed, s)); \
            } while (0)
#        define GPURT_RED_bf16(p, value, o, s)         \
            do {                                       \
                gpurt_bf16_t none_;                    \
                                                       \
                GPURT_ADD_bf16(p, value, none_, o, s); \
                (void)none_;                           \
            } while (0)
#    endif
#    define GPURT_LOAD_HALF(p, o, s, bits)                             \
        asm volatile("ld." #o "." GPURT_FENCE_PTX_##s ".b16 %0, [%1];" \
                     : "=h"(bits)                                      \
                     : "l"(p)                                          \
                     : "memory")
#    define GPURT_STORE_HALF(p, o, s, bits)                                                \
        asm volatile("st." #o "." GPURT_FENCE_PTX_##s ".b16 [%0], %1;" ::"l"(p), "h"(bits) \
                     : "memory")
#else
#    define GPURT_ADD_f32(p, value, old, o, s) old = GPURT_RAW_addf(float, p, value, o, s)
#    define GPURT_ADD_f64(p, value, old, o, s) old = GPURT_RAW_addf(double, p, value, o, s)
/* The exchange compares bits, so a NaN cannot spin. */
#    define GPURT_ADD_HALF(add, T, p, value, old, o, s)                                  \
        do {                                                                             \
            T next_;                                                                     \
                                                                                         \
            (old).bits = GPURT_RAW_load(uint16_t, &(p)->bits, relaxed, s);               \
            do /* ends: each failure is another's success */                             \
                next_ = add(old, value);                                                 \
            while (!GPURT_RAW_cas(uint16_t, u16, &(p)->bits, &(old).bits, next_.bits, o, \
                                  relaxed, s));                                          \
        } while (0)
#    define GPURT_ADD_f16(p, value, old, o, s) \
        GPURT_ADD_HALF(gpurt_f16_add, gpurt_f16_t, p, value, old, o, s)
#    define GPURT_ADD_bf16(p, value, old, o, s) \
        GPURT_ADD_HALF(gpurt_bf16_add, gpurt_bf16_t, p, value, old, o, s)
#    define GPURT_RED_ANY(T, t, p, value, o, s)   \
        do {                                      \
            T none_;                              \
                                                  \
            GPURT_ADD_##t(p, value, none_, o, s); \
            (void)none_;                          \
        } while (0)
#    define GPURT_RED_f32(p, value, o, s)   GPURT_RED_ANY(float, f32, p, value, o, s)
#    define GPURT_RED_f64(p, value, o, s)   GPURT_RED_ANY(double, f64, p, value, o, s)
#    define GPURT_RED_f16(p, value, o, s)   GPURT_RED_ANY(gpurt_f16_t, f16, p, value, o, s)
#    define GPURT_RED_bf16(p, value, o, s)  GPURT_RED_ANY(gpurt_bf16_t, bf16, p, value, o, s)
#    define GPURT_LOAD_HALF(p, o, s, to)    to = GPURT_RAW_load(uint16_t, p, o, s)
#    define GPURT_STORE_HALF(p, o, s, bits) GPURT_RAW_store(p, bits, o, s)
#endif

#define GPURT_DEF_add_one(T, t, o, s)                      \
    GPURT_HD T gpurt_add_##o##_##s##_##t(T *p, T value)    \
    {                                                      \
        T old;                                             \
                                                           \
        GPURT_RAW_point(p, sizeof(T), s, GPURT_POINT_RMW); \
        GPURT_ADD_##t(p, value, old, o, s);                \
        return old;                                        \
    }
#define GPURT_DEF_red_one(T, t, o, s)                          \
    GPURT_HD void gpurt_red_add_##o##_##s##_##t(T *p, T value) \
    {                                                          \
        GPURT_RED_POINT(p, sizeof(T), GPURT_RED_SCOPE_##s());  \
        GPURT_RED_##t(p, value, o, s);                         \
    }
#define GPURT_DEF_load_half(T, t, o, s)               \
    GPURT_HD T gpurt_load_##o##_##s##_##t(const T *p) \
    {                                                 \
        T half;                                       \
                                                      \
        GPURT_RAW_point(p, 2, s, GPURT_POINT_LOAD);   \
        GPURT_LOAD_HALF(&p->bits, o, s, half.bits);   \
        return half;                                  \
    }
#define GPURT_DEF_store_half(T, t, o, s)                     \
    GPURT_HD void gpurt_store_##o##_##s##_##t(T *p, T value) \
    {                                                        \
        GPURT_RAW_point(p, 2, s, GPURT_POINT_STORE);         \
        GPURT_STORE_HALF(&p->bits, o, s, value.bits);        \
    }
#define GPURT_FOR_RED(def, ...)                 \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, relaxed) \
    GPURT_FOR_SCOPES(def, __VA_ARGS__, release)
#define GPURT_DEFINE_HALF(T, t)                           \
    GPURT_FOR_SCOPES(GPURT_DEF_load_half, T, t, relaxed)  \
    GPURT_FOR_SCOPES(GPURT_DEF_load_half, T, t, acquire)  \
    GPURT_FOR_SCOPES(GPURT_DEF_store_half, T, t, relaxed) \
    GPURT_FOR_SCOPES(GPURT_DEF_store_half, T, t, release) \
    GPURT_FOR_ORDERS(GPURT_DEF_add_one, T, t)             \
    GPURT_FOR_FAR(GPURT_DEF_add_one, T, t)                \
    GPURT_FOR_RED(GPURT_DEF_red_one, T, t)

GPURT_FOR_FAR(GPURT_DEF_add_one, float, f32)
GPURT_FOR_FAR(GPURT_DEF_add_one, double, f64)
GPURT_FOR_RED(GPURT_DEF_red_one, float, f32)
GPURT_FOR_RED(GPURT_DEF_red_one, double, f64)
GPURT_DEFINE_HALF(gpurt_f16_t, f16)
GPURT_DEFINE_HALF(gpurt_bf16_t, bf16)

/* ---- vectors ----------------------------------------------------------------------------- */
/* IS_WHOLE: whether one instruction does it in the memory that p points to; ADD and RED are that one. */
#if GPURT_IN_DEVICE
#    if __CUDA_ARCH__ >= 900
/* Of any block of the cluster. */
GPURT_DEV bool gpurt_in_shared_memory(const void *p)
{
    uint32_t is;

    asm("{\n\t"
        ".reg .pred is;\n\t"
        "isspacep.shared::cluster is, %1;\n\t"
        "selp.u32 %0, 1, 0, is;\n\t"
        "}"
        : "=r"(is)
        : "l"(p));
    return is;
}
#        define GPURT_IS_FAR_blk(p)            (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_clu(p)            (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_dev(p)            (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_sys(p)            (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_far(p)            true
#        define GPURT_IS_FAR_RED_blk(p)        (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_RED_clu(p)        (!gpurt_in_shared_memory(p))
#        define GPURT_IS_FAR_RED_dev(p)        true
#        define GPURT_IS_FAR_RED_sys(p)        true
#        define GPURT_IS_WHOLE_f32x2(p, s)     GPURT_IS_FAR_##s(p)
#        define GPURT_IS_WHOLE_f32x4(p, s)     GPURT_IS_FAR_##s(p)
#        define GPURT_IS_WHOLE_RED_f32x2(p, s) GPURT_IS_FAR_RED_##s(p)
#        define GPURT_IS_WHOLE_RED_f32x4(p, s) GPURT_IS_FAR_RED_##s(p)
/* On an address that may be of any memory, ptxas 13.0 adds pairs of halves in the block's own shared
 * memory by a loop; but for that of another block of the cluster it takes the way of a lane's own
 * memory, which is no atomic, and adds the bits as integers. So only block scope leaves it the choice. */
#        define GPURT_IS_PAIR_blk(p)     true
#        define GPURT_IS_PAIR_clu        GPURT_IS_FAR_clu
#        define GPURT_IS_PAIR_dev        GPURT_IS_FAR_dev
#        define GPURT_IS_PAIR_sys        GPURT_IS_FAR_sys
#        define GPURT_IS_PAIR_far        GPURT_IS_FAR_far
#        define GPURT_IS_PAIR_RED_blk(p) true
#        define GPURT_IS_PAIR_RED_clu    GPURT_IS_FAR_RED_clu
#        define GPURT_IS_PAIR_RED_dev    GPURT_IS_FAR_RED_dev
#        define GPURT_IS_PAIR_RED_sys    GPURT_IS_FAR_RED_sys
#        define GPURT_PAIR_SPACE_blk     ""
#        define GPURT_PAIR_SPACE_clu     "global."
#        define GPURT_PAIR_SPACE_dev     "global."
#        define GPURT_PAIR_SPACE_sys     "global."
#        define GPURT_PAIR_SPACE_far     "global."
#        define GPURT_PAIR_ADDR_blk(p)   (p)
#        define GPURT_PAIR_ADDR_clu(p)   gpurt_far_address(p)
#        define GPURT_PAIR_ADDR_dev(p)   gpurt_far_address(p)
#        define GPURT_PAIR_ADDR_sys(p)   gpurt_far_address(p)
#        define GPURT_PAIR_ADDR_far(p)   gpurt_far_address(p)
#        define GPURT_PAIR_ADD(type, p, value, old, o, s)                             \
            GPURT_PTX_ADD_IN(GPURT_PAIR_SPACE_##s, GPURT_PAIR_ADDR_##s(p), type, "r", \
                             (value).bits, (old).bits, o, s)
#        define GPURT_PAIR_RED(type, p, value, o, s)                                  \
            GPURT_PTX_RED_IN(GPURT_PAIR_SPACE_##s, GPURT_PAIR_ADDR_##s(p), type, "r", \
                             (value).bits, o, s)
#        define GPURT_IS_WHOLE_f16x2(p, s)      GPURT_IS_PAIR_##s(p)
#        define GPURT_IS_WHOLE_RED_f16x2(p, s)  GPURT_IS_PAIR_RED_##s(p)
#        define GPURT_IS_WHOLE_bf16x2(p, s)     GPURT_IS_PAIR_##s(p)
#        define GPURT_IS_WHOLE_RED_bf16x2(p, s) GPURT_IS_PAIR_RED_##s(p)
#        define GPURT_ADD_f16x2(p, value, old, o, s) \
            GPURT_PAIR_ADD("noftz.f16x2", p, value, old, o, s)
#        define GPURT_RED_f16x2(p, value, o, s) \
            GPURT_PAIR_RED("noftz.f16x2", p, value, o, s)
#        define GPURT_ADD_bf16x2(p, value, old, o, s) \
            GPURT_PAIR_ADD("noftz.bf16x2", p, value, old, o, s)
#        define GPURT_RED_bf16x2(p, value, o, s) \
            GPURT_PAIR_RED("noftz.bf16x2", p, value, o, s)
#        define GPURT_ADD_f32x2(p, value, old, o, s)                                 \
            asm volatile("atom." #o "." GPURT_FENCE_PTX_##s                          \
                         ".global.v2.f32.add {%0, %1}, [%2], {%3, %4};"              \
                         : "=f"((old).x), "=f"((old).y)                              \
                         : "l"(gpurt_far_address(p)), "f"((value).x), "f"((value).y) \
                         : "memory")
#        define GPURT_RED_f32x2(p, value, o, s)                                            \
            asm volatile("red." #o "." GPURT_FENCE_PTX_##s                                 \
                         ".global.v2.f32.add [%0], {%1, %2};" ::"l"(gpurt_far_address(p)), \
                         "f"((value).x), "f"((value).y)                                    \
                         : "memory")
#        define GPURT_ADD_f32x4(p, value, old, o, s)                                    \
            asm volatile("atom." #o "." GPURT_FENCE_PTX_##s                             \
                         ".global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};" \
                         : "=f"((old).x), "=f"((old).y), "=f"((old).z), "=f"((old).w)   \
                         : "l"(gpurt_far_address(p)), "f"((value).x), "f"((value).y),   \
                           "f"((value).z), "f"((value).w)                               \
                         : "memory")
#        define GPURT_RED_f32x4(p, value, o, s)                                           \
            asm volatile(                                                                 \
                "red." #o "." GPURT_FENCE_PTX_##s                                         \
                ".global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(gpurt_far_address(p)), \
                "f"((value).x), "f"((value).y), "f"((value).z), "f"((value).w)            \
                : "memory")
#        define GPURT_WHOLE_ADD_bf16x2 GPURT_WHOLE_ADD
#        define GPURT_WHOLE_RED_bf16x2 GPURT_WHOLE_RED
#        define GPURT_WHOLE_ADD_f32x2  GPURT_WHOLE_ADD
#        define GPURT_WHOLE_RED_f32x2  GPURT_WHOLE_RED
#        define GPURT_WHOLE_ADD_f32x4  GPURT_WHOLE_ADD
#        define GPURT_WHOLE_RED_f32x4  GPURT_WHOLE_RED
#    else
#        define GPURT_IS_WHOLE_f16x2(p, s)     true
#        define GPURT_IS_WHOLE_RED_f16x2(p, s) true
#        define GPURT_ADD_f16x2(p, value, old, o, s) \
            GPURT_PTX_ADD("noftz.f16x2", "r", p, (value).bits, (old).bits, o, s)
#        define GPURT_RED_f16x2(p, value, o, s) \
            GPURT_PTX_RED("noftz.f16x2", "r", p, (value).bits, o, s)
#        define GPURT_WHOLE_ADD_bf16x2 GPURT_WHOLE_NONE
#        define GPURT_WHOLE_RED_bf16x2 GPURT_WHOLE_NONE
#        define GPURT_WHOLE_ADD_f32x2  GPURT_WHOLE_NONE
#        define GPURT_WHOLE_RED_f32x2  GPURT_WHOLE_NONE
#        define GPURT_WHOLE_ADD_f32x4  GPURT_WHOLE_NONE
#        define GPURT_WHOLE_RED_f32x4  GPURT_WHOLE_NONE
#    endif
#    define GPURT_WHOLE_ADD(T, t, p, value, o, s) \
        if (GPURT_IS_WHOLE_##t(p, s)) {           \
            T old_;                               \
                                                  \
            GPURT_ADD_##t(p, value, old_, o, s);  \
            return old_;                          \
        }
#    define GPURT_WHOLE_RED(T, t, p, value, o, s) \
        if (GPURT_IS_WHOLE_RED_##t(p, s)) {       \
            GPURT_RED_##t(p, value, o, s);        \
            return;                               \
        }
#    define GPURT_WHOLE_ADD_f16x2 GPURT_WHOLE_ADD
#    define GPURT_WHOLE_RED_f16x2 GPURT_WHOLE_RED
#else
#    define GPURT_WHOLE_ADD_f16x2  GPURT_WHOLE_NONE
#    define GPURT_WHOLE_RED_f16x2  GPURT_WHOLE_NONE
#    define GPURT_WHOLE_ADD_bf16x2 GPURT_WHOLE_NONE
#    define GPURT_WHOLE_RED_bf16x2 GPURT_WHOLE_NONE
#    define GPURT_WHOLE_ADD_f32x2  GPURT_WHOLE_NONE
#    define GPURT_WHOLE_RED_f32x2  GPURT_WHOLE_NONE
#    define GPURT_WHOLE_ADD_f32x4  GPURT_WHOLE_NONE
#    define GPURT_WHOLE_RED_f32x4  GPURT_WHOLE_NONE
#endif
#define GPURT_WHOLE_NONE(T, t, p, value, o, s)

#define GPURT_EACH_f16x2(X, ...)  X(at[0], __VA_ARGS__) X(at[1], __VA_ARGS__)
#define GPURT_EACH_bf16x2(X, ...) GPURT_EACH_f16x2(X, __VA_ARGS__)
#define GPURT_EACH_f32x2(X, ...)  X(x, __VA_ARGS__) X(y, __VA_ARGS__)
#define GPURT_EACH_f32x4(X, ...) \
    X(x, __VA_ARGS__) X(y, __VA_ARGS__) X(z, __VA_ARGS__) X(w, __VA_ARGS__)

#define GPURT_ADD_PART(part, e, o, s) \
    old.part = gpurt_add_##o##_##s##_##e(&p->part, value.part);
#define GPURT_RED_PART(part, e, o, s) gpurt_red_add_##o##_##s##_##e(&p->part, value.part);
#define GPURT_DEF_add_vector(T, t, e, o, s)                     \
    GPURT_HD T gpurt_add_##o##_##s##_##t(T *p, T value)         \
    {                                                           \
        T old;                                                  \
                                                                \
        GPURT_WHOLE_ADD_##t(T, t, p, value, o, s)               \
            GPURT_EACH_##t(GPURT_ADD_PART, e, o, s) return old; \
    }
#define GPURT_DEF_red_vector(T, t, e, o, s)                                               \
    GPURT_HD void gpurt_red_add_##o##_##s##_##t(T *p, T value)                            \
    {                                                                                     \
        GPURT_WHOLE_RED_##t(T, t, p, value, o, s) GPURT_EACH_##t(GPURT_RED_PART, e, o, s) \
    }
#define GPURT_DEFINE_VECTOR(T, t, e)                \
    GPURT_FOR_ORDERS(GPURT_DEF_add_vector, T, t, e) \
    GPURT_FOR_FAR(GPURT_DEF_add_vector, T, t, e)    \
    GPURT_FOR_RED(GPURT_DEF_red_vector, T, t, e)

GPURT_DEFINE_VECTOR(gpurt_f16x2_t, f16x2, f16)
GPURT_DEFINE_VECTOR(gpurt_bf16x2_t, bf16x2, bf16)
GPURT_DEFINE_VECTOR(gpurt_f32x2_t, f32x2, f32)
GPURT_DEFINE_VECTOR(gpurt_f32x4_t, f32x4, f32)

#endif
