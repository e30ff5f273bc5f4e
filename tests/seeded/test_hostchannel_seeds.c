/* SPDX-License-Identifier: Apache-2.0 */
/* The host sends orders while blocks take, do, acknowledge and answer them, a schedule a seed; then
 * blocks receive by groups, kernels send by groups, one closes beside senders, and a block is
 * cancelled while it waits. Each message comes once, behind what was written before it. */
#include "seeds.h"

#include "hostchannel_kernels.h"

#include <gpurt/hostchannels.h>

enum {
    BLOCKS = 3,
    THREADS = 4,
    ALL = BLOCKS * THREADS,
    ORDERS = 12
};
#define LIMIT_NS UINT64_C(20000000000)

static struct hostchannel_args args;
static int32_t status[ALL];

static void start(const gpurt_kernel_t *kernel, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {threads, 1, 1}};

    args.threads = BLOCKS * threads;
    memset(args.asks, 0, HOSTCHANNEL_NOTES * sizeof *args.asks);
    memset(args.did, 0, HOSTCHANNEL_NOTES * sizeof *args.did);
    memset(status, 0x77, sizeof status);
    OK(gpurt_make_hostchannel(rt, &args.orders, NULL, &err));
    OK(gpurt_make_hostchannel(rt, &args.smalls, NULL, &err));
    OK(gpurt_make_hostchannel(rt, &args.answers, NULL, &err));
    OK(gpurt_copy(rt, 0, args.status, status, sizeof status, &err));
    OK(gpurt_fill(rt, 0, args.xcame, 0, 4, &err));
    OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
}

static void finish(void)
{
    uint32_t wrong;

    OK(gpurt_copy(rt, 0, status, args.status, sizeof status, &err));
    OK(gpurt_copy(rt, 0, &wrong, args.wrong, sizeof wrong, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    OK(gpurt_hostchannel_destroy(rt, &args.orders.channel, &err));
    OK(gpurt_hostchannel_destroy(rt, &args.smalls.channel, &err));
    OK(gpurt_hostchannel_destroy(rt, &args.answers.channel, &err));
}

static uint64_t order(uint32_t number)
{
    struct hostchannel_order order = {.number = number};
    uint64_t ticket = 0;

    for (uint32_t i = 0; i < 18; i++)
        order.words[i] = number * 31 + i;
    args.asks[number] = number + 1;
    OK(gpurt_device_send(rt, &args.orders, &order, LIMIT_NS, &ticket, &err));
    return ticket;
}

/* One order after the other: acknowledged, done, answered. */
static void orders_are_done(void)
{
    struct hostchannel_answer answer;

    start(&gpurt_kernel_hostchannel_serve, 1);
    for (uint32_t i = 0; i < ORDERS; i++) {
        OK(gpurt_device_await(rt, &args.orders, order(i), LIMIT_NS, &err));
        CHECK_EQ(args.did[i], 1);
        OK(gpurt_device_receive(rt, &args.answers, &answer, LIMIT_NS, &err));
        CHECK_EQ(answer.number, i);
    }
    OK(gpurt_hostchannel_close(rt, &args.orders.channel, &err));
    CHECK_EQ(gpurt_device_receive(rt, &args.answers, &answer, LIMIT_NS, NULL),
             GPURT_E_CHANNEL_CLOSED);
    finish();
}

static void groups_receive(void)
{
    start(&gpurt_kernel_hostchannel_drink, THREADS);
    for (uint32_t i = 0; i < 2 * ALL; i++)
        order(i);
    OK(gpurt_hostchannel_close(rt, &args.orders.channel, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < 2 * ALL; i++)
        CHECK_EQ(args.did[i], 1);
    finish();
}

static void lanes_receive(void)
{
    start(&gpurt_kernel_hostchannel_sip, 1);
    for (uint32_t i = 0; i < ORDERS; i++) {
        const struct hostchannel_small small = {i, 2 * i};

        args.asks[i] = i + 1;
        OK(gpurt_device_send(rt, &args.smalls, &small, LIMIT_NS, NULL, &err));
    }
    OK(gpurt_hostchannel_close(rt, &args.smalls.channel, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < ORDERS; i++)
        CHECK_EQ(args.did[i], 1);
    finish();
}

static void groups_send(void)
{
    struct hostchannel_answer answer;
    uint32_t got = 0;

    args.rounds = 3;
    start(&gpurt_kernel_hostchannel_pour, THREADS);
    while (gpurt_device_receive(rt, &args.answers, &answer, LIMIT_NS, NULL) == GPURT_OK) {
        CHECK_EQ(args.did[answer.number], answer.number + 1);
        got++;
    }
    CHECK_EQ(got, 3 * ALL);
    finish();
}

/* One closes while others are about to send: what was sent comes, and no more. */
static void a_close_loses_nothing(void)
{
    struct hostchannel_answer answer;
    int32_t sent = 0, got = 0;

    args.rounds = 20;
    start(&gpurt_kernel_hostchannel_rush, THREADS);
    while (gpurt_device_receive(rt, &args.answers, &answer, LIMIT_NS, NULL) == GPURT_OK)
        got++;
    finish();
    for (uint32_t i = 0; i < ALL; i++)
        sent += status[i];
    CHECK_EQ(got, sent);
}

/* A try that finds another lane at work is not told that the channel is empty. */
static void who_tries_gets_what_is_there(void)
{
    start(&gpurt_kernel_hostchannel_try, 1);
    for (uint32_t i = 0; i < BLOCKS; i++)
        order(i);
    finish();
    for (uint32_t i = 0; i < BLOCKS; i++)
        CHECK_EQ(status[i], GPURT_OK);
}

static void the_others_go_on(uint32_t victim)
{
    args.victim = victim;
    args.ns = UINT64_MAX;
    start(&gpurt_kernel_hostchannel_cancel, THREADS);
    for (uint32_t i = 0; i < ALL; i++)
        order(i);
    OK(gpurt_hostchannel_close(rt, &args.orders.channel, &err));
    OK(gpurt_copy(rt, 0, status, args.status, sizeof status, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < ALL; i++)
        if (i / THREADS != victim)
            CHECK_EQ(status[i], GPURT_OK);
    finish();
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        args.status = (int32_t *)stage_zeros(sizeof status);
        args.wrong = (uint32_t *)stage_zeros(4);
        args.xcame = (uint32_t *)stage_zeros(4);
        OK(gpurt_host_create(rt, HOSTCHANNEL_NOTES * 4, (void **)&args.asks, &err));
        OK(gpurt_host_create(rt, HOSTCHANNEL_NOTES * 4, (void **)&args.did, &err));
        orders_are_done();
        groups_receive();
        lanes_receive();
        groups_send();
        a_close_loses_nothing();
        who_tries_gets_what_is_there();
        the_others_go_on(s.seed % BLOCKS);
        gpurt_host_destroy(rt, args.asks);
        gpurt_host_destroy(rt, args.did);
        gpurt_mem_destroy(rt, args.status);
        gpurt_mem_destroy(rt, args.wrong);
        gpurt_mem_destroy(rt, args.xcame);
    }
    return 0;
}
