/* SPDX-License-Identifier: Apache-2.0 */
/* dialect_simt.h - the dialect on the CPU: every word a call into the SIMT executor.
 *
 * Included through dialect.h only. What each name means stands in ids.h, warp.h, block.h,
 * clock.h and kernel.h; the executor is runtime/simt. Operations at which a lane can wait are
 * macros so that they carry their source line into reports. */
#ifndef GPURT_DIALECT_SIMT_H
#define GPURT_DIALECT_SIMT_H

#include <gpurt/atomic.h>
#include <gpurt/base.h>
#include <gpurt/impl/guard.h>
#include <gpurt/impl/spot.h>
#include <gpurt/kernel.h>

/* What device code may read of its place. Owner: the executor.
 * Shared with: the lanes of the block, read-only from block start to block end. */
typedef struct gpurt_simt_block {
    gpurt_dim3_t index, dim, grid;
    uint32_t sm, cluster_rank, cluster_size;
    uint32_t device;    /* among those that the process has open */
    uint64_t launch;    /* number of the launch on its device, from 1 */
    const char *kernel; /* NULL: outside of one */
} gpurt_simt_block_t;

typedef struct gpurt_simt_lane {
    gpurt_dim3_t thread;
    uint32_t lane, warp_slot;
    const gpurt_simt_block_t *block;
} gpurt_simt_lane_t;

/* A panic as its lane tells it to the executor. Owner: the lane, during the call. */
typedef struct gpurt_simt_panic {
    const char *format, *file, *condition, *function; /* condition: NULL: none */
    const uint64_t *args;                             /* one a word, as types says */
    uint64_t types;
    uint32_t line, arg_count, own, category, mask, failed; /* as in panic.h */
} gpurt_simt_panic_t;

enum {
    GPURT_SIMT_SYNCWARP,
    GPURT_SIMT_BALLOT,
    GPURT_SIMT_MATCH_ANY,
    GPURT_SIMT_MATCH_ALL,
    GPURT_SIMT_SHFL_IDX,
    GPURT_SIMT_SHFL_UP,
    GPURT_SIMT_SHFL_DOWN,
    GPURT_SIMT_SHFL_XOR,
    GPURT_SIMT_REDUCE = 64 /* + GPURT_SIMT_REDUCE_CODE(kind, type) */
};
enum {
    GPURT_SIMT_ADD,
    GPURT_SIMT_MIN,
    GPURT_SIMT_MAX,
    GPURT_SIMT_AND,
    GPURT_SIMT_OR,
    GPURT_SIMT_XOR
};
enum {
    GPURT_SIMT_U32,
    GPURT_SIMT_I32,
    GPURT_SIMT_U64,
    GPURT_SIMT_I64,
    GPURT_SIMT_F32,
    GPURT_SIMT_F64
};
#define GPURT_SIMT_REDUCE_CODE(kind, type) (GPURT_SIMT_REDUCE + (kind)*8 + (type))

/* What a block barrier returns to every thread. */
enum {
    GPURT_SIMT_COUNT,
    GPURT_SIMT_EVERY,
    GPURT_SIMT_SOME
};

GPURT_BEGIN_DECLS

/* The lane that runs on this thread; outside a kernel a single lane at the origin. */
extern GPURT_TLS const gpurt_simt_lane_t *gpurt_simt_self; /* written by: the executor */

uint64_t gpurt_simt_warp_op(uint32_t op, uint32_t mask, uint64_t value, uint32_t arg,
                            const char *site);
uint32_t gpurt_simt_activemask(const char *site);
uint32_t gpurt_simt_block_barrier(uint32_t answer, bool predicate, const char *site);
void gpurt_simt_named_barrier(uint32_t id, uint32_t threads, bool wait, const char *site);
void gpurt_simt_cluster_barrier(const char *site);
void *gpurt_simt_cluster_shared(void *object, uint32_t rank, const char *site);
void gpurt_simt_grid_barrier(const char *site);
void gpurt_simt_relax(const char *site);
void gpurt_simt_pause(const char *site);
void gpurt_simt_pause_until(const char *kind, const char *name, uint64_t until_ns,
                            const char *site);
