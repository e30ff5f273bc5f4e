/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's own atomics, in the kernels in which bench_atomic measures gpurt's. On the CPU back end they
 * are gpurt's too: there is nothing to compare with. */
#include <gpurt/device.h>

#include "bench_atomic.h"

#if GPURT_IN_DEVICE
#    define WORD(p)        ((unsigned long long *)(p))
#    define ADD(p, v)      atomicAdd(WORD(p), v)
#    define ADD_32(p, v)   atomicAdd(p, v)
#    define XCHG(p, v)     atomicExch(WORD(p), v)
#    define CAS(p, v)      atomicCAS(WORD(p), v, v)
#    define ADD_SYS(p, v)  atomicAdd_system(WORD(p), v)
#    define XCHG_SYS(p, v) atomicExch_system(WORD(p), v)
#    define CAS_SYS(p, v)  atomicCAS_system(WORD(p), v, v)
#    define LOAD(p, scope) \
        __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_##scope)
#    define CAS_128(p, e, d, scope)                                                \
        (void)__nv_atomic_compare_exchange(p, e, &(d), false, __NV_ATOMIC_RELAXED, \
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_##scope)
#else
#    define ADD(p, v)               gpurt_add_relaxed_dev_u64(p, v)
#    define ADD_32(p, v)            gpurt_add_relaxed_dev_u32(p, v)
#    define XCHG(p, v)              gpurt_xchg_relaxed_dev_u64(p, v)
#    define CAS(p, v)               bench_cas(p, v)
#    define ADD_SYS(p, v)           ADD(p, v)
#    define XCHG_SYS(p, v)          XCHG(p, v)
#    define CAS_SYS(p, v)           CAS(p, v)
#    define LOAD(p, scope)          gpurt_load_relaxed_sys_u64(p)
#    define CAS_128(p, e, d, scope) (void)gpurt_cas_relaxed_dev_u128(p, e, d)

GPURT_HD uint64_t bench_cas(uint64_t *p, uint64_t v)
{
    (void)gpurt_cas_relaxed_dev_u64(p, &v, v);
    return v;
}
#endif

/* seen is behind the call what was found. */
#define CHAIN_128(word, v, scope)        \
    do {                                 \
        gpurt_u128_t seen_ = v;          \
                                         \
        CAS_128(word, &seen_, v, scope); \
        v = seen_;                       \
    } while (0)
BENCH_LATENCY(bench_bare_load_shared, uint64_t, BENCH_OWN, v = LOAD(word + v, BLOCK))
BENCH_LATENCY(bench_bare_add32_shared, uint32_t, BENCH_OWN, v = ADD_32(word, v))
BENCH_LATENCY(bench_bare_add_shared, uint64_t, BENCH_OWN, v = ADD(word, v))
BENCH_LATENCY(bench_bare_xchg_shared, uint64_t, BENCH_OWN, v = XCHG(word, v))
BENCH_LATENCY(bench_bare_cas_shared, uint64_t, BENCH_OWN, v = CAS(word, v))
BENCH_LATENCY(bench_bare_cas128_shared, gpurt_u128_t, BENCH_OWN, CHAIN_128(word, v, BLOCK))
BENCH_LATENCY(bench_bare_load_memory, uint64_t, BENCH_FAR, v = LOAD(word + v, DEVICE))
BENCH_LATENCY(bench_bare_add_memory, uint64_t, BENCH_FAR, v = ADD(word, v))
BENCH_LATENCY(bench_bare_xchg_memory, uint64_t, BENCH_FAR, v = XCHG(word, v))
BENCH_LATENCY(bench_bare_cas_memory, uint64_t, BENCH_FAR, v = CAS(word, v))
BENCH_LATENCY(bench_bare_cas128_memory, gpurt_u128_t, BENCH_FAR, CHAIN_128(word, v, DEVICE))
BENCH_LATENCY(bench_bare_load_host, uint64_t, BENCH_FAR, v = LOAD(word + v, SYSTEM))
BENCH_LATENCY(bench_bare_add_host, uint64_t, BENCH_FAR, v = ADD_SYS(word, v))
BENCH_LATENCY(bench_bare_xchg_host, uint64_t, BENCH_FAR, v = XCHG_SYS(word, v))
BENCH_LATENCY(bench_bare_cas_host, uint64_t, BENCH_FAR, v = CAS_SYS(word, v))
BENCH_LATENCY(bench_bare_cas128_host, gpurt_u128_t, BENCH_FAR, CHAIN_128(word, v, SYSTEM))

BENCH_ISSUE(bench_bare_red_u32, uint32_t, (void)ADD_32(word, 1u))
BENCH_MANY(bench_bare_uniform_red, uint32_t, (void)ADD_32(word, 1u))
BENCH_MANY(bench_bare_uniform_add, uint32_t, seen += ADD_32(word, 1u))
BENCH_MANY(bench_bare_lanes_red, uint32_t, (void)ADD_32(word + p->zero * gpurt_lane(), 1u))
BENCH_MANY(bench_bare_lanes_add, uint32_t,
           seen += ADD_32(word + p->zero * gpurt_lane(), 1u))
