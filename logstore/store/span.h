/* SPDX-License-Identifier: Apache-2.0 */
/* span.h - a row of activity.h as a stretch of time on a device or a host thread, whatever
 * its kind: what timelines draw and what exports write. */
#ifndef GPURT_LOG_SPAN_H
#define GPURT_LOG_SPAN_H

#include <gpurt/impl/activity.h>

#include "format.h"

/* What a kind has no field for is 0. */
typedef struct gpurt_span {
    uint64_t time_ns;
    uint64_t ns;   /* GPURT_ACTIVITY_NO_TIME: unknown */
    uint32_t kind; /* KERNEL, COPY, FILL, WAIT, GRAPH, OVERHEAD or CALL, MANAGED */
    uint32_t name; /* in the dictionary */
    uint32_t device, context, stream, correlation, thread;
    uint32_t graph, nodes; /* nodes: of a graph */
    bool by_device;        /* device code launched it, or the graph that it is a node of */
    uint8_t program;       /* whose numbers of devices, contexts, streams and graphs are */
    uint64_t node, bytes;
    const gpurt_activity_kernel_t *kernel; /* KERNEL: all of it, within the row or *room */
} gpurt_span_t;

/* Returns: whether the row is of a kind that takes time. room: as for
 * gpurt_activity_load. */
bool gpurt_span_read(const gpurt_row_t *row, gpurt_activity_any_t *room, gpurt_span_t *out);

/* The same of a row whose struct was loaded. */
bool gpurt_span_of(const gpurt_row_t *row, const void *words, gpurt_span_t *out);

enum {
    GPURT_SPAN_GRAPH_NAME = 40
};
/* "graph 12 (35 nodes)"; without them where they are not known. */
void gpurt_span_graph_name(char name[GPURT_SPAN_GRAPH_NAME], uint32_t graph,
                           uint32_t nodes);

/* Whether it ran on a stream of a device that is known. */
static inline bool gpurt_span_on_stream(const gpurt_span_t *s)
{
    return s->kind == GPURT_KIND_KERNEL || s->kind == GPURT_KIND_COPY ||
           s->kind == GPURT_KIND_FILL ||
           (s->kind == GPURT_KIND_GRAPH && s->device != GPURT_ACTIVITY_NO_DEVICE);
}

#endif
