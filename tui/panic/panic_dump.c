/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU core dump as a source of panics: by itself, or kept in a log. */
#include "fault_row.h"
#include "panic_read.h"
#include "panic_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull

void panic_dump_close(panic_dump_t *dump)
{
    fault_book_fini(&dump->book);
    gpucore_close(dump->core);
    free(dump->bytes);
    memset(dump, 0, sizeof *dump);
}

/* One section a device, as a log of it would have. */
static void about_fill(const gpucore_t *core, gplog_file_t *about)
{
    about->created_ns = core->about.time_s * SECOND_NS;
    for (uint32_t i = 0; i < core->device_count && i < GPURT_BOX_SECTIONS; i++) {
        gplog_section_t *s = &about->sections[i];

        s->kind = GPURT_SECTION_CUDA;
        s->device = core->devices[i].id;
        s->sm_count = core->devices[i].sm_count;
        s->warp_slots = core->devices[i].warps_per_sm;
        snprintf(s->name, sizeof s->name, "%s", core->devices[i].name);
        about->section_count = i + 1;
    }
}

gpurt_status_t panic_dump_source(const char *path, panic_source_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = gpucore_open(path, &out->dump.core, err);

    if (st == GPURT_OK)
        st = fault_book_fill(&out->dump.book, out->dump.core, err);
    if (st == GPURT_OK)
        about_fill(out->dump.core, &out->about);
    else
        panic_dump_close(&out->dump);
    return st;
}

gpurt_status_t panic_dump_each(panic_source_t *source, panic_row_fn *take, void *context,
                               gpurt_error_t *err)
{
    const gpucore_t *core = source->dump.core;
    bool more = true;

    for (uint32_t i = 0; i < source->dump.book.count && more; i++) {
        const fault_t *f = &source->dump.book.faults[i];
        gpurt_row_t *row =
            fault_row_make(&source->sites, core, f, core->about.time_s * SECOND_NS,
                           fault_sm(core, f)->device, 0);

        if (!row)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "faults");
        more = take(context, row);
        free(row);
    }
    return GPURT_OK;
}

static gpurt_status_t unpack(gpurt_log_t *log, uint64_t id, panic_dump_t *out,
                             gpurt_error_t *err)
{
    bytes_t file = {NULL, 0};
    size_t size;
    gpurt_status_t st =
        gpurt_log_blob(log, id, GPLOG_BLOB_GPU_CORE, &out->bytes, &size, err);

    if (st != GPURT_OK)
        return st;
    file.at = out->bytes;
    file.size = size;
    st = gpucore_open_bytes(file, "dump in the log", &out->core, err);
    if (st == GPURT_OK)
        st = fault_book_fill(&out->book, out->core, err);
    if (st != GPURT_OK)
        panic_dump_close(out);
    return st;
}

gpurt_status_t panic_dump_of(panic_source_t *source, const panic_facts_t *f,
                             panic_dump_t *out, const fault_t **fault, bool *borrowed,
                             gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    memset(out, 0, sizeof *out);
    *fault = NULL;
    *borrowed = source->dump.core != NULL;
    if (*borrowed)
        *out = source->dump;
    else if (!source->log || f->p.dump == 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "the GPU core dump was not kept");
    else
        st = unpack(source->log, f->p.dump, out, err);
    if (st != GPURT_OK)
        return st;
    for (uint32_t i = 0; i < out->book.count && !*fault; i++)
        if (out->book.faults[i].pc == f->p.pc &&
            out->book.faults[i].exception == f->p.exception)
            *fault = &out->book.faults[i];
    if (*fault)
        return GPURT_OK;
    if (!*borrowed)
        panic_dump_close(out);
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "the GPU core dump has no such fault");
}
