/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: whether one is busy, starved or stuck, and why; below it what its multiprocessors do, what
 * its tasks are, and those that do not come on. */
#include "schedsheet.h"

#include "object_draw.h"
#include "object_text.h"
#include "objecttable.h"

#include <stdio.h>
#include <string.h>

#define GAUGE(s, name)   sched_now((s)->all, (s)->o, name, GPURT_FIELD_GAUGE)
#define COUNTER(s, name) sched_now((s)->all, (s)->o, name, GPURT_FIELD_COUNTER)
#define FAULT(s, name)   sched_now((s)->all, (s)->o, name, GPURT_FIELD_FAULT)
#define LIMIT(s, name)   sched_now((s)->all, (s)->o, name, GPURT_FIELD_LIMIT)

/* Executors in the order of the model, but those that have ended last. */
static int executors_find(const gpurt_model_objects_t *all,
                          uint16_t list[GPURT_MODEL_OBJECTS])
{
    int class_ = objecttable_named(all, "executor"), count = 0;

    for (uint32_t over = 0; class_ >= 0 && over < 2; over++)
        for (uint32_t i = 0; i < all->count && i < GPURT_MODEL_OBJECTS; i++) {
            const gpurt_model_object_t *o = &all->list[i];
            bool ended = o->told.flags & GPURT_OBJECT_ENDED;

            if ((int)o->class_ == class_ && o->told.id && ended == over)
                list[count++] = (uint16_t)i;
        }
    return count;
}

/* ---- the verdict --------------------------------------------------------------------- */

/* The task to begin with: one that runs on or that nobody has started, before those that wait. */
static const gpurt_model_object_t *root_of(const sched_sheet_t *s)
{
    const gpurt_model_object_t *parts[SCHED_PARTS], *root = NULL;
    char why[OBJECT_TEXT];
    int count = sched_parts(s->all, s->o, "stuck_task", parts);

    for (int i = 0; i < count; i++) {
        const char *is = sched_text(s->all, parts[i], "why", GPURT_FIELD_STATE, why);

        if (strcmp(is, "runs") == 0 || strcmp(is, "held") == 0 || strcmp(is, "sleeps") == 0)
            return parts[i];
        root = root ? root : parts[i];
    }
    return root;
}

static void stuck_say(const sched_sheet_t *s, char *text, size_t room)
{
    const gpurt_model_object_t *o = root_of(s);
    char name[OBJECT_TEXT], why[OBJECT_TEXT];
    unsigned long long awaited;
    double seconds;

    if (!o) {
        snprintf(text, room, "a task does not come on");
        return;
    }
    sched_text(s->all, o, "name", GPURT_FIELD_TEXT, name);
    sched_text(s->all, o, "why", GPURT_FIELD_STATE, why);
    awaited = sched_now(s->all, o, "awaited_by", GPURT_FIELD_GAUGE);
    seconds = sched_seconds(s->all, o);
    if (strcmp(why, "runs") == 0)
        snprintf(text, room,
                 "%s runs for %.1f s and comes to no end: SM %llu, block %llu, warp %llu; "
                 "awaited by %llu",
                 name, seconds,
                 (unsigned long long)sched_now(s->all, o, "sm", GPURT_FIELD_GAUGE),
                 (unsigned long long)sched_now(s->all, o, "block", GPURT_FIELD_GAUGE),
                 (unsigned long long)sched_now(s->all, o, "warp", GPURT_FIELD_GAUGE),
                 awaited);
    else if (strcmp(why, "held") == 0)
        snprintf(text, room,
                 "nothing runs for %.1f s: %s is held, and nobody starts it; awaited by "
                 "%llu",
                 seconds, name, awaited);
    else if (strcmp(why, "sleeps") == 0)
        snprintf(text, room,
                 "nothing runs for %.1f s: %s sleeps, and looks for what does not come; "
                 "awaited by %llu",
                 seconds, name, awaited);
    else
        snprintf(text, room,
                 "nothing runs for %.1f s: tasks wait for each other, %s is one of them",
                 seconds, name);
}

