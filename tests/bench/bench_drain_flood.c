/* SPDX-License-Identifier: Apache-2.0 */
/* What waits behind a storm, without a GPU: a quarter of the rings of a whole GPU are full
 * of warp-wide records, and full again as soon as they are freed. Now and then a message is
 * put into a ring that is not, or a panic is raised, right before a round: the time until a
 * sink has it, less what it took to fill rings, is what rounds, batches and file add. */
#include "bench_drain.h"
#include "check.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "rows.h"

#include <string.h>
#include <unistd.h>

enum {
    SMS = 132,
    SLOTS = 64,
    STORM = 16, /* slots of each multiprocessor */
    QUIET = 40, /* a slot that is not in the storm */
    SAMPLES = 200,
    EVERY_ROUNDS = 20
};

static gpurt_boxmap_t map;
static gpurt_error_t err;

static struct flood {
    double us[2][SAMPLES];
    uint32_t counts[2];      /* messages, panics */
    double put_ns, spent_ns; /* the filling of rings is not counted */
    uint32_t freed[SMS * STORM];
    uint64_t messages;
} flood;

static uint32_t ring_of(uint32_t i)
{
    return i / STORM * SLOTS + i % STORM;
}

/* Fills what was freed. */
static void refill(void)
{
    double start = rows_now_ns();

    for (uint32_t i = 0; i < SMS * STORM; i++) {
        const gpurt_ring_control_t *c = gpurt_boxmap_control(&map, 0, ring_of(i));
        uint32_t tail = gpurt_load_acquire_sys_u32(&c->xtail); /* B2.acq */
        gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, ring_of(i));

        if (tail == flood.freed[i])
            continue;
        flood.freed[i] = tail;
        while (feed_lanes(&port, 1, i, i, 0, gpurt_real_ns()))
            ;
    }
    flood.spent_ns += rows_now_ns() - start;
}

static gpurt_status_t look(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    bool panic = row->kind == GPURT_KIND_PANIC;
    uint32_t *count = &flood.counts[panic];

    (void)context;
    (void)e;
    flood.messages += gpurt_row_messages(row);
    if ((panic || row->slot == QUIET) && row->kind != GPURT_KIND_LOSS && *count < SAMPLES)
        flood.us[panic][(*count)++] = (rows_now_ns() - flood.put_ns - flood.spent_ns) / 1e3;
    return GPURT_OK;
}

/* Message and panic by turns. Returns: whether one may be under way. */
static void sample_put(uint32_t number)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, number % SMS * SLOTS + QUIET);

    flood.spent_ns = 0;
    flood.put_ns = rows_now_ns();
    if (number % 2)
        feed_panic(&map, 0, number / 2, 1);
    else
        CHECK_MSG(feed_uniform(&port, 1, 0, number, 0, gpurt_real_ns()), "room");
}

static void flood_rows(const char *name, uint32_t what)
{
    char text[64];

    snprintf(text, sizeof text, "%s.p50", name);
    rows_add("drain", text, rows_percentile(flood.us[what], SAMPLES, 50), "us", NULL, 0);
    snprintf(text, sizeof text, "%s.p99", name);
    rows_add("drain", text, rows_percentile(flood.us[what], SAMPLES, 99), "us", "promised",
             1000);
}

static void flood_run(gpurt_drain_t *d)
{
    uint32_t put = 0, rows, since = 0;

    refill();
    while (flood.counts[0] + flood.counts[1] < 2 * SAMPLES) {
        if (put == flood.counts[0] + flood.counts[1] && ++since == EVERY_ROUNDS) {
            sample_put(put++);
            since = 0;
        }
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        refill();
        if (rows == 0)
            gpurt_drain_rest(d);
    }
}

void bench_flood(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = 16384,
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 2};
    char path[] = "/tmp/bench_flood.XXXXXX";
    gpurt_writer_t *w;
    gpurt_drain_t *d;

    close(mkstemp(path));
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    memset(&flood, 0, sizeof flood);
    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.sinks[0] = gpurt_logsink(w);
    o.sinks[1] = (gpurt_drain_sink_t){.put = look};
    o.dictionary = gpurt_writer_dictionary(w);
    o.scribe = gpurt_scribe_pays() ? gpurt_scribe_open() : NULL;
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    flood_run(d);
    gpurt_drain_close(d);
    gpurt_scribe_close(o.scribe);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    flood_rows("flood_message", 0);
    flood_rows("flood_panic", 1);
    unlink(path);
    gpurt_boxmap_detach(&map);
}
