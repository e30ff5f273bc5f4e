/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of atomics: every operation on every type in every order and scope, on words that
 * all lanes want. semantics.h says what each word means. */
#include "semantics.h"

#include <gpurt/device.h>

GPURT_DEV uint64_t *probe_row(const struct probe_args *p)
{
    return p->out + gpurt_global_id64() * p->words;
}

/* ---- one operation, order and scope chosen at run time ------------------------------- */
/* An op carries its underscore because and, or and xor are operators in C++. */
#define PROBE_ORDERS(op, s, t, place, v)                    \
    (order == 0   ? gpurt_##op##relaxed_##s##_##t(place, v) \
     : order == 1 ? gpurt_##op##acquire_##s##_##t(place, v) \
     : order == 2 ? gpurt_##op##release_##s##_##t(place, v) \
                  : gpurt_##op##acq_rel_##s##_##t(place, v))
#define PROBE_SCOPES(op, t, place, v)                          \
    (scope == PROBE_BLK   ? PROBE_ORDERS(op, blk, t, place, v) \
     : scope == PROBE_CLU ? PROBE_ORDERS(op, clu, t, place, v) \
     : scope == PROBE_DEV ? PROBE_ORDERS(op, dev, t, place, v) \
                          : PROBE_ORDERS(op, sys, t, place, v))

/* Adds by compare-and-swap; returns what the winning exchange found. The sum is taken in
 * unsigned words: a signed one that wraps would be an overflow. */
#define PROBE_SUM(t) probe_value_##t(probe_bits_##t(old) + probe_bits_##t(v))
#define PROBE_CAS_ORDERS(s, t)                                             \
    (order == 0   ? gpurt_cas_relaxed_##s##_##t(place, &old, PROBE_SUM(t)) \
     : order == 1 ? gpurt_cas_acquire_##s##_##t(place, &old, PROBE_SUM(t)) \
     : order == 2 ? gpurt_cas_release_##s##_##t(place, &old, PROBE_SUM(t)) \
                  : gpurt_cas_acq_rel_##s##_##t(place, &old, PROBE_SUM(t)))
#define PROBE_DEFINE_CAS(T, t)                                               \
    GPURT_DEV T probe_cas_##t(uint32_t scope, uint32_t order, T *place, T v) \
    {                                                                        \
        T old = gpurt_load_relaxed_sys_##t(place);                           \
                                                                             \
        while (!(scope == PROBE_BLK   ? PROBE_CAS_ORDERS(blk, t)             \
                 : scope == PROBE_CLU ? PROBE_CAS_ORDERS(clu, t)             \
                 : scope == PROBE_DEV ? PROBE_CAS_ORDERS(dev, t)             \
                                      : PROBE_CAS_ORDERS(sys, t)))           \
            gpurt_relax();                                                   \
        return old;                                                          \
    }
PROBE_DEFINE_CAS(uint32_t, u32)
PROBE_DEFINE_CAS(int32_t, i32)
PROBE_DEFINE_CAS(uint64_t, u64)
PROBE_DEFINE_CAS(int64_t, i64)

#define PROBE_RMW_CASE(KIND, op, t) \
    case KIND:                      \
        return probe_bits_##t(PROBE_SCOPES(op, t, place, v));
#define PROBE_RMW_ARITH(t)             \
    PROBE_RMW_CASE(PROBE_SUB, sub_, t) \
    PROBE_RMW_CASE(PROBE_MIN, min_, t) \
    PROBE_RMW_CASE(PROBE_MAX, max_, t) \
    case PROBE_CAS:                    \
        return probe_bits_##t(probe_cas_##t(scope, order, place, v));
#define PROBE_RMW_ALL(t)               \
    PROBE_RMW_ARITH(t)                 \
    PROBE_RMW_CASE(PROBE_AND, and_, t) \
    PROBE_RMW_CASE(PROBE_OR, or_, t)   \
    PROBE_RMW_CASE(PROBE_EXOR, xor_, t)
#define PROBE_RMW_NONE(t)
/* Returns the old bits. Out of line: nvcc takes minutes over all of them in one body. */
#define PROBE_DEFINE_RMW(T, t, more_cases)                                           \
    GPURT_DEVN uint64_t probe_rmw_##t(uint32_t kind, uint32_t scope, uint32_t order, \
                                      void *word, uint64_t bits)                     \
    {                                                                                \
        T *place = (T *)word, v = probe_value_##t(bits);                             \
                                                                                     \
        switch (kind) {                                                              \
            more_cases(t) PROBE_RMW_CASE(PROBE_XCHG, xchg_, t) default               \
                : return probe_bits_##t(PROBE_SCOPES(add_, t, place, v));            \
        }                                                                            \
    }
PROBE_DEFINE_RMW(uint32_t, u32, PROBE_RMW_ALL)
PROBE_DEFINE_RMW(int32_t, i32, PROBE_RMW_ARITH)
PROBE_DEFINE_RMW(uint64_t, u64, PROBE_RMW_ALL)
PROBE_DEFINE_RMW(int64_t, i64, PROBE_RMW_ARITH)
PROBE_DEFINE_RMW(float, f32, PROBE_RMW_NONE)
PROBE_DEFINE_RMW(double, f64, PROBE_RMW_NONE)

GPURT_DEV uint64_t probe_rmw(uint32_t mode, uint32_t order, void *word, uint64_t bits)
{
    uint32_t kind = PROBE_KIND(mode), scope = PROBE_EXTRA(mode);

    switch (PROBE_TYPE(mode)) {
    case PROBE_U32:
        return probe_rmw_u32(kind, scope, order, word, bits);
    case PROBE_I32:
        return probe_rmw_i32(kind, scope, order, word, bits);
    case PROBE_U64:
        return probe_rmw_u64(kind, scope, order, word, bits);
    case PROBE_I64:
        return probe_rmw_i64(kind, scope, order, word, bits);
    case PROBE_F32:
        return probe_rmw_f32(kind, scope, order, word, bits);
    default:
        return probe_rmw_f64(kind, scope, order, word, bits);
    }
}

/* mem[0] is the word of the grid, mem[1 + block] that of a block: narrow scopes use the
 * latter. The order changes from lane to lane. */
GPURT_KERNEL(probe_atomic, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t kind = PROBE_KIND(p->mode), type = PROBE_TYPE(p->mode);
    uint64_t *word = p->mem;

    if (PROBE_EXTRA(p->mode) < PROBE_DEV)
        word += 1 + gpurt_block_rank();
    for (uint32_t round = 0; round < PROBE_ATOMIC_ROUNDS; round++) {
        uint64_t v = probe_operand(kind, type, id, round);

        row[round] = probe_rmw(p->mode, (uint32_t)(id + round) & 3u, word, v);
    }
}

/* The same on a word in shared memory, which starts and ends in mem[1 + block]. */
GPURT_KERNEL(probe_atomic_shared, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, word, 1);
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t kind = PROBE_KIND(p->mode), type = PROBE_TYPE(p->mode);
    uint64_t *home = &p->mem[1 + gpurt_block_rank()];

    if (gpurt_thread_rank() == 0)
        *word = *home;
    gpurt_block_barrier();
    for (uint32_t round = 0; round < PROBE_ATOMIC_ROUNDS; round++) {
        uint64_t v = probe_operand(kind, type, id, round);

        row[round] = probe_rmw(p->mode, (uint32_t)(id + round) & 3u, word, v);
    }
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        *home = *word;
}

