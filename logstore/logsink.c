/* SPDX-License-Identifier: Apache-2.0 */
#include "logsink.h"

static gpurt_status_t sink_note(void *context, gpurt_error_t *err)
{
    return gpurt_writer_note(context, err);
}

static gpurt_status_t sink_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                   uint32_t count, gpurt_box_intent_t *place,
                                   gpurt_error_t *err)
{
    return gpurt_writer_prepare(context, rows, bytes, count, place, err);
}

static gpurt_status_t sink_commit(void *context, gpurt_error_t *err)
{
    return gpurt_writer_commit(context, err);
}

static bool sink_holds(void *context, const gpurt_box_intent_t *place)
{
    return gpurt_writer_holds(context, place);
}

gpurt_drain_sink_t gpurt_logsink(gpurt_writer_t *w)
{
    gpurt_drain_sink_t sink = {.context = w,
                               .note = sink_note,
                               .prepare = sink_prepare,
                               .commit = sink_commit,
                               .holds = sink_holds};

    return sink;
}
