/* SPDX-License-Identifier: Apache-2.0 */
/* addr2line.h - asks the program addr2line, if it is installed, what stands at an offset of a
 * module: it reads debug information, which the loader does not. */
#ifndef GPURT_BASE_ADDR2LINE_H
#define GPURT_BASE_ADDR2LINE_H

#include <gpurt/base.h>

/* offset: of the call, not of where it returns to; absolute in a program that is linked to a
 * fixed address. *out: "function\nfile:line\n", innermost first, for all that was inlined
 * there; "??" for what is not known. Returns: false, nothing was said; a privileged program does not
 * ask: debug information may lie where another user wrote it. */
bool gpurt_addr2line(const char *module, uintptr_t offset, char *out, size_t bytes);

#endif
