/* SPDX-License-Identifier: Apache-2.0 */
#include "loglist.h"

#include "filelist.h"
#include "plural.h"
#include "render.h"

#include <stdio.h>
#include <string.h>

enum {
    ROWS_MAX = 1000,
    WHO = 11 /* columns of "pid4194304 " */
};

/* The place in one class. Counts come from shared memory and are bounded here. */
typedef struct place {
    const gpurt_model_lines_t *lines;
    uint64_t left;
} place_t;

static const gpurt_model_line_t *newest(const place_t *p)
{
    return p->left ? &p->lines->list[(p->lines->first + p->left - 1) % GPURT_MODEL_LINES]
                   : NULL;
}

static void places_begin(const picture_t *p, place_t places[GPURT_CLASSES])
{
    for (int i = 0; i < GPURT_CLASSES; i++) {
        const gpurt_model_lines_t *l = &p->view->lines[i];

        places[i].lines = l;
        places[i].left = l->end > l->first ? l->end - l->first : 0;
        if (places[i].left > GPURT_MODEL_LINES)
            places[i].left = GPURT_MODEL_LINES;
    }
}

/* The newest line of all classes, taken off its class, which is at[0], if that is asked; NULL:
 * none left. */
static const gpurt_model_line_t *next_of(place_t places[GPURT_CLASSES], place_t **at)
{
    const gpurt_model_line_t *best = NULL;
    place_t *from = NULL;

    for (int i = 0; i < GPURT_CLASSES; i++) {
        const gpurt_model_line_t *line = newest(&places[i]);

        if (line && (!best || line->number > best->number)) {
            best = line;
            from = &places[i];
        }
    }
    if (from)
        from->left--;
    if (at)
        *at = from;
    return best;
}

static const gpurt_model_line_t *next_line(place_t places[GPURT_CLASSES])
{
    return next_of(places, NULL);
}

/* Rings are drained by turns, so a line may come before one that is older. They are nearly in
 * order: each is moved a few places. */
static void newest_first(const gpurt_model_line_t **lines, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const gpurt_model_line_t *line = lines[i];
        uint32_t at = i;

        for (; at > 0 && lines[at - 1]->time_ns < line->time_ns; at--)
            lines[at] = lines[at - 1];
        lines[at] = line;
    }
}

/* Of the lines of a class, by gpurt_model_class. */
static uint32_t class_highest(uint32_t class)
{
    return class == GPURT_CLASS_LOW    ? GPURT_LEVEL_WARN - 1
           : class == GPURT_CLASS_WARN ? GPURT_LEVEL_WARN
                                       : GPURT_LEVEL_LOST;
}

/* Where older lines of a class are no longer kept: above so many of those collected. */
typedef struct gaps_seen {
    uint32_t count;
    struct {
        uint32_t class, above;
    } list[GPURT_CLASSES];
} gaps_seen_t;

static void gap_see(gaps_seen_t *gaps, const place_t *places, const place_t *at,
                    uint32_t count)
{
    if (!gaps || !at || at->left > 0 || at->lines->first == 0)
        return;
    gaps->list[gaps->count].class = (uint32_t)(at - places);
    gaps->list[gaps->count++].above = count;
}

static uint32_t collect(const picture_t *p, const filter_t *filter, uint32_t skip,
                        uint32_t want, const gpurt_model_line_t **out, bool *more,
                        gaps_seen_t *gaps)
{
    place_t places[GPURT_CLASSES], *at;
    const gpurt_model_line_t *line;
    uint32_t count = 0;

    places_begin(p, places);
    if (more)
        *more = false;
    for (; (line = next_of(places, &at)) != NULL; gap_see(gaps, places, at, count)) {
        if ((p->until_ns && line->time_ns > p->until_ns) ||
            filter_line(filter, &p->view->numbers, line, NULL) != FILTER_YES)
            continue;
        if (skip > 0) {
            skip--;
        } else if (count < want) {
            out[count++] = line;
        } else {
            if (more)
                *more = true;
            break;
        }
    }
    newest_first(out, count);
    return count;
}

