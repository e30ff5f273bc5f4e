/* SPDX-License-Identifier: Apache-2.0 */
/* arenaview.h - the class of objects (watch.h) "arena_source": what arenas of one source have of its
 * heap, by the source's table. */
#ifndef GPURT_HOST_ARENAVIEW_H
#define GPURT_HOST_ARENAVIEW_H

#include <gpurt/arenas.h>

/* It is looked at from now on, until its end. */
void gpurt_arenaview_begin(gpurt_t *rt, const gpurt_arena_source_t *source);
/* It ends: a last look. Context: before its table goes. */
void gpurt_arenaview_end(gpurt_t *rt, const gpurt_arena_source_t *source);

/* arena.c: adds words [from, from + count) of the table of a source. */
void gpurt_arena_stats_add(gpurt_arena_stats_t *out, uint32_t slots, const uint64_t *words,
                           size_t from, size_t count);

#endif
