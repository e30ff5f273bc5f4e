/* SPDX-License-Identifier: Apache-2.0 */
/* ownword.h - words that the host and kernels share, as the back end wants them accessed. */
#ifndef GPURT_HOST_OWNWORD_H
#define GPURT_HOST_OWNWORD_H

#include "choice.h"

#include <gpurt/atomic.h>

/* Kernels that wait for it go on. */
static inline void gpurt_ownword_store(const gpurt_opened_t *o, uint32_t *word,
                                       uint32_t value)
{
    if (o->ops->word_store)
        o->ops->word_store(o->self, word, value);
    else
        gpurt_store_release_sys_u32(word, value); /* HW2.rel SV1.rel */
}

static inline uint32_t gpurt_ownword_load(const gpurt_opened_t *o, const uint32_t *word)
{
    if (o->ops->word_load)
        return o->ops->word_load(o->self, word);
    return gpurt_load_acquire_sys_u32(word); /* HW3.acq SV2.acq */
}

/* Before a loop of loads: under a seed kernels begin when the host waits. */
static inline void gpurt_ownword_awaited(const gpurt_opened_t *o)
{
    if (o->ops->word_awaited)
        o->ops->word_awaited(o->self);
}

#endif
