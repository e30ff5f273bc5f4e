/* SPDX-License-Identifier: Apache-2.0 */
/* As NVIDIA's cuda_occupancy.h has it, against which tests hold it, for devices of compute
 * capability 7.0 and later: registers are given to warps, each of which lives in one of four
 * parts of its multiprocessor; shared memory is given to blocks. */
#include "occupancy.h"

enum {
    PARTS = 4,           /* of a multiprocessor, each with a quarter of the registers */
    REGISTER_UNIT = 256, /* that a warp is given at a time */
    SHARED_UNIT_7 = 256, /* bytes that a block is given at a time: of capability 7, */
    SHARED_UNIT = 128    /* and of later ones */
};

static uint64_t up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The driver refuses a block as if each part had to hold as many of its warps as any does. */
static uint64_t blocks_by_registers(const gpurt_activity_device_t *d, uint64_t warps,
                                    uint32_t registers)
{
    uint64_t of_warp = up((uint64_t)registers * d->warp, REGISTER_UNIT);

    if (registers == 0)
        return UINT64_MAX;
    if (of_warp * up(warps, PARTS) > d->block_registers)
        return 0;
    return d->registers / PARTS / of_warp * PARTS / warps;
}

static uint64_t blocks_by_shared(const gpurt_activity_device_t *d, uint32_t shared_bytes)
{
    uint64_t of_block = up((uint64_t)shared_bytes + d->kept_bytes,
                           d->major < 8 ? SHARED_UNIT_7 : SHARED_UNIT);

    return of_block ? d->shared_bytes / of_block : UINT64_MAX;
}

uint32_t gpurt_model_occupancy(const gpurt_activity_device_t *device, uint64_t threads,
                               uint32_t registers, uint32_t shared_bytes)
{
    uint64_t most, warps, blocks;

    if (device->warp == 0 || device->major < 7 || threads == 0)
        return 0;
    most = device->threads / device->warp;
    warps = up(threads, device->warp) / device->warp;
    blocks = least(device->blocks, most / warps);
    blocks = least(blocks, blocks_by_registers(device, warps, registers));
    blocks = least(blocks, blocks_by_shared(device, shared_bytes));
    return most ? (uint32_t)((blocks * warps * 10000 + most / 2) / most) : 0;
}
