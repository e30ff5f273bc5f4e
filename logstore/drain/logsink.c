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
    (void)count; /* the writer counts them */
    return gpurt_writer_prepare(context, NULL, rows, bytes, place, err);
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

/* ---- one of several ------------------------------------------------------------------ */

static gpurt_status_t box_note(void *context, gpurt_error_t *err)
{
    return gpurt_writer_note(((gpurt_logbox_t *)context)->writer, err);
}

static gpurt_status_t box_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                  uint32_t count, gpurt_box_intent_t *place,
                                  gpurt_error_t *err)
{
    gpurt_logbox_t *box = context;

    (void)count; /* the writer counts them */
    return gpurt_writer_prepare(box->writer, &box->numbers, rows, bytes, place, err);
}

static gpurt_status_t box_commit(void *context, gpurt_error_t *err)
{
    return gpurt_writer_commit(((gpurt_logbox_t *)context)->writer, err);
}

static bool box_holds(void *context, const gpurt_box_intent_t *place)
{
    return gpurt_writer_holds(((gpurt_logbox_t *)context)->writer, place);
}

gpurt_drain_sink_t gpurt_logsink_of(gpurt_logbox_t *box)
{
    gpurt_drain_sink_t sink = {.context = box,
                               .note = box_note,
                               .prepare = box_prepare,
                               .commit = box_commit,
                               .holds = box_holds};

    return sink;
}
