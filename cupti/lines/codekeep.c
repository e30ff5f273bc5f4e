/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "codekeep.h"

#include "trouble.h"

#include <gpurt/atomic.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES = 4096 /* of one process */
};
#define KEPT_BYTES \
    (512ull << 20) /* likewise: PyTorch's own kernels have some hundred MiB */

static struct {
    const char *folder; /* NULL: off; fixed before the first module */
    uint64_t xbytes;    /* written by: any thread */
    uint32_t xfiles;    /* likewise */
    bool full_told, failure_told;
} codekeep;

/* Returns: false: errno says why. */
static bool is_folder(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode);
}

void codekeep_open(const char *folder)
{
    if ((mkdir(folder, 0700) == 0 || errno == EEXIST) && is_folder(folder))
        codekeep.folder = realpath(folder, NULL); /* the program may go elsewhere */
    if (!codekeep.folder)
        trouble_say(TROUBLE_NOTE, "GPURT_CUPTI_CODE=%s: %s: no machine code is kept",
                    folder, strerror(errno));
}

bool codekeep_is_on(void)
{
    return codekeep.folder != NULL;
}

static bool has_room(size_t bytes)
{
    /* relaxed: counts alone; threads that come at once may each find room */
    return gpurt_load_relaxed_dev_u32(&codekeep.xfiles) < FILES &&
           gpurt_load_relaxed_dev_u64(&codekeep.xbytes) + bytes <= KEPT_BYTES;
}

static bool write_all(int fd, const char *at, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(fd, at, bytes);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

/* Whole or not at all. Processes may keep the same code at once, also such as do not know each other's numbers:
 * each writes a file of its own. Returns: 0 or errno. */
static int file_make(const char *path, char *beside, const void *cubin, size_t bytes)
{
    const int fd = mkostemp(beside, O_CLOEXEC);
    bool done;
    int error;

    if (fd < 0)
        return errno;
    done = write_all(fd, cubin, bytes);
    done = close(fd) == 0 && done && rename(beside, path) == 0;
    error = errno;
    if (done)
        return 0;
    unlink(beside);
    return error;
}

void codekeep_put(uint64_t crc, const void *cubin, size_t bytes)
{
    char path[PATH_MAX], beside[PATH_MAX];
    int error;

    snprintf(path, sizeof path, "%s/%016" PRIx64 ".cubin", codekeep.folder, crc);
    snprintf(beside, sizeof beside, "%s/.%016" PRIx64 ".XXXXXX", codekeep.folder, crc);
    if (access(path, F_OK) == 0)
        return;
    if (!has_room(bytes)) {
        trouble_once(&codekeep.full_told,
                     "machine code of modules that do not fit is not kept: %s takes %d "
                     "files and %llu MiB of each process",
                     codekeep.folder, FILES, KEPT_BYTES >> 20);
        return;
    }
    error = file_make(path, beside, cubin, bytes);
    if (error != 0) {
        trouble_once(
            &codekeep.failure_told,
            "machine code of a module is not kept: %s: %s; further ones are not told", path,
            strerror(error));
        return;
    }
    gpurt_red_add_relaxed_dev_u32(&codekeep.xfiles, 1);     /* relaxed: a count */
    gpurt_red_add_relaxed_dev_u64(&codekeep.xbytes, bytes); /* relaxed: likewise */
}
