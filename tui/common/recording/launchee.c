/* SPDX-License-Identifier: Apache-2.0 */
#include "launchee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

static bool asks_to_stop(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* A log that meets a limit, and a message that nobody reads any more, are errors of their writes. */
static const int write_signals[] = {SIGXFSZ, SIGPIPE};
enum {
    WRITE_SIGNALS = sizeof write_signals / sizeof write_signals[0]
};
static struct sigaction actions_before[WRITE_SIGNALS]; /* of who started us */
static bool ignored;

void launchee_write_errors(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    for (int i = 0; i < WRITE_SIGNALS && !ignored; i++)
        sigaction(write_signals[i], &ignore, &actions_before[i]);
    ignored = true;
}

void launchee_ignored(sigset_t *out)
{
    sigemptyset(out);
    for (int i = 0; i < WRITE_SIGNALS && ignored; i++)
        if (actions_before[i].sa_handler != SIG_IGN)
            sigaddset(out, write_signals[i]);
}

int launchee_open(launchee_t *l)
{
    sigset_t ours;

    memset(l, 0, sizeof *l);
    l->output_fd = -1;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGWINCH);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        struct sigaction action;

        /* What we were started to ignore (nohup, a shell's background) stays ignored. */
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&ours, passed_on[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* ignored by our parent, it would reap the program unseen */
    launchee_write_errors();
    sigprocmask(SIG_BLOCK, &ours, &l->before);
    l->signal_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return l->signal_fd < 0 ? errno : 0;
}

/* ---- start --------------------------------------------------------------------------- */

/* A pseudo terminal instead of a pipe: the program keeps its line buffering and its
 * colours. Nobody's controlling terminal, so no signals come from it. */
static int terminal_open(const launchee_plan_t *plan, int *ours, int *theirs)
{
    struct winsize size = {.ws_row = plan->rows ? plan->rows : 24,
                           .ws_col = plan->columns ? plan->columns : 80};
    struct termios settings;
    char name[64];

    *theirs = -1;
    *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ours < 0)
        return errno;
    if (grantpt(*ours) == 0 && unlockpt(*ours) == 0 &&
        ptsname_r(*ours, name, sizeof name) == 0)
        *theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*theirs < 0) {
        int error = errno;

        close(*ours);
        *ours = -1;
        return error;
    }
    if (tcgetattr(*theirs, &settings) == 0) {
        settings.c_oflag &=
            ~(tcflag_t)OPOST; /* kept as written, shown later by a real one */
        settings.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
        tcsetattr(*theirs, TCSANOW, &settings);
    }
    ioctl(*theirs, TIOCSWINSZ, &size);
    fcntl(*ours, F_SETFL, O_NONBLOCK);
    return 0;
}

/* Our environment and name=value, in one piece of memory; NULL: none left. */
static char **environment_with(const char *name, const char *value)
{
    size_t length = strlen(name), bytes = length + strlen(value) + 2, count = 0, at = 0;
    char **list, *text;

    while (environ[count])
        count++;
    list = (char **)malloc((count + 2) * sizeof *list + bytes);
    if (!list)
        return NULL;
    text = (char *)(list + count + 2);
    snprintf(text, bytes, "%s=%s", name, value);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], text, length + 1) != 0)
            list[at++] = environ[i];
    list[at++] = text;
    list[at] = NULL;
    return list;
}

/* Runs in the child and becomes the program; writes errno to `refusal` if it cannot. Another
 * thread of ours may have held any lock at the fork: nothing here takes one, so no malloc. */
static void become(const launchee_t *l, const launchee_plan_t *plan, char **environment,
                   int terminal, int refusal)
{
    ssize_t told;

    if (terminal >= 0) {
        if (isatty(STDIN_FILENO)) {
            int null = open("/dev/null", O_RDONLY);

            dup2(null, STDIN_FILENO);
            close(null);
        }
        if (isatty(STDOUT_FILENO))
            dup2(terminal, STDOUT_FILENO);
        if (isatty(STDERR_FILENO))
            dup2(terminal, STDERR_FILENO);
    }
    if (plan->own_group)
        setpgid(0, 0);
    if (plan->output_to_error)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int i = 0; i < WRITE_SIGNALS && ignored; i++)
        sigaction(write_signals[i], &actions_before[i], NULL);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    execvpe(plan->argv[0], plan->argv, environment);
    told = write(refusal, &errno, sizeof errno);
    _exit(told == sizeof errno ? LAUNCHEE_NOT_FOUND : LAUNCHEE_FAILED);
}

