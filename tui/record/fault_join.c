/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_join.h"

#include "fault_row.h"
#include "procfs.h"
#include "render.h"

#include <stdio.h>
#include <unistd.h>

/* A program that never opened gpurt has no box to say who it is. */
static void about_make(const gpucore_t *core, uint32_t pid, const char *program,
                       uint64_t time_ns, gplog_file_t *about)
{
    gpurt_box_identity_t *id = &about->identity;

    memset(about, 0, sizeof *about);
    about->created_ns = time_ns;
    id->pid = pid;
    id->uid = (uint32_t)getuid();
    gpurt_program_name(id->program, sizeof id->program, program);
    if (gethostname(id->host, sizeof id->host - 1) != 0)
        id->host[0] = '\0';
    for (uint32_t i = 0; i < core->device_count && i < GPURT_BOX_SECTIONS; i++) {
        gplog_section_t *s = &about->sections[about->section_count++];

        s->kind = GPURT_SECTION_CUDA;
        s->device = core->devices[i].id;
        s->sm_count = core->devices[i].sm_count;
        s->warp_slots = core->devices[i].warps_per_sm;
        snprintf(s->name, sizeof s->name, "%s", core->devices[i].name);
    }
}

static void tell_first(gpurt_writer_t *writer, const gpurt_row_t *row, fault_joined_t *out)
{
    const gpurt_dictionary_t *d = gpurt_writer_dictionary(writer);
    gpurt_site_info_t site;
    gpurt_text_t text;

    gpurt_text_init(&text, out->first, sizeof out->first);
    gpurt_render_message(d, row, 0, &text);
    if (gpurt_dictionary_get(d, row->site, &site) && site.file_bytes)
        snprintf(out->where, sizeof out->where, "%.*s:%u", (int)site.file_bytes, site.file,
                 site.line);
}

typedef struct joining {
    gpurt_writer_t *writer;
    gplog_numbers_t numbers;
    panic_hook_t *hook;
    fault_joined_t *out;
} joining_t;

static gpurt_status_t row_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    joining_t *j = context;
    gpurt_status_t st = gpurt_writer_put_of(j->writer, &j->numbers, row, err);

    if (st == GPURT_OK && j->out->faults++ == 0)
        tell_first(j->writer, row, j->out);
    panic_hook_row(j->hook, gpurt_writer_dictionary(j->writer), row);
    return st;
}

gpurt_status_t fault_join(gpurt_writer_t *writer, const char *path,
                          const gplog_file_t *about, uint32_t pid, const char *program,
                          panic_hook_t *hook, fault_joined_t *out, gpurt_error_t *err)
{
    joining_t joining = {.writer = writer, .hook = hook, .out = out};
    gpurt_writer_figures_t sum;
    fault_book_t book = {0};
    gplog_file_t own;
    gpucore_t *core;
    uint64_t blob = 0, time_ns;
    gpurt_status_t st = gpucore_open(path, &core, err);

    memset(out, 0, sizeof *out);
    if (st != GPURT_OK)
        return st;
    gpurt_writer_figures(writer, &sum);
    time_ns = fault_time(path, core, sum.last_ns);
    st = fault_book_fill(&book, core, err);
    if (st == GPURT_OK && !about) {
        about_make(core, pid, program, time_ns, &own);
        st = gpurt_writer_about(writer, &own, err);
        about = &own;
    }
    if (st == GPURT_OK)
        gpurt_writer_numbers(writer, about, &joining.numbers);
    /* A dump that is too large for a log leaves its rows. */
    out->kept = st == GPURT_OK &&
                gpurt_writer_blob(writer, GPLOG_BLOB_GPU_CORE, core->file.at,
                                  (size_t)core->file.size, &blob, NULL) == GPURT_OK;
    if (st == GPURT_OK)
        st = fault_rows(gpurt_writer_dictionary(writer), &book, about, time_ns, blob,
                        row_put, &joining, err);
    if (st == GPURT_OK)
        st = gpurt_writer_flush(writer, err);
    fault_book_fini(&book);
    gpucore_close(core);
    return st;
}