uint32_t loglist_collect(const picture_t *p, const filter_t *filter, uint32_t skip,
                         uint32_t want, const gpurt_model_line_t **out, bool *more)
{
    return collect(p, filter, skip, want, out, more, NULL);
}

uint64_t loglist_gone(const picture_t *p, uint32_t level)
{
    uint64_t gone = 0;

    for (uint32_t i = 0; i < GPURT_CLASSES; i++)
        if (class_highest(i) >= level)
            gone += p->view->lines[i].first;
    return gone;
}

const gpurt_model_line_t *loglist_last_of(const picture_t *p,
                                          const gpurt_model_site_t *site)
{
    const gpurt_model_line_t *line, *last = NULL;
    const char *slash = strrchr(site->file, '/'), *file = slash ? slash + 1 : site->file;
    size_t bytes = strlen(file), most = sizeof line->file - 1;
    place_t places[GPURT_CLASSES];

    if (bytes == 0)
        return NULL; /* one of activity, which lines do not tell apart */
    file += bytes > most ? bytes - most : 0; /* a line has the end of a long name */
    places_begin(p, places);
    while ((line = next_line(places)) != NULL)
        if (line->line == site->line && line->level == site->level &&
            (!p->until_ns || line->time_ns <= p->until_ns) &&
            (!last || line->time_ns > last->time_ns) &&
            strncmp(line->file, file, most) == 0)
            last = line;
    return last;
}

uint32_t loglist_count(const picture_t *p, filter_tally_t *tally)
{
    place_t places[GPURT_CLASSES];
    const gpurt_model_line_t *line;
    uint32_t count = 0, unsure;

    memset(tally, 0, sizeof *tally);
    places_begin(p, places);
    while ((line = next_line(places)) != NULL) {
        filter_answer_t answer;

        if (p->until_ns && line->time_ns > p->until_ns)
            continue;
        answer = filter_line(&p->filter, &p->view->numbers, line, &unsure);
        filter_tally_add(tally, answer, unsure);
        count += answer == FILTER_YES;
    }
    return count;
}

/* "sm72 b9411 w3" on a device, "host 4711" in host code. */
static void where(const gpurt_model_line_t *l, bool wide, char *to, size_t room)
{
    if (l->form == GPURT_FORM_THREAD)
        snprintf(to, room, "host %u", l->block);
    else if (l->kind == GPURT_KIND_LOSS)
        snprintf(to, room, "sm%u.%u", l->sm, l->slot);
    else if (wide)
        snprintf(to, room, "sm%u b%u w%u", l->sm, l->block, l->warp);
    else
        snprintf(to, room, "sm%u", l->sm);
}

void loglist_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                  const gpurt_model_line_t *l, uint32_t column)
{
    bool wide = area.columns >= 110, middle = area.columns >= 72;
    style_t style = picture_level_style(l->level);
    style_t text = l->level >= GPURT_LEVEL_ERROR ? style : STYLE_NORMAL;
    size_t bytes = l->text_bytes < sizeof l->text ? l->text_bytes : sizeof l->text;
    int at = 1, place = area.columns >= 140 ? 30 : area.columns >= 96 ? 22 : 15;
    char buffer[80];

    if (area.columns >= 40) {
        picture_time(l->time_ns, wide ? 6 : 3, buffer);
        at = canvas_put(c, area, row, at, STYLE_DIM, middle ? buffer : buffer + 6) + 1;
    }
    canvas_put(c, area, row, at, style, gpurt_level_name(l->level));
    at += 6;
    if (middle && p->view->names.programs > 1) {
        canvas_put(c, area, row, at, STYLE_DIM, picture_who(l->pid, buffer));
        at += WHO;
    }
    if (middle) {
        where(l, wide, buffer, sizeof buffer);
        canvas_put(c, area, row, at, STYLE_DIM, buffer);
        at += wide ? 16 : 6;
        if (l->file[0])
            picture_place(c, area, row, at, place, l->file, sizeof l->file, l->line);
        at += place + 1;
    }
    while (column < bytes && ((uint8_t)l->text[column] & 0xc0) == 0x80)
        column++;
    if (column < bytes)
        at = canvas_text(c, area, row, at, text, l->text + column, bytes - column);
    if (l->more)
        canvas_printf(c, area, row, at + 1, STYLE_DIM, "(+%u lane%s)", l->more,
                      gpurt_plural(l->more, "s"));
}

