/* SPDX-License-Identifier: Apache-2.0 */
/* replay_call.h - what kernels that make calls again have in common. A file of kernels
 * includes alloc.h before this, as code that checks or that does not. */
#ifndef GPURT_TUI_REPLAY_CALL_H
#define GPURT_TUI_REPLAY_CALL_H

#include "replay_kernels.h"

#include <gpurt/device.h>

/* What a request came to. relaxed, all: statistics */
GPURT_DEV void replay_answer(const struct replay_args *p, const replay_call_t *call,
                             void *object)
{
    p->objects[call->handle] = (uint64_t)(uintptr_t)object;
    if (!object) {
        gpurt_red_add_relaxed_dev_u64(&p->sums->xrefused, 1);
        return;
    }
    gpurt_red_add_relaxed_dev_u64(&p->sums->xserved, 1);
    gpurt_red_add_relaxed_dev_u64(&p->sums->xbytes, call->size);
    if ((uintptr_t)object & (call->align - 1))
        gpurt_red_add_relaxed_dev_u64(&p->sums->xmisaligned, 1);
}

/* Returns: the object that a call gives back; NULL: its request was refused. */
GPURT_DEV void *replay_given(const struct replay_args *p, const replay_call_t *call)
{
    void *object = (void *)(uintptr_t)p->objects[call->handle];

    p->objects[call->handle] = 0;
    if (object && p->looked_at) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&p->sums->xfreed, call->size);
    return object;
}

/* The call of this lane; NULL: none. */
GPURT_DEV const replay_call_t *replay_own_call(const struct replay_args *p)
{
    uint32_t i = p->begin + gpurt_global_id();

    return i < p->end ? p->calls + i : NULL;
}

GPURT_DEV void replay_heap_call(const struct replay_args *p)
{
    const replay_call_t *call = replay_own_call(p);

    if (!call)
        return;
    if (call->what == REPLAY_FREE)
        gpurt_heap_free(&p->heap, replay_given(p, call));
    else
        replay_answer(p, call, gpurt_heap_alloc_aligned(&p->heap, call->size, call->align));
}

#endif
