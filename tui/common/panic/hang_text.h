/* SPDX-License-Identifier: Apache-2.0 */
/* hang_text.h - who waits for whom, in words: a sentence, a report, an object. */
#ifndef GPURT_TUI_HANG_TEXT_H
#define GPURT_TUI_HANG_TEXT_H

#include "json.h"
#include "panic_book.h"
#include "waitgraph.h"

/* One line: the first circle, or what most wait for. Texts of the program are escaped. */
void hang_sentence(const gpurt_waitgraph_t *g, gpurt_text_t *out);

/* Which wait the report begins with: lanes of the first circle, else the oldest lanes, else the oldest
 * thread of the host; GPURT_WAIT_NOBODY where nobody waits. */
uint32_t hang_first(const gpurt_waitgraph_t *g);

/* Every circle, what stands behind it, and who else waits. */
void hang_print(const gpurt_waitgraph_t *g, const panic_style_t *style);

/* docs/PANIC_JSON.md, "hang". */
void hang_json(gpurt_json_t *j, const char *key, const gpurt_waitgraph_t *g);

#endif
