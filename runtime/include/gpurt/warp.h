/* SPDX-License-Identifier: Apache-2.0 */
/* warp.h - what the 32 lanes of a warp do together.
 *
 * Context: device code. Every operation names the lanes that take part; each of them, and no
 * other, must execute it with the same mask. Take masks from gpurt_ballot, gpurt_match_* or
 * gpurt_activemask that the same lanes executed. At most one operation a source line, so that
 * a report can name it.
 * Order: none of these orders memory, except gpurt_syncwarp: what a lane of the mask wrote
 * before it is seen by the others after it.
 *
 *   void     gpurt_syncwarp(mask)
 *   uint32_t gpurt_activemask()                  some lanes that run together here: any subset
 *                                                with the caller in it is a legal answer
 *   uint32_t gpurt_ballot(mask, predicate)       bit per lane
 *   bool     gpurt_any(mask, predicate)          gpurt_all(mask, predicate)
 *   uint32_t gpurt_match_any_u32/_u64(mask, v)   the lanes with the same value
 *   uint32_t gpurt_match_all_u32/_u64(mask, v, bool *same)   mask if all agree, else 0
 *
 *   T gpurt_shfl_T(mask, v, lane)                value of that lane
 *   T gpurt_shfl_idx_T(mask, v, lane, width)     the same inside groups of width lanes
 *   T gpurt_shfl_up_T(mask, v, delta, width)     from lane - delta; own value past the edge
 *   T gpurt_shfl_down_T(mask, v, delta, width)   from lane + delta; own value past the edge
 *   T gpurt_shfl_xor_T(mask, v, bits, width)     from lane ^ bits
 *       T: u32 i32 u64 i64 f32 f64; width: 1, 2, 4, 8, 16 or 32. The value of a lane that is
 *       not in the mask is undefined.
 *
 *   T gpurt_reduce_add_T, _min_T, _max_T(mask, v)       T: u32 i32 u64 i64 f32 f64
 *   T gpurt_reduce_and_T, _or_T, _xor_T(mask, v)        T: u32 u64
 *       every lane of the mask receives the result. Floats: with the full mask pairs of lanes
 *       are combined at distance 16, 8, 4, 2, 1, otherwise lanes in ascending order: one fixed
 *       order, so both back ends give the same bits.
 *
 *   uint32_t gpurt_popc(u32)  gpurt_popc64(u64)  gpurt_ctz(u32)  gpurt_ctz64(u64)
 *   uint32_t gpurt_clz(u32)   gpurt_clz64(u64)   (ctz and clz of 0 give the width)
 *   uint32_t gpurt_log2(u32)  (rounded down: the place of the highest bit; of 0 all bits set)
 * (defined in dialect_cuda.h and dialect_simt.h, on the CPU as macros: no address, and commas
 * of an argument in parentheses) */
#ifndef GPURT_WARP_H
#define GPURT_WARP_H

#include <gpurt/impl/dialect.h>

/* The lowest lane of a mask that is not empty. */
GPURT_DEV uint32_t gpurt_leader(uint32_t mask)
{
    return gpurt_ctz(mask);
}
GPURT_DEV bool gpurt_is_leader(uint32_t mask)
{
    return gpurt_lane() == gpurt_leader(mask);
}

#endif
