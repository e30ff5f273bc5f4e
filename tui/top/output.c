/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep(output_t *o, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        o->bytes[o->written++ % OUTPUT_KEEP] = bytes[i];
        o->lines += bytes[i] == '\n';
    }
}

bool output_read(output_t *o, int fd)
{
    char bytes[65536];
    ssize_t got = read(fd, bytes, sizeof bytes);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR; /* EIO: nobody holds the other side */
    if (got == 0)
        return false;
    if (!o->bytes)
        o->bytes = malloc(OUTPUT_KEEP);
    if (o->bytes)
        keep(o, bytes, (size_t)got);
    return true;
}

static void write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(fd, bytes, count);

        if (done < 0 && errno != EINTR)
            return;
        if (done > 0) {
            bytes += done;
            count -= (size_t)done;
        }
    }
}

void output_print(const output_t *o, int fd)
{
    uint64_t at = o->written > OUTPUT_KEEP ? o->written - OUTPUT_KEEP : 0;

    if (at > 0) {
        char note[80];
        int bytes =
            snprintf(note, sizeof note, "gpurt-top: the first %llu byte%s left out\n",
                     (unsigned long long)at, at == 1 ? " is" : "s are");

        write_all(fd, note, (size_t)bytes);
    }
    while (at < o->written) {
        size_t part = OUTPUT_KEEP - at % OUTPUT_KEEP;

        if (part > o->written - at)
            part = (size_t)(o->written - at);
        write_all(fd, o->bytes + at % OUTPUT_KEEP, part);
        at += part;
    }
}

int output_line(const output_t *o, uint64_t back, char *to, size_t room)
{
    uint64_t first = o->written > OUTPUT_KEEP ? o->written - OUTPUT_KEEP : 0;
    uint64_t end = o->written, start;
    size_t used = 0;

    if (end > first && o->bytes[(end - 1) % OUTPUT_KEEP] == '\n')
        end--; /* the last line's own end */
    for (;;) {
        for (start = end; start > first && o->bytes[(start - 1) % OUTPUT_KEEP] != '\n';
             start--)
            ;
        if (back == 0)
            break;
        if (start == first)
            return -1;
        end = start - 1;
        back--;
    }
    if (o->written == 0)
        return -1;
    for (; start < end && used < room; start++)
        if (o->bytes[start % OUTPUT_KEEP] != '\r')
            to[used++] = o->bytes[start % OUTPUT_KEEP];
    return (int)used;
}

void output_fini(output_t *o)
{
    free(o->bytes);
    memset(o, 0, sizeof *o);
}
