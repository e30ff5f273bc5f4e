/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets a program's box: its own user and root, whatever it was told, and nobody while it is of
 * several users; a drainer takes none that is not for it, none that another user can make shorter,
 * keeps no descriptor but a box's, and is held up by nobody. A program that gets signals all the time waits as long as others. */
#include "lobby.h"

#include "check.h"
#include "hosttime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROOT = 0,
    USER = 65534,
    OTHER = 65533,
    MOST = 64,      /* that may wait for a drainer */
    PATIENCE_S = 60 /* many times what a program waits for a drainer */
};

static gpurt_error_t err;

static pid_t child_of_test(void)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    return pid;
}

static void user_become(uid_t real, uid_t effective, uid_t saved)
{
    CHECK_EQ(setresgid(effective, effective, effective), 0);
    CHECK_EQ(setresuid(real, effective, saved), 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user ends it */
}

static int ended(pid_t pid)
{
    int status;

    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_MSG(WIFEXITED(status), "%x", status);
    return WEXITSTATUS(status);
}

/* ---- a drainer that takes what it gets ----------------------------------------------- */

/* Up to two descriptors of a message. Returns: how many came. */
static int fds_receive(int from, int fds[2])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    char text[8];
    struct iovec data = {text, sizeof text};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *c;
    size_t bytes;

    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) <= 0 || !(c = CMSG_FIRSTHDR(&message)))
        return 0;
    CHECK_EQ(c->cmsg_type, SCM_RIGHTS);
    bytes = c->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(c), bytes);
    return (int)(bytes / sizeof(int));
}

/* Who comes gets his answer when `before` is over. Returns: whether he has given something. */
static bool is_given(int listener, void (*before)(void))
{
    struct pollfd asked = {listener, POLLIN, 0};
    int fd, fds[2], count;

    CHECK_EQ(poll(&asked, 1, PATIENCE_S * 1000), 1);
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    count = fds_receive(fd, fds);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    if (count && before)
        before();
    if (count)
        send(fd, "GPRTBOX", 8, MSG_NOSIGNAL);
    close(fd);
    return count > 0;
}

/* ---- users --------------------------------------------------------------------------- */

typedef struct users {
    uid_t real, effective, saved, drainer;
    bool gets;
} users_t;

/* Of which user the socket is is known from where it began to listen. */
static pid_t drainer_begin(uid_t user, char name[GPURT_HANDOVER_NAME])
{
    int told[2];
    pid_t pid;

    CHECK_EQ(pipe(told), 0);
    pid = child_of_test();
    if (pid == 0) {
        gpurt_lobby_t lobby;

        user_become(user, user, user);
        CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
        CHECK_EQ(write(told[1], lobby.name, GPURT_HANDOVER_NAME), GPURT_HANDOVER_NAME);
        _exit(is_given(lobby.listener, NULL));
    }
    close(told[1]);
    CHECK_EQ(read(told[0], name, GPURT_HANDOVER_NAME), GPURT_HANDOVER_NAME);
    close(told[0]);
    return pid;
}

static void give_as(const users_t *u, const char *name)
{
    const gpurt_boxmap_t map = {.fd = STDERR_FILENO};
    gpurt_status_t st;
    char who[32];

    user_become(u->real, u->effective, u->saved);
    st = gpurt_handover_give_to(name, &map, &err);
    CHECK_MSG(st == (u->gets ? GPURT_OK : GPURT_E_HANDLE), "user %u: %d %s",
              (unsigned)u->drainer, st, err.text);
    snprintf(who, sizeof who, "is user %u's;", (unsigned)u->drainer);
    if (!u->gets)
        CHECK_CONTAINS(err.text, who);
    _exit(0);
}

