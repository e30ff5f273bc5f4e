/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of what a block, a cluster and a grid do together, of shared memory, of time and
 * of launches. semantics.h says what each word means. */
#define GPURT_NAMED_BARRIER 1
#include "semantics.h"

#include <gpurt/device.h>

GPURT_DEV uint64_t *probe_row(const struct probe_args *p)
{
    return p->out + gpurt_global_id64() * p->words;
}

/* ---- block barriers ------------------------------------------------------------------ */
GPURT_KERNEL(probe_barrier, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();

    for (uint32_t round = 0; round < PROBE_BARRIER_ROUNDS; round++) {
        bool yes = probe_predicate(id, round, PROBE_BARRIER_ROUNDS);

        row[3 * round] = gpurt_block_barrier_count(yes);
        row[3 * round + 1] = gpurt_block_barrier_and(yes);
        row[3 * round + 2] = gpurt_block_barrier_or(yes);
    }
}

/* A third of the threads leaves before the first barrier, a third after it; nobody waits
 * for them. In mode 1 whole warps leave. */
GPURT_KERNEL(probe_barrier_exit, struct probe_args, p)
{
    uint64_t *row = probe_row(p);
    uint32_t third = (p->mode ? gpurt_warp() : gpurt_thread_rank()) % 3;

    row[0] = row[1] = PROBE_UNTOUCHED;
    if (third == 1)
        return;
    row[0] = gpurt_block_barrier_count(third == 0);
    if (third == 2)
        return;
    row[1] = gpurt_block_barrier_count(true);
}

/* Each thread reads what two others wrote, then the cells are written again: both barriers
 * of a round are needed. */
GPURT_KERNEL(probe_exchange, struct probe_args, p)
{
    GPURT_SHARED_DYN(uint64_t, cell);
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t rank = gpurt_thread_rank(), threads = gpurt_block_threads();

    for (uint32_t round = 0; round < p->words; round++) {
        cell[rank] = probe_input(id, round);
        gpurt_block_barrier();
        row[round] = cell[(rank + 1) % threads] + 3 * cell[(rank + threads / 2) % threads];
        gpurt_block_barrier();
    }
}

/* Warp 0 fills two buffers in turn, the other warps read them. Barriers 1 and 2 say that
 * buffer 0 or 1 is full, 3 and 4 that it is empty; each side waits at one and only arrives
 * at the other. */
GPURT_KERNEL(probe_named, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, buffer, 2 * GPURT_WARP_SIZE);
    uint64_t *row = probe_row(p);
    uint32_t threads = gpurt_block_threads(), lane = gpurt_lane();

    for (uint32_t item = 0; item < PROBE_ITEMS; item++) {
        uint32_t which = item % 2;
        uint64_t *mine = &buffer[which * GPURT_WARP_SIZE + lane];

        if (gpurt_warp() == 0) {
            if (item >= 2)
                gpurt_named_barrier(3 + which, threads);
            *mine = probe_input(gpurt_global_id64(), item);
            row[item] = *mine;
            gpurt_named_arrive(1 + which, threads);
        } else {
            gpurt_named_barrier(1 + which, threads);
            row[item] = *mine;
            if (item + 2 < PROBE_ITEMS)
                gpurt_named_arrive(3 + which, threads);
        }
    }
}

/* ---- shared memory ------------------------------------------------------------------- */
/* One object, wherever this function is called from. */
GPURT_DEV uint64_t *probe_common_cell(void)
{
    GPURT_SHARED(uint64_t, common, 1);
    return common;
}

/* Objects of several types and sizes, all written, then all read: none overlaps another,
 * each is aligned, each block has its own. */
GPURT_KERNEL(probe_shared, struct probe_args, p)
{
    GPURT_SHARED(uint8_t, odd, 37);
    GPURT_SHARED(gpurt_u128_t, wide, 3);
    GPURT_SHARED(uint16_t, half, 5);
    GPURT_SHARED(uint64_t, word, GPURT_MAX_BLOCK_THREADS);
    GPURT_SHARED_DYN(uint32_t, dyn);
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t rank = gpurt_thread_rank(), block = gpurt_block_rank();

    if (rank < 37)
        odd[rank] = (uint8_t)(block + rank);
    if (rank < 3)
        wide[rank].lo = wide[rank].hi = probe_input(block, rank);
    if (rank < 5)
        half[rank] = (uint16_t)(block * 5 + rank);
    if (rank == 0)
        *probe_common_cell() = block + 9;
    word[rank] = probe_input(id, 0);
    dyn[rank] = (uint32_t)probe_input(id, 1);
    gpurt_block_barrier();
    row[0] = odd[rank % 37];
    row[1] = wide[rank % 3].lo ^ (wide[rank % 3].hi << 1);
    row[2] = half[rank % 5];
    row[3] = word[rank];
    row[4] = dyn[rank];
    row[5] = *probe_common_cell();
    row[6] = (uintptr_t)wide % 16 + (uintptr_t)word % 8 + (uintptr_t)half % 2;
    row[7] = (uintptr_t)dyn % 16;
}

/* The CPU back end fills shared memory with 0xa5 before a block starts, however many blocks
 * used it before. */
GPURT_KERNEL(probe_poison, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, fixed, 64);
    GPURT_SHARED_DYN(uint64_t, dyn);
    uint64_t *row = probe_row(p);
    uint32_t rank = gpurt_thread_rank();

    row[0] = fixed[rank];
    row[1] = dyn[rank];
    gpurt_block_barrier();
    fixed[rank] = dyn[rank] = 0;
}

