/* SPDX-License-Identifier: Apache-2.0 */
/* Channels between two devices: messages of three sizes, from many to many, each once and behind what
 * was written before it; each policy; closes, a cancel, a panic, a destroy; what is refused. Then
 * all of it with both ends on one device. On the CPU back end any number is a device; with one GPU
 * only the second half runs. */
#include "check.h"

#include "../kernels/peerchannel_kernels.h"

#include <gpurt/peerchannels.h>

#include <unistd.h>

enum {
    ROUNDS = 4
};

static gpurt_error_t err;
/* A device and what its kernels write. */
typedef struct side {
    gpurt_t *rt;
    gpurt_stream_t stream;
    int32_t *status;
    uint32_t *xcame;
    struct peer_page *sheets;
    int32_t got[PEER_THREADS];
} side_t;
static side_t from, to;
static struct peer_send_args out;
static struct peer_take_args in;
static uint32_t seen[PEER_NOTES];

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

/* ---- stage ----------------------------------------------------------------------------- */

static void *zeros(gpurt_t *rt, size_t bytes)
{
    void *memory = NULL;

    OK(gpurt_mem_create(rt, bytes, &memory, &err));
    OK(gpurt_fill(rt, 0, memory, 0, bytes, &err));
    OK(gpurt_sync(rt, &err));
    return memory;
}

static void side_begin(side_t *s, gpurt_t *rt)
{
    s->rt = rt;
    OK(gpurt_stream_create(rt, &s->stream, &err));
    s->status = (int32_t *)zeros(rt, sizeof s->got);
    s->xcame = (uint32_t *)zeros(rt, 4);
    s->sheets = (struct peer_page *)zeros(rt, PEER_THREADS * sizeof *s->sheets);
}

static void side_end(side_t *s)
{
    OK(gpurt_mem_destroy(s->rt, s->status));
    OK(gpurt_mem_destroy(s->rt, s->xcame));
    OK(gpurt_mem_destroy(s->rt, s->sheets));
    OK(gpurt_stream_destroy(s->rt, s->stream));
}

static void side_clear(side_t *s)
{
    OK(gpurt_fill(s->rt, s->stream, s->status, 0x77, sizeof s->got, &err));
    OK(gpurt_fill(s->rt, s->stream, s->xcame, 0, 4, &err));
    OK(gpurt_stream_sync(s->rt, s->stream, &err));
}

static void make(uint32_t policy)
{
    gpurt_peerchannel_options_t o = {.struct_size = sizeof o, .policy = policy};

    OK(gpurt_make_peerchannel(from.rt, &out.parcels, to.rt, &in.parcels, &o, &err));
    OK(gpurt_make_peerchannel(from.rt, &out.peas, to.rt, &in.peas, &o, &err));
    OK(gpurt_make_peerchannel(from.rt, &out.pages, to.rt, &in.pages, &o, &err));
    out.asks = (uint32_t *)zeros(to.rt, sizeof seen + 4);
    in.asks = out.asks;
    out.told = in.told = 0;
    out.sheets = from.sheets;
    in.sheets = to.sheets;
    in.seen = (uint32_t *)zeros(to.rt, sizeof seen);
    in.wrong = (uint32_t *)zeros(to.rt, 4);
    out.status = from.status;
    out.xcame = from.xcame;
    in.status = to.status;
    in.xcame = to.xcame;
    out.ns = in.ns = UINT64_MAX;
    in.victim = UINT32_MAX;
    out.rounds = ROUNDS;
    side_clear(&from);
    side_clear(&to);
}

static void destroy_ends(struct peer_send_args *o, struct peer_take_args *i)
{
    OK(gpurt_peerchannel_destroy(from.rt, &o->parcels.channel, to.rt, &i->parcels.channel,
                                 &err));
    OK(gpurt_peerchannel_destroy(from.rt, &o->peas.channel, to.rt, &i->peas.channel, &err));
    OK(gpurt_peerchannel_destroy(from.rt, &o->pages.channel, to.rt, &i->pages.channel,
                                 &err));
}

