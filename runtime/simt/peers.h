/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - the devices that are open at once. */
#ifndef GPURT_SIMT_PEERS_H
#define GPURT_SIMT_PEERS_H

#include "simt.h"

/* Its workers run; they will be joined. */
void simt_peers_add(simt_device_t *d);
void simt_peers_remove(const simt_device_t *d);

/* Each of them, which stays open meanwhile. Context: any thread. */
void simt_peers_each(void (*what)(simt_device_t *d));

#endif
