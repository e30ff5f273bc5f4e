/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps as a part of a device. */
#include "heapmap.h"
#include "heaptable.h"
#include "part.h"

static gpurt_status_t heaps_closing(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_heapauto_close(rt);
    return gpurt_heaps_closing(rt, err);
}

static void heaps_forked(void)
{
    gpurt_heaptable_forked();
    gpurt_heapauto_forked();
    gpurt_heapunit_forked();
}

const gpurt_part_t gpurt_part_heaps = {.name = "heaps",
                                       .ready = gpurt_heapauto_open,
                                       .closing = heaps_closing,
                                       .forked_all = heaps_forked};
