/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on heaps: regions, arenas, tables of reclamation. */
#include "activity_text.h"
#include "heap_draw.h"
#include "heap_text.h"
#include "plural.h"
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

/* ---- regions ------------------------------------------------------------------------- */

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
                  canvas_short(r->holes, count), gpurt_plural(r->holes, "s"));
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
                      r->looking, gpurt_plural(r->looking, "s"),
                      r->looking == 1 ? "s" : "");
    canvas_printf(c, area, ++row, 1, region_refused(r) ? STYLE_WARN : STYLE_INFO,
                  "refused: %llu full, %llu fragmented, %llu else",
                  (unsigned long long)r->full, (unsigned long long)r->fragmented,
                  (unsigned long long)r->refused);
    canvas_printf(c, area, ++row, 1, STYLE_INFO,
                  "resized, but not in place: %s; places lost to other lanes: %s",
                  canvas_short(r->stuck, stuck), canvas_short(r->races, races));
    snprintf(what, sizeof what, "%u granule%s of %s, by what is used", r->map_granules,
             gpurt_plural(r->map_granules, "s"), granule);
    if (r->map_granules)
        heap_map(c, area, row + 1, r->cells, false, what);
}

/* ---- arenas -------------------------------------------------------------------------- */

/* Of the heap that pieces come from: another process may have one of that number, too. */
static uint64_t heap_bytes(const gpurt_model_heaps_t *heaps, const gpurt_model_arena_t *a)
{
    for (uint32_t i = 0; i < heaps->count && i < GPURT_MODEL_HEAPS; i++)
        if (heaps->list[i].told.id == a->heap &&
            heaps->list[i].told.program == a->told.program)
            return heaps->list[i].bytes;
    return 0;
}

void arena_line(const gpurt_model_arena_t *a, const gpurt_model_heaps_t *heaps, canvas_t *c,
                rect_t area, int row)
{
    uint64_t whole = heap_bytes(heaps, a);
    char bytes[24], arenas[16], pieces[16];
    int at = heap_label(heaps, &a->told, "arenas", c, area, row);

    at =
        draw_bar(c, area, row, at, a->bytes, whole ? whole : a->bytes, has_ended(&a->told));
    at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s of heap %u",
                       activity_bytes(a->bytes, bytes), a->heap);
    at = heap_marks(&a->told, c, area, row, at, 0, a->refused);
    canvas_printf(c, area, row, at, STYLE_NORMAL, "%s piece%s, %s arena%s",
                  canvas_short(a->pieces, pieces), gpurt_plural(a->pieces, "s"),
                  canvas_short(a->arenas, arenas), gpurt_plural(a->arenas, "s"));
}

void arena_about(const gpurt_model_arena_t *a, canvas_t *c, rect_t area, int row)
{
    char most[24], largest[24], taken[24];

    canvas_printf(c, area, row++, 1, STYLE_INFO,
                  "most %s  the largest arena has %s  taken in all %s",
                  activity_bytes(a->peak_bytes, most), activity_bytes(a->largest, largest),
                  activity_bytes(a->taken, taken));
    canvas_printf(c, area, row++, 1, STYLE_INFO,
                  "%u arenas can have grown at a time; %llu found no slot", a->slots,
                  (unsigned long long)a->refused);
    canvas_put(c, area, row, 1, STYLE_DIM,
               "Those of cancelled blocks count until gpurt_arena_source_sweep.");
}

/* ---- reclamation --------------------------------------------------------------------- */

void reclaim_line(const gpurt_model_reclaim_t *t, const gpurt_model_heaps_t *heaps,
                  canvas_t *c, rect_t area, int row)
{
    uint32_t what = t->told.flags & GPURT_RECLAIM_WHAT;
    bool slots = what == GPURT_RECLAIM_EPOCHS || what == GPURT_RECLAIM_HAZARDS;
    int at = heap_label(heaps, &t->told, reclaim_short(t), c, area, row);
    char live[16];

    at =
        draw_bar(c, area, row, at, slots ? t->open : t->live, t->room, has_ended(&t->told));
    at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s object%s %s of heap %u",
                       canvas_short(t->live, live), gpurt_plural(t->live, "s"),
                       slots ? "wait" : "live", t->heap);
    at = heap_marks(&t->told, c, area, row, at, t->wrong, t->refused);
    if (what != GPURT_RECLAIM_REFS)
        canvas_printf(c, area, row, at, STYLE_NORMAL, "%u open", t->open);
}

void reclaim_about(const gpurt_model_reclaim_t *t, canvas_t *c, rect_t area, int row)
{
    uint32_t what = t->told.flags & GPURT_RECLAIM_WHAT;
    char most[16], made[16], gone[16];

    canvas_printf(c, area, row++, 1, STYLE_INFO, "%s: most %s objects, freed %s",
                  reclaim_name(t), canvas_short(t->peak_live, most),
                  canvas_short(t->gone, gone));
    if (what == GPURT_RECLAIM_REFS) {
        canvas_printf(c, area, row, 1, STYLE_INFO, "%u records", t->room);
        return;
    }
    canvas_printf(c, area, row++, 1, STYLE_INFO,
                  what == GPURT_RECLAIM_GC ? "allocated %s, cycle %u, %u entries"
                                           : "taken in %s, epoch %u, %u slots",
                  canvas_short(t->made, made), t->turn, t->room);
    canvas_printf(c, area, row, 1, STYLE_INFO,
                  what == GPURT_RECLAIM_GC ? "%llu became old"
                                           : "%llu slots taken back from warps that ended",
                  (unsigned long long)t->left);
}
