/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_print.h"

#include "activity_text.h"
#include "json.h"
#include "plural.h"

#include <stdio.h>

enum {
    OTHERS = 4 /* heaps that are named besides the one of the trace */
};

/* Of what is free, the part that is not in the longest row. */
static int fragmented(const replay_measure_t *m)
{
    return m->free_bytes ? 100 - (int)(m->longest * 100 / m->free_bytes) : 0;
}

/* Of what the place had in use when that was most, the part that nobody had asked for. */
static int waste(const replay_outcome_t *o)
{
    return o->peak_used > o->peak_live
               ? (int)((o->peak_used - o->peak_live) * 100 / o->peak_used)
               : 0;
}

static double call_ns(const replay_report_t *r, const replay_line_t *line)
{
    return r->trace->call_count ? (double)line->time_ns / r->trace->call_count : 0;
}

/* Time over the heap's; 0: the heap was not among them. */
static double of_heap(const replay_report_t *r, const replay_line_t *line)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->lines[i].policy == &replay_policies[0] && r->lines[i].time_ns)
            return (double)line->time_ns / (double)r->lines[i].time_ns;
    return 0;
}

/* ---- text ---------------------------------------------------------------------------- */

/* Of a log of several processes: which there are besides. */
static void print_others(const replay_report_t *r)
{
    uint32_t others = r->heaps->count - 1, said = 0;

    if (!r->heaps->several || others == 0)
        return;
    printf("           also: ");
    for (uint32_t i = 0; i < r->heaps->count && said < OTHERS; i++) {
        const replay_heap_t *h = &r->heaps->list[i];

        if (h->heap == r->trace->heap.heap && h->program == r->trace->heap.program)
            continue;
        printf("%sheap %u of process %u (%llu call%s)", said ? ", " : "", h->heap, h->pid,
               (unsigned long long)h->calls, gpurt_plural(h->calls, "s"));
        said++;
    }
    if (others > said)
        printf(" and %u more", others - said);
    printf("; --heap and --pid choose\n");
}

static void print_trace(const replay_report_t *r)
{
    const replay_trace_t *t = r->trace;
    char a[24], b[24], whose[32] = "";

    if (r->heaps->several)
        snprintf(whose, sizeof whose, " of process %u", t->heap.pid);
    printf("trace      heap %u%s: %llu request%s of %s, %llu free%s, %llu left, in %s\n",
           t->heap.heap, whose, (unsigned long long)t->allocs, gpurt_plural(t->allocs, "s"),
           activity_bytes(t->bytes, a), (unsigned long long)t->frees,
           gpurt_plural(t->frees, "s"), (unsigned long long)t->left,
           activity_time(t->span_ns, b));
    printf("           %s live at most; %llu request%s refused then\n",
           activity_bytes(t->peak_bytes, a), (unsigned long long)t->refused,
           t->refused == 1 ? " was" : "s were");
    if (t->odd || t->lost)
        printf("           calls that do not fit: %llu; the log lost %llu message%s: the "
               "trace has "
               "holes\n",
               (unsigned long long)t->odd, (unsigned long long)t->lost,
               gpurt_plural(t->lost, "s"));
    print_others(r);
}

static void print_line(const replay_report_t *r, const replay_line_t *line)
{
    const replay_outcome_t *o = &line->looked;
    char bytes[24], used[24], time[24], ratio[24] = "-";

    if (of_heap(r, line) > 0)
        snprintf(ratio, sizeof ratio, "%.2f", of_heap(r, line));
    printf("%-7s %9llu %9llu %11s %11s %6d%% %10d%% %10s %8.1f %8s\n", line->policy->name,
           (unsigned long long)o->sums.xserved, (unsigned long long)o->sums.xrefused,
           activity_bytes(o->sums.xbytes, bytes), activity_bytes(o->peak_used, used),
           waste(o), fragmented(&o->end), activity_time(line->time_ns, time),
           call_ns(r, line), ratio);
}

static void print_pools(const replay_line_t *line)
{
    const uint64_t *got = line->looked.end.got;

    if (got[GPURT_PLACE_THREAD] || got[GPURT_PLACE_WARP] || got[GPURT_PLACE_BLOCK])
        printf("%-7s served %llu of threads, %llu of warps, %llu of blocks, %llu of the "
               "heap\n",
               line->policy->name, (unsigned long long)got[GPURT_PLACE_THREAD],
               (unsigned long long)got[GPURT_PLACE_WARP],
               (unsigned long long)got[GPURT_PLACE_BLOCK],
               (unsigned long long)got[GPURT_PLACE_GLOBAL]);
}

