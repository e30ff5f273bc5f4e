/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

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

static bool peer_is_us(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           (peer.uid == getuid() || peer.uid == 0 || getuid() == 0);
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

static bool one_take(int fd, gpurt_later_t *out)
{
    patience_set(fd);
    if (!peer_is_us(fd) || recv(fd, out, sizeof *out, 0) != (ssize_t)sizeof *out ||
        memcmp(out->magic, magic, sizeof magic) != 0)
        return false;
    out->drainer[sizeof out->drainer - 1] = '\0';
    out->words[sizeof out->words - 1] = '\0';
    return send(fd, magic, sizeof magic, MSG_NOSIGNAL) == (ssize_t)sizeof magic;
}

bool gpurt_later_wait(int listener, gpurt_later_t *out)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        bool taken;

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return false;
        taken = one_take(fd, out);
        close(fd);
        if (taken)
            return true;
    }
}

gpurt_status_t gpurt_later_wake(uint32_t pid, const char *drainer, const char *words,
                                gpurt_error_t *err)
{
    gpurt_later_t ask = {0};
    struct sockaddr_un address;
    char answer[sizeof magic];
    socklen_t bytes = address_of(pid, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool done;

    memcpy(ask.magic, magic, sizeof magic);
    snprintf(ask.drainer, sizeof ask.drainer, "%s", drainer);
    snprintf(ask.words, sizeof ask.words, "%s", words);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "socket");
    patience_set(fd);
    done = connect(fd, (struct sockaddr *)&address, bytes) == 0 && peer_is_us(fd) &&
           send(fd, &ask, sizeof ask, MSG_NOSIGNAL) == (ssize_t)sizeof ask &&
           recv(fd, answer, sizeof answer, 0) == (ssize_t)sizeof answer;
    close(fd);
    return done ? GPURT_OK
                : gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                             "no collector sleeps in process %u: it must have been started "
                             "with GPURT_CUPTI=later and CUDA_INJECTION64_PATH naming "
                             "libgpurt-inject.so, use CUDA, and not be watched yet",
                             pid);
}
