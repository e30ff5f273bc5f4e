/* SPDX-License-Identifier: Apache-2.0 */
#include "addr2line.h"

#include "environ.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

bool gpurt_addr2line(const char *module, uintptr_t offset, char *out, size_t bytes)
{
    char address[32];
    char *argv[] = {(char *)"addr2line", (char *)"-i", (char *)"-f", (char *)"-e",
                    (char *)module,      address,      NULL};
    posix_spawn_file_actions_t io;
    int pipes[2], status;
    ssize_t n, got = 0;
    pid_t pid;
    bool ok;

    snprintf(address, sizeof address, "0x%llx", (unsigned long long)offset);
    if (gpurt_env_privileged() || pipe2(pipes, O_CLOEXEC))
        return false;
    posix_spawn_file_actions_init(&io);
    posix_spawn_file_actions_adddup2(&io, pipes[1], 1);
    posix_spawn_file_actions_addopen(&io, 2, "/dev/null", O_WRONLY, 0);
    ok = gpurt_env_spawn(&pid, "addr2line", &io, argv) == 0;
    posix_spawn_file_actions_destroy(&io);
    close(pipes[1]);
    while (ok && (n = read(pipes[0], out + got, bytes - 1 - (size_t)got)) > 0)
        got += n;
    close(pipes[0]);
    out[got] = '\0';
    if (ok)
        ok = waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
             WEXITSTATUS(status) == 0;
    return ok && got > 0;
}
