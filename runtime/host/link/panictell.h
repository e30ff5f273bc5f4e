/* SPDX-License-Identifier: Apache-2.0 */
/* panictell.h - panics of kernels on standard error: one line for each of the first, then how
 * many there were. docs/PANICS.md has the rules.
 *
 * A GPU wakes no thread, so one looks at the count of panics in the box: soon after a launch,
 * ever less often then. Only behind a panic it calls into a device (panichang.h). Whoever waits for kernels looks, too,
 * before the wait returns; so do gpurt_close and the end of the process. */
#ifndef GPURT_HOST_PANICTELL_H
#define GPURT_HOST_PANICTELL_H

#include "boxmap.h"
#include "boxpart.h"

enum {
    GPURT_PANICTELL_LINES = 8 /* panics a process that have a line of their own */
};

/* more: where a reader finds more; copied. The map stays until stop. Where no thread can be
 * started, lines come from those who wait. Context: gpurt_open. */
void gpurt_panictell_start(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                           uint32_t section, const char *more);
/* Tells what is left. Context: gpurt_close; no kernel runs. */
void gpurt_panictell_stop(const gpurt_opened_t *opened);

/* In a forked child, instead: nothing is told, and nobody waited for. */
void gpurt_panictell_forked(uint32_t index);

/* Tells what has come until now. Context: host, any thread, inside the runtime. */
void gpurt_panictell_look(const gpurt_opened_t *opened);

#endif
