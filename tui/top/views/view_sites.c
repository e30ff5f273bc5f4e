/* SPDX-License-Identifier: Apache-2.0 */
/* All sites; Enter shows the log of one. */
#include "sitelist.h"

#include <stdio.h>
#include <string.h>

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    uint16_t order[GPURT_MODEL_SITES + 1];
    uint32_t count = sitelist_collect(p, order);

    sitelist_pane(p, c, area, count ? (int)(p->site < count ? p->site : count - 1) : -1);
}

/* The filter for one site's lines: its file without the folder, and its line. */
static void open_site(picture_t *p, const gpurt_model_site_t *site)
{
    const char *slash = strrchr(site->file, '/');
    char text[2 * sizeof site->file];

    if (site->file[0] == '\0')
        return;
    snprintf(text, sizeof text, "site=\"%s:%u\"", slash ? slash + 1 : site->file,
             site->line);
    filter_parse(&p->filter, text, NULL);
    p->shown = VIEW_LOG;
    p->log_back = 0;
}

static bool act(picture_t *p, action_t action, int page)
{
    uint16_t order[GPURT_MODEL_SITES + 1];
    int count = (int)sitelist_collect(p, order), at = (int)p->site;
    int step = action == ACTION_UP          ? -1
               : action == ACTION_DOWN      ? 1
               : action == ACTION_PAGE_UP   ? -page
               : action == ACTION_PAGE_DOWN ? page
               : action == ACTION_FIRST     ? -count
               : action == ACTION_LAST      ? count
                                            : 0;

    if (at >= count)
        at = count - 1;
    if (action == ACTION_OPEN && at >= 0 && order[at] < GPURT_MODEL_SITES) {
        open_site(p, &p->view->names.sites[order[at]]);
        return true;
    }
    at += step;
    at = at > count - 1 ? count - 1 : at;
    p->site = at < 0 ? 0 : (uint32_t)at;
    return step != 0;
}

const view_class_t view_sites = {"Sites", draw, act};
