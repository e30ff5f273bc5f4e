/* SPDX-License-Identifier: Apache-2.0 */
/* The frame around a view: head, tabs, time line, foot. */
#include "picture.h"

#include "collector_text.h"
#include "exittext.h"
#include "gpulist.h"
#include "paniclist.h"
#include "plural.h"
#include "running_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define SECOND_NS 1000000000ull

const view_class_t *picture_view(view_id_t id)
{
    static const view_class_t *const views[VIEW_COUNT] = {
#define VIEW_CLASS(id, name, ...) &view_##name,
        VIEW_LIST(VIEW_CLASS)
#undef VIEW_CLASS
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

const char *picture_who(uint32_t pid, char text[16])
{
    if (pid)
        snprintf(text, 16, "pid%u", pid);
    else
        snprintf(text, 16, "pid?");
    return text;
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

const char *picture_device(const gpurt_model_section_t *s, char buffer[96])
{
    int bytes = (int)strnlen(s->name, sizeof s->name);

    /* The CPU back end's name of itself begins with the word. */
    if (s->kind != GPURT_SECTION_CUDA && strncmp(s->name, "CPU", 3) == 0 && s->device == 0)
        snprintf(buffer, 96, "%.*s", bytes, s->name);
    else if (s->kind != GPURT_SECTION_CUDA && strncmp(s->name, "CPU", 3) == 0)
        snprintf(buffer, 96, "CPU %u%.*s", s->device, bytes - 3, s->name + 3);
    else
        snprintf(buffer, 96, "%s %u %.*s", s->kind == GPURT_SECTION_CUDA ? "GPU" : "CPU",
                 s->device, bytes, s->name);
    return buffer;
}

int picture_place(canvas_t *c, rect_t area, int row, int column, int width,
                  const char *file, size_t file_room, uint32_t line)
{
    char text[160];
    const char *from = text, *slash;
    int length;

    snprintf(text, sizeof text, "%.*s:%u", (int)strnlen(file, file_room), file, line);
    length = (int)strlen(text);
    slash = strrchr(text, '/');
    if (length > width && slash) {
        length -= (int)(slash + 1 - text);
        from = slash + 1;
    }
    if (length > width && width > 1) {
        from += length - width + 1;
        column = canvas_glyph(c, area, row, column, STYLE_DIM, 0x2026, '~');
    }
    return canvas_text(c, area, row, column, STYLE_INFO, from, strlen(from));
}

/* ---- head ---------------------------------------------------------------------------- */

/* Nothing was said for so long that one may ask whether it hangs. */
#define QUIET_NS (2 * SECOND_NS)

enum {
    STATE_WORD = 32
};

/* What is going on, in a word and a colour. */
static const char *state_word(const picture_t *p, style_t *style, char buffer[STATE_WORD])
{
    *style = STYLE_HEAD;
    if (p->waiting && !p->ended)
        return "WAITING";
    if (p->replay)
        return p->busy ? "REPLAY ..." : p->playing ? "REPLAY" : "REPLAY held";
    if (p->scrubbing)
        return "PAST";
    if (p->ended && p->launched) {
        *style = p->status ? STYLE_HEAD_BAD : STYLE_HEAD;
        if (WIFSIGNALED(p->wait_status))
            gpurt_exit_text(p->wait_status, buffer, STATE_WORD);
        else
            snprintf(buffer, STATE_WORD, "ENDED %d", p->status);
        return buffer;
    }
    if (p->ended || p->view->numbers.state == GPURT_MODEL_ENDED)
        return "ENDED";
    *style = p->paused ? STYLE_HEAD_WARN : STYLE_HEAD_GOOD;
    return p->paused ? "PAUSED" : "LIVE";
}

enum {
    DEVICE_COLUMNS = 100 /* from so many on the head has room for a device's name */
};

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

/* Which of the boxes it is, and where there is no room for its device's name, the number. */
static int head_which(const picture_t *p, canvas_t *c, rect_t area, int at)
{
    const gpurt_model_section_t *device;
    int devices;

    at = canvas_printf(c, area, 0, at, STYLE_HEAD, " %u/%u", p->process + 1, p->processes);
    device = first_device(p, &devices);
    if (device && area.columns < DEVICE_COLUMNS)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD, " %s %u",
                           device->kind == GPURT_SECTION_CUDA ? "GPU" : "CPU",
                           device->device);
    return at;
}

static int head_name(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_box_identity_t *id = &p->view->names.identity;
    const char *name = id->program[0] ? id->program : p->name;
    size_t bytes = id->program[0] ? strnlen(name, sizeof id->program) : strlen(name);
    int at =
        canvas_put(c, area, 0, 0, STYLE_HEAD, area.columns >= 60 ? " gpurt-top  " : " ");

    if (area.columns < 60) /* the state matters more */
        return canvas_text(c, area, 0, at, STYLE_HEAD, name, bytes < 12 ? bytes : 12);
    at = canvas_text(c, area, 0, at, STYLE_HEAD, name, bytes);
    if (id->pid)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD, "[%u]", id->pid);
    return p->processes > 1 ? head_which(p, c, area, at) : at;
}

/* What the collector cannot do that lacks most, up to its reason, which stands with the GPU's
 * view; and where there are several, whose it is and how many more there are. */
static int head_collector(const picture_t *p, canvas_t *c, rect_t area, int at)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    const char *state = a->collectors[0].state;
    size_t bytes = strnlen(state, sizeof a->collectors[0].state);
    const char *reason = memchr(state, ':', bytes);
    char who[COLLECTOR_WHO];

    if (a->collectors_troubled == 0)
        return at;
    collector_who(a, &a->collectors[0], who);
    at = canvas_text(c, area, 0, at, STYLE_HEAD_WARN, state,
                     reason ? (size_t)(reason - state) : bytes);
    if (who[0])
        at = canvas_printf(c, area, 0, at, STYLE_HEAD_WARN, " (%s)", who);
    if (a->collectors_troubled > 1)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD_WARN, " and %llu more",
                           (unsigned long long)a->collectors_troubled - 1);
    return at + 2;
}

