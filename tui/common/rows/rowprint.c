/* SPDX-License-Identifier: Apache-2.0 */
#include "rowprint.h"

#include "activity_text.h"
#include "fileabout.h"

#include <gpurt/impl/activity.h>
#include <string.h>
#include <time.h>

#define DIM   "\033[2m"
#define PLAIN "\033[0m"

/* One message with what its row and site say about it. */
typedef struct message {
    const gpurt_row_t *row;
    gpurt_site_info_t site;
    int device;   /* -1: host code, or not known */
    uint32_t pid; /* 0: not known */
    int who;      /* columns of pids; 0: there is one process, and it is not told */
    const char *prefix;
    bool activity; /* what a device did, told by host code */
    bool colour;
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

static void who_read(rowprint_t *p, const gplog_file_t *about, message_t *m)
{
    const gpurt_dictionary_t *d = p->dictionary;

    m->pid = p->pid ? p->pid : gplog_program_pid(d, about, m->row);
    if (p->who_of != gplog_program_count(d)) { /* a log that grows */
        p->who_of = gplog_program_count(d);
        p->who = who_columns(d);
    }
    m->who = p->who;
}

/* What a terminal is told before the level's name, and before what is not dim. */
static const char *level_colour(uint32_t level)
{
    switch (level) {
    case GPURT_LEVEL_TRACE:
    case GPURT_LEVEL_DEBUG:
        return DIM;
    case GPURT_LEVEL_INFO:
        return "\033[32m";
    case GPURT_LEVEL_WARN:
        return "\033[33m";
    case GPURT_LEVEL_ERROR:
        return "\033[1;31m";
    case GPURT_LEVEL_PANIC:
        return "\033[1;37;41m";
    case GPURT_LEVEL_LOST:
        return "\033[35m";
    default:
        return "";
    }
}

static void time_text(const message_t *m, gpurt_text_t *line)
{
    const gpurt_row_t *row = m->row;
    time_t seconds = (time_t)(row->time_ns / 1000000000u);
    struct tm tm;

    if (!localtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof tm);
    gpurt_text_printf(line, "%s%02d:%02d:%02d.%09u%s ", m->colour ? DIM : "", tm.tm_hour,
                      tm.tm_min, tm.tm_sec, (unsigned)(row->time_ns % 1000000000u),
                      m->colour ? PLAIN : "");
    gpurt_text_printf(line, "%s%-5s%s ", m->colour ? level_colour(row->level) : "",
                      gpurt_level_name(row->level), m->colour ? PLAIN : "");
}

static void place_text(const message_t *m, gpurt_text_t *line)
{
    const gpurt_row_t *row = m->row;

    if (m->who && m->pid)
        gpurt_text_printf(line, "pid%-*u ", m->who, m->pid);
    else if (m->who)
        gpurt_text_printf(line, "pid%-*s ", m->who, "?");
    if (m->activity && m->device < 0)
        gpurt_text_printf(line, "%s?   %-11s ", m->prefix, gpurt_kind_word(row->kind));
    else if (m->activity)
        gpurt_text_printf(line, "%s%-3d %-11s ", m->prefix, m->device,
                          gpurt_kind_word(row->kind));
    else if (m->device < 0)
        gpurt_text_printf(line, "host thread %-12u ", row->block);
    else
        gpurt_text_printf(line, "%s%d sm%-3u b%-5u w%-2u %08x ", m->prefix, m->device,
                          row->sm, row->block, row->warp, m->lanes);
}

static void line_text(const message_t *m, gpurt_text_t *line)
{
    time_text(m, line);
    gpurt_text_printf(line, "%s", m->colour ? DIM : "");
    place_text(m, line);
    if (m->site.file_bytes) {
        const char *slash = memrchr(m->site.file, '/', m->site.file_bytes);
        const char *name = slash ? slash + 1 : m->site.file;

        gpurt_render_plain(line, name, m->site.file_bytes - (size_t)(name - m->site.file));
        gpurt_text_printf(line, ":%u  ", m->site.line);
    }
    gpurt_text_printf(line, "%s", m->colour ? PLAIN : "");
    gpurt_render_plain(line, m->text.at, m->text.used);
    gpurt_text_add(line, "\n", 1);
}

static void print_one(rowprint_t *p, message_t *m, uint32_t lane)
{
    char room[ROWPRINT_LINE];
    gpurt_text_t line;

    gpurt_text_init(&m->text, m->room, sizeof m->room);
    gpurt_render_message(p->dictionary, m->row, lane, &m->text);
    m->lanes = gpurt_render_lanes(m->row, lane);
    gpurt_text_init(&line, room, sizeof room);
    line_text(m, &line);
    if (line.used == line.room - 1) { /* cut inside the message, or a name before it */
        const char *end = m->colour ? ".." PLAIN "\n" : "..\n";

        memcpy(line.at + line.used - strlen(end), end, strlen(end));
    }
    fwrite(line.at, 1, line.used, p->out);
}

uint32_t rowprint_lines(const gpurt_row_t *row)
{
    return row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row);
}

void rowprint_text(rowprint_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                   uint32_t first, uint32_t count)
{
    message_t m = {
        .row = row, .activity = gpurt_kind_is_activity(row->kind), .colour = p->colour};

    device_read(about, &m);
    who_read(p, about, &m);
    gpurt_dictionary_get(p->dictionary, row->site, &m.site);
    for (uint32_t lane = first; lane < count; lane++)
        print_one(p, &m, lane);
}
