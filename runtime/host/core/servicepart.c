/* SPDX-License-Identifier: Apache-2.0 */
/* Services as a part of a device: they end before all else. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "life.h"
#include "part.h"
#include "serviceown.h"

/* One that runs on is worse than one that failed: its error is told. */
static gpurt_status_t all_stop(gpurt_t *rt, const gpurt_opened_t *o, gpurt_error_t *err)
{
    gpurt_service_t handles[GPURT_SERVICES];
    gpurt_status_t first = GPURT_OK;

    for (uint32_t i = gpurt_service_book_list(o, handles); i-- > 0;) {
        gpurt_error_t error;
        gpurt_status_t st = gpurt_service_stop(rt, handles[i], &error);

        if (st == GPURT_OK || st == GPURT_E_HANDLE) /* another thread has stopped it */
            continue;
        if (first == GPURT_OK || (st == GPURT_E_TIMEOUT && first != GPURT_E_TIMEOUT)) {
            first = st;
            if (err)
                *err = error;
        }
    }
    return first;
}

/* The latest launched first; none can be launched from then on.
 * Returns: GPURT_E_TIMEOUT, naming the first that runs on, and all is as it was for the others;
 * or the first failure of one of them. */
static gpurt_status_t services_closing(gpurt_t *rt, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (gpurt_life_enter(rt, &o, NULL) != GPURT_OK)
        return GPURT_OK; /* gpurt_close says why */
    gpurt_service_book_shut(o, true);
    st = all_stop(rt, o, err);
    if (st == GPURT_E_TIMEOUT)
        gpurt_service_book_shut(o, false);
    return gpurt_life_leave(o, st);
}

static gpurt_status_t services_close(gpurt_opened_t *o, gpurt_status_t status,
                                     gpurt_error_t *err)
{
    (void)status;
    (void)err;
    gpurt_service_book_end(o->index, o);
    return GPURT_OK;
}

/* The words of a child's own memory only: a GPU's are its parent's. */
static void services_forked(uint32_t index, gpurt_opened_t *o)
{
    gpurt_service_book_end(index, o && o->info.backend == GPURT_BACKEND_CPU ? o : NULL);
}

const gpurt_part_t gpurt_part_services = {.name = "services",
                                          .closing = services_closing,
                                          .close = services_close,
                                          .forked = services_forked};
