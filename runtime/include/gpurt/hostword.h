/* SPDX-License-Identifier: Apache-2.0 */
/* hostword.h - words between the host and a kernel that runs.
 *
 * A word lies in memory of gpurt_host_create, which both sides reach. One side stores, the other
 * waits for a value that it has not seen:
 *
 *   kernel   gpurt_hostword_await(word, old)          until it is not `old`. Returns: the value
 *            gpurt_hostword_await_for(word, old, ns)  likewise, so long at most: then `old`
 *            gpurt_hostword_tell(word, value)         for a host that waits
 *   host     gpurt_hostword_store(rt, word, value, err)   for a kernel that waits (hostwords.h)
 *            gpurt_hostword_wait(rt, word, old, ...)      until a kernel has told
 *
 * What one side wrote before it stored, the other sees behind its wait. A kernel polls, with
 * pauses of a microsecond at most. On the CPU back end its lanes sleep: the wait takes no
 * processor time and is neither a livelock nor a deadlock, because the host ends it. Where a
 * lane ends such a wait by a word of its own, it calls gpurt_host_wake() behind its store.
 * Context: device code, any lane. */
#ifndef GPURT_HOSTWORD_H
#define GPURT_HOSTWORD_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>

#define gpurt_hostword_await_for(word, old, ns) \
    gpurt_hostword_await_at(word, old, ns, GPURT_HERE)
#define gpurt_hostword_await(word, old) \
    gpurt_hostword_await_at(word, old, UINT64_MAX, GPURT_HERE)

/* here: the caller's line, for reports of the CPU back end. */
GPURT_DEV uint32_t gpurt_hostword_await_at(const uint32_t *word, uint32_t old, uint64_t ns,
                                           const char *here)
{
    uint64_t begin = ns == UINT64_MAX ? 0 : gpurt_globaltimer(), gone = 0;
    uint32_t turn = 0, value;

    while ((value = gpurt_load_acquire_sys_u32(word)) == old) { /* HW2.acq */
        if (ns != UINT64_MAX && (gone = gpurt_globaltimer() - begin) >= ns)
            break;
        gpurt_host_pause(turn++, ns == UINT64_MAX ? ns : ns - gone, here);
    }
    return value;
}

GPURT_DEV void gpurt_hostword_tell(uint32_t *word, uint32_t value)
{
    gpurt_store_release_sys_u32(word, value); /* HW3.rel */
}

#endif
