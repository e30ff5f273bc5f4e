/* SPDX-License-Identifier: Apache-2.0 */
/* dialect_cuda_cancel.h - how a block of a GPU learns that it was cancelled, and leaves.
 *
 * Included by dialect_cuda.h only. A kernel has no prologue here, so a block's state is a
 * word of static shared memory that nobody fills: it holds whatever an earlier block left.
 * Cancelled means that it holds the key of this very block (GPURT_CUDA_GONE, and a hash of
 * the launch's number and the block's place). A look is one load from shared memory, one
 * comparison and one branch; only where the mark is found is the key computed, and a mark
 * that an earlier block left is wiped, so that the next look is short again.
 *
 * Neighbours in a cluster, the blocks of a cooperative launch and those of a cancelled kernel
 * are told through a table in global memory: cluster barriers, grid barriers and gpurt_relax
 * look there.
 *
 * A block of a guarded launch (guard.h) is *watched*: its word holds the mark with another key,
 * so that every look goes the long way, and once a window of the clock asks the guard whether
 * the launch is to stop. All other blocks pay nothing for it.
 *
 * Not static: with -rdc=true all units of a program share the block's state. Before any
 * include, `#define GPURT_CANCEL 0` leaves the bare instructions: barriers then do not look,
 * and the file uses no shared memory for it. */
#ifndef GPURT_DIALECT_CUDA_H
#    include <gpurt/impl/dialect_cuda.h> /* which includes this file where it belongs */
#endif
#ifndef GPURT_DIALECT_CUDA_CANCEL_H
#    define GPURT_DIALECT_CUDA_CANCEL_H

#    include <gpurt/atomic.h>
#    include <gpurt/base.h>
#    include <gpurt/impl/guard.h>

#    ifndef GPURT_CANCEL
#        define GPURT_CANCEL 1
#    endif
#    ifndef GPURT_NAMED_BARRIER
#        define GPURT_NAMED_BARRIER 0
#    endif

#    define GPURT_CUDA_GONE 0x676f6e65u /* "gone" */
#    define GPURT_CUDA_WAIT 0x77610000u /* with the barrier in the low half */

enum {
    GPURT_CUDA_UNITS = 64,       /* rows of each table */
    GPURT_CUDA_WINDOW_BITS = 16, /* cycles between two looks of a block at its guard */
    GPURT_CUDA_SERVE_ROUNDS = 64 /* without a warp that waits: nobody will */
};

/* Table 0: launches of which somebody may have to learn that a block is gone, by their numbers.
 * Table 1: which, keys of clusters and of launches (gpurt_cuda_launch_key). The newest in a row
 * counts: two that meet there were cancelled 64 launches, or clusters, apart. */
#    if defined(__CUDACC_RDC__)
inline
#    else
static
#    endif
    __device__ uint64_t gpurt_cuda_gone[2 * GPURT_CUDA_UNITS]; /* written by: who cancels */

/* The block's state: key of a cancelled block, or anything. As all addresses here, one of
 * shared memory: a load through a generic address is longer. */
__device__ __forceinline__ uint32_t gpurt_cuda_state(void)
{
    __shared__ uint64_t state[1];

    return (uint32_t)__cvta_generic_to_shared(state);
}

/* Of a watched block: its guard, the launch's number, the block's place << 32 | the attempt;
 * or anything. All three are compared: they lead to an address. */
__device__ __forceinline__ uint32_t gpurt_cuda_guard_words(void)
{
    __shared__ uint64_t words[3];

    return (uint32_t)__cvta_generic_to_shared(words);
}

/* Of a watched block: the window of the clock in which it last looked. */
__device__ __forceinline__ uint32_t gpurt_cuda_window(void)
{
    __shared__ uint32_t window[1];

    return (uint32_t)__cvta_generic_to_shared(window);
}

/* A word a warp: GPURT_CUDA_WAIT | threads << 4 | id of the named barrier it waits at, or
 * anything else. */
__device__ __forceinline__ uint32_t gpurt_cuda_wait_of(uint32_t warp)
{
    __shared__ uint32_t waits[GPURT_WARP_SIZE];

    return (uint32_t)__cvta_generic_to_shared(waits) + 4 * warp;
}