static void check_users(void)
{
    static const users_t all[] = {
        {ROOT, ROOT, ROOT, ROOT, true},    {ROOT, ROOT, ROOT, USER, false},
        {USER, USER, USER, USER, true},    {USER, USER, USER, ROOT, true},
        {USER, USER, USER, OTHER, false},  {ROOT, USER, USER, USER, false},
        {USER, USER, ROOT, USER, false},   {ROOT, USER, ROOT, USER, false},
        {USER, OTHER, OTHER, USER, false}, {USER, OTHER, OTHER, OTHER, false},
        {USER, OTHER, OTHER, ROOT, true}};
    char name[GPURT_HANDOVER_NAME];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pid_t drainer = drainer_begin(all[i].drainer, name), giver = child_of_test();

        if (giver == 0)
            give_as(&all[i], name);
        CHECK_EQ(ended(giver), 0);
        CHECK_MSG(ended(drainer) == all[i].gets, "case %zu", i);
    }
}

/* ---- what is no box of ours ---------------------------------------------------------- */

static int raw_connect(const char *name, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | type, 0);
    size_t bytes = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);

    CHECK(fd >= 0);
    memcpy(address.sun_path + 1, name, strlen(name));
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)bytes) == 0)
        return fd;
    CHECK_EQ(errno, EAGAIN);
    close(fd);
    return -1;
}

/* text: NULL: a message of no bytes. Returns: the connection. */
static int raw_give(const char *name, const char text[8], const int *fds, size_t count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    char copy[8];
    struct iovec data = {copy, text ? sizeof copy : 0};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    int fd = raw_connect(name, 0);

    if (text)
        memcpy(copy, text, sizeof copy);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    CHECK_EQ(sendmsg(fd, &message, 0), data.iov_len);
    return fd;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    CHECK(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Whoever gives more has them taken off him, and a drainer would end for want of descriptors. */
static void check_one_descriptor(void)
{
    const int two[2] = {STDIN_FILENO, STDERR_FILENO};
    gpurt_lobby_t lobby;
    int box, count;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_NOT_READY);
    count = descriptors();
    for (size_t given = 1; given <= 2; given++) {
        int giver = raw_give(lobby.name, "GPRTBOX", two, given);

        CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_OK);
        close(box);
        close(giver);
        CHECK_EQ(descriptors(), count);
    }
    close(raw_connect(lobby.name, 0));
    close(raw_give(lobby.name, NULL, two, 1));
    close(raw_give(lobby.name, "GPRTBOY", two, 1));
    for (int bad = 0; bad < 3; bad++) {
        CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_INVALID);
        CHECK_EQ(box, -1);
    }
    CHECK_EQ(descriptors(), count);
    gpurt_lobby_close(&lobby);
}

static void check_not_for_us(void)
{
    const int one = STDERR_FILENO;
    gpurt_lobby_t lobby;
    int box;
    pid_t drainer;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    close(raw_give(lobby.name, "GPRTBOX", &one, 1));
    drainer = child_of_test();
    if (drainer == 0) {
        user_become(USER, USER, USER);
        CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_HANDLE);
        CHECK_EQ(box, -1);
        CHECK_CONTAINS(err.text, "a program of user 0 connected");
        _exit(0);
    }
    CHECK_EQ(ended(drainer), 0);
    gpurt_lobby_close(&lobby);
}

/* One of another user's that he can make shorter would end root's recorder, and all its logs. */
static void check_size(void)
{
    static const int seals[] = {0, F_SEAL_GROW, F_SEAL_SHRINK};
    gpurt_lobby_t lobby;
    int box;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    for (size_t i = 0; i < sizeof seals / sizeof seals[0]; i++) {
        const bool sealed = seals[i] == F_SEAL_SHRINK;
        pid_t giver = child_of_test();

        if (giver == 0) {
            const int file = memfd_create("box", MFD_ALLOW_SEALING);

            user_become(USER, USER, USER);
            CHECK_EQ(fcntl(file, F_ADD_SEALS, seals[i]), 0);
            close(raw_give(lobby.name, "GPRTBOX", &file, 1));
            _exit(0);
        }
        CHECK_EQ(ended(giver), 0);
        CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), sealed ? GPURT_OK : GPURT_E_INVALID);
        CHECK_EQ(box >= 0, sealed);
        if (box >= 0)
            close(box);
        else
            CHECK_CONTAINS(err.text, "of user 65534 gave a box that it can make shorter");
    }
    gpurt_lobby_close(&lobby);
}

