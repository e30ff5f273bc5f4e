/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - how an application gives its box to a drainer that waits for it.
 *
 * A drainer listens on an abstract socket and names it in GPURT_DRAIN of the programs
 * that it starts; gpurt_open connects there and sends the box's descriptor. The name
 * survives fork, exec and a program that closes all descriptors. Both sides check that
 * the other runs as the same user; an application gives its box to root, too. */
#ifndef GPURT_HANDOVER_H
#define GPURT_HANDOVER_H

#include "boxmap.h"

#define GPURT_HANDOVER_ENV "GPURT_DRAIN"
enum {
    GPURT_HANDOVER_NAME = 64
};

/* Opens a listening socket that does not block; *fd is close-on-exec. */
gpurt_status_t gpurt_handover_listen(char name[GPURT_HANDOVER_NAME], int *fd,
                                     gpurt_error_t *err);

/* Takes one box from whoever waits. Returns: GPURT_E_NOT_READY when nobody does. */
gpurt_status_t gpurt_handover_take(int listener, int *box_fd, gpurt_error_t *err);

/* The application's side. Returns: GPURT_E_NOT_READY when no drainer is named. Waits at
 * most a second for the drainer to confirm. */
gpurt_status_t gpurt_handover_give(const gpurt_boxmap_t *map, gpurt_error_t *err);
/* The same to one that the environment does not name. */
gpurt_status_t gpurt_handover_give_to(const char *name, const gpurt_boxmap_t *map,
                                      gpurt_error_t *err);

#endif
