/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices open in one process: each has its own streams, heaps, default heap and panics;
 * what belongs to one is refused by the others; one is closed while the others work. On the CPU
 * back end any number is a device; on GPUs there have to be two. */
#include "check.h"

#include "../kernels/device_kernels.h"

#include <gpurt/atomic.h>
#include <gpurt/broadcast.h>
#include <gpurt/broadcasts.h>
#include <gpurt/channel.h>
#include <gpurt/channels.h>
#include <gpurt/gpurt.h>
#include <gpurt/heap.h>
#include <gpurt/hostcalls.h>
#include <gpurt/hostchannels.h>
#include <gpurt/recover.h>
#include <gpurt/segrings.h>
#include <gpurt/unbounded.h>
#include <gpurt/unboundeds.h>

#include <pthread.h>

enum {
    BLOCKS = 4,
    THREADS = 64,
    LANES = BLOCKS * THREADS,
    ROUNDS = 20,
    OPENS = 20
};

static gpurt_error_t err;
static const gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

/* A device with a default heap, and what its kernels need. Owner: one thread. */
typedef struct side {
    gpurt_t *rt;
    gpurt_heap_t heap;
    struct device_args args;
    uint32_t *counts;
    uint32_t xtold; /* panics that gpurt_on_panic told; written by: its thread */
    gpurt_error_t err;
} side_t;

static gpurt_status_t device_open(int32_t number, gpurt_t **rt, gpurt_error_t *e)
{
    gpurt_options_t o = {.struct_size = sizeof o, .device = number};

    o.cpu.workers = 1;
    return gpurt_open(&o, rt, e);
}

static void side_open(side_t *s, int32_t number)
{
    gpurt_heap_options_t o = {
        .struct_size = sizeof o, .bytes = 4 << 20, .make_default = true};
    void *memory;

    memset(s, 0, sizeof *s);
    CHECK_MSG(device_open(number, &s->rt, &s->err) == GPURT_OK, "%s", s->err.text);
    CHECK_MSG(gpurt_heap_create(s->rt, &o, &s->heap, &s->err) == GPURT_OK, "%s",
              s->err.text);
    CHECK(gpurt_host_create(s->rt, LANES * sizeof *s->args.objects, &memory, NULL) ==
          GPURT_OK);
    s->args.objects = (uint32_t **)memory;
    CHECK(gpurt_host_create(s->rt, 2 * sizeof *s->counts, &memory, NULL) == GPURT_OK);
    s->counts = (uint32_t *)memory;
    memset(s->counts, 0, 2 * sizeof *s->counts);
    s->args.refused = s->counts;
    s->args.wrong = s->counts + 1;
    s->args.device = (uint32_t)number;
    s->args.rounds = ROUNDS;
}

static void side_check(const side_t *s)
{
    CHECK_EQ(s->counts[0], 0);
    CHECK_EQ(s->counts[1], 0);
}

static void side_close(side_t *s)
{
    side_check(s);
    CHECK_MSG(gpurt_heap_destroy(s->rt, &s->heap, &s->err) == GPURT_OK, "%s", s->err.text);
    CHECK(gpurt_host_destroy(s->rt, s->args.objects) == GPURT_OK);
    CHECK(gpurt_host_destroy(s->rt, s->counts) == GPURT_OK);
    CHECK_MSG(gpurt_close(s->rt, &s->err) == GPURT_OK, "%s", s->err.text);
}

static uint64_t live_of(side_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_stats(s->rt, &s->heap, &stats, &err));
    return stats.live;
}

static bool is_inside(const side_t *s, const void *object)
{
    uintptr_t at = (uintptr_t)object, begin = (uintptr_t)s->heap.chunks;

    return at >= begin && at - begin < (uint64_t)s->heap.chunk_count * GPURT_CHUNK_BYTES;
}

/* ---- who is who ---------------------------------------------------------------------- */

static void each_once(side_t *a, side_t *b)
{
    gpurt_t *again = a->rt;
    gpurt_info_t info;

    CHECK(a->rt != b->rt);
    CHECK_EQ(device_open(1, &again, &err), GPURT_E_OPEN);
    CHECK(!again);
    CHECK_MSG(strstr(err.text, "device 1 is open already"), "%s", err.text);
    OK(gpurt_info(a->rt, &info));
    CHECK_EQ(info.device, 0);
    OK(gpurt_info(b->rt, &info));
    CHECK_EQ(info.device, 1);
}

