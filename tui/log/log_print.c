/* SPDX-License-Identifier: Apache-2.0 */
#include "log_print.h"

#include "fileabout.h"
#include "lives_text.h"
#include "object_text.h"
#include "plural.h"
#include "recordline.h"

#include <gpurt/impl/activity.h>
#include <string.h>
#include <time.h>

enum {
    STAT_KERNELS = 40
};

static bool wanted(const log_print_t *p, const gpurt_row_t *row)
{
    gpurt_log_summary_t sum;

    if (row->level != GPURT_LEVEL_NONE && row->level < p->level)
        return false;
    if (p->pid == 0)
        return true;
    gpurt_log_summary(p->log, &sum);
    return gplog_program_pid(gpurt_log_dictionary(p->log), &sum.about, row) == p->pid;
}

uint32_t log_print_count(const log_print_t *p, const gpurt_row_t *row)
{
    gpurt_log_summary_t sum;
    filter_run_t run;

    if (row->kind == GPURT_KIND_LOSS || !wanted(p, row))
        return 0;
    if (!p->run)
        return gpurt_row_messages(row);
    gpurt_log_summary(p->log, &sum);
    run.filter = p->run->filter;
    memset(&run.tally, 0, sizeof run.tally);
    return filter_run_row(&run, gpurt_log_dictionary(p->log), &sum.about, row);
}

static void print_json(log_print_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                       uint32_t first, uint32_t end)
{
    recordline_t l;

    recordline_begin(&l, gpurt_log_dictionary(p->log), about, row);
    for (uint32_t lane = first; lane < end; lane++) {
        recordline_message(&l, lane);
        recordline_json(p->text.out, &l);
    }
}

/* Messages [first, end) of a row, without those that are skipped. */
static void print_range(log_print_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                        uint32_t first, uint32_t end)
{
    uint32_t left_out = p->skip < end - first ? (uint32_t)p->skip : end - first;

    p->skip -= left_out;
    first += left_out;
    p->printed += end - first;
    if (first == end)
        return;
    if (p->jsonl)
        print_json(p, about, row, first, end);
    else
        rowprint_text(&p->text, about, row, first, end);
}

void log_print_row(log_print_t *p, const gpurt_row_t *row)
{
    uint32_t count = rowprint_lines(row);
    gpurt_log_summary_t sum;

    if (!wanted(p, row) || (row->kind == GPURT_KIND_LOSS && p->skip))
        return;
    gpurt_log_summary(p->log, &sum);
    if (!p->run) {
        print_range(p, &sum.about, row, 0, count);
        return;
    }
    for (uint32_t lane = 0; lane < count; lane++)
        if (filter_run_message(p->run, gpurt_log_dictionary(p->log), &sum.about, row, lane))
            print_range(p, &sum.about, row, lane, lane + 1);
}

/* ---- stat ---------------------------------------------------------------------------- */

static const char *back_end_of(const gplog_section_t *s)
{
    return gplog_back_end(s ? s->kind : GPURT_SECTION_NONE);
}

/* The first device; host code alone when there is none. */
static const gplog_section_t *device_section(const gplog_file_t *about)
{
    for (uint32_t i = 0; i < about->section_count; i++)
        if (about->sections[i].kind != GPURT_SECTION_HOST)
            return &about->sections[i];
    return about->section_count ? &about->sections[0] : NULL;
}

static uint32_t device_count(const gplog_file_t *about)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < about->section_count; i++)
        count += about->sections[i].kind != GPURT_SECTION_HOST;
    return count;
}

/* Where device code of several processes ran on several devices: all of them. */
static void devices_print(FILE *out, const gplog_file_t *about)
{
    char room[512];
    gpurt_text_t name;

    if (device_count(about) < 2)
        return;
    for (uint32_t i = 0; i < about->section_count; i++) {
        const gplog_section_t *s = &about->sections[i];

        if (s->kind == GPURT_SECTION_HOST)
            continue;
        gpurt_text_init(&name, room, sizeof room);
        gpurt_render_plain(&name, s->name, strlen(s->name));
        fprintf(out, "device %-3u %s, %s\n", s->device, back_end_of(s), room);
    }
}

