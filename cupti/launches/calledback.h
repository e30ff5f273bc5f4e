/* SPDX-License-Identifier: Apache-2.0 */
/* calledback.h - launches and waits as CUPTI calls back for them: what runs, and how often what was
 * launched, where records tell of ends or the hook is not there (hooked.h). CUPTI takes 1.7 us of
 * each launch for it. */
#ifndef GPURT_CUPTI_CALLEDBACK_H
#define GPURT_CUPTI_CALLEDBACK_H

#include "cupti_api.h"

/* running: for inflight.h; else for counts alone. graphs: those have a record each, as a whole; else
 * they do not run as far as we know. Context: before any launch. Returns: false: CUPTI tells of no
 * launches. */
bool calledback_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber,
                      bool running, bool graphs);
bool calledback_is_on(void);

/* A call of the driver, about to be made or made. Context: any thread of the program. */
void calledback_told(CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
