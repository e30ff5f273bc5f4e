/* SPDX-License-Identifier: Apache-2.0 */
/* heap_page.h - the part of a heap's page that is drawn by hand: fragmentation, which pools served,
 * the map, and size classes beside those who hold most. */
#ifndef GPURT_TUI_HEAP_PAGE_H
#define GPURT_TUI_HEAP_PAGE_H

#include "objectpage.h"

/* Returns: the row below. */
int heap_page(const objectpage_t *g, int row);

#endif
