/* SPDX-License-Identifier: Apache-2.0 */
#include "filelist.h"

#include "loglist.h"
#include "plural.h"

#include <stdio.h>
#include <string.h>

/* ---- what is wanted ------------------------------------------------------------------ */

void filelist_near_want(const gpurt_model_panic_t *e, logwindow_wish_t *wish)
{
    memset(wish, 0, sizeof *wish);
    wish->part = LOGWINDOW_NEAR;
    wish->until_ns = e->time_ns;
    wish->want.slot_only = true;
    wish->want.section = e->section;
    wish->want.sm = e->sm;
    wish->want.slot = e->slot;
    wish->want.pid = e->pid;
}

void filelist_wish(const picture_t *p, logwindow_wish_t *wish)
{
    uint32_t panics = picture_panics(p);

    if (p->shown == VIEW_PANICS && panics > 0) {
        filelist_near_want(&p->view->panics.list[p->panic < panics ? p->panic : panics - 1],
                           wish);
        return;
    }
    memset(wish, 0, sizeof *wish);
    memcpy(&wish->want.filter, &p->filter, sizeof wish->want.filter);
    wish->until_ns = p->view->numbers.time_ns;
    if (p->shown != VIEW_LOG || !p->log_held)
        return;
    wish->part = LOGWINDOW_BROWSE;
    wish->from_start = p->log_from_start;
    wish->at = p->log_at;
}

/* ---- what is there ------------------------------------------------------------------- */

static bool is_beyond(const gpurt_model_line_t *line, const linefile_place_t *place)
{
    return line->time_ns != place->time_ns ? line->time_ns > place->time_ns
                                           : line->number > place->number;
}

/* The lines to draw, if they are of this filter; *end: behind the one at the bottom. */
static const logwindow_lines_t *lines_at_hand(const picture_t *p, bool browse, int rows,
                                              uint32_t *end)
{
    const logwindow_lines_t *l =
        &p->file->parts[browse ? LOGWINDOW_BROWSE : LOGWINDOW_TAIL];
    linefile_place_t last = {p->view->numbers.time_ns, UINT64_MAX};
    uint32_t count = l->count < LINEFILE_MOST ? l->count : LINEFILE_MOST;

    if (!l->known || !filter_same(&l->wish.want.filter, &p->filter) ||
        (browse && l->wish.from_start != p->log_from_start && p->log_from_start))
        return NULL;
    if (browse && !p->log_from_start &&
        is_beyond(&(gpurt_model_line_t){.time_ns = last.time_ns, .number = last.number},
                  &p->log_at))
        last = p->log_at;
    *end = count;
    while (*end > 0 && is_beyond(&l->lines[*end - 1], &last))
        --*end;
    if (browse && p->log_from_start && *end > (uint32_t)rows)
        *end = (uint32_t)rows;
    return l;
}

bool filelist_pane(const picture_t *p, canvas_t *c, rect_t area, bool browse,
                   uint32_t column)
{
    int rows = area.rows - 1;
    const logwindow_lines_t *l;
    uint32_t end, first;

    l = rows > 0 ? lines_at_hand(p, browse, rows, &end) : NULL;
    if (!l)
        return rows <= 0;
    first = end > (uint32_t)rows ? end - (uint32_t)rows : 0;
    for (uint32_t i = first; i < end; i++)
        loglist_draw(p, c, area, 1 + (int)(i - first), &l->lines[i], column);
    if (end == 0)
        canvas_put(c, area, 1, 2, STYLE_DIM,
                   p->filter.text[0]
                       ? "no line up to this moment fits the filter (Esc clears it)"
                   : p->filter.level > 0
                       ? "no line up to this moment is of that level (K shows more)"
                   : p->view->activity.rows
                       ? "no line was logged up to this moment; view 6 has what GPUs did"
                       : "no line was logged up to this moment");
    return true;
}

void filelist_title(const picture_t *p, char *to, size_t room)
{
    const logwindow_view_t *file = p->file;
    bool known = filter_same(&file->counted, &p->filter);
    char time[32];
    size_t used;
    uint64_t to_ns = p->log_held ? p->log_at.time_ns : p->view->numbers.time_ns;

    if (p->log_held && p->log_from_start)
        used = (size_t)snprintf(to, room, "Log  from its start, ");
    else if (to_ns)
        used = (size_t)snprintf(to, room, "Log  up to %s, ", picture_time(to_ns, 6, time));
    else
        used = (size_t)snprintf(to, room, "Log  ");
    if (used >= room)
        return;
    snprintf(to + used, room - used, "%s%llu line%s %s%s",
             known && file->all ? "" : "counting: ",
             known ? (unsigned long long)file->total : 0ull,
             gpurt_plural(known ? file->total : 0, "s"),
             p->filter.text[0] || p->filter.level ? "of the file fit" : "in the file",
             p->log_held ? " (End: to the moment)" : "");
}

/* ---- scrolling ----------------------------------------------------------------------- */

/* Towards the moment the log follows again when nothing is left below. */
void filelist_scroll(picture_t *p, int64_t lines, int page)
{
    const logwindow_lines_t *l;
    uint32_t end;
    int64_t to, least;

    l = lines_at_hand(p, p->log_held, page, &end);
    if (!l || end == 0)
        return; /* it is on its way */
    to = (int64_t)end - 1 - lines;
    least = l->older ? 0 : page - 1;
    least = least < l->count ? least : (int64_t)l->count - 1;
    to = to < least ? least : to;
    if (to >= (int64_t)l->count || (!p->log_held && to >= (int64_t)end - 1)) {
        to = (int64_t)l->count - 1;
        if (!p->log_held || !l->newer) {
            p->log_held = false;
            return;
        }
    }
    p->log_held = true;
    p->log_from_start = false;
    p->log_at = (linefile_place_t){l->lines[to].time_ns, l->lines[to].number};
}

/* ---- before a panic ------------------------------------------------------------------ */

const logwindow_lines_t *filelist_near(const picture_t *p, const gpurt_model_panic_t *e)
{
    const logwindow_lines_t *l = &p->file->parts[LOGWINDOW_NEAR];
    logwindow_wish_t wish;

    filelist_near_want(e, &wish);
    return l->known && logwindow_wish_same(&l->wish, &wish) ? l : NULL;
}