/* A compare-and-swap that must fail: it says so, brings back the value and stores
 * nothing. */
#define PROBE_CAS_FAILS(T, t, first)                                               \
    do {                                                                           \
        T *place = (T *)&p->mem[(first) + id], expected = probe_value_##t(id + 1); \
                                                                                   \
        row[0] = gpurt_cas_acq_rel_dev_##t(place, &expected, probe_value_##t(7));  \
        row[1] = probe_bits_##t(expected);                                         \
        row[2] = probe_bits_##t(gpurt_load_relaxed_dev_##t(place));                \
        row += 3;                                                                  \
    } while (0)
GPURT_KERNEL(probe_cas_fails, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();

    PROBE_CAS_FAILS(uint32_t, u32, 0);
    PROBE_CAS_FAILS(int32_t, i32, 0);
    PROBE_CAS_FAILS(uint64_t, u64, 0);
    PROBE_CAS_FAILS(int64_t, i64, 0);
}

/* Updates that return nothing, each on a word of the lane's own: type, scope, order, op. */
#define PROBE_RED(op, o, s, t)                                                          \
    do {                                                                                \
        gpurt_store_relaxed_sys_##t(word_##t, probe_value_##t(probe_input(id, 2 * n))); \
        gpurt_red_##op##o##_##s##_##t(word_##t,                                         \
                                      probe_value_##t(probe_input(id, 2 * n + 1)));     \
        row[n] = gpurt_load_relaxed_sys_##t(word_##t);                                  \
        n++;                                                                            \
    } while (0)
