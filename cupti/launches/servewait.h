/* SPDX-License-Identifier: Apache-2.0 */
/* servewait.h - calls of CUDA that wait for a service: a kernel of gpurt's that runs until the
 * host stops it (services.h). CUDA waits in some calls until every kernel of the GPU has ended,
 * and a program that stops its service behind such a call hangs. What has not returned after a
 * second is told in the log, with the names of the call and of the service.
 *
 * Callbacks for those calls are on while a service runs. That the call waits for that service is
 * likely and not known: CUDA does not say what it waits for. */
#ifndef GPURT_CUPTI_SERVEWAIT_H
#define GPURT_CUPTI_SERVEWAIT_H

#include "cupti_api.h"

#include <stdbool.h>

/* Context: once. */
void servewait_start(const cupti_api_t *api, CUpti_SubscriberHandle subscriber);

/* A service of that GPU begins or ends. Context: any thread, also before the start. */
void servewait_serve(uint32_t device, const char *name, bool begins);

/* About the subscriber's callback, of CUPTI_CB_DOMAIN_DRIVER_API. Context: any thread of the
 * program, inside of its call. */
void servewait_told(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Asks for callbacks, or no longer. Context: the flusher, behind vigil_look. */
void servewait_ask(void);

/* Tells of calls that have not returned. Context: the reader. */
void servewait_look(uint64_t now_ns);

#endif
