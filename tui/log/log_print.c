/* SPDX-License-Identifier: Apache-2.0 */
#include "log_print.h"

#include "fileabout.h"
#include "heap_text.h"
#include "lives_text.h"
#include "recordline.h"

#include <gpurt/impl/activity.h>
#include <string.h>
#include <time.h>

enum {
    LINE_MAX_BYTES = 3 * GPURT_MESSAGE_MAX,
    STAT_KERNELS = 40
};

/* One message with what its row and site say about it. */
typedef struct message {
    const gpurt_row_t *row;
    gpurt_site_info_t site;
    int device;   /* -1: host code, or not known */
    uint32_t pid; /* 0: not known */
    int who;      /* columns of pids; 0: there is one process, and it is not told */
    const char *prefix;
    bool activity; /* what a device did, told by host code */
    uint32_t lanes;
    gpurt_text_t text;
    char room[GPURT_MESSAGE_MAX];
} message_t;

static void device_read(const gplog_file_t *about, message_t *m)
{
    const gpurt_row_t *row = m->row;
    uint32_t kind = gplog_about_kind(about, row);

    m->prefix = kind == GPURT_SECTION_CPU && gplog_about_is_mixed(about) ? "cpu" : "dev";
    if (m->activity)
        m->device = (int)row->block;
    else if (kind == GPURT_SECTION_HOST)
        m->device = -1;
    else
        m->device = row->section < about->section_count
                        ? (int)about->sections[row->section].device
                        : 0;
}

static int digits_of(uint32_t number)
{
    int digits = 1;

    for (; number > 9; number /= 10)
        digits++;
    return digits;
}

/* Those of the widest pid. */
static int who_columns(const gpurt_dictionary_t *d)
{
    gplog_program_t p;
    int widest = 1;

    if (!gplog_program_several(d))
        return 0;
    for (uint32_t i = 0; i < gplog_program_count(d); i++)
        if (gplog_program_get(d, i, &p) && digits_of(p.pid) > widest)
            widest = digits_of(p.pid);
    return widest;
}

static void who_read(log_print_t *p, const gplog_file_t *about, message_t *m)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(p->log);

    m->pid = gplog_program_pid(d, about, m->row);
    if (p->who_of != gplog_program_count(d)) { /* a log that grows */
        p->who_of = gplog_program_count(d);
        p->who = who_columns(d);
    }
    m->who = p->who;
}

static void line_text(const message_t *m, gpurt_text_t *line)
{
    const gpurt_row_t *row = m->row;
    time_t seconds = (time_t)(row->time_ns / 1000000000u);
    struct tm tm;

    if (!localtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof tm);
    gpurt_text_printf(line, "%02d:%02d:%02d.%09u %-5s ", tm.tm_hour, tm.tm_min, tm.tm_sec,
                      (unsigned)(row->time_ns % 1000000000u), gpurt_level_name(row->level));
    if (m->who && m->pid)
        gpurt_text_printf(line, "pid%-*u ", m->who, m->pid);
    else if (m->who)
        gpurt_text_printf(line, "pid%-*s ", m->who, "?");
    if (m->activity && m->device < 0)
        gpurt_text_printf(line, "%s?   %-11s ", m->prefix, activity_word(row->kind));
    else if (m->activity)
        gpurt_text_printf(line, "%s%-3d %-11s ", m->prefix, m->device,
                          activity_word(row->kind));
    else if (m->device < 0)
        gpurt_text_printf(line, "host thread %-12u ", row->block);
    else
        gpurt_text_printf(line, "%s%d sm%-3u b%-5u w%-2u %08x ", m->prefix, m->device,
                          row->sm, row->block, row->warp, m->lanes);
    if (m->site.file_bytes) {
        const char *slash = memrchr(m->site.file, '/', m->site.file_bytes);
        const char *name = slash ? slash + 1 : m->site.file;

        gpurt_render_plain(line, name, m->site.file_bytes - (size_t)(name - m->site.file));
        gpurt_text_printf(line, ":%u  ", m->site.line);
    }
    gpurt_render_plain(line, m->text.at, m->text.used);
    gpurt_text_add(line, "\n", 1);
}

static void print_one(log_print_t *p, message_t *m, uint32_t lane)
{
    char room[LINE_MAX_BYTES + 1024];
    gpurt_text_t line;

    gpurt_text_init(&m->text, m->room, sizeof m->room);
    gpurt_render_message(gpurt_log_dictionary(p->log), m->row, lane, &m->text);
    m->lanes = gpurt_render_lanes(m->row, lane);
    gpurt_text_init(&line, room, sizeof room);
    line_text(m, &line);
    if (line.used == line.room - 1) /* cut inside the message */
        memcpy(line.at + line.used - 3, "..\n", 3);
    fwrite(line.at, 1, line.used, p->out);
}

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

/* A row as it is printed; what its messages have in common is read once. */
typedef struct printing {
    bool begun;
    message_t m;
    recordline_t l;
} printing_t;

