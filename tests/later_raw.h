/* SPDX-License-Identifier: Apache-2.0 */
/* later_raw.h - the socket of a collector that sleeps, for tests that do with it what neither side
 * of later.h would. */
#ifndef GPURT_TEST_LATER_RAW_H
#define GPURT_TEST_LATER_RAW_H

#include "check.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static inline socklen_t later_raw_address(pid_t pid, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(address->sun_path + 1, sizeof address->sun_path - 1,
                                        "gpurt-later-%d", (int)pid));
}

/* Says nothing. type: more of the socket's, as SOCK_NONBLOCK, with which there may be no place
 * for it. Returns: -1 then. */
static inline int later_raw_connect(pid_t pid, int type)
{
    struct sockaddr_un address;
    socklen_t bytes = later_raw_address(pid, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | type, 0);

    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, bytes) == 0)
        return fd;
    CHECK(type != 0);
    close(fd);
    return -1;
}

/* In the place of another process. */
static inline void later_raw_listen(pid_t pid)
{
    struct sockaddr_un address;
    socklen_t bytes = later_raw_address(pid, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK_EQ(bind(fd, (struct sockaddr *)&address, bytes), 0);
    CHECK_EQ(listen(fd, 4), 0);
}

#endif
