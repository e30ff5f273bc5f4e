/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "windows.h"

#include "counted.h"
#include "duty.h"
#include "environ.h"
#include "hooked.h"
#include "hosttime.h"
#include "hostwaits.h"
#include "outlet.h"
#include "trouble.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <stdlib.h>

enum {
    BUDGET = 20000, /* millionths */
    LOOK_MS = 1000, /* where there is no room for windows */
    STOP_MS = 1000,
    STUCK_MS = 3000,
    BEHIND_MS = 100 /* in which a launch that was under way has come in */
};

/* Those that cost least are turned on first, and off last: what a launch adds is told whole. Waits are not
 * among them: once they were recorded, each call of CUDA costs 0.1 to 0.25 us more for good. */
static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

#define NO_ROOM                                                                         \
    "no windows of records for now: to count launches costs the program more than the " \
    "budget; --budget gives it more"

#define NO_GRAPHS                                                                       \
    "graphs are counted and have no times: their records would slow each launch down, " \
    "also of a kernel; 'budget,graphs', or --cupti graphs beside --budget, has them"

#define UNWATCHED                                                                      \
    "what runs is not watched for now: to watch launches costs the program more than " \
    "the budget; --budget gives it more"

/* One process. All but xcall_ns: the thread's, once it runs. */
static struct {
    const cupti_api_t *api;
    windows_plan_t plan;
    uint32_t pause_ms;
    bool on, crowded, unwatched; /* crowded: NO_ROOM is told; unwatched: UNWATCHED is */
    bool untold;                 /* there was no box for the last record */
    bool wanted;                 /* fixed before the first launch */
    bool graphs, graphless;      /* they have records all the time; NO_GRAPHS is told */
    uint64_t told_ns;            /* until then it is told what had records */
    uint64_t
        xcall_ns; /* since when CUPTI is waited for, 0: it is not; written by: the thread */
    duty_t duty;
} windows;

/* ---- CUPTI ----------------------------------------------------------------------------- */

static void call_begins(bool begins)
{
    /* relaxed: a time, for who looks now and then */
    gpurt_store_relaxed_dev_u64(&windows.xcall_ns, begins ? gpurt_steady_ns() : 0);
}

bool windows_stuck(void)
{
    uint64_t since = gpurt_load_relaxed_dev_u64(&windows.xcall_ns); /* relaxed: a time */

    return since && gpurt_steady_ns() - since >= STUCK_MS * 1000000ull;
}

/* Returns: false: it is refused, and so will the next ones be. */
static bool window_open(void)
{
    CUptiResult result = CUPTI_SUCCESS;

    call_begins(true);
    for (uint32_t i = 0; i < KINDS && result == CUPTI_SUCCESS; i++)
        result = windows.api->cuptiActivityEnable(kinds[i]);
    call_begins(false);
    windows.on = windows.plan.opened = result == CUPTI_SUCCESS;
    hostwaits_turn(windows.on);
    if (!windows.on)
        trouble_say(TROUBLE_WHOLE, "no windows of records: CUPTI says %s",
                    cupti_api_text(windows.api, result));
    return windows.on;
}

/* Returns: false: records stay on. */
static bool window_close(void)
{
    CUptiResult result = CUPTI_SUCCESS;

    call_begins(true);
    for (uint32_t i = KINDS; i-- > 0 && result == CUPTI_SUCCESS;)
        result = windows.api->cuptiActivityDisable(kinds[i]);
    call_begins(false);
    windows.on = result != CUPTI_SUCCESS;
    hostwaits_turn(windows.on);
    if (windows.on)
        trouble_say(TROUBLE_PART,
                    "records stay on, whatever they cost: CUPTI does not turn them off: it "
                    "says %s",
                    cupti_api_text(windows.api, result));
    return !windows.on;
}

/* ---- the log --------------------------------------------------------------------------- */

