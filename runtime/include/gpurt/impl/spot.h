/* SPDX-License-Identifier: Apache-2.0 */
/* spot.h - where a lane waits for a word that another lane changes: what both back ends are told.
 *
 *   gpurt_park(&spot, turn)     one pause of the wait. A GPU pauses longer from turn to turn and ends
 *                               the lane where it is cancelled. The CPU back end's lane sleeps while
 *                               the word has that value, until somebody unparks it
 *   gpurt_unpark_stopped(stop)  after the word `stop` was changed: wakes all with that one
 *   gpurt_unpark(word, key, n)  after the word was changed: wakes lanes with that key, so many at
 *                               most. Returns: how many slept. Nobody sleeps on a GPU: UINT32_MAX
 * Context: device code, one lane. Verbs for programs: futex.h, mutex.h and so on. */
#ifndef GPURT_SPOT_H
#define GPURT_SPOT_H

#include <gpurt/base.h>

#define GPURT_SPOT_ANY 0xffffffffu

/* Owner: the lane, for the time of the wait. Strings and the holder are for reports. */
typedef struct gpurt_spot {
    const void *word;
    uint64_t value;
    uint64_t left_ns;        /* from now on, or UINT64_MAX */
    uint32_t bytes;          /* of the word: 4 or 8 */
    const int32_t *stop;     /* a word that ends the wait when it is not 0; NULL: none */
    uint32_t key;            /* whom unpark means */
    uint32_t index;          /* behind the name, UINT32_MAX: none */
    const char *kind;        /* "mutex" */
    const char *name;        /* NULL: none */
    const char *here;        /* "file:line" of the caller */
    const uint64_t *holder;  /* word with the place of who holds it; NULL: nobody alone */
    const char *const *held; /* where that took it */
} gpurt_spot_t;

/* A lane as a number that is not 0: launch, block, thread. */
GPURT_HD uint64_t gpurt_place_pack(uint64_t launch, uint32_t block, uint32_t thread)
{
    return 1ull << 63 | (launch & 0x1fffffu) << 42 | (uint64_t)block << 10 | thread;
}
GPURT_HD uint32_t gpurt_place_block(uint64_t place)
{
    return (uint32_t)(place >> 10);
}
GPURT_HD uint32_t gpurt_place_thread(uint64_t place)
{
    return (uint32_t)place & 1023u;
}

#endif
