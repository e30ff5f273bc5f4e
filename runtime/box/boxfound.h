/* SPDX-License-Identifier: Apache-2.0 */
/* boxfound.h - boxes on their way into a gpurt_boxes_t: shared by those who find them. */
#ifndef GPURT_BOXFOUND_H
#define GPURT_BOXFOUND_H

#include "boxes.h"

/* Puts an attached box into its place in the order; it is the list's from then on. */
void gpurt_boxfound_add(gpurt_boxes_t *boxes, const gpurt_boxmap_t *map,
                        gpurt_error_t *err);

#endif