/* Where there is no box, the next record tells of this time, too. was_on: until now. */
static void window_tell(bool was_on)
{
    const uint64_t now = gpurt_real_ns(), off = now - windows.told_ns;
    const windows_plan_t *p = &windows.plan;
    gpurt_activity_window_t out = {.off = gpurt_pair(was_on && !windows.untold ? 0 : off),
                                   .on = windows.on,
                                   .window_ms = windows.pause_ms ? WINDOWS_MS : 0,
                                   .pause_ms = windows.pause_ms,
                                   .budget = p->budget,
                                   .cost = windows_plan_cost(p, windows.pause_ms),
                                   .counting = p->counting,
                                   .slowdown = p->slowdown};

    windows.untold = !outlet_enter(false);
    if (windows.untold)
        return;
    outlet_put(GPURT_KIND_WINDOW, GPURT_ACTIVITY_NO_DEVICE, now, &out);
    outlet_exit();
    windows.told_ns = now;
}

static void crowd_tell(void)
{
    const bool is = windows.pause_ms == 0;

    if (is && !windows.crowded)
        trouble_say(TROUBLE_PART, NO_ROOM);
    else if (!is && windows.crowded)
        trouble_end(NO_ROOM);
    windows.crowded = is;
}

/* ---- the thread ------------------------------------------------------------------------ */

/* Until slice_end, `s` has what was so far. */
static void slice_begin(windows_slice_t *s)
{
    const hooked_spent_t spent = hooked_spent();

    *s = (windows_slice_t){.ns = gpurt_steady_ns(),
                           .launches = counted_all(),
                           .counting_ns = spent.counting_ns,
                           .counted = spent.counted,
                           .watching_ns = spent.watching_ns,
                           .watched = spent.watched,
                           .by_cupti = !hooked_is_on()};
}

static void slice_end(windows_slice_t *s)
{
    windows_slice_t now;

    slice_begin(&now);
    *s = (windows_slice_t){.ns = now.ns - s->ns,
                           .launches = now.launches - s->launches,
                           .counting_ns = now.counting_ns - s->counting_ns,
                           .counted = now.counted - s->counted,
                           .watching_ns = now.watching_ns - s->watching_ns,
                           .watched = now.watched - s->watched,
                           .by_cupti = now.by_cupti};
}

/* Returns: false: it is told to stop. */
static bool slice_take(windows_slice_t *s, uint32_t ms)
{
    bool goes_on;

    slice_begin(s);
    goes_on = duty_wait(&windows.duty, ms);
    slice_end(s);
    return goes_on;
}

/* Returns: false: it is told to stop. */
static bool launches_wait(void)
{
    while (counted_all() == 0)
        if (!duty_wait(&windows.duty, WINDOWS_MS / 4))
            return false;
    return true;
}

static void watch_look(void)
{
    const bool is = windows.plan.unwatched;

    if (is == windows.unwatched)
        return;
    windows.unwatched = is;
    hooked_watch(!is);
    if (!is) {
        trouble_end(UNWATCHED);
        return;
    }
    trouble_say(TROUBLE_PART, UNWATCHED);
    (void)duty_wait(&windows.duty, BEHIND_MS);
    hooked_watch(false);
}

static void graphs_look(void)
{
    if (windows.graphs || windows.graphless || counted_graphs() == 0)
        return;
    windows.graphless = true;
    trouble_say(TROUBLE_PART, NO_GRAPHS);
}

static void plan_look(const windows_slice_t *slice)
{
    windows_plan_see(&windows.plan, slice);
    windows.pause_ms = windows_plan_pause(&windows.plan);
    crowd_tell();
    watch_look();
    graphs_look();
}

/* While there is no room for a window, launches are looked at. last: stays as it is, or becomes the last
 * look. Returns: as slice_take. */
static bool room_wait(windows_slice_t *last)
{
    while (windows.pause_ms == 0) {
        if (!slice_take(last, LOOK_MS))
            return false;
        plan_look(last);
    }
    return true;
}

/* The time until the next window. Returns: as slice_take. */
static bool pause_take(windows_slice_t *behind, windows_slice_t *last)
{
    uint32_t left;

    if (!slice_take(behind, WINDOWS_BEHIND_MS))
        return false;
    plan_look(behind);
    *last = (windows_slice_t){0};
    if (!room_wait(last))
        return false;
    if (last->ns) /* it looked long enough */
        return true;
    left = windows.pause_ms - WINDOWS_BEHIND_MS - WINDOWS_MS;
    return (left == 0 || duty_wait(&windows.duty, left)) && slice_take(last, WINDOWS_MS);
}
GPURT_STATIC_ASSERT(WINDOWS_PAUSE_LEAST == WINDOWS_BEHIND_MS + WINDOWS_MS, "pause_take");