/* Panics, then how much comes, or came once nothing more does. */
static int head_sums(const picture_t *p, canvas_t *c, rect_t area, int at)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    bool over = p->ended || n->state == GPURT_MODEL_ENDED;
    char buffer[32];

    if (n->panics)
        at = canvas_printf(c, area, 0, at, STYLE_PANIC, " %llu PANIC%s ",
                           (unsigned long long)n->panics, gpurt_plural(n->panics, "S")) +
             1;
    if (p->coming && !over)
        at = canvas_printf(c, area, 0, at, STYLE_PANIC, " PANIC COMING ") + 1;
    at = canvas_printf(c, area, 0, at, STYLE_HEAD, over ? "%s record%s" : "%s/s%s",
                       canvas_short(over ? n->messages : n->per_second, buffer),
                       over ? gpurt_plural(n->messages, "s") : "") +
         2;
    at = canvas_printf(c, area, 0, at, n->lost ? STYLE_HEAD_WARN : STYLE_HEAD, "lost %s",
                       canvas_short(n->lost, buffer)) +
         2;
    if (!over && !p->replay && !p->paused && !p->scrubbing && n->last_ns &&
        n->time_ns > n->last_ns + QUIET_NS)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD_WARN, "quiet for %s",
                           picture_span(n->time_ns - n->last_ns, buffer)) +
             2;
    return head_collector(p, c, area, at);
}

static void head_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    const gpurt_model_section_t *device;
    char buffer[96];
    int at, devices;
    style_t style;
    const char *state = state_word(p, &style, buffer);

    for (int i = 0; i < area.columns; i++)
        canvas_put(c, area, 0, i, STYLE_HEAD, " ");
    at = head_name(p, c, area) + 2;
    at = canvas_put(c, area, 0, at, style, state) + 2;
    at = head_sums(p, c, area, at);
    device = first_device(p, &devices);
    if (device && area.columns >= DEVICE_COLUMNS) {
        picture_device(device, buffer);
        at = canvas_text(c, area, 0, at, STYLE_HEAD, buffer, strlen(buffer));
        if (devices > 1)
            at = canvas_printf(c, area, 0, at, STYLE_HEAD, " and %d more", devices - 1);
        at += 2;
    }
    if (n->last_ns > n->first_ns && at + 26 < area.columns)
        at = canvas_printf(c, area, 0, at, STYLE_HEAD, "over %s",
                           picture_span(n->last_ns - n->first_ns, buffer));
    if (n->time_ns && at + 9 < area.columns)
        canvas_right(c, area, 0, area.columns - 1, STYLE_HEAD,
                     picture_time(n->time_ns, 0, buffer));
}

/* ---- tabs ---------------------------------------------------------------------------- */

/* All names, or where they find no room that of the view at hand alone. */
static int tabs_names(const picture_t *p, canvas_t *c, rect_t area, bool all)
{
    uint32_t panics = picture_panics(p);
    int at = 1;

    for (int i = 0; i < VIEW_COUNT; i++) {
        style_t style = i == (int)p->shown ? STYLE_SELECT : STYLE_NORMAL;

        if (i == VIEW_OUTPUT && !p->output)
            continue;
        at = canvas_printf(c, area, 0, at, STYLE_KEY, "%c", VIEW_KEY(i));
        if (all || i == (int)p->shown)
            at = canvas_put(c, area, 0, at, style, picture_view((view_id_t)i)->name);
        if (i == VIEW_PANICS && panics)
            at = canvas_printf(c, area, 0, at, STYLE_ERROR, "(%u)", panics);
        at += all ? 2 : 1;
    }
    return at;
}

