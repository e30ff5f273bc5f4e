/* SPDX-License-Identifier: Apache-2.0 */
/* bump_cost.cu - requests of arenas, one after the other, for bump_cost.py. Never run.
 *
 * KERNELS makes one kernel with one request and one with nine: the difference is what eight
 * cost. What a request gets is stored, as a program would use it. */
#include <gpurt/arena.h>

struct bump_args {
    gpurt_arena_source_t source;
    void *memory;
    void **out;
    uint32_t bytes, size;
    size_t wide;
};

#define THREE(i, request) \
    p.out[i] = request, p.out[(i) + 1] = request, p.out[(i) + 2] = request
#define KERNEL(name, requests)                                                  \
    extern "C" __global__ void name(const __grid_constant__ struct bump_args p) \
    {                                                                           \
        gpurt_arena_t a;                                                        \
                                                                                \
        gpurt_arena_init(&a, p.memory, p.bytes);                                \
        gpurt_arena_grow_from(&a, &p.source, 0);                                \
        requests;                                                               \
        p.out[9] = a.at; /* the arena lives till here */                        \
        p.out[10] = (void *)(uintptr_t)(a.left + a.pieces);                     \
    }
#define KERNELS(name, request)           \
    KERNEL(name##_1, p.out[0] = request) \
    KERNEL(name##_9, (THREE(0, request), THREE(3, request), THREE(6, request)))

KERNELS(bump_thread, gpurt_arena_alloc(&a, 48))
KERNELS(bump_thread_any, gpurt_arena_alloc(&a, p.size))
KERNELS(bump_thread_wide, gpurt_arena_alloc(&a, p.wide))
KERNELS(bump_warp, gpurt_arena_warp_alloc(&a, 48))
