/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_HEAP_CHECKS 2
#include <gpurt/alloc.h>

#include "replay_call.h"

GPURT_KERNEL(replay_heap_checked, struct replay_args, p)
{
    replay_heap_call(p);
}
