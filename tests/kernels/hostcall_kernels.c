/* SPDX-License-Identifier: Apache-2.0 */
#include "hostcall_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void hostcall_wrong(const struct hostcall_args *p, bool wrong)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(p->wrong, 1); /* relaxed: a count */
}

GPURT_KERNEL(hostcall_multiply, struct hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();
    uint32_t done = 0;

    for (uint32_t round = 0; round < p->rounds; round++) {
        const struct hostcall_ask ask = {thread, round};
        struct hostcall_answer got = {0, 0, 0, 0};

        if (round & thread & 1u)
            continue;
        p->notes[2 * thread] = round;
        p->status[thread] = gpurt_host_call_for(&p->calls, multiply, &ask, &got, p->ns);
        hostcall_wrong(p, p->notes[2 * thread + 1] != round + 1);
        hostcall_wrong(p, p->status[thread] != GPURT_OK || got.thread != thread ||
                              got.round != round || got.calls != ++done ||
                              got.product != (uint64_t)thread * round);
    }
    p->values[thread] = done;
}

GPURT_KERNEL(hostcall_reverse, struct hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();
    struct hostcall_page page, back;

    for (uint32_t i = 0; i < HOSTCALL_PAGE; i++)
        page.bytes[i] = (uint8_t)(i * 7 + thread);
    p->status[thread] = gpurt_host_call(&p->calls, reverse, &page, &back);
    for (uint32_t i = 0; i < HOSTCALL_PAGE; i++)
        hostcall_wrong(p, back.bytes[i] != page.bytes[HOSTCALL_PAGE - 1 - i]);
}

GPURT_KERNEL(hostcall_cases, struct hostcall_args, p)
{
    const int32_t told = GPURT_E_HELD;
    gpurt_hostcalls_t none = {0};
    uint64_t value = 7;
    uint32_t word = 1, back = 7;

    if (gpurt_global_id() > 0)
        return;
    p->status[0] = gpurt_host_call(&p->calls, answer, &told, &value);
    p->values[0] = value;
    p->status[1] = gpurt_host_call(&p->calls, missing, &word, &value);
    p->values[1] = value;
    p->status[2] = gpurt_host_call(&p->calls, other, &word, &back);
    p->status[3] = gpurt_host_call(&none, other, &word, &back);
    p->status[4] = gpurt_hostcall_bytes(&p->calls, GPURT_HOSTCALL_PRINT, 0, &word,
                                        GPURT_HOSTCALL_ASK_MOST + 1, NULL, "");
    p->status[5] = gpurt_host_write(&p->calls, 99, &word, sizeof word);
    p->status[6] = gpurt_hostcall_bytes(&p->calls, 255, 0, &word, 4, NULL, "");
}

GPURT_KERNEL(hostcall_mixed, struct hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();
    const int32_t told = GPURT_E_HELD;

    p->status[thread] = gpurt_hostcall_typed(
        &p->calls, thread & 1 ? 4 : 5, &told, (uint32_t)sizeof told, &p->values[thread],
        (uint32_t)sizeof *p->values, UINT64_MAX, NULL, GPURT_HERE);
}

GPURT_KERNEL(hostcall_stall, struct hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();
    uint32_t back = 7;

    p->status[thread] = gpurt_host_call_for(&p->calls, stall, &thread, &back, p->ns);
    p->values[thread] = back;
}

/* All others of the block are about to call, or wait. */
GPURT_DEV void hostcall_await_others(const struct hostcall_args *p)
{
    /* relaxed: nothing goes with it */
    while (gpurt_load_relaxed_dev_u32(p->xcame) < gpurt_block_threads() - 1)
        gpurt_relax();
}

GPURT_DEV bool hostcall_is_last(const struct hostcall_args *p)
{
    return gpurt_block_rank() == p->victim &&
           gpurt_thread_rank() == gpurt_block_threads() - 1;
}

GPURT_DEV void hostcall_wait(const struct hostcall_args *p)
{
    const uint32_t thread = gpurt_global_id();
    uint32_t back;

    if (gpurt_block_rank() == p->victim) /* relaxed: nothing goes with it */
        gpurt_red_add_relaxed_dev_u32(p->xcame, 1);
    p->status[thread] = gpurt_host_call(&p->calls, stall, &thread, &back);
}

GPURT_KERNEL(hostcall_cancel, struct hostcall_args, p)
{
    if (hostcall_is_last(p)) {
        hostcall_await_others(p);
        gpurt_cancel_block();
        gpurt_cancel_point();
    }
    hostcall_wait(p);
}

GPURT_KERNEL(hostcall_panic, struct hostcall_args, p)
{
    if (hostcall_is_last(p)) {
        hostcall_await_others(p);
        GPURT_PANIC("block %u had to", p->victim);
    }
    hostcall_wait(p);
}

GPURT_KERNEL(hostcall_write, struct hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();
    char line[8] = "t....\n";

    for (uint32_t i = 0, rest = thread; i < 4; i++, rest /= 10)
        line[4 - i] = (char)('0' + rest % 10);
    p->status[thread] = gpurt_host_write(&p->calls, p->file, line, 6);
    if (thread > 0)
        return;
    hostcall_wrong(p, gpurt_host_print(&p->calls, "a line of a kernel") != GPURT_OK);
    hostcall_wrong(p, gpurt_host_time(&p->calls, p->values) != GPURT_OK);
}
