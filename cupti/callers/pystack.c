/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "pystack.h"

#include "utf8.h"

#include <gpurt/atomic.h>
#include <stdio.h>
#include <string.h>

enum {
    INTERPRETERS = 8,
    THREADS = 256,  /* of an interpreter */
    SKIPPED = 64,   /* frames that are none of Python's, in one stack */
    CODE_PART = 96, /* bytes of a code object that have all that is wanted */
    INNERMOST = 3,
    STRING = 200,
    FRAME = 2 * STRING + 32,
    BYTES_SIZE = 16, /* of a bytes object: how many, and where they begin */
    BYTES_AT = 32,
    STRING_LENGTH = 16,
    STRING_STATE = 32,
    TYPE = 8
};
GPURT_STATIC_ASSERT((int)PYSTACK_FRAMES <= (int)PEEK_MANY, "read at once");

/* The thread that was seen in Python last, as it launched; it waits for others most likely. */
static struct {
    uint64_t xlast; /* written by: any thread */
} pystack;

/* ---- threads --------------------------------------------------------------------------- */

/* Threads that stand in Python. */
typedef struct search {
    uint64_t thread, own_frame; /* who is looked for, and its innermost frame */
    uint64_t one_frame, last_frame;
    uint64_t last;  /* who was seen last */
    uint32_t count; /* with frames */
} search_t;

static bool field(peek_t *p, uint64_t at, uint16_t offset, uint64_t *to)
{
    return peek_u64(p, at + offset, to);
}

/* The innermost frame of a thread. Returns: 0: it has none. */
static uint64_t frame_of(const pylayout_t *o, peek_t *p, uint64_t thread)
{
    uint64_t frame = 0;

    if (!field(p, thread, o->thread_frame, &frame))
        return 0;
    if (o->holder_frame == PYLAYOUT_NONE || frame == 0)
        return frame;
    return field(p, frame, o->holder_frame, &frame) ? frame : 0;
}

/* Returns: false: that is no thread of this interpreter. */
static bool thread_see(const pylayout_t *o, peek_t *p, uint64_t interpreter,
                       uint64_t thread, search_t *s)
{
    uint64_t owner, id, frame;

    if (!field(p, thread, o->thread_interpreter, &owner) || owner != interpreter ||
        !field(p, thread, o->thread_id, &id))
        return false;
    frame = frame_of(o, p, thread);
    if (frame && id == s->thread)
        s->own_frame = frame;
    else if (frame) {
        s->count++;
        s->one_frame = frame;
        if (id == s->last)
            s->last_frame = frame;
    }
    return true;
}

static void threads_see(const pylayout_found_t *python, peek_t *p, search_t *s)
{
    const pylayout_t *o = &python->of;
    uint64_t interpreter, thread;
    uint32_t i = 0;

    if (!peek_u64(p, python->interpreters, &interpreter))
        return;
    for (; interpreter && i < INTERPRETERS && !s->own_frame; i++) {
        if (!field(p, interpreter, o->interpreter_threads, &thread))
            return;
        for (uint32_t k = 0; thread && k < THREADS && !s->own_frame; k++)
            if (!thread_see(o, p, interpreter, thread, s) ||
                !field(p, thread, o->thread_next, &thread))
                return;
        if (!field(p, interpreter, o->interpreter_next, &interpreter))
            return;
    }
}

/* Whose frames are shown: the innermost one. Returns: 0: nobody's. */
static uint64_t frame_find(const pylayout_found_t *python, peek_t *p, uint64_t thread,
                           bool *waits)
{
    /* relaxed: a hint */
    search_t s = {.thread = thread, .last = gpurt_load_relaxed_dev_u64(&pystack.xlast)};

    threads_see(python, p, &s);
    *waits = s.own_frame == 0;
    if (s.own_frame)
        return s.own_frame;
    return s.count == 1 ? s.one_frame : s.last_frame;
}

/* ---- frames ---------------------------------------------------------------------------- */

static bool is_of_c(const pylayout_t *o, peek_t *p, uint64_t frame)
{
    uint8_t owner = 0;

    return o->frame_owner != PYLAYOUT_NONE &&
           peek_bytes(p, frame + o->frame_owner, &owner, 1) && owner == PYLAYOUT_C_OWNER;
}

/* The instruction at which a frame stands: a number, or its address. */
static bool at_read(const pylayout_t *o, peek_t *p, uint64_t frame, uint64_t *at)
{
    uint32_t number;

    if (o->code_bytes != PYLAYOUT_NONE)
        return field(p, frame, o->frame_at, at);
    if (!peek_u32(p, frame + o->frame_at, &number))
        return false;
    *at = (uint64_t)(int64_t)(int32_t)number;
    return true;
}

