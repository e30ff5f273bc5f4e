/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch tells of threads of the host: nothing while they wait alone, and lanes before them. What is said
 * of each reason, and of a page that somebody damaged. */
#include "hang_text.h"
#include "hang_watch.h"
#include "hosttime.h"
#include "threadbox.h"

#include <stdlib.h>

static gpurt_boxmap_t map;
static gpurt_threadpage_t *threads;

static void begin(void)
{
    box_make(&map, 0);
    threads = gpurt_boxmap_threads(&map, HOST);
}

static hang_found_t silence(uint32_t number, hang_watch_t *w, gpurt_waitgraph_t *g)
{
    w->silence.looked_ns = 0; /* it is time to look */
    return hang_watch_silence(w, &map, number, g);
}

static void a_thread_alone_is_no_hang(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_waitgraph_t g;
    hang_watch_t w = {0};

    begin();
    (void)thread_waits(threads, &orders, GPURT_WAIT_DATA, false, now);
    CHECK_EQ(silence(1, &w, &g), HANG_NOTHING);
    CHECK_EQ(w.waits.count, 1);
    (void)thread_waits(threads, &answers, GPURT_WAIT_DATA, false, now + AGE_NS); /* young */
    CHECK_EQ(silence(2, &w, &g), HANG_NOTHING);
    lane_waits(&map, 0, GPURT_WAIT_DATA, now);
    CHECK_EQ(silence(3, &w, &g), HANG_FOUND);
    CHECK_EQ(g.waits->count, 2);
    gpurt_waitgraph_fini(&g);
    hang_watch_fini(&w);
    gpurt_boxmap_detach(&map);
}

/* The thread's wait is older. */
static void a_row_names_lanes(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_dictionary_t d = {0};
    gpurt_waitgraph_t g;
    hang_watch_t w = {0};
    gpurt_row_t *row;

    begin();
    (void)thread_waits(threads, &orders, GPURT_WAIT_DATA, false, now - AGE_NS);
    lane_waits(&map, 0, GPURT_WAIT_DATA, now);
    CHECK_EQ(silence(1, &w, &g), HANG_FOUND);
    CHECK(!gpurt_wait_thread(g.waits, &g.waits->waits[hang_first(&g)]));
    row = hang_row_make(&d, &g, 0);
    CHECK(row);
    CHECK_EQ(row->block, 0); /* the lane's; a thread has its number there */
    free(row);
    gpurt_waitgraph_fini(&g);
    hang_watch_fini(&w);
    gpurt_dictionary_fini(&d);
    gpurt_boxmap_detach(&map);
}

static char said[1 << 20];

static void json_take(const gpurt_waitgraph_t *g)
{
    gpurt_json_t j;

    gpurt_json_memory(&j, said, sizeof said);
    hang_json(&j, NULL, g);
}

static void each_reason_has_a_word(void)
{
    const char *const words[] = {"owner", "all", "data", "room", "word", "done", "credit"};
    uint64_t now = gpurt_real_ns();

    for (uint32_t reason = GPURT_WAIT_OWNER; reason <= GPURT_WAIT_CREDIT; reason++) {
        hang_watch_t w = {0};
        gpurt_waitgraph_t g;
        char wanted[32];

        begin();
        lane_waits(&map, 0, reason, now);
        CHECK_EQ(silence(1, &w, &g), HANG_FOUND);
        json_take(&g);
        snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", words[reason - 1]);
        CHECK_MSG(strstr(said, wanted), "%s: %s", wanted, said);
        gpurt_waitgraph_fini(&g);
        hang_watch_fini(&w);
        gpurt_boxmap_detach(&map);
    }
}

int main(void)
{
    a_thread_alone_is_no_hang();
    a_row_names_lanes();
    each_reason_has_a_word();
    return 0;
}
