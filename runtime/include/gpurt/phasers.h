/* SPDX-License-Identifier: Apache-2.0 */
/* phasers.h - barriers between blocks: the host's side (phaser.h has the device's). */
#ifndef GPURT_PHASERS_H
#define GPURT_PHASERS_H

#include <gpurt/gpurt.h>
#include <gpurt/phaser.h>

GPURT_BEGIN_DECLS

/* Whether so many blocks of a launch can be resident at once, with nothing else on the device.
 * Context: host, any thread. Returns: GPURT_E_OCCUPANCY, with how many can, if not. */
gpurt_status_t gpurt_phaser_fits(gpurt_t *rt, const gpurt_launch_t *launch,
                                 const gpurt_kernel_t *kernel, uint32_t blocks,
                                 gpurt_error_t *err);

GPURT_END_DECLS

#endif