static style_t verdict_say(const sched_sheet_t *s, const char *state, char *text,
                           size_t room)
{
    unsigned long long running = GAUGE(s, "running"), warps = LIMIT(s, "warps");
    unsigned long long live = GAUGE(s, "live"), ready = GAUGE(s, "ready");
    unsigned long long asleep = GAUGE(s, "timed");

    if (strcmp(state, "closed") == 0) {
        if (live)
            snprintf(text, room, "%llu tasks had not ended, and never will", live);
        else
            snprintf(text, room, "all its tasks have ended");
        return live ? STYLE_WARN : STYLE_DIM;
    }
    if (strcmp(state, "dead") == 0) {
        snprintf(text, room, "panics have ended all its %llu blocks; %llu tasks never run",
                 (unsigned long long)LIMIT(s, "blocks"), live);
        return STYLE_ERROR;
    }
    if (strcmp(state, "stuck") == 0) {
        stuck_say(s, text, room);
        return STYLE_ERROR;
    }
    if (strcmp(state, "starved") == 0) {
        int used =
            snprintf(text, room, "no task is ready: %llu of %llu warps run one, %llu live",
                     running, warps, live);

        if (asleep && used > 0 && (size_t)used < room)
            used += snprintf(text + used, room - (size_t)used, ", %llu sleep", asleep);
        if (ready && used > 0 && (size_t)used < room) /* else it were busy */
            snprintf(text + used, room - (size_t)used,
                     ", %llu wait for their group's quota", ready);
        return running + asleep < live ? STYLE_WARN : STYLE_DIM;
    }
    if (strcmp(state, "busy") == 0) {
        snprintf(text, room, "%llu tasks are ready, %llu of %llu warps run one", ready,
                 running, warps);
        return STYLE_GOOD;
    }
    snprintf(text, room, "no task lives");
    return STYLE_DIM;
}

static int verdict_draw(const sched_sheet_t *s, int row)
{
    char name[OBJECT_TEXT], state[OBJECT_TEXT], label[48], why[2 * OBJECT_TEXT];
    bool ended = s->o->told.flags & GPURT_OBJECT_ENDED;
    style_t style;
    int at;

    sched_text(s->all, s->o, "name", GPURT_FIELD_TEXT, name);
    sched_text(s->all, s->o, "state", GPURT_FIELD_STATE, state);
    if (ended && strcmp(state, "stuck") != 0 &&
        strcmp(state, "dead") != 0) /* why matters still */
        snprintf(state, sizeof state, "closed");
    objecttable_label(s->all, s->o, label);
    style = verdict_say(s, state, why, sizeof why);
    at = canvas_printf(s->c, s->area, row, SCHED_LABEL, STYLE_BOLD, "%s", name);
    at = canvas_printf(s->c, s->area, row, at, STYLE_DIM, " (executor %s%s)  ", label,
                       ended ? ", ended" : "");
    canvas_printf(s->c, s->area, row++, at, style, "%s", state);
    canvas_put(s->c, s->area, row, SCHED_LABEL, style, why);
    return row + 1;
}

/* ---- figures ------------------------------------------------------------------------- */

static int warps_draw(const sched_sheet_t *s, int row)
{
    unsigned long long running = GAUGE(s, "running"), warps = LIMIT(s, "warps");
    int at = sched_label(s, row, "warps");

    object_bar(s->c, s->area, row, at, object_percent(running, warps), STYLE_GOOD);
    canvas_printf(s->c, s->area, row, at + OBJECT_BAR + 1, STYLE_NORMAL,
                  "%llu of %llu in a task; %llu blocks, %llu asleep", running, warps,
                  (unsigned long long)LIMIT(s, "blocks"),
                  (unsigned long long)GAUGE(s, "asleep"));
    return row + 1;
}

/* What a counter grew by since it was told before; of one that did not, all of it. */
static uint64_t growth(const sched_sheet_t *s, const char *name, bool whole)
{
    const gpurt_model_value_t *v = sched_value(s->all, s->o, name, GPURT_FIELD_COUNTER);

    if (!v)
        return 0;
    return whole || v->before > v->now ? v->now : v->now - v->before;
}

static int time_draw(const sched_sheet_t *s, int row)
{
    static const char *const names[] = {"useful_cycles", "scheduling_cycles",
                                        "waiting_cycles"};
    static const char *const words[] = {"useful", "scheduling", "waiting"};
    static const style_t styles[] = {STYLE_GOOD, STYLE_WARN, STYLE_DIM};
    uint64_t part[3], all = 0;
    int at = sched_label(s, row, "time");

    for (int whole = 0; whole < 2 && !all; whole++)
        for (int i = 0; i < 3; i++) {
            part[i] = growth(s, names[i], whole);
            all += part[i];
        }
    for (int i = 0; i < 3; i++)
        at = canvas_printf(s->c, s->area, row, at, styles[i], "%s %d%%   ", words[i],
                           object_percent(part[i], all));
    return row + 1;
}