void gpurt_simt_relax_until(uint64_t until_ns, const char *site);
void gpurt_simt_host_pause(uint64_t left_ns, const char *site);      /* hostword.h */
void gpurt_simt_host_pause_held(uint64_t left_ns, const char *site); /* hostcallcore.h */
void gpurt_simt_park(const gpurt_spot_t *spot);                      /* spot.h */
uint32_t gpurt_simt_unpark(const void *word, uint32_t key, uint32_t most);
void gpurt_simt_unpark_stopped(const int32_t *stop);
bool gpurt_simt_is_shared(const void *p);
void gpurt_simt_host_wake(void);
void gpurt_simt_peer_wake(void); /* peerlook.h */
void *gpurt_simt_shared(const void *key, size_t bytes, const char *site);
void *gpurt_simt_shared_dyn(void);
uint64_t gpurt_simt_clock(void);
uint64_t gpurt_simt_globaltimer(void);
void gpurt_simt_exit(void) GPURT_NORETURN;
void gpurt_simt_cancel_block(void);
bool gpurt_simt_cancelled(void);
void gpurt_simt_trap(const char *site) GPURT_NORETURN;
/* Counts it, and keeps the first for gpurt-check. Returns at once where that does not run. */
void gpurt_simt_panic(const gpurt_simt_panic_t *panic);
bool gpurt_simt_in_kernel(void); /* whether a lane runs on this thread */
/* unwind.h, defer.h */
void gpurt_simt_guard_bind(gpurt_guard_t *guard, uint32_t attempt);
gpurt_guard_t *gpurt_simt_guard_here(void);
void gpurt_simt_stop_kernel(uint32_t why);
void gpurt_simt_leave(void) GPURT_NORETURN; /* runs what was deferred, and ends the lane */
bool gpurt_simt_in_deferred(void);
bool gpurt_simt_defer(uint32_t mask, uint32_t scope, void (*handler)(uint64_t),
                      uint64_t arg, uint32_t depth);
void gpurt_simt_forget(uint32_t mask, void (*handler)(uint64_t), uint64_t arg);
uint32_t gpurt_simt_undefer(uint32_t mask, uint32_t scope, uint32_t most, bool run);

GPURT_END_DECLS

/* ---- ids.h ------------------------------------------------------------------------------- */
#define GPURT_SIMT_ID(name, field)        \
    GPURT_DEV uint32_t gpurt_##name(void) \
    {                                     \
        return gpurt_simt_self->field;    \
    }
GPURT_SIMT_ID(device_copy, block->device)
GPURT_SIMT_ID(thread_x, thread.x)
GPURT_SIMT_ID(thread_y, thread.y)
GPURT_SIMT_ID(thread_z, thread.z)
GPURT_SIMT_ID(block_x, block->index.x)
GPURT_SIMT_ID(block_y, block->index.y)
GPURT_SIMT_ID(block_z, block->index.z)
GPURT_SIMT_ID(block_dim_x, block->dim.x)
GPURT_SIMT_ID(block_dim_y, block->dim.y)
GPURT_SIMT_ID(block_dim_z, block->dim.z)
GPURT_SIMT_ID(grid_dim_x, block->grid.x)
GPURT_SIMT_ID(grid_dim_y, block->grid.y)
GPURT_SIMT_ID(grid_dim_z, block->grid.z)
GPURT_SIMT_ID(lane, lane)
GPURT_SIMT_ID(sm, block->sm)
GPURT_SIMT_ID(warp_slot, warp_slot)
GPURT_SIMT_ID(cluster_rank, block->cluster_rank)
GPURT_SIMT_ID(cluster_size, block->cluster_size)
GPURT_DEV uint64_t gpurt_launch_number(void)
{
    return gpurt_simt_self->block->launch;
}
GPURT_DEV const char *gpurt_kernel_name(void)
{
    return gpurt_simt_self->block->kernel;
}

