/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, in the view of heaps. */
#include "activity_text.h"
#include "heap_draw.h"
#include "heap_text.h"
#include "region_text.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME = 16 /* columns of a region's name in the list */
};

static bool has_ended(const gpurt_model_told_t *told)
{
    return told->flags & GPURT_HEAP_ENDED;
}

/* A bar and its percentage. Returns: the column behind. */
static int draw_bar(canvas_t *c, rect_t area, int row, int at, uint64_t part,
                    uint64_t whole, bool ended)
{
    int full = heap_percent(part, whole);

    heap_bar(c, area, row, at, full, heap_style(full, ended));
    return canvas_printf(c, area, row, at + HEAP_BAR + 1, STYLE_NORMAL, "%3d%% ", full);
}

void region_line(const gpurt_model_region_t *r, const gpurt_model_heaps_t *heaps,
                 canvas_t *c, rect_t area, int row)
{
    char used[24], all[24], count[16];
    int length = (int)strnlen(r->name, sizeof r->name);
    int at = heap_label(heaps, &r->told, "region", c, area, row);

    at = draw_bar(c, area, row, at, r->used, r->bytes, has_ended(&r->told));
    if (length)
        at = canvas_text(c, area, row, at, STYLE_BOLD, r->name,
                         (size_t)(length < NAME ? length : NAME)) +
             1;
    at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s of %s",
                       activity_bytes(r->used, used), activity_bytes(r->bytes, all));
    at = heap_marks(&r->told, c, area, row, at, r->wrong, region_refused(r));
    if (r->blocks != GPURT_REGION_UNKNOWN)
        at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s blocks, ",
                           canvas_short(r->blocks, count));
    canvas_printf(c, area, row, at, STYLE_NORMAL, "%s hole%s",
                  canvas_short(r->holes, count), r->holes == 1 ? "" : "s");
}

void region_about(const gpurt_model_region_t *r, canvas_t *c, rect_t area, int row)
{
    char most[24], left[24], longest[24], granule[24], what[64];
    char stuck[16], races[16];
    int at;

    canvas_printf(
        c, area, row++, 1, STYLE_INFO, "most %s  free %s, %s in a row, fragmented %d%%",
        activity_bytes(r->peak_used, most), activity_bytes(r->bytes - r->used, left),
        activity_bytes(r->largest, longest), region_fragmented(r));
    at = canvas_printf(c, area, row, 1, STYLE_INFO, "%s fit, granules of %s",
                       region_policy(r), activity_bytes(r->granule, granule));
    if (r->looking)
        canvas_printf(c, area, row, at, STYLE_INFO, "  %u warp%s look%s for a place",
                      r->looking, r->looking == 1 ? "" : "s", r->looking == 1 ? "s" : "");
    canvas_printf(c, area, ++row, 1, region_refused(r) ? STYLE_WARN : STYLE_INFO,
                  "refused: %llu full, %llu fragmented, %llu else",
                  (unsigned long long)r->full, (unsigned long long)r->fragmented,
                  (unsigned long long)r->refused);
    canvas_printf(c, area, ++row, 1, STYLE_INFO,
                  "resized, but not in place: %s; places lost to other lanes: %s",
                  canvas_short(r->stuck, stuck), canvas_short(r->races, races));
    snprintf(what, sizeof what, "%u granule%s of %s, by what is used", r->map_granules,
             r->map_granules == 1 ? "" : "s", granule);
    if (r->map_granules)
        heap_map(c, area, row + 1, r->cells, false, what);
}
