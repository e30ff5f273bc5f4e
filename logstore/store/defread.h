/* SPDX-License-Identifier: Apache-2.0 */
/* defread.h - a definition of a box as a private copy. The box may be wrong or hostile, so
 * lengths are bounded against the table before a byte of text is touched. */
#ifndef GPURT_LOG_DEFREAD_H
#define GPURT_LOG_DEFREAD_H

#include "boxmap.h"

/* text: GPURT_DEF_TEXT_BYTES; format, file, module one behind another, as *def counts
 * them. Returns: false where it is not there, not whole, or not sound. */
bool gpurt_def_read(const gpurt_boxmap_t *map, uint32_t section, uint32_t number,
                    gpurt_def_t *def, char *text);

#endif
