/* SPDX-License-Identifier: Apache-2.0 */
#include "environ.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool gpurt_env_ids_judge(const gpurt_env_ids_t *ids)
{
    return ids->secure || ids->real_user != ids->effective_user ||
           ids->real_user != ids->saved_user || ids->real_group != ids->effective_group ||
           ids->real_group != ids->saved_group;
}

bool gpurt_env_privileged(void)
{
    gpurt_env_ids_t ids = {.secure = getauxval(AT_SECURE) != 0};

    if (getresuid(&ids.real_user, &ids.effective_user, &ids.saved_user) != 0 ||
        getresgid(&ids.real_group, &ids.effective_group, &ids.saved_group) != 0)
        return true;
    return gpurt_env_ids_judge(&ids);
}

const char *gpurt_env_get(const char *name)
{
    const char *value = gpurt_env_privileged() ? NULL : getenv(name);

    return value && *value ? value : NULL;
}

bool gpurt_env_withholds(void)
{
    static const char prefix[] = "GPURT_";

    if (!gpurt_env_privileged())
        return false;
    for (char **one = environ; one && *one; one++)
        if (strncmp(*one, prefix, sizeof prefix - 1) == 0)
            return true;
    return false;
}

static bool is_roots_alone(const char *path)
{
    struct stat s;

    return lstat(path, &s) == 0 && s.st_uid == 0 && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Links are followed first: what they lead through is then in the path, and is judged with it. */
bool gpurt_env_is_roots(const char *path)
{
    char whole[PATH_MAX], *slash;

    if (path[0] != '/' || !realpath(path, whole))
        return false;
    while (is_roots_alone(whole)) {
        slash = strrchr(whole, '/');
        if (slash == whole)
            return is_roots_alone("/");
        *slash = '\0';
    }
    return false;
}

int gpurt_env_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *io,
                    char *const argv[])
{
    char *nothing[] = {NULL}, whole[PATH_MAX];

    if (!gpurt_env_privileged())
        return posix_spawnp(pid, program, io, NULL, argv, environ);
    /* What was judged is started: a link may lead elsewhere by then. */
    if (program[0] != '/' || !realpath(program, whole) || !gpurt_env_is_roots(whole))
        return EPERM;
    return posix_spawn(pid, whole, io, NULL, argv, nothing);
}