static void print_text(log_print_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                       uint32_t lane, printing_t *g)
{
    if (!g->begun) {
        memset(&g->m, 0, sizeof g->m);
        g->m.row = row;
        g->m.activity = gpurt_kind_is_activity(row->kind);
        device_read(about, &g->m);
        who_read(p, about, &g->m);
        gpurt_dictionary_get(gpurt_log_dictionary(p->log), row->site, &g->m.site);
    }
    print_one(p, &g->m, lane);
}

static void print_json(log_print_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                       uint32_t lane, printing_t *g)
{
    if (!g->begun)
        recordline_begin(&g->l, gpurt_log_dictionary(p->log), about, row);
    recordline_message(&g->l, lane);
    recordline_json(p->out, &g->l);
    putc('\n', p->out);
}

void log_print_row(log_print_t *p, const gpurt_row_t *row)
{
    uint32_t count = row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row);
    gpurt_log_summary_t sum;
    printing_t printing;

    if (!wanted(p, row) || (row->kind == GPURT_KIND_LOSS && p->skip))
        return;
    gpurt_log_summary(p->log, &sum);
    printing.begun = false;
    for (uint32_t lane = 0; lane < count; lane++) {
        if (!filter_run_message(p->run, gpurt_log_dictionary(p->log), &sum.about, row,
                                lane))
            continue;
        if (p->skip) {
            p->skip--;
            continue;
        }
        p->printed++;
        (p->jsonl ? print_json : print_text)(p, &sum.about, row, lane, &printing);
        printing.begun = true;
    }
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
static void devices_print(FILE *out, const gplog_file_t *about, bool json)
{
    const char *between = "";
    char room[512];
    gpurt_text_t name;

    if (device_count(about) < 2)
        return;
    fputs(json ? ",\"devices\":[" : "", out);
    for (uint32_t i = 0; i < about->section_count; i++) {
        const gplog_section_t *s = &about->sections[i];

        if (s->kind == GPURT_SECTION_HOST)
            continue;
        gpurt_text_init(&name, room, sizeof room);
        if (json)
            gpurt_render_json(&name, s->name, strlen(s->name));
        else
            gpurt_render_plain(&name, s->name, strlen(s->name));
        fprintf(out,
                json ? "%s{\"device\":%u,\"back_end\":\"%s\",\"name\":\"%s\"}"
                     : "%sdevice %-3u %s, %s\n",
                between, s->device, back_end_of(s), room);
        between = json ? "," : "";
    }
    fputs(json ? "]" : "", out);
}

static void stat_json(FILE *out, const gpurt_log_summary_t *s, const char *device,
                      const char *back_end)
{
    char room[512];
    gpurt_text_t name;

    gpurt_text_init(&name, room, sizeof room);
    gpurt_render_json(&name, device, strlen(device));
    fprintf(
        out,
        "{\"records\":%llu,\"dropped\":%llu,\"sites\":%u,\"panics\":%llu,\"frames\":%llu,"
        "\"torn_frames\":%llu,\"bytes\":%llu,\"first_ns\":%llu,\"last_ns\":%llu,"
        "\"back_end\":\"%s\",\"device\":\"%s\"",
        (unsigned long long)s->messages, (unsigned long long)s->lost, s->sites,
        (unsigned long long)s->panics, (unsigned long long)s->frames,
        (unsigned long long)s->torn_frames, (unsigned long long)s->bytes,
        (unsigned long long)s->first_ns, (unsigned long long)s->last_ns, back_end, room);
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

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
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
                    plural(c->records), (unsigned long long)c->panics, plural(c->panics));
        fputc('\n', out);
    }
}

static void stat_print_json(FILE *out, const log_stat_t *stat,
                            const gplog_section_t *section)
{
    const gpurt_modelview_t *view = stat->view;

    stat_json(out, &stat->sum, section ? section->name : "", back_end_of(section));
    fputs(",\"programs\":", out);
    who_json_list(stat->dictionary, &stat->sum.about, stat->counts, out);
    devices_print(out, &stat->sum.about, true);
    if (view && view->activity.rows) {
        fputs(",\"activity\":", out);
        activity_json(out, &view->activity);
    }
    if (view && view->heaps.rows) {
        fputs(",\"heaps\":", out);
        heap_json(out, &view->heaps);
    }
    if (stat->life_count) {
        fputs(",\"lives\":", out);
        lives_json(out, stat->lives, stat->life_count);
    }
    fputs("}\n", out);
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
    devices_print(out, &s->about, false);
    programs_print(out, stat);
    fprintf(out, "closed     %s\n", s->closed ? "yes" : "no, or cut off");
    lives_print(out, stat->lives, stat->life_count);
    if (!stat->view)
        return;
    activity_plain(out, &stat->view->activity, STAT_KERNELS);
    heap_plain(out, &stat->view->heaps);
}

void log_print_stat(FILE *out, const log_stat_t *stat, bool json)
{
    (json ? stat_print_json : stat_print_plain)(out, stat,
                                                device_section(&stat->sum.about));
}
