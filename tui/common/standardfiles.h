/* SPDX-License-Identifier: Apache-2.0 */
/* standardfiles.h - standard input, output and error of a program that was started without one of
 * them. The next file that it opens would get that number, and what is meant for people would be
 * written over a log. */
#ifndef GPURT_TUI_STANDARDFILES_H
#define GPURT_TUI_STANDARDFILES_H

/* Before anything is opened. What is missing becomes /dev/null, open the wrong way: reading standard
 * input and writing to the others fail as before, for programs that inherit them too. */
void standardfiles_fill(void);

#endif
