/* SPDX-License-Identifier: Apache-2.0 */
#include "hang_text.h"

#include "panic_line.h"
#include "plural.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES = 24, /* of those that are in no circle */
    STEPS = 8   /* of a sentence */
};

static const char *const kinds[GPURT_WAITABLE_KINDS] = {"object",  "lock",  "barrier",
                                                        "channel", "futex", "semaphore"};

/* ---- names --------------------------------------------------------------------------- */
static void add_text(gpurt_text_t *out, const char *text)
{
    gpurt_render_plain(out, text, strlen(text));
}

/* lock "fork[1]" */
static void add_object(gpurt_text_t *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_object_t *o;

    if (wait->reason == GPURT_WAIT_DATA)
        gpurt_text_printf(out, "data in ");
    else if (wait->reason == GPURT_WAIT_ROOM)
        gpurt_text_printf(out, "room in ");
    else if (wait->reason == GPURT_WAIT_CREDIT)
        gpurt_text_printf(out, "a credit of ");
    if (wait->number == GPURT_WAITABLE_GRID) {
        gpurt_text_printf(out, "the grid barrier");
    } else if (wait->number == GPURT_WAITABLE_BLOCK) {
        gpurt_text_printf(out, "the barrier of its block");
    } else if (wait->number == GPURT_WAITABLE_CLUSTER) {
        gpurt_text_printf(out, "the barrier of its cluster");
    } else if (wait->number >= GPURT_WAITABLE_NAMED) {
        gpurt_text_printf(out, "named barrier %u", wait->number - GPURT_WAITABLE_NAMED);
    } else if (wait->object == GPURT_WAIT_NOBODY) {
        gpurt_text_printf(out, "something without a name");
    } else {
        o = &w->objects[wait->object];
        gpurt_text_printf(out, "%s \"", kinds[o->kind]);
        add_text(out, o->name[0] ? o->name : "?");
        if (o->index != GPURT_WAITABLE_SINGLE)
            gpurt_text_printf(out, "[%u]", o->index);
        gpurt_text_add(out, "\"", 1);
    }
}

/* Of a task. Returns: false, it waits as lanes do. */
static bool add_task_wait(gpurt_text_t *out, const gpurt_wait_task_t *task)
{
    static const char *const words[GPURT_TASKWAIT_WHYS] = {
        [GPURT_TASKWAIT_RUNS] = "runs",
        [GPURT_TASKWAIT_HELD] = "has not been started",
        [GPURT_TASKWAIT_CHILDREN] = "awaits its children",
        [GPURT_TASKWAIT_AFTER] = "waits for tasks before it"};

    if (!words[task->why])
        return false;
    gpurt_text_printf(out, "%s", words[task->why]);
    if (task->why == GPURT_TASKWAIT_RUNS)
        gpurt_text_printf(out, " in block %u warp %u", task->block, task->warp);
    return true;
}

/* "waits to receive from channel "answers"" of a thread, "waits for data in ..." of a lane. */
static void add_wait(gpurt_text_t *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);
    gpurt_wait_t plain = *wait;

    if (task && add_task_wait(out, task))
        return;
    if (!gpurt_wait_thread(w, wait)) {
        gpurt_text_printf(out, "waits for ");
        add_object(out, w, wait);
        return;
    }
    gpurt_text_printf(out, wait->reason == GPURT_WAIT_DATA   ? "waits to receive from "
                           : wait->reason == GPURT_WAIT_ROOM ? "waits to send to "
                           : wait->reason == GPURT_WAIT_DONE
                               ? "waits for an acknowledgement by "
                               : "waits for ");
    plain.reason = GPURT_WAIT_WORD;
    add_object(out, w, &plain);
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

/* "at forks.c:31" */
static void add_site(gpurt_text_t *out, const char *word, const gpurt_waits_t *w,
                     uint32_t site)
{
    if (site == GPURT_WAIT_NOBODY)
        return;
    gpurt_text_printf(out, "%s ", word);
    add_text(out, base_of(w->sites[site].file));
    gpurt_text_printf(out, ":%u", w->sites[site].line);
}

/* task "fib" */
static void add_task(gpurt_text_t *out, const gpurt_wait_task_t *task)
{
    gpurt_text_printf(out, "task \"");
    add_text(out, task->name);
    gpurt_text_add(out, "\"", 1);
}

/* "block 2 warp 0 lane 5", "block 2 warp 0" for more lanes than one, "host thread 71 (app)", "task "fib"
 * (row 12 of executor 1)" */
static void add_who(gpurt_text_t *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_thread_t *thread = gpurt_wait_thread(w, wait);
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task) {
        add_task(out, task);
        gpurt_text_printf(out, " (row %u of executor %u)", task->row, task->executor);
        return;
    }
    if (thread) {
        gpurt_text_printf(out, "host thread %u (", thread->number);
        add_text(out, thread->name);
        gpurt_text_add(out, ")", 1);
        return;
    }
    gpurt_text_printf(out, "block %u warp %u", wait->block, wait->warp);
    if (wait->mask && (wait->mask & (wait->mask - 1)) == 0)
        gpurt_text_printf(out, " lane %d", __builtin_ctz(wait->mask));
    else
        gpurt_text_printf(out, " (%d lanes)", __builtin_popcount(wait->mask));
}

