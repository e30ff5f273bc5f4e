/* SPDX-License-Identifier: Apache-2.0 */
/* boxcheck.h - what is a box, and what is only bytes. Shared by create and attach. */
#ifndef GPURT_BOXCHECK_H
#define GPURT_BOXCHECK_H

#include "boxmap.h"

/* CRC-32C of the fields that never change after creation, the check itself excluded. */
uint32_t gpurt_boxcheck_sum(const gpurt_box_t *box);

/* The largest ring. Overwriting must tell a group one lap ahead from one a lap behind,
 * which halves what a 16-bit sequence can bear. */
uint32_t gpurt_boxcheck_ring_max(uint32_t policy);

/* Checks map->box against map->bytes and copies the table of sections. */
gpurt_status_t gpurt_boxcheck_adopt(gpurt_boxmap_t *map, gpurt_error_t *err);

#endif
