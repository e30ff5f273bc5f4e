/* SPDX-License-Identifier: Apache-2.0 */
#include "inlined.h"

#include "names.h"

#include <stdio.h>
#include <stdlib.h>

#define BETWEEN  " < "
#define LEFT_OUT BETWEEN "..."

enum {
    PLACE = INLINED_FILE + 16 + INLINED_NAME,
    LEFT_OUT_BYTES = sizeof LEFT_OUT - 1
};

/* ---- names --------------------------------------------------------------------------- */

/* Behind a function's arguments: "const", "&", "[clone .1]". */
static size_t arguments_end(const char *name, size_t bytes)
{
    while (bytes > 0 && name[bytes - 1] != ')')
        bytes--;
    return bytes;
}

/* Where the bracket begins that ends before `end`; `end` where it has no beginning. */
static size_t bracket_begin(const char *name, size_t end)
{
    int depth = 0;

    for (size_t at = end; at > 0; at--) {
        depth += name[at - 1] == ')';
        depth -= name[at - 1] == '(';
        if (depth == 0)
            return at - 1;
    }
    return end;
}

static void arguments_drop(char *name)
{
    size_t end = arguments_end(name, strlen(name)), begin = bracket_begin(name, end);

    if (begin > 0 && begin < end)
        name[begin] = '\0';
}

/* Behind what it returns: names of operators may have blanks and brackets of their own. */
static const char *name_begin(const char *name)
{
    const char *operator_at = strstr(name, "operator"), *begin = name;
    int depth = 0;

    for (const char *at = name; *at && at != operator_at; at++) {
        depth += *at == '<' || *at == '(' || *at == '{';
        depth -= *at == '>' || *at == ')' || *at == '}';
        if (*at == ' ' && depth == 0 && strncmp(at, " const::", 8) != 0)
            begin = at + 1;
    }
    return begin;
}

typedef struct name_out {
    char *at;
    size_t used;
} name_out_t;

static void name_put(name_out_t *n, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && n->used < INLINED_NAME - 1; i++)
        n->at[n->used++] = text[i];
    n->at[n->used] = '\0';
}

/* "gemm<...>::run" */
static void templates_drop(const char *name, name_out_t *out)
{
    const char *operator_at = strstr(name, "operator");
    int depth = 0;

    for (; *name && name != operator_at; name++) {
        depth -= *name == '>';
        if (depth == 0)
            name_put(out, name, 1);
        if (*name == '<' && depth++ == 0)
            name_put(out, "...", 3);
    }
    name_put(out, name, strlen(name));
}

void inlined_name(const char *mangled, char out[INLINED_NAME])
{
    char *name = names_demangled(mangled);
    const char *begin = mangled;
    name_out_t put = {out, 0};

    if (name) {
        arguments_drop(name);
        begin = name_begin(name);
    }
    if (name && strlen(begin) >= INLINED_NAME)
        templates_drop(begin, &put);
    else
        name_put(&put, begin, strlen(begin));
    if (put.used == INLINED_NAME - 1)
        memcpy(out + INLINED_NAME - 4, "...", 3);
    free(name);
}

/* ---- the text ------------------------------------------------------------------------ */

void inlined_path(const line_frame_t *frame, char out[INLINED_FILE])
{
    const bool whole = frame->file[0] == '/' || !frame->folder || !frame->folder[0];

    snprintf(out, INLINED_FILE, "%s%s%s", whole ? "" : frame->folder, whole ? "" : "/",
             frame->file);
}

static size_t call_text(const line_frame_t *frame, char out[PLACE])
{
    char file[INLINED_FILE], name[INLINED_NAME] = "";

    inlined_path(frame, file);
    if (frame->function[0])
        inlined_name(frame->function, name);
    return (size_t)snprintf(out, PLACE, BETWEEN "%s:%u%s%s", file, frame->line,
                            name[0] ? " " : "", name);
}

bool inlined_text(const line_frame_t *frames, uint32_t count, char out[INLINED_TEXT])
{
    char name[INLINED_NAME], call[PLACE];
    size_t used, bytes;
    uint32_t i = 1;

    if (count < 2)
        return false;
    inlined_name(frames[0].function, name);
    used = (size_t)snprintf(out, INLINED_TEXT, "%s", name[0] ? name : "?");
    for (; i < count; i++) {
        bytes = call_text(&frames[i], call);
        if (used + bytes + LEFT_OUT_BYTES >= INLINED_TEXT)
            break;
        memcpy(out + used, call, bytes + 1);
        used += bytes;
    }
    if (i < count || count == LINETABLE_FRAMES)
        snprintf(out + used, INLINED_TEXT - used, LEFT_OUT);
    return true;
}
