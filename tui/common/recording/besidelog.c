/* SPDX-License-Identifier: Apache-2.0 */
#include "besidelog.h"

#include "outfile.h"

#include <errno.h>
#include <unistd.h>

static bool is_log(const char *path, const char *log)
{
    return log && gpurt_outfile_same(path, log);
}

/* What a program does is for its user alone, what a log says for whoever may read the log. */
gpurt_status_t besidelog_open(besidelog_t *b, const char *path, const char *read,
                              const char *written, gpurt_error_t *err)
{
    const mode_t rights = read ? gpurt_outfile_rights_like(read) : GPURT_OUTFILE_OWN;
    int fd;

    *b = (besidelog_t){.path = path};
    if (is_log(path, read) || is_log(path, written))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is the log itself; choose another file", path);
    fd = gpurt_outfile_make(path, GPURT_OUTFILE_REPLACE, rights, &b->made, err);
    if (fd < 0)
        return GPURT_E_OS;
    b->file = fdopen(fd, "w");
    if (b->file)
        return GPURT_OK;
    close(fd);
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
}

bool besidelog_close(besidelog_t *b)
{
    bool failed = ferror(b->file) != 0;

    errno = 0;
    failed |= fclose(b->file) != 0;
    b->file = NULL;
    return !failed;
}

void besidelog_drop(besidelog_t *b)
{
    if (!b->file)
        return;
    if (b->made)
        gpurt_outfile_remove(b->path, fileno(b->file));
    fclose(b->file);
    b->file = NULL;
}
