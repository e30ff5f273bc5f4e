/* SPDX-License-Identifier: Apache-2.0 */
/* The frame around a view: head, tabs, time line, foot. */
#include "picture.h"

#include "gpulist.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull

const view_class_t *picture_view(view_id_t id)
{
    static const view_class_t *const views[VIEW_COUNT] = {
        &view_overview, &view_log, &view_panics, &view_sites,
        &view_output,   &view_gpu, &view_help,
    };

    return views[id];
}

style_t picture_level_style(uint32_t level)
{
    static const style_t styles[] = {STYLE_NORMAL, STYLE_DIM,   STYLE_DIM,   STYLE_GOOD,
                                     STYLE_WARN,   STYLE_ERROR, STYLE_PANIC, STYLE_LOST};

    return level < sizeof styles / sizeof styles[0] ? styles[level] : STYLE_NORMAL;
}

const char *picture_time(uint64_t time_ns, int digits, char buffer[32])
{
    static const uint32_t unit[] = {1, 1, 1, 1000000, 1, 1, 1000, 1, 1, 1};
    time_t seconds = (time_t)(time_ns / SECOND_NS);
    struct tm parts;

    localtime_r(&seconds, &parts);
    snprintf(buffer, 32, "%02u:%02u:%02u", (unsigned)parts.tm_hour % 100,
             (unsigned)parts.tm_min % 100, (unsigned)parts.tm_sec % 100);
    if (digits)
        snprintf(buffer + 8, 24, ".%0*u", digits,
                 (unsigned)(time_ns % SECOND_NS) / unit[digits]);
    return buffer;
}

const char *picture_span(uint64_t span_ns, char buffer[32])
{
    unsigned long long s = span_ns / SECOND_NS;

    if (s < 60)
        snprintf(buffer, 32, "%llu.%llu s", s,
                 (unsigned long long)(span_ns / (SECOND_NS / 10) % 10));
    else if (s < 3600)
        snprintf(buffer, 32, "%llu:%02llu", s / 60, s % 60);
    else
        snprintf(buffer, 32, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
    return buffer;
}

uint32_t picture_panics(const picture_t *p)
{
    const gpurt_model_panics_t *list = &p->view->panics;
    uint32_t count =
        list->count < GPURT_MODEL_PANICS ? (uint32_t)list->count : GPURT_MODEL_PANICS;

    while (count > 0 && p->until_ns && list->list[count - 1].time_ns > p->until_ns)
        count--;
    return count;
}

/* ---- head ---------------------------------------------------------------------------- */

static const char *state_word(const picture_t *p, char *buffer, size_t room)
{
    if (p->waiting && !p->ended)
        return "WAITING";
    if (p->replay)
        return p->busy ? "REPLAY ..." : p->playing ? "REPLAY" : "REPLAY held";
    if (p->scrubbing)
        return "PAST";
    if (p->ended && p->launched) {
        snprintf(buffer, room, "ENDED %d", p->status);
        return buffer;
    }
    if (p->ended || p->view->numbers.state == GPURT_MODEL_ENDED)
        return "ENDED";
    return p->paused ? "PAUSED" : "LIVE";
}

/* The device that the user most likely asks about: the first that is no host section. */
static const gpurt_model_section_t *first_device(const picture_t *p, int *devices)
{
    const gpurt_model_section_t *first = NULL;

    *devices = 0;
    for (int i = 0; i < GPURT_BOX_SECTIONS; i++) {
        const gpurt_model_section_t *s = &p->view->numbers.sections[i];

        if (s->kind != GPURT_SECTION_CUDA && s->kind != GPURT_SECTION_CPU)
            continue;
        first = first ? first : s;
        ++*devices;
    }
    return first;
}

static int head_name(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_box_identity_t *id = &p->view->names.identity;
    int at =
        canvas_put(c, area, 0, 0, STYLE_HEAD, area.columns >= 60 ? " gpurt-top  " : " ");

    if (id->program[0])
        at = canvas_text(c, area, 0, at, STYLE_HEAD, id->program,
                         strnlen(id->program, sizeof id->program));
    else
        at = canvas_put(c, area, 0, at, STYLE_HEAD, p->name);
    if (id->pid)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD, "[%u]", id->pid);
    if (p->processes > 1)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD, " %u/%u", p->process + 1,
                           p->processes);
    return at;
}