/* Two words a warp: the lanes that left, and the block's key; or anything. */
__device__ __forceinline__ uint32_t gpurt_cuda_left_of(uint32_t warp)
{
    __shared__ uint64_t left[GPURT_WARP_SIZE];

    return (uint32_t)__cvta_generic_to_shared(left) + 8 * warp;
}

/* Order: relaxed. No data goes with these words. */
GPURT_DEV uint32_t gpurt_cuda_load_u32(uint32_t shared)
{
    uint32_t v;

    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared) : "memory");
    return v;
}
GPURT_DEV void gpurt_cuda_store_u32(uint32_t shared, uint32_t v)
{
    asm volatile("st.relaxed.cta.shared.u32 [%0], %1;" ::"r"(shared), "r"(v) : "memory");
}
GPURT_DEV uint64_t gpurt_cuda_load_u64(uint32_t shared)
{
    uint64_t v;

    asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(v) : "r"(shared) : "memory");
    return v;
}
GPURT_DEV void gpurt_cuda_store_u64(uint32_t shared, uint64_t v)
{
    asm volatile("st.relaxed.cta.shared.u64 [%0], %1;" ::"r"(shared), "l"(v) : "memory");
}
/* Returns: what was there; v is there now if that was `expected`. */
GPURT_DEV uint64_t gpurt_cuda_cas_u64(uint32_t shared, uint64_t expected, uint64_t v)
{
    uint64_t found;

    asm volatile("atom.relaxed.cta.shared.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(found)
                 : "r"(shared), "l"(expected), "l"(v)
                 : "memory");
    return found;
}

/* Number of the launch in its context. */
GPURT_DEV uint64_t gpurt_cuda_grid(void)
{
    uint64_t id;

    asm("mov.u64 %0, %%gridid;" : "=l"(id));
    return id;
}

/* Neighbours in launch and place have different keys. */
GPURT_DEV uint64_t gpurt_cuda_key_of(uint32_t place)
{
    return (uint64_t)GPURT_CUDA_GONE << 32 |
           (uint32_t)(place + (uint32_t)gpurt_cuda_grid() * 0x9e3779b1u);
}
GPURT_DEV uint32_t gpurt_cuda_place(void)
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
GPURT_DEV uint64_t gpurt_cuda_key(void)
{
    return gpurt_cuda_key_of(gpurt_cuda_place());
}
/* Of a block that is watched, and not cancelled. */
GPURT_DEV uint64_t gpurt_cuda_watch_key(void)
{
    return gpurt_cuda_key() ^ 0x80000000u;
}
/* In table 1: a cooperative launch of which a block is gone, or one that was cancelled whole. */
GPURT_DEV uint64_t gpurt_cuda_launch_key(bool whole)
{
    return gpurt_cuda_grid() | (uint64_t)whole << 63;
}

/* Blocks of the cluster; 1 without clusters. */
GPURT_DEV uint32_t gpurt_cuda_cluster_blocks(void)
{
#    if GPURT_CUDA_ARCH >= 900
    uint32_t blocks;

    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
#    else
    return 1;
#    endif
}
GPURT_DEV uint64_t gpurt_cuda_cluster_key(void)
{
    uint32_t place = 0;

#    if GPURT_CUDA_ARCH >= 900
    uint32_t x, y, z, nx, ny;

    asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(z));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(ny));
    place = (z * ny + y) * nx + x;
#    endif
    return gpurt_cuda_key_of(place);
}

GPURT_DEV uint32_t gpurt_cuda_warp(void)
{
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) /
           GPURT_WARP_SIZE;
}