static int tasks_draw(const sched_sheet_t *s, int row)
{
    char live[16], ended[16], rate[16];
    int at = sched_label(s, row, "tasks");

    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, "%s live of %llu   ",
                       canvas_short(GAUGE(s, "live"), live),
                       (unsigned long long)LIMIT(s, "tasks"));
    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, "%s ended (%s/s)   ",
                       canvas_short(COUNTER(s, "ended"), ended),
                       canvas_short((uint64_t)sched_rate(s->all, s->o, "ended"), rate));
    at = canvas_printf(s->c, s->area, row, at, FAULT(s, "failed") ? STYLE_ERROR : STYLE_DIM,
                       "%llu failed   ", (unsigned long long)FAULT(s, "failed"));
    at = canvas_printf(s->c, s->area, row, at, FAULT(s, "refused") ? STYLE_WARN : STYLE_DIM,
                       "%llu refused   ", (unsigned long long)FAULT(s, "refused"));
    canvas_printf(s->c, s->area, row, at, STYLE_DIM, "%llu cancelled",
                  (unsigned long long)COUNTER(s, "cancelled"));
    return row + 1;
}

static int ready_draw(const sched_sheet_t *s, int row)
{
    const gpurt_classdef_field_t *f =
        sched_field(s->all, s->o, "ready_by_level", GPURT_FIELD_MATRIX);
    int at = sched_label(s, row, "ready");
    char count[16];

    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, "%s",
                       canvas_short(GAUGE(s, "ready"), count));
    for (uint32_t r = 0; f && gpurt_classdef_columns(f) == 2 && 2 * r + 2 <= f->count;
         r++) {
        const gpurt_model_value_t *v = object_row(s->all, s->o, f, r);

        if (v)
            at = canvas_printf(s->c, s->area, row, at, STYLE_DIM, "   level %llu: %s",
                               (unsigned long long)v[0].now, canvas_short(v[1].now, count));
    }
    return row + 1;
}

/* The bucket in which a part of all, in thousandths, is reached. */
static uint32_t quantile(const gpurt_model_value_t *v, uint32_t count, uint64_t all,
                         uint32_t thousandths)
{
    uint64_t sum = 0;
    uint32_t i = 0;

    for (; i + 1 < count; i++) {
        sum += v[i].now;
        if ((double)sum * 1000 >= (double)all * thousandths)
            break;
    }
    return i;
}

/* "p50 below 2.05 us": a bucket ends where the next begins. */
static int waits_draw(const sched_sheet_t *s, int row)
{
    const gpurt_classdef_field_t *f =
        sched_field(s->all, s->o, "ready_to_begun", GPURT_FIELD_HISTOGRAM);
    const gpurt_model_value_t *v = f ? gpurt_objects_values(s->all, s->o, f) : NULL;
    uint32_t count = f && f->count < 63 ? f->count : 0;
    uint64_t curve[64], all = 0;
    char half[24], most[24];
    int at = sched_label(s, row, "to begin");

    for (uint32_t i = 0; v && i < count; i++) {
        curve[i] = v[i].now;
        all += v[i].now;
    }
    if (!all) {
        canvas_put(s->c, s->area, row, at, STYLE_DIM, "no task was looked at");
        return row + 1;
    }
    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL,
                       "p50 below %s   p99 below %s   ",
                       object_amount(f, 2ull << quantile(v, count, all, 500), half),
                       object_amount(f, 2ull << quantile(v, count, all, 990), most));
    canvas_spark(s->c, s->area, row, at, (int)count, STYLE_INFO, curve, (int)count, 0);
    canvas_put(s->c, s->area, row, at + (int)count + 1, STYLE_DIM, "1 ns to 2 s");
    return row + 1;
}

/* "12 -> 45: 1.2k": tasks that a multiprocessor took from another. */
static int moves_draw(const sched_sheet_t *s, int row)
{
    const gpurt_classdef_field_t *f =
        sched_field(s->all, s->o, "moved_by_pair", GPURT_FIELD_MATRIX);
    int at = SCHED_BODY;
    char count[16];

    if (!f || gpurt_classdef_columns(f) != 3) /* a log of before */
        return row;
    sched_label(s, row, "moved");
    at = canvas_printf(s->c, s->area, row, at, STYLE_NORMAL, "%s between SMs",
                       canvas_short(COUNTER(s, "moved"), count));
    for (uint32_t r = 0; 3 * r + 3 <= f->count; r++) {
        const gpurt_model_value_t *v = object_row(s->all, s->o, f, r);

        if (v)
            at = canvas_printf(s->c, s->area, row, at, STYLE_DIM, "   %llu to %llu: %s",
                               (unsigned long long)v[1].now, (unsigned long long)v[2].now,
                               canvas_short(v[0].now, count));
    }
    return row + 1;
}