static void head_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    const gpurt_model_section_t *device;
    char buffer[32], rate[16], lost[16];
    int at, devices;

    for (int i = 0; i < area.columns; i++)
        canvas_put(c, area, 0, i, STYLE_HEAD, " ");
    at = head_name(p, c, area) + 2;
    at = canvas_put(c, area, 0, at, STYLE_HEAD, state_word(p, buffer, sizeof buffer)) + 2;
    if (n->panics)
        at = canvas_printf(c, area, 0, at, STYLE_PANIC, " %llu PANIC%s ",
                           (unsigned long long)n->panics, n->panics == 1 ? "" : "S") +
             1;
    at = canvas_printf(c, area, 0, at, STYLE_HEAD, "%s/s  lost %s",
                       canvas_short(n->per_second, rate), canvas_short(n->lost, lost)) +
         2;
    device = first_device(p, &devices);
    if (device && area.columns >= 100) {
        at = canvas_put(c, area, 0, at, STYLE_HEAD,
                        device->kind == GPURT_SECTION_CUDA ? "GPU " : "CPU ");
        at = canvas_text(c, area, 0, at, STYLE_HEAD, device->name,
                         strnlen(device->name, sizeof device->name));
        if (devices > 1)
            at = canvas_printf(c, area, 0, at, STYLE_HEAD, " x%d", devices);
        at += 2;
    }
    if (n->last_ns > n->first_ns && at + 20 < area.columns)
        at = canvas_put(c, area, 0, at, STYLE_HEAD,
                        picture_span(n->last_ns - n->first_ns, buffer));
    if (n->time_ns && at + 9 < area.columns)
        canvas_right(c, area, 0, area.columns - 1, STYLE_HEAD,
                     picture_time(n->time_ns, 0, buffer));
}

/* ---- tabs ---------------------------------------------------------------------------- */

static void tabs_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    uint32_t panics = picture_panics(p);
    int at = 1;

    for (int i = 0; i < VIEW_COUNT; i++) {
        style_t style = i == (int)p->shown ? STYLE_SELECT : STYLE_NORMAL;
        const char *name = picture_view((view_id_t)i)->name;

        if (i == VIEW_OUTPUT && !p->output)
            continue;
        at = canvas_printf(c, area, 0, at, STYLE_KEY, "%c", i == VIEW_HELP ? '?' : '1' + i);
        at = canvas_put(c, area, 0, at, style, name);
        if (i == VIEW_PANICS && panics)
            at = canvas_printf(c, area, 0, at, STYLE_ERROR, "(%u)", panics);
        at += 2;
    }
    if (p->filter.level > GPURT_LEVEL_TRACE || p->filter.text[0]) {
        static const char *const names[] = {"",      "",       "debug+", "info+",
                                            "warn+", "error+", "panic+", "lost"};
        char text[FILTER_TEXT + 32];

        snprintf(text, sizeof text, "filter %s %s",
                 p->filter.level <= GPURT_LEVEL_LOST ? names[p->filter.level] : "",
                 p->filter.text);
        if (area.columns - (int)strlen(text) - 1 > at)
            at = area.columns - (int)strlen(text) - 1;
        canvas_put(c, area, 0, at, STYLE_WARN, text);
    }
}

/* ---- time line ----------------------------------------------------------------------- */

