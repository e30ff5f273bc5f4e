/* SPDX-License-Identifier: Apache-2.0 */
/* A ring under every policy, with the wrap of the counters inside the first records:
 * nothing is invented, nothing is lost unseen, a torn or shared record is shown to
 * nobody, and no two threads are given the same place. */
#include "check.h"
#include "feed.h"
#include "hosttime.h"
#include "ringread.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum {
    MESSAGES = 100000,
    THREADS = 4,
    LOSSES = 500000,
    TAKES = 1000000 /* of a thread: long enough that they meet on one processor, too */
};

/* A round costs a time slice beside other work, and far fewer are enough. */
#define LOSING_NS 20000000000ull

static gpurt_boxmap_t map;

static gpurt_ring_port_t open_ring(uint32_t policy)
{
    gpurt_section_plan_t section = {
        .kind = GPURT_SECTION_CPU, .ring_bytes = 4096, .policy = policy};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_error_t err;

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    return gpurt_boxmap_port(&map, 0, 0);
}

/* Reads what is there; expects message numbers to grow by one. Returns: the next one. */
static uint32_t read_all(const gpurt_ring_port_t *port, uint32_t *position, uint32_t next)
{
    uint32_t words[GPURT_READ_WORDS], groups, state;

    while ((state = gpurt_ring_read(port->groups, port->group_count, *position, words,
                                    &groups)) == GPURT_READ_RECORD) {
        *position += groups;
        if ((words[0] >> 16 & 0xffu) == GPURT_KIND_LAP) {
            CHECK_MSG(words[5] == next, "mark says %u, read %u", words[5], next);
            continue;
        }
        CHECK_MSG(words[4] == next, "message %u, expected %u", words[4], next);
        CHECK_MSG(words[5] == ~next, "payload of message %u", next);
        next++;
    }
    CHECK_MSG(state == GPURT_READ_EMPTY, "state %u", state);
    return next;
}

static void drop_newest(void)
{
    gpurt_ring_port_t port = open_ring(GPURT_POLICY_DROP_NEWEST);
    uint32_t position = GPURT_RING_START, written = 0, dropped = 0, next = 0;
    uint64_t now = 1000;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        /* In turns: a reader that keeps up, and one that sleeps longer than the ring is. */
        if (i % 400 == 0 || i / 5000 % 2 == 0) {
            next = read_all(&port, &position, next);
            gpurt_store_release_sys_u32(&port.control->xtail, position); /* B2.rel */
            now += GPURT_LOOK_NS;
        }
        if (feed_uniform(&port, 1, 5, written, ~written, now += 10))
            written++;
        else
            dropped++;
    }
    next = read_all(&port, &position, next);
    CHECK_MSG(next == written, "read %u of %u", next, written);
    CHECK_MSG(dropped > 0 && written + dropped == MESSAGES, "dropped %u", dropped);
    CHECK_MSG(port.control->xloss.count == dropped, "told %u of %u lost",
              port.control->xloss.count, dropped);
    gpurt_boxmap_detach(&map);
}

static void overwrite(void)
{
    gpurt_ring_port_t port = open_ring(GPURT_POLICY_OVERWRITE);
    uint32_t position = GPURT_RING_START, words[GPURT_READ_WORDS], groups, last = 0,
             seen = 0;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        CHECK_MSG(feed_uniform(&port, 1, 5, i, ~i, i), "never full");
        if (i % 777 != 776)
            continue;
        for (;;) {
            uint32_t state =
                gpurt_ring_read(port.groups, port.group_count, position, words, &groups);

            if (state == GPURT_READ_OVERRUN) {
                position = gpurt_ring_oldest(port.groups, port.group_count, position);
                continue;
            }
            if (state != GPURT_READ_RECORD)
                break;
            position += groups;
            if ((words[0] >> 16 & 0xffu) == GPURT_KIND_LAP)
                continue;
            CHECK_MSG(words[5] == ~words[4], "mixed payload");
            CHECK_MSG(seen == 0 || words[4] > last, "%u after %u", words[4], last);
            last = words[4];
            seen++;
        }
        CHECK_MSG(last == i, "newest is %u, found %u", i, last);
    }
    /* 256 groups hold some 127 messages; the margin of an eighth may be given up. */
    CHECK_MSG(seen > MESSAGES / 777 * 100, "seen %u", seen);
    gpurt_boxmap_detach(&map);
}

/* Of a record's groups a later one is of the next lap before the first is: the reader goes on, and
 * not back to what it has read. */
static void half_overwritten(void)
{
    gpurt_ring_port_t port = open_ring(GPURT_POLICY_OVERWRITE);
    uint32_t words[GPURT_READ_WORDS], groups, position, next;
    gpurt_group_t *second;

    for (uint32_t i = 0; i < 300; i++)
        CHECK_MSG(feed_uniform(&port, 1, 5, i, ~i, i), "never full");
    position = gpurt_ring_oldest(port.groups, port.group_count, GPURT_RING_START);
    for (uint32_t i = 0; i < 40; i++) { /* into the middle of the lap */
        CHECK_EQ(gpurt_ring_read(port.groups, port.group_count, position, words, &groups),
                 GPURT_READ_RECORD);
        position += groups;
    }
    CHECK_EQ(gpurt_ring_read(port.groups, port.group_count, position, words, &groups),
             GPURT_READ_RECORD);
    CHECK(groups == 2);
    second = gpurt_ring_at(&port, position + 1);
    second->tag += port.group_count << 16;
    CHECK_EQ(gpurt_ring_read(port.groups, port.group_count, position, words, &groups),
             GPURT_READ_OVERRUN);
    next = gpurt_ring_oldest(port.groups, port.group_count, position);
    CHECK_MSG((int32_t)(next - position) > 0, "from %u back to %u", position, next);
    CHECK_EQ(gpurt_ring_read(port.groups, port.group_count, next, words, &groups),
             GPURT_READ_RECORD);
    gpurt_boxmap_detach(&map);
}

