/* SPDX-License-Identifier: Apache-2.0 */
/* panic_chain.h - what came before a failure and may be why: a fault of a warp that had just
 * panicked, and the first failure of the program. Only what the sources say; "before" is
 * not "because", and the words used say no more. */
#ifndef GPURT_TUI_PANIC_CHAIN_H
#define GPURT_TUI_PANIC_CHAIN_H

#include "json.h"
#include "panic_book.h"

enum panic_relation {
    RELATION_WARP,  /* the last failure of the same warp */
    RELATION_BLOCK, /* of the same block */
    RELATION_FIRST  /* the first of this source */
};
enum {
    CHAIN_MAX = 2
};

typedef struct panic_link {
    uint32_t number; /* of the book */
    uint32_t relation;
} panic_link_t;

/* Returns: how many links, the nearest first. number: below book->count. */
uint32_t panic_chain_find(const panic_book_t *book, uint32_t number,
                          panic_link_t out[CHAIN_MAX]);

void panic_chain_print(const panic_book_t *book, uint32_t number,
                       const panic_style_t *style);
/* The list "chain" of docs/PANIC_JSON.md. */
void panic_chain_json(gpurt_json_t *j, const panic_book_t *book, uint32_t number);

#endif
