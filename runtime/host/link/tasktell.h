/* SPDX-License-Identifier: Apache-2.0 */
/* tasktell.h - where tasks that wait are told of: a device's part of the black box (taskpage.h).
 *
 * Context: host. What looks at executors, under the viewer's lock; and who opens one. */
#ifndef GPURT_HOST_TASKTELL_H
#define GPURT_HOST_TASKTELL_H

#include "boxmap.h"
#include "choice.h"

/* Returns: NULL, nobody looks on. */
gpurt_taskpage_t *gpurt_tasktell_page(const gpurt_t *rt);
/* The device's section, and what real time a time of its kernels is. Context: there is a page. */
uint32_t gpurt_tasktell_section(const gpurt_t *rt);
uint64_t gpurt_tasktell_real(const gpurt_t *rt, uint64_t time48, uint64_t now_ns);

/* ---- logpart.c -------------------------------------------------------------------------- */
void gpurt_tasktell_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                            uint32_t device, uint32_t host);
void gpurt_tasktell_disconnect(const gpurt_opened_t *opened);
void gpurt_tasktell_forked(uint32_t index);

#endif
