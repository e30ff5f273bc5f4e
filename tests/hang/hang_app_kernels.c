/* SPDX-License-Identifier: Apache-2.0 */
#include "hang_app.h"

#include <gpurt/device.h>

/* ---- a lock and a queue, as a library would have them ------------------------------------ */
GPURT_DEV bool lock_try(struct hang_lock *l)
{
    uint32_t none = 0;

    return gpurt_cas_acquire_dev_u32(&l->xheld, &none, 1); /* T1.acq */
}

GPURT_DEVN void lock_take(struct hang_lock *l, gpurt_site_t *place)
{
    if (!lock_try(l)) {
        gpurt_wait_begin(&l->object, GPURT_WAIT_OWNER, place);
        while (!lock_try(l))
            gpurt_wait_relax();
        gpurt_wait_end(place);
    }
    gpurt_hold(&l->object, GPURT_HOLD_ALONE, place);
}

GPURT_DEV void lock_drop(struct hang_lock *l)
{
    gpurt_release(&l->object, GPURT_HOLD_ALONE);
    gpurt_store_release_dev_u32(&l->xheld, 0); /* T1.rel */
}

/* The caller's line is the place. */
#define LOCK(l)                              \
    do {                                     \
        GPURT_PLACE(place_, "takes a lock"); \
        lock_take(l, &place_);               \
    } while (0)

GPURT_DEVN void queue_get(struct hang_queue *q, gpurt_site_t *place)
{
    gpurt_wait_begin(&q->object, GPURT_WAIT_DATA, place);
    while (!gpurt_load_acquire_dev_u32(&q->xfull)) /* T2.acq */
        gpurt_wait_relax();
    gpurt_wait_end(place);
    gpurt_store_relaxed_dev_u32(&q->xfull, 0);
}

GPURT_DEV void all_ready(struct hang_state *s, uint32_t blocks)
{
    gpurt_add_release_dev_u32(&s->xready, 1);               /* T3.rel */
    while (gpurt_load_acquire_dev_u32(&s->xready) < blocks) /* T3.acq */
        gpurt_relax();
}

/* ---- ways to hang ------------------------------------------------------------------------ */
GPURT_DEV void hang_queue(struct hang_state *s)
{
    GPURT_PLACE(reads, "reads the queue");
    GPURT_PLACE(ends, "an end of the queue");

    if (gpurt_block_rank() == 0) {
        LOCK(&s->locks[0]);
        gpurt_hold(&s->queue.object, GPURT_HOLD_RECEIVER, &ends);
        all_ready(s, 2);
        queue_get(&s->queue, &reads);
        lock_drop(&s->locks[0]);
    } else {
        gpurt_hold(&s->queue.object, GPURT_HOLD_SENDER, &ends);
        all_ready(s, 2);
        LOCK(&s->locks[0]);
        gpurt_store_release_dev_u32(&s->queue.xfull, 1); /* T2.rel */
        lock_drop(&s->locks[0]);
    }
}

GPURT_DEV void hang_gone(struct hang_state *s, bool compute)
{
    if (gpurt_block_rank() == 0) {
        LOCK(&s->locks[0]);
        gpurt_add_release_dev_u32(&s->xready, 1); /* T3.rel */
        if (!compute)
            return;
        for (;;) {
            GPURT_AT("computes");
            gpurt_add_relaxed_dev_u32(&s->xsum, 1);
            gpurt_relax();
        }
    }
    while (gpurt_load_acquire_dev_u32(&s->xready) < 1) /* T3.acq */
        gpurt_relax();
    LOCK(&s->locks[0]);
}

/* It computes, and says nothing more of itself. */
GPURT_DEV void compute(struct hang_state *s)
{
    for (;;) {
        gpurt_add_relaxed_dev_u32(&s->xsum, 1);
        gpurt_relax();
    }
}

GPURT_DEV void hang_went(struct hang_state *s)
{
    GPURT_PLACE(reads, "reads the queue");

    if (gpurt_block_rank() == 0) {
        while (gpurt_load_acquire_dev_u32(&s->xready) < 1) /* T3.acq */
            gpurt_relax();
        gpurt_store_release_dev_u32(&s->queue.xfull, 1); /* T2.rel */
    } else {
        gpurt_wait_begin(&s->queue.object, GPURT_WAIT_DATA, &reads);
        gpurt_add_release_dev_u32(&s->xready, 1);            /* T3.rel */
        while (!gpurt_load_acquire_dev_u32(&s->queue.xfull)) /* T2.acq */
            gpurt_wait_relax();
        gpurt_wait_end(&reads);
    }
    compute(s);
}

GPURT_DEV void hang_open(struct hang_state *s)
{
    GPURT_PLACE(gate, "a gate");

    if (gpurt_block_rank() == 0) {
        gpurt_hold(&s->queue.object, GPURT_HOLD_ALONE, &gate);
        gpurt_release(&s->queue.object, GPURT_HOLD_ALONE);
        all_ready(s, 2);
        LOCK(&s->locks[0]);
    } else {
        LOCK(&s->locks[0]);
        all_ready(s, 2);
        gpurt_wait_begin(&s->queue.object, GPURT_WAIT_OWNER, &gate);
        for (;;)
            gpurt_wait_relax();
    }
}

GPURT_DEV void computes_for(uint64_t ns)
{
    uint64_t begun = gpurt_globaltimer();

    while (gpurt_globaltimer() - begun < ns)
        gpurt_relax();
}

