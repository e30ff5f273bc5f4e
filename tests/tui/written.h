/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - what is written of a view: text or JSON, looked at in order. */
#ifndef GPURT_TESTS_WRITTEN_H
#define GPURT_TESTS_WRITTEN_H

#include "activity_text.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void write_json(FILE *out, const gpurt_model_activity_t *a)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    activity_json(&j, NULL, a);
}

typedef void written_t(FILE *out, const gpurt_model_activity_t *a);

/* Each of `want`, one behind another. */
static inline void check_written(written_t *write, const gpurt_model_activity_t *a,
                                 const char *const *want)
{
    char *text = NULL;
    const char *at;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(out != NULL);
    write(out, a);
    fclose(out);
    at = text;
    for (; *want; want++) {
        const char *found = strstr(at, *want);

        CHECK_MSG(found, "no '%s' in: %s", *want, at);
        at = found;
    }
    free(text);
}

#endif
