/* SPDX-License-Identifier: Apache-2.0 */
/* barebox.h - the box of a device that nobody logs: panic slots and definitions of their sites,
 * about 1 MiB of memory that no other process attaches; a core dump has it. There are no rings,
 * so log calls return at once, as without a box. */
#ifndef GPURT_HOST_BAREBOX_H
#define GPURT_HOST_BAREBOX_H

#include "boxmap.h"
#include "choice.h"

/* Its one section is 0. Context: gpurt_open, gpurt_close; no kernel runs. */
gpurt_status_t gpurt_barebox_open(const gpurt_opened_t *opened, gpurt_boxmap_t *map,
                                  gpurt_error_t *err);
void gpurt_barebox_close(const gpurt_opened_t *opened, gpurt_boxmap_t *map);

#endif