static void destroy(void)
{
    destroy_ends(&out, &in);
    CHECK(!out.parcels.channel.words && !in.pages.channel.words);
    OK(gpurt_mem_destroy(to.rt, out.asks));
    OK(gpurt_mem_destroy(to.rt, in.seen));
    OK(gpurt_mem_destroy(to.rt, in.wrong));
}

static void sends(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = from.stream};

    out.threads = blocks * threads;
    OK(gpurt_launch_kernel(from.rt, &launch, kernel, &out, sizeof out, &err));
}

static void takes(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = to.stream};

    OK(gpurt_launch_kernel(to.rt, &launch, kernel, &in, sizeof in, &err));
}

static void sent(void)
{
    OK(gpurt_stream_sync(from.rt, from.stream, &err));
    OK(gpurt_copy(from.rt, from.stream, from.got, from.status, sizeof from.got, &err));
    OK(gpurt_stream_sync(from.rt, from.stream, &err));
}

static void taken(void)
{
    uint32_t wrong;

    OK(gpurt_stream_sync(to.rt, to.stream, &err));
    OK(gpurt_copy(to.rt, to.stream, to.got, to.status, sizeof to.got, &err));
    OK(gpurt_copy(to.rt, to.stream, seen, in.seen, sizeof seen, &err));
    OK(gpurt_copy(to.rt, to.stream, &wrong, in.wrong, 4, &err));
    OK(gpurt_stream_sync(to.rt, to.stream, &err));
    CHECK_EQ(wrong, 0);
}

static uint32_t came(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < PEER_NOTES; i++) {
        CHECK(seen[i] <= 1);
        n += seen[i];
    }
    return n;
}

static gpurt_peerchannel_status_t counts(const gpurt_hostchannel_t *o,
                                         const gpurt_hostchannel_t *i)
{
    gpurt_peerchannel_status_t s;

    OK(gpurt_peerchannel_status(from.rt, o, to.rt, i, &s, &err));
    CHECK_EQ(s.counts.sent, s.counts.received + s.counts.dropped + s.counts.depth);
    return s;
}

/* ---- cases ----------------------------------------------------------------------------- */

static void everything_comes(uint32_t kind, uint32_t blocks, uint32_t threads)
{
    const gpurt_hostchannel_t *o[] = {&out.parcels.channel, &out.peas.channel,
                                      &out.pages.channel};
    const gpurt_hostchannel_t *i[] = {&in.parcels.channel, &in.peas.channel,
                                      &in.pages.channel};
    gpurt_peerchannel_status_t s;

    make(GPURT_CHANNEL_BLOCK);
    out.kind = in.kind = kind;
    out.told = in.told = 77; /* it is seen behind the close, too */
    takes(&gpurt_kernel_peer_drink, 2, 33);
    sends(&gpurt_kernel_peer_pour, blocks, threads);
    sent();
    taken();
    for (uint32_t k = 0; k < blocks * threads; k++)
        CHECK_EQ(from.got[k], ROUNDS);
    CHECK_EQ(came(), blocks * threads * ROUNDS);
    for (uint32_t k = 0; k < 66; k++)
        CHECK_EQ(to.got[k], GPURT_E_CHANNEL_CLOSED);
    s = counts(o[kind], i[kind]);
    CHECK_EQ(s.counts.received, blocks * threads * ROUNDS);
    CHECK_EQ(s.state, GPURT_CHANNEL_SHUT);
    destroy();
}

/* Nobody receives until all was sent, or refused, or dropped. */
static void a_full_one(uint32_t policy)
{
    gpurt_peerchannel_status_t s;

    make(policy);
    out.kind = in.kind = PEER_PEAS;
    if (policy == GPURT_CHANNEL_BLOCK)
        out.ns = 1000;
    sends(&gpurt_kernel_peer_pour, 1, 40);
    sent();
    s = counts(&out.peas.channel, &in.peas.channel);
    CHECK_EQ(s.counts.depth, PEER_SLOTS);
    CHECK_EQ(s.counts.dropped,
             policy == GPURT_CHANNEL_DROP_NEWEST ? 40 * ROUNDS - PEER_SLOTS : 0);
    CHECK_EQ(s.refused, policy == GPURT_CHANNEL_FAIL ? 40 * ROUNDS - PEER_SLOTS : 0);
    CHECK_EQ(s.timed_out, policy == GPURT_CHANNEL_BLOCK ? 40 * ROUNDS - PEER_SLOTS : 0);
    takes(&gpurt_kernel_peer_drink, 1, 32);
    taken();
    CHECK_EQ(came(), PEER_SLOTS);
    destroy();
}

