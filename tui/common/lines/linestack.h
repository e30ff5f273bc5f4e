/* SPDX-License-Identifier: Apache-2.0 */
/* linestack.h - samples as stacks, for flame graphs: the kernel, what is inlined in it, the line, and
 * why warps stood there. Texts are as they are: whoever shows them escapes them. */
#ifndef GPURT_TUI_LINESTACK_H
#define GPURT_TUI_LINESTACK_H

#include "calls_text.h"
#include "lines_text.h"

enum {
    LINESTACK_FRAMES = CALLS_TEXT_MOST + 4
};

typedef struct linestack_frame {
    char name[LINES_NAME + 16]; /* "file:line" among them */
    char file[LINES_NAME];      /* "": none */
    uint32_t line;
    bool call; /* file and line are those of a call */
} linestack_frame_t;

/* The outermost first. The last is a reason in CUPTI's word. */
typedef struct linestack {
    linestack_frame_t of[LINESTACK_FRAMES];
    uint32_t count;
    uint64_t samples;
} linestack_t;

typedef void (*linestack_visit_t)(void *context, const linestack_t *stack);

/* All that are wanted of l, one at a time. */
void linestack_visit(const lines_text_t *l, linestack_visit_t visit, void *context);

/* "function;callee (file:line);file:line;reason samples": a line each, as programs for flame graphs
 * read it. */
void linestack_folded(FILE *out, const lines_text_t *l);

#endif
