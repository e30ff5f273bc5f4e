/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "tell.h"

#include "environ.h"
#include "number.h"

#include <errno.h>
#include <gpurt/atomic.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "gpurt: "

enum {
    WAIT_MS = 100
};

/* ---- what a terminal may see --------------------------------------------------------- */

/* Length of the character that p begins with, and its code; 0: none does. */
static size_t character(const unsigned char *p, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80             ? 1
                    : (p[0] & 0xe0) == 0xc0 ? 2
                    : (p[0] & 0xf0) == 0xe0 ? 3
                    : (p[0] & 0xf8) == 0xf0 ? 4
                                            : 0;

    *code = length <= 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) /* also the end of the text */
            return 0;
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    if (length == 0 || *code < least[length] || *code > 0x10ffff ||
        (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}

/* Controls; characters that take no place, or turn the direction of others. */
static bool is_hidden(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

size_t gpurt_tell_plain(char *to, size_t room, const char *text)
{
    static const char dots[] = "...";
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0, cut = 0; /* cut: where dots would still fit behind */

    while (*p) {
        uint32_t code;
        size_t length = character(p, &code), size;
        char piece[16];

        size = length;
        memcpy(piece, p, length);
        if (length == 0)
            size = (size_t)snprintf(piece, sizeof piece, "\\x%02x", *p);
        else if (code == '\n' || code == '\t')
            size = (size_t)snprintf(piece, sizeof piece, "\\%c", code == '\n' ? 'n' : 't');
        else if (is_hidden(code))
            size = (size_t)snprintf(piece, sizeof piece, "\\u{%x}", (unsigned)code);
        if (used + size >= room) {
            used = cut;
            memcpy(to + used, dots, sizeof dots - 1);
            used += sizeof dots - 1;
            break;
        }
        memcpy(to + used, piece, size);
        used += size;
        if (used + sizeof dots <= room)
            cut = used;
        p += length ? length : 1;
    }
    to[used] = '\0';
    return used;
}

/* ---- one write ----------------------------------------------------------------------- */

/* A closed pipe and the limit for files end a process by a signal: here they end nothing. One
 * that was already pending stays so. */
static void write_quietly(const char *line, size_t bytes)
{
    const struct timespec now = {0, 0};
    struct pollfd out = {STDERR_FILENO, POLLOUT, 0};
    sigset_t ours, before, pending;
    int saved = errno;

    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE))
        sigdelset(&ours, SIGPIPE);
    if (sigismember(&pending, SIGXFSZ))
        sigdelset(&ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    /* A pipe that can be written has room for PIPE_BUF, which is more than a line. */
    if (poll(&out, 1, WAIT_MS) == 1 && (out.revents & POLLOUT) &&
        write(STDERR_FILENO, line, bytes) < 0)
        while (sigtimedwait(&ours, NULL, &now) > 0)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

static void line_write(const char *text)
{
    char line[GPURT_TELL_BYTES] = PREFIX;
    size_t used = sizeof PREFIX - 1;

    if (gpurt_env_privileged())
        return;
    used += gpurt_tell_plain(line + used, sizeof line - used - 1, text);
    line[used++] = '\n';
    write_quietly(line, used);
}

/* ---- how often ----------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
    return h | 1;
}

/* Returns: which of the lines this text is, from 0; GPURT_TELL_MOST: it was told before, or is
 * one too many. */
static uint32_t place_take(const char *text)
{
    static uint64_t xtold[GPURT_TELL_MOST]; /* hashes, 0 free; written by: who tells */
    uint64_t hash = hash_of(text);
    uint32_t i = 0;

    for (; i < GPURT_TELL_MOST; i++) {
        uint64_t found = 0;

        /* relaxed: the word is all there is */
        if (gpurt_cas_relaxed_sys_u64(&xtold[i], &found, hash))
            return i;
        if (found == hash)
            return GPURT_TELL_MOST;
    }
    return i;
}

void gpurt_tell(const char *fmt, ...)
{
    char text[GPURT_TELL_BYTES];
    uint32_t place;
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    place = place_take(text);
    if (place < GPURT_TELL_MOST)
        line_write(text);
    if (place == GPURT_TELL_MOST - 1)
        line_write("no more such lines are written by this process");
}

uint64_t gpurt_tell_number(const char *name, const char *value, uint64_t otherwise)
{
    uint64_t number;

    if (!value || !*value)
        return otherwise;
    if (gpurt_number_read(value, &number))
        return number;
    gpurt_tell("%s=%.64s is no number: it counts as not set", name, value);
    return otherwise;
}

void gpurt_tell_always(const char *fmt, ...)
{
    char text[GPURT_TELL_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    line_write(text);
}
