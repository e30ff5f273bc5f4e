/* SPDX-License-Identifier: Apache-2.0 */
/* pystack.h - which Python code a thread of this process stands in, from CPython's own structures in
 * memory (pylayout.h), by guarded reads (peek.h): no lock of the interpreter's, no call into it. What
 * is read may be torn or gone, so everything is bounded, and what makes no sense ends the walk.
 *
 * A thread without frames of its own, as those of PyTorch's autograd, shows those of a thread that
 * stands still meanwhile: the one that waits for it, as far as that can be told. */
#ifndef GPURT_CUPTI_PYSTACK_H
#define GPURT_CUPTI_PYSTACK_H

#include "pylayout.h"

enum {
    PYSTACK_FRAMES = 48, /* innermost first; what is further out is left out */
    PYSTACK_TEXT = 640
};

/* What of a code object tells it from others, and its text from others'. */
typedef struct pycode {
    uint64_t at, file, name, table;
    uint32_t first_line;
    int32_t byte; /* of its instruction; less than 0: before the first */
} pycode_t;

/* Owner: the caller, on its stack. */
typedef struct pystack {
    uint32_t count;
    bool waits; /* of another thread, which waits */
    pycode_t of[PYSTACK_FRAMES];
} pystack_t;

/* thread: pthread_self of a thread of this process; here: it is the caller's. Returns: whether there
 * are frames that make sense; another thread's are not taken while it runs. Context: any thread. */
bool pystack_read(const pylayout_found_t *python, uint64_t thread, bool here,
                  pystack_t *out);

/* Stacks of one hash have one text, as long as no code object takes another's place. Not 0. */
uint64_t pystack_hash(const pystack_t *stack);

/* "/src/train.py:9 step < /src/train.py:31 main": innermost first. Of frames in Python's own
 * libraries and in installed packages the innermost three are there, others are "...". */
void pystack_write(const pylayout_found_t *python, const pystack_t *stack,
                   char text[PYSTACK_TEXT]);

#endif