/* ---- channel.h -------------------------------------------------------------------------- */
GPURT_DEV void gpurt_pause_for(uint32_t pauses, const char *kind, const char *name,
                               uint64_t until_ns, const char *here)
{
    (void)pauses; /* the other lanes take their turns */
    gpurt_simt_pause_until(kind, name, until_ns, here);
}

/* ---- hostword.h ------------------------------------------------------------------------- */
GPURT_DEV void gpurt_host_pause(uint32_t turn, uint64_t left_ns, const char *here)
{
    (void)turn; /* the worker's naps grow */
    gpurt_simt_host_pause(left_ns, here);
}
GPURT_DEV void gpurt_host_pause_held(uint32_t turn, uint64_t left_ns, const char *here)
{
    (void)turn;
    gpurt_simt_host_pause_held(left_ns, here);
}
enum {
    GPURT_HOST_TURNS_TOLD = 1
};
/* Looks in vain before a sleep: who looks takes the processor from who works. */
enum {
    GPURT_IDLE_LOOKS = 2
};
/* Its words are near: everyone looks at them. */
GPURT_DEV bool gpurt_host_due(uint32_t *next)
{
    (void)next;
    return true;
}
GPURT_DEV void gpurt_host_looked(uint32_t *next)
{
    (void)next;
}
GPURT_DEV void gpurt_host_wake(void)
{
    gpurt_simt_host_wake();
}
GPURT_DEV void gpurt_peer_wake(void)
{
    gpurt_simt_peer_wake();
}

/* ---- spot.h ------------------------------------------------------------------------------ */
GPURT_DEV void gpurt_park(const gpurt_spot_t *spot, uint32_t turn)
{
    (void)turn; /* it sleeps */
    gpurt_simt_park(spot);
}
GPURT_DEV uint32_t gpurt_unpark(const void *word, uint32_t key, uint32_t most)
{
    return gpurt_simt_unpark(word, key, most);
}
GPURT_DEV void gpurt_unpark_stopped(const int32_t *stop)
{
    gpurt_simt_unpark_stopped(stop);
}
/* Where something was taken, for reports of the CPU back end alone. */
GPURT_DEV void gpurt_taken_at(const char **at, const char *here)
{
    /* relaxed: who watches the lock reads it meanwhile */
    gpurt_store_relaxed_dev_u64((uint64_t *)at, (uint64_t)(uintptr_t)here);
}
GPURT_DEV bool gpurt_is_shared(const void *p)
{
    return gpurt_simt_is_shared(p);
}
GPURT_DEV bool gpurt_is_local(const void *p)
{
    (void)p; /* a lane's stack is memory as any other */
    return false;
}

/* ---- warp.h: bits ------------------------------------------------------------------------ */
GPURT_DEV uint32_t gpurt_popc(uint32_t v)
{
    return (uint32_t)__builtin_popcount(v);
}
GPURT_DEV uint32_t gpurt_popc64(uint64_t v)
{
    return (uint32_t)__builtin_popcountll(v);
}
GPURT_DEV uint32_t gpurt_ctz(uint32_t v)
{
    return v ? (uint32_t)__builtin_ctz(v) : 32u;
}
GPURT_DEV uint32_t gpurt_ctz64(uint64_t v)
{
    return v ? (uint32_t)__builtin_ctzll(v) : 64u;
}
GPURT_DEV uint32_t gpurt_clz(uint32_t v)
{
    return v ? (uint32_t)__builtin_clz(v) : 32u;
}
GPURT_DEV uint32_t gpurt_clz64(uint64_t v)
{
    return v ? (uint32_t)__builtin_clzll(v) : 64u;
}
GPURT_DEV uint32_t gpurt_log2(uint32_t v)
{
    return v ? 31u - (uint32_t)__builtin_clz(v) : ~0u;
}

