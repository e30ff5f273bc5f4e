/* SPDX-License-Identifier: Apache-2.0 */
/* Finding boxes in an ELF core dump. The kernel writes shared mappings into a core when
 * bit 1 of /proc/PID/coredump_filter is set, which it is by default; a segment then
 * starts with the first page of a box. gdb lays segments one behind another, at any byte. The core
 * is mapped privately and read-only, and copied where a segment begins within a page. */
#include "boxcheck.h"
#include "boxfound.h"
#include "filemap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool segment_is_box(int fd, const Elf64_Phdr *ph)
{
    uint64_t magic = 0;

    return ph->p_type == PT_LOAD && ph->p_filesz >= GPURT_BOX_PAGE &&
           pread(fd, &magic, sizeof magic, (off_t)ph->p_offset) == (ssize_t)sizeof magic &&
           magic == GPURT_BOX_MAGIC;
}

static gpurt_status_t segment_map(int fd, const Elf64_Phdr *ph, uint64_t file_bytes,
                                  gpurt_boxmap_t *map, gpurt_error_t *err)
{
    gpurt_status_t st;

    memset(map, 0, sizeof *map);
    map->fd = -1;
    if (ph->p_offset > file_bytes || ph->p_filesz > file_bytes - ph->p_offset)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "a core dump that ends inside a box; raise `ulimit -c`");
    map->bytes = (size_t)ph->p_filesz;
    map->box = gpurt_filemap(fd, ph->p_offset, map->bytes);
    if (!map->box)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "mapping a core dump");
    st = gpurt_boxcheck_adopt(map, err);
    if (st != GPURT_OK)
        gpurt_boxmap_detach(map);
    return st;
}

/* A process may have had a box in its memory twice: the collector's, beside its own. */
static bool is_there(const gpurt_boxes_t *boxes, const gpurt_boxmap_t *map)
{
    for (uint32_t i = 0; i < boxes->count; i++)
        if (boxes->map[i].box->check == map->box->check &&
            memcmp(&boxes->map[i].box->identity, &map->box->identity,
                   sizeof map->box->identity) == 0)
            return true;
    return false;
}

static void segment_look(int fd, const Elf64_Phdr *ph, uint64_t file_bytes,
                         gpurt_boxes_t *out, gpurt_error_t *err)
{
    gpurt_boxmap_t map;

    if (segment_map(fd, ph, file_bytes, &map, err) != GPURT_OK)
        out->refused++;
    else if (is_there(out, &map))
        gpurt_boxmap_detach(&map);
    else
        gpurt_boxfound_add(out, &map, err);
}

static gpurt_status_t core_scan(int fd, uint64_t bytes, const char *path,
                                gpurt_boxes_t *out, gpurt_error_t *err)
{
    Elf64_Ehdr eh;

    if (pread(fd, &eh, sizeof eh, 0) != (ssize_t)sizeof eh ||
        memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_type != ET_CORE || eh.e_phentsize != sizeof(Elf64_Phdr))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a 64-bit core dump", path);
    for (uint32_t i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;

        if (pread(fd, &ph, sizeof ph, (off_t)(eh.e_phoff + i * sizeof ph)) !=
            (ssize_t)sizeof ph)
            break;
        if (segment_is_box(fd, &ph))
            segment_look(fd, &ph, bytes, out, err);
    }
    if (out->count)
        return GPURT_OK;
    if (out->refused)
        return err->status;
    return gpurt_fail(
        err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
        "%s holds no gpurt box; set bit 1 of coredump_filter before the crash", path);
}

gpurt_status_t gpurt_boxes_of_core(const char *path, gpurt_boxes_t *out, gpurt_error_t *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gpurt_error_t why = {0};
    gpurt_status_t st;
    struct stat info;

    err = err ? err : &why;
    out->count = out->refused = 0;
    if (fd < 0 || fstat(fd, &info) != 0)
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "opening %s", path);
    else
        st = core_scan(fd, (uint64_t)info.st_size, path, out, err);
    if (fd >= 0)
        close(fd);
    return st;
}
