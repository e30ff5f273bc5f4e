/* SPDX-License-Identifier: Apache-2.0 */
#include "hang_join.h"

#include "hang_text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void tell(const hang_sinks_t *to, const gpurt_waitgraph_t *g, uint32_t pid)
{
    const char *refused = getenv("NO_COLOR");
    panic_style_t style = {.out = to->out,
                           .colour = isatty(fileno(to->out)) && !(refused && refused[0])};

    fprintf(to->out, "%s: process %u: %s\n", to->name, pid,
            g->circles ? "device code stands in a deadlock"
                       : "device code waits, and nothing moves");
    hang_print(g, &style);
}

gpurt_status_t hang_join(const hang_sinks_t *to, const gpurt_waitgraph_t *g, uint32_t pid,
                         gpurt_error_t *err)
{
    gpurt_dictionary_t *d = gpurt_writer_dictionary(to->log->writer);
    gpurt_status_t st;
    uint64_t blob = 0;
    gpurt_row_t *row;
    void *bytes;
    size_t size;

    if (to->out)
        tell(to, g, pid);
    st = gpurt_waits_pack(g->waits, &bytes, &size, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_writer_blob(to->log->writer, GPLOG_BLOB_WAITS, bytes, size, &blob, err);
    free(bytes);
    row = hang_row_make(d, g, st == GPURT_OK ? blob : 0);
    if (!row)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "hang");
    if (st == GPURT_OK)
        st = gpurt_writer_put_of(to->log->writer, &to->log->numbers, row, err);
    if (st == GPURT_OK)
        st = gpurt_writer_flush(to->log->writer, err);
    publish_row(to->publish, row);
    if (to->hook)
        panic_hook_row(to->hook, d, row);
    free(row);
    return st;
}
