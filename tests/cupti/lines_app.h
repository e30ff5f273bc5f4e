/* SPDX-License-Identifier: Apache-2.0 */
/* lines_app.h - kernels of which samples are taken while they run: where, the tests know. */
#ifndef GPURT_TESTS_LINES_APP_H
#define GPURT_TESTS_LINES_APP_H

#include <stdint.h>

/* A kernel with lines and one without, for so long; then the context ends. */
void lines_run(long ms);
/* The same kernel runs on as the program ends. */
void lines_hang(long ms);
/* Something else runs, and after a while that. */
void lines_turns(long ms);
/* It runs on while the program is stopped for some three seconds. */
void lines_stopped(long ms);
/* It runs on as its context ends. */
void lines_leave(long ms);
/* Two contexts of a GPU, one of another, and one that comes as the first has ended. */
void lines_contexts(void);
/* A kernel with inlined calls, for so long. */
void lines_inlined(long ms);
/* So many modules come and go, each with a kernel of its own. */
void lines_modules(long count);
/* So many instructions, of functions with long names. */
void lines_many(long count);
/* Another process than this has the GPU's lines, so to speak, until a second context comes. */
void lines_taken(long ms);
/* A context whose lines CUPTI refuses, before and behind one that ended with a kernel. */
void lines_refused(long ms);
/* Its child lives on, and leaves its number in the file "child". */
void lines_forked(long ms);
/* From now on those kernels run in a context that is there. */
void lines_spin(uint32_t context);
/* A context, and no kernel. */
void lines_none(void);

#endif
