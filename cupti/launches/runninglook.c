/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "runninglook.h"

#include "callers.h"
#include "duty.h"
#include "hosttime.h"
#include "inflight_inside.h"
#include "outlet.h"
#include "trouble.h"

#include <gpurt/impl/activity.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_MS = 250,
    OLD_MS = 500, /* what is younger may have ended: its record is on its way */
    STREAMS = 16, /* that are told of */
    SHOWN = 12,   /* launches of each, */
    OLDEST = 2,   /* of them the oldest ones */
    STOP_MS = 1000
};
#define UNKNOWN_TEXT "(not known)"
#define SEEK_NS      2000000000ull

/* One process; all but the first two are the thread's. */
static struct {
    duty_t looker;
    bool on;
    inflight_row_t old[INFLIGHT_OLD];
    bool told, missed_told;
    uint64_t sought_ns; /* callers */
} runninglook;

/* ---- records ------------------------------------------------------------------------- */

/* Its stack; where that is not known, and its thread is still there, where Python stands now. A
 * thread that has ended may have left its pthread_self to another. */
static void callers_put(const inflight_row_t *l, gpurt_activity_running_t *out)
{
    callers_text_t who;
    callers_text_t now;

    callers_tell(l->callers, &who);
    if (!who.python && tgkill(getpid(), (pid_t)l->thread, 0) == 0) {
        callers_tell(callers_of(l->self), &now);
        who.python = now.python;
        who.whose = now.whose;
    }
    out->calls = outlet_name(who.calls ? who.calls : UNKNOWN_TEXT, false);
    out->python = outlet_name(who.python ? who.python : UNKNOWN_TEXT, false);
    out->whose = who.whose;
}

static void launch_put(const inflight_row_t *l, uint32_t place, uint32_t queued,
                       uint64_t now_ns)
{
    gpurt_activity_running_t out = {.stream = gpurt_pair(l->key.stream),
                                    .age = gpurt_pair(now_ns - l->ns),
                                    .queued = queued,
                                    .place = place,
                                    .correlation = l->number,
                                    .thread = l->thread};
    char graph[32] = "a graph";

    memcpy(out.grid, l->grid, sizeof out.grid);
    memcpy(out.block, l->block, sizeof out.block);
    if (l->graph)
        snprintf(graph, sizeof graph, "graph %u", l->graph);
    out.name = outlet_name(l->name ? l->name->text : graph, l->name && !l->name->plain);
    callers_put(l, &out);
    outlet_put(GPURT_KIND_RUNNING, l->device, now_ns, &out);
}

/* Which of those picked has that name; `count`: none. */
static uint32_t place_in(const inflight_row_t *first, const uint32_t *picked,
                         uint32_t count, const launchname_t *name)
{
    uint32_t i = 0;

    while (i < count && first[picked[i]].name != name)
        i++;
    return i;
}

/* Of each name the newest launch; but the newest whose stack is known, where there is one. Returns: how
 * many. */
static uint32_t names_pick(const inflight_row_t *first, uint32_t count,
                           uint32_t picked[SHOWN - OLDEST])
{
    uint32_t names = 0;

    for (uint32_t i = count; i-- > OLDEST;) {
        const uint32_t place = place_in(first, picked, names, first[i].name);

        if (place == names && names == SHOWN - OLDEST)
            continue;
        if (place == names || (!first[picked[place]].callers && first[i].callers))
            picked[place] = i;
        names += place == names;
    }
    return names;
}

static int compare_places(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The oldest ones, and one of each name: which of them runs others know. Returns: how many, in the
 * order of launches. */
static uint32_t shown_pick(const inflight_row_t *first, uint32_t count,
                           uint32_t shown[SHOWN])
{
    const uint32_t oldest = count < OLDEST ? count : OLDEST,
                   names = names_pick(first, count, shown + oldest);

    for (uint32_t i = 0; i < oldest; i++)
        shown[i] = i;
    qsort(shown, oldest + names, sizeof shown[0], compare_places);
    return oldest + names;
}

static void stream_put(const inflight_row_t *first, uint32_t count, uint64_t now_ns)
{
    const uint32_t queued = inflight_count(&first->key);
    uint32_t shown[SHOWN];
    const uint32_t all = shown_pick(first, count, shown);

    for (uint32_t i = 0; i < all; i++)
        launch_put(&first[shown[i]], shown[i], queued > count ? queued : count, now_ns);
}

static void streams_put(uint32_t count, uint64_t now_ns)
{
    uint32_t streams = 0;

    for (uint32_t i = 0, end; i < count && streams < STREAMS; i = end, streams++) {
        for (end = i; end < count &&
                      inflight_same(&runninglook.old[end].key, &runninglook.old[i].key);
             end++)
            ;
        stream_put(&runninglook.old[i], end - i, now_ns);
    }
}

/* Nothing runs any more of what was told. */
static void none_put(uint64_t now_ns)
{
    const uint32_t unknown = outlet_name(UNKNOWN_TEXT, false);
    gpurt_activity_running_t out = {
        .name = outlet_name("(none)", false), .calls = unknown, .python = unknown};

    outlet_put(GPURT_KIND_RUNNING, 0, now_ns, &out);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void missed_tell(void)
{
    if (runninglook.missed_told || !inflight_missed())
        return;
    runninglook.missed_told = true;
    trouble_say(TROUBLE_NOTE,
                "what runs is not known of each launch: more than %d were under way",
                INFLIGHT_SLOTS / 2);
}

static void look(bool last)
{
    const uint64_t now = gpurt_real_ns();
    const uint32_t count = inflight_old(runninglook.old, now, OLD_MS);

    missed_tell();
    if (count == 0 && now - runninglook.sought_ns >= SEEK_NS) { /* the loader may wait */
        runninglook.sought_ns = now;
        callers_look();
    }
    if ((count == 0 && !runninglook.told) || !outlet_enter(last))
        return;
    if (count)
        streams_put(count, now);
    else
        none_put(now);
    outlet_exit();
    runninglook.told = count != 0;
}

static void look_run(duty_t *duty)
{
    while (duty_wait(duty, LOOK_MS))
        look(false);
    look(true);
}

/* ---- start and stop ------------------------------------------------------------------ */

bool runninglook_start(void)
{
    inflight_start();
    runninglook.on = duty_start(&runninglook.looker, "gpurt-running", look_run, NULL);
    return runninglook.on;
}

bool runninglook_is_on(void)
{
    return runninglook.on;
}

void runninglook_stop(void)
{
    duty_stop(&runninglook.looker, STOP_MS);
}