static void json_devices(gpurt_json_t *j, const gplog_file_t *about)
{
    if (device_count(about) < 2)
        return;
    gpurt_json_array(j, "devices");
    for (uint32_t i = 0; i < about->section_count; i++) {
        const gplog_section_t *s = &about->sections[i];

        if (s->kind == GPURT_SECTION_HOST)
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "device", s->device);
        gpurt_json_text(j, "back_end", back_end_of(s));
        gpurt_json_text(j, "name", s->name);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_sums(gpurt_json_t *j, const gpurt_log_summary_t *s,
                      const gplog_section_t *section)
{
    gpurt_json_number(j, "records", s->messages);
    gpurt_json_number(j, "dropped", s->lost);
    gpurt_json_number(j, "sites", s->sites);
    gpurt_json_number(j, "panics", s->panics);
    gpurt_json_number(j, "frames", s->frames);
    gpurt_json_number(j, "torn_frames", s->torn_frames);
    gpurt_json_number(j, "bytes", s->bytes);
    gpurt_json_number(j, "first_ns", s->first_ns);
    gpurt_json_number(j, "last_ns", s->last_ns);
    gpurt_json_text(j, "back_end", back_end_of(section));
    gpurt_json_text(j, "device", section ? section->name : "");
}

static void stat_time(FILE *out, const char *name, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000u);
    char text[32];
    struct tm tm;

    if (time_ns && localtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) > 0)
        fprintf(out, "%-10s %s.%06u\n", name, text,
                (unsigned)(time_ns % 1000000000u / 1000u));
}

/* All that the log has, with what is of each where there are several and it is known. */
static void programs_print(FILE *out, const log_stat_t *stat)
{
    uint32_t count = gplog_program_count(stat->dictionary);

    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        const who_count_t *c = count > 1 && stat->counts ? &stat->counts[i] : NULL;
        char room[512];
        gpurt_text_t name;
        gplog_program_t p;

        if (!gplog_program_known(stat->dictionary, &stat->sum.about, i, &p) ||
            (count < 2 && !p.name[0]))
            continue;
        gpurt_text_init(&name, room, sizeof room);
        who_text(&p, &name);
        fprintf(out, "program    %s", room);
        if (c)
            fprintf(out, ", %llu record%s, %llu panic%s", (unsigned long long)c->records,
                    gpurt_plural(c->records, "s"), (unsigned long long)c->panics,
                    gpurt_plural(c->panics, "s"));
        fputc('\n', out);
    }
}

static void stat_print_json(FILE *out, const log_stat_t *stat,
                            const gplog_section_t *section)
{
    const gpurt_modelview_t *view = stat->view;
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    json_sums(&j, &stat->sum, section);
    who_json_list(&j, "programs", stat->dictionary, &stat->sum.about, stat->counts);
    json_devices(&j, &stat->sum.about);
    if (view && view->activity.rows)
        activity_json(&j, "activity", &view->activity);
    if (view && view->objects.rows)
        objects_json(&j, "objects", &view->objects);
    if (stat->life_count)
        lives_json(&j, "lives", stat->lives, stat->life_count);
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}

static void stat_print_plain(FILE *out, const log_stat_t *stat,
                             const gplog_section_t *section)
{
    const gpurt_log_summary_t *s = &stat->sum;
    const char *device = section ? section->name : "";
    char room[512];
    gpurt_text_t name;

    gpurt_text_init(&name, room, sizeof room);
    gpurt_render_plain(&name, device, strlen(device));
    fprintf(out, "records    %llu\n", (unsigned long long)s->messages);
    fprintf(out, "dropped    %llu\n", (unsigned long long)s->lost);
    fprintf(out, "panics     %llu\n", (unsigned long long)s->panics);
    fprintf(out, "sites      %u\n", s->sites);
    fprintf(out, "frames     %llu, %llu torn\n", (unsigned long long)s->frames,
            (unsigned long long)s->torn_frames);
    fprintf(out, "bytes      %llu\n", (unsigned long long)s->bytes);
    stat_time(out, "first", s->first_ns);
    stat_time(out, "last", s->last_ns);
    fprintf(out, "time       %.6f s\n", (double)(s->last_ns - s->first_ns) * 1e-9);
    if (section && section->kind == GPURT_SECTION_HOST)
        fputs("back end   none: of host code, and of a GPU what the collector told\n", out);
    else
        fprintf(out, "back end   %s%s%s\n", back_end_of(section), room[0] ? ", " : "",
                room);
    devices_print(out, &s->about);
    programs_print(out, stat);
    fprintf(out, "closed     %s\n", s->closed ? "yes" : "no, or cut off");
    lives_print(out, stat->lives, stat->life_count);
    if (!stat->view)
        return;
    activity_plain(out, &stat->view->activity, STAT_KERNELS);
    objects_plain(out, &stat->view->objects);
}

void log_print_stat(FILE *out, const log_stat_t *stat, bool json)
{
    (json ? stat_print_json : stat_print_plain)(out, stat,
                                                device_section(&stat->sum.about));
}
