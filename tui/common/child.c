/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include "hosttime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUT_KEEP = 16 << 10,
    ERR_KEEP = 256 << 10,  /* a sanitizer's report with all its stacks */
    READ_AT_END = 4 << 20, /* a stranger that holds the pipe open may fill it for ever */
    POLL_MAX = 256,        /* children looked at by one poll */
};
static const uint64_t grace_ns = 2000000000;

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* ---- what it prints ------------------------------------------------------------------ */
static void tail_close(child_tail_t *tail)
{
    if (tail->fd >= 0)
        close(tail->fd);
    tail->fd = -1;
}

/* Reads what is there. Returns: the number of bytes, 0 when there is nothing now. */
static size_t tail_read(child_tail_t *tail)
{
    ssize_t got;

    if (tail->fd < 0)
        return 0;
    if (tail->used == 2 * tail->keep) {
        memmove(tail->bytes, tail->bytes + tail->keep, tail->keep);
        tail->used = tail->keep;
    }
    got = read(tail->fd, tail->bytes + tail->used, 2 * tail->keep - tail->used);
    if (got > 0) {
        tail->used += (size_t)got;
        return (size_t)got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        tail_close(tail);
    return 0;
}

static void tail_finish(child_tail_t *tail)
{
    size_t total = 0, got;

    while (total < READ_AT_END && (got = tail_read(tail)) > 0)
        total += got;
    tail_close(tail);
}

/* ---- start --------------------------------------------------------------------------- */
/* Runs in the child: sets it up and becomes the program. Writes errno to `refusal` if it
 * cannot. */
static void become(const child_command_t *command, const child_watch_t *watch,
                   const int pipes[3][2], pid_t parent)
{
    struct rlimit no_core = {0, 0};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ssize_t told;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); /* it died before the line above */
    if (getrlimit(RLIMIT_CORE, &no_core) == 0) {
        no_core.rlim_cur = 0; /* hundreds of runs would leave hundreds of core files */
        setrlimit(RLIMIT_CORE, &no_core);
    }
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &watch->before, NULL);
    dup2(null, STDIN_FILENO);
    dup2(pipes[0][1], STDOUT_FILENO);
    dup2(pipes[1][1], STDERR_FILENO);
    for (char *const *pair = command->environment; *pair; pair++)
        putenv(*pair);
    execv(command->path, command->argv);
    told = write(pipes[2][1], &errno, sizeof errno);
    _exit(told == sizeof errno ? 127 : 125);
}

static void close_pipes(int pipes[3][2])
{
    for (int i = 0; i < 6; i++)
        if (pipes[i / 2][i % 2] >= 0)
            close(pipes[i / 2][i % 2]);
}

