/* SPDX-License-Identifier: Apache-2.0 */
/* panictext.h - a panic slot of this process's own box as one line of words: where, what. The
 * programs that read logs have the whole of it (logstore/store/render.h); this is the short form. */
#ifndef GPURT_HOST_PANICTEXT_H
#define GPURT_HOST_PANICTEXT_H

#include "boxmap.h"

enum {
    GPURT_PANICTEXT_BYTES = 640
};

/* Whether the record and its site's definition are there. Order: B6, B3; what follows may read
 * the slot from then on. */
bool gpurt_panictext_ready(const gpurt_boxmap_t *map, uint32_t section, uint32_t number);

/* What there is of it, also where it is not ready; unescaped, cut. */
void gpurt_panictext_put(const gpurt_boxmap_t *map, uint32_t section, uint32_t number,
                         char to[GPURT_PANICTEXT_BYTES]);

#endif
