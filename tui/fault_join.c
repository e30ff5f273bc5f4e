/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_join.h"

#include "fault_row.h"
#include "render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull

/* When the file was made: right after the fault, while its end may be seconds later. Files
 * tell the time in ticks, and what the warp wrote last must not come after it: one tick
 * more. */
static uint64_t fault_time(const char *path, const gpucore_t *core)
{
    struct timespec tick = {.tv_nsec = 10000000};
    struct statx x;
    uint64_t made;

    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_MTIME, &x) != 0)
        return core->about.time_s * SECOND_NS;
    made = (x.stx_mask & STATX_BTIME)
               ? (uint64_t)x.stx_btime.tv_sec * SECOND_NS + x.stx_btime.tv_nsec
               : (uint64_t)x.stx_mtime.tv_sec * SECOND_NS + x.stx_mtime.tv_nsec;
    clock_getres(CLOCK_REALTIME_COARSE, &tick);
    return made + (uint64_t)tick.tv_nsec;
}

/* A program that never opened gpurt has no box to say who it is. */
static void about_make(const gpucore_t *core, uint32_t pid, const char *program,
                       uint64_t time_ns, gplog_file_t *about)
{
    gpurt_box_identity_t *id = &about->identity;

    memset(about, 0, sizeof *about);
    about->created_ns = time_ns;
    id->pid = pid;
    id->uid = (uint32_t)getuid();
    snprintf(id->program, sizeof id->program, "%s", program);
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

static uint32_t section_of(const gplog_file_t *about, const gpucore_t *core,
                           const fault_t *f)
{
    uint32_t device = core->devices[fault_sm(core, f)->device].id;

    for (uint32_t i = 0; i < about->section_count; i++)
        if (about->sections[i].kind == GPURT_SECTION_CUDA &&
            about->sections[i].device == device)
            return i;
    return about->section_count; /* none: shown without a name */
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

static gpurt_status_t rows_put(gpurt_writer_t *writer, const fault_book_t *book,
                               const gplog_file_t *about, uint64_t time_ns, uint64_t blob,
                               panic_hook_t *hook, fault_joined_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < book->count && st == GPURT_OK; i++) {
        const fault_t *f = &book->faults[i];
        gpurt_row_t *row = fault_row_make(gpurt_writer_dictionary(writer), book->core, f,
                                          time_ns, section_of(about, book->core, f), blob);

        if (!row)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "fault");
        st = gpurt_writer_put(writer, row, err);
        if (st == GPURT_OK && out->faults++ == 0)
            tell_first(writer, row, out);
        panic_hook_row(hook, row);
        free(row);
    }
    return st;
}

gpurt_status_t fault_join(gpurt_writer_t *writer, const char *path,
                          const gplog_file_t *about, uint32_t pid, const char *program,
                          panic_hook_t *hook, fault_joined_t *out, gpurt_error_t *err)
{
    fault_book_t book = {0};
    gplog_file_t own;
    gpucore_t *core;
    uint64_t blob = 0, time_ns;
    gpurt_status_t st = gpucore_open(path, &core, err);

    memset(out, 0, sizeof *out);
    if (st != GPURT_OK)
        return st;
    time_ns = fault_time(path, core);
    st = fault_book_fill(&book, core, err);
    if (st == GPURT_OK && !about) {
        about_make(core, pid, program, time_ns, &own);
        st = gpurt_writer_about(writer, &own, err);
        about = &own;
    }
    /* A dump that is too large for a log leaves its rows. */
    out->kept = st == GPURT_OK &&
                gpurt_writer_blob(writer, GPLOG_BLOB_GPU_CORE, core->file.at,
                                  (size_t)core->file.size, &blob, NULL) == GPURT_OK;
    if (st == GPURT_OK)
        st = rows_put(writer, &book, about, time_ns, blob, hook, out, err);
    if (st == GPURT_OK)
        st = gpurt_writer_flush(writer, err);
    fault_book_fini(&book);
    gpucore_close(core);
    return st;
}
