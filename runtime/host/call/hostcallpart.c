/* SPDX-License-Identifier: Apache-2.0 */
/* Host calls as a part of a device: they serve until no kernel runs. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallown.h"

#include "life.h"
#include "part.h"

/* One whose function does not return would keep the close waiting. */
static gpurt_status_t hostcalls_closing(gpurt_t *rt, gpurt_error_t *err)
{
    uint32_t device = gpurt_life_index(rt);
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < GPURT_HOSTCALLS && st == GPURT_OK; i++) {
        gpurt_hostcalls_own_t *own = gpurt_hostcalls_book_at(i, device);

        if (own)
            st = gpurt_hostcalls_rest(own, err);
    }
    return st;
}

static gpurt_status_t own_close(const gpurt_opened_t *o, gpurt_hostcalls_own_t *own,
                                gpurt_error_t *err)
{
    (void)gpurt_hostcalls_unserve(own, UINT64_MAX, NULL);
    (void)o->ops->host_destroy(o->self, own->calls.side);
    (void)o->ops->mem_destroy(o->self, own->calls.words);
    own->users = 1; /* nobody is inside */
    gpurt_hostcalls_book_strike(own);
    return gpurt_hostcalls_free(own, err);
}

static gpurt_status_t hostcalls_close(gpurt_opened_t *o, gpurt_status_t status,
                                      gpurt_error_t *err)
{
    gpurt_status_t first = GPURT_OK;

    (void)status;
    for (uint32_t i = 0; i < GPURT_HOSTCALLS; i++) {
        gpurt_hostcalls_own_t *own = gpurt_hostcalls_book_at(i, o->index);
        gpurt_status_t st = own ? own_close(o, own, first == GPURT_OK ? err : NULL) : first;

        if (first == GPURT_OK)
            first = st;
    }
    return first;
}

const gpurt_part_t gpurt_part_hostcalls = {
    .name = "host calls", .closing = hostcalls_closing, .close = hostcalls_close};
