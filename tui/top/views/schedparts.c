/* SPDX-License-Identifier: Apache-2.0 */
/* Of one executor its groups, kinds of tasks, and tasks that do not come on. */
#include "object_draw.h"
#include "objectpage.h"
#include "schedsheet.h"

#include <stdio.h>
#include <string.h>

/* "group 1   24% of 25%, 130 tasks wait for it" */
static void group_draw(const sched_sheet_t *s, int row, const gpurt_model_object_t *o)
{
    uint64_t share = sched_now(s->all, o, "share", GPURT_FIELD_GAUGE);
    uint64_t quota = sched_now(s->all, o, "quota", GPURT_FIELD_LIMIT);
    uint64_t waiting = sched_now(s->all, o, "waiting", GPURT_FIELD_GAUGE);
    char name[OBJECT_TEXT], count[16];
    int at = canvas_printf(s->c, s->area, row, SCHED_BODY, STYLE_NORMAL, "%s   %llu%%",
                           sched_text(s->all, o, "name", GPURT_FIELD_TEXT, name),
                           (unsigned long long)share);

    if (!quota) {
        canvas_put(s->c, s->area, row, at, STYLE_DIM, " of the time, no quota");
        return;
    }
    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, " of %llu%%",
                       (unsigned long long)quota);
    if (waiting)
        canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, ", %s task%s for it",
                      canvas_short(waiting, count), waiting == 1 ? " waits" : "s wait");
}

int sched_groups(const sched_sheet_t *s, int row)
{
    const gpurt_model_object_t *list[SCHED_PARTS];
    int count = sched_parts(s->all, s->o, "task_group", list);

    if (!count)
        return row;
    sched_label(s, row, "groups");
    for (int i = 0; i < count; i++)
        group_draw(s, row++, list[i]);
    return row;
}

static void kinds_sort(const gpurt_model_objects_t *all,
                       const gpurt_model_object_t *list[SCHED_PARTS], int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0; k--) {
            const gpurt_model_object_t *o = list[k];

            if (sched_now(all, o, "useful_cycles", GPURT_FIELD_COUNTER) <=
                sched_now(all, list[k - 1], "useful_cycles", GPURT_FIELD_COUNTER))
                break;
            list[k] = list[k - 1];
            list[k - 1] = o;
        }
}

static void kind_draw(const sched_sheet_t *s, int row, const gpurt_model_object_t *o,
                      uint64_t all_cycles)
{
    uint64_t runs = sched_now(s->all, o, "runs", GPURT_FIELD_COUNTER);
    uint64_t cycles = sched_now(s->all, o, "useful_cycles", GPURT_FIELD_COUNTER);
    uint64_t longest = sched_now(s->all, o, "longest_cycles", GPURT_FIELD_PEAK);
    char name[OBJECT_TEXT], number[16], share[16];
    int at = SCHED_BODY;

    snprintf(share, sizeof share, "%d%%", object_percent(cycles, all_cycles));
    canvas_right(s->c, s->area, row, at, STYLE_NORMAL,
                 canvas_short(sched_now(s->all, o, "running", GPURT_FIELD_GAUGE), number));
    canvas_right(s->c, s->area, row, at += 10, STYLE_NORMAL, canvas_short(runs, number));
    canvas_right(s->c, s->area, row, at += 10, STYLE_NORMAL,
                 canvas_short((uint64_t)sched_rate(s->all, o, "runs"), number));
    canvas_right(s->c, s->area, row, at += 8, STYLE_NORMAL, share);
    canvas_right(s->c, s->area, row, at += 12, STYLE_NORMAL,
                 canvas_short(runs ? cycles / runs : 0, number));
    canvas_right(s->c, s->area, row, at += 12, STYLE_NORMAL, canvas_short(longest, number));
    canvas_put(s->c, s->area, row, at + 2, STYLE_BOLD,
               sched_text(s->all, o, "name", GPURT_FIELD_TEXT, name));
}

