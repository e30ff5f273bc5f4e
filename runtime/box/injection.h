/* SPDX-License-Identifier: Apache-2.0 */
/* injection.h - how the collector gets into programs: the driver loads the library that an
 * environment variable names. Called by whoever starts a program under the monitor, and by
 * gpurt_open before it touches the driver. */
#ifndef GPURT_INJECTION_H
#define GPURT_INJECTION_H

#include <gpurt/base.h>

#define GPURT_INJECTION_ENV  "CUDA_INJECTION64_PATH"
#define GPURT_INJECTION_NEXT "GPURT_INJECTION_NEXT" /* what stood there before */
#define GPURT_INJECTION_LIB  "libgpurt-inject.so"
#define GPURT_LAUNCHHOOK_LIB \
    "libgpurt-launch.so" /* beside it; preloaded, where launches are asked for */
/* The process, by number, that is in gpurt_open: a box of its own will be there soon, and the
 * collector waits for it. */
#define GPURT_INJECTION_OPENS "GPURT_OPENS"

/* What GPURT_CUPTI takes, with commas between; for people. wanted.c knows what they mean. */
#define GPURT_CUPTI_WORDS                                                               \
    "off, default, live, all, later, kernels, copies, fills, waits, overhead, memory, " \
    "ranges, "                                                                          \
    "calls, graphs, device-graphs, nodes, managed, samples, launches, running, "        \
    "counted, host-waits, full, lines, sampled, try-lines, windows, budget"

/* Returns: the first of `words` that is none of them, *bytes long; NULL: each is one. */
const char *gpurt_injection_unknown(const char *words, size_t *bytes);

/* Whether `words` say off beside others, of which the collector takes the others. */
bool gpurt_injection_contradicts(const char *words);

/* Where libgpurt-inject.so is: beside the program as the build and the installed tree have it,
 * the folder that it was installed to, or what GPURT_INJECTION_LIBRARY says. */
bool gpurt_injection_find(char *path, size_t room);

/* Names libgpurt-inject.so in this process's environment, for itself and for what it starts.
 * A library that is named already is run first by ours. Does nothing with GPURT_CUPTI=off,
 * or when ours is not found.
 * Returns: whether it is named now. */
bool gpurt_injection_name(void);

/* Lets the collector of this process, if there is one, write what it has: the box is about to
 * be closed. At most a second. */
void gpurt_injection_sync(void);

/* Tells the collector of this process, if there is one, of a service of that GPU: calls that wait
 * for it are then told in the log. */
void gpurt_injection_serve(uint32_t device, const char *name, bool begins);

#endif
