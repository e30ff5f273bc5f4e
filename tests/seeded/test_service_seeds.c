/* SPDX-License-Identifier: Apache-2.0 */
/* A service beside other kernels, a schedule a seed: each round's question and answers are plain
 * words that only the words between host and kernels order. */
#include "seeds.h"

#include <gpurt/hostwords.h>
#include <gpurt/services.h>

#include "service_kernels.h"
#include "servicerest.h"

enum {
    BLOCKS = 2,
    ROUNDS = 4
};
#define WAIT_NS 60000000000ull

static const gpurt_launch_t shape = {.grid = {BLOCKS, 1, 1}, .block = {48, 1, 1}};

static void round_ask(struct service_args *a, uint32_t round)
{
    for (uint32_t i = 0; i < SERVICE_WORDS; i++)
        a->desk->question[i] = round * 1000u + i;
    OK(gpurt_hostword_store(rt, &a->desk->xask, round, &err));
}

static void round_hear(const struct service_args *a, uint32_t before, uint32_t round,
                       uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        OK(gpurt_hostword_wait(rt, &a->replies[b].xround, before, WAIT_NS, NULL, &err));
        for (uint32_t i = 0; i < SERVICE_WORDS; i++)
            CHECK_EQ(a->replies[b].answer[i], (round * 1000u + i) * 31u + b);
    }
}

/* Words of the blocks' own are the host's while they rest. */
static void passes_take(service_reply_t *replies, uint32_t heap)
{
    gpurt_service_rest_t rest;

    OK(gpurt_services_rest(rt, &heap, 1, &rest, &err));
    for (uint32_t b = 0; b < BLOCKS; b++) {
        CHECK(replies[b].passes > 0);
        replies[b].passes = 0;
    }
    gpurt_services_resume(&rest);
}

static void rounds_run(bool rests)
{
    static const gpurt_heap_t declared = {.id = 77};
    const gpurt_heap_t *heap = &declared;
    const gpurt_service_options_t options = {.heaps = &heap, .heap_count = 1};
    static service_reply_t replies[BLOCKS];
    static service_desk_t desk;
    struct service_args a = {.desk = &desk, .replies = replies};
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    gpurt_service_t service;

    memset(replies, 0, sizeof replies);
    memset(&desk, 0, sizeof desk);
    OK(gpurt_launch(rt, &one, hostword_once, &a, &err));
    OK(gpurt_hostword_wait(rt, &a.replies[0].xround, 0, WAIT_NS, NULL, &err));
    round_ask(&a, 1);
    round_hear(&a, HOSTWORD_HERE, 1, 1);
    OK(gpurt_sync(rt, &err));
    desk.xask = replies[0].xround = 0;
    if (rests)
        OK(gpurt_service_launch(rt, &shape, service_echo, &a, &options, &service, &err));
    else
        OK(gpurt_service_launch(rt, &shape, service_busy, &a, &options, &service, &err));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        round_ask(&a, round);
        OK(gpurt_service_ring(rt, service));
        round_hear(&a, round - 1, round, BLOCKS);
        passes_take(replies, declared.id);
    }
    desk.farewell = 7;
    OK(gpurt_service_stop(rt, service, &err));
    CHECK_EQ(desk.xturn, BLOCKS);
    for (uint32_t b = 0; b < BLOCKS; b++)
        CHECK_EQ(replies[b].heard, 7);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);)
        rounds_run(s.seed % 2);
    return 0;
}
