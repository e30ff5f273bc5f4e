/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - how an application gives its box to a drainer that waits for it.
 *
 * A drainer listens on an abstract socket (lobby.h) and names it in GPURT_DRAIN of the
 * programs that it starts; gpurt_open connects there and sends the box's descriptor. The
 * name survives fork, exec and a program that closes all descriptors. It says nothing of
 * who listens: an application gives its box to its own user and to root alone (peer.h). */
#ifndef GPURT_HANDOVER_H
#define GPURT_HANDOVER_H

#include "boxmap.h"

#include <sys/socket.h>
#include <sys/un.h>

#define GPURT_HANDOVER_ENV "GPURT_DRAIN"
/* Either side says it, the application with its box. */
#define GPURT_HANDOVER_HELLO "GPRTBOX"
#define GPURT_HANDOVER_NONE  "GPRTNOB" /* and a line that says why there is no box */
enum {
    GPURT_HANDOVER_NAME = 64
};

/* Returns: its bytes. */
socklen_t gpurt_handover_address(const char *name, struct sockaddr_un *address);

/* Returns: GPURT_E_NOT_READY when no drainer is named, GPURT_E_HANDLE
 * when who listens is not to have it. Waits five seconds for a place among those who wait for the
 * drainer, and as long for it to confirm, whatever signals come. */
gpurt_status_t gpurt_handover_give(const gpurt_boxmap_t *map, gpurt_error_t *err);
/* The same to one that the environment does not name. */
gpurt_status_t gpurt_handover_give_to(const char *name, const gpurt_boxmap_t *map,
                                      gpurt_error_t *err);
/* Tells the drainer that the environment names, if it does, why this program has no box for it. */
void gpurt_handover_refuse(const char *why);

#endif