/* Returns: 0, or errno as the child met it; the pipe closes when the program runs. */
static int refusal_wait(launchee_t *l, int fd)
{
    int refusal = 0;
    ssize_t got;

    do
        got = read(fd, &refusal, sizeof refusal);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof refusal)
        return 0;
    waitpid(l->pid, &l->wait_status, 0);
    l->pid = 0;
    return refusal;
}

int launchee_start(launchee_t *l, const launchee_plan_t *plan)
{
    bool hold = plan->hold_terminal &&
                (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO) || isatty(STDIN_FILENO));
    char **environment = plan->name ? environment_with(plan->name, plan->value) : environ;
    int pipes[2], terminal = -1, error = environment ? 0 : ENOMEM;

    l->ended = false;
    l->wait_status = 0;
    l->own_group = plan->own_group;
    if (plan->adopt)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (error == 0 && hold)
        error = terminal_open(plan, &l->output_fd, &terminal);
    if (error == 0 && pipe2(pipes, O_CLOEXEC) != 0)
        error = errno;
    else if (error == 0) {
        l->pid = fork();
        if (l->pid == 0)
            become(l, plan, environment, terminal, pipes[1]);
        error = l->pid < 0 ? errno : 0;
        if (l->pid > 0 && plan->own_group)
            setpgid(l->pid, l->pid); /* whoever of both comes first */
        close(pipes[1]);
        if (error == 0)
            error = refusal_wait(l, pipes[0]);
        close(pipes[0]);
    }
    if (environment != environ)
        free(environment);
    if (l->pid < 0)
        l->pid = 0;
    if (terminal >= 0)
        close(terminal); /* with the program's end the other side reads its end too */
    if (error && l->output_fd >= 0) {
        close(l->output_fd);
        l->output_fd = -1;
    }
    return error;
}

/* ---- while it runs ------------------------------------------------------------------- */

static void reap(launchee_t *l)
{
    if (l->pid == 0 || waitpid(l->pid, &l->wait_status, WNOHANG) != l->pid)
        return;
    l->pid = 0;
    l->ended = true;
}

void launchee_signal(const launchee_t *l, int number)
{
    if (l->pid)
        kill(l->own_group ? -l->pid : l->pid, number);
}

/* A key of the terminal reaches the whole group, the program included, unless that has its own. A
 * hang-up comes from the kernel, too, but to the leader of the session alone, with a SIGCONT: that
 * may be us. Where the whole group gets one, the program gets it twice. */
static bool is_key(int number, bool by_kernel)
{
    return by_kernel && (number == SIGINT || number == SIGQUIT);
}

/* What asks somebody to stop or to go on is for a group. */
static void pass_on(const launchee_t *l, int number, bool by_kernel)
{
    if (l->own_group && (by_kernel || number == SIGCONT))
        launchee_signal(l, number);
    else if (l->pid && !is_key(number, by_kernel))
        kill(l->pid, number);
}

void launchee_signals(launchee_t *l)
{
    struct signalfd_siginfo info;

    while (read(l->signal_fd, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGCHLD)
            continue;
        if (number == SIGWINCH) {
            l->resized = true;
            continue;
        }
        if (asks_to_stop(number))
            l->stop_signal = number;
        pass_on(l, number, info.ssi_code == SI_KERNEL);
    }
    reap(l); /* several ends may stand behind one SIGCHLD */
}

bool launchee_has_heirs(const launchee_t *l)
{
    pid_t pid;

    if (!l->ended)
        return true;
    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0);
    return pid == 0;
}

int launchee_status(const launchee_t *l)
{
    return WIFSIGNALED(l->wait_status) ? 128 + WTERMSIG(l->wait_status)
                                       : WEXITSTATUS(l->wait_status);
}

int launchee_refusal(int error)
{
    if (error == ENOENT)
        return LAUNCHEE_NOT_FOUND;
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE
               ? LAUNCHEE_FAILED
               : LAUNCHEE_NOT_EXECUTABLE;
}

void launchee_close(launchee_t *l)
{
    if (l->output_fd >= 0)
        close(l->output_fd);
    if (l->signal_fd >= 0)
        close(l->signal_fd);
    l->output_fd = l->signal_fd = -1;
    sigprocmask(SIG_SETMASK, &l->before, NULL);
}
