/* SPDX-License-Identifier: Apache-2.0 */
/* vigil.h - whether CUPTI still gives us its records. Another library may register its own
 * callbacks for buffers behind ours: CUPTI allows that, asks nobody, and tells nobody.
 *
 * While buffers come, nothing is done. When none has come for a while the program may just
 * be idle; so its launches are counted, by callbacks that are on until the next buffer comes.
 * Launches without a buffer are what is told. */
#ifndef GPURT_CUPTI_VIGIL_H
#define GPURT_CUPTI_VIGIL_H

#include "cupti_api.h"
#include "pool.h"

/* Context: once, where kernels are recorded. */
void vigil_start(const cupti_api_t *api, CUpti_SubscriberHandle subscriber);

/* About the subscriber's callback, of any call of the driver that is told of. Context: any
 * thread of the program. */
void vigil_told(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Whether its callbacks are on. Context: the flusher. */
bool vigil_counts(void);

/* Context: the flusher, after each flush. Returns: whether launches bring no buffers. */
bool vigil_look(const pool_t *pool, uint64_t now_ns);

#endif
