/* SPDX-License-Identifier: Apache-2.0 */
/* channel_warp_kernels.h - tiles that warps send and receive as one. */
#ifndef GPURT_TESTS_CHANNEL_WARP_KERNELS_H
#define GPURT_TESTS_CHANNEL_WARP_KERNELS_H

#include <gpurt/channelwarp.h>
#include <gpurt/kernel.h>

enum {
    TILE_UNITS = 3, /* of a lane's part */
    TILE_ROOM = 4,
    TILE_WARPS = 4,
    TILE_STATES = 8
};

/* A unit of a part: who made it, its message, its place. */
typedef struct GPURT_ALIGN(16) tile_unit {
    uint32_t sender, number, lane, unit;
} tile_unit_t;
typedef struct tile_part {
    tile_unit_t units[TILE_UNITS];
} tile_part_t;
typedef struct tile {
    tile_unit_t units[TILE_UNITS * GPURT_WARP_SIZE];
} tile_t;

GPURT_CHANNEL(tiles, tile_t, TILE_ROOM);

struct channel_warp_args {
    tiles_t tiles;
    uint32_t each;        /* messages a sender */
    uint32_t *bad, *got;  /* units that are wrong; messages that came, by sender */
    gpurt_status_t *told; /* TILE_STATES, as lane 31 was told them */
    tile_t *whole;        /* of a lane alone */
};

GPURT_KERNEL_DECLARE(channel_warp_storm, struct channel_warp_args);
GPURT_KERNEL_DECLARE(channel_warp_mixed, struct channel_warp_args);
GPURT_KERNEL_DECLARE(channel_warp_told, struct channel_warp_args);

#endif
