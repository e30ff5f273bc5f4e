/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "codekeep.h"

#include "outfile.h"
#include "trouble.h"

#include <gpurt/atomic.h>

#include <errno.h>
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
} codekeep;

void codekeep_open(const char *folder)
{
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
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

/* Whole or not at all. `beside` is this thread's own. */
static bool file_make(const char *path, const char *beside, const void *cubin, size_t bytes,
                      gpurt_error_t *err)
{
    const int fd = gpurt_outfile_open(beside, GPURT_OUTFILE_NEW, GPURT_OUTFILE_OWN, err);
    bool done;

    if (fd < 0)
        return false;
    done = write_all(fd, cubin, bytes);
    done = close(fd) == 0 && done && rename(beside, path) == 0;
    if (done)
        return true;
    gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
    unlink(beside);
    return false;
}

void codekeep_put(uint64_t crc, const void *cubin, size_t bytes)
{
    char path[PATH_MAX], beside[PATH_MAX];
    gpurt_error_t err;

    snprintf(path, sizeof path, "%s/%016" PRIx64 ".cubin", codekeep.folder, crc);
    snprintf(beside, sizeof beside, "%s/.%016" PRIx64 ".%ld", codekeep.folder, crc,
             (long)gettid());
    if (access(path, F_OK) == 0)
        return;
    if (!has_room(bytes)) {
        trouble_say(
            TROUBLE_NOTE,
            "machine code of modules that come later is not kept: %s has %d files or "
            "%llu MiB of this program",
            codekeep.folder, FILES, KEPT_BYTES >> 20);
        return;
    }
    if (!file_make(path, beside, cubin, bytes, &err)) {
        trouble_say(TROUBLE_NOTE, "machine code of a module is not kept: %s", err.text);
        return;
    }
    gpurt_red_add_relaxed_dev_u32(&codekeep.xfiles, 1);     /* relaxed: a count */
    gpurt_red_add_relaxed_dev_u64(&codekeep.xbytes, bytes); /* relaxed: likewise */
}
