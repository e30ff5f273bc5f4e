/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - writes rings as a device would, for tests and benches of everything behind
 * them.
 *
 * The same producer code (ringput.h) and the same record layout, from host threads: one
 * feeder a ring. Message i of ring r carries i and r as arguments, so that a reader can
 * count. */
#ifndef GPURT_TEST_FEED_H
#define GPURT_TEST_FEED_H

#include "boxmap.h"

enum {
    FEED_SITES = 8
};

/* Defines the sites 1..FEED_SITES of a section; formats "message %u of ring %u" and the
 * like, levels in turn. */
void feed_define(const gpurt_boxmap_t *map, uint32_t section);

/* One uniform record of two arguments (a, b) in two groups, or none when the ring is full.
 * Returns: whether it was written. */
bool feed_uniform(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t a,
                  uint32_t b, uint64_t time_ns);

/* The same of a warp whose number in its block is not the block's. */
bool feed_warp(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t warp,
               uint32_t a, uint32_t b, uint64_t time_ns);

/* One record of 32 lanes with two arguments each: a + lane and b. */
bool feed_lanes(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t a,
                uint32_t b, uint64_t time_ns);

/* Any record, by its words. */
bool feed_words(const gpurt_ring_port_t *port, const uint32_t *words, uint32_t count);

/* A panic in slot index. */
void feed_panic(const gpurt_boxmap_t *map, uint32_t section, uint32_t index, uint32_t site);

#endif
