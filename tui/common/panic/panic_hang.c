/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_hang.h"

#include "hang_watch.h"
#include "hosttime.h"
#include "panic_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Now, or when a dead program was last heard of. */
static uint64_t time_of(const panic_source_t *s)
{
    uint64_t last = s->map.box->claim.xbeat_ns;

    if (s->alive)
        return gpurt_real_ns();
    if (last < s->map.box->identity.real_ns)
        last = s->map.box->identity.real_ns;
    for (uint32_t i = 0; i < s->map.section_count; i++) {
        gpurt_clock_fit_t fit;

        if (gpurt_boxmap_clock(&s->map, i, &fit) && fit.real_ns > last)
            last = fit.real_ns;
    }
    return last;
}

gpurt_status_t panic_hang_now(panic_source_t *source, gpurt_waits_t *waits,
                              gpurt_waitgraph_t *graph, gpurt_error_t *err)
{
    gpurt_status_t st;

    memset(waits, 0, sizeof *waits);
    memset(graph, 0, sizeof *graph);
    st = gpurt_waits_look(&source->map, time_of(source), 0, waits, err);
    if (st == GPURT_OK)
        st = gpurt_waitgraph_make(waits, graph, err);
    if (st != GPURT_OK)
        gpurt_waits_fini(waits);
    return st;
}

gpurt_status_t panic_hang_each(panic_source_t *source, panic_row_fn *take, void *context,
                               gpurt_error_t *err)
{
    gpurt_waitgraph_t graph;
    gpurt_waits_t waits;
    gpurt_row_t *row = NULL;
    gpurt_status_t st = panic_hang_now(source, &waits, &graph, err);

    if (st != GPURT_OK)
        return st;
    if (graph.circles) {
        row = hang_row_make(&source->sites, &graph, 0);
        if (row)
            take(context, row);
        else
            st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "waits");
    }
    free(row);
    gpurt_waitgraph_fini(&graph);
    gpurt_waits_fini(&waits);
    return st;
}

gpurt_status_t panic_hang_of(panic_source_t *source, const panic_facts_t *f,
                             gpurt_waits_t *waits, gpurt_waitgraph_t *graph,
                             gpurt_error_t *err)
{
    gpurt_status_t st;
    void *bytes;
    size_t size;

    if (!source->log)
        return panic_hang_now(source, waits, graph, err);
    memset(waits, 0, sizeof *waits);
    memset(graph, 0, sizeof *graph);
    if (f->p.dump == 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "who waited for whom was not kept");
    st = gpurt_log_blob(source->log, f->p.dump, GPLOG_BLOB_WAITS, &bytes, &size, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_waits_unpack(bytes, size, waits, err);
    free(bytes);
    if (st == GPURT_OK)
        st = gpurt_waitgraph_make(waits, graph, err);
    if (st != GPURT_OK)
        gpurt_waits_fini(waits);
    return st;
}
