/* SPDX-License-Identifier: Apache-2.0 */
/* holding.h - kernels that know every byte of the memory they hold: a pattern over all of
 * it, and what was wrong with it. */
#ifndef GPURT_TESTS_HOLDING_H
#define GPURT_TESTS_HOLDING_H

#include <gpurt/atomic.h>
#include <gpurt/ids.h>

/* Written by: any lane. */
typedef struct holding_verdict {
    uint32_t xwrong; /* pieces of memory whose bytes were not what was written */
    uint32_t xrefused, xserved;
    uint32_t xmisplaced; /* against what was asked: alignment, length, answer */
    uint64_t xfirst;     /* the first wrong piece */
} holding_verdict_t;

/* A piece begins with its length in bytes, a multiple of 4; the rest is a pattern of its
 * address. */
GPURT_DEV uint32_t holding_pattern(const void *piece, uint32_t i)
{
    return (uint32_t)((uintptr_t)piece >> 4) * 2654435761u + i * 40503u;
}

GPURT_DEVN void holding_write(void *piece, uint32_t bytes)
{
    uint32_t *words = (uint32_t *)piece;

    words[0] = bytes;
    for (uint32_t i = 1; i < bytes / 4; i++)
        words[i] = holding_pattern(piece, i);
}

GPURT_DEV void holding_blame(holding_verdict_t *v, const void *piece)
{
    if (gpurt_add_relaxed_dev_u32(&v->xwrong, 1) == 0)
        gpurt_store_relaxed_dev_u64(&v->xfirst, (uint64_t)(uintptr_t)piece);
}

/* Reads all of it, and spoils it: what comes after must write its own. Returns: its length,
 * 4 when it was wrong. */
GPURT_DEVN uint32_t holding_read(void *piece, holding_verdict_t *v)
{
    uint32_t *words = (uint32_t *)piece, bytes = words[0], wrong = 0;

    if (bytes > 16u << 20 || bytes < 4)
        wrong = 1, bytes = 4;
    for (uint32_t i = 1; i < bytes / 4; i++) {
        wrong |= words[i] ^ holding_pattern(piece, i);
        words[i] = 0xdeadbeef;
    }
    words[0] = 0;
    if (wrong)
        holding_blame(v, piece);
    return bytes;
}

GPURT_DEV uint32_t holding_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A state for each lane of a launch. */
GPURT_DEV uint32_t holding_seed(uint32_t seed)
{
    uint32_t state = (uint32_t)gpurt_global_id64() * 747796405u + seed * 2891336453u + 1;

    state = (state >> 15 ^ state) * 2246822519u;
    return state ? state : 1;
}

#endif
