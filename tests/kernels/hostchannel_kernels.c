/* SPDX-License-Identifier: Apache-2.0 */
#include "hostchannel_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void hostchannel_wrong(const struct hostchannel_args *p, bool wrong)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(p->wrong, 1); /* relaxed: a count */
}

GPURT_DEV void hostchannel_check(const struct hostchannel_args *p,
                                 const struct hostchannel_order *order)
{
    hostchannel_wrong(p, order->number >= HOSTCHANNEL_NOTES);
    if (order->number >= HOSTCHANNEL_NOTES)
        return;
    hostchannel_wrong(p, p->asks[order->number] != order->number + 1);
    for (uint32_t i = 0; i < 18; i++)
        hostchannel_wrong(p, order->words[i] != order->number * 31 + i);
    p->did[order->number]++;
}

/* The last of all threads closes. relaxed: nothing goes with it */
GPURT_DEV void hostchannel_through(const struct hostchannel_args *p)
{
    if (gpurt_add_relaxed_dev_u32(p->xcame, 1) + 1 == p->threads)
        hostchannel_wrong(p, gpurt_host_close(&p->answers) != GPURT_OK);
}

GPURT_KERNEL(hostchannel_serve, struct hostchannel_args, p)
{
    const uint32_t thread = gpurt_global_id();
    struct hostchannel_order order;
    gpurt_status_t st;
    uint64_t ticket;

    while ((st = gpurt_host_take(&p->orders, &order, &ticket)) == GPURT_OK) {
        const struct hostchannel_answer answer = {order.number, thread};

        hostchannel_check(p, &order);
        hostchannel_wrong(p, gpurt_host_acknowledge(&p->orders, ticket) != GPURT_OK);
        hostchannel_wrong(p, gpurt_host_send(&p->answers, &answer) != GPURT_OK);
    }
    p->status[thread] = st;
    hostchannel_through(p);
}

GPURT_KERNEL(hostchannel_drink, struct hostchannel_args, p)
{
    struct hostchannel_order order;
    gpurt_status_t st;

    while ((st = gpurt_host_receive(&p->orders, &order)) == GPURT_OK)
        hostchannel_check(p, &order);
    p->status[gpurt_global_id()] = st;
}

GPURT_KERNEL(hostchannel_sip, struct hostchannel_args, p)
{
    struct hostchannel_small small;
    gpurt_status_t st;

    while ((st = gpurt_host_receive(&p->smalls, &small)) == GPURT_OK) {
        hostchannel_wrong(p, small.number >= HOSTCHANNEL_NOTES ||
                                 small.twice != 2 * small.number ||
                                 p->asks[small.number] != small.number + 1);
        p->did[small.number]++;
    }
    p->status[gpurt_global_id()] = st;
}

GPURT_KERNEL(hostchannel_pour, struct hostchannel_args, p)
{
    const uint32_t thread = gpurt_global_id();
    uint32_t sent = 0;

    for (uint32_t i = 0; i < p->rounds; i++) {
        const struct hostchannel_answer answer = {thread * p->rounds + i, thread};

        p->did[answer.number] = answer.number + 1;
        sent += gpurt_host_send(&p->answers, &answer) == GPURT_OK;
    }
    p->status[thread] = (int32_t)sent;
    hostchannel_through(p);
}

GPURT_KERNEL(hostchannel_rush, struct hostchannel_args, p)
{
    const uint32_t thread = gpurt_global_id(), most = thread ? p->rounds : 2;
    uint32_t sent = 0;

    while (sent < most) {
        const struct hostchannel_answer answer = {sent, thread};

        if (gpurt_host_send(&p->answers, &answer) != GPURT_OK)
            break;
        sent++;
    }
    p->status[thread] = (int32_t)sent;
    if (thread == 0)
        hostchannel_wrong(p, gpurt_host_close(&p->answers) != GPURT_OK);
}

GPURT_KERNEL(hostchannel_try, struct hostchannel_args, p)
{
    struct hostchannel_order order;

    p->status[gpurt_global_id()] = gpurt_host_try_receive(&p->orders, &order);
}

GPURT_DEV void hostchannel_await(const struct hostchannel_args *p)
{
    struct hostchannel_order order;

    if (gpurt_block_rank() == p->victim) /* relaxed: nothing goes with it */
        gpurt_red_add_relaxed_dev_u32(p->xcame, 1);
    p->status[gpurt_global_id()] = gpurt_host_receive_for(&p->orders, &order, p->ns);
}

GPURT_KERNEL(hostchannel_wait, struct hostchannel_args, p)
{
    hostchannel_await(p);
}

GPURT_KERNEL(hostchannel_cancel, struct hostchannel_args, p)
{
    if (gpurt_block_rank() == p->victim &&
        gpurt_thread_rank() == gpurt_block_threads() - 1) {
        /* relaxed: nothing goes with it */
        while (gpurt_load_relaxed_dev_u32(p->xcame) < gpurt_block_threads() - 1)
            gpurt_relax();
        gpurt_cancel_block();
        gpurt_cancel_point();
    }
    hostchannel_await(p);
}

GPURT_KERNEL(hostchannel_cases, struct hostchannel_args, p)
{
    const struct hostchannel_answer answer = {0, 0};
    hostchannel_orders_t none = p->orders;
    struct hostchannel_order order;
    gpurt_site_t *nowhere = NULL;
    uint32_t word = 0;

    if (gpurt_global_id() > 0)
        return;
    none.channel.words = NULL;
    p->status[0] = gpurt_host_try_receive(&p->orders, &order);
    p->status[1] = gpurt_host_receive_for(&p->orders, &order, 1000);
    p->status[2] = gpurt_host_receive(&none, &order);
    p->status[3] =
        gpurt_hostchannel_receive_at(&p->orders.channel, &word, 4, 0, NULL, nowhere, "");
    p->status[4] =
        gpurt_hostchannel_send_at(&p->orders.channel, &order, sizeof order, 0, nowhere, "");
    for (uint32_t i = 0; i < 4; i++)
        p->status[5] = gpurt_host_try_send(&p->answers, &answer);
    p->status[6] = gpurt_host_try_send(&p->answers, &answer);
    p->status[7] = gpurt_host_send_for(&p->answers, &answer, 1000);
    p->status[8] = gpurt_host_close(&p->answers);
    p->status[9] = gpurt_host_close(&p->answers);
    p->status[10] = gpurt_host_try_send(&p->answers, &answer);
}