/* Code objects and instructions of at most so many frames. Returns: how many there are. */
static uint32_t frames_walk(const pylayout_t *o, peek_t *p, uint64_t frame, uint32_t most,
                            uint64_t *codes, uint64_t *ats)
{
    uint32_t count = 0;

    for (uint32_t i = 0; frame && count < most && i < most + SKIPPED; i++) {
        uint64_t back;

        if (!field(p, frame, o->frame_code, &codes[count]) ||
            !field(p, frame, o->frame_back, &back) || !at_read(o, p, frame, &ats[count]))
            break;
        count += codes[count] && !is_of_c(o, p, frame);
        frame = back;
    }
    return count;
}

static uint64_t word_in(const uint8_t *code, uint32_t first, uint16_t offset)
{
    uint64_t word;

    memcpy(&word, code + (offset - first), sizeof word);
    return word;
}

static void code_fill(const pylayout_t *o, const uint8_t *bytes, uint64_t code, uint64_t at,
                      pycode_t *out)
{
    const uint16_t first = o->code_first_line;
    const int64_t byte = o->code_bytes == PYLAYOUT_NONE
                             ? (int64_t)at * o->at_unit
                             : (int64_t)(at - code - o->code_bytes);

    *out = (pycode_t){.at = code,
                      .file = word_in(bytes, first, o->code_file),
                      .name = word_in(bytes, first, o->code_name),
                      .table = word_in(bytes, first, o->code_table),
                      .byte = byte >= -8 && byte < INT32_MAX ? (int32_t)byte : -1};
    memcpy(&out->first_line, bytes, sizeof out->first_line);
}

/* What tells the code objects apart: by one call for all. */
static uint32_t codes_read(const pylayout_t *o, const uint64_t codes[PYSTACK_FRAMES],
                           const uint64_t ats[PYSTACK_FRAMES], uint32_t count,
                           pycode_t of[PYSTACK_FRAMES])
{
    uint8_t bytes[PYSTACK_FRAMES * CODE_PART];
    uint64_t from[PYSTACK_FRAMES];
    const uint32_t first = o->code_first_line;
    const uint32_t size = o->code_table + 8u - first;

    if (o->code_table < first || size > CODE_PART || o->code_file < first ||
        o->code_file > o->code_table || o->code_name < first ||
        o->code_name > o->code_table)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        from[i] = codes[i] + first;
    count = peek_many(from, count, bytes, size);
    for (uint32_t i = 0; i < count; i++)
        code_fill(o, bytes + (size_t)i * size, codes[i], ats[i], &of[i]);
    return count;
}

/* Whether another thread stood still while it was looked at: it is in the same place. */
static bool stands(const pylayout_found_t *python, peek_t *p, uint64_t thread,
                   uint64_t frame, uint64_t code, uint64_t at)
{
    uint64_t now_code, now_at;
    bool waits;

    peek_begin(p); /* anew */
    return frame_find(python, p, thread, &waits) == frame &&
           frames_walk(&python->of, p, frame, 1, &now_code, &now_at) && now_code == code &&
           now_at == at;
}

bool pystack_read(const pylayout_found_t *python, uint64_t thread, bool here,
                  pystack_t *out)
{
    uint64_t codes[PYSTACK_FRAMES] = {0}, ats[PYSTACK_FRAMES] = {0}, frame;
    peek_t p;

    out->count = 0;
    peek_begin(&p);
    frame = frame_find(python, &p, thread, &out->waits);
    if (frame)
        out->count = frames_walk(&python->of, &p, frame, PYSTACK_FRAMES, codes, ats);
    if (out->count)
        out->count = codes_read(&python->of, codes, ats, out->count, out->of);
    if (out->count == 0)
        return false;
    if (here && !out->waits)
        gpurt_store_relaxed_dev_u64(&pystack.xlast, thread); /* relaxed: a hint */
    else if (!stands(python, &p, thread, frame, codes[0], ats[0]))
        out->count = 0;
    return out->count != 0;
}

uint64_t pystack_hash(const pystack_t *stack)
{
    uint64_t h = 0x9e3779b97f4a7c15ull ^ stack->waits;

    for (uint32_t i = 0; i < stack->count; i++) {
        const pycode_t *c = &stack->of[i];
        const uint64_t words[] = {c->at, c->file, c->name, c->table,
                                  c->first_line | (uint64_t)(uint32_t)c->byte << 32};

        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            h = (h ^ words[k]) * 0xff51afd7ed558ccdull ^ h >> 31;
    }
    return h ? h : 1;
}

