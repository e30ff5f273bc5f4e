/* SPDX-License-Identifier: Apache-2.0 */
/* dialect_cuda.h - the dialect on a GPU: every word one intrinsic or one PTX
 * instruction.
 *
 * Included through dialect.h only, and read by nvcc only. What each name means stands in
 * ids.h, warp.h, block.h, clock.h and kernel.h. tests/gpu/sass_equal.sh holds each
 * wrapper to the machine code of the bare instruction. Nothing here allocates, and
 * nothing needs a runtime: plain CUDA C++ uses it as it is. */
#ifndef GPURT_DIALECT_CUDA_H
#define GPURT_DIALECT_CUDA_H

#include <gpurt/atomic.h>
#include <gpurt/base.h>
#include <gpurt/impl/spot.h>
#include <gpurt/kernel.h>

/* What the GPU that code is generated for can do; 0 where host code is generated. */
#if GPURT_IN_DEVICE
#    define GPURT_CUDA_ARCH __CUDA_ARCH__
#else
#    define GPURT_CUDA_ARCH 0
#endif

/* ---- ids.h --------------------------------------------------------------------------- */
#define GPURT_CUDA_ID(name, expression)               \
    GPURT_DEV uint32_t gpurt_##name(void) GPURT_QUIET \
    {                                                 \
        return expression;                            \
    }
GPURT_CUDA_ID(device_copy, 0)
GPURT_CUDA_ID(thread_x, threadIdx.x)
GPURT_CUDA_ID(thread_y, threadIdx.y)
GPURT_CUDA_ID(thread_z, threadIdx.z)
GPURT_CUDA_ID(block_x, blockIdx.x)
GPURT_CUDA_ID(block_y, blockIdx.y)
GPURT_CUDA_ID(block_z, blockIdx.z)
GPURT_CUDA_ID(block_dim_x, blockDim.x)
GPURT_CUDA_ID(block_dim_y, blockDim.y)
GPURT_CUDA_ID(block_dim_z, blockDim.z)
GPURT_CUDA_ID(grid_dim_x, gridDim.x)
GPURT_CUDA_ID(grid_dim_y, gridDim.y)
GPURT_CUDA_ID(grid_dim_z, gridDim.z)

#define GPURT_CUDA_REGISTER(name, word, reg)          \
    GPURT_DEV uint32_t gpurt_##name(void) GPURT_QUIET \
    {                                                 \
        uint32_t value;                               \
                                                      \
        word("mov.u32 %0, %%" reg ";" : "=r"(value)); \
        return value;                                 \
    }
GPURT_CUDA_REGISTER(lane, asm, "laneid")
/* Volatile: the two may change when a preempted warp comes back elsewhere. */
GPURT_CUDA_REGISTER(sm, asm volatile, "smid")
GPURT_CUDA_REGISTER(warp_slot, asm volatile, "warpid")
#if GPURT_CUDA_ARCH >= 900
GPURT_CUDA_REGISTER(cluster_rank, asm, "cluster_ctarank")
GPURT_CUDA_REGISTER(cluster_size, asm, "cluster_nctarank")
#else
GPURT_CUDA_ID(cluster_rank, 0u)
GPURT_CUDA_ID(cluster_size, 1u)
#endif

/* ---- warp.h: bits -------------------------------------------------------------------- */
GPURT_DEV uint32_t gpurt_popc(uint32_t v)
{
    return (uint32_t)__popc(v);
}
GPURT_DEV uint32_t gpurt_popc64(uint64_t v)
{
    return (uint32_t)__popcll(v);
}
/* Counting from the top of the reversed word gives the width for 0 with no test. */
GPURT_DEV uint32_t gpurt_ctz(uint32_t v)
{
    return (uint32_t)__clz((int)__brev(v));
}
GPURT_DEV uint32_t gpurt_ctz64(uint64_t v)
{
    return (uint32_t)__clzll((long long)__brevll(v));
}
GPURT_DEV uint32_t gpurt_clz(uint32_t v)
{
    return (uint32_t)__clz((int)v);
}
GPURT_DEV uint32_t gpurt_clz64(uint64_t v)
{
    return (uint32_t)__clzll((long long)v);
}
/* What the hardware finds is the place, of which __clz makes the zeros above. */
GPURT_DEV uint32_t gpurt_log2(uint32_t v)
{
    uint32_t place;

    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(v));
    return place;
}

