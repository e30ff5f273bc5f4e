/* SPDX-License-Identifier: Apache-2.0 */
/* futex.h - waiting for a word of 32 bits, in shared or in global memory.
 *
 *   gpurt_futex_wait(word, value)              until *word is no longer `value`
 *   gpurt_futex_wait_for(word, value, ns)      likewise, so long at most
 *   gpurt_futex_wait_in(word, value, ns, scope)    ... and until the scope (scope.h) ends
 *   gpurt_futex_wake(word, n)                  after a change of the word: so many who wait look
 *                                              at it again; GPURT_FUTEX_ALL
 *
 * The waits return GPURT_OK, GPURT_E_TIMEOUT or GPURT_E_CANCELLED (the scope's end). Behind
 * GPURT_OK the caller sees what was written before the word was changed with release. A lane of a
 * cancelled block leaves in the wait.
 *
 * Change the word by an atomic, then wake. On a GPU waiters look by themselves, with pauses that
 * grow to a microsecond, and wake costs nothing. On the CPU back end they sleep, and cost nothing: a
 * change without a wake is a mistake that it reports as a deadlock. More lanes than n may go on.
 * Nothing else is a futex's: it has no memory, and nothing begins or ends it.
 * Context: device code, any lane. */
#ifndef GPURT_FUTEX_H
#define GPURT_FUTEX_H

#include <gpurt/impl/waithow.h>

#define GPURT_FUTEX_ALL UINT32_MAX

/* What is told of a wait: names of the object whose word it is. */
typedef struct gpurt_futex_of {
    const char *kind, *name;          /* name: NULL: none */
    const gpurt_waitable_t *waitable; /* or NULL */
} gpurt_futex_of_t;

/* acquire, of the scope that the word's place allows */
GPURT_DEV uint32_t gpurt_futex_look(const uint32_t *word)
{
    return gpurt_is_shared(word) ? gpurt_load_acquire_blk_u32(word)  /* FX1.acq */
                                 : gpurt_load_acquire_dev_u32(word); /* FX1.acq */
}

GPURT_DEVN gpurt_status_t gpurt_futex_sleep(const uint32_t *word, uint32_t value,
                                            const gpurt_futex_of_t *of,
                                            const gpurt_wait_how_t *how)
{
    uint64_t begin = how->ns == GPURT_FOREVER ? 0 : gpurt_globaltimer();
    gpurt_status_t st = GPURT_OK;
    gpurt_spot_t spot = {};

    spot.word = word;
    spot.value = value;
    spot.bytes = 4;
    spot.index = UINT32_MAX;
    spot.kind = of->kind;
    spot.name = of->name;
    spot.here = how->here;
    spot.stop = gpurt_wait_stop(how);
    gpurt_wait_begin(of->waitable, GPURT_WAIT_WORD, how->place);
    for (uint32_t turn = 0; gpurt_futex_look(word) == value; turn++) {
        st = gpurt_wait_goes_on(how, begin, &spot.left_ns);
        if (st != GPURT_OK)
            break;
        if (gpurt_cancelled())
            gpurt_wait_end(NULL);
        gpurt_cancel_point();
        gpurt_park(&spot, turn);
    }
    gpurt_wait_end(how->place);
    return st;
}

GPURT_DEV gpurt_status_t gpurt_futex_wait_as(const uint32_t *word, uint32_t value,
                                             const gpurt_futex_of_t *of,
                                             const gpurt_wait_how_t *how)
{
    return gpurt_futex_look(word) != value ? GPURT_OK
                                           : gpurt_futex_sleep(word, value, of, how);
}

GPURT_DEV gpurt_status_t gpurt_futex_wait_at(const uint32_t *word, uint32_t value,
                                             const gpurt_wait_how_t *how)
{
    const gpurt_futex_of_t of = {"futex", NULL, NULL};

    return gpurt_futex_wait_as(word, value, &of, how);
}

#define gpurt_futex_wait_in(word, value, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_futex_wait_at, "waits for a word", ns, scope, word, value)
#define gpurt_futex_wait_for(word, value, ns) gpurt_futex_wait_in(word, value, ns, NULL)
#define gpurt_futex_wait(word, value)         gpurt_futex_wait_in(word, value, GPURT_FOREVER, NULL)

GPURT_DEV void gpurt_futex_wake(const uint32_t *word, uint32_t n)
{
    (void)gpurt_unpark(word, GPURT_SPOT_ANY, n);
}

#endif
