/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include "peer.h"
#include "procfs.h"
#include "uninterrupted.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    QUEUE = 4,     /* who waits to be heard; the kernel lets one more in */
    HEAR_MS = 300, /* for one who says nothing: a queue of them keeps nobody for ASK_MS */
    ASK_MS = 2000, /* a program that is woken loads CUPTI meanwhile */
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

static void patience_set(int fd, long ms)
{
    struct timeval limit = {ms / 1000, ms % 1000 * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

int gpurt_later_listen(void)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of((uint32_t)getpid(), &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0 &&
        listen(fd, QUEUE) == 0)
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
    patience_set(fd, HEAR_MS);
    if (!gpurt_peer_has_ours(gpurt_peer_of(fd).uid) ||
        UNINTERRUPTED(recv(fd, out, sizeof *out, MSG_TRUNC)) != (ssize_t)sizeof *out ||
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
    other = (uint32_t)gpurt_peer_of(holder).pid; /* 0: it is of another container */
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

static gpurt_status_t of_another(uint32_t pid, uid_t owner, gpurt_error_t *err)
{
    return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                      "process %u is of user %u: only that user and root can record it",
                      pid, (unsigned)owner);
}

static bool space_differs(uint32_t pid, const char *space)
{
    struct stat ours, theirs;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/ns/%s", space);
    if (stat(path, &ours) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%u/ns/%s", pid, space);
    return stat(path, &theirs) == 0 && theirs.st_ino != ours.st_ino;
}

/* A container has names of sockets and numbers of processes of its own. */
static gpurt_status_t nobody_listens(uint32_t pid, gpurt_error_t *err)
{
    if (gpurt_process_start(pid) == 0)
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "there is no process %u, or it has ended", pid);
    if (space_differs(pid, "pid") || space_differs(pid, "net"))
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "process %u is in a container and cannot be asked from here: "
                          "run gpurt-record in there, with the number that it has there",
                          pid);
    return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                      "no collector sleeps in process %u: it must have been started "
                      "with GPURT_CUPTI=later and CUDA_INJECTION64_PATH naming "
                      "libgpurt-inject.so, use CUDA, and not be watched yet",
                      pid);
}

/* code: errno, 0: it hung up. */
static gpurt_status_t unanswered(uint32_t pid, int code, gpurt_error_t *err)
{
    if (code == ECONNREFUSED)
        return nobody_listens(pid, err);
    if (code == EINTR)
        return gpurt_fail(err, GPURT_E_CANCELLED, GPURT_FROM_GPURT, 0,
                          "interrupted before the collector in process %u answered", pid);
    if (code == EAGAIN)
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "the collector in process %u does not answer within two seconds; "
                          "is the process stopped, or out of descriptors?",
                          pid);
    return gpurt_fail(
        err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
        "the collector in process %u hung up without an answer; if the process "
        "still runs, ask again",
        pid);
}

/* Of a call that failed: whether it is to be made again. */
static bool goes_on(bool (*given_up)(void))
{
    return errno == EINTR && !given_up();
}

/* Anybody can listen under any name: whoever does is to be that process. A kernel that knows of no
 * others (gVisor) says that it is us. */
static gpurt_status_t reach(int fd, uint32_t pid, bool (*given_up)(void),
                            gpurt_error_t *err)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(pid, &address);
    struct ucred peer;
    int failed;

    do
        failed = connect(fd, (struct sockaddr *)&address, bytes);
    while (failed && goes_on(given_up));
    if (failed)
        return unanswered(pid, errno, err);
    peer = gpurt_peer_of(fd);
    if (peer.pid == 0) /* it has no number here */
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "no collector sleeps in process %u: one of another container "
                          "listens in its place",
                          pid);
    if ((uint32_t)peer.pid != pid && peer.pid != getpid())
        return gpurt_fail(err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
                          "no collector sleeps in process %u: process %d listens in its "
                          "place",
                          pid, (int)peer.pid);
    return peer.uid == 0 || gpurt_peer_is_ours(peer.uid) /* root may have become us since */
               ? GPURT_OK
               : of_another(pid, peer.uid, err);
}

typedef union answer {
    char magic[sizeof magic];
    uint32_t other;
} answer_t;

/* Who gives up takes an answer that has come all the same: the program is awake by then. */
static ssize_t answer_read(int fd, answer_t *answer, bool (*given_up)(void))
{
    ssize_t bytes;

    do
        bytes = recv(fd, answer, sizeof *answer, 0);
    while (bytes < 0 && goes_on(given_up));
    if (bytes >= 0 || errno != EINTR)
        return bytes;
    bytes = recv(fd, answer, sizeof *answer, MSG_DONTWAIT);
    if (bytes < 0)
        errno = EINTR;
    return bytes;
}

static gpurt_status_t ask_one(int fd, uint32_t pid, const gpurt_later_t *ask,
                              bool (*given_up)(void), gpurt_error_t *err)
{
    const uid_t owner = gpurt_peer_of(fd).uid;
    answer_t answer;
    ssize_t bytes = -1;

    if (send(fd, ask, sizeof *ask, MSG_NOSIGNAL) == (ssize_t)sizeof *ask)
        bytes = answer_read(fd, &answer, given_up);
    if (bytes == (ssize_t)sizeof magic && memcmp(answer.magic, magic, sizeof magic) == 0)
        return GPURT_OK;
    if (bytes == (ssize_t)sizeof answer.other)
        return refused(pid, answer.other, err);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN))
        return unanswered(pid, errno, err);
    return gpurt_peer_is_ours(owner) ? unanswered(pid, 0, err)
                                     : of_another(pid, owner, err);
}

gpurt_status_t gpurt_later_wake(uint32_t pid, const char *drainer, const char *words,
                                bool (*given_up)(void), int *held, gpurt_error_t *err)
{
    gpurt_later_t ask = {0};
    gpurt_status_t st;
    int fd;

    *held = -1;
    if (strlen(words) >= sizeof ask.words) /* cut, they would ask for something else */
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "GPURT_CUPTI is longer than %d letters: say each word once",
                          GPURT_LATER_WORDS - 1);
    memcpy(ask.magic, magic, sizeof magic);
    snprintf(ask.drainer, sizeof ask.drainer, "%s", drainer);
    snprintf(ask.words, sizeof ask.words, "%s", words);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "socket");
    patience_set(fd, ASK_MS);
    st = reach(fd, pid, given_up, err);
    if (st == GPURT_OK)
        st = ask_one(fd, pid, &ask, given_up, err);
    if (st == GPURT_OK)
        *held = fd;
    else
        close(fd);
    return st;
}