/* Handles and heaps of one in calls on the other. */
static void strangers(side_t *a, side_t *b)
{
    gpurt_heap_t heap = a->heap;
    gpurt_launch_t there = launch;
    gpurt_stream_t stream;
    gpurt_event_t event;

    OK(gpurt_stream_create(a->rt, &stream, &err));
    OK(gpurt_event_create(a->rt, &event, &err));
    CHECK_EQ(gpurt_stream_sync(b->rt, stream, &err), GPURT_E_HANDLE);
    CHECK_MSG(strstr(err.text, "of another device"), "%s", err.text);
    there.stream = stream;
    CHECK_EQ(gpurt_launch(b->rt, &there, device_take, &b->args, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_destroy(b->rt, stream), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_event_sync(b->rt, event, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_event_destroy(b->rt, event), GPURT_E_HANDLE);
    OK(gpurt_event_destroy(a->rt, event));
    OK(gpurt_stream_destroy(a->rt, stream));

    CHECK_EQ(gpurt_heap_set_default(b->rt, &a->heap, &err), GPURT_E_HANDLE);
    CHECK_MSG(strstr(err.text, "of another device"), "%s", err.text);
    CHECK_EQ(gpurt_heap_destroy(b->rt, &heap, &err), GPURT_E_HANDLE);
}

static bool visit(void *context, void *object, size_t bytes)
{
    (void)object, (void)bytes;
    ++*(uint32_t *)context;
    return true;
}

/* Each call that names a heap says so of one that is another device's, and does nothing. */
static void stranger_calls(side_t *a, side_t *b)
{
    gpurt_heap_stats_t stats;
    uint64_t faults = 0;
    uint32_t count = 0;
    size_t length;
    char text[64];
    const gpurt_status_t answers[] = {
        gpurt_heap_stats(b->rt, &a->heap, &stats, NULL),
        gpurt_heap_walk(b->rt, &a->heap, visit, &count, NULL),
        gpurt_heap_trim(b->rt, &a->heap, NULL),
        gpurt_heap_check(b->rt, &a->heap, NULL),
        gpurt_heap_grow(b->rt, &a->heap, 4 << 20, NULL),
        gpurt_heap_faults(b->rt, &a->heap, NULL, 0, &faults, NULL),
        gpurt_heap_leaks(b->rt, &a->heap, NULL, 0, &count, NULL),
        gpurt_heap_report(b->rt, &a->heap, false, text, sizeof text, &length, NULL),
    };

    for (uint32_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        CHECK_MSG(answers[i] == GPURT_E_HANDLE, "call %u: %s", i,
                  gpurt_status_name(answers[i]));
    CHECK_EQ(count, 0);
}

/* ---- channels, host calls ------------------------------------------------------------ */

GPURT_CHANNEL(device_orders, uint32_t, 4);
GPURT_BROADCAST(device_news, uint32_t, 4);
GPURT_TO_DEVICE(device_asks, uint32_t, 4);
GPURT_UNBOUNDED(device_pile, uint32_t);

/* Of a device, one of each kind. Owner: its function. */
typedef struct comm {
    device_orders_t orders;
    device_news_t news;
    device_asks_t asks;
    device_pile_t pile;
    gpurt_segring_t ring;
    gpurt_hostcalls_t calls;
} comm_t;

static void comm_make(side_t *s, comm_t *c)
{
    gpurt_channel_options_t o = {.flags = GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED};
    gpurt_segring_options_t ring = {.bytes = 64};

    OK(gpurt_make_channel(s->rt, &c->orders, &o, &err));
    OK(gpurt_make_broadcast(s->rt, &c->news, NULL, &err));
    OK(gpurt_make_hostchannel(s->rt, &c->asks, NULL, &err));
    OK(gpurt_make_unbounded(s->rt, &c->pile, &s->heap, NULL, &err));
    OK(gpurt_segring_create(s->rt, &ring, &c->ring, &err));
    OK(gpurt_hostcalls_create(s->rt, NULL, &c->calls, &err));
}

static void comm_destroy(gpurt_t *rt, comm_t *c, gpurt_status_t want)
{
    CHECK_EQ(gpurt_channel_destroy(rt, &c->orders.channel, NULL), want);
    CHECK_EQ(gpurt_broadcast_destroy(rt, &c->news.broadcast, NULL), want);
    CHECK_EQ(gpurt_hostchannel_destroy(rt, &c->asks.channel, NULL), want);
    CHECK_EQ(gpurt_unbounded_destroy(rt, &c->pile.unbounded, NULL), want);
    CHECK_EQ(gpurt_segring_destroy(rt, &c->ring, NULL), want);
    CHECK_EQ(gpurt_hostcalls_destroy(rt, &c->calls, NULL), want);
}

/* Each call of the host's, with a pointer that is not the owner's. */
static void comm_refused(gpurt_t *rt, const comm_t *c)
{
    gpurt_hostchannel_status_t asks;
    gpurt_hostcalls_status_t calls;
    gpurt_broadcast_status_t news;
    gpurt_unbounded_status_t pile;
    gpurt_channel_status_t orders;
    gpurt_segring_status_t ring;
    uint32_t order = 1;
    uint64_t ticket;
    const gpurt_status_t answers[] = {
        gpurt_channel_status(rt, &c->orders.channel, &orders, NULL),
        gpurt_channel_grant_more(rt, &c->orders.channel, 1, NULL, NULL),
        gpurt_channel_set_limit(rt, &c->orders.channel, 2, NULL),
        gpurt_channel_end(rt, &c->orders.channel, NULL),
        gpurt_broadcast_status(rt, &c->news.broadcast, &news, NULL),
        gpurt_broadcast_end(rt, &c->news.broadcast, NULL),
        gpurt_segring_status(rt, &c->ring, &ring, NULL),
        gpurt_segring_end(rt, &c->ring, NULL),
        gpurt_unbounded_status(rt, &c->pile.unbounded, &pile, NULL),
        gpurt_unbounded_end(rt, &c->pile.unbounded, NULL),
        gpurt_device_send(rt, &c->asks, &order, 0, &ticket, NULL),
        gpurt_hostchannel_status(rt, &c->asks.channel, &asks, NULL),
        gpurt_hostchannel_close(rt, &c->asks.channel, NULL),
        gpurt_hostcalls_status(rt, &c->calls, &calls, NULL),
        gpurt_hostcalls_add_function(rt, &c->calls, 1, 0, 0, NULL, NULL, NULL),
    };

    for (uint32_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        CHECK_MSG(answers[i] == GPURT_E_HANDLE, "call %u: %s", i,
                  gpurt_status_name(answers[i]));
}

static void stranger_channels(side_t *a, side_t *b)
{
    comm_t c, copy;

    comm_make(a, &c);
    comm_refused(b->rt, &c);
    CHECK_EQ(gpurt_channel_end(b->rt, &c.orders.channel, &err), GPURT_E_HANDLE);
    CHECK_MSG(strstr(err.text, "of another device"), "%s", err.text);
    copy = c;
    comm_destroy(b->rt, &copy, GPURT_E_HANDLE);
    OK(gpurt_channel_end(a->rt, &c.orders.channel, &err)); /* and all still works */
    OK(gpurt_hostchannel_close(a->rt, &c.asks.channel, &err));
    comm_destroy(a->rt, &c, GPURT_OK);
}

/* ---- memory -------------------------------------------------------------------------- */

static void own_heaps(side_t *a, side_t *b)
{
    OK(gpurt_launch(a->rt, &launch, device_take, &a->args, &err));
    OK(gpurt_launch(b->rt, &launch, device_take, &b->args, &err));
    OK(gpurt_sync(a->rt, &err));
    OK(gpurt_sync(b->rt, &err));
    for (uint32_t i = 0; i < LANES; i++) {
        CHECK_MSG(is_inside(a, a->args.objects[i]), "lane %u of device 0", i);
        CHECK_MSG(is_inside(b, b->args.objects[i]), "lane %u of device 1", i);
    }
    CHECK_EQ(live_of(a), LANES);
    CHECK_EQ(live_of(b), LANES);
    OK(gpurt_launch(a->rt, &launch, device_give, &a->args, &err));
    OK(gpurt_sync(a->rt, &err));
    CHECK_EQ(live_of(a), 0);
    CHECK_EQ(live_of(b), LANES);
    OK(gpurt_launch(b->rt, &launch, device_give, &b->args, &err));
    OK(gpurt_sync(b->rt, &err));
    CHECK_EQ(live_of(b), 0);
}

/* ---- several heaps each ------------------------------------------------------------------ */

enum {
    HEAPS = 3 /* of a device, besides its default */
};

static void heaps_open(side_t *s, gpurt_heap_t *heaps)
{
    for (uint32_t i = 0; i < HEAPS; i++) {
        gpurt_heap_options_t o = {.struct_size = sizeof o, .bytes = (2 + i) << 20};

        OK(gpurt_heap_create(s->rt, &o, &heaps[i], &err));
    }
}

static gpurt_heap_stats_t stats_of(side_t *s, const gpurt_heap_t *heap)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(s->rt, heap, &err));
    OK(gpurt_heap_stats(s->rt, heap, &stats, &err));
    return stats;
}

/* Runs on both at the same time, each with the heap of that number, of its own. */
#define BOTH(kernel, i)                                           \
    do {                                                          \
        a->args.heap = of_a[i];                                   \
        b->args.heap = of_b[i];                                   \
        OK(gpurt_launch(a->rt, &launch, kernel, &a->args, &err)); \
        OK(gpurt_launch(b->rt, &launch, kernel, &b->args, &err)); \
        OK(gpurt_sync(a->rt, &err));                              \
        OK(gpurt_sync(b->rt, &err));                              \
    } while (0)

/* What one heap gave is foreign to the others: of the same device, and of another one. They
 * count that and leave it alone. */
static void frees_across(side_t *a, side_t *b, const gpurt_heap_t *of_a,
                         const gpurt_heap_t *of_b)
{
    uint32_t *kept[LANES];

    BOTH(device_take_of, 0);
    BOTH(device_drop_to, 1);
    CHECK_EQ(stats_of(a, &of_a[1]).counts.xbad_frees[GPURT_FREE_FOREIGN], LANES);
    CHECK_EQ(stats_of(b, &of_b[1]).counts.xbad_frees[GPURT_FREE_FOREIGN], LANES);
    memcpy(kept, b->args.objects, sizeof kept);
    memcpy(b->args.objects, a->args.objects, sizeof kept);
    b->args.heap = of_b[2];
    OK(gpurt_launch(b->rt, &launch, device_drop_to, &b->args, &err));
    OK(gpurt_launch(b->rt, &launch, device_drop_to, &b->args, &err));
    OK(gpurt_sync(b->rt, &err));
    CHECK_EQ(stats_of(b, &of_b[2]).counts.xbad_frees[GPURT_FREE_FOREIGN], 2 * LANES);
    memcpy(b->args.objects, kept, sizeof kept);
    CHECK_EQ(stats_of(a, &of_a[0]).live, LANES);
    CHECK_EQ(stats_of(b, &of_b[0]).live, LANES);
    BOTH(device_give_of, 0); /* whole, as they were */
    CHECK_EQ(stats_of(a, &of_a[0]).live, 0);
    CHECK_EQ(stats_of(b, &of_b[0]).live, 0);
}

static void several_heaps(side_t *a, side_t *b)
{
    gpurt_heap_t of_a[HEAPS], of_b[HEAPS];

    heaps_open(a, of_a);
    heaps_open(b, of_b);
    frees_across(a, b, of_a, of_b);
    for (uint32_t i = 0; i < HEAPS; i++) {
        BOTH(device_take_of, i);
        for (uint32_t k = 0; k < HEAPS; k++) {
            CHECK_EQ(stats_of(a, &of_a[k]).live, k <= i ? LANES : 0);
            CHECK_EQ(stats_of(b, &of_b[k]).live, k <= i ? LANES : 0);
        }
        for (uint32_t lane = 0; lane < LANES; lane++) {
            side_t in_a = {.heap = of_a[i]}, in_b = {.heap = of_b[i]};

            CHECK(is_inside(&in_a, a->args.objects[lane]));
            CHECK(is_inside(&in_b, b->args.objects[lane]));
        }
    }
    CHECK_EQ(live_of(a), 0); /* the defaults are others */
    CHECK_EQ(live_of(b), 0);
    OK(gpurt_heap_destroy(a->rt, &of_a[1], &err)); /* the others stay as they are */
    CHECK_EQ(stats_of(a, &of_a[2]).live, LANES);
    CHECK_EQ(stats_of(b, &of_b[1]).live, LANES);
    BOTH(device_give_of, 2);
    CHECK_EQ(stats_of(b, &of_b[2]).live, 0);
    OK(gpurt_heap_destroy(a->rt, &of_a[0], &err));
    OK(gpurt_heap_destroy(a->rt, &of_a[2], &err));
    for (uint32_t i = 0; i < HEAPS; i++)
        OK(gpurt_heap_destroy(b->rt, &of_b[i], &err));
    side_check(a);
    side_check(b);
}

/* A copy from one device's memory into the other's. */
static void copies(side_t *a, side_t *b)
{
    uint32_t pattern[64], back[64] = {0};
    void *from, *to;

    for (uint32_t i = 0; i < 64; i++)
        pattern[i] = i * 2654435761u;
    OK(gpurt_mem_create(a->rt, sizeof pattern, &from, &err));
    OK(gpurt_mem_create(b->rt, sizeof pattern, &to, &err));
    OK(gpurt_copy(a->rt, GPURT_STREAM_DEFAULT, from, pattern, sizeof pattern, &err));
    OK(gpurt_copy(a->rt, GPURT_STREAM_DEFAULT, to, from, sizeof pattern, &err));
    OK(gpurt_stream_sync(a->rt, GPURT_STREAM_DEFAULT, &err));
    OK(gpurt_copy(b->rt, GPURT_STREAM_DEFAULT, back, to, sizeof back, &err));
    OK(gpurt_stream_sync(b->rt, GPURT_STREAM_DEFAULT, &err));
    CHECK(memcmp(pattern, back, sizeof back) == 0);
    OK(gpurt_mem_destroy(a->rt, from));
    OK(gpurt_mem_destroy(b->rt, to));
}

/* ---- panics -------------------------------------------------------------------------- */

static void told(void *context, const gpurt_panic_news_t *news)
{
    side_t *s = (side_t *)context;

    if (news->guard) /* relaxed: a count */
        gpurt_add_relaxed_sys_u32(&s->xtold, news->panics);
}

static void own_panics(side_t *a, side_t *b)
{
    gpurt_recovery_t policy = {.struct_size = sizeof policy};
    gpurt_guard_handle_t guard;
    gpurt_outcome_t outcome;

    OK(gpurt_on_panic(a->rt, told, a, &err));
    OK(gpurt_launch_guarded(b->rt, &launch, device_raise, &b->args, &policy, &guard, &err));
    CHECK_EQ(gpurt_guard_wait(a->rt, guard, &outcome, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_guard_wait(b->rt, guard, &outcome, &err), GPURT_E_PANIC);
    CHECK_EQ(outcome.failed, 1);
    OK(gpurt_sync(a->rt, &err));                 /* nothing of its own failed */
    OK(gpurt_on_panic(a->rt, NULL, NULL, &err)); /* it has looked a last time */
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&a->xtold), 0);
    OK(gpurt_on_panic(b->rt, told, b, &err));
    OK(gpurt_on_panic(b->rt, NULL, NULL, &err));
    CHECK(gpurt_load_relaxed_sys_u32(&b->xtold) > 0);
    OK(gpurt_guard_destroy(b->rt, guard));
    OK(gpurt_launch(b->rt, &launch, device_take, &b->args, &err));
    OK(gpurt_launch(b->rt, &launch, device_give, &b->args, &err));
    OK(gpurt_sync(b->rt, &err));
}

/* ---- life ---------------------------------------------------------------------------- */

/* Its device comes and goes while the other one works. */
static void *come_and_go(void *nothing)
{
    for (int i = 0; i < OPENS; i++) {
        side_t s;

        side_open(&s, 1);
        CHECK(gpurt_launch(s.rt, &launch, device_churn, &s.args, &s.err) == GPURT_OK);
        CHECK(gpurt_sync(s.rt, &s.err) == GPURT_OK);
        CHECK_EQ(live_of(&s), 0);
        side_close(&s);
    }
    return nothing;
}

static void beside_each_other(void)
{
    pthread_t other;
    side_t a;

    side_open(&a, 0);
    CHECK(pthread_create(&other, NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < OPENS; i++) {
        CHECK(gpurt_launch(a.rt, &launch, device_churn, &a.args, &a.err) == GPURT_OK);
        CHECK(gpurt_sync(a.rt, &a.err) == GPURT_OK);
    }
    pthread_join(other, NULL);
    side_close(&a);
}

/* The first may go first; its number, and all that there is room for, can be had again. */
static void every_place(bool cpu)
{
    gpurt_t *all[GPURT_MAX_DEVICES], *more, *old;

    for (int i = 0; cpu && i < GPURT_MAX_DEVICES; i++)
        OK(device_open(i, &all[i], &err));
    if (!cpu)
        return;
    CHECK_EQ(device_open(GPURT_MAX_DEVICES, &more, &err), GPURT_E_OPEN);
    CHECK_MSG(strstr(err.text, "devices are open"), "%s", err.text);
    old = all[0];
    OK(gpurt_close(old, &err));
    CHECK_EQ(gpurt_sync(old, &err), GPURT_E_CLOSED);
    OK(gpurt_sync(all[1], &err));
    OK(device_open(GPURT_MAX_DEVICES, &all[0], &err));
    CHECK_EQ(gpurt_sync(old, &err), GPURT_E_CLOSED);
    for (int i = 0; i < GPURT_MAX_DEVICES; i++)
        OK(gpurt_close(all[i], &err));
}

/* What nobody destroyed is gone with its device: its places serve again, and it is not taken for
 * the next device's of that number. Its memory stays, as all that was not destroyed. */
static void left_behind(void)
{
    enum {
        ROUNDS_OF_ALL = 2
    };
    static device_asks_t asks[ROUNDS_OF_ALL]
                             [GPURT_HOSTCHANNELS]; /* to a leak checker held */
    static comm_t left;
    gpurt_channel_status_t status;
    device_orders_t others;
    device_asks_t more;
    gpurt_t *other;
    side_t s;

    OK(device_open(1, &other, &err));
    OK(gpurt_make_channel(other, &others, NULL, &err));
    side_open(&s, 0);
    comm_make(&s, &left);
    side_close(&s);
    for (uint32_t round = 0; round < ROUNDS_OF_ALL; round++) {
        side_open(&s, 0);
        comm_refused(s.rt, &left);
        for (uint32_t i = 0; i < GPURT_HOSTCHANNELS; i++)
            OK(gpurt_make_hostchannel(s.rt, &asks[round][i], NULL, &err));
        CHECK_EQ(gpurt_make_hostchannel(s.rt, &more, NULL, &err), GPURT_E_NOMEM);
        CHECK_MSG(strstr(err.text, "destroy some"), "%s", err.text);
        side_close(&s);
    }
    OK(gpurt_channel_status(other, &others.channel, &status, &err));
    OK(gpurt_channel_destroy(other, &others.channel, &err));
    OK(gpurt_close(other, &err));
}

int main(void)
{
    side_t a, b;
    gpurt_info_t info;
    gpurt_t *rt;
    gpurt_status_t st;

    OK(device_open(0, &rt, &err));
    OK(gpurt_info(rt, &info));
    OK(gpurt_close(rt, &err));
    st = device_open(1, &rt, &err);
    if (info.backend == GPURT_BACKEND_CUDA && st != GPURT_OK)
        SKIP("a second GPU is needed: %s", err.text);
    OK(st);
    OK(gpurt_close(rt, &err));

    side_open(&a, 0);
    side_open(&b, 1);
    each_once(&a, &b);
    strangers(&a, &b);
    stranger_calls(&a, &b);
    stranger_channels(&a, &b);
    own_heaps(&a, &b);
    several_heaps(&a, &b);
    copies(&a, &b);
    own_panics(&a, &b);
    side_close(&a);
    OK(gpurt_launch(b.rt, &launch, device_churn, &b.args, &err));
    OK(gpurt_sync(b.rt, &err));
    side_close(&b);

    beside_each_other();
    left_behind();
    every_place(info.backend == GPURT_BACKEND_CPU);
    return 0;
}
