/* SPDX-License-Identifier: Apache-2.0 */
#include "filemap.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, uint64_t offset, char *to, size_t bytes)
{
    while (bytes) {
        ssize_t got = pread(fd, to, bytes, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = ENODATA;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

static void *copy(int fd, uint64_t offset, size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int code;

    if (memory == MAP_FAILED)
        return NULL;
    if (read_all(fd, offset, memory, bytes) && mprotect(memory, bytes, PROT_READ) == 0)
        return memory;
    code = errno;
    munmap(memory, bytes);
    errno = code;
    return NULL;
}

void *gpurt_filemap(int fd, uint64_t offset, size_t bytes)
{
    struct stat info;
    void *memory;

    if (fstat(fd, &info) != 0)
        return NULL;
    if (info.st_uid != geteuid() || offset % (uint64_t)sysconf(_SC_PAGESIZE))
        return copy(fd, offset, bytes);
    memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
    return memory == MAP_FAILED ? NULL : memory;
}