/* ---- warp.h: votes and matches ------------------------------------------------------- */
GPURT_DEV void gpurt_syncwarp(uint32_t mask)
{
    __syncwarp(mask);
}
/* The caller's own bit is set anyhow. With it the mask is each lane's own to ptxas, which else
 * takes the answer for one value of all lanes that run together, also behind a branch: before a
 * shuffle it then asks a single mask whether all have come, and lanes read of a leader that has
 * not. Masks that are made of this one are safe, too. */
GPURT_DEV uint32_t gpurt_activemask(void)
{
    return __activemask() | 1u << gpurt_lane();
}
/* The bare answer, for who compares it, or gives it to one operation that stands right behind. */
GPURT_DEV uint32_t gpurt_activemask_now(void)
{
    return __activemask();
}
GPURT_DEV uint32_t gpurt_ballot(uint32_t mask, bool predicate)
{
    return __ballot_sync(mask, predicate);
}
GPURT_DEV bool gpurt_any(uint32_t mask, bool predicate)
{
    return __any_sync(mask, predicate) != 0;
}
GPURT_DEV bool gpurt_all(uint32_t mask, bool predicate)
{
    return __all_sync(mask, predicate) != 0;
}

#define GPURT_CUDA_MATCH(T, t)                                             \
    GPURT_DEV uint32_t gpurt_match_any_##t(uint32_t mask, T v)             \
    {                                                                      \
        return __match_any_sync(mask, v);                                  \
    }                                                                      \
    GPURT_DEV uint32_t gpurt_match_all_##t(uint32_t mask, T v, bool *same) \
    {                                                                      \
        int agreed;                                                        \
        uint32_t lanes = __match_all_sync(mask, v, &agreed);               \
                                                                           \
        *same = agreed != 0;                                               \
        return lanes;                                                      \
    }
GPURT_CUDA_MATCH(uint32_t, u32)
GPURT_CUDA_MATCH(uint64_t, u64)

/* ---- warp.h: shuffles ---------------------------------------------------------------- */
#define GPURT_CUDA_SHFL(T, t)                                                           \
    GPURT_DEV T gpurt_shfl_##t(uint32_t mask, T v, uint32_t lane)                       \
    {                                                                                   \
        return __shfl_sync(mask, v, (int)lane);                                         \
    }                                                                                   \
    GPURT_DEV T gpurt_shfl_idx_##t(uint32_t mask, T v, uint32_t lane, uint32_t width)   \
    {                                                                                   \
        return __shfl_sync(mask, v, (int)lane, (int)width);                             \
    }                                                                                   \
    GPURT_DEV T gpurt_shfl_up_##t(uint32_t mask, T v, uint32_t delta, uint32_t width)   \
    {                                                                                   \
        return __shfl_up_sync(mask, v, delta, (int)width);                              \
    }                                                                                   \
    GPURT_DEV T gpurt_shfl_down_##t(uint32_t mask, T v, uint32_t delta, uint32_t width) \
    {                                                                                   \
        return __shfl_down_sync(mask, v, delta, (int)width);                            \
    }                                                                                   \
    GPURT_DEV T gpurt_shfl_xor_##t(uint32_t mask, T v, uint32_t bits, uint32_t width)   \
    {                                                                                   \
        return __shfl_xor_sync(mask, v, (int)bits, (int)width);                         \
    }
GPURT_CUDA_SHFL(uint32_t, u32)
GPURT_CUDA_SHFL(int32_t, i32)
GPURT_CUDA_SHFL(uint64_t, u64)
GPURT_CUDA_SHFL(int64_t, i64)
GPURT_CUDA_SHFL(float, f32)
GPURT_CUDA_SHFL(double, f64)

/* ---- warp.h: reductions --------------------------------------------------------------- */

/* The order of combination is part of the contract: it decides the bits of a float. Adds are
 * spelled as rounding intrinsics because the compiler may not fuse those with a
 * multiplication at the call. fminf and its kin are the hardware's: a number wins over NaN,
 * -0 is below +0. */
#define GPURT_CUDA_ADD(a, b)     ((a) + (b))
#define GPURT_CUDA_ADD_f32(a, b) __fadd_rn(a, b)
#define GPURT_CUDA_ADD_f64(a, b) __dadd_rn(a, b)
#define GPURT_CUDA_MIN(a, b)     ((b) < (a) ? (b) : (a))
#define GPURT_CUDA_MIN_f32(a, b) fminf(a, b)
#define GPURT_CUDA_MIN_f64(a, b) fmin(a, b)
#define GPURT_CUDA_MAX(a, b)     ((b) > (a) ? (b) : (a))
#define GPURT_CUDA_MAX_f32(a, b) fmaxf(a, b)
#define GPURT_CUDA_MAX_f64(a, b) fmax(a, b)
#define GPURT_CUDA_AND(a, b)     ((a) & (b))
#define GPURT_CUDA_OR(a, b)      ((a) | (b))
#define GPURT_CUDA_XOR(a, b)     ((a) ^ (b))

