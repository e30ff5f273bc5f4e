/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of channels between devices on one device, so that a seed is a whole schedule: groups send
 * and groups receive, one closes beside senders, a block is cancelled while it waits, a sender waits
 * for room. Each message comes once, behind what was written before it. */
#include "seeds.h"

#include "peerchannel_kernels.h"

#include <gpurt/peerchannels.h>

enum {
    BLOCKS = 2,
    THREADS = 5,
    ALL = BLOCKS * THREADS
};

static struct peer_send_args out;
static struct peer_take_args in;
static gpurt_stream_t senders, takers;
static int32_t sent[PEER_THREADS], status[PEER_THREADS];
static uint32_t seen[PEER_NOTES];

static void launch(const gpurt_kernel_t *kernel, gpurt_stream_t stream, const void *args,
                   size_t bytes)
{
    gpurt_launch_t l = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .stream = stream};

    OK(gpurt_launch_kernel(rt, &l, kernel, args, bytes, &err));
}

static void start(uint32_t kind, uint32_t rounds, const gpurt_kernel_t *sends,
                  const gpurt_kernel_t *takes)
{
    OK(gpurt_make_peerchannel(rt, &out.parcels, rt, &in.parcels, NULL, &err));
    OK(gpurt_make_peerchannel(rt, &out.peas, rt, &in.peas, NULL, &err));
    OK(gpurt_make_peerchannel(rt, &out.pages, rt, &in.pages, NULL, &err));
    OK(gpurt_fill(rt, 0, out.asks, 0, sizeof seen + 4, &err));
    OK(gpurt_fill(rt, 0, in.seen, 0, sizeof seen, &err));
    OK(gpurt_fill(rt, 0, in.wrong, 0, 4, &err));
    OK(gpurt_fill(rt, 0, out.xcame, 0, 4, &err));
    OK(gpurt_fill(rt, 0, in.xcame, 0, 4, &err));
    OK(gpurt_sync(rt, &err));
    out.kind = in.kind = kind;
    out.rounds = rounds;
    out.threads = ALL;
    launch(takes, takers, &in, sizeof in);
    launch(sends, senders, &out, sizeof out);
}

/* Returns: messages that came. */
static uint32_t finish(void)
{
    uint32_t wrong, n = 0;

    OK(gpurt_sync(rt, &err));
    OK(gpurt_copy(rt, 0, sent, out.status, sizeof sent, &err));
    OK(gpurt_copy(rt, 0, status, in.status, sizeof status, &err));
    OK(gpurt_copy(rt, 0, seen, in.seen, sizeof seen, &err));
    OK(gpurt_copy(rt, 0, &wrong, in.wrong, 4, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    for (uint32_t i = 0; i < PEER_NOTES; i++) {
        CHECK(seen[i] <= 1);
        n += seen[i];
    }
    OK(gpurt_peerchannel_destroy(rt, &out.parcels.channel, rt, &in.parcels.channel, &err));
    OK(gpurt_peerchannel_destroy(rt, &out.peas.channel, rt, &in.peas.channel, &err));
    OK(gpurt_peerchannel_destroy(rt, &out.pages.channel, rt, &in.pages.channel, &err));
    return n;
}

static void groups_send(uint32_t kind)
{
    out.told = in.told = 77; /* it is seen behind the close, too */
    start(kind, 3, &gpurt_kernel_peer_pour, &gpurt_kernel_peer_drink);
    CHECK_EQ(finish(), 3 * ALL);
    for (uint32_t i = 0; i < ALL; i++)
        CHECK(sent[i] == 3 && status[i] == GPURT_E_CHANNEL_CLOSED);
}

static void a_close_loses_nothing(void)
{
    uint32_t sum = 0, got;

    start(PEER_PARCELS, 10, &gpurt_kernel_peer_rush, &gpurt_kernel_peer_drink);
    got = finish();
    for (uint32_t i = 0; i < ALL; i++)
        sum += (uint32_t)sent[i];
    CHECK_EQ(got, sum);
}

/* A lane a message is left; the others are told that it was closed. */
static void the_others_go_on(uint32_t victim)
{
    gpurt_status_t st;

    out.told = in.told = 0; /* the host may close, and says nothing */
    in.victim = victim;
    start(PEER_PEAS, 1, &gpurt_kernel_peer_pour, &gpurt_kernel_peer_wait);
    OK(gpurt_stream_sync(rt, takers, &err));
    st = gpurt_peerchannel_close(rt, &out.peas.channel, NULL);
    CHECK(st == GPURT_OK || st == GPURT_E_CHANNEL_CLOSED); /* all found room, or some did */
    (void)finish();
    for (uint32_t i = 0; i < ALL; i++)
        if (i / THREADS != victim)
            CHECK_EQ(status[i], GPURT_OK);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        out.status = (int32_t *)stage_zeros(sizeof sent);
        in.status = (int32_t *)stage_zeros(sizeof status);
        out.asks = (uint32_t *)stage_zeros(sizeof seen + 4);
        in.asks = out.asks;
        out.sheets = (struct peer_page *)stage_zeros(ALL * sizeof *out.sheets);
        in.sheets = (struct peer_page *)stage_zeros(ALL * sizeof *in.sheets);
        in.seen = (uint32_t *)stage_zeros(sizeof seen);
        in.wrong = (uint32_t *)stage_zeros(4);
        out.xcame = (uint32_t *)stage_zeros(4);
        in.xcame = (uint32_t *)stage_zeros(4);
        out.ns = in.ns = UINT64_MAX;
        OK(gpurt_stream_create(rt, &senders, &err));
        OK(gpurt_stream_create(rt, &takers, &err));
        for (uint32_t kind = 0; kind < PEER_KINDS; kind++)
            groups_send(kind);
        a_close_loses_nothing();
        the_others_go_on(s.seed % BLOCKS);
        gpurt_mem_destroy(rt, out.status);
        gpurt_mem_destroy(rt, in.status);
        gpurt_mem_destroy(rt, out.asks);
        gpurt_mem_destroy(rt, out.sheets);
        gpurt_mem_destroy(rt, in.sheets);
        gpurt_mem_destroy(rt, in.seen);
        gpurt_mem_destroy(rt, in.wrong);
        gpurt_mem_destroy(rt, out.xcame);
        gpurt_mem_destroy(rt, in.xcame);
        gpurt_stream_destroy(rt, senders);
        gpurt_stream_destroy(rt, takers);
    }
    return 0;
}
