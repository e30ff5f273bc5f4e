/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "counted.h"

#include "duty.h"
#include "hosttime.h"
#include "launchhook.h"
#include "outlet.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <stdio.h>

enum {
    LOOK_MS = 1000,
    SYNC_MS = 200,
    STOP_MS = 1000
};

static struct {
    bool on; /* fixed before the first launch */
    duty_t writer;
} counted;

static uint64_t count_of(launchname_t *name)
{
    return gpurt_load_relaxed_dev_u64(&name->xcount); /* relaxed: a count */
}

LAUNCHHOOK_PATH void counted_add(launchname_t *name, int64_t launches)
{
    gpurt_add_relaxed_dev_u64(&name->xcount, (uint64_t)launches); /* relaxed: a count */
}

void counted_recorded(launchname_t *name)
{
    gpurt_add_relaxed_dev_u64(&name->xrecorded, 1); /* relaxed: a count */
}

uint64_t counted_all(void)
{
    uint64_t sum = 0;
    launchname_t *name;

    for (uint32_t i = 0; (name = launchnames_at(i)) != NULL; i++)
        sum += count_of(name);
    return sum;
}

uint64_t counted_graphs(void)
{
    return count_of(launchnames_graphs());
}

static uint64_t recorded_of(launchname_t *name)
{
    return gpurt_load_relaxed_dev_u64(&name->xrecorded); /* relaxed: a count */
}

static bool is_new(launchname_t *name)
{
    return count_of(name) > name->told || recorded_of(name) != name->told_too;
}

static void name_put(launchname_t *name, uint64_t now_ns)
{
    const uint64_t recorded = recorded_of(name), count = count_of(name);
    gpurt_activity_counted_t out = {.recorded = gpurt_pair(recorded - name->told_too)};

    if (!is_new(name))
        return;
    if (count > name->told) { /* one that failed may be taken back behind its record */
        out.launches = gpurt_pair(count - name->told);
        name->told = count;
    }
    out.name = outlet_name(name->text, !name->plain);
    outlet_put(GPURT_KIND_COUNTED, 0, now_ns, &out);
    name->told_too = recorded;
}

static bool is_news(void)
{
    launchname_t *name;

    for (uint32_t i = 0; (name = launchnames_at(i)) != NULL; i++)
        if (is_new(name))
            return true;
    return false;
}

static void write_all(bool last)
{
    const uint64_t now = gpurt_real_ns();
    launchname_t *name;

    if (!is_news() || !outlet_enter(last))
        return;
    for (uint32_t i = 0; (name = launchnames_at(i)) != NULL; i++)
        name_put(name, now);
    outlet_exit();
}

static void writer_run(duty_t *duty)
{
    while (duty_wait(duty, LOOK_MS))
        write_all(false);
    write_all(true);
}

bool counted_start(void)
{
    counted.on = duty_start(&counted.writer, "gpurt-counts", writer_run, NULL);
    return counted.on;
}

bool counted_is_on(void)
{
    return counted.on;
}

void counted_sync(void)
{
    if (!duty_ask(&counted.writer, SYNC_MS)) /* there is no log to say it in any more */
        fprintf(stderr,
                "gpurt: counts of the last launches are not in the log: they were "
                "not written within %d ms; a larger GPURT_HOST_RING_BYTES gives "
                "them room\n",
                SYNC_MS);
}

void counted_stop(void)
{
    duty_stop(&counted.writer, STOP_MS);
}
