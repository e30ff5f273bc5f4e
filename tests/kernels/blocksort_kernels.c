/* SPDX-License-Identifier: Apache-2.0 */
#include "blocksort_kernels.h"

#include <gpurt/blocksort.h>
#include <gpurt/device.h>

#define BLOCKSORT_KERNEL(T, t)                                                             \
    GPURT_KERNEL(blocksort_##t, struct blocksort_args, p)                                  \
    {                                                                                      \
        uint32_t block = gpurt_block_rank();                                               \
        GPURT_SHARED_DYN(char, dyn);                                                       \
        void *room = p->room ? p->room + block * p->room_bytes : dyn;                      \
        uint32_t *values = p->values ? p->values + (size_t)block * p->n : NULL;            \
        gpurt_status_t st =                                                                \
            gpurt_block_sort_##t(room, (T *)p->keys + (size_t)block * p->n, values, p->n); \
                                                                                           \
        if (gpurt_thread_rank() == 0)                                                      \
            p->status[block] = st;                                                         \
    }
BLOCKSORT_KERNEL(uint32_t, u32)
BLOCKSORT_KERNEL(int32_t, i32)
BLOCKSORT_KERNEL(uint64_t, u64)
BLOCKSORT_KERNEL(int64_t, i64)
BLOCKSORT_KERNEL(float, f32)
BLOCKSORT_KERNEL(double, f64)

#define BLOCKSORT_COUNT(name, T, t)                                                     \
    GPURT_KERNEL(name, struct blocksort_args, p)                                        \
    {                                                                                   \
        GPURT_SHARED(uint32_t, counts, BLOCKSORT_BINS + 1);                             \
                                                                                        \
        for (uint32_t i = gpurt_thread_rank(); i <= BLOCKSORT_BINS;                     \
             i += gpurt_block_threads())                                                \
            counts[i] = 0;                                                              \
        gpurt_block_histogram_##t(counts, BLOCKSORT_BINS,                               \
                                  (const T *)p->keys + gpurt_block_rank() * p->n, p->n, \
                                  counts + BLOCKSORT_BINS);                             \
        gpurt_histogram_merge(p->total, counts, BLOCKSORT_BINS);                        \
        gpurt_histogram_merge(p->outside, counts + BLOCKSORT_BINS, 1);                  \
    }
BLOCKSORT_COUNT(blocksort_count, uint32_t, u32)
BLOCKSORT_COUNT(blocksort_bytes, uint8_t, u8)
