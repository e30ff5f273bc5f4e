/* SPDX-License-Identifier: Apache-2.0 */
/* lobby.h - where applications wait that have a box for a drainer (handover.h has their side).
 *
 * A drainer listens under a name of its own and takes a box of whoever comes, of its own user's
 * programs alone, root's of anybody's. It drains others' boxes meanwhile, so nobody holds it up: who
 * comes and says nothing waits, with a few like him, until his time is over. */
#ifndef GPURT_LOBBY_H
#define GPURT_LOBBY_H

#include "handover.h"

#include <sys/types.h>

enum {
    GPURT_LOBBY_GUESTS = 8 /* further ones wait outside */
};

typedef struct gpurt_guest {
    int fd;
    uid_t user;
    uint64_t until_ns; /* he has to speak, by the steady clock */
} gpurt_guest_t;

/* Owner: the drainer. */
typedef struct gpurt_lobby {
    int listener; /* -1: closed */
    bool refuses; /* for want of descriptors or memory, when somebody came last */
    uint32_t guests;
    gpurt_guest_t guest[GPURT_LOBBY_GUESTS]; /* in the order in which they came */
    char name[GPURT_HANDOVER_NAME];
} gpurt_lobby_t;

/* The sockets are close-on-exec. */
gpurt_status_t gpurt_lobby_open(gpurt_lobby_t *lobby, gpurt_error_t *err);
void gpurt_lobby_close(gpurt_lobby_t *lobby);

/* One box. Returns: GPURT_E_NOT_READY when there is none (at once, or two milliseconds after each who
 * came and said nothing; who is among the guests may still), GPURT_E_HANDLE when somebody came whom we do not hear, GPURT_E_INVALID when what
 * he said is no box, or nothing; GPURT_E_UNSUPPORTED when a program says why it has no box. */
gpurt_status_t gpurt_lobby_take(gpurt_lobby_t *lobby, int *box_fd, gpurt_error_t *err);

/* Waits, so many milliseconds at most, until somebody comes for whom there is room, or a guest
 * speaks. */
void gpurt_lobby_wait(const gpurt_lobby_t *lobby, int ms);

#endif