/* A value travels through the executor as 64 bits. */
#define GPURT_SIMT_PUN(T, t, bits)                     \
    GPURT_DEV uint64_t gpurt_simt_put_##t(T value)     \
    {                                                  \
        bits word;                                     \
                                                       \
        __builtin_memcpy(&word, &value, sizeof word);  \
        return word;                                   \
    }                                                  \
    GPURT_DEV T gpurt_simt_get_##t(uint64_t wide)      \
    {                                                  \
        bits word = (bits)wide;                        \
        T value;                                       \
                                                       \
        __builtin_memcpy(&value, &word, sizeof value); \
        return value;                                  \
    }
GPURT_SIMT_PUN(uint32_t, u32, uint32_t)
GPURT_SIMT_PUN(int32_t, i32, uint32_t)
GPURT_SIMT_PUN(uint64_t, u64, uint64_t)
GPURT_SIMT_PUN(int64_t, i64, uint64_t)
GPURT_SIMT_PUN(float, f32, uint32_t)
GPURT_SIMT_PUN(double, f64, uint64_t)

/* ---- warp.h: votes and matches ----------------------------------------------------------- */
#define gpurt_syncwarp(mask) \
    ((void)gpurt_simt_warp_op(GPURT_SIMT_SYNCWARP, mask, 0, 0, GPURT_HERE))
#define gpurt_activemask()     gpurt_simt_activemask(GPURT_HERE)
#define gpurt_activemask_now() gpurt_simt_activemask(GPURT_HERE)
#define gpurt_ballot(mask, predicate)                                                \
    ((uint32_t)gpurt_simt_warp_op(GPURT_SIMT_BALLOT, mask, (predicate) ? 1u : 0u, 0, \
                                  GPURT_HERE))
#define gpurt_any(mask, predicate) (gpurt_ballot(mask, predicate) != 0)
#define gpurt_all(mask, predicate) (gpurt_ballot(mask, !(predicate)) == 0)
#define gpurt_match_any_u32(mask, v)                                                    \
    ((uint32_t)gpurt_simt_warp_op(GPURT_SIMT_MATCH_ANY, mask, gpurt_simt_put_u32(v), 0, \
                                  GPURT_HERE))
#define gpurt_match_any_u64(mask, v)                                                    \
    ((uint32_t)gpurt_simt_warp_op(GPURT_SIMT_MATCH_ANY, mask, gpurt_simt_put_u64(v), 0, \
                                  GPURT_HERE))
#define gpurt_match_all_u32(mask, v, same) \
    gpurt_simt_match_all(mask, gpurt_simt_put_u32(v), same, GPURT_HERE)
#define gpurt_match_all_u64(mask, v, same) \
    gpurt_simt_match_all(mask, gpurt_simt_put_u64(v), same, GPURT_HERE)
GPURT_DEV uint32_t gpurt_simt_match_all(uint32_t mask, uint64_t v, bool *same,
                                        const char *site)
{
    uint32_t lanes = (uint32_t)gpurt_simt_warp_op(GPURT_SIMT_MATCH_ALL, mask, v, 0, site);

    *same = lanes != 0;
    return lanes;
}

/* ---- warp.h: shuffles -------------------------------------------------------------------- */
#define GPURT_SIMT_SHFL(kind, t, mask, v, by, width)                            \
    gpurt_simt_get_##t(                                                         \
        gpurt_simt_warp_op(GPURT_SIMT_SHFL_##kind, mask, gpurt_simt_put_##t(v), \
                           ((uint32_t)(by)&31u) | (uint32_t)(width) << 8, GPURT_HERE))
