/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include <gpurt/hostwords.h>

#include "hostpoll.h"
#include "life.h"
#include "ownword.h"
#include "refuse.h"

static gpurt_status_t word_check(const uint32_t *word, gpurt_error_t *err)
{
    if (!word || (uintptr_t)word % sizeof *word)
        return REFUSE(err, GPURT_E_INVALID,
                      "%p is no host word: pass an aligned address in memory of "
                      "gpurt_host_create",
                      (const void *)word);
    return GPURT_OK;
}

gpurt_status_t gpurt_hostword_store(gpurt_t *rt, uint32_t *word, uint32_t value,
                                    gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = word_check(word, err);

    if (st == GPURT_OK)
        st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    gpurt_ownword_store(o, word, value);
    return gpurt_life_leave(o, GPURT_OK);
}

static gpurt_status_t word_await(const gpurt_opened_t *o, const uint32_t *word,
                                 uint32_t old, uint64_t timeout_ns, uint32_t *value,
                                 gpurt_error_t *err)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(timeout_ns);

    gpurt_ownword_awaited(o);
    while ((*value = gpurt_ownword_load(o, word)) == old)
        if (!gpurt_hostpoll_next(&poll))
            return REFUSE(err, GPURT_E_TIMEOUT,
                          "the word at %p is still %u after %.3f s: no kernel has stored "
                          "another value",
                          (const void *)word, old, (double)timeout_ns * 1e-9);
    return GPURT_OK;
}

gpurt_status_t gpurt_hostword_wait(gpurt_t *rt, const uint32_t *word, uint32_t old,
                                   uint64_t timeout_ns, uint32_t *value, gpurt_error_t *err)
{
    uint32_t found = old;
    const gpurt_opened_t *o;
    gpurt_status_t st = word_check(word, err);

    if (st == GPURT_OK)
        st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = word_await(o, word, old, timeout_ns, &found, err);
    if (value)
        *value = found;
    return gpurt_life_leave(o, st);
}
