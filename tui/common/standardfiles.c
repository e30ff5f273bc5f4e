/* SPDX-License-Identifier: Apache-2.0 */
#include "standardfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* In their order, each open gets the lowest number that is free: its own. Not closed by exec: the
 * program that we start may open files, too. */
void standardfiles_fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return; /* without /dev/null all stays as it is */
}
