/* SPDX-License-Identifier: Apache-2.0 */
#include "drainspawn.h"

#include "environ.h"
#include "refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "gpurt-drain"

/* Where the build installs it. A build by hand says nothing. */
#ifndef GPURT_PROGRAM_FOLDER
#    define GPURT_PROGRAM_FOLDER "/usr/local/bin"
#endif

enum {
    WAIT_MS = 5000,
    ABOVE = 16 /* descriptors are first moved up here, out of the way of 3 and 4 */
};

/* Beside the program if it is there, else only the name, for PATH. For a privileged program where it is
 * installed: another user can make a link to that program in a folder of his own. */
static void find(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *slash;

    if (gpurt_env_privileged()) {
        memcpy(path, GPURT_PROGRAM_FOLDER "/" PROGRAM,
               sizeof GPURT_PROGRAM_FOLDER "/" PROGRAM);
        return;
    }
    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash && (size_t)(slash + 1 - path) + sizeof PROGRAM <= PATH_MAX) {
        memcpy(slash + 1, PROGRAM, sizeof PROGRAM);
        if (access(path, X_OK) == 0)
            return;
    }
    memcpy(path, PROGRAM, sizeof PROGRAM);
}

/* Its own end of the pipe and the box, at fixed places; none of our streams. */
static int run(const char *path, const char *file, int box, int ready)
{
    char option[] = "--output", child[] = "--child", print[] = "--print";
    char *to_log[] = {(char *)(uintptr_t)PROGRAM, child, option, (char *)(uintptr_t)file,
                      NULL};
    char *to_stderr[] = {(char *)(uintptr_t)PROGRAM, child, print, NULL};
    char **argv = gpurt_drainspawn_prints(file) ? to_stderr : to_log;
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions), status;
    pid_t pid;

    if (code != 0)
        return code;
    posix_spawn_file_actions_adddup2(&actions, box, GPURT_DRAIN_BOX_FD);
    posix_spawn_file_actions_adddup2(&actions, ready, GPURT_DRAIN_READY_FD);
    code = gpurt_env_spawn(&pid, path, &actions, argv);
    posix_spawn_file_actions_destroy(&actions);
    if (code == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    return code;
}

static bool comes(int from)
{
    struct pollfd wait = {from, POLLIN, 0};
    int found;

    do
        found = poll(&wait, 1, WAIT_MS);
    while (found < 0 && errno == EINTR);
    return found == 1;
}

/* Reads one line. Returns: its length, 0 when the other side went away or said nothing. */
static size_t answer(int from, char *line, size_t room)
{
    size_t used = 0;

    while (used < room - 1 && comes(from)) {
        ssize_t got = read(from, line + used, room - 1 - used);

        if (got <= 0)
            break;
        used += (size_t)got;
        if (line[used - 1] == '\n') {
            used--;
            break;
        }
    }
    line[used] = '\0';
    return used;
}

gpurt_status_t gpurt_drainspawn_start(const char *file, int box_fd, int *pipe_out,
                                      gpurt_error_t *err)
{
    char path[PATH_MAX], line[GPURT_ERROR_TEXT];
    int ends[2] = {-1, -1}, box = -1, ready = -1, code = 0;
    gpurt_status_t st = GPURT_OK;

    *pipe_out = -1;
    find(path);
    if (pipe2(ends, O_CLOEXEC) != 0 || (box = fcntl(box_fd, F_DUPFD_CLOEXEC, ABOVE)) < 0 ||
        (ready = fcntl(ends[1], F_DUPFD_CLOEXEC, ABOVE)) < 0)
        code = errno;
    else
        code = run(path, file, box, ready);
    if (box >= 0)
        close(box);
    if (ready >= 0)
        close(ready);
    if (ends[1] >= 0)
        close(ends[1]);
    if (code == EPERM && gpurt_env_privileged())
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code,
                        "a setuid program starts %s only where root alone can put it "
                        "there",
                        path);
    else if (code != 0)
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code,
                        "starting %s; put it in PATH or beside the program", PROGRAM);
    else if (answer(ends[0], line, sizeof line) == 0)
        st = REFUSE(err, GPURT_E_OS, "%s did not answer", PROGRAM);
    else if (strcmp(line, "ok") != 0)
        st = REFUSE(err, GPURT_E_OS,
                    "%.240s; name a new file or a log of gpurt's, in a folder that you may "
                    "write to",
                    line);
    if (st == GPURT_OK)
        *pipe_out = ends[0];
    else if (ends[0] >= 0)
        close(ends[0]);
    return st;
}

bool gpurt_drainspawn_prints(const char *file)
{
    return strcmp(file, "stderr") == 0;
}

bool gpurt_drainspawn_numbered(const char *file, long number, char name[PATH_MAX])
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    size_t stem = dot ? (size_t)(dot - file) : strlen(file);
    int length =
        gpurt_drainspawn_prints(file)
            ? snprintf(name, PATH_MAX, "%s", file)
            : snprintf(name, PATH_MAX, "%.*s.%ld%s", (int)stem, file, number, file + stem);

    return length > 0 && length < PATH_MAX;
}

/* What the drainer says from now on is why the log is not whole, and nobody else hears it. */
void gpurt_drainspawn_wait(int pipe)
{
    char line[GPURT_ERROR_TEXT], more[GPURT_ERROR_TEXT];

    if (pipe < 0)
        return;
    if (answer(pipe, line, sizeof line) > 0) {
        line[strcspn(line, "\n")] = '\0';
        while (answer(pipe, more, sizeof more) > 0)
            ;
        fprintf(stderr, "gpurt: the log of GPURT_LOG is not whole: %s\n", line);
    }
    close(pipe);
}