int sched_kinds(const sched_sheet_t *s, int row)
{
    static const char *const heads[] = {"running", "runs",        "a second",
                                        "time",    "mean cycles", "longest"};
    static const int ends[] = {0, 10, 20, 28, 40, 52};
    const gpurt_model_object_t *list[SCHED_PARTS];
    int count = sched_parts(s->all, s->o, "task_kind", list);
    uint64_t all_cycles = 0;

    if (!count)
        return row;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        canvas_right(s->c, s->area, row, SCHED_BODY + ends[i], STYLE_DIM, heads[i]);
    canvas_put(s->c, s->area, row++, SCHED_BODY + 54, STYLE_DIM, "kind");
    for (int i = 0; i < count; i++)
        all_cycles += sched_now(s->all, list[i], "useful_cycles", GPURT_FIELD_COUNTER);
    kinds_sort(s->all, list, count);
    for (int i = 0; i < count; i++)
        kind_draw(s, row++, list[i], all_cycles);
    return row + 1;
}

/* "gated row 0  runs 2 s  SM 0, block 0, warp 0, level 0; awaited by 3" */
static void stuck_draw(const sched_sheet_t *s, int row, const gpurt_model_object_t *o)
{
    char name[OBJECT_TEXT], why[OBJECT_TEXT], other[OBJECT_TEXT];
    const gpurt_classdef_field_t *f =
        sched_field(s->all, o, "waits_for", GPURT_FIELD_REFERENCE);
    const gpurt_model_object_t *for_ = f ? object_referred(s->all, o, f) : NULL;
    bool runs;
    int at;

    sched_text(s->all, o, "why", GPURT_FIELD_STATE, why);
    runs = strcmp(why, "runs") == 0;
    at = canvas_printf(s->c, s->area, row, SCHED_LABEL,
                       runs || strcmp(why, "held") == 0 ? STYLE_ERROR : STYLE_NORMAL,
                       "%s #%llu", sched_text(s->all, o, "name", GPURT_FIELD_TEXT, name),
                       (unsigned long long)sched_now(s->all, o, "row", GPURT_FIELD_GAUGE));
    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, "  %s, %.1f s",
                       object_name(why, name), sched_seconds(s->all, o));
    if (runs)
        at = canvas_printf(
            s->c, s->area, row, at, STYLE_NORMAL, ", SM %llu block %llu warp %llu",
            (unsigned long long)sched_now(s->all, o, "sm", GPURT_FIELD_GAUGE),
            (unsigned long long)sched_now(s->all, o, "block", GPURT_FIELD_GAUGE),
            (unsigned long long)sched_now(s->all, o, "warp", GPURT_FIELD_GAUGE));
    at = canvas_printf(
        s->c, s->area, row, at, STYLE_DIM, ", level %llu",
        (unsigned long long)sched_now(s->all, o, "level", GPURT_FIELD_GAUGE) + 1);
    if (for_)
        at = canvas_printf(
            s->c, s->area, row, at, STYLE_NORMAL, ", waits for %s #%llu",
            sched_text(s->all, for_, "name", GPURT_FIELD_TEXT, other),
            (unsigned long long)sched_now(s->all, for_, "row", GPURT_FIELD_GAUGE));
    canvas_printf(
        s->c, s->area, row, at, STYLE_DIM, ", awaited by %llu",
        (unsigned long long)sched_now(s->all, o, "awaited_by", GPURT_FIELD_GAUGE));
}

int sched_stuck(const sched_sheet_t *s, int row)
{
    const gpurt_model_object_t *list[SCHED_PARTS];
    int count = sched_parts(s->all, s->o, "stuck_task", list);

    if (!count)
        return row;
    canvas_put(s->c, s->area, row++, SCHED_LABEL, STYLE_TITLE, "Tasks that do not come on");
    for (int i = 0; i < count; i++)
        stuck_draw(s, row++, list[i]);
    return row + 1;
}
