/* SPDX-License-Identifier: Apache-2.0 */
/* sasstext.h - the text of instructions, by function and offset: of a program, a library or a cubin, or of
 * all cubins of a folder, as cuobjdump prints it. That is a child, whose time and output have a bound.
 *
 * Context: one thread. */
#ifndef GPURT_TUI_SASSTEXT_H
#define GPURT_TUI_SASSTEXT_H

#include "codefolder.h"

enum {
    SASSTEXT_WHY = 512,
    SASSTEXT_INSTRUCTIONS = 1 << 24 /* at most */
};
#define SASSTEXT_NONE    UINT32_MAX
#define SASSTEXT_SEVERAL (UINT32_MAX - 1)

typedef struct sasstext sasstext_t;

/* wish: of a folder, files that have none of these functions are left out; NULL: none is. Returns:
 * NULL: `why` says in one line what is missing, and what to do. */
sasstext_t *sasstext_read(const char *path, const code_wish_t *wish, uint64_t timeout_ns,
                          char why[SASSTEXT_WHY]);
void sasstext_close(sasstext_t *s);
/* Of a folder what was read in time stays, the smallest files first. */
bool sasstext_is_folder(const char *path);

/* name: as a log has it. arch: of the GPU, 90 of sm_90; 0: not known. Returns: SASSTEXT_NONE: it has no such
 * function; SASSTEXT_SEVERAL: it has some, of which any may be meant,
 * or one, while files that were not read in time may have others. */
uint32_t sasstext_function(const sasstext_t *s, const char *name, uint32_t arch);
/* Of a function that is there. Returns: NULL: there is no instruction. */
const char *sasstext_at(const sasstext_t *s, uint32_t function, uint32_t offset);

#endif