#define gpurt_shfl_u32(mask, v, lane) GPURT_SIMT_SHFL(IDX, u32, mask, v, lane, 32)
#define gpurt_shfl_i32(mask, v, lane) GPURT_SIMT_SHFL(IDX, i32, mask, v, lane, 32)
#define gpurt_shfl_u64(mask, v, lane) GPURT_SIMT_SHFL(IDX, u64, mask, v, lane, 32)
#define gpurt_shfl_i64(mask, v, lane) GPURT_SIMT_SHFL(IDX, i64, mask, v, lane, 32)
#define gpurt_shfl_f32(mask, v, lane) GPURT_SIMT_SHFL(IDX, f32, mask, v, lane, 32)
#define gpurt_shfl_f64(mask, v, lane) GPURT_SIMT_SHFL(IDX, f64, mask, v, lane, 32)
#define gpurt_shfl_idx_u32(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, u32, mask, v, lane, width)
#define gpurt_shfl_idx_i32(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, i32, mask, v, lane, width)
#define gpurt_shfl_idx_u64(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, u64, mask, v, lane, width)
#define gpurt_shfl_idx_i64(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, i64, mask, v, lane, width)
#define gpurt_shfl_idx_f32(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, f32, mask, v, lane, width)
#define gpurt_shfl_idx_f64(mask, v, lane, width) \
    GPURT_SIMT_SHFL(IDX, f64, mask, v, lane, width)
#define gpurt_shfl_up_u32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, u32, mask, v, delta, width)
#define gpurt_shfl_up_i32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, i32, mask, v, delta, width)
#define gpurt_shfl_up_u64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, u64, mask, v, delta, width)
#define gpurt_shfl_up_i64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, i64, mask, v, delta, width)
#define gpurt_shfl_up_f32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, f32, mask, v, delta, width)
#define gpurt_shfl_up_f64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(UP, f64, mask, v, delta, width)
#define gpurt_shfl_down_u32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, u32, mask, v, delta, width)
#define gpurt_shfl_down_i32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, i32, mask, v, delta, width)
#define gpurt_shfl_down_u64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, u64, mask, v, delta, width)
#define gpurt_shfl_down_i64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, i64, mask, v, delta, width)
#define gpurt_shfl_down_f32(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, f32, mask, v, delta, width)
#define gpurt_shfl_down_f64(mask, v, delta, width) \
    GPURT_SIMT_SHFL(DOWN, f64, mask, v, delta, width)
#define gpurt_shfl_xor_u32(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, u32, mask, v, bits, width)
#define gpurt_shfl_xor_i32(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, i32, mask, v, bits, width)
#define gpurt_shfl_xor_u64(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, u64, mask, v, bits, width)
#define gpurt_shfl_xor_i64(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, i64, mask, v, bits, width)
#define gpurt_shfl_xor_f32(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, f32, mask, v, bits, width)
#define gpurt_shfl_xor_f64(mask, v, bits, width) \
    GPURT_SIMT_SHFL(XOR, f64, mask, v, bits, width)

