/* SPDX-License-Identifier: Apache-2.0 */
/* launchsite.h - who launched a kernel: the line, and the calls that led there, in the log
 * once for each way to a launch. Asked for by GPURT_LAUNCH_SITES=1, because walking the
 * stack costs a launch microseconds. */
#ifndef GPURT_HOST_LAUNCHSITE_H
#define GPURT_HOST_LAUNCHSITE_H

#include <gpurt/base.h>

/* Whether the environment asks for it. Context: gpurt_open. */
void gpurt_launchsite_connect(void);
void gpurt_launchsite_disconnect(void);

/* Context: any thread, in the call that launches. file NULL: not known. caller: where that call
 * returns to; what lies above it on the stack is ours. */
void gpurt_launchsite_note(const char *kernel, const char *file, uint32_t line,
                           const void *caller);

#endif
