/* SPDX-License-Identifier: Apache-2.0 */
/* environ.h - what the user's environment may say to this process. A privileged program (setuid,
 * setgid, capabilities of its file) has rights that its user lacks: it reads no variable, and starts
 * no program that another user could have put there. getenv stands here alone, in runtime and cupti. */
#ifndef GPURT_BASE_ENVIRON_H
#define GPURT_BASE_ENVIRON_H

#include <gpurt/base.h>

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who a process is, as far as its rights go. */
typedef struct gpurt_env_ids {
    uid_t real_user, effective_user, saved_user;
    gid_t real_group, effective_group, saved_group;
    bool secure; /* the kernel's word: exec gave it rights, by ids or by capabilities */
} gpurt_env_ids_t;

/* Whether such a process has rights that its user lacks. */
bool gpurt_env_ids_judge(const gpurt_env_ids_t *ids);

/* Whether this one has. Asked anew each time: a program may change its ids. */
bool gpurt_env_privileged(void);

/* Returns: NULL in a privileged program, and for a variable that is not set or set to nothing. */
const char *gpurt_env_get(const char *name);

/* Whether gpurt_env_get withholds something: a variable of gpurt's is set in a privileged program. */
bool gpurt_env_withholds(void);

/* Whether root alone can change what stands at that path: the file and each folder above it are
 * root's, and nobody else may write to them. */
bool gpurt_env_is_roots(const char *path);

/* Starts a program by its path, or by its name through PATH. A privileged program starts only an
 * absolute path for which gpurt_env_is_roots holds, and gives it an empty environment. Returns: 0,
 * or an errno; EPERM where that is refused. */
int gpurt_env_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *io,
                    char *const argv[]);

#endif
