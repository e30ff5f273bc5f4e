/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_faults.h"

#include <gpurt/device.h>

/* One lane of many fails. Addresses are made from data, so that no compiler sees it
 * coming. */
GPURT_KERNEL(faults_one, struct faults_args, p)
{
    if (gpurt_global_id() == 33) {
        uintptr_t place = (uintptr_t)p->out;

        if (p->fault == FAULT_TRAP)
            gpurt_trap();
        if (p->fault == FAULT_ADDRESS)
            place = p->fault * 16; /* the first page is never mapped */
        if (p->fault == FAULT_MISALIGNED)
            place += 4;
        *(uint64_t *)place = 1;
        /* A kernel that ends at once may be told as done when core dumps are on. */
        for (uint64_t start = gpurt_clock();
             p->fault != FAULT_NONE && gpurt_clock() - start < FAULTS_WAIT;)
            gpurt_relax();
    }
}

GPURT_KERNEL(faults_static_shared, struct faults_args, p)
{
    GPURT_SHARED(uint64_t, fixed, FAULTS_STATIC_BYTES / sizeof(uint64_t));
    GPURT_SHARED_DYN(uint64_t, more);
    uint32_t i = gpurt_thread_x();

    fixed[i] = more[i] = i;
    gpurt_block_barrier();
    p->out[i] = fixed[i] + more[i];
}

GPURT_KERNEL(faults_dyn_shared, struct faults_args, p)
{
    GPURT_SHARED_DYN(uint64_t, word);
    uint32_t i = gpurt_thread_x();

    word[i] = i;
    gpurt_block_barrier();
    p->out[i] = word[i];
}

/* Holds more registers than 1,024 threads can have: the loads cannot move past the
 * barrier. */
GPURT_KERNEL(faults_wide, struct faults_args, p)
{
    uint64_t v[FAULTS_WIDE], sum = 0;

    for (uint32_t i = 0; i < FAULTS_WIDE; i++)
        v[i] = p->out[i];
    gpurt_block_barrier();
    for (uint32_t i = 0; i < FAULTS_WIDE; i++)
        sum = sum * v[FAULTS_WIDE - 1 - i] + v[i];
    p->out[gpurt_thread_x()] = sum;
}

GPURT_KERNEL(faults_grid, struct faults_args, p)
{
    gpurt_grid_barrier();
    if (gpurt_global_id() == 0)
        p->out[0] = gpurt_grid_blocks();
}