/* "1.2k bodies, of 50k, have records": what `gpurt-log export` draws. */
static int slices_draw(const sched_sheet_t *s, int row)
{
    const gpurt_model_object_t *list[SCHED_PARTS];
    char told[16], all[16];
    uint64_t runs = 0;
    int count;

    if (!sched_field(s->all, s->o, "sliced", GPURT_FIELD_COUNTER)) /* a log of before */
        return row;
    count = sched_parts(s->all, s->o, "task_kind", list);
    for (int i = 0; i < count; i++)
        runs += sched_now(s->all, list[i], "runs", GPURT_FIELD_COUNTER);
    sched_label(s, row, "slices");
    count =
        canvas_printf(s->c, s->area, row, SCHED_BODY, STYLE_NORMAL,
                      "%s bodies have records", canvas_short(COUNTER(s, "sliced"), told));
    if (runs)
        canvas_printf(s->c, s->area, row, count, STYLE_DIM, ", of %s",
                      canvas_short(runs, all));
    return row + 1;
}

static int map_draw(const sched_sheet_t *s, int row)
{
    const gpurt_classdef_field_t *f =
        sched_field(s->all, s->o, "useful_by_sm", GPURT_FIELD_CELLS);
    const gpurt_model_value_t *v = f ? gpurt_objects_values(s->all, s->o, f) : NULL;
    int room = s->area.columns - SCHED_BODY - 1, drawn = 0;

    sched_label(s, row, "SMs useful");
    for (uint32_t i = 0; v && room > 0 && i < f->count; i++) {
        uint32_t cell = (uint32_t)(v[i / 8].now >> (i % 8 * 8)) & 0xffu;

        if (cell == GPURT_CELL_NONE)
            continue;
        object_map_cell(s->c, s->area, row + drawn / room, SCHED_BODY + drawn % room, cell,
                        false);
        drawn++;
    }
    return row + 1 + (drawn > 0 && room > 0 ? (drawn - 1) / room : 0);
}

/* Nothing is left out without a word. row: behind the last one; before: what that was without kinds. */
static void rest_tell(const sched_sheet_t *s, int row, int before)
{
    int over = (row == before + 1 ? before : row) - s->area.rows;
    char text[80];

    if (over <= 0)
        return;
    snprintf(text, sizeof text, "%d more lines: a taller terminal shows them", over + 1);
    canvas_printf(s->c, s->area, s->area.rows - 1, 0, STYLE_DIM, "  %-*s", s->area.columns,
                  text);
}

/* ---- the view ------------------------------------------------------------------------ */

static void nothing_draw(canvas_t *c, rect_t area)
{
    canvas_rule(c, area, "Scheduler");
    canvas_put(c, area, 2, 1, STYLE_DIM, "No executor was recorded.");
    canvas_put(c, area, 3, 1, STYLE_DIM,
               "Executors that the host opens are recorded, unless GPURT_HEAP_VIEW=off.");
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    uint16_t list[GPURT_MODEL_OBJECTS];
    sched_sheet_t s = {.all = &p->view->objects, .c = c, .area = area};
    int count = executors_find(s.all, list), row = 2;
    char title[80];

    if (!count) {
        nothing_draw(c, area);
        return;
    }
    snprintf(title, sizeof title, "Scheduler  executor %d of %d%s",
             (int)(p->executor_row % (uint32_t)count) + 1, count,
             count > 1 ? "  (Up, Down: another)" : "");
    canvas_rule(c, area, title);
    s.o = &s.all->list[list[p->executor_row % (uint32_t)count]];
    row = sched_stuck(&s,
                      verdict_draw(&s, row) + 1); /* before figures: a screen may be low */
    row = warps_draw(&s, row);
    row = time_draw(&s, row);
    row = tasks_draw(&s, row);
    row = ready_draw(&s, row);
    row = waits_draw(&s, row);
    row = moves_draw(&s, row);
    row = slices_draw(&s, row);
    row = map_draw(&s, row);
    row = sched_groups(&s, row);
    rest_tell(&s, sched_kinds(&s, row + 1), row);
}

static bool act(picture_t *p, action_t action, int page)
{
    uint16_t list[GPURT_MODEL_OBJECTS];
    uint32_t count = (uint32_t)executors_find(&p->view->objects, list);

    (void)page;
    if (count < 2 || (action != ACTION_UP && action != ACTION_DOWN))
        return false;
    p->executor_row =
        (p->executor_row % count + (action == ACTION_DOWN ? 1 : count - 1)) % count;
    return true;
}

const view_class_t view_scheduler = {"Scheduler", draw, act};
