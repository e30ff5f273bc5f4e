/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a box in an ELF core dump. The kernel writes shared mappings into a core when
 * bit 1 of /proc/PID/coredump_filter is set, which it is by default; a segment then
 * starts with the first page of the box. The core is mapped privately and read-only. */
#include "boxcheck.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static gpurt_status_t segment_try(int fd, const Elf64_Phdr *ph, uint64_t file_bytes,
                                  gpurt_boxmap_t *map, gpurt_error_t *err)
{
    uint64_t magic = 0;

    if (ph->p_type != PT_LOAD || ph->p_filesz < GPURT_BOX_PAGE ||
        ph->p_offset % GPURT_BOX_PAGE != 0 || ph->p_offset > file_bytes ||
        ph->p_filesz > file_bytes - ph->p_offset ||
        pread(fd, &magic, sizeof magic, (off_t)ph->p_offset) != (ssize_t)sizeof magic ||
        magic != GPURT_BOX_MAGIC)
        return GPURT_E_HANDLE;
    map->bytes = (size_t)ph->p_filesz;
    map->box = mmap(NULL, map->bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)ph->p_offset);
    if (map->box == MAP_FAILED) {
        map->box = NULL;
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "mapping a core dump");
    }
    return gpurt_boxcheck_adopt(map, err);
}

static gpurt_status_t core_scan(int fd, uint64_t bytes, const char *path,
                                gpurt_boxmap_t *map, gpurt_error_t *err)
{
    Elf64_Ehdr eh;

    if (pread(fd, &eh, sizeof eh, 0) != (ssize_t)sizeof eh ||
        memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_type != ET_CORE || eh.e_phentsize != sizeof(Elf64_Phdr))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a 64-bit core dump", path);
    for (uint32_t i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;
        gpurt_status_t st;

        if (pread(fd, &ph, sizeof ph, (off_t)(eh.e_phoff + i * sizeof ph)) !=
            (ssize_t)sizeof ph)
            break;
        st = segment_try(fd, &ph, bytes, map, err);
        if (st != GPURT_E_HANDLE)
            return st;
    }
    return gpurt_fail(
        err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
        "%s holds no gpurt box; set bit 1 of coredump_filter before the crash", path);
}

gpurt_status_t gpurt_boxmap_attach_core(const char *path, gpurt_boxmap_t *map,
                                        gpurt_error_t *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gpurt_status_t st;
    struct stat info;

    memset(map, 0, sizeof *map);
    map->fd = -1;
    if (fd < 0 || fstat(fd, &info) != 0) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "opening %s", path);
        goto out;
    }
    st = core_scan(fd, (uint64_t)info.st_size, path, map, err);
out:
    if (fd >= 0)
        close(fd);
    if (st != GPURT_OK)
        gpurt_boxmap_detach(map);
    return st;
}
