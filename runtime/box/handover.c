/* SPDX-License-Identifier: Apache-2.0 */
#include "handover.h"

#include "procfs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    TAKE_S = 1, /* one who connects and says nothing holds up a drainer */
    GIVE_S = 5  /* a drainer that is busy or stopped holds up a program's start */
};

/* A call with a time limit ends when its process is stopped and goes on (signal(7)). */
#define UNINTERRUPTED(call)                 \
    __extension__({                         \
        ssize_t got_;                       \
        do                                  \
            got_ = (call);                  \
        while (got_ < 0 && errno == EINTR); \
        got_;                               \
    })

static const char hello[8] = "GPRTBOX";

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    size_t bytes = strnlen(name, GPURT_HANDOVER_NAME - 1);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, bytes); /* a leading 0: abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
}

/* Returns: (uid_t)-1, not known. */
static uid_t peer_uid(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.uid
                                                                       : (uid_t)-1;
}

static bool peer_is_us(int fd)
{
    uid_t peer = peer_uid(fd);

    return peer != (uid_t)-1 && (peer == getuid() || getuid() == 0);
}

gpurt_status_t gpurt_handover_listen(char name[GPURT_HANDOVER_NAME], int *fd,
                                     gpurt_error_t *err)
{
    struct sockaddr_un address;
    socklen_t bytes;

    snprintf(name, GPURT_HANDOVER_NAME, "gpurt-%u-%llx", (unsigned)getpid(),
             (unsigned long long)gpurt_real_ns());
    bytes = address_of(name, &address);
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, bytes) != 0 ||
        listen(*fd, 16) != 0) {
        int code = errno;

        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "drainer: socket %s",
                          name);
    }
    return GPURT_OK;
}

/* One message with one descriptor. Returns: the descriptor, or -1. */
static int receive_fd(int from)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char text[sizeof hello] = "";
    struct iovec data = {text, sizeof text};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *c;
    int fd = -1;

    if (UNINTERRUPTED(recvmsg(from, &message, MSG_CMSG_CLOEXEC)) <= 0)
        return -1;
    c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (fd >= 0 && memcmp(text, hello, sizeof hello) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

gpurt_status_t gpurt_handover_take(int listener, int *box_fd, gpurt_error_t *err)
{
    struct pollfd asked = {listener, POLLIN, 0};
    struct timeval limit = {TAKE_S, 0};
    int fd;

    *box_fd = -1;
    /* accept makes a socket before it looks: ten times as dear, for who asks all the time. */
    if (poll(&asked, 1, 0) <= 0)
        return GPURT_E_NOT_READY;
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
                   ? GPURT_E_NOT_READY
                   : gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                                "drainer: accept");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (peer_is_us(fd))
        *box_fd = receive_fd(fd);
    if (*box_fd >= 0 && send(fd, hello, sizeof hello, MSG_NOSIGNAL) < 0) {
        /* It hung up, but its box is here. */
    }
    close(fd);
    return *box_fd >= 0 ? GPURT_OK
                        : gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                                     "drainer: somebody connected without a box");
}

static bool send_fd(int to, int box_fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char text[sizeof hello];
    struct iovec data = {text, sizeof text};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *c;

    memcpy(text, hello, sizeof hello);
    memset(&control, 0, sizeof control);
    c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof box_fd);
    memcpy(CMSG_DATA(c), &box_fd, sizeof box_fd);
    return UNINTERRUPTED(sendmsg(to, &message, MSG_NOSIGNAL)) == (ssize_t)sizeof text;
}

gpurt_status_t gpurt_handover_give(const gpurt_boxmap_t *map, gpurt_error_t *err)
{
    return gpurt_handover_give_to(getenv(GPURT_HANDOVER_ENV), map, err);
}

gpurt_status_t gpurt_handover_give_to(const char *name, const gpurt_boxmap_t *map,
                                      gpurt_error_t *err)
{
    struct timeval limit = {GIVE_S, 0};
    struct sockaddr_un address;
    char answer[sizeof hello];
    socklen_t bytes;
    bool done;
    int fd;

    if (!name || !*name)
        return GPURT_E_NOT_READY;
    bytes = address_of(name, &address);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "socket for the drainer");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    done = connect(fd, (struct sockaddr *)&address, bytes) == 0 &&
           (peer_is_us(fd) || peer_uid(fd) == 0) && /* root can read it anyway */
           send_fd(fd, map->fd) && UNINTERRUPTED(recv(fd, answer, sizeof answer, 0)) > 0;
    if (!done)
        gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                   "the drainer that %s names does not answer; is it still running?",
                   GPURT_HANDOVER_ENV);
    close(fd);
    return done ? GPURT_OK : GPURT_E_OS;
}
