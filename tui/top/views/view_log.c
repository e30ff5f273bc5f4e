/* SPDX-License-Identifier: Apache-2.0 */
/* The log: the last lines of each class, filtered, scrolled. */
#include "filelist.h"
#include "loglist.h"
#include "plural.h"

#include <stdio.h>

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    char title[160], unsure[128];
    filter_tally_t tally;
    uint32_t count = p->file ? 0 : loglist_count(p, &tally);

    if (p->file)
        filelist_title(p, title, sizeof title);
    else if (p->log_back)
        snprintf(title, sizeof title, "Log  %u line%s kept, %u below (End follows)", count,
                 gpurt_plural(count, "s"), p->log_back);
    else
        snprintf(title, sizeof title, "Log  %u line%s%s", count, gpurt_plural(count, "s"),
                 loglist_gone(p, filter_lowest(&p->filter)) ? " kept" : "");
    if (filter_tally_text(p->file ? &p->file->tally : &tally, unsure, sizeof unsure))
        snprintf(title, sizeof title, "Log  %llu fit; %s",
                 p->file ? (unsigned long long)p->file->total : count, unsure);
    canvas_rule(c, area, title);
    loglist_pane(p, c, area, p->log_back, p->log_column);
}

static void scroll(picture_t *p, int64_t lines, int page)
{
    filter_tally_t tally;
    int64_t back, count;

    if (p->file) {
        filelist_scroll(p, lines, page);
        return;
    }
    back = (int64_t)p->log_back + lines;
    count = loglist_count(p, &tally);
    back = back > count - 1 ? count - 1 : back;
    p->log_back = back < 0 ? 0 : (uint32_t)back;
}

static bool act(picture_t *p, action_t action, int page)
{
    switch (action) {
    case ACTION_UP:
        scroll(p, 1, page);
        return true;
    case ACTION_DOWN:
        scroll(p, -1, page);
        return true;
    case ACTION_PAGE_UP:
        scroll(p, page, page);
        return true;
    case ACTION_PAGE_DOWN:
        scroll(p, -page, page);
        return true;
    case ACTION_FIRST:
        p->log_held = p->log_from_start = p->file != NULL;
        if (!p->file) {
            scroll(p, GPURT_CLASSES * GPURT_MODEL_LINES, page);
            scroll(p, 1 - page, page);
        }
        return true;
    case ACTION_LAST:
        p->log_back = 0;
        p->log_held = false;
        return true;
    case ACTION_LEFT:
        p->log_column = p->log_column > 8 ? p->log_column - 8 : 0;
        return true;
    case ACTION_RIGHT:
        p->log_column += p->log_column < GPURT_MODEL_LINE_TEXT ? 8 : 0;
        return true;
    default:
        return false;
    }
}

const view_class_t view_log = {"Log", draw, act};
