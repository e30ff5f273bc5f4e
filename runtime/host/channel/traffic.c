/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

void gpurt_traffic_look(uint64_t *values, uint32_t bytes, const gpurt_channel_counts_t *n,
                        const gpurt_channel_desk_t *desk)
{
    values[GPURT_TRAFFIC_DEPTH] = n->depth;
    values[GPURT_TRAFFIC_BYTES] = bytes;
    values[GPURT_TRAFFIC_SENT] = n->sent;
    values[GPURT_TRAFFIC_RECEIVED] = n->received;
    values[GPURT_TRAFFIC_DROPPED] = n->dropped;
    gpurt_traffic_told(values + GPURT_TRAFFIC_TOLD, desk);
}

void gpurt_traffic_told(uint64_t *values, const gpurt_channel_desk_t *desk)
{
    values[GPURT_TRAFFIC_TOLD_REFUSED] = desk->xrefused;
    values[GPURT_TRAFFIC_TOLD_CANCELLED] = desk->xcancelled;
    values[GPURT_TRAFFIC_TOLD_LATE] = desk->xlate;
}

uint64_t gpurt_traffic_name(gpurt_viewer_t *v, gpurt_channel_desk_t *desk)
{
    desk->name[sizeof desk->name - 1] = 0;
    return gpurt_watch_text(v, desk->name);
}
