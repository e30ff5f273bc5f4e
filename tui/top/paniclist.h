/* SPDX-License-Identifier: Apache-2.0 */
/* paniclist.h - panics by site: what went wrong, how often, where last. */
#ifndef GPURT_TUI_PANICLIST_H
#define GPURT_TUI_PANICLIST_H

#include "picture.h"

typedef struct panic_group {
    const gpurt_model_panic_t *last;
    uint32_t number; /* of the last, counted from 1 as the views and gpurt-panic do */
    uint32_t count;
    bool mixed; /* they are not all of the last one's process */
} panic_group_t;

/* The sites that panicked last come first. Returns: how many were filled in. */
uint32_t paniclist_groups(const picture_t *p, uint32_t max, panic_group_t *groups);

#endif