/* "filter warn+ session"; "" without one. */
static void filter_words(const filter_t *f, char text[FILTER_TEXT + 32])
{
    static const char *const names[] = {"",      "",       "debug+", "info+",
                                        "warn+", "error+", "panic+", "lost"};

    text[0] = '\0';
    if (f->level > GPURT_LEVEL_TRACE || f->text[0])
        snprintf(text, FILTER_TEXT + 32, "filter %s%s%s",
                 f->level <= GPURT_LEVEL_LOST ? names[f->level] : "",
                 f->level > GPURT_LEVEL_TRACE ? " " : "", f->text);
}

/* A filter has its room first: names of views are known by heart sooner. */
static void tabs_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const int names_columns = 76 + (p->output ? 9 : 0);
    char text[FILTER_TEXT + 32];
    int filter, at;

    filter_words(&p->filter, text);
    filter = (int)strlen(text);
    at = tabs_names(p, c, area, area.columns >= names_columns + (filter ? filter + 1 : 0));
    if (area.columns - filter - 1 > at)
        at = area.columns - filter - 1;
    canvas_put(c, area, 0, at, STYLE_WARN, text);
}

/* ---- time line ----------------------------------------------------------------------- */

typedef struct bar {
    uint64_t first_ns, last_ns;
    int left, width, now; /* now: of the moment that is shown */
} bar_t;

static void panic_mark(const bar_t *bar, canvas_t *c, rect_t area, uint64_t time_ns)
{
    int at;

    if (time_ns < bar->first_ns || time_ns > bar->last_ns)
        return;
    at = (int)((double)(time_ns - bar->first_ns) / (double)(bar->last_ns - bar->first_ns) *
               (bar->width - 1));
    if (at != bar->now)
        canvas_glyph(c, area, 0, bar->left + at, STYLE_ERROR, 0x25b2, '!');
}

/* Where device code failed: of a log everywhere, of a program what is kept. */
static void panics_mark(const picture_t *p, canvas_t *c, rect_t area, const bar_t *bar)
{
    const linefile_marks_t *m = p->file ? &p->file->marks : NULL;
    const gpurt_model_panics_t *list = &p->view->panics;

    for (uint32_t i = 0; m && m->width_ns && i < LINEFILE_MARKS; i++)
        if (m->bits[i / 64] >> i % 64 & 1)
            panic_mark(bar, c, area, m->first_ns + i * m->width_ns);
    for (uint64_t i = 0; i < list->count && i < GPURT_MODEL_PANICS; i++)
        panic_mark(bar, c, area, list->list[i].time_ns);
}

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
    panics_mark(p, c, area, &(bar_t){first, last, left, width, mark});
    if (p->replay)
        canvas_printf(c, area, 0, area.columns - 13, STYLE_KEY, "%5.1f%% %.4gx",
                      (double)(at_ns - first) / (double)(last - first) * 100.0, p->speed);
    else
        canvas_printf(c, area, 0, area.columns - 13, STYLE_KEY, "-%s",
                      picture_span(last - at_ns, buffer));
}

/* ---- foot ---------------------------------------------------------------------------- */

static int key_columns(const key_row_t *row)
{
    return (int)(strlen(row->foot_key) + strlen(row->foot)) + 3;
}

/* As many keys as find room; how to leave, the last of them, always does. */
static void foot_keys(canvas_t *c, rect_t area)
{
    const key_row_t *last = NULL;
    int at = 1, last_columns = 0;

    for (const key_row_t *row = key_rows; row->action != ACTION_NONE; row++)
        if (row->foot) {
            last = row;
            last_columns = key_columns(row);
        }
    for (const key_row_t *row = key_rows; row->action != ACTION_NONE; row++) {
        int after = row == last ? 0 : last_columns;

        if (!row->foot || at + key_columns(row) + after > area.columns + 1)
            continue;
        at = canvas_put(c, area, 0, at, STYLE_KEY, row->foot_key) + 1;
        at = canvas_put(c, area, 0, at, STYLE_NORMAL, row->foot) + 2;
    }
    if (at + 40 < area.columns)
        canvas_put(c, area, 0, at, STYLE_DIM, "Tab view  Enter open  Esc back  + - speed");
}

