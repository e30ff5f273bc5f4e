/* SPDX-License-Identifier: Apache-2.0 */
#include "sourcetext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BYTES = 16 << 20, /* more is no source that somebody wrote */
    TAB = 8
};
#define SECOND_NS 1000000000ull

static void fails(sourcetext_t *s, const char *fmt, ...) GPURT_PRINTF(2, 3);
static void fails(sourcetext_t *s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(s->why, sizeof s->why, fmt, args);
    va_end(args);
    free(s->bytes);
    free(s->starts);
    s->bytes = NULL;
    s->starts = NULL;
    s->count = 0;
}

void sourcetext_fini(sourcetext_t *s)
{
    free(s->bytes);
    free(s->starts);
    memset(s, 0, sizeof *s);
}

/* Returns: bytes; -1: s says what is wrong. */
static ssize_t bytes_read(sourcetext_t *s, int fd)
{
    struct stat info;
    size_t used = 0;
    ssize_t got = 1;

    if (fstat(fd, &info) != 0) {
        fails(s, "%s", strerror(errno));
        return -1;
    }
    if (!S_ISREG(info.st_mode)) {
        fails(s, "it is no plain file");
        return -1;
    }
    if (info.st_size > BYTES) {
        fails(s, "it has %lld bytes, more than source code has", (long long)info.st_size);
        return -1;
    }
    s->changed_ns =
        (uint64_t)info.st_mtim.tv_sec * SECOND_NS + (uint64_t)info.st_mtim.tv_nsec;
    s->bytes = malloc((size_t)info.st_size + 1);
    if (!s->bytes) {
        fails(s, "no memory");
        return -1;
    }
    while (used < (size_t)info.st_size && got > 0) {
        got = read(fd, s->bytes + used, (size_t)info.st_size - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (got < 0) {
        fails(s, "%s", strerror(errno));
        return -1;
    }
    return (ssize_t)used;
}

static void lines_find(sourcetext_t *s, size_t bytes)
{
    uint32_t count = 0;

    if (memchr(s->bytes, 0, bytes)) {
        fails(s, "it is no text");
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        count += s->bytes[i] == '\n' || i + 1 == bytes;
    s->starts = malloc((count + 1u) * sizeof *s->starts);
    if (!s->starts) {
        fails(s, "no memory");
        return;
    }
    s->starts[0] = 0;
    for (size_t i = 0; i < bytes; i++)
        if (s->bytes[i] == '\n' || i + 1 == bytes)
            s->starts[++s->count] = (uint32_t)i + 1;
}

void sourcetext_read(sourcetext_t *s, const char *path)
{
    ssize_t bytes;
    int fd;

    if (strncmp(s->path, path, sizeof s->path - 1) == 0 && s->path[0])
        return;
    sourcetext_fini(s);
    snprintf(s->path, sizeof s->path, "%s", path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        fails(s, "%s", strerror(errno));
        return;
    }
    bytes = bytes_read(s, fd);
    close(fd);
    if (bytes >= 0)
        lines_find(s, (size_t)bytes);
}

size_t sourcetext_line(const sourcetext_t *s, uint32_t number,
                       char room[SOURCETEXT_COLUMNS])
{
    size_t used = 0;

    if (number == 0 || number > s->count)
        return 0;
    for (uint32_t i = s->starts[number - 1]; i < s->starts[number]; i++) {
        const char c = s->bytes[i];
        size_t width = c == '\t' ? TAB - used % TAB : 1;

        if (c == '\n' || (c == '\r' && i + 2 == s->starts[number]))
            break;
        if (used + width >= SOURCETEXT_COLUMNS)
            break;
        memset(room + used, c == '\t' ? ' ' : c, width);
        used += width;
    }
    return used;
}