/* Who has the lines that are not kept. */
static void gone_remedy(const picture_t *p, char *to, size_t room)
{
    if (p->log)
        snprintf(to, room, "gpurt-log cat %s has them", p->log);
    else if (p->launched)
        snprintf(to, room, "--record FILE keeps all");
    else
        snprintf(to, room, "a log of the program has them");
}

static void gap_draw(const picture_t *p, canvas_t *c, rect_t area, int row, uint32_t class)
{
    static const char *const of[GPURT_CLASSES] = {" up to INFO", " of WARN",
                                                  " of ERROR and above"};
    uint64_t gone = p->view->lines[class].first;
    char remedy[256], text[400];

    gone_remedy(p, remedy, sizeof remedy);
    if (area.columns >= 96)
        snprintf(text, sizeof text, "... %llu older line%s%s %s no longer kept; %s",
                 (unsigned long long)gone, gpurt_plural(gone, "s"), of[class],
                 gone == 1 ? "is" : "are", remedy);
    else
        snprintf(text, sizeof text, "... %llu older%s not kept; %s",
                 (unsigned long long)gone, of[class], remedy);
    canvas_put(c, area, row, 1, STYLE_LOST, text);
}

/* Why there is no line. */
static void nothing_say(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    const char *text;

    if (n->rows == 0)
        text = !p->waiting ? "no records yet"
               : p->ended  ? "the program never opened gpurt, nor started CUDA"
                           : "the program has not opened gpurt yet, nor started CUDA";
    else if (p->file)
        text = "reading the log";
    else if (loglist_gone(p, filter_lowest(&p->filter)))
        text = p->filter.text[0] ? "no line that is kept fits the filter (Esc clears it)"
                                 : "no line is kept of this moment and level";
    else if (p->filter.text[0])
        text = "no line fits the filter (Esc clears it)";
    else if (p->filter.level)
        text = "no line is of that level (K shows more)";
    else
        text = p->view->activity.rows ? "no line was logged; view 6 has what GPUs did"
                                      : "no line was logged up to this moment";
    canvas_put(c, area, row, 2, STYLE_DIM, text);
}

/* Marks of gaps stand above the oldest line of their class; where the pane is full, they take the
 * place of the oldest lines. */
static void kept_pane(const picture_t *p, canvas_t *c, rect_t area, uint32_t skip,
                      uint32_t column)
{
    const gpurt_model_line_t *lines[ROWS_MAX];
    int rows = area.rows - 1 < ROWS_MAX ? area.rows - 1 : ROWS_MAX, row;
    gaps_seen_t gaps = {.count = 0};
    uint32_t count = collect(p, &p->filter, skip, (uint32_t)rows, lines, NULL, &gaps);
    uint32_t marks = 0, shown;

    for (uint32_t i = 0; i < gaps.count && !p->file; i++)
        if (class_highest(gaps.list[i].class) >= filter_lowest(&p->filter))
            gaps.list[marks++] = gaps.list[i];
    shown = count + marks > (uint32_t)rows ? (uint32_t)rows : count + marks;
    row = (int)shown;
    for (uint32_t i = 0, mark = 0; row >= 1; row--) { /* the newest right at the bottom */
        if (mark < marks && gaps.list[mark].above <= i)
            gap_draw(p, c, area, row, gaps.list[mark++].class);
        else if (i < count)
            loglist_draw(p, c, area, row, lines[i++], column);
    }
    if (count == 0)
        nothing_say(p, c, area, 1 + (int)marks);
}

void loglist_pane(const picture_t *p, canvas_t *c, rect_t area, uint32_t skip,
                  uint32_t column)
{
    if (area.rows > 1 &&
        !(p->file &&
          filelist_pane(p, c, area, p->shown == VIEW_LOG && p->log_held, column)))
        kept_pane(p, c, area, skip, column);
}
