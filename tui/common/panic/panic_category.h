/* SPDX-License-Identifier: Apache-2.0 */
/* panic_category.h - what kinds of promises device code breaks, in words. */
#ifndef GPURT_TUI_PANIC_CATEGORY_H
#define GPURT_TUI_PANIC_CATEGORY_H

#include "faultkind.h"

/* category: GPURT_CATEGORY_*. Never NULL: one that is not known is a panic, and one of a program
 * is "user". */
const faultkind_t *panic_category(uint32_t category);
/* Place i of the table; NULL behind its end. */
const faultkind_t *panic_category_at(uint32_t i);

enum {
    PANIC_COUNTS = 96
};

/* "2 panics", "1 fault, 1 hang": a hang is no panic, though it is kept as one. all: with the
 * others. */
void panic_counts_text(uint64_t all, uint64_t faults, uint64_t hangs,
                       char out[PANIC_COUNTS]);

#endif
