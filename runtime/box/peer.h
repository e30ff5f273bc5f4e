/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - who is at the other end of a local socket, and what of a program's is for whom:
 * handover.h and later.h go by it.
 *
 * What a program records is for the user that it runs as, and for root. One that is of several
 * users at once (real, effective and saved), as in the midst of a change, records for root alone:
 * the kernel lets nobody else look into it, either. What counts is who it is at that moment. A
 * kernel that knows of no others (gVisor) says of every peer that it is us. */
#ifndef GPURT_PEER_H
#define GPURT_PEER_H

#include <gpurt/base.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* uid (uid_t)-1, pid 0: not known. */
struct ucred gpurt_peer_of(int fd);

/* Whether what we record is for that user; not known: it is not. */
bool gpurt_peer_has_ours(uid_t who);

/* Whether what a program of that user records is for us. */
bool gpurt_peer_is_ours(uid_t owner);

#endif
