/* SPDX-License-Identifier: Apache-2.0 */
/* One thread drains several boxes: it sleeps as long as it would for one, whoever launches
 * something wakes it, and the busiest decides. */
#include "boxwork.h"
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"

#include <pthread.h>
#include <unistd.h>

enum {
    BOXES = 3,
    TRIES = 20
};

static gpurt_boxmap_t map[BOXES];
static gpurt_drain_t *drain[BOXES];
static gpurt_dictionary_t dictionary[BOXES];
static uint64_t taken;
static gpurt_error_t err;

static gpurt_status_t take(void *context, const gpurt_row_t *row, gpurt_error_t *why)
{
    (void)context;
    (void)why;
    taken += gpurt_row_messages(row);
    return GPURT_OK;
}

static void all_open(void)
{
    for (uint32_t i = 0; i < BOXES; i++) {
        gpurt_section_plan_t section = {.kind = GPURT_SECTION_CPU, .device = i};
        gpurt_box_plan_t plan = {
            .struct_size = sizeof plan, .section_count = 1, .sections = &section};
        gpurt_drain_options_t o = {.struct_size = sizeof o,
                                   .sink_count = 1,
                                   .sinks = {{.put = take}},
                                   .dictionary = &dictionary[i]};

        CHECK_MSG(gpurt_boxmap_create(&plan, &map[i], &err) == GPURT_OK, "%s", err.text);
        feed_define(&map[i], 0);
        CHECK_MSG(gpurt_drain_open(&map[i], &o, &drain[i], &err) == GPURT_OK, "%s",
                  err.text);
    }
}

static void round_all(void)
{
    uint32_t rows;

    for (uint32_t i = 0; i < BOXES; i++)
        CHECK_MSG(gpurt_drain_round(drain[i], &rows, &err) == GPURT_OK, "%s", err.text);
}

static uint64_t rest(void)
{
    uint64_t begun = gpurt_real_ns();

    gpurt_drains_rest(drain, BOXES);
    for (uint32_t i = 0; i < BOXES; i++)
        CHECK_MSG(map[i].box->xasleep == 0, "it said that it sleeps on");
    return gpurt_real_ns() - begun;
}

static gpurt_box_t *launching; /* of who launches */

static void *launch_later(void *context)
{
    uint64_t *launched_ns = context;

    for (int i = 0; gpurt_load_relaxed_sys_u32(&launching->xasleep) == 0; i++) {
        CHECK_MSG(i < 100000, "nobody says that he sleeps");
        usleep(100);
    }
    usleep(1000);
    *launched_ns = gpurt_real_ns();
    gpurt_boxwork_begin(launching);
    return NULL;
}

/* Of a launch in one box. */
static void wake(uint32_t box)
{
    uint64_t fastest = UINT64_MAX, launched_ns, late;
    pthread_t thread;

    launching = map[box].box;
    for (int i = 0; i < TRIES; i++) {
        round_all();
        CHECK(pthread_create(&thread, NULL, launch_later, &launched_ns) == 0);
        do
            rest();
        while (gpurt_load_relaxed_sys_u32(&map[box].box->xwork) == map[box].box->xended);
        late = gpurt_real_ns();
        pthread_join(thread, NULL);
        fastest = late - launched_ns < fastest ? late - launched_ns : fastest;
        gpurt_boxwork_ended(launching, gpurt_boxwork_count(launching));
    }
    CHECK_MSG(fastest < 1000000, "box %u: awake after %llu ns at best", box,
              (unsigned long long)fastest);
}

/* The others are idle, and wait with it. */
static void busy(uint32_t box)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map[box], 0, 0);
    uint64_t shortest = UINT64_MAX, before = taken;

    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t took;

        CHECK(feed_uniform(&port, 1, 1, i, 0, gpurt_real_ns()));
        while (taken == before + i)
            round_all();
        took = rest();
        shortest = took < shortest ? took : shortest;
    }
    CHECK_EQ(taken - before, TRIES);
    CHECK_MSG(shortest < 1000000, "box %u: %llu ns at best beside rows that come", box,
              (unsigned long long)shortest);
}

int main(void)
{
    all_open();
    round_all();
    CHECK_MSG(rest() < 1000000000u, "it has just begun");
    usleep(1100000);
    round_all();
    for (int i = 0; i < TRIES; i++)
        CHECK_MSG(rest() >= 2000000, "nothing comes, and it does not sleep");
    for (uint32_t i = 0; i < BOXES; i++)
        wake(i);
    for (uint32_t i = 0; i < BOXES; i++)
        busy(i);
    gpurt_drains_rest(drain, 0);
    for (uint32_t i = 0; i < BOXES; i++) {
        gpurt_drain_close(drain[i]);
        gpurt_dictionary_fini(&dictionary[i]);
        gpurt_boxmap_detach(&map[i]);
    }
    return 0;
}