/* logturn.h. Without looks for a cancelled block a file's kernels use no shared memory of ours. */
#    define GPURT_TURNS       GPURT_CANCEL
#    define GPURT_TURN_PASSES (1u << 15) /* some milliseconds */
typedef uint32_t gpurt_turn_t;           /* an address of shared memory */
#    if GPURT_CANCEL
__device__ __forceinline__ gpurt_turn_t gpurt_turn_of(uint32_t warp)
{
    __shared__ uint32_t turns[GPURT_WARP_SIZE];

    return (uint32_t)__cvta_generic_to_shared(turns) + 4 * warp;
}
/* Never 0, which a free turn holds. place: gpurt_block_rank, which is at hand already. */
GPURT_DEV uint32_t gpurt_turn_key(uint32_t place)
{
    return (uint32_t)gpurt_cuda_key_of(place) | 1u;
}
GPURT_DEV uint32_t gpurt_turn_xchg(gpurt_turn_t turn, uint32_t key)
{
    uint32_t found;

    asm volatile("atom.acquire.cta.shared.exch.b32 %0, [%1], %2;" /* LT1.acq */
                 : "=r"(found)
                 : "r"(turn), "r"(key)
                 : "memory");
    return found;
}
GPURT_DEV void gpurt_turn_store(gpurt_turn_t turn, uint32_t v)
{
    asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(turn), "r"(v) /* LT1.rel */
                 : "memory");
}
#    else
#        define gpurt_turn_of(warp)        (warp)
#        define gpurt_turn_key(place)      (place)
#        define gpurt_turn_xchg(turn, key) ((void)(turn), (key))
#        define gpurt_turn_store(turn, v)  ((void)(turn), (void)(v))
#    endif

/* Address of the word that the driver sets aside for a cooperative launch, 0 in any
 * other launch. It is handed over in two environment registers; cooperative groups,
 * whose header costs a second an architecture to compile, reads the same ones. The first
 * word there is a size. */
GPURT_DEV uint64_t gpurt_cuda_grid_space(void)
{
    uint32_t high, low;

    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (uint64_t)high << 32 | low;
}

/* The grid barrier of cooperative groups counts arrivals, and nobody arrives for a block that is
 * gone: the others would wait for ever. It stands in files that include cooperative_groups.h, before
 * or behind this header. So a template asks whether its class is complete: nvcc makes that code at
 * the end of the file. With -rdc=true it may stand in any other file. */
namespace cooperative_groups
{
namespace __v1
{
class grid_group;
}
using namespace __v1;
} // namespace cooperative_groups
template <class T, size_t = sizeof(T)>
__device__ __forceinline__ bool gpurt_cuda_is_complete(int)
{
    return true;
}
template <class T> __device__ __forceinline__ bool gpurt_cuda_is_complete(long)
{
    return false;
}
template <class T> __device__ __forceinline__ bool gpurt_cuda_has_groups()
{
#    if defined(__CUDACC_RDC__) || defined(_COOPERATIVE_GROUPS_H_)
    return true;
#    else
    return gpurt_cuda_is_complete<T>(0);
#    endif
}

/* Returns: why the kernel has to be trapped behind a panic, GPURT_TRAP_*. */
GPURT_DEV uint32_t gpurt_must_trap(void)
{
    if (GPURT_PANIC_TRAP == GPURT_TRAP_GROUPS)
        return gpurt_cuda_has_groups<cooperative_groups::grid_group>() &&
                       gpurt_cuda_grid_space()
                   ? GPURT_TRAP_GROUPS
                   : GPURT_TRAP_NEVER;
    return GPURT_PANIC_TRAP;
}

#    if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
#        include <gpurt/impl/dialect_cuda_defer.h>
#    else
GPURT_DEV bool gpurt_in_deferred(void)
{
    return false;
}
GPURT_DEV void gpurt_cuda_defers_run(uint32_t mask)
{
    (void)mask;
}
#    endif

/* Puts a key into its row and sees it there: the lane may end right after, and with it a
 * cluster barrier. relaxed: no data goes with it. */
GPURT_DEV void gpurt_cuda_tell(uint32_t table, uint64_t number, uint64_t key)
{
    uint64_t *row = &gpurt_cuda_gone[table * GPURT_CUDA_UNITS + number % GPURT_CUDA_UNITS];

    gpurt_store_relaxed_dev_u64(row, key);
    if (gpurt_load_relaxed_dev_u64(row) != key) /* taken by another already */
        gpurt_store_relaxed_dev_u64(row, key);
}
GPURT_DEV bool gpurt_cuda_is_told(uint32_t table, uint64_t number, uint64_t key)
{
    return gpurt_load_relaxed_dev_u64(
               &gpurt_cuda_gone[table * GPURT_CUDA_UNITS + number % GPURT_CUDA_UNITS]) ==
           key;
}

