/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of a process, by the links in /proc/PID/fd. What a link names may be another
 * file by the time that it is opened, so what was opened is asked for its name again.
 * boxcore.c finds those of a core dump. */
#include "boxes.h"

#include "boxfound.h"
#include "procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 64, /* boxes that one process holds, its parents' among them */
    PATH_ROOM = 64 + 256
};

/* ---- the list ------------------------------------------------------------------------ */

static uint64_t made_ns(const gpurt_boxmap_t *map)
{
    return map->box->identity.real_ns;
}

void gpurt_boxfound_add(gpurt_boxes_t *boxes, const gpurt_boxmap_t *map, gpurt_error_t *err)
{
    gpurt_boxmap_t left = *map;
    uint32_t at = boxes->count;

    while (at > 0 && made_ns(&boxes->map[at - 1]) > made_ns(map))
        at--;
    if (boxes->count == GPURT_BOXES_MAX) {
        gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                   "a process with more than %d boxes: the newest are left out",
                   GPURT_BOXES_MAX);
        boxes->refused++;
        if (at < GPURT_BOXES_MAX)
            left = boxes->map[--boxes->count];
        gpurt_boxmap_detach(&left);
        if (at == GPURT_BOXES_MAX)
            return;
    }
    memmove(&boxes->map[at + 1], &boxes->map[at],
            (boxes->count - at) * sizeof boxes->map[0]);
    boxes->map[at] = *map;
    boxes->count++;
}

gpurt_boxmap_t gpurt_boxes_take(gpurt_boxes_t *boxes, uint32_t index)
{
    gpurt_boxmap_t map = boxes->map[index];

    boxes->count--;
    memmove(&boxes->map[index], &boxes->map[index + 1],
            (boxes->count - index) * sizeof boxes->map[0]);
    return map;
}

void gpurt_boxes_detach(gpurt_boxes_t *boxes)
{
    for (uint32_t i = 0; i < boxes->count; i++)
        gpurt_boxmap_detach(&boxes->map[i]);
    boxes->count = boxes->refused = 0;
}

/* ---- descriptors --------------------------------------------------------------------- */

/* "/memfd:gpurt-box (deleted)", or a fallback's ".../gpurt-UID-PID.box" or "-PID-N.box". */
static bool link_is_box(const char *link)
{
    static const char memfd[] = "/memfd:" GPURT_BOX_MEMFD_NAME " ";
    const char *base = strrchr(link, '/');
    size_t length = strlen(link);

    if (strncmp(link, memfd, sizeof memfd - 1) == 0)
        return true;
    return base && strncmp(base, "/gpurt-", 7) == 0 && length > 4 &&
           strcmp(link + length - 4, ".box") == 0 &&
           strspn(base + 7, "0123456789-") == strlen(base + 7) - 4;
}

static bool leads_to_box(const char *path)
{
    char link[512];
    ssize_t length = readlink(path, link, sizeof link - 1);

    link[length > 0 ? length : 0] = '\0';
    return link_is_box(link);
}

/* Owner: who finds. */
typedef struct finding {
    gpurt_boxes_t *out;
    gpurt_error_t *err;
    bool writable;
    bool ours; /* the process is */
    uint32_t seen;
    struct {
        dev_t device;
        ino_t inode;
    } files[FILES_MAX];
} finding_t;

/* Remembers the file. */
static bool is_new(finding_t *f, int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || f->seen == FILES_MAX)
        return false;
    for (uint32_t i = 0; i < f->seen; i++)
        if (f->files[i].device == info.st_dev && f->files[i].inode == info.st_ino)
            return false;
    f->files[f->seen].device = info.st_dev;
    f->files[f->seen++].inode = info.st_ino;
    return true;
}

/* One that somebody is making now is none yet. */
static bool is_made(int fd)
{
    uint32_t life = GPURT_LIFE_CREATING;

    return pread(fd, &life, sizeof life, offsetof(gpurt_box_t, xlife)) ==
               (ssize_t)sizeof life &&
           life != GPURT_LIFE_CREATING;
}

/* Root may have made it: what counts is who holds it. */
static gpurt_status_t size_check(const finding_t *f, int fd, const char *path)
{
    if (f->ours || gpurt_boxmap_keeps_size(fd))
        return GPURT_OK;
    return gpurt_fail(f->err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "%s is a box that its process can make shorter; run as the user of "
                      "that process",
                      path);
}

/* A descriptor that is closed by now is no box; one that may not be opened is one that is
 * refused. */
static void look_at(finding_t *f, const char *path)
{
    int flags = (f->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char own[64];
    gpurt_boxmap_t map;
    int fd;

    if (!leads_to_box(path))
        return;
    fd = open(path, flags);
    if (fd < 0) {
        if (errno != ENOENT) {
            gpurt_fail(f->err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
            f->out->refused++;
        }
        return;
    }
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (!leads_to_box(own) || !is_made(fd) || !is_new(f, fd))
        close(fd);
    else if (size_check(f, fd, path) != GPURT_OK)
        close(fd), f->out->refused++;
    else if (gpurt_boxmap_attach_open(fd, f->writable, path, &map, f->err) == GPURT_OK)
        gpurt_boxfound_add(f->out, &map, f->err);
    else
        f->out->refused++;
}

static void leave_inherited(gpurt_boxes_t *boxes, uint32_t pid)
{
    uint32_t own = 0;

    for (uint32_t i = 0; i < boxes->count; i++)
        own += boxes->map[i].box->identity.pid == pid;
    for (uint32_t i = boxes->count; own > 0 && i-- > 0;)
        if (boxes->map[i].box->identity.pid != pid) {
            gpurt_boxmap_t map = gpurt_boxes_take(boxes, i);

            gpurt_boxmap_detach(&map);
        }
}

gpurt_status_t gpurt_boxes_of_pid(uint32_t pid, bool writable, gpurt_boxes_t *out,
                                  gpurt_error_t *err)
{
    gpurt_error_t why = {0};
    finding_t f = {.out = out,
                   .err = err ? err : &why,
                   .writable = writable,
                   .ours = gpurt_process_is_of(pid, geteuid())};
    char folder[64], path[PATH_ROOM];
    struct dirent *entry;
    DIR *dir;

    out->count = out->refused = 0;
    snprintf(folder, sizeof folder, "/proc/%u/fd", pid);
    dir = opendir(folder);
    if (!dir)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO,
                          errno == ENOENT ? ESRCH : errno, "process %u", pid);
    while ((entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        look_at(&f, path);
    }
    closedir(dir);
    leave_inherited(out, pid);
    if (out->count)
        return GPURT_OK;
    if (out->refused)
        return f.err->status;
    return gpurt_fail(
        err, GPURT_E_HANDLE, GPURT_FROM_GPURT, 0,
        "process %u holds no gpurt box; start it with GPURT_LOG=FILE, or under "
        "gpurt-record or gpurt-top",
        pid);
}
