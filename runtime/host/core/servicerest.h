/* SPDX-License-Identifier: Apache-2.0 */
/* servicerest.h - services at rest: while the host needs a heap unchanged, those that declared it
 * stand at their safe points (gpurt_service_go). All others run on.
 *
 *     gpurt_service_rest_t rest;
 *     st = gpurt_services_rest(rt, &heap.id, 1, &rest, err);
 *     ...                                                   the heap is the host's
 *     gpurt_services_resume(&rest);                         also after a refusal
 *
 * Context: host, any thread; several may rest the same services, which resume with the last. */
#ifndef GPURT_HOST_SERVICEREST_H
#define GPURT_HOST_SERVICEREST_H

#include "serviceown.h"

/* Owner: the caller, on its stack. Until resume the services stay, and the device open. */
typedef struct gpurt_service_rest {
    const gpurt_opened_t *opened; /* NULL: nothing rests */
    uint32_t count;
    gpurt_service_own_t *services[GPURT_SERVICES];
} gpurt_service_rest_t;

/* Returns: GPURT_E_TIMEOUT, naming a service that came to no safe point within its stop_ms; then
 * all run on. Order: what their blocks wrote before is seen. */
gpurt_status_t gpurt_services_rest(gpurt_t *rt, const uint32_t *heaps, uint32_t heap_count,
                                   gpurt_service_rest_t *rest, gpurt_error_t *err);
/* Order: their blocks see what was written meanwhile. */
void gpurt_services_resume(gpurt_service_rest_t *rest);

#endif
