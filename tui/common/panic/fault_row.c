/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_row.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND_NS    1000000000ull
#define LATE_TICK_NS 100000000ull

enum {
    NAME = 256,
    PATH_ROOM = 4096,
    ARGS = 2,
    WORDS = ARGS + 6 + 4 + 5 /* counts; block and thread; lane, lanes, clock; the fault */
};

void fault_file(const line_frame_t *frame, char *out, size_t room)
{
    bool whole = frame->file[0] == '/' || frame->folder[0] == '\0';

    if (whole)
        snprintf(out, room, "%s", frame->file);
    else
        snprintf(out, room, "%s/%s", frame->folder, frame->file);
}

uint32_t fault_site(const code_place_t *place)
{
    static const char *const others[] = {"/include/gpurt/", "/usr/include/",
                                         "/cuda/include/", "/targets/x86_64-linux/include/",
                                         "/targets/sbsa-linux/include/"};
    char file[PATH_ROOM];

    for (uint32_t i = 0; i < place->frame_count; i++) {
        bool other = false;

        fault_file(&place->frames[i], file, sizeof file);
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            other = other || strstr(file, others[k]);
        if (!other)
            return i;
    }
    return 0;
}

void fault_function(const code_place_t *place, char *out, size_t room)
{
    char name[NAME];
    const char *function = place->function;
    uint32_t site = fault_site(place);

    if (site < place->frame_count && place->frames[site].function[0])
        function = place->frames[site].function;
    code_name(function, name, sizeof name);
    if (place->frame_count)
        snprintf(out, room, "%s", name);
    else
        snprintf(out, room, "%.*s+0x%llx", NAME - 20, name[0] ? name : "?",
                 (unsigned long long)place->offset);
}

/* A name in a format: percent signs twice. */
static void format_add(char *out, size_t room, const char *text)
{
    size_t used = strlen(out);

    for (; *text && used + 3 < room; text++) {
        out[used++] = *text;
        if (*text == '%')
            out[used++] = '%';
    }
    out[used] = '\0';
}

/* "illegal address in fail, kernel doomed (lanes %u, blocks %u)" */
static void format_of(const fault_t *f, char *out, size_t room)
{
    char function[NAME], kernel[NAME];

    fault_function(&f->place, function, sizeof function);
    code_name(f->kernel, kernel, sizeof kernel);
    out[0] = '\0';
    format_add(out, room, f->kind->title);
    format_add(out, room, " in ");
    format_add(out, room, function);
    if (strcmp(function, kernel) != 0) {
        format_add(out, room, ", kernel ");
        format_add(out, room, kernel[0] ? kernel : "?");
    }
    snprintf(out + strlen(out), room - strlen(out),
             f->vague ? " (among %%u lanes, blocks %%u)" : " (lanes %%u, blocks %%u)");
}

static uint32_t site_of(gpurt_dictionary_t *d, const fault_t *f)
{
    char format[4 * NAME], file[PATH_ROOM] = "";
    gpurt_site_info_t site = {.kind = GPURT_DEF_SITE,
                              .record_kind = GPURT_KIND_FAULT,
                              .level = GPURT_LEVEL_PANIC,
                              .arg_count = ARGS,
                              .types = GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4,
                              .module = "gpu",
                              .module_bytes = 3};

    format_of(f, format, sizeof format);
    site.format = format;
    site.format_bytes = (uint32_t)strlen(format);
    if (f->place.frame_count) {
        const line_frame_t *frame = &f->place.frames[fault_site(&f->place)];

        fault_file(frame, file, sizeof file);
        site.line = frame->line;
    }
    site.file = file;
    site.file_bytes = (uint32_t)strlen(file);
    return gpurt_dictionary_add(d, &site);
}

static uint32_t clip(uint64_t v)
{
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

gpurt_row_t *fault_row_make(gpurt_dictionary_t *d, const gpucore_t *core, const fault_t *f,
                            uint64_t time_ns, uint32_t section, uint64_t dump)
{
    const gpucore_block_t *b = fault_block(core, f);
    const gpucore_grid_t *g = fault_grid(core, f);
    gpurt_row_t *row = calloc(1, gpurt_row_bytes(WORDS));
    uint32_t *w, flat;

    if (!row)
        return NULL;
    flat = g ? f->lane.thread[0] +
                   g->block[0] * (f->lane.thread[1] + g->block[1] * f->lane.thread[2])
             : f->lane.thread[0];
    row->time_ns = time_ns;
    row->site = site_of(d, f);
    row->block = !b  ? 0
                 : g ? b->index[0] + g->grid[0] * (b->index[1] + g->grid[1] * b->index[2])
                     : b->index[0]; /* as records have it */
    row->mask = f->warp == GPUCORE_NONE ? 0 : core->warps[f->warp].active;
    row->sm = (uint16_t)fault_sm(core, f)->id;
    row->slot = (uint16_t)(f->warp == GPUCORE_NONE ? 0 : core->warps[f->warp].slot);
    row->warp = (uint8_t)(flat / GPUCORE_LANES);
    row->kind = GPURT_KIND_FAULT;
    row->section = (uint8_t)section;
    row->form = GPURT_FORM_WARP_PART;
    row->level = GPURT_LEVEL_PANIC;
    row->words = WORDS;
    w = gpurt_row_words(row);
    w[0] = clip(f->lane_count);
    w[1] = f->block_count;
    if (b)
        memcpy(w + 2, b->index, sizeof b->index);
    memcpy(w + 5, f->lane.thread, sizeof f->lane.thread);
    w[8] = f->lane.lane;
    w[9] = f->narrowed && !f->culprit.lanes ? 0 : f->lanes; /* 0: not known which */
    w[12] = f->exception;
    w[13] = (uint32_t)f->pc;
    w[14] = (uint32_t)(f->pc >> 32);
    w[15] = (uint32_t)dump;
    w[16] = (uint32_t)(dump >> 32);
    return row;
}

/* ---- all of a dump --------------------------------------------------------------------- */
/* When the file was made: right after the fault, while its end may be seconds later. Files
 * tell the time in ticks, and late ones where a virtual machine was held up; what the warp
 * wrote last must not come after it, so a record that is a little newer moves it. */
uint64_t fault_time(const char *path, const gpucore_t *core, uint64_t last_ns)
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
    made += (uint64_t)tick.tv_nsec;
    return last_ns >= made && last_ns - made < LATE_TICK_NS ? last_ns + 1 : made;
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

gpurt_status_t fault_rows(gpurt_dictionary_t *d, const fault_book_t *book,
                          const gplog_file_t *about, uint64_t time_ns, uint64_t dump,
                          fault_row_fn *put, void *context, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < book->count && st == GPURT_OK; i++) {
        const fault_t *f = &book->faults[i];
        gpurt_row_t *row = fault_row_make(d, book->core, f, time_ns,
                                          section_of(about, book->core, f), dump);

        if (!row)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "fault");
        st = put(context, row, err);
        free(row);
    }
    return st;
}