/* NULL: none. */
GPURT_DEV gpurt_guard_t *gpurt_guard_here(void)
{
    uint32_t words = gpurt_cuda_guard_words();

    if (gpurt_cuda_load_u64(words + 8) != gpurt_cuda_grid() ||
        gpurt_cuda_load_u64(words + 16) >> 32 != gpurt_cuda_place())
        return NULL;
    return (gpurt_guard_t *)gpurt_cuda_load_u64(words);
}

/* Every lane of a block says the same before its first look: none needs to wait for another. A
 * block that a faster warp has cancelled stays so. */
GPURT_DEV void gpurt_guard_bind(gpurt_guard_t *guard, uint32_t attempt)
{
    uint32_t words = gpurt_cuda_guard_words();
    uint64_t found = gpurt_cuda_load_u64(gpurt_cuda_state());

    gpurt_cuda_store_u64(words, (uint64_t)guard);
    gpurt_cuda_store_u64(words + 8, gpurt_cuda_grid());
    gpurt_cuda_store_u64(words + 16, (uint64_t)gpurt_cuda_place() << 32 | attempt);
    if (found != gpurt_cuda_key())
        gpurt_cuda_cas_u64(gpurt_cuda_state(), found, gpurt_cuda_watch_key());
}

/* This block is gone, and its guard knows. */
GPURT_DEVN void gpurt_cuda_mark(void)
{
    gpurt_guard_t *guard = gpurt_guard_here();

    gpurt_cuda_store_u64(gpurt_cuda_state(), gpurt_cuda_key());
    if (guard)
        gpurt_store_relaxed_sys_u32(
            &gpurt_guard_blocks(guard)[gpurt_cuda_place()],
            (uint32_t)gpurt_cuda_load_u64(gpurt_cuda_guard_words() + 16) + 1);
}

GPURT_DEVN void gpurt_cancel_block(void)
{
    uint64_t grid = gpurt_cuda_grid();

    if (gpurt_cuda_cluster_blocks() > 1) {
        uint64_t key = gpurt_cuda_cluster_key();

        gpurt_cuda_tell(1, key, key);
    }
    if (gpurt_cuda_grid_space() &&
        !gpurt_cuda_is_told(1, grid, gpurt_cuda_launch_key(true)))
        gpurt_cuda_tell(1, grid, gpurt_cuda_launch_key(false));
    if (gpurt_cuda_cluster_blocks() > 1 || gpurt_cuda_grid_space())
        gpurt_cuda_tell(0, grid, grid);
    gpurt_cuda_mark();
}

/* why: GPURT_STOP_*; the first counts. */
GPURT_DEVN void gpurt_stop_kernel(uint32_t why)
{
    gpurt_guard_t *guard = gpurt_guard_here();
    uint64_t grid = gpurt_cuda_grid();
    uint32_t none = GPURT_STOP_NOT;

    if (guard)
        (void)gpurt_cas_relaxed_sys_u32(&guard->xstop, &none, why);
    gpurt_cuda_tell(1, grid, gpurt_cuda_launch_key(true));
    gpurt_cuda_tell(0, grid, grid);
    gpurt_cancel_block();
}

/* Whether a watched block's launch is to stop; asked once a window. Nobody fills the word
 * either: should it name this window by chance, the next one differs. */
GPURT_DEV bool gpurt_cuda_is_stopped(void)
{
    gpurt_guard_t *guard = gpurt_guard_here();
    uint32_t now;

    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    now >>= GPURT_CUDA_WINDOW_BITS;
    if (!guard || gpurt_cuda_load_u32(gpurt_cuda_window()) == now)
        return false;
    gpurt_cuda_store_u32(gpurt_cuda_window(), now);
    return gpurt_load_relaxed_sys_u32(&guard->xstop) != GPURT_STOP_NOT;
}

