/* SPDX-License-Identifier: Apache-2.0 */
#include "lobby.h"

#include "hosttime.h"
#include "peer.h"
#include "uninterrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    OUTSIDE = 16,    /* connections that the system keeps for us */
    GREETING_MS = 2, /* as a rule they speak as soon as they come */
    NOT_YET = -2
};
#define SILENCE_NS 1000000000ull

/* ---- open, close --------------------------------------------------------------------- */

gpurt_status_t gpurt_lobby_open(gpurt_lobby_t *lobby, gpurt_error_t *err)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int code;

    lobby->guests = 0;
    lobby->refuses = false;
    snprintf(lobby->name, sizeof lobby->name, "gpurt-%u-%llx", (unsigned)getpid(),
             (unsigned long long)gpurt_real_ns());
    bytes = gpurt_handover_address(lobby->name, &address);
    lobby->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (lobby->listener >= 0 &&
        bind(lobby->listener, (struct sockaddr *)&address, bytes) == 0 &&
        listen(lobby->listener, OUTSIDE) == 0)
        return GPURT_OK;
    code = errno;
    gpurt_lobby_close(lobby);
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "drainer: socket %s",
                      lobby->name);
}

static void guest_leave(gpurt_lobby_t *lobby, uint32_t i)
{
    gpurt_guest_t *g = &lobby->guest[i];

    close(g->fd);
    memmove(g, g + 1, (--lobby->guests - i) * sizeof *g);
}

void gpurt_lobby_close(gpurt_lobby_t *lobby)
{
    while (lobby->guests)
        guest_leave(lobby, 0);
    if (lobby->listener >= 0)
        close(lobby->listener);
    lobby->listener = -1;
}

/* ---- a guest ------------------------------------------------------------------------- */

/* One message with one descriptor. Returns: the descriptor, NOT_YET, or -1, where `why` is what it
 * says about that, or "". */
static int receive_fd(int from, char why[GPURT_ERROR_TEXT])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char text[sizeof GPURT_HANDOVER_NONE + GPURT_ERROR_TEXT] = "";
    struct iovec data = {text, sizeof text - 1};
    /* Of this length: what is aligned has room for a second one, which nobody would close. */
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    struct cmsghdr *c;
    int fd = -1;

    why[0] = '\0';
    /* A message of no bytes may bring one, too. */
    if (UNINTERRUPTED(recvmsg(from, &message, MSG_CMSG_CLOEXEC)) < 0)
        return errno == EAGAIN ? NOT_YET : -1;
    c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (fd >= 0 && memcmp(text, GPURT_HANDOVER_HELLO, sizeof GPURT_HANDOVER_HELLO) != 0) {
        close(fd);
        fd = -1;
    } else if (fd < 0 &&
               memcmp(text, GPURT_HANDOVER_NONE, sizeof GPURT_HANDOVER_NONE) == 0) {
        snprintf(why, GPURT_ERROR_TEXT, "%s", text + sizeof GPURT_HANDOVER_NONE);
    }
    return fd;
}

static gpurt_status_t guest_hear(const gpurt_guest_t *g, int *box_fd, gpurt_error_t *err)
{
    char why[GPURT_ERROR_TEXT];
    int fd = receive_fd(g->fd, why);

    if (fd == NOT_YET && gpurt_steady_ns() < g->until_ns)
        return GPURT_E_NOT_READY;
    if (fd < 0 && why[0])
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "a program made no box: %s", why);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "drainer: somebody connected without a box");
    if (g->user == geteuid() || gpurt_boxmap_keeps_size(fd)) {
        *box_fd = fd;
        return GPURT_OK;
    }
    close(fd);
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "drainer: a program of user %u gave a box that it can make shorter",
                      (unsigned)g->user);
}

/* Returns: GPURT_OK when one has; GPURT_E_NOT_READY when nobody comes, or there is no room. */
static gpurt_status_t guest_enter(gpurt_lobby_t *lobby, gpurt_error_t *err)
{
    struct pollfd asked = {lobby->listener, POLLIN, 0};
    gpurt_guest_t g;

    lobby->refuses = false;
    /* accept makes a socket before it looks: ten times as dear, for who asks all the time. */
    if (lobby->guests == GPURT_LOBBY_GUESTS || poll(&asked, 1, 0) <= 0)
        return GPURT_E_NOT_READY;
    g.fd = accept4(lobby->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (g.fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return GPURT_E_NOT_READY;
    if (g.fd < 0) {
        lobby->refuses = true;
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "drainer: accept");
    }
    g.user = gpurt_peer_of(g.fd).uid;
    if (!gpurt_peer_is_ours(g.user)) {
        close(g.fd);
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "drainer: a program of user %u connected; only that user and "
                          "root can record it",
                          (unsigned)g.user);
    }
    g.until_ns = gpurt_steady_ns() + SILENCE_NS;
    lobby->guest[lobby->guests++] = g;
    asked.fd = g.fd;
    poll(&asked, 1, GREETING_MS);
    return GPURT_OK;
}

/* Whoever has spoken, or whose time is over, leaves. */
static gpurt_status_t guests_hear(gpurt_lobby_t *lobby, int *box_fd, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_E_NOT_READY;
    uint32_t i = 0;

    for (; st == GPURT_E_NOT_READY && i < lobby->guests; i++)
        st = guest_hear(&lobby->guest[i], box_fd, err);
    if (st == GPURT_E_NOT_READY)
        return st;
    i--;
    if (st == GPURT_OK && send(lobby->guest[i].fd, GPURT_HANDOVER_HELLO,
                               sizeof GPURT_HANDOVER_HELLO, MSG_NOSIGNAL) < 0) {
        /* It hung up, but its box is here. */
    }
    guest_leave(lobby, i);
    return st;
}

/* Those who are there first: nobody at the door keeps them from being heard. */
gpurt_status_t gpurt_lobby_take(gpurt_lobby_t *lobby, int *box_fd, gpurt_error_t *err)
{
    gpurt_status_t st;

    *box_fd = -1;
    st = guests_hear(lobby, box_fd, err);
    while (st == GPURT_E_NOT_READY) {
        st = guest_enter(lobby, err);
        if (st != GPURT_OK)
            return st;
        st = guests_hear(lobby, box_fd, err);
    }
    return st;
}

void gpurt_lobby_wait(const gpurt_lobby_t *lobby, int ms)
{
    struct pollfd all[1 + GPURT_LOBBY_GUESTS];
    bool shut = lobby->guests == GPURT_LOBBY_GUESTS || lobby->refuses;

    all[0] = (struct pollfd){shut ? -1 : lobby->listener, POLLIN, 0};
    for (uint32_t i = 0; i < lobby->guests; i++)
        all[1 + i] = (struct pollfd){lobby->guest[i].fd, POLLIN, 0};
    poll(all, 1 + lobby->guests, ms);
}
