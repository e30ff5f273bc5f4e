/* SPDX-License-Identifier: Apache-2.0 */
/* Links are followed by hand, one at a time: the text of a link is read from the link that was
 * judged (O_PATH), and what is opened at the end is opened with O_NOFOLLOW and judged again. */
#include "outfile.h"

#include "hosttime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

enum {
    LINKS = 40, /* as many as the kernel follows */
    TRIES = 16, /* a file that comes and goes meanwhile */
    PROC_MAGIC = 0x9fa0,
    STEP_NS = 10000000
};
#define READER_NS 2000000000ull /* what the reader of a pipe may come later */

/* Owner: the call. */
typedef struct search {
    const char *name;   /* as the user typed it */
    char at[PATH_MAX];  /* where it led so far */
    bool given;         /* it leads through /proc: somebody opened it for us */
    gpurt_error_t *err; /* or NULL */
} search_t;

/* ---- what is refused ----------------------------------------------------------------- */

static gpurt_status_t no_file(const search_t *s, int code)
{
    return gpurt_fail(s->err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "%s%s", s->name,
                      code == EEXIST ? "; choose another file" : "");
}

static gpurt_status_t not_ours(const search_t *s, const char *what, uid_t who)
{
    bool led = strcmp(s->name, s->at) != 0;

    return gpurt_fail(s->err, GPURT_E_OS, GPURT_FROM_GPURT, 0,
                      "%.160s%s%.80s%s: %s belongs to user %u, not to us (user %u); choose "
                      "another file, or remove that one",
                      s->name, led ? " (" : "", led ? s->at : "", led ? ")" : "", what,
                      (unsigned)who, (unsigned)geteuid());
}

/* Its owner could read, cut and change what is written there. */
static gpurt_status_t file_judge(const search_t *s, const struct stat *info)
{
    const bool ours = info->st_uid == geteuid();

    if (s->given || ours)
        return GPURT_OK;
    if (S_ISREG(info->st_mode))
        return not_ours(s, "the file", info->st_uid);
    if (S_ISFIFO(info->st_mode) && info->st_uid != 0)
        return not_ours(s, "the pipe", info->st_uid);
    return GPURT_OK;
}

/* ---- links --------------------------------------------------------------------------- */

/* Puts what the link says in the place of its name. */
static gpurt_status_t link_take(search_t *s, int fd)
{
    char text[PATH_MAX], whole[2 * PATH_MAX];
    ssize_t length = readlinkat(fd, "", text, sizeof text - 1);
    const char *slash = strrchr(s->at, '/');
    int used;

    if (length < 0)
        return no_file(s, errno);
    text[length] = '\0';
    used = snprintf(whole, sizeof whole, "%.*s%s",
                    text[0] == '/' || !slash ? 0 : (int)(slash - s->at) + 1, s->at, text);
    if (used < 0 || (size_t)used >= sizeof s->at)
        return no_file(s, ENAMETOOLONG);
    memcpy(s->at, whole, (size_t)used + 1);
    return GPURT_OK;
}

/* The links of /proc are no names but open files: nobody else can put one there. */
static gpurt_status_t link_judge(search_t *s, int fd, const struct stat *info)
{
    struct statfs system;

    if (fstatfs(fd, &system) == 0 && system.f_type == PROC_MAGIC) {
        s->given = true;
        return GPURT_OK;
    }
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return not_ours(s, "the symbolic link", info->st_uid);
    return link_take(s, fd);
}

/* One step. *more: s->at was a link, and is now what that said. */
static gpurt_status_t step(search_t *s, struct stat *info, bool *there, bool *more)
{
    int fd = open(s->at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    gpurt_status_t st = GPURT_OK;

    *there = fd >= 0;
    *more = false;
    if (fd < 0)
        return errno == ENOENT ? GPURT_OK : no_file(s, errno);
    if (fstat(fd, info) != 0) {
        st = no_file(s, errno);
    } else if (S_ISLNK(info->st_mode)) {
        st = link_judge(s, fd, info);
        *more = !s->given;
    }
    close(fd);
    return st;
}

/* Follows links until s->at is none. *there: whether something is. */
static gpurt_status_t follow(search_t *s, struct stat *info, bool *there)
{
    for (int links = 0; links <= LINKS; links++) {
        bool more;
        gpurt_status_t st = step(s, info, there, &more);

        if (st != GPURT_OK || !more)
            return st;
    }
    return no_file(s, ELOOP);
}

static gpurt_status_t search_begin(search_t *s, const char *path, gpurt_error_t *err)
{
    *s = (search_t){.name = path, .err = err};
    if (strlen(path) >= sizeof s->at)
        return no_file(s, ENAMETOOLONG);
    memcpy(s->at, path, strlen(path) + 1);
    return GPURT_OK;
}

/* ---- opening ------------------------------------------------------------------------- */

static int flags_of(gpurt_outfile_how_t how)
{
    static const int flags[] = {O_WRONLY, O_WRONLY, O_WRONLY | O_APPEND, O_RDWR};

    return flags[how] | O_CLOEXEC | O_NOCTTY;
}

/* A pipe that nobody reads yet: its reader may be starting. Waiting for ever would hold up a
 * program whose signals are blocked. Returns: a descriptor, or -1 and errno; ENXIO: nobody came. */
static int fifo_open(const search_t *s, int flags)
{
    const uint64_t until_ns = gpurt_steady_ns() + READER_NS;
    const struct timespec step = {.tv_nsec = STEP_NS};
    int fd;

    while ((fd = open(s->at, flags | O_NONBLOCK)) < 0 && errno == ENXIO &&
           gpurt_steady_ns() < until_ns)
        nanosleep(&step, NULL);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, flags & O_APPEND);
    return fd;
}