/* ms: from the last record to the first wait, and as long again to the second one. */
GPURT_DEV void hang_late(struct hang_state *s, uint32_t ms)
{
    uint32_t block = gpurt_block_rank();

    if (block == 0)
        LOCK(&s->locks[0]);
    all_ready(s, gpurt_grid_dim_x());
    if (block == 0)
        return;
    computes_for(block * ms * 1000000ull);
    LOCK(&s->locks[0]);
}

GPURT_DEV void hang_noise(struct hang_state *s)
{
    for (uint32_t i = 0; i < HANG_NOISES; i++) {
        GPURT_INFO("noise %u", i);
        gpurt_relax();
    }
    compute(s);
}

GPURT_DEV void hang_not(struct hang_state *s, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        struct hang_lock *l = &s->locks[(gpurt_global_id() + i) % HANG_LOCKS];

        LOCK(l);
        s->xsum = s->xsum + 0; /* what it guards does not matter */
        lock_drop(l);
    }
}

GPURT_DEV void hang_named(struct hang_state *s)
{
    for (uint32_t i = 0; i < HANG_NAMES; i++) {
        gpurt_waitable_name(&s->names[i], GPURT_WAITABLE_OTHER, "name", i);
        if (gpurt_waitable_number(&s->names[i]) == 0)
            gpurt_add_relaxed_dev_u32(&s->xnameless, 1);
    }
}

GPURT_DEV void hang_channels(const hang_words_t *mine, const hang_words_t *other)
{
    uint32_t word = 0;

    gpurt_receiver_begin(mine);
    gpurt_sender_begin(other);
    (void)gpurt_receive(mine, &word);
    (void)gpurt_send(other, &word);
}

GPURT_DEV void hang_credit(const struct hang_app_args *p, uint32_t block)
{
    uint32_t word = block, done = 0;

    if (block == 0) {
        gpurt_sender_begin(&p->left);
        gpurt_sender_begin(&p->right);
        (void)gpurt_send(&p->left, &word);
        (void)gpurt_send(&p->right, &word);
    } else {
        gpurt_receiver_begin(&p->left);
        (void)gpurt_receive(&p->right, &word);
        (void)gpurt_grant(&p->left, 1, &done); /* too late */
    }
}

/* So many answers as the order says, before it is done; none: a call of the host. */
GPURT_DEV void hang_orders(const struct hang_app_args *p)
{
    uint64_t ticket;
    uint32_t order;

    while (gpurt_host_take(&p->orders, &order, &ticket) == GPURT_OK) {
        for (uint32_t i = 0; i < order; i++)
            (void)gpurt_host_send(&p->answers, &i);
        if (order == 0)
            (void)gpurt_host_call(&p->calls, hang_ask, &order, &order);
        (void)gpurt_host_acknowledge(&p->orders, ticket);
    }
}

GPURT_KERNEL(hang_app, struct hang_app_args, p)
{
    uint32_t block = gpurt_block_rank(), blocks = gpurt_grid_dim_x();
    struct hang_state *s = p->state;

    if (p->way == HANG_NOT) {
        hang_not(s, p->rounds);
        return;
    }
    if (p->way == HANG_NAMED) {
        hang_named(s);
        return;
    }
    if (gpurt_thread_rank() == 0) {
        for (uint32_t i = 0; i < HANG_LOCKS; i++)
            gpurt_waitable_name(&s->locks[i].object, GPURT_WAITABLE_LOCK, "fork", i);
        gpurt_waitable_name(&s->queue.object, GPURT_WAITABLE_CHANNEL, "jobs",
                            GPURT_WAITABLE_SINGLE);
        GPURT_INFO("block %u begins", block);
        if (p->way == HANG_RING || (p->way == HANG_NOISE && block < 3)) {
            LOCK(&s->locks[block % HANG_LOCKS]);
            all_ready(s, 3);
            LOCK(&s->locks[(block + 1) % 3]); /* the wrong order */
        } else if (p->way == HANG_NOISE) {
            hang_noise(s);
        } else if (p->way == HANG_SELF) {
            LOCK(&s->locks[0]);
            LOCK(&s->locks[0]);
        } else if (p->way == HANG_CHANNELS) {
            hang_channels(block ? &p->right : &p->left, block ? &p->left : &p->right);
        } else if (p->way == HANG_ORDER || p->way == HANG_CALL || p->way == HANG_LISTEN) {
            hang_orders(p);
        } else if (p->way == HANG_CREDIT) {
            hang_credit(p, block);
        } else if (p->way == HANG_FULL) {
            for (uint32_t i = 0; block + 1 < blocks && i < 3; i++)
                (void)gpurt_send(&p->left, &i);
            (void)gpurt_receive(&p->right, &blocks);
        } else if (p->way == HANG_QUEUE) {
            hang_queue(s);
        } else if (p->way == HANG_GONE || p->way == HANG_BUSY) {
            hang_gone(s, p->way == HANG_BUSY);
        } else if (p->way == HANG_WENT) {
            hang_went(s);
        } else if (p->way == HANG_OPEN) {
            hang_open(s);
        } else if (p->way == HANG_LATE) {
            hang_late(s, p->rounds);
        } else if (p->way == HANG_BARRIER) {
            if (block == 0)
                LOCK(&s->locks[0]);
            all_ready(s, blocks);
            if (block == 1)
                LOCK(&s->locks[0]);
        }
    }
    if (p->way == HANG_BARRIER)
        gpurt_grid_barrier();
}
