/* SPDX-License-Identifier: Apache-2.0 */
#include "linewhy.h"

#include <string.h>

static bool has(const gpurt_model_line_t *line, const char *text)
{
    return memmem(line->text, line->text_bytes, text, strlen(text)) != NULL;
}

const gpurt_model_line_t *linewhy_find(const gpurt_modelview_t *v)
{
    const gpurt_model_lines_t *warnings = &v->lines[GPURT_CLASS_WARN];

    for (uint64_t i = warnings->end; i-- > warnings->first;) {
        const gpurt_model_line_t *line = &warnings->list[i % GPURT_MODEL_LINES];

        if (has(line, "no lines") || has(line, "lines of"))
            return line;
    }
    return NULL;
}
