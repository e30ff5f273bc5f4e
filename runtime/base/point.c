/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/atomic.h>

enum {
    POINT_REFILL = 1u << 30
}; /* a thread with no executor: as good as never again */

GPURT_TLS uint32_t gpurt_point_budget = POINT_REFILL;

uint32_t gpurt_fence_word; /* only its address is used: see fences in atomic.h */

/* Written once by the first executor of the process, before any lane exists; lanes are started
 * by threads created after that, so a plain word is enough. */
static gpurt_point_fn point_hook;

gpurt_point_fn gpurt_point_install(gpurt_point_fn hook)
{
    gpurt_point_fn before = point_hook;

    if (before != hook)
        point_hook = hook;
    return before;
}

void gpurt_point_reached(const void *addr, uint32_t bytes, uint32_t scope, uint32_t kind)
{
    gpurt_point_t point = {
        .addr = addr,
        .bytes = (uint16_t)bytes,
        .scope = (uint8_t)scope,
        .kind = (uint8_t)kind,
        .caller = __builtin_return_address(0),
    };

    gpurt_point_budget = POINT_REFILL;
    if (point_hook)
        point_hook(&point);
}
