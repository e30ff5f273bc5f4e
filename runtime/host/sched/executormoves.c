/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that became ready on one multiprocessor and were taken up on another, by pair. Kernels count
 * those of sampled rows. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorown.h"

#include "refuse.h"

#include <stdlib.h>
#include <string.h>

/* Whole words of 64 bits, by which they are fetched. */
size_t gpurt_executor_moves_bytes(const gpurt_executor_map_t *m)
{
    return ((size_t)m->sms * m->sms + 1) / 2 * sizeof(uint64_t);
}

static bool is_less(const gpurt_executor_pair_t *a, const gpurt_executor_pair_t *b)
{
    return a->tasks < b->tasks;
}

uint32_t gpurt_executor_moves_most(const uint32_t *moves, uint32_t sms,
                                   gpurt_executor_pair_t *pairs, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sms * sms; i++) {
        gpurt_executor_pair_t p = {moves[i] * GPURT_TASK_SAMPLED, i / sms, i % sms};
        uint32_t at = count;

        while (at && is_less(&pairs[at - 1], &p))
            at--;
        if (!p.tasks || at == most)
            continue;
        count += count < most;
        memmove(&pairs[at + 1], &pairs[at], (count - 1 - at) * sizeof *pairs);
        pairs[at] = p;
    }
    return count;
}

static gpurt_status_t moves_read(gpurt_executor_own_t *e, uint32_t *cells,
                                 gpurt_error_t *err)
{
    size_t bytes = gpurt_executor_moves_bytes(&e->map);
    uint32_t *moves = (uint32_t *)malloc(bytes);
    gpurt_status_t st;

    if (!moves)
        return REFUSE(err, GPURT_E_NOMEM, "no memory for %zu bytes of counts", bytes);
    st = gpurt_executor_fetch(e, moves, e->map.moves, bytes, err);
    for (uint32_t i = 0; st == GPURT_OK && i < e->map.sms * e->map.sms; i++)
        cells[i] = moves[i] * GPURT_TASK_SAMPLED;
    free(moves);
    return st;
}

gpurt_status_t gpurt_executor_moves(gpurt_t *rt, gpurt_executor_t x, uint32_t *cells,
                                    uint32_t side, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e;

    if (!cells)
        return REFUSE(err, GPURT_E_INVALID, "cells is NULL: pass a place for the counts");
    e = gpurt_executor_hold(rt, x, &st, err);
    if (!e)
        return st;
    st = side == e->map.sms
             ? moves_read(e, cells, err)
             : REFUSE(err, GPURT_E_INVALID,
                      "side is %u: the device has %u multiprocessors (gpurt_info)", side,
                      e->map.sms);
    gpurt_executor_let(e);
    return st;
}