void replay_print_text(const replay_report_t *r)
{
    char a[24];

    print_trace(r);
    printf("memory     %s, %s; %u batch%s, median of %u round%s\n\n",
           activity_bytes(r->shape.bytes, a), r->info.name, r->trace->batch_count,
           gpurt_plural(r->trace->batch_count, "es"), r->rounds,
           gpurt_plural(r->rounds, "s"));
    printf("%-7s %9s %9s %11s %11s %7s %11s %10s %8s %8s\n", "policy", "served", "refused",
           "bytes", "peak used", "waste", "fragmented", "time", "ns/call", "of heap");
    for (uint32_t i = 0; i < r->count; i++)
        print_line(r, &r->lines[i]);
    for (uint32_t i = 0; i < r->count; i++)
        print_pools(&r->lines[i]);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_got(gpurt_json_t *j, const uint64_t *got)
{
    gpurt_json_array(j, "got");
    gpurt_json_number(j, NULL, got[GPURT_PLACE_THREAD]);
    gpurt_json_number(j, NULL, got[GPURT_PLACE_WARP]);
    gpurt_json_number(j, NULL, got[GPURT_PLACE_BLOCK]);
    gpurt_json_number(j, NULL, got[GPURT_PLACE_GLOBAL]);
    gpurt_json_array_end(j);
}

static void json_line(gpurt_json_t *j, const replay_report_t *r, const replay_line_t *line)
{
    const replay_outcome_t *o = &line->looked;

    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "policy", line->policy->name);
    gpurt_json_number(j, "served", o->sums.xserved);
    gpurt_json_number(j, "served_bytes", o->sums.xbytes);
    gpurt_json_number(j, "refused", o->sums.xrefused);
    gpurt_json_number(j, "looked_at", o->sums.xlooked);
    gpurt_json_number(j, "peak_used_bytes", o->peak_used);
    gpurt_json_number(j, "peak_asked_bytes", o->peak_live);
    gpurt_json_signed(j, "waste_percent", waste(o));
    gpurt_json_number(j, "free_bytes", o->end.free_bytes);
    gpurt_json_number(j, "longest_free_bytes", o->end.longest);
    gpurt_json_signed(j, "fragmented_percent", fragmented(&o->end));
    json_got(j, o->end.got);
    gpurt_json_number(j, "time_ns", line->time_ns);
    gpurt_json_decimal(j, "call_ns", call_ns(r, line), 2);
    if (of_heap(r, line) > 0)
        gpurt_json_decimal(j, "of_heap", of_heap(r, line), 3);
    else
        gpurt_json_null(j, "of_heap");
    gpurt_json_object_end(j);
}

static void json_heap(gpurt_json_t *j, const replay_heap_t *h)
{
    gpurt_json_number(j, "heap", h->heap);
    gpurt_json_known(j, "pid", h->pid != 0, h->pid);
}

static void json_trace(gpurt_json_t *j, const replay_report_t *r)
{
    const replay_trace_t *t = r->trace;

    json_heap(j, &t->heap);
    gpurt_json_number(j, "allocs", t->allocs);
    gpurt_json_number(j, "alloc_bytes", t->bytes);
    gpurt_json_number(j, "frees", t->frees);
    gpurt_json_number(j, "left", t->left);
    gpurt_json_number(j, "refused_then", t->refused);
    gpurt_json_number(j, "odd", t->odd);
    gpurt_json_number(j, "lost", t->lost);
    gpurt_json_number(j, "peak_live_bytes", t->peak_bytes);
    gpurt_json_number(j, "trace_ns", t->span_ns);
    gpurt_json_array(j, "heaps");
    for (uint32_t i = 0; i < r->heaps->count; i++) {
        gpurt_json_object(j, NULL);
        json_heap(j, &r->heaps->list[i]);
        gpurt_json_number(j, "calls", r->heaps->list[i].calls);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

void replay_print_json(const replay_report_t *r)
{
    gpurt_json_t j;

    gpurt_json_file(&j, stdout);
    gpurt_json_object(&j, NULL);
    json_trace(&j, r);
    gpurt_json_text(&j, "back_end", r->info.backend == GPURT_BACKEND_CUDA ? "cuda" : "cpu");
    gpurt_json_number(&j, "bytes", r->shape.bytes);
    gpurt_json_number(&j, "batches", r->trace->batch_count);
    gpurt_json_number(&j, "rounds", r->rounds);
    gpurt_json_array(&j, "policies");
    for (uint32_t i = 0; i < r->count; i++)
        json_line(&j, r, &r->lines[i]);
    gpurt_json_array_end(&j);
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}
