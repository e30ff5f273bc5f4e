/* SPDX-License-Identifier: Apache-2.0 */
/* nicename.h - mangled names of kernels as people write them, where they are shown: launches are
 * recorded under the name that the driver has, as nothing is to be done for a name between a
 * program and its launch.
 *
 * A log is not trusted, and a name of 300 bytes can stand for gigabytes of text and hours of work:
 * so a process of its own reads them, and ends where one takes too long. Context: programs of one
 * thread. */
#ifndef GPURT_TUI_NICENAME_H
#define GPURT_TUI_NICENAME_H

/* Returns: NULL: it is no mangled name, nothing here knows, or it is too large. Borrowed until the
 * next call. */
const char *nicename(const char *text);

#endif