/* ---- who says nothing ---------------------------------------------------------------- */

/* Until a box comes. Returns: how many went who had none. */
static uint32_t lobby_wait(gpurt_lobby_t *lobby)
{
    const uint64_t until_ns = gpurt_steady_ns() + PATIENCE_S * 1000000000ull;
    gpurt_status_t st;
    uint32_t went = 0, rounds = 0;
    int box;

    do {
        CHECK(rounds++ < 1000); /* it rests while it waits, also when it is full */
        gpurt_lobby_wait(lobby, 100);
        st = gpurt_lobby_take(lobby, &box, &err);
        CHECK(lobby->guests <= GPURT_LOBBY_GUESTS && gpurt_steady_ns() < until_ns);
        went += st == GPURT_E_INVALID;
        CHECK((box >= 0) == (st == GPURT_OK));
    } while (st != GPURT_OK);
    close(box);
    return went;
}

/* Whoever waits for somebody wakes when a guest speaks. */
static void check_wakes(void)
{
    gpurt_lobby_t lobby;
    int box, guest;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    guest = raw_connect(lobby.name, 0);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_NOT_READY);
    CHECK_EQ(lobby.guests, 1);
    CHECK_EQ(send(guest, "x", 1, 0), 1);
    alarm(PATIENCE_S / 2);
    gpurt_lobby_wait(&lobby, PATIENCE_S * 1000);
    alarm(0);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_INVALID);
    close(guest);
    gpurt_lobby_close(&lobby);
}

/* They hold up nobody, and have a second each, all at once; whoever there is no room for waits
 * outside. */
static void check_silent(void)
{
    static const uint32_t counts[] = {5, GPURT_LOBBY_GUESTS + 3};
    const int one = STDERR_FILENO;
    int silent[GPURT_LOBBY_GUESTS + 3], box, before;
    gpurt_lobby_t lobby;
    uint64_t begin_ns;
    uint32_t went;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        before = descriptors();
        CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
        for (uint32_t n = 0; n < counts[i]; n++)
            silent[n] = raw_connect(lobby.name, 0);
        close(raw_give(lobby.name, "GPRTBOX", &one, 1));
        begin_ns = gpurt_steady_ns();
        went = lobby_wait(&lobby);
        CHECK(gpurt_steady_ns() - begin_ns < (i + 1) * 4000000000ull);
        CHECK(i == 0 || went >= counts[i] - GPURT_LOBBY_GUESTS);
        while (i == 0 && lobby.guests == counts[i]) { /* their time is over, too */
            CHECK(gpurt_steady_ns() - begin_ns < PATIENCE_S * 1000000000ull);
            CHECK(gpurt_lobby_take(&lobby, &box, &err) != GPURT_OK);
        }
        gpurt_lobby_close(&lobby);
        for (uint32_t n = 0; n < counts[i]; n++)
            close(silent[n]);
        CHECK_EQ(descriptors(), before);
    }
}

/* Who speaks is not kept waiting by who came before him and says nothing. */
static void check_behind_silent(void)
{
    const int one = STDERR_FILENO;
    int silent[2], box;
    gpurt_lobby_t lobby;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    for (int i = 0; i < 2; i++)
        silent[i] = raw_connect(lobby.name, 0);
    close(raw_give(lobby.name, "GPRTBOX", &one, 1));
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_OK);
    close(box);
    CHECK_EQ(lobby.guests, 2);
    for (int i = 0; i < 2; i++)
        close(silent[i]);
    gpurt_lobby_close(&lobby);
}

/* Where nobody can be let in, guests are heard all the same, and nobody spins. */
static void check_door(void)
{
    const uint64_t rest_ns = 50000000;
    struct rlimit limit, none;
    int box, guest, outside;
    gpurt_lobby_t lobby;
    uint64_t begin_ns;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    guest = raw_connect(lobby.name, 0);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_NOT_READY);
    outside = raw_connect(lobby.name, 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 3; /* no descriptor from there on is given out */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_OS);
    begin_ns = gpurt_steady_ns();
    gpurt_lobby_wait(&lobby, rest_ns / 1000000);
    CHECK(gpurt_steady_ns() - begin_ns >= rest_ns);
    CHECK_EQ(send(guest, "x", 1, 0), 1);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_INVALID);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQ(gpurt_lobby_take(&lobby, &box, &err), GPURT_E_NOT_READY);
    CHECK_EQ(lobby.guests, 1);
    close(guest);
    close(outside);
    gpurt_lobby_close(&lobby);
}

