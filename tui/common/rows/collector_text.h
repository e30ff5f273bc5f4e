/* SPDX-License-Identifier: Apache-2.0 */
/* collector_text.h - how collectors fare, in words: of one process what it said of itself,
 * of several those that are not plainly on, with whose they are. */
#ifndef GPURT_TUI_COLLECTOR_TEXT_H
#define GPURT_TUI_COLLECTOR_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

enum {
    COLLECTOR_WHO = 4 * GPURT_BOX_NAME + 16
};

/* "rank[4711]"; "" where there is one process. */
const char *collector_who(const gpurt_model_activity_t *a, const gpurt_model_collector_t *c,
                          char buffer[COLLECTOR_WHO]);
/* Those that are not plainly on, and have a row. */
uint32_t collector_rows(const gpurt_model_activity_t *a);

/* Lines of gpurt-log stat; nothing where no collector said anything. */
void collector_plain(FILE *out, const gpurt_model_activity_t *a);
/* collector, collectors and collectors_left_out. */
void collector_json(gpurt_json_t *j, const gpurt_model_activity_t *a);

#endif