/* ---- warp.h: reductions ------------------------------------------------------------------ */
#define GPURT_SIMT_FOLD(kind, TYPE, t, mask, v)                                          \
    gpurt_simt_get_##t(                                                                  \
        gpurt_simt_warp_op(GPURT_SIMT_REDUCE_CODE(GPURT_SIMT_##kind, GPURT_SIMT_##TYPE), \
                           mask, gpurt_simt_put_##t(v), 0, GPURT_HERE))
#define gpurt_reduce_add_u32(mask, v) GPURT_SIMT_FOLD(ADD, U32, u32, mask, v)
#define gpurt_reduce_add_i32(mask, v) GPURT_SIMT_FOLD(ADD, I32, i32, mask, v)
#define gpurt_reduce_add_u64(mask, v) GPURT_SIMT_FOLD(ADD, U64, u64, mask, v)
#define gpurt_reduce_add_i64(mask, v) GPURT_SIMT_FOLD(ADD, I64, i64, mask, v)
#define gpurt_reduce_add_f32(mask, v) GPURT_SIMT_FOLD(ADD, F32, f32, mask, v)
#define gpurt_reduce_add_f64(mask, v) GPURT_SIMT_FOLD(ADD, F64, f64, mask, v)
#define gpurt_reduce_min_u32(mask, v) GPURT_SIMT_FOLD(MIN, U32, u32, mask, v)
#define gpurt_reduce_min_i32(mask, v) GPURT_SIMT_FOLD(MIN, I32, i32, mask, v)
#define gpurt_reduce_min_u64(mask, v) GPURT_SIMT_FOLD(MIN, U64, u64, mask, v)
#define gpurt_reduce_min_i64(mask, v) GPURT_SIMT_FOLD(MIN, I64, i64, mask, v)
#define gpurt_reduce_min_f32(mask, v) GPURT_SIMT_FOLD(MIN, F32, f32, mask, v)
#define gpurt_reduce_min_f64(mask, v) GPURT_SIMT_FOLD(MIN, F64, f64, mask, v)
#define gpurt_reduce_max_u32(mask, v) GPURT_SIMT_FOLD(MAX, U32, u32, mask, v)
#define gpurt_reduce_max_i32(mask, v) GPURT_SIMT_FOLD(MAX, I32, i32, mask, v)
#define gpurt_reduce_max_u64(mask, v) GPURT_SIMT_FOLD(MAX, U64, u64, mask, v)
#define gpurt_reduce_max_i64(mask, v) GPURT_SIMT_FOLD(MAX, I64, i64, mask, v)
#define gpurt_reduce_max_f32(mask, v) GPURT_SIMT_FOLD(MAX, F32, f32, mask, v)
#define gpurt_reduce_max_f64(mask, v) GPURT_SIMT_FOLD(MAX, F64, f64, mask, v)
#define gpurt_reduce_and_u32(mask, v) GPURT_SIMT_FOLD(AND, U32, u32, mask, v)
#define gpurt_reduce_and_u64(mask, v) GPURT_SIMT_FOLD(AND, U64, u64, mask, v)
#define gpurt_reduce_or_u32(mask, v)  GPURT_SIMT_FOLD(OR, U32, u32, mask, v)
#define gpurt_reduce_or_u64(mask, v)  GPURT_SIMT_FOLD(OR, U64, u64, mask, v)
#define gpurt_reduce_xor_u32(mask, v) GPURT_SIMT_FOLD(XOR, U32, u32, mask, v)
#define gpurt_reduce_xor_u64(mask, v) GPURT_SIMT_FOLD(XOR, U64, u64, mask, v)

/* ---- combine.h: two values, as the reductions above combine them ------------------------- */
/* Signed sums wrap, as on a GPU. A float's operand is one that the compiler knows nothing of: it
 * may not fuse the sum with a multiplication at the call. */
#define GPURT_SIMT_ADD_INT(T, U, a, b) ((T)((U)(a) + (U)(b)))
#define GPURT_SIMT_PAIR_INT(T, U, t)                  \
    GPURT_DEV T gpurt_pair_add_##t(T left, T right)   \
    {                                                 \
        return GPURT_SIMT_ADD_INT(T, U, left, right); \
    }                                                 \
    GPURT_DEV T gpurt_pair_min_##t(T left, T right)   \
    {                                                 \
        return right < left ? right : left;           \
    }                                                 \
    GPURT_DEV T gpurt_pair_max_##t(T left, T right)   \
    {                                                 \
        return right > left ? right : left;           \
    }
GPURT_SIMT_PAIR_INT(uint32_t, uint32_t, u32)
GPURT_SIMT_PAIR_INT(int32_t, uint32_t, i32)
GPURT_SIMT_PAIR_INT(uint64_t, uint64_t, u64)
GPURT_SIMT_PAIR_INT(int64_t, uint64_t, i64)
/* A number wins over a NaN, and -0 is below +0. */
#define GPURT_SIMT_PAIR_FLOAT(T, t)                                                        \
    GPURT_DEV T gpurt_pair_add_##t(T left, T right)                                        \
    {                                                                                      \
        __asm__("" : "+m"(left), "+m"(right));                                             \
        return left + right;                                                               \
    }                                                                                      \
    GPURT_DEV T gpurt_pair_min_##t(T left, T right)                                        \
    {                                                                                      \
        if (left != left || right != right)                                                \
            return left != left ? right : left;                                            \
        return right < left || (right == left && __builtin_signbit(right)) ? right : left; \
    }                                                                                      \
    GPURT_DEV T gpurt_pair_max_##t(T left, T right)                                        \
    {                                                                                      \
        if (left != left || right != right)                                                \
            return left != left ? right : left;                                            \
        return right > left || (right == left && !__builtin_signbit(right)) ? right        \
                                                                            : left;        \
    }
GPURT_SIMT_PAIR_FLOAT(float, f32)
GPURT_SIMT_PAIR_FLOAT(double, f64)

/* ---- block.h ----------------------------------------------------------------------------- */
#define gpurt_block_barrier() \
    ((void)gpurt_simt_block_barrier(GPURT_SIMT_COUNT, false, GPURT_HERE))
#define gpurt_block_barrier_count(predicate) \
    gpurt_simt_block_barrier(GPURT_SIMT_COUNT, (predicate) ? true : false, GPURT_HERE)
#define gpurt_block_barrier_and(predicate)                                                 \
    (gpurt_simt_block_barrier(GPURT_SIMT_EVERY, (predicate) ? true : false, GPURT_HERE) != \
     0)
#define gpurt_block_barrier_or(predicate) \
    (gpurt_simt_block_barrier(GPURT_SIMT_SOME, (predicate) ? true : false, GPURT_HERE) != 0)
#define gpurt_named_barrier(id, threads) \
    gpurt_simt_named_barrier(id, threads, true, GPURT_HERE)
#define gpurt_named_arrive(id, threads) \
    gpurt_simt_named_barrier(id, threads, false, GPURT_HERE)
#define gpurt_cluster_barrier() gpurt_simt_cluster_barrier(GPURT_HERE)
#define gpurt_cluster_shared(object, rank) \
    gpurt_simt_cluster_shared(object, rank, GPURT_HERE)
#define gpurt_grid_barrier() gpurt_simt_grid_barrier(GPURT_HERE)
#define gpurt_relax()        gpurt_simt_relax(GPURT_HERE)
/* In a wait that ends at that time of gpurt_globaltimer, which is no livelock until then. */
#define gpurt_relax_until(until_ns) gpurt_simt_relax_until(until_ns, GPURT_HERE)
#define gpurt_let_arrive()          ((void)0)
#define gpurt_pause()               gpurt_simt_pause(GPURT_HERE)
#define gpurt_soon(p)               __builtin_prefetch(p)
#define gpurt_thread_exit()         gpurt_simt_exit()
#define gpurt_cancel_block()        gpurt_simt_cancel_block()
#define gpurt_cancelled()           gpurt_simt_cancelled()
#define gpurt_safe_point()          gpurt_cancel_point()
#define gpurt_cancel_point()   \
    do {                       \
        if (gpurt_cancelled()) \
            gpurt_leave();     \
    } while (0)

/* ---- guard.h, unwind.h, defer.h: what the executor does of it ------------------------------- */
#define gpurt_guard_bind(guard, attempt) gpurt_simt_guard_bind(guard, attempt)
#define gpurt_guard_here()               gpurt_simt_guard_here()
#define gpurt_stop_kernel(why)           gpurt_simt_stop_kernel(why)
#define gpurt_must_trap()                GPURT_TRAP_NEVER /* all barriers know who is gone */
#define gpurt_in_deferred()              gpurt_simt_in_deferred()
#define gpurt_leave()                    gpurt_simt_leave()
#define gpurt_defer_note(mask, scope, handler, arg) \
    gpurt_simt_defer(mask, scope, handler, arg, GPURT_DEFER_DEPTH)
#define gpurt_defer_forget(mask, handler, arg)   gpurt_simt_forget(mask, handler, arg)
#define gpurt_defer_drop(mask, scope, most, run) gpurt_simt_undefer(mask, scope, most, run)
#define gpurt_trap()                             gpurt_simt_trap(GPURT_HERE)

#define GPURT_TABLE static __attribute__((unused))

/* The key is an object of its own, so two uses never share storage. */
#define GPURT_SHARED(type, name, count) \
    static char name##_key_;            \
    type *const name =                  \
        (type *)gpurt_simt_shared(&name##_key_, sizeof(type) * (count), GPURT_HERE)
#define GPURT_SHARED_DYN(type, name) type *const name = (type *)gpurt_simt_shared_dyn()

/* ---- logturn.h ------------------------------------------------------------------------- */
#define GPURT_TURNS 1
/* Between two looks other lanes of the warp go on; where all wait, a look costs 0.1 ms. */
#define GPURT_TURN_PASSES (1u << 11)
GPURT_BEGIN_DECLS
extern char gpurt_simt_turns; /* stands for a block's turns; shared.c */
GPURT_END_DECLS
typedef uint32_t *gpurt_turn_t;
#define gpurt_turn_of(warp)                                                               \
    ((uint32_t *)gpurt_simt_shared(&gpurt_simt_turns, GPURT_WARP_SIZE * sizeof(uint32_t), \
                                   GPURT_HERE) +                                          \
     (warp))
#define gpurt_turn_key(place)      ((void)(place), 0x7475726eu)
#define gpurt_turn_xchg(turn, key) gpurt_xchg_acquire_blk_u32(turn, key) /* LT1.acq */
#define gpurt_turn_store(turn, v)  gpurt_store_release_blk_u32(turn, v)  /* LT1.rel */

/* ---- clock.h ----------------------------------------------------------------------------- */
#define gpurt_clock()       gpurt_simt_clock()
#define gpurt_globaltimer() gpurt_simt_globaltimer()

/* ---- panic.h ----------------------------------------------------------------------------- */
typedef const void *gpurt_frame_t;
GPURT_DEV gpurt_frame_t gpurt_frame_of(const void *variable)
{
    return variable;
}
GPURT_DEV const void *gpurt_frame_at(gpurt_frame_t frame)
{
    return frame;
}

/* ---- kernel.h ---------------------------------------------------------------------------- */
#define GPURT_KERNEL(kernel, args_type, p) \
    GPURT_KERNEL_WRAPPED_(kernel, args_type, args_type, 0, p)
#define GPURT_KERNEL_FIT(kernel, args_type, p, threads, blocks) \
    GPURT_KERNEL(kernel, args_type, p)
#define GPURT_KERNEL_LEAN(kernel, args_type, p, registers) \
    GPURT_KERNEL(kernel, args_type, p)
/* whole: what is passed, with the struct `offset` bytes into it (unwind.h). */
#define GPURT_KERNEL_WRAPPED_(kernel, args_type, whole, offset, p)    \
    GPURT_KERNEL_DECLARE(kernel, args_type);                          \
    static void gpurt_body_of_##kernel(const whole *p);               \
    GPURT_EXTERN_C_ void gpurt_cpu_##kernel(const void *gpurt_args_); \
    GPURT_EXTERN_C_ const void *const gpurt_cuda_##kernel GPURT_WEAK; \
    void gpurt_cpu_##kernel(const void *gpurt_args_)                  \
    {                                                                 \
        gpurt_body_of_##kernel((const whole *)gpurt_args_);           \
    }                                                                 \
    GPURT_KERNEL_DESCRIBE_(kernel, offset);                           \
    static void gpurt_body_of_##kernel(const whole *p)

#endif
