/* SPDX-License-Identifier: Apache-2.0 */
#include "pager.h"

#include "environ.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    while (path && *path) {
        size_t length = strcspn(path, ":");

        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (length && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* One that cannot move its cursor: less asks there for Return before it shows anything. */
static bool terminal_dumb(void)
{
    const char *terminal = getenv("TERM");

    return !terminal || !*terminal || strcmp(terminal, "dumb") == 0;
}

/* Returns: NULL where there is to be none. */
static const char *choose(void)
{
    const char *name;

    if (gpurt_env_privileged() || !isatty(STDOUT_FILENO))
        return NULL;
    name = getenv("GPURT_PAGER");
    if (!name && terminal_dumb())
        return NULL;
    if (!name)
        name = getenv("PAGER");
    if (!name)
        name = in_path("less") ? "less" : "";
    return *name == '\0' || strcmp(name, "cat") == 0 ? NULL : name;
}

static void become_pager(const char *command, int from)
{
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    if (dup2(from, STDIN_FILENO) == STDIN_FILENO)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(PAGER_NOT_STARTED);
}

/* Ctrl-C is the pager's: it stops what less does, and must not leave it alone with the terminal.
 * A pager that the user leaves early ends us by the write error. */
void pager_begin(pager_t *p)
{
    const char *command = choose();
    int ends[2];

    *p = (pager_t){.command = command};
    if (!command || pipe2(ends, O_CLOEXEC) != 0)
        return;
    fflush(stdout);
    p->pid = fork();
    if (p->pid == 0)
        become_pager(command, ends[0]);
    if (p->pid > 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO) {
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
    } else {
        p->pid = 0;
    }
    close(ends[0]);
    close(ends[1]);
}

int pager_end(pager_t *p)
{
    int status = 0, null;

    if (!p->pid)
        return 0;
    fflush(stdout);
    clearerr(stdout); /* the user had seen enough: no failure */
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) /* the pager sees the end */
        close(STDOUT_FILENO);
    if (null >= 0)
        close(null);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
