/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "intake.h"

#include "capacity.h"
#include "counted.h"
#include "hosttime.h"
#include "inflight.h"
#include "launches.h"
#include "launchnames.h"
#include "launchwords.h"
#include "outlet.h"
#include "sampling.h"
#include "translate.h"
#include "trouble.h"
#include "windows.h"

enum {
    BEAT_NS = 1000000000
};

/* Owner: the thread that reads. */
static struct {
    pool_t *pool;
    uint64_t xdropped; /* by CUPTI, not told yet; written by: any thread */
    uint64_t began_ns;
    translate_t translate;
    uint64_t dropped, told_ns; /* told: the last collector record */
    uint64_t told_sum, told_place;
    bool ends; /* this is the last look */
} intake;

void intake_open(const cupti_api_t *api, pool_t *pool)
{
    intake.pool = pool;
    intake.began_ns = gpurt_real_ns();
    intake.translate.api = api;
    intake.translate.begin_ns = intake.began_ns - BEAT_NS;
}

void intake_lost(uint64_t records)
{
    gpurt_add_relaxed_dev_u64(&intake.xdropped, records); /* relaxed: a count */
}

/* A kernel that the host launched by itself. Nodes of a graph have its launch's number, and more may
 * follow. Returns: NULL: it is none. */
static const CUpti_ActivityKernel10 *kernel_of(const CUpti_Activity *record)
{
    const CUpti_ActivityKernel10 *k = (const void *)record;

    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
        record->kind != CUPTI_ACTIVITY_KIND_KERNEL)
        return NULL;
    return k->graphNodeId || k->isDeviceLaunched ? NULL : k;
}

static const CUpti_ActivityGraphTrace2 *graph_of(const CUpti_Activity *record)
{
    return record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE ? (const void *)record : NULL;
}

/* What still runs as the program ends has a record, too, without an end. */
static void end_tell(const CUpti_ActivityKernel10 *k, const CUpti_ActivityGraphTrace2 *g)
{
    if (g && g->end)
        inflight_ended(g->correlationId);
    else if (k && k->end)
        inflight_ended(k->correlationId);
}

/* It was counted as it was launched. */
static void record_count(const CUpti_ActivityKernel10 *k,
                         const CUpti_ActivityGraphTrace2 *g)
{
    if (g)
        counted_recorded(launchnames_graphs());
    else if (k && k->name)
        counted_recorded(launchnames_find(k->name));
}

static void buffer_read(int index)
{
    const cupti_api_t *api = intake.translate.api;
    uint8_t *memory = pool_memory(intake.pool, index);
    size_t valid = intake.pool->entries[index].valid;
    const bool ends = launchwords_end_with_records(), counts = counted_is_on();
    uint64_t now = gpurt_real_ns();
    CUpti_Activity *record = NULL;

    translate_buffer(&intake.translate);
    while (valid > 0 &&
           api->cuptiActivityGetNextRecord(memory, valid, &record) == CUPTI_SUCCESS) {
        if (windows_spoil(record))
            continue;
        translate_record(&intake.translate, record, now);
        if (ends)
            end_tell(kernel_of(record), graph_of(record));
        if (counts)
            record_count(kernel_of(record), graph_of(record));
    }
}

/* Changes with all that the sums tell. */
static uint64_t sums_now(void)
{
    return intake.translate.records + intake.translate.unknown + intake.dropped +
           sampling_left_out();
}

/* Sums, once a second while they change. Between enter and exit of the outlet. */
static void sums_tell(uint64_t now)
{
    const translate_t *t = &intake.translate;
    char state[TROUBLE_STATE];
    gpurt_activity_collector_t out = {.records = gpurt_pair(t->records),
                                      .bad = gpurt_pair(t->bad),
                                      .dropped = gpurt_pair(intake.dropped),
                                      .starved = pool_starved(intake.pool)};

    out.unknown = t->unknown;
    out.samples = sampling_left_out();
    trouble_state(state);
    out.state = outlet_name(state, false);
    outlet_put(GPURT_KIND_COLLECTOR, 0, now, &out);
    intake.told_ns = gpurt_steady_ns();
    intake.told_sum = sums_now();
    intake.told_place = outlet_place();
}

static void losses_tell(uint64_t now)
{
    uint64_t dropped =
        gpurt_xchg_relaxed_dev_u64(&intake.xdropped, 0); /* relaxed: a count */

    outlet_lose(dropped, GPURT_LOSS_BUFFERS, now);
    outlet_lose(launches_missed(), GPURT_LOSS_FULL, now);
    intake.dropped += dropped;
}

static bool has_losses(void)
{
    return gpurt_load_relaxed_dev_u64(&intake.xdropped) != 0; /* relaxed: a hint */
}

/* Between enter and exit: each box has room of its own. */
static void names_look(void)
{
    if (outlet_names_are_full())
        trouble_say(TROUBLE_PART, OUTLET_NAMES_FULL);
    else
        trouble_end(OUTLET_NAMES_FULL);
}

/* A log never says nothing: a box that has just come is told how we fare, and so is who begins to
 * read one, and a recorder when all ends and nothing was said. The program's next box is found
 * when it closes one. */
static bool is_untold(void)
{
    const bool live = outlet_box() & 1;

    return live ? outlet_place() != intake.told_place || !outlet_is_open()
                : intake.ends && !intake.told_ns && outlet_is_recorded();
}

/* One look at everything that is full. */
void intake_round(bool last)
{
    uint64_t now = gpurt_real_ns();
    uint64_t sum = sums_now();
    int index = pool_next(intake.pool);
    bool due = sum != intake.told_sum && gpurt_steady_ns() - intake.told_ns >= BEAT_NS;

    due |= is_untold();
    if (index < 0 && !has_losses() && !due && !(last && sum) && !trouble_waits() &&
        !capacity_waits())
        return;
    if (!outlet_enter(last))
        return; /* no box: the buffers stay, and CUPTI counts what it cannot place */
    due |= trouble_tell(now);
    due |= intake.told_place != outlet_place();
    capacity_tell(intake.began_ns);
    for (; index >= 0; index = pool_next(intake.pool)) {
        buffer_read(index);
        pool_give(intake.pool, index);
    }
    names_look();
    due |= trouble_tell(now);
    losses_tell(now);
    if (due || last)
        sums_tell(gpurt_real_ns());
    outlet_exit();
}

void intake_end(void)
{
    intake.ends = true;
    intake_round(true);
}
