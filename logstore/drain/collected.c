/* SPDX-License-Identifier: Apache-2.0 */
#include "collected.h"

#include <gpurt/impl/activity.h>
#include <string.h>

/* The fewest words that a row of a kind may have, as gpurt_activity_sites say; no table
 * that is searched for each row. */
static uint32_t least_of(uint32_t kind)
{
    enum {
        KERNEL = offsetof(gpurt_activity_kernel_t, context) / 4,
        GRAPH = offsetof(gpurt_activity_graph_t, context) / 4,
        COLLECTOR = offsetof(gpurt_activity_collector_t, unknown) / 4
    };

    return kind == GPURT_KIND_KERNEL         ? KERNEL
           : kind == GPURT_KIND_GRAPH        ? GRAPH
           : kind == GPURT_KIND_COLLECTOR    ? COLLECTOR
           : kind == GPURT_KIND_DEVICE_GRAPH ? sizeof(gpurt_activity_device_graph_t) / 4
                                             : sizeof(gpurt_activity_node_t) / 4;
}

static void word_put(gplog_collected_t *c, const gpurt_row_t *row)
{
    const gpurt_activity_collector_t *sums = (const void *)gpurt_row_words(row);
    gplog_collector_word_t *last = &c->last[row->program];

    c->words++;
    if (row->time_ns < last->time_ns)
        return;
    last->time_ns = row->time_ns;
    last->state = sums->state;
}

void gplog_collected_add(gplog_collected_t *c, const gpurt_row_t *row, uint32_t count)
{
    switch (row->kind) {
    case GPURT_KIND_KERNEL:
    case GPURT_KIND_NODE:
    case GPURT_KIND_DEVICE_NODE:
        c->kernels += row->words >= least_of(row->kind) ? count : 0;
        break;
    case GPURT_KIND_GRAPH:
    case GPURT_KIND_DEVICE_GRAPH:
        c->graphs += row->words >= least_of(row->kind) ? count : 0;
        break;
    case GPURT_KIND_COLLECTOR:
        if (row->words >= least_of(row->kind))
            word_put(c, row);
        break;
    default:
        break;
    }
}

void gplog_collected_join(gplog_collected_t *c, const gplog_collected_t *more)
{
    c->kernels += more->kernels;
    c->graphs += more->graphs;
    if (more->words == 0)
        return;
    c->words += more->words;
    for (uint32_t i = 0; i <= GPLOG_PROGRAM_OTHERS; i++)
        if (more->last[i].time_ns && more->last[i].time_ns >= c->last[i].time_ns)
            c->last[i] = more->last[i];
}

const char *gplog_collector_state(const gpurt_dictionary_t *d, uint32_t state,
                                  uint32_t *bytes)
{
    static const char none[] = "(no name)";
    gpurt_site_info_t info;

    if (gpurt_dictionary_get(d, state, &info) && info.kind == GPURT_DEF_STRING) {
        *bytes = info.format_bytes;
        return info.format;
    }
    *bytes = sizeof none - 1;
    return none;
}

static bool begins(const char *text, uint32_t bytes, const char *with)
{
    return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* "(no room for more names)" stands for a text, too. */
gplog_collector_rank_t gplog_collector_rank(const gpurt_dictionary_t *d, uint32_t state)
{
    uint32_t bytes;
    const char *text = gplog_collector_state(d, state, &bytes);

    if (bytes == 2 && begins(text, bytes, "on"))
        return GPLOG_COLLECTOR_ON;
    return begins(text, bytes, "on;") || begins(text, bytes, "(") ? GPLOG_COLLECTOR_PART
                                                                  : GPLOG_COLLECTOR_NONE;
}