/* ---- clusters and grids -------------------------------------------------------------- */
GPURT_KERNEL(probe_cluster, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, cell, GPURT_MAX_BLOCK_THREADS);
    GPURT_SHARED(uint32_t, count, 1);
    uint64_t *row = probe_row(p);
    uint32_t rank = gpurt_thread_rank(), self = gpurt_cluster_rank();
    uint32_t blocks = gpurt_cluster_size();
    uint64_t *next = (uint64_t *)gpurt_cluster_shared(cell, (self + 1) % blocks);
    uint32_t *first = (uint32_t *)gpurt_cluster_shared(count, 0);

    cell[rank] = probe_input(gpurt_global_id64(), 0);
    if (rank == 0)
        *count = 0;
    gpurt_cluster_barrier();
    row[0] = next[rank];
    gpurt_add_relaxed_clu_u32(first, 1u);
    gpurt_cluster_barrier();
    row[1] = *first;
    row[2] = self;
    row[3] = blocks;
    gpurt_cluster_barrier(); /* a block must not end while others read its shared memory */
}

/* Every block writes its cell, every thread sums them all, again and again in the same
 * cells. */
GPURT_KERNEL(probe_grid, struct probe_args, p)
{
    uint64_t *row = probe_row(p);
    uint32_t block = gpurt_block_rank();

    for (uint32_t round = 0; round < PROBE_GRID_ROUNDS; round++) {
        uint64_t sum = 0;

        if (gpurt_thread_rank() == 0)
            p->mem[block] = probe_input(block, round);
        gpurt_grid_barrier();
        for (uint32_t i = 0; i < gpurt_grid_blocks(); i++)
            sum += p->mem[i];
        row[round] = sum;
        gpurt_grid_barrier();
    }
}

/* Each unit waits for its neighbour and adds one. Bit 0 of mode: from the last unit to the
 * first; bit 1: the units are the threads of a block, not the blocks. */
GPURT_KERNEL(probe_chain, struct probe_args, p)
{
    bool threads = (p->mode & 2) != 0, backward = (p->mode & 1) != 0;
    uint32_t unit = threads ? gpurt_thread_rank() : gpurt_block_rank();
    uint32_t units = threads ? gpurt_block_threads() : gpurt_grid_blocks();
    uint64_t hops = 0;

    if (threads || gpurt_thread_rank() == 0) {
        uint32_t before = backward ? unit + 1 : unit - 1;

        /* The first unit has none: its number is out of range either way. */
        while (before < units && (hops = gpurt_load_acquire_dev_u64(&p->mem[before])) == 0)
            gpurt_relax();
        gpurt_store_release_dev_u64(&p->mem[unit], hops + 1);
    }
    gpurt_block_barrier();
    probe_row(p)[0] = p->mem[unit];
}

/* Odd lanes leave from inside a call; a warp operation and a barrier go on without them. */
GPURT_DEVN void probe_leave(uint32_t lane)
{
    if (lane & 1)
        gpurt_thread_exit();
}
GPURT_KERNEL(probe_exits, struct probe_args, p)
{
    uint64_t *row = probe_row(p);
    uint32_t live = probe_live(gpurt_block_threads(), gpurt_warp());

    row[0] = row[1] = PROBE_UNTOUCHED;
    probe_leave(gpurt_lane());
    row[0] = gpurt_ballot(live & 0x55555555u, true);
    row[1] = gpurt_block_barrier_count(true);
}

/* ---- time and place ------------------------------------------------------------------ */
/* The threads of the grid pass a baton in order; whoever has it reads the clocks. */
GPURT_KERNEL(probe_clock, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();

    row[0] = gpurt_clock();
    while (id > 0 && gpurt_load_acquire_dev_u64(&p->mem[0]) != id)
        gpurt_relax();
    row[1] = gpurt_globaltimer();
    row[2] = gpurt_globaltimer();
    gpurt_store_release_dev_u64(&p->mem[0], id + 1);
    row[3] = gpurt_clock();
}

/* Cooperative: all warps are resident while they look. */
GPURT_KERNEL(probe_slots, struct probe_args, p)
{
    uint64_t *row = probe_row(p);

    row[0] = gpurt_sm();
    row[1] = gpurt_warp_slot();
    gpurt_grid_barrier();
    row[2] = gpurt_sm();
    row[3] = gpurt_warp_slot();
}

/* ---- launches ------------------------------------------------------------------------ */
/* Counts its threads, and sums a hash of each one's number: none is missing, none ran
 * twice. */
GPURT_KERNEL(probe_large, struct probe_args, p)
{
    uint64_t sum = gpurt_reduce_add_u64(GPURT_FULL_MASK, probe_mix(gpurt_global_id64()));

    if (gpurt_lane() == 0) {
        gpurt_add_relaxed_dev_u64(&p->mem[0], GPURT_WARP_SIZE);
        gpurt_add_relaxed_dev_u64(&p->mem[1], sum);
    }
}

/* The caller scribbles over its struct between launch and `go`. */
GPURT_KERNEL(probe_args_copy, struct probe_big_args, p)
{
    uint64_t sum = 0;

    while (gpurt_load_acquire_sys_u32(p->go) == 0)
        gpurt_relax();
    for (uint32_t i = 0; i < sizeof p->fill; i++)
        sum = sum * 31 + p->fill[i];
    p->out[gpurt_global_id64()] = sum;
}
