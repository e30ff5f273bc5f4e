/* SPDX-License-Identifier: Apache-2.0 */
#include "forked.h"

#include "boxlink.h"
#include "guards.h"
#include "heapmap.h"
#include "heaptable.h"
#include "life.h"
#include "panicwatch.h"
#include "serviceown.h"
#include "viewer.h"

/* The viewer looks at heaps, guards lie in the device's memory: so both come first. */
void gpurt_forked_device(gpurt_opened_t *opened)
{
    gpurt_viewer_forked(opened);
    gpurt_panicwatch_forked(opened->index);
    gpurt_guards_forked(opened);
    gpurt_services_forked(opened->index, opened);
    gpurt_boxlink_forked(opened);
}

void gpurt_forked_changing(uint32_t index)
{
    gpurt_viewer_forget(index);
    gpurt_panicwatch_forked(index);
    gpurt_guards_forget(index);
    gpurt_services_forked(index, NULL);
    gpurt_boxlink_forget(index);
}

void gpurt_forked_tables(void)
{
    gpurt_handles_forked(&gpurt_handles);
    gpurt_heaptable_forked();
    gpurt_heapauto_forked();
    gpurt_heapunit_forked();
}
