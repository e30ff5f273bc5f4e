/* SPDX-License-Identifier: Apache-2.0 */
#include "record_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

static void signals_of(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(set, passed_on[i]);
}

/* In the child. The pipe closes by itself when the execution works. */
static void become(char *const argv[], const record_run_t *run, int pipe_end)
{
    int code;

    sigprocmask(SIG_SETMASK, &run->before, NULL);
    execvp(argv[0], argv);
    code = errno;
    while (write(pipe_end, &code, sizeof code) < 0 && errno == EINTR)
        ;
    _exit(127);
}

static int execution_error(int pipe_end)
{
    int code = 0;
    ssize_t got;

    do
        got = read(pipe_end, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof code ? code : 0;
}

int record_run_start(record_run_t *run, char *const argv[], const char *name,
                     const char *value)
{
    int ends[2], code;
    sigset_t set;

    memset(run, 0, sizeof *run);
    run->signal_fd = -1;
    signals_of(&set);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what it leaves behind becomes ours: see heirs */
    if (setenv(name, value, 1) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    sigprocmask(SIG_BLOCK, &set, &run->before);
    run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    run->pid = run->signal_fd < 0 ? -1 : fork();
    code = errno;
    if (run->pid == 0)
        become(argv, run, ends[1]);
    close(ends[1]);
    if (run->pid > 0)
        code = execution_error(ends[0]);
    close(ends[0]);
    if (run->pid > 0 && code) {
        waitpid(run->pid, NULL, 0);
        run->ended = true;
    }
    return code && (run->pid < 0 || run->ended) ? code : 0;
}

static void reap(record_run_t *run)
{
    int status;

    if (run->ended || waitpid(run->pid, &status, WNOHANG) != run->pid)
        return;
    run->ended = true;
    run->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void record_run_poll(record_run_t *run)
{
    struct signalfd_siginfo info;

    while (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        /* From the kernel: the terminal's, and the application is in its group as we
         * are. */
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && !run->ended)
            kill(run->pid, (int)info.ssi_signo);
    }
    reap(run);
}

bool record_run_has_heirs(const record_run_t *run)
{
    pid_t pid;

    if (!run->ended)
        return true;
    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0);
    return pid == 0;
}

void record_run_fini(record_run_t *run)
{
    if (run->signal_fd >= 0)
        close(run->signal_fd);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}
