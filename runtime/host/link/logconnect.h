/* SPDX-License-Identifier: Apache-2.0 */
/* logconnect.h - ties the CPU back end's kernels to a section of a box. */
#ifndef GPURT_LOGCONNECT_H
#define GPURT_LOGCONNECT_H

#include "boxmap.h"

#include <gpurt/impl/logport.h>

/* From now on kernels of that device of the CPU back end log into this section; of a bare box,
 * panics alone go there. The map stays until disconnect. Context: no kernel runs. */
gpurt_status_t gpurt_log_connect(uint32_t index, const gpurt_boxmap_t *map,
                                 uint32_t section, gpurt_error_t *err);

/* Fills what a port says of the section's state pages, with the host's addresses; nothing
 * where it has none. */
void gpurt_log_connect_state(const gpurt_boxmap_t *map, uint32_t section,
                             gpurt_log_port_t *port);

/* Sites forget their numbers, so that another box can be connected. */
void gpurt_log_disconnect(uint32_t index, const gpurt_boxmap_t *map, uint32_t section);
/* In a forked child: no box is connected there, whatever was. */
void gpurt_log_forget(uint32_t index);

#endif
