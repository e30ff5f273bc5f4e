/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_excerpt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TAB = 4,
    SOURCE_MAX = 64 << 20,
    CALL_LINES = 6 /* a call may begin so many lines above the one the compiler names */
};

static bool is_source(const char *path)
{
    static const char *const endings[] = {".c",   ".h",   ".cu", ".cuh", ".cpp", ".cc",
                                          ".cxx", ".hpp", ".hh", ".inl", ".inc"};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static FILE *open_source(const char *path)
{
    struct stat info;
    FILE *file;
    int fd;

    if (!is_source(path))
        return NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > SOURCE_MAX ||
        !(file = fdopen(fd, "r"))) {
        close(fd);
        return NULL;
    }
    return file;
}

/* In folder, with ever fewer leading parts of the name; never above it. */
static FILE *open_below(const char *name, const char *folder, char path[PATH_MAX])
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        FILE *file;

        part += strspn(part, "/");
        if (!strstr(part, "..") &&
            snprintf(path, PATH_MAX, "%s/%s", folder, part) < PATH_MAX &&
            (file = open_source(path)) != NULL)
            return file;
    }
    return NULL;
}

/* One line, cut, tabs spread. Returns: false at the end. */
static bool read_line(FILE *file, char out[EXCERPT_LINE])
{
    size_t used = 0;
    int c = getc(file);

    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc(file)) {
        size_t width = c == '\t' ? TAB - used % TAB : 1;

        for (; width > 0 && used < EXCERPT_LINE - 1; width--)
            out[used++] = (char)(c == '\t' ? ' ' : c);
    }
    if (used && out[used - 1] == '\r')
        used--;
    out[used] = '\0';
    return true;
}

/* The name of the macro in the panic's line, or in the nearest one above it; else where the
 * line begins. */
static void place_caret(excerpt_t *e)
{
    static const char *const names[] = {"GPURT_PANIC", "GPURT_ASSERT", "GPURT_CHECK_",
                                        "GPURT_UNREACHABLE"};
    uint32_t own = e->line - e->first;
    const char *text = e->lines[own];

    for (uint32_t up = 0; up <= own && up < CALL_LINES; up++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            const char *at = strstr(e->lines[own - up], names[i]);

            if (!at)
                continue;
            e->line -= up;
            e->column = (uint32_t)(at - e->lines[own - up]) + 1;
            e->width = (uint32_t)strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
            return;
        }
    e->column = (uint32_t)strspn(text, " ") + 1;
    e->width = text[e->column - 1] ? 1 : 0;
    if (!e->width)
        e->column = 0;
}

static bool read_around(FILE *file, excerpt_t *e)
{
    uint32_t line = 1;
    char skipped[EXCERPT_LINE];

    e->first = e->line > EXCERPT_BEFORE ? e->line - EXCERPT_BEFORE : 1;
    for (; line < e->first; line++)
        if (!read_line(file, skipped))
            return false;
    while (e->count < EXCERPT_LINES && e->first + e->count <= e->line + EXCERPT_AFTER &&
           read_line(file, e->lines[e->count]))
        e->count++;
    if (e->first + e->count <= e->line)
        return false; /* another version of the file */
    place_caret(e);
    return true;
}

bool excerpt_read(const char *file, uint32_t file_bytes, uint32_t line, const char *folder,
                  excerpt_t *out)
{
    char name[PATH_MAX];
    FILE *source;
    bool found;

    memset(out, 0, sizeof *out);
    if (line == 0 || file_bytes == 0 || file_bytes >= sizeof name ||
        memchr(file, '\0', file_bytes))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)file_bytes, file);
    snprintf(out->path, sizeof out->path, "%s", name);
    source = open_source(name);
    if (!source && folder)
        source = open_below(name, folder, out->path);
    if (!source)
        return false;
    out->line = line;
    found = read_around(source, out);
    fclose(source);
    return found;
}
