/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_hang.h"

#include "frame_text.h"
#include "hosttime.h"
#include "lines_text.h"
#include "linesums.h"
#include "linewhy.h"
#include "plural.h"
#include "running_text.h"

#include <gpurt/impl/activity.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS   1000000000ull
#define PATIENCE_NS 700000000ull /* for samples, which are read five times a second */

enum {
    LINES = 6,
    QUEUED = 3, /* names of what waits behind */
    LINE = 1024
};

void kernel_hang_init(kernel_hang_t *k, uint64_t limit_ns,
                      const gpurt_dictionary_t *dictionary, const gplog_file_t *about)
{
    *k = (kernel_hang_t){.limit_ns = limit_ns, .dictionary = dictionary, .about = about};
}

void kernel_hang_fini(kernel_hang_t *k)
{
    gpurt_model_destroy(k->model);
    memset(k, 0, sizeof *k);
}

/* ---- records ------------------------------------------------------------------------- */

static bool was_told(const kernel_hang_t *k, uint64_t since_ns)
{
    for (uint32_t i = 0; i < k->told_count && i < KERNEL_HANG_TOLD; i++)
        if (k->told[i] == since_ns)
            return true;
    return false;
}

/* A launch is known by its time: looks at it differ by less than its age is off. */
static void running_take(kernel_hang_t *k, const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const gpurt_activity_running_t *r =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);
    uint64_t age = r ? gpurt_pair_value(r->age) : 0;

    if (!r)
        return;
    if (r->queued == 0)
        k->due_ns = 0;
    else if (age >= k->limit_ns && !was_told(k, row->time_ns - age) && k->due_ns == 0)
        k->due_ns = gpurt_steady_ns();
}

static bool is_wanted(const gpurt_row_t *row)
{
    return row->kind == GPURT_KIND_RUNNING || row->kind == GPURT_KIND_LINE ||
           row->kind == GPURT_KIND_COLLECTOR ||
           (row->kind == GPURT_KIND_TEXT && row->level == GPURT_LEVEL_WARN);
}

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    kernel_hang_t *k = context;

    (void)err;
    if (!is_wanted(row))
        return GPURT_OK;
    if (!k->model) {
        if (gpurt_model_create(k->dictionary, k->about, &k->model, NULL) != GPURT_OK)
            return GPURT_OK; /* nothing is told of it */
        gpurt_model_of_box(k->model);
    }
    gpurt_model_put(k->model, row);
    if (row->kind == GPURT_KIND_RUNNING)
        running_take(k, row);
    else if (row->kind == GPURT_KIND_LINE)
        k->sampled = true;
    return GPURT_OK;
}

gpurt_drain_sink_t kernel_hang_sink(kernel_hang_t *k)
{
    return (gpurt_drain_sink_t){.context = k, .put = sink_put};
}

bool kernel_hang_due(const kernel_hang_t *k, uint64_t now_ns)
{
    return k->due_ns && (k->sampled ? now_ns - k->due_ns >= PATIENCE_NS / 7
                                    : now_ns - k->due_ns >= PATIENCE_NS);
}

/* ---- words --------------------------------------------------------------------------- */

static void plain_put(FILE *out, const char *text, size_t bytes)
{
    char room[4 * LINE];
    gpurt_text_t plain;

    gpurt_text_init(&plain, room, sizeof room);
    gpurt_render_plain(&plain, text, bytes);
    fputs(room, out);
}

/* The launches of its stream that are known by name, behind it. */
static void queue_print(const gpurt_model_activity_t *a, const gpurt_model_running_t *r,
                        FILE *out)
{
    const gpurt_model_running_t *end = a->running + a->running_count;
    uint32_t shown = 0;

    for (const gpurt_model_running_t *at = r + 1; at < end && at->place && shown < QUEUED;
         at++) {
        fputs(shown++ ? ", " : "  behind it: ", out);
        plain_put(out, at->name, strnlen(at->name, sizeof at->name));
    }
    if (shown)
        fputc('\n', out);
}

/* The function of that name; NULL: no warp was met in it. */
static const gpurt_linesum_function_t *function_of(const lines_text_t *l, const char *name)
{
    char room[LINES_NAME];

    for (uint32_t i = 0; i < l->sums->function_count; i++)
        if (strncmp(l->name(l->names, l->sums->functions[i].function, room), name,
                    GPURT_MODEL_KERNEL_NAME - 1) == 0)
            return &l->sums->functions[i];
    return NULL;
}

/* Lines by their share of all samples of the last seconds: a kernel calls functions, which have
 * theirs. */