#define PROBE_RED_OPS(o, s, t) \
    PROBE_RED(add_, o, s, t);  \
    PROBE_RED(and_, o, s, t);  \
    PROBE_RED(or_, o, s, t);   \
    PROBE_RED(xor_, o, s, t);  \
    PROBE_RED(min_, o, s, t);  \
    PROBE_RED(max_, o, s, t)
#define PROBE_RED_ORDERS(s, t)    \
    PROBE_RED_OPS(relaxed, s, t); \
    PROBE_RED_OPS(release, s, t)
#define PROBE_RED_SCOPES(t)   \
    PROBE_RED_ORDERS(blk, t); \
    PROBE_RED_ORDERS(clu, t); \
    PROBE_RED_ORDERS(dev, t); \
    PROBE_RED_ORDERS(sys, t)
GPURT_KERNEL(probe_red, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64(), *word_u64 = &p->mem[id];
    uint32_t *word_u32 = (uint32_t *)word_u64, n = 0;

    PROBE_RED_SCOPES(u32);
    PROBE_RED_SCOPES(u64);
}

/* Stores, then loads, through each name; a float's bits move as they are, NaNs too. */
#define PROBE_CELL(T, t, s)                                                        \
    do {                                                                           \
        T *place = (T *)&p->mem[id];                                               \
                                                                                   \
        gpurt_store_relaxed_##s##_##t(place, probe_value_##t(probe_input(id, n))); \
        row[n] = probe_bits_##t(gpurt_load_acquire_##s##_##t(place));              \
        n++;                                                                       \
        gpurt_store_release_##s##_##t(place, probe_value_##t(probe_input(id, n))); \
        row[n] = probe_bits_##t(gpurt_load_relaxed_##s##_##t(place));              \
        n++;                                                                       \
    } while (0)
#define PROBE_CELLS(T, t)  \
    PROBE_CELL(T, t, blk); \
    PROBE_CELL(T, t, clu); \
    PROBE_CELL(T, t, dev); \
    PROBE_CELL(T, t, sys)
GPURT_KERNEL(probe_cells, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t n = 0;

    PROBE_CELLS(uint32_t, u32);
    PROBE_CELLS(int32_t, i32);
    PROBE_CELLS(uint64_t, u64);
    PROBE_CELLS(int64_t, i64);
    PROBE_CELLS(float, f32);
    PROBE_CELLS(double, f64);
}

/* ---- 128 bits ------------------------------------------------------------------------ */
#if !GPURT_IN_DEVICE || __CUDA_ARCH__ >= 900
#    define PROBE_HAS_WIDE 1
#else
#    define PROBE_HAS_WIDE 0
#endif

#if PROBE_HAS_WIDE
/* Adds 1 to the low half and the lane's number to the high one, as one step. */
GPURT_DEV gpurt_u128_t probe_wide_add(gpurt_u128_t *place, uint32_t order, uint64_t id)
{
    gpurt_u128_t old = gpurt_load_relaxed_dev_u128(place);

    for (;;) {
        gpurt_u128_t next = {old.lo + 1, old.hi + id};

        if (order == 0   ? gpurt_cas_relaxed_dev_u128(place, &old, next)
            : order == 1 ? gpurt_cas_acquire_dev_u128(place, &old, next)
            : order == 2 ? gpurt_cas_release_dev_u128(place, &old, next)
                         : gpurt_cas_acq_rel_dev_u128(place, &old, next))
            return old;
        gpurt_relax();
    }
}
GPURT_DEV gpurt_u128_t probe_wide_swap(gpurt_u128_t *place, uint32_t order, gpurt_u128_t v)
{
    return order == 0   ? gpurt_xchg_relaxed_dev_u128(place, v)
           : order == 1 ? gpurt_xchg_acquire_dev_u128(place, v)
           : order == 2 ? gpurt_xchg_release_dev_u128(place, v)
                        : gpurt_xchg_acq_rel_dev_u128(place, v);
}
#endif

