/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".gpucore"
#define PIPE   ".pipe"

static const char *const by_user[] = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                      "CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION",
                                      "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
                                      "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
                                      "CUDA_COREDUMP_GENERATION_FLAGS",
                                      "CUDA_COREDUMP_FILE",
                                      "CUDA_COREDUMP_PIPE"};

static const char on[] = "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                  flags[] = "CUDA_COREDUMP_GENERATION_FLAGS", file[] = "CUDA_COREDUMP_FILE",
                  asked[] = "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
                  pipes[] = "CUDA_COREDUMP_PIPE",
                  /* While CUPTI listens the driver writes no dump. */
    collects[] = "GPURT_CUPTI";

/* No memory: registers, code and places tell what happened, in half a megabyte for a
 * small launch. */
#define LIGHT                                          \
    "skip_nonrelocated_elf_images,skip_global_memory," \
    "skip_shared_memory,skip_local_memory,skip_constbank_memory"

/* Dumps go where there is room: not into a runtime folder in memory. */
static bool folder_make(gpu_capture_t *c)
{
    const char *base = getenv("TMPDIR");

    snprintf(c->folder, sizeof c->folder, "%s/gpurt-core-XXXXXX",
             base && base[0] == '/' ? base : "/tmp");
    return mkdtemp(c->folder) != NULL; /* 0700 */
}

bool gpu_capture_again(const gpu_capture_t *c)
{
    char pattern[PATH_MAX];

    if (!c->folder[0])
        return true;
    snprintf(pattern, sizeof pattern, "%s/%%p" ENDING, c->folder);
    if (setenv(on, "1", 1) != 0 || setenv(flags, LIGHT, 1) != 0 ||
        setenv(file, pattern, 1) != 0 || setenv(collects, "off", 1) != 0)
        return false;
    snprintf(pattern, sizeof pattern, "%s/%%p" PIPE, c->folder);
    return !c->asking || (setenv(asked, "1", 1) == 0 && setenv(pipes, pattern, 1) == 0);
}

gpurt_status_t gpu_capture_open(gpu_capture_t *c, gpurt_error_t *err)
{
    int code;

    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < sizeof by_user / sizeof by_user[0]; i++)
        if (getenv(by_user[i])) {
            c->set_by_user = by_user[i];
            return GPURT_OK;
        }
    if (!folder_make(c)) {
        code = errno;
        gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "folder for core dumps %s: %s",
                   c->folder, strerror(code));
        c->folder[0] = '\0';
        return GPURT_E_OS;
    }
    if (gpu_capture_again(c))
        return GPURT_OK;
    gpu_capture_close(c);
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "environment");
}

void gpu_capture_stop(gpu_capture_t *c)
{
    if (!c->folder[0])
        return;
    unsetenv(on);
    unsetenv(flags);
    unsetenv(file);
    unsetenv(asked);
    unsetenv(pipes);
    unsetenv(collects);
}

gpurt_status_t gpu_capture_open_asking(gpu_capture_t *c, gpurt_error_t *err)
{
    gpurt_status_t st = gpu_capture_open(c, err);

    if (st != GPURT_OK || !c->folder[0])
        return st;
    c->asking = true;
    if (gpu_capture_again(c))
        return GPURT_OK;
    gpu_capture_close(c);
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "environment");
}

/* Returns: whether somebody reads there and was told. Never waits. */
static bool ask(const char *path)
{
    static const char bytes[1024];
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    bool told;

    if (fd < 0)
        return false;
    told = fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) &&
           write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    close(fd);
    return told;
}

uint32_t gpu_capture_ask(const gpu_capture_t *c)
{
    DIR *folder = c->folder[0] ? opendir(c->folder) : NULL;
    const struct dirent *e;
    char path[PATH_MAX];
    uint32_t told = 0;

    while (folder && (e = readdir(folder)) != NULL) {
        size_t bytes = strlen(e->d_name), ending = strlen(PIPE);

        if (bytes <= ending || strcmp(e->d_name + bytes - ending, PIPE) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", c->folder, e->d_name);
        told += ask(path);
    }
    if (folder)
        closedir(folder);
    return told;
}

/* One that nobody has waited for yet is gone too. */
static bool is_gone(pid_t pid)
{
    char path[32], text[512], *state;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return got < 0 && errno == ESRCH;
    text[got] = '\0';
    state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

static bool is_dump(const char *name, pid_t *pid)
{
    char *end;
    long number = strtol(name, &end, 10);

    *pid = (pid_t)number;
    return number > 0 && number <= INT_MAX && strcmp(end, ENDING) == 0;
}

bool gpu_capture_next(const gpu_capture_t *c, char path[PATH_MAX], pid_t *pid)
{
    DIR *folder = c->folder[0] ? opendir(c->folder) : NULL;
    const struct dirent *e;
    struct stat info;
    bool found = false;

    while (folder && !found && (e = readdir(folder)) != NULL) {
        if (!is_dump(e->d_name, pid) || !is_gone(*pid))
            continue;
        snprintf(path, PATH_MAX, "%s/%s", c->folder, e->d_name);
        found = lstat(path, &info) == 0 && S_ISREG(info.st_mode);
    }
    if (folder)
        closedir(folder);
    return found;
}

bool gpu_capture_of(const gpu_capture_t *c, pid_t pid, char path[PATH_MAX])
{
    struct stat info;

    if (!c->folder[0])
        return false;
    snprintf(path, PATH_MAX, "%s/%d" ENDING, c->folder, (int)pid);
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

void gpu_capture_close(gpu_capture_t *c)
{
    DIR *folder = c->folder[0] ? opendir(c->folder) : NULL;
    const struct dirent *e;

    gpu_capture_stop(c);
    while (folder && (e = readdir(folder)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    if (folder)
        closedir(folder);
    if (c->folder[0])
        rmdir(c->folder);
    c->folder[0] = '\0';
}
