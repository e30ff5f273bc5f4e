/* SPDX-License-Identifier: Apache-2.0 */
#include "logsink.h"

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    return gpurt_writer_put(context, row, err);
}

static gpurt_status_t sink_flush(void *context, gpurt_error_t *err)
{
    return gpurt_writer_flush(context, err);
}

gpurt_drain_sink_t gpurt_logsink(gpurt_writer_t *w)
{
    gpurt_drain_sink_t sink = {w, sink_put, sink_flush, false};

    return sink;
}