/* The mark is there: does it mean that this lane is to leave? In line and without a call that
 * comes back: such a call would cost the kernel registers where it has nothing to do with it. */
GPURT_DEV bool gpurt_cuda_is_gone(void)
{
    uint64_t found = gpurt_cuda_load_u64(gpurt_cuda_state());

    if (found == gpurt_cuda_key())
        return !gpurt_in_deferred();
    if (found == gpurt_cuda_watch_key())
        return gpurt_cuda_is_stopped() && !gpurt_in_deferred();
    gpurt_cuda_cas_u64(gpurt_cuda_state(), found, 0);
    return false;
}

GPURT_DEV bool gpurt_cuda_looks_gone(void)
{
    return GPURT_UNLIKELY(gpurt_cuda_load_u32(gpurt_cuda_state() + 4) == GPURT_CUDA_GONE) &&
           gpurt_cuda_is_gone();
}

GPURT_DEV bool gpurt_cancelled(void)
{
    bool gone = gpurt_cuda_looks_gone();

    if (gone && gpurt_cuda_load_u64(gpurt_cuda_state()) != gpurt_cuda_key())
        gpurt_cancel_block(); /* its launch was stopped: the next look need not ask again */
    return gone;
}

/* Whether the lanes of `mask` are the last of their warp to leave. */
GPURT_DEV bool gpurt_cuda_leaves_last(uint32_t mask, uint32_t warp)
{
    uint32_t threads = blockDim.x * blockDim.y * blockDim.z - warp * GPURT_WARP_SIZE;
    uint32_t all = threads >= GPURT_WARP_SIZE ? GPURT_FULL_MASK : (1u << threads) - 1u;
    uint64_t key = gpurt_cuda_key() << 32, found, now, seen;
    uint32_t word = gpurt_cuda_left_of(warp);

    found = gpurt_cuda_load_u64(word);
    for (;;) { /* ends: each failure is another group of this warp that left */
        now = (found >> 32 == key >> 32 ? found : key) | mask;
        seen = gpurt_cuda_cas_u64(word, found, now);
        if (seen == found)
            return ((uint32_t)now & all) == all;
        found = seen;
    }
}

/* A named barrier counts arrivals, and lanes that ended make none. So the last lanes of a warp
 * arrive wherever another warp of the block waits, until nobody does. Each of those finds its
 * block cancelled when it wakes. What is left over in a barrier ends with the block.
 *
 * Which barrier is known when it runs, so a kernel in which this stands has all sixteen set aside
 * for each of its blocks, and a multiprocessor has enough for half as many blocks as else. */
GPURT_DEV void gpurt_cuda_serve(void)
{
#    if GPURT_NAMED_BARRIER
    uint32_t warps =
        (blockDim.x * blockDim.y * blockDim.z + GPURT_WARP_SIZE - 1) / GPURT_WARP_SIZE;

    for (uint32_t quiet = 0; quiet < GPURT_CUDA_SERVE_ROUNDS; quiet++) {
        for (uint32_t w = 0; w < warps; w++) {
            uint32_t wait = gpurt_cuda_load_u32(gpurt_cuda_wait_of(w));

            if ((wait & 0xffff0000u) != GPURT_CUDA_WAIT)
                continue;
            asm volatile("barrier.arrive %0, %1;" ::"r"(wait & 15u), "r"(wait >> 4 & 0xfffu)
                         : "memory");
            quiet = 0;
        }
        asm volatile("nanosleep.u32 200;");
    }
#    endif
}

/* Those of a cancelled block see to its named barriers first: a panic in a handler ends the lane
 * that runs it. */
GPURT_DEVN GPURT_NORETURN void gpurt_leave(void)
{
    uint32_t mask = gpurt_activemask(), last = 0;
    bool leads = gpurt_lane() == gpurt_ctz(mask);

    if (gpurt_cuda_load_u64(gpurt_cuda_state()) == gpurt_cuda_key()) {
        if (leads)
            last = gpurt_cuda_leaves_last(mask, gpurt_cuda_warp());
        if (gpurt_any(mask, last != 0))
            gpurt_cuda_serve();
    }
    if (leads)
        gpurt_cuda_defers_run(mask);
    gpurt_thread_exit();
    __builtin_unreachable();
}

