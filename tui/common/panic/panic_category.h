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

#endif