/* ---- signals ------------------------------------------------------------------------- */

static int rings; /* a pipe: a signal came */
static int queue[MOST], waiting;

static void queue_fill(const char *name)
{
    while (waiting < MOST && (queue[waiting] = raw_connect(name, SOCK_NONBLOCK)) >= 0)
        waiting++;
    CHECK(waiting < MOST);
}

static void queue_leave(void)
{
    while (waiting > 0)
        close(queue[--waiting]);
}

static void ring(int number)
{
    (void)number;
    if (write(rings, "x", 1) < 0) {
        /* It is full: one is heard. */
    }
}

static void signals_begin(void)
{
    const struct sigaction action = {.sa_handler = ring};
    const struct itimerval often = {{.tv_usec = 100000}, {.tv_usec = 100000}};

    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
}

/* A program that is sent signals all the time. Returns: its number. */
static pid_t give_under_signals(const char *name, gpurt_status_t want, int heard[2])
{
    const gpurt_boxmap_t map = {.fd = STDERR_FILENO};
    pid_t giver;

    CHECK_EQ(pipe2(heard, O_CLOEXEC | O_NONBLOCK), 0);
    giver = child_of_test();
    if (giver == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        queue_leave(); /* the parent is in it still */
        rings = heard[1];
        signals_begin();
        CHECK_EQ(gpurt_handover_give_to(name, &map, &err), want);
        _exit(0);
    }
    close(heard[1]);
    return giver;
}

static struct pollfd heard_signals = {.events = POLLIN};

static void two_signals(void)
{
    char word[64];

    while (read(heard_signals.fd, word, sizeof word) > 0)
        ;
    for (int more = 2; more > 0; more--) {
        CHECK_EQ(poll(&heard_signals, 1, PATIENCE_S * 1000), 1);
        CHECK(read(heard_signals.fd, word, sizeof word) > 0);
    }
}

/* There is a place for it only when it has heard signals, and an answer only after others. */
static void check_interrupted(void)
{
    gpurt_lobby_t lobby;
    int heard[2];
    pid_t giver;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    queue_fill(lobby.name);
    giver = give_under_signals(lobby.name, GPURT_OK, heard);
    heard_signals.fd = heard[0];
    two_signals();
    queue_leave();
    while (!is_given(lobby.listener, two_signals))
        ;
    CHECK_EQ(ended(giver), 0);
    close(heard[0]);
    gpurt_lobby_close(&lobby);
}

/* Nobody answers: it waits as long as without signals. */
static void check_patience(void)
{
    char word[64];
    struct pollfd signals = {.events = POLLIN | POLLHUP};
    const time_t until = time(NULL) + PATIENCE_S;
    gpurt_lobby_t lobby;
    int heard[2];
    pid_t giver;

    CHECK_EQ(gpurt_lobby_open(&lobby, &err), GPURT_OK);
    giver = give_under_signals(lobby.name, GPURT_E_OS, heard);
    signals.fd = heard[0];
    do
        CHECK_EQ(poll(&signals, 1, PATIENCE_S * 1000), 1);
    while (read(heard[0], word, sizeof word) > 0 && time(NULL) < until);
    CHECK_MSG(time(NULL) < until, "it waits and waits");
    CHECK_EQ(ended(giver), 0);
    close(heard[0]);
    gpurt_lobby_close(&lobby);
}

int main(void)
{
    check_one_descriptor();
    check_silent();
    check_behind_silent();
    check_door();
    check_wakes();
    check_interrupted();
    check_patience();
    if (getuid() != 0) /* only root can be two users */
        return 0;
    check_users();
    check_not_for_us();
    check_size();
    return 0;
}
