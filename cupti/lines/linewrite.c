/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "linewrite.h"

#include "cubins.h"
#include "hosttime.h"
#include "linecalls.h"
#include "linecount.h"
#include "outlet.h"
#include "trouble.h"

#include <pthread.h>

enum {
    WRITE_MS = 1000
};
#define REST_TEXT    "(no room for more lines)"
#define NO_CALLS     "(not inlined)"
#define UNKNOWN_TEXT "(not known)"
#define NO_ROOM      "(no room for more calls)"

static struct {
    pthread_mutex_t lock;  /* guards the counts; never held while CUPTI is called */
    linecount_t *count;    /* there from the first context on */
    uint64_t began_ns;     /* what is counted; real time. The writer's, as all below */
    uint64_t began_steady; /* the same */
    bool written;          /* something was */
    linecount_row_t rows[LINECOUNT_WRITTEN];
    linecalls_t calls;
} writes = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool linewrite_open(void)
{
    if (writes.count)
        return true;
    writes.began_ns = gpurt_real_ns();
    writes.began_steady = gpurt_steady_ns();
    writes.count = linecount_create();
    return writes.count != NULL;
}

void linewrite_add(uint32_t device, const pcsample_t *sample)
{
    pthread_mutex_lock(&writes.lock);
    linecount_add(writes.count, device, sample);
    pthread_mutex_unlock(&writes.lock);
}

/* Without the lock: a large line table may be read. Only this thread writes what is found. */
static void place_look(linecount_place_t *p)
{
    cubins_place_t place;
    const char *file, *calls;

    if (p->file)
        return;
    if (cubins_look(p->cubin, p->function, p->offset, &place))
        p->line = place.line;
    pthread_mutex_lock(&writes.lock);
    file = linecount_text(writes.count, p->line ? place.file : "?");
    calls = linecount_text(writes.count, place.calls[0] ? place.calls
                                         : p->line      ? NO_CALLS
                                                        : UNKNOWN_TEXT);
    pthread_mutex_unlock(&writes.lock);
    p->file = file ? file : "?";
    p->calls = calls ? calls : NO_ROOM;
}

/* Between enter and exit. */
static uint32_t calls_name(const char *calls)
{
    if (linecalls_fits(&writes.calls, outlet_box(), calls))
        return outlet_name(calls, false);
    if (!writes.calls.told)
        trouble_say(TROUBLE_NOTE,
                    "callers of inlined lines are not told any more: there is "
                    "no room for so many; lines are");
    writes.calls.told = true;
    return outlet_name(NO_ROOM, false);
}

static void row_put(const linecount_row_t *row, uint64_t ns)
{
    const linecount_place_t *p = linecount_place(writes.count, row);
    gpurt_activity_line_t out = {.line = p->line,
                                 .ns = gpurt_pair(ns),
                                 .offset = (uint32_t)p->offset,
                                 .samples = row->samples,
                                 .idle = row->idle};

    out.function = outlet_name(p->function, true);
    out.file = outlet_name(p->file, false);
    out.reason = outlet_name(linecount_reason(writes.count, row), false);
    out.calls = calls_name(p->calls);
    outlet_put(GPURT_KIND_LINE, row->device, writes.began_ns, &out);
}

static void rest_put(uint32_t device, const linecount_rest_t *rest, uint64_t ns)
{
    gpurt_activity_line_t out = {
        .ns = gpurt_pair(ns), .samples = rest->samples, .idle = rest->idle};

    if (rest->samples == 0 && rest->idle == 0)
        return;
    out.function = outlet_name(REST_TEXT, false);
    out.file = outlet_name("?", false);
    out.reason = outlet_name("?", false);
    out.calls = outlet_name(UNKNOWN_TEXT, false);
    outlet_put(GPURT_KIND_LINE, device, writes.began_ns, &out);
}

/* Between enter and exit. */
static void all_put(uint32_t count, const linecount_rest_t rest[LINECOUNT_DEVICES],
                    uint64_t ns)
{
    for (uint32_t i = 0; i < count; i++)
        row_put(&writes.rows[i], ns);
    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
        rest_put(i, &rest[i], ns);
}

/* What is counted goes, also where there is no box for it: it is of its second. */
static void write_all(bool last)
{
    linecount_rest_t rest[LINECOUNT_DEVICES];
    uint64_t now = gpurt_steady_ns();
    uint32_t count;

    pthread_mutex_lock(&writes.lock);
    count = linecount_take(writes.count, writes.rows, rest);
    pthread_mutex_unlock(&writes.lock);
    for (uint32_t i = 0; i < count; i++)
        place_look(linecount_place(writes.count, &writes.rows[i]));
    if (outlet_enter(last)) {
        all_put(count, rest, now - writes.began_steady);
        outlet_exit();
    }
    pthread_mutex_lock(&writes.lock);
    linecount_trim(writes.count);
    pthread_mutex_unlock(&writes.lock);
    writes.written = true;
}

/* The first samples are written as they come: somebody waits for them. */
uint64_t linewrite_look(bool last)
{
    const uint64_t now = gpurt_steady_ns(), ns = now - writes.began_steady;
    const bool due = last || ns >= WRITE_MS * 1000000ull;
    bool any;

    pthread_mutex_lock(&writes.lock);
    any = linecount_any(writes.count);
    pthread_mutex_unlock(&writes.lock);
    if (any && (due || !writes.written))
        write_all(last);
    else if (!due)
        return 0;
    writes.began_ns = gpurt_real_ns();
    writes.began_steady = now;
    return due ? ns : 0;
}

bool linewrite_begun(void)
{
    return writes.written;
}