static void lines_print(const lines_text_t *l, const gpurt_linesum_function_t *f, FILE *out)
{
    const uint64_t issued = f->samples - (f->idle < f->samples ? f->idle : f->samples);
    lines_text_t one = *l;
    char room[LINES_NAME];

    fprintf(out, "  its warps, by %" PRIu64 " sample%s of the last %d s:\n", f->samples,
            gpurt_plural(f->samples, "s"), GPURT_LINECELL_SECONDS);
    one.lines = LINES;
    one.kernel = l->name(l->names, f->function, room);
    lines_text_function(out, &one, f);
    if (issued == 0)
        fputs("  nothing moves: no instruction was issued while a warp was looked at\n",
              out);
    else
        fprintf(
            out,
            "  instructions are issued (in %.0f%% of the samples): it polls, or works\n",
            100.0 * (double)issued / (double)f->samples);
}

/* What the collector says of lines, where it lacks them. */
static bool reason_print(const gpurt_modelview_t *v, FILE *out)
{
    const gpurt_model_line_t *why = linewhy_find(v);

    if (!why)
        return false;
    fputs("  where its warps stand is not known: ", out);
    plain_put(out, why->text, why->text_bytes);
    fputc('\n', out);
    return true;
}

static void where_print(const gpurt_modelview_t *v, const gpurt_model_running_t *r,
                        bool dumps, FILE *out)
{
    const gpurt_model_warps_t *w = &v->warps;
    gpurt_linesums_t sums = {0};
    const lines_text_t text = {.sums = &sums, .name = lines_text_view, .names = w};
    const gpurt_linesum_function_t *f = NULL;

    if (w->rows && gpurt_linesums_of(&sums, w->cells, w->count,
                                     (uint32_t)(w->last_ns / SECOND_NS)) == GPURT_OK)
        f = function_of(&text, r->name);
    if (f)
        lines_print(&text, f, out);
    else if (!reason_print(v, out))
        fputs(w->rows
                  ? "  no warp was met in it: it waits, or began before its context was "
                    "sampled\n"
                  : "  where its warps stand is not known: no samples came "
                    "(GPURT_CUPTI=live, or lines)\n",
              out);
    if (!f)
        fputs(dumps ? "  the core dump, which is asked for now, says where each warp "
                      "stands\n"
                    : "  next: --gpu-core with --hang-after asks for a core dump, which "
                      "says where each warp stands, and ends the kernel\n",
              out);
    gpurt_linesums_fini(&sums);
}

static void one_print(const gpurt_modelview_t *v, const gpurt_model_running_t *r,
                      bool dumps, FILE *out)
{
    char room[LINE];
    gpurt_text_t line;

    gpurt_text_init(&line, room, sizeof room);
    running_line(&v->activity, r, 0, &line);
    fputs("  ", out);
    plain_put(out, line.at, line.used);
    fputc('\n', out);
    queue_print(&v->activity, r, out);
    where_print(v, r, dumps, out);
    frame_text_print(r->python, r->whose, out);
    frame_text_calls(r->calls, out);
    fprintf(out,
            "  thread %" PRIu32 " of process %" PRIu32
            " launched it; its stack: gdb -p %" PRIu32
            " -batch -ex 'thread apply all bt'; of Python: py-spy dump --pid %" PRIu32 "\n",
            r->thread, r->pid, r->pid, r->pid);
}

static void told_add(kernel_hang_t *k, uint64_t since_ns)
{
    k->told[k->told_count++ % KERNEL_HANG_TOLD] = since_ns;
}

uint32_t kernel_hang_print(kernel_hang_t *k, const char *name, bool dumps, FILE *out)
{
    const gpurt_model_running_t *streams[GPURT_MODEL_RUNNING];
    gpurt_modelview_t *v = calloc(1, sizeof *v);
    uint32_t count, told = 0;

    k->due_ns = 0;
    if (!v)
        return 0;
    gpurt_model_view(k->model, gpurt_real_ns(), GPURT_MODEL_LIVE, v);
    count = running_streams(&v->activity, streams);
    for (uint32_t i = 0; i < count; i++) {
        if (running_age(streams[i], 0) < k->limit_ns || was_told(k, streams[i]->since_ns))
            continue;
        if (told++ == 0)
            fprintf(out, "%s: a kernel has not ended for %g s:\n", name,
                    (double)k->limit_ns / 1e9);
        one_print(v, streams[i], dumps, out);
    }
    for (uint32_t i = 0; i < v->activity.running_count && i < GPURT_MODEL_RUNNING; i++)
        if (running_age(&v->activity.running[i], 0) >= k->limit_ns)
            told_add(k, v->activity.running[i].since_ns);
    free(v);
    return told;
}
