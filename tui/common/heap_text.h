/* SPDX-License-Identifier: Apache-2.0 */
/* heap_text.h - heaps of kernels, for a terminal without a screen and for programs: the same
 * in gpurt-log stat and in gpurt-top --once and --json. */
#ifndef GPURT_TUI_HEAP_TEXT_H
#define GPURT_TUI_HEAP_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

/* Part of whole in percent, 0 of nothing. */
int heap_percent(uint64_t part, uint64_t whole);
/* How much of the free chunks is not in the longest row of them: 0 when all is in one. */
int heap_fragmented(const gpurt_model_heap_t *h);
/* "off", "cheap", "full"; "" where the heap cannot check. */
const char *heap_checks(const gpurt_model_heap_t *h);

/* Whose something is, where a source has several processes: "of process 10801, "; else "". */
enum {
    HEAP_WHOSE = 32
};
const char *heap_whose(const gpurt_model_heaps_t *heaps, const gpurt_model_told_t *told,
                       char buffer[HEAP_WHOSE]);
/* Its pid, null where that is not known. */
void heap_pid_json(gpurt_json_t *j, const gpurt_model_told_t *told);

/* Levels of the pools above a heap: "thread", "warp", "block", "heap"; all of them. */
const char *heap_pool_name(uint32_t level);
uint64_t heap_pools_sum(const uint64_t counts[GPURT_HEAP_POOLS]);

/* Heaps, and what stands on them. Nothing where nothing is known. */
void heap_plain(FILE *out, const gpurt_model_heaps_t *heaps);
/* One object. */
void heap_json(gpurt_json_t *j, const char *key, const gpurt_model_heaps_t *heaps);

#endif
