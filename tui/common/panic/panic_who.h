/* SPDX-License-Identifier: Apache-2.0 */
/* panic_who.h - whose a failure is. What one process numbers, another numbers too: launches,
 * blocks, rings and calls of two processes are never taken for one another. */
#ifndef GPURT_TUI_PANIC_WHO_H
#define GPURT_TUI_PANIC_WHO_H

#include "panic_book.h"
#include "who.h"

/* Whether two rows are of one process. Of those that came when all numbers were given that is
 * not known: they are of one. */
bool panic_who_same(const panic_entry_t *a, const panic_entry_t *b);

/* Whether it must be said whose what is of a source, or of any source. */
bool panic_who_told(const panic_source_t *source);
bool panic_who_any(const panic_book_t *book);

/* Of a row of a source. Returns: whether it is known; else it is 0 and empty. */
bool panic_who_of(const panic_source_t *source, const gpurt_row_t *row,
                  gplog_program_t *out);

/* "rank[4711]", as its source has it. */
void panic_who_text(const panic_entry_t *e, gpurt_text_t *out);

/* Of all failures at a site: "rank[4711] and 3 more", the first one's first. */
void panic_who_site_text(const panic_book_t *book, uint32_t site, gpurt_text_t *out);
/* [{"count":2,"pid":4711,"program":"rank"},...] */
void panic_who_site_json(gpurt_json_t *j, const char *key, const panic_book_t *book,
                         uint32_t site);

#endif
