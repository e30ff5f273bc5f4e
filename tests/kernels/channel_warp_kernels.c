/* SPDX-License-Identifier: Apache-2.0 */
#include "channel_warp_kernels.h"

#include <gpurt/device.h>

GPURT_DEV tile_part_t part_made(uint32_t sender, uint32_t number)
{
    tile_part_t part;

    for (uint32_t i = 0; i < TILE_UNITS; i++)
        part.units[i] = (tile_unit_t){sender, number, gpurt_lane(), i};
    return part;
}

/* All lanes have a part of one message, each its own. */
GPURT_DEV void part_check(const struct channel_warp_args *p, const tile_part_t *part)
{
    uint32_t sender = gpurt_shfl_u32(GPURT_FULL_MASK, part->units[0].sender, 0);
    uint32_t number = gpurt_shfl_u32(GPURT_FULL_MASK, part->units[0].number, 0);
    uint32_t bad = 0;

    for (uint32_t i = 0; i < TILE_UNITS; i++)
        bad += part->units[i].sender != sender || part->units[i].number != number ||
               part->units[i].lane != gpurt_lane() || part->units[i].unit != i;
    if (bad || sender >= TILE_WARPS)
        gpurt_add_relaxed_dev_u32(p->bad, 1);
    else if (gpurt_lane() == 0)
        gpurt_add_relaxed_dev_u32(&p->got[sender], 1);
}

/* Even warps send, odd ones receive as many. */
GPURT_KERNEL(channel_warp_storm, struct channel_warp_args, p)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE;
    tile_part_t part;

    for (uint32_t i = 0; i < p->each; i++) {
        gpurt_status_t st;

        part = part_made(warp / 2, i);
        st = warp % 2 ? gpurt_receive_warp(&p->tiles, &part)
                      : gpurt_send_warp(&p->tiles, &part);
        if (st != GPURT_OK)
            gpurt_add_relaxed_dev_u32(p->bad, 1);
        else if (warp % 2)
            part_check(p, &part);
    }
}

/* One warp: a lane alone receives what the warp sent, and sends it back. */
GPURT_KERNEL(channel_warp_mixed, struct channel_warp_args, p)
{
    tile_part_t part = part_made(1, 7);
    uint32_t bad = gpurt_send_warp(&p->tiles, &part) != GPURT_OK;

    if (gpurt_lane() == 5) {
        bad += gpurt_receive(&p->tiles, p->whole) != GPURT_OK;
        for (uint32_t i = 0; i < TILE_UNITS * GPURT_WARP_SIZE; i++)
            bad += p->whole->units[i].lane != i % GPURT_WARP_SIZE ||
                   p->whole->units[i].unit != i / GPURT_WARP_SIZE;
        bad += gpurt_send(&p->tiles, p->whole) != GPURT_OK;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    part = part_made(9, 9);
    bad += gpurt_receive_warp(&p->tiles, &part) != GPURT_OK;
    part_check(p, &part);
    if (bad)
        gpurt_add_relaxed_dev_u32(p->bad, bad);
}

/* One warp: what all lanes are told. */
GPURT_KERNEL(channel_warp_told, struct channel_warp_args, p)
{
    gpurt_status_t told[TILE_STATES];
    tile_part_t part;

    part = part_made(0, 0);
    told[0] = gpurt_try_receive_warp(&p->tiles, &part);
    told[1] = gpurt_receive_warp_for(&p->tiles, &part, 1000);
    for (uint32_t i = 0; i < TILE_ROOM; i++)
        (void)gpurt_send_warp(&p->tiles, &part);
    told[2] = gpurt_try_send_warp(&p->tiles, &part);
    told[3] = gpurt_send_warp_for(&p->tiles, &part, 1000);
    part = part_made(2, 1);
    told[4] = gpurt_send_warp(&p->tiles, &part); /* by the policy */
    for (uint32_t i = 0; i < TILE_ROOM; i++)
        (void)gpurt_receive_warp(&p->tiles, &part);
    told[5] =
        part.units[0].sender == 2 ? GPURT_OK : GPURT_E_EMPTY; /* the newest came last */
    if (gpurt_lane() == 0)
        (void)gpurt_channel_close(&p->tiles.channel);
    gpurt_syncwarp(GPURT_FULL_MASK);
    told[6] = gpurt_receive_warp(&p->tiles, &part);
    told[7] = gpurt_send_warp(&p->tiles, &part);
    if (gpurt_lane() == 31)
        for (uint32_t i = 0; i < TILE_STATES; i++)
            p->told[i] = told[i];
}
