/* SPDX-License-Identifier: Apache-2.0 */
/* sass_equal.cu - pairs of kernels, one written with gpurt's words and one with bare
 * intrinsics or PTX. sass_equal.sh compiles them and compares the machine code of each
 * pair, byte by byte. Never run. The bare side spells order and scope out in PTX, so a
 * wrapper that asks for the wrong ones differs as surely as one that adds an
 * instruction. */
#define GPURT_CANCEL        0 /* with looks for a cancelled block there is more: look_cost.sh */
#define GPURT_NAMED_BARRIER 1
#include <gpurt/atomicfloat.h>
#include <gpurt/device.h>

#define PAIR(name, params, ours, bare)             \
    extern "C" __global__ void name##__ours params \
    {                                              \
        ours;                                      \
    }                                              \
    extern "C" __global__ void name##__bare params \
    {                                              \
        bare;                                      \
    }
/* One word out of an expression of the inputs a, b (words), m (mask), w (64 bit). */
#define VALUE(name, T, ours, bare)                                                         \
    PAIR(name, (T * out, uint32_t a, uint32_t b, uint32_t m, uint64_t w), out[a] = (ours), \
         out[a] = (bare))
/* The same for a value of type T loaded per thread. */
#define LANE(name, T, R, ours, bare)                                                  \
    PAIR(name, (R * out, const T *in, uint32_t m, uint32_t b), T v = in[threadIdx.x]; \
         out[threadIdx.x] = (ours), T v = in[threadIdx.x]; out[threadIdx.x] = (bare))