static double seconds(uint64_t later_ns, uint64_t ns)
{
    return later_ns > ns ? (double)(later_ns - ns) / 1e9 : 0;
}

/* ---- a sentence ---------------------------------------------------------------------- */
/* Of lanes before one of a thread, the older one before the younger. */
static bool comes_first(const gpurt_waits_t *w, const gpurt_wait_t *a,
                        const gpurt_wait_t *b)
{
    const bool of_thread = gpurt_wait_thread(w, a);

    return of_thread == (gpurt_wait_thread(w, b) != NULL) ? a->since_ns < b->since_ns
                                                          : !of_thread;
}

uint32_t hang_first(const gpurt_waitgraph_t *g)
{
    const gpurt_waits_t *w = g->waits;
    uint32_t first = GPURT_WAIT_NOBODY;

    for (uint32_t i = 0; i < w->count; i++) {
        if (g->circle[i] == 1 && !gpurt_wait_thread(w, &w->waits[i]))
            return i; /* waits lie so that lanes come before tasks */
        if (first == GPURT_WAIT_NOBODY || comes_first(w, &w->waits[i], &w->waits[first]))
            first = i;
    }
    return first;
}

static void add_short(gpurt_text_t *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task)
        add_task(out, task);
    else
        gpurt_text_printf(out, gpurt_wait_thread(w, wait) ? "host thread %u" : "block %u",
                          wait->block);
}

/* From a wait to the next one of its circle: "waits for lock "a" of ", "awaits ". */
static void add_step(gpurt_text_t *out, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    static const char *const words[GPURT_TASKWAIT_WHYS] = {
        [GPURT_TASKWAIT_RUNS] = "is run by ",
        [GPURT_TASKWAIT_CHILDREN] = "awaits ",
        [GPURT_TASKWAIT_AFTER] = "comes after "};
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task && words[task->why]) {
        gpurt_text_printf(out, "%s", words[task->why]);
        return;
    }
    add_wait(out, w, wait);
    gpurt_text_printf(out, " of ");
}

void hang_sentence(const gpurt_waitgraph_t *g, gpurt_text_t *out)
{
    const gpurt_waits_t *w = g->waits;
    uint32_t first = hang_first(g), at = first, steps = 0;

    if (first == GPURT_WAIT_NOBODY)
        return;
    add_short(out, w, &w->waits[first]);
    do {
        gpurt_text_printf(out, "%s ", steps ? ", which" : "");
        if (!g->circle[first]) {
            add_wait(out, w, &w->waits[at]);
            return;
        }
        add_step(out, w, &w->waits[at]);
        at = g->next[at];
        add_short(out, w, &w->waits[at]);
    } while (at != first && ++steps < STEPS);
    if (at != first)
        gpurt_text_printf(out, ", ...");
}

/* ---- a report ------------------------------------------------------------------------ */
typedef struct blockers {
    const gpurt_waitgraph_t *g;
    const panic_style_t *style;
    uint32_t of; /* the wait */
} blockers_t;

/* What comes before the name of who keeps a wait waiting. */
static const char *blocker_word(const gpurt_waits_t *w, const gpurt_wait_t *wait,
                                const gpurt_wait_owner_t *o)
{
    static const char *const tasks[GPURT_TASKWAIT_WHYS] = {
        [GPURT_TASKWAIT_RUNS] = "run by",
        [GPURT_TASKWAIT_HELD] = "held by",
        [GPURT_TASKWAIT_CHILDREN] = "its child",
        [GPURT_TASKWAIT_AFTER] = "after"};
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task && tasks[task->why])
        return tasks[task->why];
    return !o                                  ? "which misses"
           : wait->reason == GPURT_WAIT_ALL    ? "which misses"
           : wait->reason == GPURT_WAIT_DATA   ? "filled by"
           : wait->reason == GPURT_WAIT_ROOM   ? "emptied by"
           : wait->reason == GPURT_WAIT_DONE   ? "acknowledged by"
           : wait->reason == GPURT_WAIT_CREDIT ? "granted by"
                                               : "held by";
}

/* j: its wait, or nobody's. */
static void add_owner(gpurt_text_t *out, const gpurt_waits_t *w, uint32_t j,
                      const gpurt_wait_owner_t *o)
{
    if (gpurt_wait_owner_is_thread(o))
        gpurt_text_printf(out, "host thread %u", o->block);
    else if (gpurt_wait_owner_is_task(o) && j != GPURT_WAIT_NOBODY)
        add_who(out, w, &w->waits[j]);
    else if (gpurt_wait_owner_is_task(o))
        gpurt_text_printf(out, "a task (row %u of executor %u)", o->block,
                          o->place - GPURT_STATE_TASKS);
    else
        gpurt_text_printf(out, "block %u warp %u lane %u", o->block, o->warp,
                          (o->place - 1) % GPURT_WARP_SIZE);
}