static gpurt_status_t nobody_reads(const search_t *s)
{
    return gpurt_fail(s->err, GPURT_E_OS, GPURT_FROM_ERRNO, ENXIO,
                      "%s: nobody reads this pipe; start its reader first", s->name);
}

/* One that is there. Returns: a descriptor; -1 when it has gone since, or st says why not. */
static int old_open(search_t *s, gpurt_outfile_how_t how, bool pipe, gpurt_status_t *st)
{
    const int flags = flags_of(how) | (s->given ? 0 : O_NOFOLLOW);
    int fd = pipe ? fifo_open(s, flags) : open(s->at, flags);
    struct stat info;

    if (fd < 0 && pipe && errno == ENXIO) {
        *st = nobody_reads(s);
        return -1;
    }
    if (fd < 0) {
        *st = errno == ENOENT || errno == ELOOP ? GPURT_OK : no_file(s, errno);
        return -1;
    }
    if (fstat(fd, &info) != 0)
        *st = no_file(s, errno);
    else
        *st = file_judge(s, &info);
    if (*st == GPURT_OK && how == GPURT_OUTFILE_REPLACE && S_ISREG(info.st_mode) &&
        ftruncate(fd, 0) != 0)
        *st = no_file(s, errno);
    if (*st == GPURT_OK)
        return fd;
    close(fd);
    return -1;
}

/* What is made here is not judged: a file system may give it to another user (root's on NFS). */
static int new_open(search_t *s, gpurt_outfile_how_t how, mode_t rights, gpurt_status_t *st)
{
    int fd = open(s->at, flags_of(how) | O_CREAT | O_EXCL | O_NOFOLLOW, rights);

    if (fd < 0 && (errno != EEXIST || how == GPURT_OUTFILE_NEW))
        *st = no_file(s, errno);
    return fd;
}

int gpurt_outfile_make(const char *path, gpurt_outfile_how_t how, mode_t rights, bool *made,
                       gpurt_error_t *err)
{
    gpurt_status_t st;
    search_t s;

    *made = false;
    for (int tries = 0; tries < TRIES; tries++) {
        struct stat info;
        bool there = false;
        int fd = -1;

        st = search_begin(&s, path, err);
        if (st == GPURT_OK && how != GPURT_OUTFILE_NEW)
            st = follow(&s, &info, &there);
        /* before it is opened, too: a pipe of somebody's would hold us up */
        if (st == GPURT_OK && there)
            st = file_judge(&s, &info);
        if (st == GPURT_OK)
            fd = there ? old_open(&s, how, S_ISFIFO(info.st_mode), &st)
                       : new_open(&s, how, rights, &st);
        *made = fd >= 0 && !there;
        if (fd >= 0 || st != GPURT_OK)
            return fd;
    }
    no_file(&s, EBUSY);
    return -1;
}

int gpurt_outfile_open(const char *path, gpurt_outfile_how_t how, mode_t rights,
                       gpurt_error_t *err)
{
    bool made;

    return gpurt_outfile_make(path, how, rights, &made, err);
}

static bool is_one(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

void gpurt_outfile_remove(const char *path, int fd)
{
    struct stat ours, named;
    char place[PATH_MAX];

    if (fstat(fd, &ours) == 0 && S_ISREG(ours.st_mode) &&
        gpurt_outfile_place(path, place, sizeof place, NULL) == GPURT_OK &&
        lstat(place, &named) == 0 && is_one(&ours, &named))
        unlink(place);
}

bool gpurt_outfile_same(const char *one, const char *other)
{
    struct stat first, second;

    return stat(one, &first) == 0 && stat(other, &second) == 0 && is_one(&first, &second);
}

FILE *gpurt_outfile_stream(const char *path, gpurt_outfile_how_t how, mode_t rights,
                           gpurt_error_t *err)
{
    static const char *const modes[] = {"w", "w", "a", "r+"};
    int fd = gpurt_outfile_open(path, how, rights, err);
    FILE *file = fd >= 0 ? fdopen(fd, modes[how]) : NULL;

    if (fd >= 0 && !file) {
        gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
        close(fd);
    }
    return file;
}

gpurt_status_t gpurt_outfile_place(const char *path, char *place, size_t room,
                                   gpurt_error_t *err)
{
    struct stat info;
    bool there = false;
    search_t s;
    gpurt_status_t st = search_begin(&s, path, err);

    if (st == GPURT_OK)
        st = follow(&s, &info, &there);
    if (st == GPURT_OK && there && !S_ISREG(info.st_mode))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is no regular file; choose another file", path);
    if (st == GPURT_OK && there)
        st = file_judge(&s, &info);
    if (st == GPURT_OK && (size_t)snprintf(place, room, "%s", s.at) >= room)
        st = no_file(&s, ENAMETOOLONG);
    return st;
}

mode_t gpurt_outfile_rights_like(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? info.st_mode & 0666 : GPURT_OUTFILE_OWN;
}
