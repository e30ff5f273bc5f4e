/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of whole warps under seeds: each comes once and whole, though slots are few, so that a part read too early or
 * overwritten too soon is seen. */
#include "seeds.h"

#include "channel_warp_kernels.h"

#include <gpurt/channels.h>

enum {
    EACH = 9
};

int main(int argc, char **argv)
{
    struct channel_warp_args args = {.each = EACH};
    const gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {4 * GPURT_WARP_SIZE, 1, 1}};
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 40); seeds_next(&s, 3);) {
        uint32_t seen[1 + TILE_WARPS];

        args.bad = (uint32_t *)stage_zeros(sizeof seen);
        args.got = args.bad + 1;
        OK(gpurt_make_channel(rt, &args.tiles, NULL, &err));
        OK(gpurt_launch(rt, &launch, channel_warp_storm, &args, &err));
        OK(gpurt_copy(rt, 0, seen, args.bad, sizeof seen, &err));
        OK(gpurt_sync(rt, &err));
        CHECK_EQ(seen[0], 0);
        for (uint32_t i = 1; i <= TILE_WARPS; i++)
            CHECK_EQ(seen[i], EACH);
        OK(gpurt_channel_destroy(rt, &args.tiles.channel, &err));
        gpurt_mem_destroy(rt, args.bad);
    }
    return 0;
}