/* ---- text ------------------------------------------------------------------------------ */

typedef struct string {
    uint32_t kind; /* bytes of a character; 0: UTF-8 */
    uint64_t at, length;
} string_t;

/* Where a str has its characters. Strings that are made in two steps, as the C API of old could, are
 * none that code objects have. */
static bool string_find(const pylayout_t *o, peek_t *p, uint64_t at, string_t *out)
{
    uint32_t state;

    if (!peek_u64(p, at + STRING_LENGTH, &out->length) ||
        !peek_u32(p, at + STRING_STATE, &state) || !(state >> 5 & 1))
        return false; /* not compact */
    out->kind = state >> 2 & 7;
    out->at = at + (state >> 6 & 1 ? o->text_ascii : o->text_other);
    return out->kind == 1 || out->kind == 2 || out->kind == 4;
}

static uint32_t character(peek_t *p, const string_t *s, uint64_t index)
{
    uint32_t code = 0; /* the lowest byte is first */

    if (!peek_bytes(p, s->at + index * s->kind, &code, s->kind))
        return 0;
    return code < 0x110000 && (code < 0xd800 || code > 0xdfff) ? code : 0;
}

/* The end of a long one: the file's name is there. Returns: whether it is a string. */
static bool string_read(const pylayout_t *o, peek_t *p, uint64_t at, char out[STRING])
{
    string_t s;
    uint64_t i;
    size_t used = 0;

    if (!string_find(o, p, at, &s) || s.length == 0 || s.length > 1 << 16)
        return false;
    i = s.length < STRING - 4 ? 0 : s.length - (STRING - 4);
    if (i)
        used = (size_t)snprintf(out, STRING, "...");
    for (; i < s.length && used + 4 < STRING; i++) {
        const uint32_t code = character(p, &s, i);

        if (code == 0)
            return false;
        used += utf8_write(out + used, code);
    }
    out[used] = '\0';
    return true;
}

static uint32_t line_of(const pylayout_t *o, peek_t *p, const pycode_t *c)
{
    uint64_t bytes;

    return peek_u64(p, c->table + BYTES_SIZE, &bytes)
               ? pylines_find(p, (pylines_t)o->lines, c->table + BYTES_AT, bytes,
                              c->first_line, c->byte)
               : 0;
}

/* Python's own, and what was installed: not what somebody works on. */
static bool is_library(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
           strstr(file, "/lib/python3.") || file[0] == '<';
}

/* Whether the frame has room: it is there whole or not at all. */
static bool text_add(char text[PYSTACK_TEXT], const char *frame)
{
    const size_t used = strlen(text), more = strlen(frame) + (used ? 3 : 0);

    if (used + more + sizeof " < ..." > PYSTACK_TEXT)
        return false;
    snprintf(text + used, PYSTACK_TEXT - used, "%s%s", used ? " < " : "", frame);
    return true;
}

static bool is_code(const pylayout_found_t *python, peek_t *p, uint64_t code)
{
    uint64_t type;

    return python->code_type == 0 ||
           (peek_u64(p, code + TYPE, &type) && type == python->code_type);
}

/* "/src/train.py:9 step". */
static bool frame_write(const pylayout_found_t *python, peek_t *p, const pycode_t *c,
                        uint32_t place, char frame[FRAME])
{
    char file[STRING], name[STRING];
    uint32_t line;

    frame[0] = '\0';
    if (!is_code(python, p, c->at) || !string_read(&python->of, p, c->file, file))
        return false;
    if (place >= INNERMOST && is_library(file))
        return true;
    if (!string_read(&python->of, p, c->name, name))
        return false;
    line = line_of(&python->of, p, c);
    if (line)
        snprintf(frame, FRAME, "%s:%u %s", file, line, name);
    else
        snprintf(frame, FRAME, "%s:? %s", file, name);
    return true;
}

void pystack_write(const pylayout_found_t *python, const pystack_t *stack,
                   char text[PYSTACK_TEXT])
{
    bool left_out = false;
    peek_t p;

    text[0] = '\0';
    peek_begin(&p);
    for (uint32_t i = 0; i < stack->count; i++) {
        char frame[FRAME];

        if (!frame_write(python, &p, &stack->of[i], i, frame))
            break; /* torn, or no CPython of its version */
        if (frame[0] == '\0') {
            left_out = true;
            continue;
        }
        if (left_out && !text_add(text, "..."))
            break;
        left_out = false;
        if (!text_add(text, frame))
            break;
    }
}