static void torn_and_shared(void)
{
    gpurt_ring_port_t port = open_ring(GPURT_POLICY_DROP_NEWEST);
    uint32_t position = GPURT_RING_START, words[GPURT_READ_WORDS], groups;
    gpurt_group_t saved, zero;

    memset(&zero, 0, sizeof zero);
    CHECK_MSG(feed_lanes(&port, 1, 5, 0, 9, 1) && feed_uniform(&port, 1, 6, 1, ~1u, 2),
              "room");
    CHECK_MSG(gpurt_ring_read(port.groups, port.group_count, position, words, &groups) ==
                  GPURT_READ_RECORD,
              "a mark first"); /* the record crosses position 0 */
    position += groups;
    for (uint32_t i = 0; i < gpurt_record_groups(64); i++) {
        gpurt_group_t *g = gpurt_ring_at(&port, position + i);
        uint32_t state;

        saved = *g;
        *g = zero;
        state = gpurt_ring_read(port.groups, port.group_count, position, words, &groups);
        CHECK_MSG(state == (i ? GPURT_READ_PART : GPURT_READ_EMPTY), "group %u gone: %u", i,
                  state);
        CHECK_MSG(gpurt_ring_find(port.groups, port.group_count, position) ==
                      position + gpurt_record_groups(64),
                  "the next record is found");
        *g = saved;
        g->tag ^= 0x0100u; /* another salt: another producer's group */
        state = gpurt_ring_read(port.groups, port.group_count, position, words, &groups);
        CHECK_MSG(state == GPURT_READ_SHARED, "salt of group %u: %u", i, state);
        g->tag = saved.tag ^ 0x10000u; /* another position */
        state = gpurt_ring_read(port.groups, port.group_count, position, words, &groups);
        CHECK_MSG(state != GPURT_READ_RECORD && state != GPURT_READ_SHARED,
                  "seq of group %u", i);
        *g = saved;
    }
    CHECK_MSG(gpurt_ring_read(port.groups, port.group_count, position, words, &groups) ==
                      GPURT_READ_RECORD &&
                  groups == 24,
              "whole again, %u groups", groups);
    gpurt_boxmap_detach(&map);
}

static pthread_barrier_t all_here;

static void *take_places(void *port)
{
    uint32_t position;

    pthread_barrier_wait(&all_here);
    for (uint32_t i = 0; i < TAKES; i++)
        CHECK(gpurt_ring_take_shared(port, 2, 1, 1000, &position));
    return NULL;
}

static void many_producers(void)
{
    gpurt_ring_port_t port = open_ring(GPURT_POLICY_OVERWRITE);
    pthread_t threads[THREADS];

    CHECK(pthread_barrier_init(&all_here, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, take_places, &port) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_here);
    CHECK_EQ(port.head->xhead - GPURT_RING_START, 2u * THREADS * TAKES);
    CHECK_EQ(port.head->xrecords, THREADS * TAKES);
    gpurt_boxmap_detach(&map);
}

/* Two producers lose a message each at about the same time, again and again. What is shown behind
 * both is the sum. */
static struct {
    gpurt_ring_port_t port;
    uint32_t xround, xlost; /* rounds that began, that the other one has done */
} losers;

static void *loser_run(void *none)
{
    for (uint32_t round = 1, now; round <= LOSSES; round++) {
        while ((now = gpurt_load_acquire_sys_u32(&losers.xround)) < round)
            sched_yield();
        if (now > LOSSES)
            break;
        gpurt_ring_lose(&losers.port, 1, GPURT_LOSS_FULL, 1000);
        gpurt_store_release_sys_u32(&losers.xlost, round);
    }
    return none;
}

static void two_losers(void)
{
    uint64_t until = gpurt_steady_ns() + LOSING_NS;
    pthread_t other;

    losers.port = open_ring(GPURT_POLICY_DROP_NEWEST);
    CHECK(pthread_create(&other, NULL, loser_run, NULL) == 0);
    for (uint32_t round = 1; round <= LOSSES && gpurt_steady_ns() < until; round++) {
        gpurt_store_release_sys_u32(&losers.xround, round);
        for (volatile uint32_t late = 0; late < round % 40; late++)
            ; /* so that each overtakes the other now and then */
        gpurt_ring_lose(&losers.port, 1, GPURT_LOSS_FULL, 1000);
        while (gpurt_load_acquire_sys_u32(&losers.xlost) < round)
            sched_yield();
        CHECK_EQ(losers.port.control->xloss.count, 2 * round);
    }
    gpurt_store_release_sys_u32(&losers.xround, LOSSES + 1);
    pthread_join(other, NULL);
    gpurt_boxmap_detach(&map);
}

int main(void)
{
    CHECK_MSG(gpurt_types_words(GPURT_TYPE_F64 | GPURT_TYPE_CHAR << 4) == 3,
              "words of types");
    drop_newest();
    overwrite();
    half_overwritten();
    torn_and_shared();
    many_producers();
    two_losers();
    return 0;
}
