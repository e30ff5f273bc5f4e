/* SPDX-License-Identifier: Apache-2.0 */
#include "exittext.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void gpurt_exit_text(int wait_status, char *out, size_t room)
{
    const char *name =
        WIFSIGNALED(wait_status) ? sigabbrev_np(WTERMSIG(wait_status)) : NULL;

    if (!WIFSIGNALED(wait_status))
        snprintf(out, room, "exit status %d", WEXITSTATUS(wait_status));
    else if (name)
        snprintf(out, room, "killed by SIG%s", name);
    else
        snprintf(out, room, "killed by signal %d", WTERMSIG(wait_status));
}