/* Launches and times of both. */
static windows_slice_t both(const windows_slice_t *a, const windows_slice_t *b)
{
    return (windows_slice_t){.ns = a->ns + b->ns,
                             .launches = a->launches + b->launches,
                             .counting_ns = a->counting_ns + b->counting_ns,
                             .counted = a->counted + b->counted,
                             .watching_ns = a->watching_ns + b->watching_ns,
                             .watched = a->watched + b->watched,
                             .by_cupti = b->by_cupti};
}

/* From a window that opens until the one behind it is due. before: the slice in front; becomes that of the
 * next window. Returns: false: it is told to stop, or CUPTI does not open or close any more. */
static bool turn(windows_slice_t *before)
{
    windows_slice_t window, behind, beside = *before;

    slice_begin(&window);
    if (!window_open())
        return false;
    window_tell(false);
    if (!duty_wait(&windows.duty, WINDOWS_MS) || !window_close())
        return false;
    slice_end(&window); /* with what turning them on and off took */
    plan_look(before);
    window_tell(true);
    if (!pause_take(&behind, before))
        return false;
    beside = both(&beside, before);
    windows_plan_learn(&windows.plan, &window, &behind, &beside);
    plan_look(before); /* how it is now: what lay behind the window may be long ago */
    return true;
}

static void windows_run(duty_t *duty)
{
    windows_slice_t before;

    (void)duty;
    if (!launches_wait() || !slice_take(&before, WINDOWS_MS))
        return;
    plan_look(&before);
    if (windows.pause_ms == 0)
        window_tell(false);
    if (!room_wait(&before))
        return;
    while (turn(&before))
        ;
}

/* ---- start and stop -------------------------------------------------------------------- */

/* In millionths; what is no share is told, and is the usual one. */
static uint32_t budget_read(void)
{
    const char *text = gpurt_env_get("GPURT_CUPTI_BUDGET");
    char *end = NULL;
    double percent = text && *text ? strtod(text, &end) : 0;

    if (!end)
        return BUDGET;
    if (*end == '\0' && percent >= 0.1 && percent <= 50)
        return (uint32_t)(percent * 10000 + 0.5);
    trouble_say(TROUBLE_NOTE,
                "GPURT_CUPTI_BUDGET=%s is not from 0.1 to 50 percent: it is %d", text,
                BUDGET / 10000);
    return BUDGET;
}

bool windows_turn(CUpti_ActivityKind kind)
{
    for (uint32_t i = 0; i < KINDS; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}

void windows_want(const cupti_api_t *api, windows_beside_t beside)
{
    const char *why =
        beside.lines
            ? "CUPTI does not take them beside lines; leave out 'lines' and 'try-lines'"
        : beside.whole ? "kernels, copies or fills are asked for all the time, too; leave "
                         "out those words, or 'windows'"
        : counted_is_on()
            ? NULL
            : "their cost is seen by launches that are counted; add 'counted'";

    if (why) {
        trouble_say(TROUBLE_PART, "no windows of records: %s", why);
        return;
    }
    windows.api = api;
    windows.graphs = beside.graphs;
    windows.plan.budget = budget_read();
    windows.told_ns = gpurt_real_ns();
    windows.wanted = duty_start(&windows.duty, "gpurt-windows", windows_run, NULL);
    if (!windows.wanted)
        trouble_say(TROUBLE_PART, "no windows of records: no thread");
}

/* 0: of none. */
static uint64_t node_of(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return ((const CUpti_ActivityKernel10 *)(const void *)record)->graphNodeId;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return ((const CUpti_ActivityMemcpy6 *)(const void *)record)->graphNodeId;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return ((const CUpti_ActivityMemcpyPtoP4 *)(const void *)record)->graphNodeId;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return ((const CUpti_ActivityMemset4 *)(const void *)record)->graphNodeId;
    default:
        return 0;
    }
}

bool windows_spoil(const CUpti_Activity *record)
{
    return windows.wanted && node_of(record) != 0;
}

void windows_stop(void)
{
    duty_stop(&windows.duty, STOP_MS);
    if (windows.wanted)
        graphs_look();
}
