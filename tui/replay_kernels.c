/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

GPURT_KERNEL(replay_step, struct replay_args, p)
{
    uint32_t i = p->begin + gpurt_global_id();
    const replay_call_t *call = p->calls + i;
    void *object = NULL;

    if (i >= p->end)
        return;
    if (call->size == REPLAY_FREE) {
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->objects[call->handle]);
        p->objects[call->handle] = 0;
        return;
    }
    object = gpurt_heap_alloc_aligned(&p->heap, call->size, call->align);
    p->objects[call->handle] = (uint64_t)(uintptr_t)object;
    if (object) { /* relaxed: statistics */
        gpurt_red_add_relaxed_dev_u64(&p->sums->xserved, 1);
        gpurt_red_add_relaxed_dev_u64(&p->sums->xbytes, call->size);
    } else {
        gpurt_red_add_relaxed_dev_u64(&p->sums->xrefused, 1);
    }
}
