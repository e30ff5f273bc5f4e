/* SPDX-License-Identifier: Apache-2.0 */
/* inlined.h - calls that a compiler has inlined, as a text for the log: "leaf < /src/app.cu:12
 * Walk::step < /src/app.cu:27". First the function that the line stands in, then each call, the
 * innermost first: its place, and the function that this is in. The last one is in the function of
 * the record, which is not repeated. */
#ifndef GPURT_CUPTI_INLINED_H
#define GPURT_CUPTI_INLINED_H

#include "linetable.h"

enum {
    INLINED_TEXT = 729, /* bytes, with the end: three slots of a box's definitions */
    INLINED_NAME = 97,  /* of a function */
    INLINED_FILE = 512  /* of a path */
};

/* A folder stands before what is no whole path. */
void inlined_path(const line_frame_t *frame, char out[INLINED_FILE]);

/* A function as people call it: without what it takes and returns; of a long one without arguments
 * of templates, too. */
void inlined_name(const char *mangled, char out[INLINED_NAME]);

/* frames: of an instruction, the innermost first. The outermost calls that have no room are "...".
 * Returns: false: nothing is inlined there. */
bool inlined_text(const line_frame_t *frames, uint32_t count, char out[INLINED_TEXT]);

#endif
