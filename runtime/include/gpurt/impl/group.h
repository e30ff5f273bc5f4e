/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - sixteen bytes that are seen whole or not at all.
 *
 * A record crosses from a producer to the drainer as groups. A group is stored by one
 * 128-bit instruction and loaded by one, so that a reader sees all of it or none of it,
 * and its tag says which group of which record it is: nothing else synchronises a
 * record. Measured on an H200: 0 of 230 M groups torn when both sides use one
 * instruction; 0.3 % when a compiler splits the load, hence the assembly. Two groups may
 * arrive in any order. Device code stores; host code stores and loads. */
#ifndef GPURT_GROUP_H
#define GPURT_GROUP_H

#include <gpurt/atomic.h>

typedef struct GPURT_ALIGN(16) gpurt_group {
    uint32_t tag;     /* record.h says what it means */
    uint32_t word[3]; /* payload */
} gpurt_group_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_group_t) == 16, "one 128-bit access");

/* The race detector does not see these accesses, and need not: a group orders no other memory.
 * Its own 128-bit operations hold a lock of the process instead, which the process at the
 * other end of a box does not hold. A CPU without a 128-bit move that is known to be whole
 * goes through atomic.h; the memory must be writable there. */
#if !GPURT_IN_DEVICE && defined(__x86_64__)
#    define GPURT_GROUP_MOVE 1
typedef long long gpurt_group_raw_t __attribute__((vector_size(16), may_alias));
#else
#    define GPURT_GROUP_MOVE 0
#endif

/* Order: relaxed. Whole because processors with AVX move aligned 16 bytes at once; a box on
 * an older one is refused at attach (boxmap.h). */
GPURT_HD void gpurt_group_store(gpurt_group_t *to, gpurt_group_t group)
{
#if GPURT_GROUP_MOVE
    /* Put together in registers: a load of 16 bytes that were just stored by fours waits. */
    gpurt_group_raw_t raw = {(long long)(group.tag | (uint64_t)group.word[0] << 32),
                             (long long)(group.word[1] | (uint64_t)group.word[2] << 32)};

    GPURT_RAW_point(to, 16, sys, GPURT_POINT_STORE);
    __asm__ __volatile__("movdqa %1, %0"
                         : "=m"(*(gpurt_group_raw_t *)to)
                         : "x"(raw)
                         : "memory");
#else
    gpurt_u128_t wide;

    wide.lo = group.tag | (uint64_t)group.word[0] << 32;
    wide.hi = group.word[1] | (uint64_t)group.word[2] << 32;
    gpurt_store_relaxed_sys_u128((gpurt_u128_t *)to, wide);
#endif
}

#if !GPURT_IN_DEVICE
/* Order: relaxed. Context: host. The memory may be read-only on x86-64. */
static inline gpurt_group_t gpurt_group_load(const gpurt_group_t *from)
{
    gpurt_group_t group;
#    if GPURT_GROUP_MOVE
    gpurt_group_raw_t raw;

    __asm__ __volatile__("movdqa %1, %0"
                         : "=x"(raw)
                         : "m"(*(const gpurt_group_raw_t *)from)
                         : "memory");
    __builtin_memcpy(&group, &raw, sizeof group);
#    else
    gpurt_u128_t wide = gpurt_load_relaxed_sys_u128((const gpurt_u128_t *)from);

    group.tag = (uint32_t)wide.lo;
    group.word[0] = (uint32_t)(wide.lo >> 32);
    group.word[1] = (uint32_t)wide.hi;
    group.word[2] = (uint32_t)(wide.hi >> 32);
#    endif
    return group;
}
#endif

#endif
