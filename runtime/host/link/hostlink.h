/* SPDX-License-Identifier: Apache-2.0 */
/* hostlink.h - ties gpurt_log (gpurt/hostlog.h) to the host's section of a box. */
#ifndef GPURT_HOST_HOSTLINK_H
#define GPURT_HOST_HOSTLINK_H

#include "boxmap.h"

/* The map stays until disconnect. Context: one thread. */
void gpurt_hostlink_connect(const gpurt_boxmap_t *map, uint32_t section);

/* Waits for calls that are under way; those that wait for room give up. Sites forget their
 * numbers, so that another box can be connected. Context: as above. */
void gpurt_hostlink_disconnect(void);

#endif
