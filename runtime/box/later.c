/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    SHORTAGE_NS = 100000000 /* until descriptors or memory may be there again */
};

/* The answer to who is heard; who is not gets the number of the process that is. */
static const char magic[8] = "GPRTWAK";

static socklen_t address_of(uint32_t pid, struct sockaddr_un *address)
{
    int bytes;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX; /* a leading 0 in the path: abstract */
    bytes = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "gpurt-later-%u",
                     pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

static struct ucred peer_of(int fd)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t bytes = sizeof peer;

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
    return peer;
}

static bool peer_is_us(int fd)
{
    uid_t peer = peer_of(fd).uid;

    return peer != (uid_t)-1 && (peer == getuid() || peer == 0 || getuid() == 0);
}

static void patience_set(int fd)
{
    struct timeval second = {1, 0};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

int gpurt_later_listen(void)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of((uint32_t)getpid(), &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0 && listen(fd, 4) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool gpurt_later_is_there(int connection)
{
    struct pollfd other = {.fd = connection, .events = POLLRDHUP};

    return connection >= 0 && poll(&other, 1, 0) <= 0;
}

static bool ask_read(int fd, gpurt_later_t *out)
{
    patience_set(fd);
    if (!peer_is_us(fd) || recv(fd, out, sizeof *out, 0) != (ssize_t)sizeof *out ||
        memcmp(out->magic, magic, sizeof magic) != 0)
        return false;
    out->drainer[sizeof out->drainer - 1] = '\0';
    out->words[sizeof out->words - 1] = '\0';
    return true;
}

/* Returns: whether it was told that it is heard. */
static bool one_answer(int fd, int holder)
{
    uint32_t other;

    if (!gpurt_later_is_there(holder))
        return send(fd, magic, sizeof magic, MSG_NOSIGNAL) == (ssize_t)sizeof magic;
    other = (uint32_t)peer_of(holder).pid; /* 0: it is of another container */
    send(fd, &other, sizeof other, MSG_NOSIGNAL);
    return false;
}

/* fd becomes the holder, or is closed. At any time *holder is one that is open: a child that
 * is forked now closes it. Returns: whether it did. */
static bool one_take(int fd, int *holder, gpurt_later_t *out)
{
    const bool taken = ask_read(fd, out) && one_answer(fd, *holder);
    const int other = taken ? *holder : fd;

    if (taken)
        *holder = fd;
    if (other >= 0)
        close(other);
    return taken;
}

/* What ends by itself: who asks meanwhile is told that nobody answers, and may ask again. */
static bool is_shortage(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

bool gpurt_later_wait(int listener, int *holder, gpurt_later_t *out)
{
    const struct timespec pause = {.tv_nsec = SHORTAGE_NS};

    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0 && one_take(fd, holder, out))
            return true;
        if (fd >= 0 || errno == EINTR || errno == ECONNABORTED)
            continue;
        if (!is_shortage(errno))
            return false;
        nanosleep(&pause, NULL);
    }
}

static gpurt_status_t refused(uint32_t pid, uint32_t other, gpurt_error_t *err)
{
    if (other == 0)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "process %u is recorded by another one; end that one first", pid);
    return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                      "process %u is recorded by process %u; end that one first", pid,
                      other);
}

gpurt_status_t gpurt_later_wake(uint32_t pid, const char *drainer, const char *words,
                                int *held, gpurt_error_t *err)
{
    gpurt_later_t ask = {0};
    struct sockaddr_un address;
    socklen_t bytes = address_of(pid, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool connected;
    ssize_t answered = -1;
    union {
        char magic[sizeof magic];
        uint32_t other;
    } answer;

    *held = -1;
    memcpy(ask.magic, magic, sizeof magic);
    snprintf(ask.drainer, sizeof ask.drainer, "%s", drainer);
    snprintf(ask.words, sizeof ask.words, "%s", words);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "socket");
    patience_set(fd);
    connected = connect(fd, (struct sockaddr *)&address, bytes) == 0 && peer_is_us(fd);
    if (connected && send(fd, &ask, sizeof ask, MSG_NOSIGNAL) == (ssize_t)sizeof ask)
        answered = recv(fd, &answer, sizeof answer, 0);
    if (answered == (ssize_t)sizeof answer.magic) {
        *held = fd;
        return GPURT_OK;
    }
    close(fd);
    if (answered == (ssize_t)sizeof answer.other)
        return refused(pid, answer.other, err);
    if (connected)
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "the collector in process %u does not answer within a second; is "
                          "the process stopped, or out of descriptors?",
                          pid);
    return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                      "no collector sleeps in process %u: it must have been started "
                      "with GPURT_CUPTI=later and CUDA_INJECTION64_PATH naming "
                      "libgpurt-inject.so, use CUDA, and not be watched yet",
                      pid);
}
