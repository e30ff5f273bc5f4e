/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a seeded schedule lets run next: of those that can, by priorities the highest, at random each
 * in its turn. What it remembers between two choices is held against a look at all of them. */
#include "simt.h"

#include "check.h"

#include <string.h>

enum {
    WARPS = 5,
    STEPS = 20000
};

/* Owner: the test. */
static struct {
    simt_device_t device;
    simt_block_t block;
    simt_warp_t warps[WARPS];
    simt_warp_t *row[WARPS];
    simt_lane_t lanes[WARPS * GPURT_WARP_SIZE];
    simt_worker_t worker;
    uint64_t rng;
} stage;

static uint32_t number(uint32_t below)
{
    stage.rng = stage.rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(stage.rng >> 33) % below;
}

static void stage_set(gpurt_schedule_t schedule, uint64_t seed)
{
    simt_worker_t *k = &stage.worker;

    memset(&stage, 0, sizeof stage);
    stage.rng = seed;
    stage.device.config.seeded = true;
    stage.device.config.cpu.schedule = schedule;
    stage.device.config.cpu.seed = seed;
    k->device = &stage.device;
    k->warps = stage.row;
    k->warp_count = WARPS;
    simt_schedule_begin(k);
    for (uint32_t i = 0; i < WARPS * GPURT_WARP_SIZE; i++) {
        simt_warp_t *w = &stage.warps[i / GPURT_WARP_SIZE];

        stage.row[i / GPURT_WARP_SIZE] = w;
        w->block = &stage.block;
        w->lanes = &stage.lanes[i / GPURT_WARP_SIZE * GPURT_WARP_SIZE];
        w->all = GPURT_FULL_MASK;
        stage.lanes[i].warp = w;
        stage.lanes[i].self.lane = i % GPURT_WARP_SIZE;
        simt_schedule_lane(k, &stage.lanes[i]);
    }
    stage.warps[0].ready = 1;
}

/* One comes, goes, rests until the pass ends, or gets another priority. */
static void lane_change(void)
{
    uint32_t i = number(WARPS * GPURT_WARP_SIZE), bit = 1u << i % GPURT_WARP_SIZE;
    simt_warp_t *w = &stage.warps[i / GPURT_WARP_SIZE];

    switch (number(4)) {
    case 0:
        w->ready |= bit;
        w->yielded &= ~bit;
        break;
    case 1:
        w->ready &= ~bit;
        w->yielded &= ~bit;
        break;
    case 2:
        w->yielded |= bit & w->ready;
        break;
    default:
        simt_schedule_lane(&stage.worker, &stage.lanes[i]);
    }
}

static bool is_fresh(uint32_t i)
{
    const simt_warp_t *w = &stage.warps[i / GPURT_WARP_SIZE];

    return (w->ready & ~w->yielded) >> i % GPURT_WARP_SIZE & 1u;
}

static uint32_t fresh_count(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < WARPS * GPURT_WARP_SIZE; i++)
        n += is_fresh(i);
    return n;
}

static simt_lane_t *highest(void)
{
    simt_lane_t *best = NULL;

    for (uint32_t i = 0; i < WARPS * GPURT_WARP_SIZE; i++) {
        simt_lane_t *l = &stage.lanes[i];

        if (is_fresh(i) && (!best || l->warp->priority[l->self.lane] >
                                         best->warp->priority[best->self.lane]))
            best = l;
    }
    return best;
}

/* The one at whom the same draw points, counted one by one. */
static simt_lane_t *drawn(uint32_t fresh)
{
    simt_worker_t twin = stage.worker;
    uint32_t left = (uint32_t)(simt_schedule_random(&twin) % fresh), i = 0;

    while (!is_fresh(i) || left-- > 0)
        i++;
    return &stage.lanes[i];
}

static void check_picks(gpurt_schedule_t schedule, uint64_t seed)
{
    stage_set(schedule, seed);
    for (uint32_t step = 0; step < STEPS; step++) {
        simt_lane_t *want;
        uint32_t fresh;

        for (uint32_t changes = number(4); changes > 0; changes--)
            lane_change();
        fresh = fresh_count();
        if (fresh == 0)
            continue; /* a pass ends: the worker's matter */
        want = schedule == GPURT_SCHEDULE_PCT ? highest() : drawn(fresh);
        CHECK_MSG(simt_schedule_pick(&stage.worker) == want, "seed %llu, step %u",
                  (unsigned long long)seed, step);
    }
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        check_picks(GPURT_SCHEDULE_PCT, seed);
        check_picks(GPURT_SCHEDULE_RANDOM, seed);
    }
    return 0;
}