/* With its block, should nobody have said so yet. */
GPURT_DEVN GPURT_NORETURN void gpurt_cuda_go(void)
{
    if (gpurt_cuda_load_u64(gpurt_cuda_state()) != gpurt_cuda_key())
        gpurt_cancel_block();
    gpurt_leave();
}

/* The mark is there. Under this very name in PTX; with -rdc=true one for all units. */
extern "C" inline __device__ __noinline__ __attribute__((used)) void gpurt_cuda_look(void)
{
    if (gpurt_cuda_is_gone())
        gpurt_cuda_go();
}

/* The call is written out, because ptxas alone then sees to it: what nvcc knows as a call, or as a
 * branch that comes back, it surrounds with instructions that each look would have to pass. */
GPURT_DEV void gpurt_cancel_point(void)
{
    asm volatile("{\n\t"
                 ".reg .pred gone;\n\t"
                 ".reg .b32 mark;\n\t"
                 "ld.relaxed.cta.shared.u32 mark, [%0];\n\t"
                 "setp.eq.u32 gone, mark, %1;\n\t"
                 "@gone call gpurt_cuda_look;\n\t"
                 "}" ::"r"(gpurt_cuda_state() + 4),
                 "n"(GPURT_CUDA_GONE)
                 : "memory");
}

/* In barriers, gpurt_relax and log calls. */
GPURT_DEV void gpurt_safe_point(void)
{
#    if GPURT_CANCEL
    gpurt_cancel_point();
#    endif
}

/* Table 0 names this launch: does it mean this block? */
GPURT_DEV void gpurt_cuda_hear(void)
{
    uint64_t grid = gpurt_cuda_grid(), key = gpurt_cuda_cluster_key();

    if ((gpurt_cuda_is_told(1, grid, gpurt_cuda_launch_key(true)) ||
         (gpurt_cuda_cluster_blocks() > 1 && gpurt_cuda_is_told(1, key, key))) &&
        !gpurt_in_deferred())
        gpurt_cuda_go();
}

/* After a cluster barrier, which does not wait for lanes that ended: is a neighbour gone? Its
 * shared memory would be gone too. */
GPURT_DEV void gpurt_cuda_look_at_cluster(void)
{
#    if GPURT_CANCEL
    uint64_t grid = gpurt_cuda_grid();

    if (gpurt_cuda_cluster_blocks() > 1 &&
        GPURT_UNLIKELY(gpurt_cuda_is_told(0, grid, grid)))
        gpurt_cuda_hear();
    gpurt_cancel_point();
#    endif
}

/* In gpurt_relax: of the whole launch, too, but only in one of 16 stretches of 1,024 cycles, so
 * that who polls shared memory is not made to wait for global memory each time. */
GPURT_DEV void gpurt_cuda_look_around(void)
{
#    if GPURT_CANCEL
    uint64_t grid = gpurt_cuda_grid();
    uint32_t now;

    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    if ((gpurt_cuda_cluster_blocks() > 1 || (now & 0x3c00u) == 0) &&
        GPURT_UNLIKELY(gpurt_cuda_is_told(0, grid, grid)))
        gpurt_cuda_hear();
    gpurt_cancel_point();
#    endif
}

/* Of a launch with grid barriers. A look costs as much as one at the barrier's word. */
GPURT_DEV bool gpurt_cuda_grid_is_gone(uint32_t polls)
{
#    if GPURT_CANCEL
    uint64_t grid = gpurt_cuda_grid();

    return polls % 8 == 0 &&
           (gpurt_cuda_is_told(1, grid, gpurt_cuda_launch_key(false)) ||
            gpurt_cuda_is_told(1, grid, gpurt_cuda_launch_key(true)) || gpurt_cancelled());
#    else
    (void)polls;
    return false;
#    endif
}

#endif
