/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of whole warps: each lane gets its part of one message, lanes alone read the same bytes, and all lanes are told
 * the same, whatever the policy. */
#include "../kernels/channel_warp_kernels.h"
#include "../kernels/stage_parts.h"

#include <gpurt/channels.h>

enum {
    EACH = 200
};

static struct channel_warp_args args;
static uint32_t bad, got[TILE_WARPS];
static gpurt_status_t told[TILE_STATES];

static void played(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads,
                   uint32_t policy)
{
    const gpurt_channel_options_t o = {.policy = policy};
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    gpurt_channel_status_t s;
    char *at = stage_zeros(1024 + sizeof(tile_t));

    OK(gpurt_make_channel(rt, &args.tiles, &o, &err));
    args.each = EACH;
    args.bad = (uint32_t *)(void *)at;
    args.got = (uint32_t *)(void *)(at + 128);
    args.told = (gpurt_status_t *)(void *)(at + 256);
    args.whole = (tile_t *)(void *)(at + 1024);
    OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    OK(gpurt_copy(rt, 0, &bad, args.bad, sizeof bad, &err));
    OK(gpurt_copy(rt, 0, got, args.got, sizeof got, &err));
    OK(gpurt_copy(rt, 0, told, args.told, sizeof told, &err));
    OK(gpurt_sync(rt, &err));
    OK(gpurt_channel_status(rt, &args.tiles.channel, &s, &err));
    CHECK_EQ(s.counts.sent, s.counts.received + s.counts.dropped);
    CHECK_EQ(s.counts.depth, 0);
    CHECK_EQ(s.sending + s.receiving, 0);
    OK(gpurt_channel_destroy(rt, &args.tiles.channel, &err));
    gpurt_mem_destroy(rt, at);
}

static void a_storm_loses_nothing(void)
{
    played(&gpurt_kernel_channel_warp_storm, 2, 2 * TILE_WARPS / 2 * GPURT_WARP_SIZE,
           GPURT_CHANNEL_BLOCK);
    CHECK_EQ(bad, 0);
    for (uint32_t i = 0; i < TILE_WARPS; i++)
        CHECK_EQ(got[i], EACH);
}

static void lanes_read_the_same_bytes(void)
{
    played(&gpurt_kernel_channel_warp_mixed, 1, GPURT_WARP_SIZE, GPURT_CHANNEL_BLOCK);
    CHECK_EQ(bad, 0);
    CHECK_EQ(got[1], 1);
}

static void answers(uint32_t policy, gpurt_status_t full, gpurt_status_t newest)
{
    const gpurt_status_t expected[TILE_STATES] = {
        GPURT_E_EMPTY, GPURT_E_TIMEOUT, GPURT_E_FULL,           GPURT_E_TIMEOUT,
        full,          newest,          GPURT_E_CHANNEL_CLOSED, GPURT_E_CHANNEL_CLOSED};

    played(&gpurt_kernel_channel_warp_told, 1, GPURT_WARP_SIZE, policy);
    for (uint32_t i = 0; i < TILE_STATES; i++)
        CHECK_EQ(told[i], expected[i]);
}

static void all_are_told_the_same(void)
{
    answers(GPURT_CHANNEL_FAIL, GPURT_E_FULL, GPURT_E_EMPTY);
    answers(GPURT_CHANNEL_DROP_NEWEST, GPURT_E_DROPPED, GPURT_E_EMPTY);
    answers(GPURT_CHANNEL_DROP_OLDEST, GPURT_OK, GPURT_OK);
}

static const stage_part_t parts[] = {
    {"storm", a_storm_loses_nothing},
    {"lanes", lanes_read_the_same_bytes},
    {"answers", all_are_told_the_same},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