static void print_blocker(void *context, uint32_t j, const gpurt_wait_owner_t *o)
{
    const blockers_t *b = context;
    const gpurt_waits_t *w = b->g->waits;
    const gpurt_wait_t *wait = &w->waits[b->of];
    panic_line_t line;

    if (!o && (b->g->next[b->of] != j || !b->g->stuck[b->of]))
        return; /* a barrier names one that it misses */
    panic_line_begin(&line, b->style);
    gpurt_text_printf(&line.text, "      %s ", blocker_word(w, wait, o));
    if (o)
        add_owner(&line.text, w, j, o);
    else
        add_who(&line.text, w, &w->waits[j]);
    if (o)
        add_site(&line.text, " since", w, o->site);
    if (o && o->gone)
        gpurt_text_printf(&line.text, ", which is gone and never let go");
    else if (j == GPURT_WAIT_NOBODY && o && o->at_site != GPURT_WAIT_NOBODY) {
        add_site(&line.text, "; it does not wait, and was last seen at", w, o->at_site);
        gpurt_text_printf(&line.text, " %.2f s before", seconds(w->time_ns, o->at_ns));
    } else if (j == GPURT_WAIT_NOBODY) {
        gpurt_text_printf(&line.text, o && gpurt_wait_owner_is_task(o)
                                          ? "; it is not known to wait"
                                          : "; it does not wait");
    }
    panic_line_end(&line, NULL);
}

/* Tasks that it waits for, and that are not told of one by one. */
static void print_others(const gpurt_waits_t *w, const gpurt_wait_t *wait,
                         const panic_style_t *style)
{
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task && task->others)
        fprintf(style->out, "      and for %u other task%s\n", task->others,
                gpurt_plural(task->others, "s"));
}

static void print_wait(const gpurt_waitgraph_t *g, uint32_t i, const char *arrow,
                       const panic_style_t *style)
{
    const gpurt_waits_t *w = g->waits;
    const gpurt_wait_t *wait = &w->waits[i];
    blockers_t b = {g, style, i};
    panic_line_t line;

    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "  %s ", arrow);
    add_who(&line.text, w, wait);
    gpurt_text_printf(&line.text, " ");
    add_wait(&line.text, w, wait);
    add_site(&line.text, " at", w, wait->site);
    if (wait->site != GPURT_WAIT_NOBODY && w->sites[wait->site].text[0]) {
        gpurt_text_printf(&line.text, " (");
        add_text(&line.text, w->sites[wait->site].text);
        gpurt_text_printf(&line.text, ")");
    }
    gpurt_text_printf(&line.text, ", %.2f s", seconds(w->time_ns, wait->since_ns));
    panic_line_end(&line, g->circle[i] ? PANIC_YELLOW : NULL);
    gpurt_waits_blockers(w, i, print_blocker, &b);
    print_others(w, wait, style);
}

static void print_circle(const gpurt_waitgraph_t *g, uint32_t number,
                         const panic_style_t *style)
{
    uint32_t first = 0, at, size = 0;
    panic_line_t line;

    while (g->circle[first] != number)
        first++;
    at = first;
    do
        size++;
    while ((at = g->next[at]) != first);
    panic_line_begin(&line, style);
    if (size == 1)
        gpurt_text_printf(&line.text, "deadlock: it waits for what it holds itself");
    else
        gpurt_text_printf(&line.text, "deadlock: %u wait for one another in a circle",
                          size);
    panic_line_end(&line, PANIC_RED);
    do
        print_wait(g, at, size == 1 ? "*" : "->", style);
    while ((at = g->next[at]) != first);
}

void hang_print(const gpurt_waitgraph_t *g, const panic_style_t *style)
{
    uint32_t behind = g->stuck_count, others, shown = 0;

    for (uint32_t c = 1; c <= g->circles; c++)
        print_circle(g, c, style);
    for (uint32_t i = 0; i < g->waits->count; i++)
        behind -= g->circle[i] != 0;
    others = g->waits->count - g->stuck_count;
    if (behind)
        fprintf(style->out, "and %u behind %s:\n", behind, g->circles == 1 ? "it" : "them");
    for (uint32_t i = 0; i < g->waits->count && shown < LINES; i++)
        if (g->stuck[i] && !g->circle[i] && ++shown)
            print_wait(g, i, " ", style);
    if (others)
        fprintf(style->out, "%u wait%s, in no circle:\n", others, others == 1 ? "s" : "");
    for (uint32_t i = 0; i < g->waits->count && shown < LINES; i++)
        if (!g->stuck[i] && ++shown)
            print_wait(g, i, " ", style);
    if (behind + others > shown)
        fprintf(style->out, "  and %u more\n", behind + others - shown);
    if (g->waits->left_out)
        fprintf(style->out, "%u wait%s found no room in this report\n", g->waits->left_out,
                gpurt_plural(g->waits->left_out, "s"));
}
