/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h - what the classes of channels say alike: what is in one, what went through it, and
 * what its lanes were told. A class of channels has these fields side by side. What it is called,
 * how it is built and who waits at it are the class's own. */
#ifndef GPURT_HOST_TRAFFIC_H
#define GPURT_HOST_TRAFFIC_H

#include "watch.h"

#include <gpurt/impl/channelmap.h>

/* What lanes were told: also of objects with a desk that are no channels. */
enum {
    GPURT_TRAFFIC_TOLD_REFUSED,
    GPURT_TRAFFIC_TOLD_CANCELLED,
    GPURT_TRAFFIC_TOLD_LATE,
    GPURT_TRAFFIC_TOLD_FIELDS
};
enum {
    GPURT_TRAFFIC_DEPTH,
    GPURT_TRAFFIC_BYTES,
    GPURT_TRAFFIC_SENT,
    GPURT_TRAFFIC_RECEIVED,
    GPURT_TRAFFIC_DROPPED,
    GPURT_TRAFFIC_TOLD, /* of these: what lanes were told */
    GPURT_TRAFFIC_FIELDS = GPURT_TRAFFIC_TOLD + GPURT_TRAFFIC_TOLD_FIELDS
};

/* In a class's fields, from `at` on; then: what else there is to say of the depth. */
#define GPURT_TRAFFIC(at, ...)                                                         \
    [(at) + GPURT_TRAFFIC_DEPTH] = GPURT_FIELD("depth", GAUGE, __VA_ARGS__),           \
            [(at) + GPURT_TRAFFIC_BYTES] = GPURT_FIELD("message", LIMIT, .unit = "B"), \
            [(at) + GPURT_TRAFFIC_SENT] = GPURT_FIELD("sent", COUNTER),                \
            [(at) + GPURT_TRAFFIC_RECEIVED] = GPURT_FIELD("received", COUNTER),        \
            [(at) + GPURT_TRAFFIC_DROPPED] =                                           \
                GPURT_FIELD("dropped", COUNTER, .flags = GPURT_FIELD_TROUBLE),         \
            GPURT_TRAFFIC_TELLS((at) + GPURT_TRAFFIC_TOLD)

#define GPURT_TRAFFIC_TELLS(at)                                                        \
    [(at) + GPURT_TRAFFIC_TOLD_REFUSED] = GPURT_FIELD("refused", COUNTER),             \
            [(at) + GPURT_TRAFFIC_TOLD_CANCELLED] = GPURT_FIELD("cancelled", COUNTER), \
            [(at) + GPURT_TRAFFIC_TOLD_LATE] = GPURT_FIELD("timed_out", COUNTER)

/* values: from the class's `at` on. desk: a copy. */
void gpurt_traffic_look(uint64_t *values, uint32_t bytes, const gpurt_channel_counts_t *n,
                        const gpurt_channel_desk_t *desk);
void gpurt_traffic_told(uint64_t *values, const gpurt_channel_desk_t *desk);

/* What it is called, as a text's value. desk: a copy, whose name gets an end. */
uint64_t gpurt_traffic_name(gpurt_viewer_t *v, gpurt_channel_desk_t *desk);

#endif
