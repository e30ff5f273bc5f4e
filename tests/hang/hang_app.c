/* SPDX-License-Identifier: Apache-2.0 */
/* hang_app WAY - hangs in one way, or does not; prints its number first. */
#include "hang_app.h"

#include <gpurt/channels.h>
#include <gpurt/gpurt.h>
#include <gpurt/hostcalls.h>
#include <gpurt/hostchannels.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct way {
    const char *name;
    uint32_t way, blocks, threads;
} way_t;

static const way_t ways[] = {
    {"ring", HANG_RING, 3, 1},     {"self", HANG_SELF, 1, 1},
    {"queue", HANG_QUEUE, 2, 1},   {"barrier", HANG_BARRIER, 2, 32},
    {"gone", HANG_GONE, 2, 1},     {"busy", HANG_BUSY, 2, 1},
    {"went", HANG_WENT, 2, 1},     {"open", HANG_OPEN, 2, 1},
    {"late", HANG_LATE, 3, 1},     {"noise", HANG_NOISE, 4, 1},
    {"named", HANG_NAMED, 4, 1},   {"channels", HANG_CHANNELS, 2, 1},
    {"full", HANG_FULL, 2, 1},     {"order", HANG_ORDER, 1, 1},
    {"call", HANG_CALL, 1, 1},     {"listen", HANG_LISTEN, 1, 1},
    {"credit", HANG_CREDIT, 2, 1}, {"crowd", HANG_FULL, 9, 1},
    {"not", HANG_NOT, 4, 1},
};

static const way_t *way_of(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}

/* Objects that had no number behind the call that names them: none, where a box is. */
static int nameless(gpurt_t *rt, const struct hang_state *state)
{
    uint32_t count;

    if (gpurt_copy(rt, GPURT_STREAM_DEFAULT, &count, &state->xnameless, sizeof count,
                   NULL) != GPURT_OK ||
        gpurt_sync(rt, NULL) != GPURT_OK || count == 0)
        return 0;
    fprintf(stderr, "hang_app: %u times an object had no number\n", count);
    return 1;
}

/* ---- what the host does beside it -------------------------------------------------------- */
static gpurt_t *rt;
static struct hang_app_args args;

GPURT_HOST_FUNCTION(hang_ask, context, ask, answer)
{
    (void)context;
    (void)ask;
    return gpurt_device_receive(rt, &args.answers, answer, GPURT_FOREVER, NULL);
}

static bool ends_make(gpurt_error_t *err)
{
    return gpurt_make_hostchannel(rt, &args.orders, NULL, err) == GPURT_OK &&
           gpurt_make_hostchannel(rt, &args.answers, NULL, err) == GPURT_OK &&
           gpurt_hostcalls_create(rt, NULL, &args.calls, err) == GPURT_OK &&
           gpurt_hostcalls_add(rt, &args.calls, hang_ask, NULL, err) == GPURT_OK;
}

/* Until the kernel waits there. */
static bool lane_await(const gpurt_hostchannel_t *channel, gpurt_error_t *err)
{
    gpurt_hostchannel_status_t status = {0};

    while (status.waiting == 0) {
        if (gpurt_hostchannel_status(rt, channel, &status, err) != GPURT_OK)
            return false;
        sched_yield();
    }
    return true;
}

/* The kernel waits for an order, and for room: it is known at both ends. Then it stands. */
static bool orders_give(gpurt_error_t *err)
{
    const uint32_t order = 3;
    uint32_t word, last;
    uint64_t ticket;

    if (!lane_await(&args.orders.channel, err) ||
        gpurt_device_send(rt, &args.orders, &order, GPURT_FOREVER, &ticket, err) !=
            GPURT_OK ||
        !lane_await(&args.answers.channel, err))
        return false;
    if (gpurt_device_await(rt, &args.orders, ticket, 20000000, NULL) != GPURT_E_TIMEOUT)
        return false; /* a wait that is over is told of no more */
    for (uint32_t i = 0; i < order; i++)
        if (gpurt_device_receive(rt, &args.answers, &word, GPURT_FOREVER, err) != GPURT_OK)
            return false;
    if (args.way == HANG_LISTEN)
        return gpurt_device_receive(rt, &args.answers, &word, GPURT_FOREVER, err) ==
               GPURT_OK;
    last = args.way == HANG_CALL ? 0 : order;
    if (gpurt_device_send(rt, &args.orders, &last, GPURT_FOREVER, &ticket, err) != GPURT_OK)
        return false;
    return gpurt_device_await(rt, &args.orders, ticket, GPURT_FOREVER, err) == GPURT_OK;
}

int main(int argc, char **argv)
{
    const way_t *way = argc > 1 ? way_of(argv[1]) : NULL;
    gpurt_launch_t launch = {.block = {1, 1, 1}};
    const gpurt_channel_options_t granted = {.flags = GPURT_CHANNEL_GRANTED};
    gpurt_error_t err = {0};
    void *state;
    int status;

    if (!way) {
        fputs("hang_app: which way?\n", stderr);
        return 2;
    }
    launch.grid = (gpurt_dim3_t){way->blocks, 1, 1};
    launch.block.x = way->threads;
    launch.cooperative = way->way == HANG_BARRIER;
    args.way = way->way;
    args.rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000;
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof *args.state, &state, &err) != GPURT_OK ||
        gpurt_make_channel(rt, &args.left, way->way == HANG_CREDIT ? &granted : NULL,
                           &err) != GPURT_OK ||
        gpurt_make_channel(rt, &args.right, NULL, &err) != GPURT_OK || !ends_make(&err) ||
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, state, 0, sizeof *args.state, &err) !=
            GPURT_OK)
        goto fail;
    args.state = (struct hang_state *)state;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (gpurt_launch(rt, &launch, hang_app, &args, &err) != GPURT_OK ||
        (way->way >= HANG_ORDER && way->way <= HANG_LISTEN && !orders_give(&err)) ||
        gpurt_sync(rt, &err) != GPURT_OK)
        goto fail;
    status = nameless(rt, args.state);
    gpurt_mem_destroy(rt, state);
    return gpurt_close(rt, &err) == GPURT_OK ? status : 1;

fail:
    fprintf(stderr, "hang_app: %s\n", err.text);
    return 1;
}
