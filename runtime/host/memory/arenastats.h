/* SPDX-License-Identifier: Apache-2.0 */
/* arenastats.h - what the table of a source of arenas adds up to. */
#ifndef GPURT_HOST_ARENASTATS_H
#define GPURT_HOST_ARENASTATS_H

#include <gpurt/arenas.h>

/* Adds words [from, from + count) of the table. */
void gpurt_arena_stats_add(gpurt_arena_stats_t *out, uint32_t slots, const uint64_t *words,
                           size_t from, size_t count);

#endif