/* From the first to the last moment that can be shown; a mark at the one that is. */
static void scrub_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    uint64_t first = n->range_first_ns ? n->range_first_ns : n->first_ns;
    uint64_t last = n->range_last_ns ? n->range_last_ns : n->last_ns;
    uint64_t at_ns = p->until_ns ? p->until_ns : n->time_ns;
    int left = area.columns >= 60 ? 10 : 1;
    int width = area.columns - 2 * left - 14, mark;
    char buffer[32];

    if (last <= first || width < 4)
        return;
    at_ns = at_ns < first ? first : at_ns > last ? last : at_ns;
    mark = (int)((double)(at_ns - first) / (double)(last - first) * (width - 1));
    if (left > 1) {
        canvas_put(c, area, 0, 1, STYLE_DIM, picture_time(first, 0, buffer));
        canvas_put(c, area, 0, left + width + 1, STYLE_DIM, picture_time(last, 0, buffer));
    }
    for (int i = 0; i < width; i++)
        canvas_glyph(c, area, 0, left + i, i <= mark ? STYLE_TITLE : STYLE_RULE,
                     i == mark  ? 0x25cf
                     : i < mark ? 0x2501
                                : 0x2500,
                     i == mark  ? 'o'
                     : i < mark ? '='
                                : '-');
    if (p->replay)
        canvas_printf(c, area, 0, area.columns - 13, STYLE_KEY, "%5.1f%% %.4gx",
                      (double)(at_ns - first) / (double)(last - first) * 100.0, p->speed);
    else
        canvas_printf(c, area, 0, area.columns - 13, STYLE_KEY, "-%s",
                      picture_span(last - at_ns, buffer));
}

/* ---- foot ---------------------------------------------------------------------------- */

static void foot_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    int at = 1;

    if (p->asking) {
        canvas_put(c, area, 0, 1, STYLE_WARN,
                   "The program still runs.  Enter end it   d let it run   Esc stay");
        return;
    }
    if (p->typing) {
        at = canvas_put(c, area, 0, 1, STYLE_KEY, "filter: ");
        at = canvas_put(c, area, 0, at, STYLE_BOLD, p->typed);
        at = canvas_put(c, area, 0, at, STYLE_SELECT, " ");
        canvas_put(c, area, 0, at + 2, STYLE_DIM, "Enter keeps it, Esc drops it");
        return;
    }
    if (p->problem) {
        canvas_put(c, area, 0, 1, STYLE_ERROR, p->problem);
        return;
    }
    for (const key_row_t *row = key_rows; row->action != ACTION_NONE; row++) {
        if (!row->foot)
            continue;
        at = canvas_put(c, area, 0, at, STYLE_KEY, row->foot_key);
        at = canvas_put(c, area, 0, at, STYLE_NORMAL, row->foot) + 2;
    }
    if (area.columns >= 100)
        canvas_put(c, area, 0, at, STYLE_DIM, "Tab view  Enter open  Esc back  + - speed");
}

/* ---- all of it ----------------------------------------------------------------------- */

void picture_wish(const picture_t *p, layout_wish_t *wish)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    uint32_t panics = picture_panics(p);

    memset(wish, 0, sizeof *wish);
    wish->overview = p->shown == VIEW_OVERVIEW;
    wish->scrub = p->replay || p->scrubbing;
    for (int i = 0; i < GPURT_BOX_SECTIONS; i++)
        wish->sm_count += n->sections[i].sm_shown < GPURT_MODEL_SMS
                              ? (int)n->sections[i].sm_shown
                              : GPURT_MODEL_SMS;
    wish->site_count =
        n->site_count < GPURT_MODEL_SITES ? (int)n->site_count : GPURT_MODEL_SITES;
    wish->gpu_count = (int)gpulist_count(&p->view->activity);
    wish->alert_count = (int)(panics < 3 ? panics : 3) + (n->lost != 0);
}

void picture_draw(const picture_t *p, canvas_t *c)
{
    layout_wish_t wish;
    layout_t layout;

    canvas_clear(c);
    picture_wish(p, &wish);
    layout_compute(c->rows, c->columns, &wish, &layout);
    head_draw(p, c, layout.pane[PANE_HEAD]);
    tabs_draw(p, c, layout.pane[PANE_TABS]);
    picture_view(p->shown)->draw(p, c, layout.pane[PANE_BODY]);
    scrub_draw(p, c, layout.pane[PANE_SCRUB]);
    foot_draw(p, c, layout.pane[PANE_FOOT]);
}
