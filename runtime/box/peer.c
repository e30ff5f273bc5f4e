/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <unistd.h>

struct ucred gpurt_peer_of(int fd)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t bytes = sizeof peer;

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
    return peer;
}

bool gpurt_peer_has_ours(uid_t who)
{
    uid_t real, effective, saved;

    if (who == (uid_t)-1 || getresuid(&real, &effective, &saved) != 0)
        return false;
    return who == 0 || (who == real && who == effective && who == saved);
}

/* Others see us as whom we are in effect. */
bool gpurt_peer_is_ours(uid_t owner)
{
    return owner != (uid_t)-1 && (geteuid() == owner || geteuid() == 0);
}