#define BARE_REGISTER(name)                                  \
    static __device__ __forceinline__ uint32_t bare_##name() \
    {                                                        \
        uint32_t r;                                          \
        asm volatile("mov.u32 %0, %%" #name ";" : "=r"(r));  \
        return r;                                            \
    }
BARE_REGISTER(laneid)
BARE_REGISTER(smid)
BARE_REGISTER(warpid)
#if __CUDA_ARCH__ >= 900
BARE_REGISTER(cluster_ctarank)
BARE_REGISTER(cluster_nctarank)
#endif

/* ---- ids, bits, clock ---------------------------------------------------------------- */
VALUE(thread_x, uint32_t, gpurt_thread_x(), threadIdx.x)
VALUE(thread_y, uint32_t, gpurt_thread_y(), threadIdx.y)
VALUE(thread_z, uint32_t, gpurt_thread_z(), threadIdx.z)
VALUE(block_x, uint32_t, gpurt_block_x(), blockIdx.x)
VALUE(block_y, uint32_t, gpurt_block_y(), blockIdx.y)
VALUE(block_z, uint32_t, gpurt_block_z(), blockIdx.z)
VALUE(block_dim_x, uint32_t, gpurt_block_dim_x(), blockDim.x)
VALUE(block_dim_y, uint32_t, gpurt_block_dim_y(), blockDim.y)
VALUE(block_dim_z, uint32_t, gpurt_block_dim_z(), blockDim.z)
VALUE(grid_dim_x, uint32_t, gpurt_grid_dim_x(), gridDim.x)
VALUE(grid_dim_y, uint32_t, gpurt_grid_dim_y(), gridDim.y)
VALUE(grid_dim_z, uint32_t, gpurt_grid_dim_z(), gridDim.z)
VALUE(global_id, uint32_t, gpurt_global_id(), blockIdx.x *blockDim.x + threadIdx.x)
VALUE(lane, uint32_t, gpurt_lane(), bare_laneid())
VALUE(sm, uint32_t, gpurt_sm(), bare_smid())
VALUE(warp_slot, uint32_t, gpurt_warp_slot(), bare_warpid())
#if __CUDA_ARCH__ >= 900
VALUE(cluster_rank, uint32_t, gpurt_cluster_rank(), bare_cluster_ctarank())
VALUE(cluster_size, uint32_t, gpurt_cluster_size(), bare_cluster_nctarank())
PAIR(cluster_barrier, (uint32_t * out), out[0] = 1; gpurt_cluster_barrier();
     out[1] = 2, out[0] = 1; asm volatile("barrier.cluster.arrive.release;" ::
                                              : "memory");
     asm volatile("barrier.cluster.wait.acquire;" ::
                      : "memory");
     out[1] = 2)
PAIR(cluster_shared, (uint32_t * out, uint32_t rank), GPURT_SHARED(uint32_t, word, 4);
     out[0] = *(uint32_t *)gpurt_cluster_shared(word, rank), __shared__ uint32_t word[4];
     out[0] = *(uint32_t *)__cluster_map_shared_rank(word, rank))
#else
VALUE(cluster_rank, uint32_t, gpurt_cluster_rank(), 0)
VALUE(cluster_size, uint32_t, gpurt_cluster_size(), 1)
#endif
VALUE(popc, uint32_t, gpurt_popc(a), __popc(a))
VALUE(popc64, uint32_t, gpurt_popc64(w), __popcll(w))
VALUE(ctz, uint32_t, gpurt_ctz(a), __clz(__brev(a)))
VALUE(ctz64, uint32_t, gpurt_ctz64(w), __clzll(__brevll(w)))
VALUE(clz, uint32_t, gpurt_clz(a), __clz(a))
VALUE(clz64, uint32_t, gpurt_clz64(w), __clzll(w))
PAIR(log2, (uint32_t * out, uint32_t a), *out = gpurt_log2(a), uint32_t r;
     asm("bfind.u32 %0, %1;"
         : "=r"(r)
         : "r"(a));
     *out = r)
VALUE(clock, uint64_t, gpurt_clock(), clock64())
PAIR(globaltimer, (uint64_t * out), *out = gpurt_globaltimer(),
     asm volatile("mov.u64 %0, %%globaltimer;"
                  : "=l"(*out)))

/* ---- warps --------------------------------------------------------------------------- */
PAIR(syncwarp, (uint32_t * out, uint32_t m), gpurt_syncwarp(m); *out = 1, __syncwarp(m);
     *out = 1)
/* With the bit that makes it each lane's own (dialect_cuda.h). */
VALUE(activemask, uint32_t, gpurt_activemask(), __activemask() | 1u << bare_laneid())
VALUE(activemask_now, uint32_t, gpurt_activemask_now(), __activemask())
LANE(ballot, uint32_t, uint32_t, gpurt_ballot(m, v > b), __ballot_sync(m, v > b))
LANE(ballot_word, uint32_t, uint32_t, gpurt_ballot(m, v), __ballot_sync(m, v))
LANE(ballot_full, uint32_t, uint32_t, gpurt_ballot(GPURT_FULL_MASK, v > b),
     __ballot_sync(0xffffffffu, v > b))
LANE(any, uint32_t, bool, gpurt_any(m, v > b), __any_sync(m, v > b))
LANE(all, uint32_t, bool, gpurt_all(m, v > b), __all_sync(m, v > b))
PAIR(any_branch, (uint32_t * out, uint32_t m),
     if (gpurt_any(m, out[threadIdx.x] > 3)) *out = 1,
     if (__any_sync(m, out[threadIdx.x] > 3)) *out = 1)
LANE(match_any_u32, uint32_t, uint32_t, gpurt_match_any_u32(m, v), __match_any_sync(m, v))
LANE(match_any_u64, uint64_t, uint32_t, gpurt_match_any_u64(m, v), __match_any_sync(m, v))
#define MATCH_ALL(T, t)                                                       \
    PAIR(match_all_##t, (uint32_t * out, const T *in, uint32_t m), bool same; \
         out[0] = gpurt_match_all_##t(m, in[threadIdx.x], &same);             \
         if (same) out[1] = 1, int same;                                      \
         out[0] = __match_all_sync(m, in[threadIdx.x], &same); if (same) out[1] = 1)
MATCH_ALL(uint32_t, u32)
MATCH_ALL(uint64_t, u64)

#define SHUFFLES(T, t)                                                                     \
    LANE(shfl_##t, T, T, gpurt_shfl_##t(m, v, b), __shfl_sync(m, v, b))                    \
    LANE(shfl_full_##t, T, T, gpurt_shfl_##t(GPURT_FULL_MASK, v, 0),                       \
         __shfl_sync(0xffffffffu, v, 0))                                                   \
    LANE(shfl_idx_##t, T, T, gpurt_shfl_idx_##t(m, v, b, 8), __shfl_sync(m, v, b, 8))      \
    LANE(shfl_up_##t, T, T, gpurt_shfl_up_##t(m, v, b, 16), __shfl_up_sync(m, v, b, 16))   \
    LANE(shfl_down_##t, T, T, gpurt_shfl_down_##t(m, v, 1, 32), __shfl_down_sync(m, v, 1)) \
    LANE(shfl_xor_##t, T, T, gpurt_shfl_xor_##t(m, v, 3, 4), __shfl_xor_sync(m, v, 3, 4))
SHUFFLES(uint32_t, u32)
SHUFFLES(int32_t, i32)
SHUFFLES(uint64_t, u64)
SHUFFLES(int64_t, i64)
SHUFFLES(float, f32)
SHUFFLES(double, f64)

#if __CUDA_ARCH__ >= 800
#    define REDUCE(kind, T, t)                                           \
        LANE(reduce_##kind##_##t, T, T, gpurt_reduce_##kind##_##t(m, v), \
             __reduce_##kind##_sync(m, v))
REDUCE(add, uint32_t, u32)
REDUCE(min, uint32_t, u32)
REDUCE(max, uint32_t, u32)
REDUCE(and, uint32_t, u32)
REDUCE(or, uint32_t, u32)
REDUCE(xor, uint32_t, u32)
REDUCE(add, int32_t, i32)
REDUCE(min, int32_t, i32)
REDUCE(max, int32_t, i32)
#endif
/* With the full mask the loop over a partial one must leave no trace. */
#define BUTTERFLY(kind, T, t, pick)                                       \
    PAIR(                                                                 \
        reduce_full_##kind##_##t, (T * out), T v = out[threadIdx.x];      \
        out[threadIdx.x] = gpurt_reduce_##kind##_##t(GPURT_FULL_MASK, v), \
        T v = out[threadIdx.x];                                           \
        for (int d = 16; d; d /= 2) {                                     \
            T o = __shfl_xor_sync(0xffffffffu, v, d);                     \
            v = pick;                                                     \
        } out[threadIdx.x] = v)
BUTTERFLY(add, float, f32, __fadd_rn(v, o))
BUTTERFLY(min, float, f32, fminf(v, o))
BUTTERFLY(add, double, f64, __dadd_rn(v, o))
BUTTERFLY(max, double, f64, fmax(v, o))
BUTTERFLY(add, uint64_t, u64, v + o)
BUTTERFLY(min, int64_t, i64, o < v ? o : v)
BUTTERFLY(xor, uint64_t, u64, v ^ o)

/* ---- blocks -------------------------------------------------------------------------- */
PAIR(block_barrier, (uint32_t * out), out[0] = 1; gpurt_block_barrier();
     out[1] = 2, out[0] = 1; __syncthreads(); out[1] = 2)
LANE(barrier_count, uint32_t, uint32_t, gpurt_block_barrier_count(v > b),
     __syncthreads_count(v > b))
LANE(barrier_and, uint32_t, bool, gpurt_block_barrier_and(v > b), __syncthreads_and(v > b))
LANE(barrier_or, uint32_t, bool, gpurt_block_barrier_or(v > b), __syncthreads_or(v > b))
PAIR(named_barrier, (uint32_t * out), out[0] = 1; gpurt_named_barrier(3, 64);
     out[1] = 2, out[0] = 1; asm volatile("barrier.sync 3, 64;" ::
                                              : "memory");
     out[1] = 2)
PAIR(named_arrive, (uint32_t * out), out[0] = 1; gpurt_named_arrive(3, 64);
     out[1] = 2, out[0] = 1; asm volatile("barrier.arrive 3, 64;" ::
                                              : "memory");
     out[1] = 2)
PAIR(relax, (uint32_t * out), gpurt_relax(); *out = 1, __nanosleep(32); *out = 1)
PAIR(thread_exit, (uint32_t * out), if (*out) gpurt_thread_exit();
     *out = 1, if (*out) return; *out = 1)
PAIR(trap, (uint32_t * out), *out = 1; gpurt_trap(), *out = 1; __trap())
PAIR(shared, (uint32_t * out), GPURT_SHARED(uint32_t, word, 64); word[threadIdx.x] = *out;
     gpurt_block_barrier(); out[1] = word[63 - threadIdx.x], __shared__ uint32_t word[64];
     word[threadIdx.x] = *out; __syncthreads(); out[1] = word[63 - threadIdx.x])
extern __shared__ __align__(16) unsigned char bare_dynamic[];
PAIR(shared_dyn, (uint32_t * out), GPURT_SHARED_DYN(uint32_t, word);
     word[threadIdx.x] = *out; gpurt_block_barrier();
     out[1] = word[63 - threadIdx.x], uint32_t *word = (uint32_t *)bare_dynamic;
     word[threadIdx.x] = *out; __syncthreads(); out[1] = word[63 - threadIdx.x])

/* A kernel of the dialect against one with its fields as parameters by struct. */
struct saxpy_args {
    float a;
    const float *x;
    float *y;
    uint32_t n;
};
GPURT_KERNEL(kernel_args__ours, struct saxpy_args, p)
{
    uint32_t i = gpurt_global_id();

    if (i < p->n)
        p->y[i] += p->a * p->x[i];
}
extern "C" __global__ void kernel_args__bare(const saxpy_args p)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < p.n)
        p.y[i] += p.a * p.x[i];
}

/* ---- atomics ------------------------------------------------------------------------- */
#define PTX_blk "cta"
#if __CUDA_ARCH__ >= 900
#    define PTX_clu "cluster"
#else
#    define PTX_clu "gpu"
#endif
#define PTX_dev     "gpu"
#define PTX_sys     "sys"
#define PTX_far     "gpu"
#define SPACE_blk   ""
#define SPACE_clu   ""
#define SPACE_dev   ""
#define SPACE_sys   ""
#define SPACE_far   "global."
#define ADDR_blk(p) (p)
#define ADDR_clu(p) (p)
#define ADDR_dev(p) (p)
#define ADDR_sys(p) (p)
#define ADDR_far(p) __cvta_generic_to_global(p)

#define LOAD(T, t, c, o, s)                                                            \
    PAIR(load_##o##_##s##_##t, (T * p, T * out), *out = gpurt_load_##o##_##s##_##t(p), \
         T r;                                                                          \
         asm volatile("ld." #o "." PTX_##s ".b" c " %0, [%1];"                         \
                      : "=" CONSTRAINT_##t(r)                                          \
                      : "l"(p)                                                         \
                      : "memory");                                                     \
         *out = r)
#define STORE(T, t, c, o, s)                                                               \
    PAIR(store_##o##_##s##_##t, (T * p, T v), gpurt_store_##o##_##s##_##t(p, v),           \
         asm volatile("st." #o "." PTX_##s ".b" c " [%0], %1;" ::"l"(p), CONSTRAINT_##t(v) \
                      : "memory"))
#define RMW(op, ptx, T, t, o, s)                                                \
    PAIR(op##_##o##_##s##_##t, (T * p, T v, T * out),                           \
         *out = gpurt_##op##_##o##_##s##_##t(p, v), T r;                        \
         asm volatile("atom." #o "." PTX_##s "." SPACE_##s ptx " %0, [%1], %2;" \
                      : "=" CONSTRAINT_##t(r)                                   \
                      : "l"(ADDR_##s(p)), CONSTRAINT_##t(v)                     \
                      : "memory");                                              \
         *out = r)
#define CAS(T, t, c, o, s)                                                                \
    PAIR(cas_##o##_##s##_##t, (T * p, T v, T * out), T want = *out;                       \
         if (gpurt_cas_##o##_##s##_##t(p, &want, v)) out[1] = v;                          \
         out[0] = want, T want = *out; T r;                                               \
         asm volatile("atom." #o "." PTX_##s "." SPACE_##s "cas.b" c " %0, [%1], %2, %3;" \
                      : "=" CONSTRAINT_##t(r)                                             \
                      : "l"(ADDR_##s(p)), CONSTRAINT_##t(want), CONSTRAINT_##t(v)         \
                      : "memory");                                                        \
         if (want == r) out[1] = v; out[0] = r)
#define FENCE(o, ptx, s)                                                         \
    PAIR(fence_##o##_##s, (uint32_t * out), out[0] = 1; gpurt_fence_##o##_##s(); \
         out[1] = 2, out[0] = 1; asm volatile("fence." ptx "." PTX_##s ";" ::    \
                                                  : "memory");                   \
         out[1] = 2)
#define CONSTRAINT_u32 "r"
#define CONSTRAINT_i32 "r"
#define CONSTRAINT_u64 "l"
#define CONSTRAINT_i64 "l"
#define CONSTRAINT_f32 "f"
#define CONSTRAINT_f64 "d"

#define EACH_SCOPE(X, ...) \
    X(__VA_ARGS__, blk) X(__VA_ARGS__, clu) X(__VA_ARGS__, dev) X(__VA_ARGS__, sys)
#define EACH_ORDER(X, ...)              \
    EACH_SCOPE(X, __VA_ARGS__, relaxed) \
    EACH_SCOPE(X, __VA_ARGS__, acquire) \
    EACH_SCOPE(X, __VA_ARGS__, release) \
    EACH_SCOPE(X, __VA_ARGS__, acq_rel)
#define ACCESS(T, t, c)                 \
    EACH_SCOPE(LOAD, T, t, c, relaxed)  \
    EACH_SCOPE(LOAD, T, t, c, acquire)  \
    EACH_SCOPE(STORE, T, t, c, relaxed) \
    EACH_SCOPE(STORE, T, t, c, release)
ACCESS(uint32_t, u32, "32")
ACCESS(uint64_t, u64, "64")
ACCESS(float, f32, "32")
ACCESS(double, f64, "64")
EACH_ORDER(RMW, add, "add.u32", uint32_t, u32)
EACH_ORDER(RMW, add, "add.u64", uint64_t, u64)
EACH_ORDER(RMW, xchg, "exch.b32", uint32_t, u32)
EACH_ORDER(RMW, xchg, "exch.b64", uint64_t, u64)
EACH_ORDER(CAS, uint32_t, u32, "32")
EACH_ORDER(CAS, uint64_t, u64, "64")
RMW(add, "add.u64", uint64_t, u64, acquire, far)
RMW(xchg, "exch.b64", uint64_t, u64, acq_rel, far)
RMW(and, "and.b64", uint64_t, u64, acquire, far)
RMW(or, "or.b32", uint32_t, u32, release, far)
CAS(uint32_t, u32, "32", relaxed, far)
CAS(uint64_t, u64, "64", acq_rel, far)
EACH_SCOPE(RMW, min, "min.u32", uint32_t, u32, relaxed)
EACH_SCOPE(RMW, max, "max.s32", int32_t, i32, relaxed)
EACH_SCOPE(RMW, and, "and.b32", uint32_t, u32, relaxed)
EACH_SCOPE(RMW, or, "or.b32", uint32_t, u32, acq_rel)
EACH_SCOPE(RMW, xor, "xor.b64", uint64_t, u64, release)
EACH_SCOPE(RMW, add, "add.u32", int32_t, i32, relaxed)
EACH_SCOPE(RMW, add, "add.f32", float, f32, relaxed)
EACH_SCOPE(RMW, add, "add.f64", double, f64, relaxed)
EACH_SCOPE(FENCE, acquire, "acquire")
EACH_SCOPE(FENCE, release, "release")
EACH_SCOPE(FENCE, acq_rel, "acq_rel")
EACH_SCOPE(FENCE, seq_cst, "sc")

/* There are no names of thread or warp scope: CUDA's own thread scope is the block's code. */
PAIR(add_thread_scope, (uint32_t * p, uint32_t *out),
     *out = gpurt_add_relaxed_blk_u32(p, 1),
     *out = __nv_atomic_fetch_add(p, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD))
PAIR(load_thread_scope, (uint32_t * p, uint32_t *out), *out = gpurt_load_acquire_blk_u32(p),
     *out = __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_THREAD))
PAIR(store_thread_scope, (uint32_t * p), gpurt_store_release_blk_u32(p, 1),
     __nv_atomic_store_n(p, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_THREAD))

/* 128 bits have no operand of their own in PTX of every architecture: the bare side is the
 * compiler's built-in. A load has to be kept whole on either side: ptxas splits it otherwise. */
#define LOAD_128(o, O, s, S)                                              \
    PAIR(load_##o##_##s##_u128, (gpurt_u128_t * p, gpurt_u128_t * out),   \
         *out = gpurt_load_##o##_##s##_u128(p), gpurt_u128_t r;           \
         __nv_atomic_load(p, &r, __NV_ATOMIC_##O, __NV_THREAD_SCOPE_##S); \
         gpurt_128_whole(&r); *out = r)
#define STORE_128(o, O, s, S)                                        \
    PAIR(store_##o##_##s##_u128, (gpurt_u128_t * p, gpurt_u128_t v), \
         gpurt_store_##o##_##s##_u128(p, v),                         \
         __nv_atomic_store(p, &v, __NV_ATOMIC_##O, __NV_THREAD_SCOPE_##S))
LOAD_128(relaxed, RELAXED, dev, DEVICE)
LOAD_128(acquire, ACQUIRE, sys, SYSTEM)
STORE_128(relaxed, RELAXED, sys, SYSTEM)
STORE_128(release, RELEASE, dev, DEVICE)
#if __CUDA_ARCH__ >= 900
#    define CAS_128(o, O, F, s, S)                                                        \
        PAIR(cas_##o##_##s##_u128,                                                        \
             (gpurt_u128_t * p, gpurt_u128_t want, gpurt_u128_t v, uint32_t * out),       \
             *out = gpurt_cas_##o##_##s##_u128(p, &want, v);                              \
             out[1] = (uint32_t)want.lo,                                                  \
             *out = __nv_atomic_compare_exchange(p, &want, &v, false, __NV_ATOMIC_##O,    \
                                                 __NV_ATOMIC_##F, __NV_THREAD_SCOPE_##S); \
             out[1] = (uint32_t)want.lo)
CAS_128(relaxed, RELAXED, RELAXED, dev, DEVICE)
CAS_128(acq_rel, ACQ_REL, ACQUIRE, sys, SYSTEM)
#endif

/* ---- atomics of floats --------------------------------------------------------------- */
#define BARE_ADD(space, o, s, type, c, T, p, v, old)                           \
    asm volatile("atom." #o "." PTX_##s "." space "add." type " %0, [%1], %2;" \
                 : "=" c(old)                                                  \
                 : "l"(p), c(v)                                                \
                 : "memory")
#define BARE_RED(o, s, type, c, p, v)                                                   \
    asm volatile("red." #o "." PTX_##s ".global.add." type                              \
                                       " [%0], %1;" ::"l"(__cvta_generic_to_global(p)), \
                 c(v)                                                                   \
                 : "memory")
#define RED_FLOAT(T, t, o, s)                                                        \
    PAIR(red_add_##o##_##s##_##t, (T * p, T v), gpurt_red_add_##o##_##s##_##t(p, v), \
         BARE_RED(o, s, #t, CONSTRAINT_##t, p, v))
RED_FLOAT(float, f32, relaxed, dev)
RED_FLOAT(float, f32, release, sys)
RED_FLOAT(double, f64, relaxed, sys)
RED_FLOAT(double, f64, release, dev)
EACH_SCOPE(RMW, add, "add.f32", float, f32, acquire)
RMW(add, "add.f32", float, f32, relaxed, far)
RMW(add, "add.f64", double, f64, acq_rel, far)

/* The operands of both sides are read from memory as words: of a pair's halves nobody asks. */
#define HALF_ADD(t, o, s, space, at)                                                 \
    PAIR(add_##o##_##s##_##t, (gpurt_##t##_t * p, gpurt_##t##_t * out),              \
         *out = gpurt_add_##o##_##s##_##t(p, *out), decltype(p->bits) old_;          \
         BARE_ADD(space, o, s, "noftz." #t, CONSTRAINT_##t, T, at, out->bits, old_); \
         out->bits = old_)
#define HALF_RED(t, o, s)                                                      \
    PAIR(red_add_##o##_##s##_##t, (gpurt_##t##_t * p, const gpurt_##t##_t *v), \
         gpurt_red_add_##o##_##s##_##t(p, *v),                                 \
         BARE_RED(o, s, "noftz." #t, CONSTRAINT_##t, p, v->bits))
#define CONSTRAINT_f16    "h"
#define CONSTRAINT_bf16   "h"
#define CONSTRAINT_f16x2  "r"
#define CONSTRAINT_bf16x2 "r"
HALF_ADD(f16, relaxed, dev, "", p)
HALF_ADD(f16, acq_rel, blk, "", p)
HALF_ADD(f16, relaxed, far, "global.", __cvta_generic_to_global(p))
HALF_RED(f16, release, sys)
HALF_ADD(f16x2, acquire, blk, "", p)
HALF_ADD(f16x2, relaxed, far, "global.", __cvta_generic_to_global(p))
HALF_ADD(f16x2, acq_rel, far, "global.", __cvta_generic_to_global(p))
HALF_RED(f16x2, relaxed, dev)
HALF_RED(f16x2, release, sys)
PAIR(load_acquire_sys_f16, (gpurt_f16_t * p, gpurt_f16_t *out),
     *out = gpurt_load_acquire_sys_f16(p), uint16_t r;
     asm volatile("ld.acquire.sys.b16 %0, [%1];"
                  : "=h"(r)
                  : "l"(p)
                  : "memory");
     out->bits = r)
PAIR(store_release_dev_bf16, (gpurt_bf16_t * p, const gpurt_bf16_t *v),
     gpurt_store_release_dev_bf16(p, *v),
     asm volatile("st.release.gpu.b16 [%0], %1;" ::"l"(p), "h"(v->bits)
                  : "memory"))
PAIR(f16_to_f32, (const gpurt_f16_t *p, float *out), *out = gpurt_f16_to_f32(*p), float r;
     asm("cvt.f32.f16 %0, %1;"
         : "=f"(r)
         : "h"(p->bits));
     *out = r)
PAIR(bf16_to_f32, (const gpurt_bf16_t *p, float *out), *out = gpurt_bf16_to_f32(*p),
     *out = __uint_as_float((uint32_t)p->bits << 16))
#if __CUDA_ARCH__ >= 900
HALF_ADD(bf16, relaxed, dev, "", p)
HALF_RED(bf16, relaxed, dev)
HALF_ADD(bf16x2, relaxed, blk, "", p)
HALF_ADD(bf16x2, acquire, far, "global.", __cvta_generic_to_global(p))
HALF_RED(bf16x2, release, dev)
#    define VECTOR_2(v) "f"((v).x), "f"((v).y)
#    define VECTOR_4(v) "f"((v).x), "f"((v).y), "f"((v).z), "f"((v).w)
#    define RED_VECTOR(t, o, s, ptx, operands)                                     \
        PAIR(red_add_##o##_##s##_##t, (gpurt_##t##_t * p, const gpurt_##t##_t *v), \
             gpurt_red_add_##o##_##s##_##t(p, *v), gpurt_##t##_t w = *v;           \
             asm volatile("red." #o "." PTX_##s                                    \
                          ".global." ptx ::"l"(__cvta_generic_to_global(p)),       \
                          operands(w)                                              \
                          : "memory"))
RED_VECTOR(f32x2, relaxed, dev, "v2.f32.add [%0], {%1, %2};", VECTOR_2)
RED_VECTOR(f32x2, release, sys, "v2.f32.add [%0], {%1, %2};", VECTOR_2)
RED_VECTOR(f32x4, relaxed, dev, "v4.f32.add [%0], {%1, %2, %3, %4};", VECTOR_4)
RED_VECTOR(f32x4, release, sys, "v4.f32.add [%0], {%1, %2, %3, %4};", VECTOR_4)
#    define ADD_VECTOR_4(o, s)                                                           \
        PAIR(add_##o##_##s##_f32x4, (gpurt_f32x4_t * p, gpurt_f32x4_t * out),            \
             *out = gpurt_add_##o##_##s##_f32x4(p, *out), gpurt_f32x4_t v = *out;        \
             gpurt_f32x4_t r;                                                            \
             asm volatile("atom." #o "." PTX_##s ".global.v4.f32.add {%0, %1, %2, %3}, " \
                                                 "[%4], {%5, %6, %7, %8};"               \
                          : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)                   \
                          : "l"(__cvta_generic_to_global(p)), VECTOR_4(v)                \
                          : "memory");                                                   \
             *out = r)
ADD_VECTOR_4(relaxed, far)
ADD_VECTOR_4(acq_rel, far)

/* Where the compiler knows that the words lie in shared memory: nvcc 13.0 crashes there on its own cast
 * to a global address, even in a branch that is never taken. Test kernels may be compiled without the
 * optimiser that knows it, so these are compiled here. */
#    define ADD_IN_SHARED(t, o, s)                                                 \
        PAIR(shared_##o##_##s##_##t, (gpurt_##t##_t * out),                        \
             GPURT_SHARED(gpurt_##t##_t, own, 32);                                 \
             own[threadIdx.x] = *out; *out = gpurt_add_##o##_##s##_##t(own, *out), \
                                      __shared__ gpurt_##t##_t own[32];            \
             own[threadIdx.x] = *out; *out = gpurt_add_##o##_##s##_##t(own, *out))
ADD_IN_SHARED(f32x4, relaxed, blk)
ADD_IN_SHARED(f32x4, acq_rel, dev)
ADD_IN_SHARED(f16x2, relaxed, blk)
ADD_IN_SHARED(f16x2, acq_rel, dev)
#endif

/* ---- the test's own test: pairs that must differ ------------------------------------- */
PAIR(differ_instruction, (uint32_t * out, uint32_t a), *out = __popc(a) + 1,
     *out = __popc(a))
PAIR(differ_order, (uint32_t * p, uint32_t *out), *out = gpurt_load_acquire_dev_u32(p),
     *out = gpurt_load_relaxed_dev_u32(p))
PAIR(differ_scope, (uint32_t * p), gpurt_store_relaxed_sys_u32(p, 1),
     gpurt_store_relaxed_dev_u32(p, 1))
PAIR(differ_wait, (uint32_t * out), out[0] = 1; gpurt_named_barrier(3, 64);
     out[1] = 2, out[0] = 1; gpurt_named_arrive(3, 64); out[1] = 2)
PAIR(differ_half, (gpurt_f16_t * p, const gpurt_f16_t *v),
     gpurt_red_add_relaxed_dev_f16(p, *v),
     gpurt_red_add_relaxed_dev_bf16((gpurt_bf16_t *)p, *(const gpurt_bf16_t *)v))
PAIR(differ_red, (float *p, float v), gpurt_red_add_relaxed_dev_f32(p, v),
     gpurt_add_relaxed_dev_f32(p, v))
