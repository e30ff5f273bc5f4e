/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 2 /* a block that panics has left */

#include "service_kernels.h"

#include <gpurt/device.h>
#include <gpurt/hostword.h>
#include <gpurt/panic.h>

/* What the host asked is read, and the answer written, by plain accesses of all threads. */
GPURT_DEV void round_answer(const struct service_args *p, uint32_t round)
{
    service_reply_t *mine = &p->replies[gpurt_block_rank()];

    for (uint32_t i = gpurt_thread_rank(); i < SERVICE_WORDS; i += gpurt_block_threads())
        mine->answer[i] = p->desk->question[i] * 31 + gpurt_block_rank();
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        gpurt_hostword_tell(&mine->xround, round);
}

/* The round that is asked for, the same to all threads. */
GPURT_DEV uint32_t round_asked(const struct service_args *p)
{
    GPURT_SHARED(uint32_t, round, 1);

    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        round[0] = gpurt_load_acquire_sys_u32(&p->desk->xask);
    gpurt_block_barrier();
    return round[0];
}

GPURT_DEV void service_serve(const struct service_args *p, bool rests)
{
    gpurt_service_turn_t turn = gpurt_service_begin(&p->service);
    service_reply_t *mine = &p->replies[gpurt_block_rank()];
    uint32_t done = 0;

    while (gpurt_service_go(&turn)) {
        uint32_t round = round_asked(p);

        if (gpurt_thread_rank() == 0)
            mine->passes++;
        if (round != done)
            round_answer(p, round);
        else if (rests)
            gpurt_service_idle(&turn);
        done = round;
    }
    if (gpurt_thread_rank() == gpurt_block_threads() - 1)
        mine->heard = p->desk->farewell;
    if (gpurt_thread_rank() == 0)
        mine->ended = gpurt_add_relaxed_sys_u32(&p->desk->xturn, 1) + 1;
}

GPURT_KERNEL(service_echo, struct service_args, p)
{
    service_serve(p, true);
}

GPURT_KERNEL(service_busy, struct service_args, p)
{
    service_serve(p, false);
}

GPURT_KERNEL(service_deaf, struct service_args, p)
{
    gpurt_service_turn_t turn = gpurt_service_begin(&p->service);

    if (gpurt_thread_rank() == 0)
        gpurt_hostword_await(&p->desk->xask, 0);
    while (gpurt_service_go(&turn))
        gpurt_service_idle(&turn);
}

GPURT_DEV void until_rung(const struct service_args *p, gpurt_service_turn_t *turn)
{
    while (gpurt_service_go(turn) && round_asked(p) == 0)
        gpurt_service_idle(turn);
}

GPURT_KERNEL(service_panics, struct service_args, p)
{
    gpurt_service_turn_t turn = gpurt_service_begin(&p->service);

    until_rung(p, &turn);
    if (gpurt_block_rank() == p->value)
        GPURT_PANIC("block %u had to", p->value);
    while (gpurt_service_go(&turn))
        gpurt_service_idle(&turn);
}

GPURT_KERNEL(service_traps, struct service_args, p)
{
    gpurt_service_turn_t turn = gpurt_service_begin(&p->service);

    until_rung(p, &turn);
    gpurt_trap();
}

GPURT_KERNEL(hostword_once, struct service_args, p)
{
    uint32_t round = 0;

    if (gpurt_thread_rank() == 0) {
        gpurt_hostword_tell(&p->replies[gpurt_block_rank()].xround, HOSTWORD_HERE);
        round = gpurt_hostword_await(&p->desk->xask, 0);
    }
    gpurt_block_barrier();
    round_answer(p, round);
}

GPURT_KERNEL(hostword_late, struct service_args, p)
{
    uint64_t begin = gpurt_globaltimer();
    uint32_t value;

    if (gpurt_thread_rank() != 0)
        return;
    value = gpurt_hostword_await_for(&p->desk->xask, 0, (uint64_t)p->value * 1000);
    p->replies[0].passes = gpurt_globaltimer() - begin;
    gpurt_hostword_tell(&p->replies[0].xround, value ? 2 : 1);
}
