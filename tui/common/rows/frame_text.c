/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_text.h"

#include "sourcetext.h"

#include <gpurt/impl/activity.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " < "

enum {
    LINE = 1024,
    CALL = 512
};

/* ---- frames ---------------------------------------------------------------------------- */

static size_t copy(char *to, size_t room, const char *from, size_t bytes)
{
    bytes = bytes < room - 1 ? bytes : room - 1;
    memcpy(to, from, bytes);
    to[bytes] = '\0';
    return bytes;
}

/* "/src/train.py:9 step": the function has no blank, the file may. */
static void frame_read(const char *text, size_t bytes, frame_text_t *out)
{
    const char *blank = memrchr(text, ' ', bytes), *colon;
    const size_t place = blank ? (size_t)(blank - text) : bytes;

    memset(out, 0, sizeof *out);
    if (blank)
        copy(out->function, sizeof out->function, blank + 1, bytes - place - 1);
    colon = memrchr(text, ':', place);
    copy(out->file, sizeof out->file, text, colon ? (size_t)(colon - text) : place);
    out->line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

/* Returns: NULL: there is none. */
static const char *part_next(const char **text, size_t *bytes)
{
    const char *at = *text, *end;

    if (!at || !*at)
        return NULL;
    end = strstr(at, BETWEEN);
    *bytes = end ? (size_t)(end - at) : strlen(at);
    *text = end ? end + sizeof BETWEEN - 1 : NULL;
    return at;
}

bool frame_text_next(const char **text, frame_text_t *out, bool *left_out)
{
    size_t bytes;
    const char *at = part_next(text, &bytes);

    if (!at)
        return false;
    *left_out = bytes == 3 && memcmp(at, "...", 3) == 0;
    if (*left_out)
        memset(out, 0, sizeof *out);
    else
        frame_read(at, bytes, out);
    return true;
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static bool is_known(const char *python, uint32_t whose)
{
    return whose != GPURT_PYTHON_NONE && python && python[0] && python[0] != '(';
}

/* As the collector has it (pystack.c): Python's own, and what was installed. */
static bool is_library(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
           strstr(file, "/lib/python3.") || file[0] == '<';
}

/* The one that people look for. */
static void frame_best(const char *python, frame_text_t *out)
{
    frame_text_t frame;
    bool left_out, first = true;

    memset(out, 0, sizeof *out);
    while (frame_text_next(&python, &frame, &left_out)) {
        if (left_out)
            continue;
        if (first || !is_library(frame.file))
            *out = frame;
        if (!is_library(frame.file))
            return;
        first = false;
    }
}

/* ---- for people ------------------------------------------------------------------------ */

static void frame_put(const frame_text_t *f, gpurt_text_t *out)
{
    gpurt_text_printf(out, "%s", base_of(f->file));
    if (f->line)
        gpurt_text_printf(out, ":%" PRIu32, f->line);
    gpurt_text_printf(out, " %s", f->function);
}

void frame_text_short(const char *python, uint32_t whose, gpurt_text_t *out)
{
    static const char *const before[] = {"", ", from ", ", beside ",
                                         ", its thread is now at ", ", beside "};
    frame_text_t frame;

    if (!is_known(python, whose))
        return;
    frame_best(python, &frame);
    gpurt_text_printf(out, "%s",
                      before[whose < sizeof before / sizeof before[0] ? whose : 1]);
    frame_put(&frame, out);
    if (whose == GPURT_PYTHON_WAITS || whose == GPURT_PYTHON_WAITS_NOW)
        gpurt_text_printf(out, ", which waits");
}

void frame_text_line(const char *python, uint32_t whose, gpurt_text_t *out)
{
    frame_text_t frame;
    bool left_out;

    if (!is_known(python, whose))
        return;
    gpurt_text_printf(out, "; Python%s",
                      whose == GPURT_PYTHON_OWN ? ": " : " of a thread that waits: ");
    for (bool first = true; frame_text_next(&python, &frame, &left_out); first = false) {
        gpurt_text_printf(out, "%s", first ? "" : BETWEEN);
        if (left_out)
            gpurt_text_printf(out, "...");
        else
            frame_put(&frame, out);
    }
}

static void plain_put(FILE *out, const char *text, size_t bytes)
{
    char room[4 * LINE];
    gpurt_text_t plain;

    gpurt_text_init(&plain, room, sizeof room);
    gpurt_render_plain(&plain, text, bytes);
    fputs(room, out);
}

/* " -> loss.backward()". */
static void source_print(const frame_text_t *f, sourcetext_t *source, FILE *out)
{
    char room[SOURCETEXT_COLUMNS];
    size_t bytes, skip = 0;

    if (f->line == 0 || f->file[0] != '/')
        return;
    sourcetext_read(source, f->file);
    bytes = source->why[0] ? 0 : sourcetext_line(source, f->line, room);
    while (skip < bytes && room[skip] == ' ')
        skip++;
    if (skip == bytes)
        return;
    fputs(" -> ", out);
    plain_put(out, room + skip, bytes - skip < 160 ? bytes - skip : 160);
}

static void frame_print(const frame_text_t *f, sourcetext_t *source, FILE *out)
{
    char room[LINE];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    frame_put(f, &text);
    fputs("    ", out);
    plain_put(out, text.at, text.used);
    source_print(f, source, out);
    fputc('\n', out);
}

void frame_text_print(const char *python, uint32_t whose, FILE *out)
{
    static const char *const heads[] = {
        "", "Python, as its thread launched it:",
        "its thread runs no Python; that of a thread that waited meanwhile:",
        "Python, where its thread stands now:",
        "its thread runs no Python; that of a thread that waits now:"};
    sourcetext_t source = {0};
    frame_text_t frame;
    bool left_out;

    if (!is_known(python, whose))
        return;
    fprintf(out, "  %s\n", heads[whose < sizeof heads / sizeof heads[0] ? whose : 1]);
    while (frame_text_next(&python, &frame, &left_out))
        if (left_out)
            fputs("    ...\n", out);
        else
            frame_print(&frame, &source, out);
    sourcetext_fini(&source);
}

void frame_text_calls(const char *calls, FILE *out)
{
    const char *at;
    size_t bytes;

    if (!calls || !calls[0] || calls[0] == '(')
        return;
    fputs("  launched from ", out);
    for (bool first = true; (at = part_next(&calls, &bytes)) != NULL; first = false) {
        const char *slash = memrchr(at, '/', bytes);
        const char *base = slash ? slash + 1 : at;

        fputs(first ? "" : BETWEEN, out);
        plain_put(out, base, bytes - (size_t)(base - at));
    }
    fputc('\n', out);
}

/* ---- for programs ---------------------------------------------------------------------- */

void frame_text_json(gpurt_json_t *j, const char *python, uint32_t whose)
{
    static const char *const words[] = {"", "thread", "waits", "thread, now", "waits, now"};
    frame_text_t frame;
    bool left_out;

    if (!is_known(python, whose)) {
        gpurt_json_null(j, "python");
        gpurt_json_null(j, "python_of");
        return;
    }
    gpurt_json_array(j, "python");
    while (frame_text_next(&python, &frame, &left_out)) {
        if (left_out)
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_field(j, "file", frame.file);
        gpurt_json_known(j, "line", frame.line != 0, frame.line);
        gpurt_json_field(j, "function", frame.function);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_text(j, "python_of",
                    words[whose < sizeof words / sizeof words[0] ? whose : 1]);
}

void frame_text_calls_json(gpurt_json_t *j, const char *calls)
{
    const char *at;
    size_t bytes;

    gpurt_json_array(j, "calls");
    if (calls && calls[0] == '(')
        calls = NULL;
    while ((at = part_next(&calls, &bytes)) != NULL)
        gpurt_json_bytes(j, NULL, at, bytes < CALL ? bytes : (size_t)CALL);
    gpurt_json_array_end(j);
}