static int open_pipes(int pipes[3][2])
{
    memset(pipes, -1, 3 * sizeof pipes[0]);
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return errno;
    fcntl(pipes[0][0], F_SETFL, O_NONBLOCK);
    fcntl(pipes[1][0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* The buffers stay from one run to the next. */
static bool ready_tails(child_t *child)
{
    child->out.keep = OUT_KEEP;
    child->err.keep = ERR_KEEP;
    child->out.used = child->err.used = 0;
    child->out.fd = child->err.fd = -1;
    if (!child->out.bytes)
        child->out.bytes = malloc(2 * OUT_KEEP);
    if (!child->err.bytes)
        child->err.bytes = malloc(2 * ERR_KEEP);
    return child->out.bytes && child->err.bytes;
}

int child_start(child_t *child, const child_command_t *command, const child_watch_t *watch)
{
    pid_t parent = getpid();
    int pipes[3][2], refusal;

    if (!ready_tails(child))
        return ENOMEM;
    refusal = open_pipes(pipes);
    if (refusal == 0) {
        child->pid = fork();
        if (child->pid == 0)
            become(command, watch, pipes, parent);
        refusal = child->pid < 0 ? errno : 0;
    }
    if (refusal) {
        child->pid = 0;
        close_pipes(pipes);
        return refusal;
    }
    child->started_ns = gpurt_steady_ns();
    child->ended = child->late = false;
    child->kill_ns = 0;
    child->deadline_ns = command->timeout_ns ? child->started_ns + command->timeout_ns : 0;
    child->out.fd = pipes[0][0];
    child->err.fd = pipes[1][0];
    pipes[0][0] = pipes[1][0] = -1;
    close(pipes[2][1]);
    pipes[2][1] = -1;
    if (read(pipes[2][0], &refusal, sizeof refusal) != sizeof refusal)
        refusal = 0; /* the pipe closed: the program runs */
    close_pipes(pipes);
    if (refusal)
        child_fini(child);
    return refusal;
}

/* ---- end ----------------------------------------------------------------------------- */
void child_stop(child_t *child)
{
    if (!child->pid || child->kill_ns)
        return;
    kill(-child->pid, SIGTERM);
    kill(-child->pid, SIGCONT);
    child->kill_ns = gpurt_steady_ns() + grace_ns;
}

/* Its group is killed before it is reaped: until then its number cannot be another's. */
static void child_reap(child_t *child)
{
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return;
    kill(-child->pid, SIGKILL);
    waitpid(child->pid, &child->wait_status, 0);
    child->wall_ns = gpurt_steady_ns() - child->started_ns;
    child->pid = 0;
    child->ended = true;
    tail_finish(&child->out);
    tail_finish(&child->err);
}

static void child_check_time(child_t *child, uint64_t now_ns)
{
    if (child->kill_ns && now_ns >= child->kill_ns) {
        kill(-child->pid, SIGKILL);
        child->kill_ns = now_ns + grace_ns;
    } else if (!child->kill_ns && child->deadline_ns && now_ns >= child->deadline_ns) {
        child->late = true;
        child_stop(child);
    }
}

void child_fini(child_t *child)
{
    if (child->pid) {
        kill(-child->pid, SIGKILL);
        waitpid(child->pid, &child->wait_status, 0);
        child->pid = 0;
        tail_close(&child->out);
        tail_close(&child->err);
    }
    free(child->out.bytes);
    free(child->err.bytes);
    child->out.bytes = child->err.bytes = NULL;
}

/* ---- watch --------------------------------------------------------------------------- */
int child_watch_open(child_watch_t *watch)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        struct sigaction action;

        /* What we were started to ignore (nohup, a shell's background) stays ignored. */
        if (sigaction(stop_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&ours, stop_signals[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* ignored by our parent, it would reap our children unseen */
    signal(SIGPIPE, SIG_IGN);
    watch->stop_signal = 0;
    sigprocmask(SIG_BLOCK, &ours, &watch->before);
    watch->signal_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return watch->signal_fd < 0 ? errno : 0;
}

void child_watch_close(child_watch_t *watch)
{
    if (watch->signal_fd >= 0)
        close(watch->signal_fd);
    watch->signal_fd = -1;
    sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

static void read_signals(child_watch_t *watch)
{
    struct signalfd_siginfo info;

    while (read(watch->signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD && watch->stop_signal == 0)
            watch->stop_signal = (int)info.ssi_signo;
}

/* How long one poll may last, in milliseconds, rounded up. */
static int poll_time(child_t *const *children, size_t count, uint64_t until_ns)
{
    uint64_t now_ns = gpurt_steady_ns(), wait_ns;

    for (size_t i = 0; i < count; i++) {
        const child_t *c = children[i];
        uint64_t due_ns = c->kill_ns ? c->kill_ns : c->deadline_ns;

        if (c->pid && due_ns && due_ns < until_ns)
            until_ns = due_ns;
    }
    wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    return wait_ns > 1000000000u ? 1000 : (int)((wait_ns + 999999) / 1000000);
}

void child_watch_wait(child_watch_t *watch, child_t *const *children, size_t count,
                      uint64_t until_ns)
{
    struct pollfd polls[1 + 2 * POLL_MAX];
    int stop_signal = watch->stop_signal;

    if (count > POLL_MAX)
        count = POLL_MAX;
    for (bool ended = false; !ended && watch->stop_signal == stop_signal;) {
        size_t used = 0;

        polls[used++] = (struct pollfd){.fd = watch->signal_fd, .events = POLLIN};
        for (size_t i = 0; i < count; i++) {
            if (!children[i]->pid)
                continue;
            polls[used++] = (struct pollfd){.fd = children[i]->out.fd, .events = POLLIN};
            polls[used++] = (struct pollfd){.fd = children[i]->err.fd, .events = POLLIN};
        }
        poll(polls, used, poll_time(children, count, until_ns));
        read_signals(watch);
        for (size_t i = 0; i < count; i++) {
            child_t *c = children[i];

            if (!c->pid)
                continue;
            tail_read(&c->out);
            tail_read(&c->err);
            child_check_time(c, gpurt_steady_ns());
            child_reap(c);
            ended |= c->ended;
        }
        if (gpurt_steady_ns() >= until_ns)
            return;
    }
}