/* The word of compare-and-swap is at mem[0], that of exchange at mem[2]. */
GPURT_KERNEL(probe_wide, struct probe_args, p)
{
#if PROBE_HAS_WIDE
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t order = (uint32_t)id & 3u;
    gpurt_u128_t mine = {probe_input(id, 0), ~probe_input(id, 0)}, old;

    old = probe_wide_add((gpurt_u128_t *)p->mem, order, id);
    row[0] = old.lo;
    old = probe_wide_swap((gpurt_u128_t *)(p->mem + 2), order, mine);
    row[1] = old.lo;
    row[2] = ~old.hi;
#else
    (void)p;
#endif
}

/* Even lanes store pairs that belong together, odd ones load: no load may see two halves of
 * different stores. Row: how many loads did. */
GPURT_KERNEL(probe_wide_tear, struct probe_args, p)
{
    gpurt_u128_t *place = (gpurt_u128_t *)p->mem;
    uint64_t id = gpurt_global_id64(), torn = 0;

    for (uint32_t round = 0; round < 32; round++) {
        if (id & 1) {
            gpurt_u128_t seen = round & 1 ? gpurt_load_acquire_dev_u128(place)
                                          : gpurt_load_relaxed_sys_u128(place);

            torn += seen.hi != ~seen.lo;
        } else {
            gpurt_u128_t pair = {probe_input(id, round), ~probe_input(id, round)};

            if (round & 2)
                gpurt_store_release_dev_u128(place, pair);
            else
                gpurt_store_relaxed_sys_u128(place, pair);
        }
    }
    probe_row(p)[0] = torn;
}

/* The same, where a load is used in two of its four parts, which must not make two loads of it.
 * The shuffle keeps the load in a branch: there nvcc made two. */
GPURT_KERNEL(probe_wide_parts, struct probe_args, p)
{
    gpurt_u128_t *place = (gpurt_u128_t *)p->mem;
    uint64_t id = gpurt_global_id64(), torn = 0;

    for (uint32_t round = 0; round < 64; round++) {
        gpurt_u128_t pair = {probe_input(id, round), ~probe_input(id, round)};
        uint32_t low = 0, high = ~0u;

        if (gpurt_lane() < 16 + round % 8) {
            gpurt_u128_t seen = gpurt_load_relaxed_dev_u128(place);

            low = (uint32_t)seen.lo;
            high = (uint32_t)seen.hi;
        }
        torn += gpurt_shfl_xor_u32(GPURT_FULL_MASK, low ^ high, 1, 32) != ~0u;
        if (gpurt_lane() >= 28)
            gpurt_store_relaxed_dev_u128(place, pair);
    }
    probe_row(p)[0] = torn;
}

/* ---- order --------------------------------------------------------------------------- */
/* Message passing: even blocks write a plain word and then a flag, odd ones wait for the
 * flag and read the word. mode 0: release and acquire; 1: fences around relaxed
 * accesses. */
GPURT_KERNEL(probe_message, struct probe_args, p)
{
    uint32_t threads = gpurt_block_threads(), block = gpurt_block_rank();
    uint32_t slot = block / 2 * threads + gpurt_thread_rank();
    uint64_t *data = &p->mem[2 * slot], *flag = data + 1;

    if (block % 2 == 0) {
        *data = probe_input(slot, 0);
        if (p->mode == 0) {
            gpurt_store_release_dev_u64(flag, 1);
        } else {
            gpurt_fence_release_dev();
            gpurt_store_relaxed_dev_u64(flag, 1); /* the fence before it orders */
        }
    } else if (p->mode == 0) {
        while (gpurt_load_acquire_dev_u64(flag) == 0)
            gpurt_relax();
    } else {
        while (gpurt_load_relaxed_dev_u64(flag) == 0) /* the fence after the loop orders */
            gpurt_relax();
        gpurt_fence_acquire_dev();
    }
    probe_row(p)[0] = *data;
}