/* Where a line that is typed begins, so that its cursor is in sight. */
static size_t typed_begin(const lineedit_t *l, canvas_t *c, int room)
{
    const rect_t nowhere = {.columns =
                                4 * LINEEDIT_ROOM}; /* has no row: it only measures */
    size_t at = 0;

    while (at < l->cursor &&
           canvas_text(c, nowhere, 0, 0, STYLE_BOLD, l->text + at, l->cursor - at) > room)
        do
            at++;
        while (((uint8_t)l->text[at] & 0xc0) == 0x80);
    return at;
}

/* Some of it; the place of an error stands out. */
static int typed_part(const lineedit_t *l, const filter_error_t *wrong, size_t from,
                      size_t to, canvas_t *c, rect_t area, int at)
{
    size_t begin = wrong->why[0] ? wrong->at : to;
    size_t end = begin + (wrong->bytes ? wrong->bytes : 1);

    begin = begin < from ? from : begin > to ? to : begin;
    end = end < begin ? begin : end > to ? to : end;
    at = canvas_text(c, area, 0, at, STYLE_BOLD, l->text + from, begin - from);
    at = canvas_text(c, area, 0, at, STYLE_ERROR, l->text + begin, end - begin);
    return canvas_text(c, area, 0, at, STYLE_BOLD, l->text + end, to - end);
}

static void typed_draw(const lineedit_t *l, const filter_error_t *wrong, canvas_t *c,
                       rect_t area)
{
    const char *cursor = l->text + l->cursor;
    size_t bytes = strlen(cursor), under = bytes > 0;
    int at = canvas_put(c, area, 0, 1, STYLE_KEY, "filter: ");
    size_t from = typed_begin(l, c, area.columns - at - 2); /* the cursor may be wide */

    while (under < bytes && ((uint8_t)cursor[under] & 0xc0) == 0x80)
        under++;
    at = typed_part(l, wrong, from, l->cursor, c, area, at);
    at = canvas_text(c, area, 0, at, STYLE_SELECT, under ? cursor : " ", under ? under : 1);
    at = typed_part(l, wrong, l->cursor + under, l->cursor + bytes, c, area, at);
    if (wrong->why[0])
        canvas_text(c, area, 0, at + 2, STYLE_ERROR, wrong->why, strlen(wrong->why));
    else
        canvas_put(c, area, 0, at + 2, l->full ? STYLE_WARN : STYLE_DIM,
                   l->full ? "there is no room for more" : "Enter keeps it, Esc drops it");
}

/* All that one can answer, however narrow it is. */
static const char *asking_text(int columns)
{
    static const char *const texts[] = {
        "The program still runs.  Enter end it   d let it run   Esc stay",
        "Enter end it  d let it run  Esc stay", "Enter end d run Esc"};
    size_t i = 0;

    while (i < 2 && (int)strlen(texts[i]) + 1 > columns)
        i++;
    return texts[i];
}

static void foot_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    if (p->asking) {
        canvas_put(c, area, 0, area.columns > 20, STYLE_WARN, asking_text(area.columns));
        return;
    }
    if (p->typing) {
        typed_draw(&p->edit, &p->wrong, c, area);
        return;
    }
    if (p->notice) {
        canvas_put(c, area, 0, 1, STYLE_WARN, p->notice);
        return;
    }
    if (p->problem) {
        canvas_put(c, area, 0, 1, STYLE_ERROR, p->problem);
        return;
    }
    foot_keys(c, area);
}

/* ---- all of it ----------------------------------------------------------------------- */

void picture_wish(const picture_t *p, layout_wish_t *wish)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    const gpurt_model_running_t *streams[GPURT_MODEL_RUNNING];
    const uint32_t running = running_streams(&p->view->activity, streams);
    panic_group_t groups[PICTURE_ALERTS];

    memset(wish, 0, sizeof *wish);
    wish->overview = p->shown == VIEW_OVERVIEW;
    wish->scrub = p->replay || p->scrubbing;
    for (int i = 0; i < GPURT_BOX_SECTIONS; i++)
        wish->sm_count += n->sections[i].sm_shown < GPURT_MODEL_SMS
                              ? (int)n->sections[i].sm_shown
                              : GPURT_MODEL_SMS;
    wish->site_count =
        n->site_count < GPURT_MODEL_SITES ? (int)n->site_count : GPURT_MODEL_SITES;
    wish->gpu_count = (int)(gpulist_count(&p->view->activity) +
                            (running < PICTURE_RUNNING ? running : PICTURE_RUNNING));
    wish->alert_count = (int)paniclist_groups(p, PICTURE_ALERTS, groups) + (n->lost != 0) +
                        (gpulist_longest(p) != NULL);
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