static void a_close_loses_nothing(void)
{
    uint32_t sum = 0;

    make(GPURT_CHANNEL_BLOCK);
    out.kind = in.kind = PEER_PARCELS;
    out.rounds = 20;
    takes(&gpurt_kernel_peer_drink, 1, 32);
    sends(&gpurt_kernel_peer_rush, 2, 32);
    sent();
    taken();
    for (uint32_t i = 0; i < 64; i++)
        sum += (uint32_t)from.got[i];
    CHECK_EQ(came(), sum);
    destroy();
}

/* Senders wait for room that never comes, until the host closes. */
static void the_host_closes(void)
{
    make(GPURT_CHANNEL_BLOCK);
    out.kind = in.kind = PEER_PEAS;
    sends(&gpurt_kernel_peer_rush, 1, 8);
    CHECK_EQ(gpurt_peerchannel_close(to.rt, &in.peas.channel, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "the sender closes");
    while (counts(&out.peas.channel, &in.peas.channel).sending == 0)
        usleep(1000);
    OK(gpurt_peerchannel_close(from.rt, &out.peas.channel, &err));
    CHECK_EQ(gpurt_peerchannel_close(from.rt, &out.peas.channel, &err),
             GPURT_E_CHANNEL_CLOSED);
    takes(&gpurt_kernel_peer_drink, 1, 32);
    sent();
    taken();
    CHECK_EQ(came(), PEER_SLOTS);
    destroy();
}

/* The victim's waits end; then four messages are those of the others. */
static void a_cancelled_block_takes_nothing(void)
{
    make(GPURT_CHANNEL_BLOCK);
    out.kind = in.kind = PEER_PARCELS;
    in.victim = 1;
    takes(&gpurt_kernel_peer_wait, 2, 4);
    while (counts(&out.parcels.channel, &in.parcels.channel).cancelled < 3)
        usleep(1000);
    out.rounds = 1;
    sends(&gpurt_kernel_peer_pour, 1, 4);
    sent();
    taken();
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQ(to.got[i], i < 4 ? GPURT_OK : 0x77777777);
    CHECK_EQ(came(), 4);
    destroy();
}

/* What was sent before is there; the receiver waits until the host closes in its place. */
static void a_sender_that_panics(void)
{
    make(GPURT_CHANNEL_BLOCK);
    out.kind = in.kind = PEER_PARCELS;
    takes(&gpurt_kernel_peer_drink, 1, 32);
    sends(&gpurt_kernel_peer_panics, 1, 32);
    CHECK_EQ(gpurt_stream_sync(from.rt, from.stream, NULL), GPURT_E_PANIC);
    OK(gpurt_peerchannel_close(from.rt, &out.parcels.channel, &err));
    (void)gpurt_stream_sync(to.rt, to.stream,
                            NULL); /* one device: this wait is told, too */
    taken();
    CHECK_EQ(came(), 2);
    CHECK_EQ(to.got[31], GPURT_E_CHANNEL_CLOSED);
    destroy();
}

static gpurt_status_t create(uint32_t capacity, uint32_t bytes, uint32_t policy)
{
    gpurt_peerchannel_options_t o = {sizeof o, capacity, bytes, policy, NULL};
    gpurt_hostchannel_t a, b;

    return gpurt_peerchannel_create(from.rt, &a, to.rt, &b, &o, &err);
}

static void what_cannot_be_is_told(void)
{
    static const int32_t want_out[] = {
        GPURT_E_HANDLE, GPURT_E_INVALID,        GPURT_E_INVALID,
        GPURT_OK,       GPURT_E_FULL,           GPURT_E_TIMEOUT,
        GPURT_OK,       GPURT_E_CHANNEL_CLOSED, GPURT_E_CHANNEL_CLOSED};
    static const int32_t want_in[] = {GPURT_E_EMPTY, GPURT_E_TIMEOUT, GPURT_E_INVALID,
                                      GPURT_OK, GPURT_E_CHANNEL_CLOSED};
    gpurt_peerchannel_status_t status;
    struct peer_send_args late_out;
    struct peer_take_args late_in;

    CHECK_EQ(create(6, 4, 0), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "a capacity of 6: a power of two");
    CHECK_EQ(create(4, 4093, 0), GPURT_E_INVALID);
    CHECK_EQ(create(4, 4, GPURT_CHANNEL_DROP_OLDEST), GPURT_E_INVALID);
    make(GPURT_CHANNEL_BLOCK);
    CHECK_EQ(gpurt_peerchannel_status(from.rt, &out.peas.channel, to.rt,
                                      &in.parcels.channel, &status, &err),
             GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "not the sender's and the receiver's end of one channel");
    CHECK_EQ(gpurt_peerchannel_destroy(to.rt, &in.peas.channel, from.rt, &out.peas.channel,
                                       &err),
             GPURT_E_INVALID);
    sends(&gpurt_kernel_peer_send_cases, 1, 32);
    sent();
    takes(&gpurt_kernel_peer_take_cases, 1, 32);
    taken();
    for (uint32_t i = 0; i < sizeof want_out / sizeof *want_out; i++)
        CHECK_MSG(from.got[i] == want_out[i], "send %u: %s", i,
                  gpurt_status_name(from.got[i]));
    for (uint32_t i = 0; i < sizeof want_in / sizeof *want_in; i++)
        CHECK_MSG(to.got[i] == want_in[i], "receive %u: %s", i,
                  gpurt_status_name(to.got[i]));
    late_out = out;
    late_in = in;
    destroy_ends(&out, &in);
    CHECK_EQ(gpurt_peerchannel_destroy(from.rt, &late_out.peas.channel, to.rt,
                                       &late_in.peas.channel, &err),
             GPURT_E_HANDLE);
    out = late_out; /* kernels that use it are told, too */
    in = late_in;
    out.kind = in.kind = PEER_PARCELS;
    takes(&gpurt_kernel_peer_drink, 1, 32);
    taken();
    CHECK_EQ(to.got[31], GPURT_E_HANDLE);
    sends(&gpurt_kernel_peer_send_cases, 1, 32);
    sent();
    CHECK_EQ(from.got[4], GPURT_E_HANDLE);
    OK(gpurt_mem_destroy(to.rt, out.asks));
    OK(gpurt_mem_destroy(to.rt, in.seen));
    OK(gpurt_mem_destroy(to.rt, in.wrong));
}

static void all(gpurt_t *a, gpurt_t *b)
{
    side_begin(&from, a);
    side_begin(&to, b);
    what_cannot_be_is_told();
    for (uint32_t kind = 0; kind < PEER_KINDS; kind++) {
        everything_comes(kind, 1, 1);
        everything_comes(kind, 2, 33);
    }
    for (uint32_t policy = 0; policy < GPURT_CHANNEL_DROP_OLDEST; policy++)
        a_full_one(policy);
    a_close_loses_nothing();
    the_host_closes();
    a_cancelled_block_takes_nothing();
    a_sender_that_panics();
    side_end(&from);
    side_end(&to);
}

/* ---- devices ----------------------------------------------------------------------------- */

static gpurt_t *device_open(int32_t number)
{
    gpurt_options_t o = {.struct_size = sizeof o, .device = number};
    gpurt_t *rt = NULL;

    o.cpu.workers = 2;
    return gpurt_open(&o, &rt, &err) == GPURT_OK ? rt : NULL;
}

int main(void)
{
    gpurt_t *one = device_open(0), *two = NULL;
    gpurt_info_t info;

    CHECK_MSG(one != NULL, "%s", err.text);
    two = device_open(1);
    OK(gpurt_info(one, &info));
    CHECK_MSG(two || info.backend == GPURT_BACKEND_CUDA, "%s", err.text);
    if (two) {
        all(one, two);
        all(two, one);
        OK(gpurt_close(two, &err));
    } else {
        printf("both ends on one device only: %s\n", err.text);
    }
    all(one, one);
    OK(gpurt_close(one, &err));
    return 0;
}
