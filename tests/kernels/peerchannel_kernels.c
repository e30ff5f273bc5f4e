/* SPDX-License-Identifier: Apache-2.0 */
#include "peerchannel_kernels.h"

#include <gpurt/device.h>

GPURT_DEV gpurt_status_t peer_send_parcel(const struct peer_send_args *p, uint32_t number)
{
    struct peer_parcel parcel = {number, {0}};

    for (uint32_t i = 0; i < PEER_WORDS; i++)
        parcel.words[i] = number * 31 + i;
    return gpurt_peer_send_for(&p->parcels, &parcel, p->ns);
}

GPURT_DEV gpurt_status_t peer_send_page(const struct peer_send_args *p, uint32_t number)
{
    struct peer_page *page = &p->sheets[gpurt_global_id()];

    page->number = number;
    for (uint32_t i = 0; i < 255; i++)
        page->words[i] = number * 31 + i;
    return gpurt_peer_send_for(&p->pages, page, p->ns);
}

GPURT_DEV gpurt_status_t peer_send_one(const struct peer_send_args *p, uint32_t number)
{
    const struct peer_pea pea = {number, 2 * number};

    p->asks[number] = number + 1;
    if (p->kind == PEER_PARCELS)
        return peer_send_parcel(p, number);
    if (p->kind == PEER_PAGES)
        return peer_send_page(p, number);
    return gpurt_peer_send_for(&p->peas, &pea, p->ns);
}

GPURT_DEV gpurt_status_t peer_close_one(const struct peer_send_args *p)
{
    if (p->told) /* behind a close of the host's nothing orders it */
        p->asks[PEER_NOTES] = p->told;
    if (p->kind == PEER_PARCELS)
        return gpurt_peer_close(&p->parcels);
    if (p->kind == PEER_PAGES)
        return gpurt_peer_close(&p->pages);
    return gpurt_peer_close(&p->peas);
}

GPURT_KERNEL(peer_pour, struct peer_send_args, p)
{
    const uint32_t thread = gpurt_global_id();
    uint32_t sent = 0;

    for (uint32_t i = 0; i < p->rounds; i++)
        sent += peer_send_one(p, thread * p->rounds + i) == GPURT_OK;
    p->status[thread] = (int32_t)sent;
    /* relaxed: nothing goes with it */
    if (gpurt_add_relaxed_dev_u32(p->xcame, 1) + 1 == p->threads &&
        peer_close_one(p) != GPURT_OK)
        p->status[thread] = -1;
}

GPURT_KERNEL(peer_rush, struct peer_send_args, p)
{
    const uint32_t thread = gpurt_global_id(), most = thread ? p->rounds : 2;
    uint32_t sent = 0;

    while (sent < most && peer_send_one(p, thread * p->rounds + sent) == GPURT_OK)
        sent++;
    p->status[thread] = (int32_t)sent;
    if (thread == 0 && peer_close_one(p) != GPURT_OK)
        p->status[thread] = -1;
}

GPURT_KERNEL(peer_panics, struct peer_send_args, p)
{
    if (gpurt_global_id() > 0)
        return;
    (void)peer_send_one(p, 0);
    (void)peer_send_one(p, 1);
    GPURT_PANIC("a sender between two messages");
}

/* ---- receive --------------------------------------------------------------------------- */

GPURT_DEV void peer_wrong(const struct peer_take_args *p, bool wrong)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(p->wrong, 1); /* relaxed: a count */
}

/* relaxed: a count; what it says is read behind the kernel */
GPURT_DEV void peer_came(const struct peer_take_args *p, uint32_t number)
{
    peer_wrong(p, number >= PEER_NOTES);
    if (number >= PEER_NOTES)
        return;
    peer_wrong(p, p->asks[number] != number + 1);
    gpurt_red_add_relaxed_dev_u32(&p->seen[number], 1);
}

GPURT_DEV gpurt_status_t peer_take_parcel(const struct peer_take_args *p)
{
    struct peer_parcel parcel;
    gpurt_status_t st = gpurt_peer_receive_for(&p->parcels, &parcel, p->ns);

    if (st != GPURT_OK)
        return st;
    for (uint32_t i = 0; i < PEER_WORDS; i++)
        peer_wrong(p, parcel.words[i] != parcel.number * 31 + i);
    peer_came(p, parcel.number);
    return st;
}

