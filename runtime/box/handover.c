/* SPDX-License-Identifier: Apache-2.0 */
#include "handover.h"

#include "environ.h"
#include "hosttime.h"
#include "peer.h"
#include "uninterrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GIVE_S = 5 /* a drainer that is busy or stopped holds up a program's start */
};
#define GIVE_NS (GIVE_S * 1000000000ull)

socklen_t gpurt_handover_address(const char *name, struct sockaddr_un *address)
{
    size_t bytes = strnlen(name, GPURT_HANDOVER_NAME - 1);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, bytes); /* a leading 0: abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
}

/* Of a call that failed: whether it is to be made again. Its limit begins anew each time, and a
 * program may get signals all the time. */
static bool goes_on(uint64_t until_ns)
{
    return errno == EINTR && gpurt_steady_ns() < until_ns;
}

static bool drainer_reach(int fd, const char *name)
{
    const uint64_t until_ns = gpurt_steady_ns() + GIVE_NS;
    struct sockaddr_un address;
    socklen_t bytes = gpurt_handover_address(name, &address);
    int failed;

    do
        failed = connect(fd, (struct sockaddr *)&address, bytes);
    while (failed && goes_on(until_ns));
    return !failed;
}

/* Returns: whether it has the box; errno, 0: it hung up. */
static bool answer_read(int from)
{
    const uint64_t until_ns = gpurt_steady_ns() + GIVE_NS;
    char answer[sizeof GPURT_HANDOVER_HELLO];
    ssize_t bytes;

    do
        bytes = recv(from, answer, sizeof answer, 0);
    while (bytes < 0 && goes_on(until_ns));
    if (bytes == 0)
        errno = 0;
    return bytes > 0;
}

static bool send_fd(int to, int box_fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char text[] = GPURT_HANDOVER_HELLO;
    struct iovec data = {text, sizeof text};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *c;

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
    return gpurt_handover_give_to(gpurt_env_get(GPURT_HANDOVER_ENV), map, err);
}

static gpurt_status_t no_answer(int code, gpurt_error_t *err)
{
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code,
                      "the drainer that %s names does not answer; is it still running?",
                      GPURT_HANDOVER_ENV);
}

/* Anybody can listen under any name, as when whoever had it has gone. */
static gpurt_status_t of_another(uid_t who, gpurt_error_t *err)
{
    return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                      "the drainer is user %u's; this program, of user %u, gives its log "
                      "to its own user and root alone",
                      (unsigned)who, (unsigned)geteuid());
}

static gpurt_status_t give(int fd, const char *name, int box_fd, gpurt_error_t *err)
{
    uid_t who;

    if (!drainer_reach(fd, name))
        return no_answer(errno, err);
    who = gpurt_peer_of(fd).uid;
    if (!gpurt_peer_has_ours(who))
        return of_another(who, err);
    return send_fd(fd, box_fd) && answer_read(fd) ? GPURT_OK : no_answer(errno, err);
}

/* Returns: a socket whose calls have a limit, or -1. */
static int socket_make(void)
{
    struct timeval limit = {GIVE_S, 0};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

/* There is nothing to wait for: the message stays there when we are gone. */
void gpurt_handover_refuse(const char *why)
{
    const char *name = gpurt_env_get(GPURT_HANDOVER_ENV);
    char text[sizeof GPURT_HANDOVER_NONE + GPURT_ERROR_TEXT] = GPURT_HANDOVER_NONE;
    int fd = name ? socket_make() : -1;

    if (fd < 0)
        return;
    snprintf(text + sizeof GPURT_HANDOVER_NONE, GPURT_ERROR_TEXT, "%s", why);
    if (drainer_reach(fd, name) && gpurt_peer_has_ours(gpurt_peer_of(fd).uid) &&
        UNINTERRUPTED(send(fd, text, sizeof text, MSG_NOSIGNAL)) < 0) {
        /* It hung up: nobody records. */
    }
    close(fd);
}

gpurt_status_t gpurt_handover_give_to(const char *name, const gpurt_boxmap_t *map,
                                      gpurt_error_t *err)
{
    gpurt_status_t st;
    int fd;

    if (!name || !*name)
        return GPURT_E_NOT_READY;
    fd = socket_make();
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "socket for the drainer%s",
                          errno == EMFILE ? " (raise ulimit -n)" : "");
    st = give(fd, name, map->fd, err);
    close(fd);
    return st;
}