#define GPURT_CUDA_FOLD(kind, T, t, pick)                                     \
    GPURT_DEV T gpurt_reduce_##kind##_##t(uint32_t mask, T v)                 \
    {                                                                         \
        if (mask == GPURT_FULL_MASK) {                                        \
            for (uint32_t bits = GPURT_WARP_SIZE / 2; bits; bits /= 2) {      \
                T other = gpurt_shfl_xor_##t(mask, v, bits, GPURT_WARP_SIZE); \
                v = pick(v, other);                                           \
            }                                                                 \
            return v;                                                         \
        }                                                                     \
        T all = gpurt_shfl_##t(mask, v, gpurt_ctz(mask));                     \
        for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {     \
            T next = gpurt_shfl_##t(mask, v, gpurt_ctz(rest));                \
            all = pick(all, next);                                            \
        }                                                                     \
        return all;                                                           \
    }
/* One instruction does it for 32-bit integers from sm_80 on. */
#define GPURT_CUDA_REDUX(kind, T, t)                          \
    GPURT_DEV T gpurt_reduce_##kind##_##t(uint32_t mask, T v) \
    {                                                         \
        return __reduce_##kind##_sync(mask, v);               \
    }
#if GPURT_CUDA_ARCH >= 800
#    define GPURT_CUDA_FOLD_32(kind, T, t, pick) GPURT_CUDA_REDUX(kind, T, t)
#else
#    define GPURT_CUDA_FOLD_32(kind, T, t, pick) GPURT_CUDA_FOLD(kind, T, t, pick)
#endif
#define GPURT_CUDA_FOLD_ALL(kind, pick)           \
    GPURT_CUDA_FOLD_32(kind, uint32_t, u32, pick) \
    GPURT_CUDA_FOLD_32(kind, int32_t, i32, pick)  \
    GPURT_CUDA_FOLD(kind, uint64_t, u64, pick)    \
    GPURT_CUDA_FOLD(kind, int64_t, i64, pick)     \
    GPURT_CUDA_FOLD(kind, float, f32, pick##_f32) \
    GPURT_CUDA_FOLD(kind, double, f64, pick##_f64)
#define GPURT_CUDA_FOLD_BITS(kind, pick)          \
    GPURT_CUDA_FOLD_32(kind, uint32_t, u32, pick) \
    GPURT_CUDA_FOLD(kind, uint64_t, u64, pick)
GPURT_CUDA_FOLD_ALL(add, GPURT_CUDA_ADD)
GPURT_CUDA_FOLD_ALL(min, GPURT_CUDA_MIN)
GPURT_CUDA_FOLD_ALL(max, GPURT_CUDA_MAX)
GPURT_CUDA_FOLD_BITS(and, GPURT_CUDA_AND)
GPURT_CUDA_FOLD_BITS(or, GPURT_CUDA_OR)
GPURT_CUDA_FOLD_BITS(xor, GPURT_CUDA_XOR)

/* ---- combine.h: two values, as the reductions above combine them ----------------------- */
#define GPURT_CUDA_PAIR(kind, T, t, pick)                \
    GPURT_DEV T gpurt_pair_##kind##_##t(T left, T right) \
    {                                                    \
        return pick(left, right);                        \
    }
#define GPURT_CUDA_PAIRS(kind, pick)              \
    GPURT_CUDA_PAIR(kind, uint32_t, u32, pick)    \
    GPURT_CUDA_PAIR(kind, int32_t, i32, pick)     \
    GPURT_CUDA_PAIR(kind, uint64_t, u64, pick)    \
    GPURT_CUDA_PAIR(kind, int64_t, i64, pick)     \
    GPURT_CUDA_PAIR(kind, float, f32, pick##_f32) \
    GPURT_CUDA_PAIR(kind, double, f64, pick##_f64)
GPURT_CUDA_PAIRS(add, GPURT_CUDA_ADD)
GPURT_CUDA_PAIRS(min, GPURT_CUDA_MIN)
GPURT_CUDA_PAIRS(max, GPURT_CUDA_MAX)

/* ---- block.h ------------------------------------------------------------------------- */
GPURT_DEV void gpurt_thread_exit(void)
{
    asm volatile("exit;");
    __builtin_unreachable();
}
GPURT_DEV void gpurt_trap(void)
{
    __trap();
    __builtin_unreachable();
}
#include <gpurt/impl/dialect_cuda_cancel.h>

GPURT_DEV void gpurt_soon(const void *p)
{
    asm volatile("prefetch.L1 [%0];" ::"l"(p));
}

GPURT_DEV uint64_t gpurt_launch_number(void)
{
    return gpurt_cuda_grid();
}
GPURT_DEV const char *gpurt_kernel_name(void)
{
    return NULL;
}

/* The shortest sleep that leaves the issue slots to others: the step of the global
 * timer. */
GPURT_DEV void gpurt_pause(void)
{
    __nanosleep(32);
}
GPURT_DEV void gpurt_relax(void)
{
    gpurt_pause();
    gpurt_cuda_look_around(); /* what it waits for may be a neighbour's */
}

GPURT_DEV void gpurt_relax_until(uint64_t until_ns)
{
    (void)until_ns; /* who takes a wait for a livelock is the CPU back end */
    gpurt_relax();
}

/* ---- spot.h -------------------------------------------------------------------------- */
/* Twice as long each time, up to a microsecond: who waits long leaves the word's line alone. */
GPURT_DEV void gpurt_park(const gpurt_spot_t *spot, uint32_t turn)
{
    (void)spot;
    __nanosleep(32u << (turn < 5 ? turn : 5));
    gpurt_cuda_look_around();
}
GPURT_DEV uint32_t gpurt_unpark(const void *word, uint32_t key, uint32_t most)
{
    (void)word;
    (void)key;
    (void)most;
    return UINT32_MAX;
}
GPURT_DEV void gpurt_unpark_stopped(const int32_t *stop)
{
    (void)stop;
}
GPURT_DEV void gpurt_taken_at(const char **at, const char *here)
{
    (void)at;
    (void)here;
}
GPURT_DEV bool gpurt_is_shared(const void *p)
{
    return __isShared(p) != 0;
}
GPURT_DEV bool gpurt_is_local(const void *p)
{
    return __isLocal(p) != 0;
}

/* Some pauses of a wait for `kind` "name" at `here`, which the CPU back end can tell. until_ns: the
 * wait's limit by gpurt_globaltimer, or UINT64_MAX: until then it is no livelock there. */
GPURT_DEV void gpurt_pause_for(uint32_t pauses, const char *kind, const char *name,
                               uint64_t until_ns, const char *here)
{
    (void)until_ns;
    (void)kind;
    (void)name;
    (void)here;
    if (pauses)
        __nanosleep(32 * pauses);
}

/* The host is a microsecond away: after a while the pauses are as long. */
GPURT_DEV void gpurt_host_pause(uint32_t turn, uint64_t left_ns, const char *here)
{
    (void)left_ns;
    (void)here;
    __nanosleep(turn < 64 ? 32 : 1024);
    gpurt_cuda_look_around();
}
/* The same for who holds what others wait for: it ends no lane. What is waited for is looked at by one
 * for all, so the pauses may stay short; they double each 16 turns. */
GPURT_DEV void gpurt_host_pause_held(uint32_t turn, uint64_t left_ns, const char *here)
{
    (void)left_ns;
    (void)here;
    __nanosleep(32u << (turn < 80 ? turn / 16 : 5));
}
/* Turns of such a wait before who looks at waits is told: that takes some reads of host memory, as
 * long as all of a short wait. */
enum {
    GPURT_HOST_TURNS_TOLD = 16
};
/* It polls. */
GPURT_DEV void gpurt_host_wake(void) {}
GPURT_DEV void gpurt_peer_wake(void) {}
/* Looks in vain, after which who waits for work of a queue sleeps: to sleep and wake costs more than
 * these. */
enum {
    GPURT_IDLE_LOOKS = 256
};
enum {
    GPURT_HOST_LOOK_NS = 500,      /* from the end of a look to the next */
    GPURT_HOST_LOOKING_NS = 100000 /* no look takes longer, or it was never ended */
};
/* Whether it is the caller's turn to look at words of the host, for all who keep the time of the next look in *next.
 * Then nobody else does until gpurt_host_looked. Reads of one word go one after the other, 0.94 million a second on an
 * H200, however many warps ask (docs/measured/h200_bench_hostreads.tsv). Those that come faster queue, a warp each, and a
 * fence of the same multiprocessor waits behind them. */
GPURT_DEV bool gpurt_host_due(uint32_t *next)
{
    uint64_t now;
    uint32_t last = gpurt_load_relaxed_dev_u32(next); /* relaxed: a time */

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return last - (uint32_t)now > GPURT_HOST_LOOKING_NS + GPURT_HOST_LOOK_NS &&
           gpurt_cas_relaxed_far_u32(next, &last, (uint32_t)now + GPURT_HOST_LOOKING_NS);
}
GPURT_DEV void gpurt_host_looked(uint32_t *next)
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    gpurt_store_relaxed_dev_u32(next, (uint32_t)now + GPURT_HOST_LOOK_NS); /* relaxed: so */
}

/* Lanes that ended are not waited for, so a barrier of a cancelled block completes; who
 * then looks must do so before it touches what the others should have written. */
GPURT_DEV void gpurt_block_barrier(void)
{
    __syncthreads();
    gpurt_safe_point();
}
GPURT_DEV uint32_t gpurt_block_barrier_count(bool predicate)
{
    uint32_t count = (uint32_t)__syncthreads_count(predicate);

    gpurt_safe_point();
    return count;
}
GPURT_DEV bool gpurt_block_barrier_and(bool predicate)
{
    bool all = __syncthreads_and(predicate) != 0;

    gpurt_safe_point();
    return all;
}
GPURT_DEV bool gpurt_block_barrier_or(bool predicate)
{
    bool some = __syncthreads_or(predicate) != 0;

    gpurt_safe_point();
    return some;
}
#if GPURT_NAMED_BARRIER || !GPURT_CANCEL
/* The warp says where it waits, so that it can be woken (gpurt_cuda_serve). */
GPURT_DEV void gpurt_named_barrier(uint32_t id, uint32_t threads)
{
#    if GPURT_CANCEL
    uint32_t wait = gpurt_cuda_wait_of(gpurt_cuda_warp());

    gpurt_safe_point();
    gpurt_cuda_store_u32(wait, GPURT_CUDA_WAIT | threads << 4 | id);
#    endif
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#    if GPURT_CANCEL
    gpurt_cuda_store_u32(wait, 0);
    gpurt_safe_point();
#    endif
}
GPURT_DEV void gpurt_named_arrive(uint32_t id, uint32_t threads)
{
    gpurt_safe_point();
    asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#else
/* Who leaves a cancelled block must be able to wake who waits here. */
template <class T> GPURT_DEV void gpurt_named_barrier(T, uint32_t)
{
    static_assert(sizeof(T) == 0, "#define GPURT_NAMED_BARRIER 1 before the first include "
                                  "of gpurt (block.h says why)");
}
template <class T> GPURT_DEV void gpurt_named_arrive(T, uint32_t)
{
    static_assert(sizeof(T) == 0, "#define GPURT_NAMED_BARRIER 1 before the first include "
                                  "of gpurt (block.h says why)");
}
#endif

/* Below sm_90 a cluster is one block, as it is anywhere in a launch without clusters. */
GPURT_DEV void gpurt_cluster_barrier(void)
{
#if GPURT_CUDA_ARCH >= 900
    asm volatile("barrier.cluster.arrive.release;\n\t"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
#else
    __syncthreads();
#endif
    gpurt_cuda_look_at_cluster();
}
GPURT_DEV void *gpurt_cluster_shared(void *object, uint32_t rank)
{
#if GPURT_CUDA_ARCH >= 900
    return __cluster_map_shared_rank(object, rank);
#else
    if (rank)
        gpurt_trap();
    return object;
#endif
}

/* A look at a word at which others still arrive makes them late: so the first one waits for
 * about as long as an addition takes. On an H200 that made a round of 132 blocks 0.13 us
 * shorter; 200 cycles and 400 did less. */
GPURT_DEV void gpurt_let_arrive(void)
{
    uint32_t begin, now;

    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
    do
        asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    while (now - begin < 300);
}

/* The low 31 bits of the word are 0 between rounds. A round adds 2^31 in all, so the top
 * bit flips when the last block arrives and not before. this_grid().sync() of
 * cooperative groups counts the same way: a kernel may use both. Order: the block
 * barrier gathers the block's writes, the pair CGRID1 on the word carries them to the
 * other blocks. A block that was cancelled never arrives: those who wait look for that, and
 * are cancelled with it. */
GPURT_DEV void gpurt_grid_barrier(void)
{
    gpurt_block_barrier();
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
        uint64_t space = gpurt_cuda_grid_space();
        /* The zero of the thread's makes it no address of all lanes: of an addition to one of
         * those ptxas makes a warp's, and waits for its answer before the first look. */
        uint32_t *word = (uint32_t *)space + 1 + threadIdx.x;
        uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
        bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;

        if (!space) /* not a cooperative launch */
            gpurt_trap();
        uint32_t share = first ? 0x80000000u - (blocks - 1) : 1u;
        uint32_t before = gpurt_add_release_far_u32(word, share), now; /* CGRID1.rel */

        gpurt_let_arrive();
        for (uint32_t polls = 1;; polls++) {
            now = gpurt_load_acquire_dev_u32(word); /* CGRID1.acq */
            if ((now ^ before) & 0x80000000u)
                break;
            if (gpurt_cuda_grid_is_gone(polls)) {
                /* relaxed: takes the arrival back; another launch finds the word as it was */
                gpurt_add_relaxed_dev_u32(word, 0u - share);
                gpurt_cancel_block();
                break;
            }
        }
    }
    gpurt_block_barrier();
}

/* Constant memory has a cache of its own, which no acquire empties; a plain table does not. */
#define GPURT_TABLE static __constant__

#define GPURT_SHARED(type, name, count)     \
    __shared__ type name##_storage_[count]; \
    type *const name = name##_storage_
#define GPURT_SHARED_DYN(type, name)                                   \
    extern __shared__ __align__(16) unsigned char gpurt_shared_dyn_[]; \
    type *const name = (type *)gpurt_shared_dyn_

/* ---- clock.h ------------------------------------------------------------------------- */
GPURT_DEV uint64_t gpurt_clock(void)
{
    return (uint64_t)clock64();
}
GPURT_DEV uint64_t gpurt_globaltimer(void)
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* ---- panic.h ---------------------------------------------------------------------------
 * Where a variable of the caller lies on its stack. A pointer to it would be made at the top of
 * the kernel, two instructions and two registers for those who never fail. */
typedef uint32_t gpurt_frame_t;
GPURT_DEV gpurt_frame_t gpurt_frame_of(const void *variable)
{
    return (uint32_t)__cvta_generic_to_local(variable);
}
GPURT_DEV const void *gpurt_frame_at(gpurt_frame_t frame)
{
    return __cvta_local_to_generic(frame);
}

/* ---- kernel.h ---------------------------------------------------------------------------
 * The body is a function of its own, inlined, because it must come last in the macro; the
 * struct stays in the constant bank (grid constant), so p->field is a constant load. */
#define GPURT_KERNEL(kernel, args_type, p) \
    GPURT_KERNEL_WRAPPED_(kernel, args_type, args_type, 0, p)
#define GPURT_KERNEL_FIT(kernel, args_type, p, threads, blocks)   \
    extern "C" __global__ void __launch_bounds__(threads, blocks) \
        kernel(const __grid_constant__ args_type);                \
    GPURT_KERNEL(kernel, args_type, p)
/* Relocatable code has the registers of its functions before it has those of a kernel, and ptxas refuses a bound. */
#ifdef __CUDACC_RDC__
#    define GPURT_KERNEL_LEAN(kernel, args_type, p, registers) \
        GPURT_KERNEL(kernel, args_type, p)
#else
#    define GPURT_KERNEL_LEAN(kernel, args_type, p, registers) \
        extern "C" __global__ void __maxnreg__(registers)      \
            kernel(const __grid_constant__ args_type);         \
        GPURT_KERNEL(kernel, args_type, p)
#endif
/* whole: what is passed, with the struct `offset` bytes into it (unwind.h). */
#define GPURT_KERNEL_WRAPPED_(kernel, args_type, whole, offset, p)                 \
    GPURT_KERNEL_DECLARE(kernel, args_type);                                       \
    static __device__ __forceinline__ void gpurt_body_of_##kernel(const whole *p); \
    extern "C" __global__ void kernel(const __grid_constant__ whole gpurt_args)    \
    {                                                                              \
        gpurt_body_of_##kernel(&gpurt_args);                                       \
    }                                                                              \
    extern "C" void gpurt_cpu_##kernel(const void *args) GPURT_WEAK;               \
    extern "C" const void *const gpurt_cuda_##kernel;                              \
    const void *const gpurt_cuda_##kernel = (const void *)kernel;                  \
    GPURT_KERNEL_DESCRIBE_(kernel, offset);                                        \
    static __device__ __forceinline__ void gpurt_body_of_##kernel(const whole *p)

#endif