GPURT_DEV gpurt_status_t peer_take_page(const struct peer_take_args *p)
{
    struct peer_page *page = &p->sheets[gpurt_global_id()];
    gpurt_status_t st = gpurt_peer_receive_for(&p->pages, page, p->ns);

    if (st != GPURT_OK)
        return st;
    for (uint32_t i = 0; i < 255; i++)
        peer_wrong(p, page->words[i] != page->number * 31 + i);
    peer_came(p, page->number);
    return st;
}

GPURT_DEV gpurt_status_t peer_take_pea(const struct peer_take_args *p)
{
    struct peer_pea pea;
    gpurt_status_t st = gpurt_peer_receive_for(&p->peas, &pea, p->ns);

    if (st != GPURT_OK)
        return st;
    peer_wrong(p, pea.twice != 2 * pea.number);
    peer_came(p, pea.number);
    return st;
}

GPURT_DEV gpurt_status_t peer_take_one(const struct peer_take_args *p)
{
    if (p->kind == PEER_PARCELS)
        return peer_take_parcel(p);
    return p->kind == PEER_PAGES ? peer_take_page(p) : peer_take_pea(p);
}

GPURT_KERNEL(peer_drink, struct peer_take_args, p)
{
    gpurt_status_t st;

    while ((st = peer_take_one(p)) == GPURT_OK)
        ;
    if (p->told)
        peer_wrong(p, st == GPURT_E_CHANNEL_CLOSED && p->asks[PEER_NOTES] != p->told);
    p->status[gpurt_global_id()] = st;
}

GPURT_KERNEL(peer_wait, struct peer_take_args, p)
{
    if (gpurt_block_rank() == p->victim) {
        if (gpurt_thread_rank() == gpurt_block_threads() - 1) {
            /* relaxed: nothing goes with it */
            while (gpurt_load_relaxed_dev_u32(p->xcame) < gpurt_block_threads() - 1)
                gpurt_relax();
            gpurt_cancel_block();
            gpurt_cancel_point();
        }
        gpurt_red_add_relaxed_dev_u32(p->xcame, 1); /* relaxed: as above */
    }
    p->status[gpurt_global_id()] = peer_take_one(p);
}

/* ---- cases ------------------------------------------------------------------------------ */

GPURT_KERNEL(peer_send_cases, struct peer_send_args, p)
{
    const struct peer_pea pea = {0, 0};
    peas_out_t none = p->peas;
    gpurt_site_t *nowhere = NULL;
    uint64_t other = 0;
    uint32_t word = 0;

    if (gpurt_global_id() > 0)
        return;
    none.channel.words = NULL;
    p->status[0] = gpurt_peer_send(&none, &pea);
    p->status[1] = gpurt_hostchannel_send_at(&p->peas.channel, &word, 4, 0, nowhere, "");
    p->status[2] =
        gpurt_hostchannel_receive_at(&p->peas.channel, &other, 8, 0, NULL, nowhere, "");
    for (uint32_t i = 0; i < PEER_SLOTS; i++)
        p->status[3] = gpurt_peer_try_send(&p->peas, &pea);
    p->status[4] = gpurt_peer_try_send(&p->peas, &pea);
    p->status[5] = gpurt_peer_send_for(&p->peas, &pea, 1000);
    p->status[6] = gpurt_peer_close(&p->peas);
    p->status[7] = gpurt_peer_close(&p->peas);
    p->status[8] = gpurt_peer_try_send(&p->peas, &pea);
}

GPURT_KERNEL(peer_take_cases, struct peer_take_args, p)
{
    struct peer_parcel parcel;
    struct peer_pea pea;

    if (gpurt_global_id() > 0)
        return;
    p->status[0] = gpurt_peer_try_receive(&p->parcels, &parcel);
    p->status[1] = gpurt_peer_receive_for(&p->parcels, &parcel, 1000);
    p->status[2] = gpurt_hostchannel_shut(&p->parcels.channel);
    for (uint32_t i = 0; i < PEER_SLOTS; i++)
        p->status[3] = gpurt_peer_try_receive(&p->peas, &pea);
    p->status[4] = gpurt_peer_receive(&p->peas, &pea);
}
