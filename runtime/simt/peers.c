/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that are open at once, for lanes that store what lanes of another one wait for
 * (peerlook.h): those wait as for the host, and their workers may sleep. */
#include "peers.h"

#include "process.h"

#include <string.h>

static gpurt_lock_t peers_lock = GPURT_LOCK_INIT;
/* All under the lock. */
static struct {
    simt_device_t *devices[GPURT_MAX_DEVICES];
    uint32_t process; /* generation of who has them */
} peers;

static void lock(void)
{
    gpurt_lock_take(&peers_lock);
    if (peers.process == gpurt_process_generation())
        return;
    memset(&peers, 0, sizeof peers); /* the parent's */
    peers.process = gpurt_process_generation();
}

void simt_peers_add(simt_device_t *d)
{
    lock();
    peers.devices[d->index] = d;
    gpurt_lock_give(&peers_lock);
}

void simt_peers_remove(const simt_device_t *d)
{
    lock();
    if (peers.devices[d->index] == d)
        peers.devices[d->index] = NULL;
    gpurt_lock_give(&peers_lock);
}

void simt_peers_each(void (*what)(simt_device_t *d))
{
    lock();
    for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++)
        if (peers.devices[i])
            what(peers.devices[i]);
    gpurt_lock_give(&peers_lock);
}
