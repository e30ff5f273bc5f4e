/* SPDX-License-Identifier: Apache-2.0 */
/* region_text.h - regions, for a terminal without a screen and for programs; heap_text.h calls it. */
#ifndef GPURT_TUI_REGION_TEXT_H
#define GPURT_TUI_REGION_TEXT_H

#include "modelview.h"

#include <stdio.h>

/* How much of what is free is not in the longest row: 0 when all is in one. */
int region_fragmented(const gpurt_model_region_t *r);
uint64_t region_refused(const gpurt_model_region_t *r); /* for whatever reason */
/* "first", "best", "worst". */
const char *region_policy(const gpurt_model_region_t *r);

/* Nothing where nothing is known. */
void regions_plain(FILE *out, const gpurt_model_heaps_t *heaps);
/* "regions":[...]: a member of an object. */
void regions_json(FILE *out, const gpurt_model_heaps_t *heaps);
/* Cells of a map: "map":[...]. */
void cells_json(FILE *out, const uint8_t cells[GPURT_HEAP_CELLS], bool known);

#endif
