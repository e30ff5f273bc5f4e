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

/* Of one failure, the nearest first. Borrows the book. */
typedef struct panic_chain {
    const panic_book_t *book;
    uint32_t number; /* whose; below book->count */
    uint32_t count;
    panic_link_t links[CHAIN_MAX];
} panic_chain_t;

void panic_chain_find(const panic_book_t *book, uint32_t number, panic_chain_t *out);

void panic_chain_print(const panic_chain_t *chain, const panic_style_t *style);
/* The list "chain" of docs/PANIC_JSON.md. */
void panic_chain_json(gpurt_json_t *j, const panic_chain_t *chain);

#endif
