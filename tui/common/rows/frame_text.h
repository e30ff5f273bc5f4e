/* SPDX-License-Identifier: Apache-2.0 */
/* frame_text.h - who launched a kernel, as the collector wrote it into a log: frames of Python
 * ("/src/train.py:9 step < /src/train.py:31 main") and calls of host code ("/usr/bin/app+0x12 < ..."),
 * for people and for programs. Texts are as they are: whoever shows them escapes them. */
#ifndef GPURT_TUI_FRAME_TEXT_H
#define GPURT_TUI_FRAME_TEXT_H

#include "json.h"
#include "render.h"

#include <stdio.h>

enum {
    FRAME_TEXT_FILE = 256,
    FRAME_TEXT_NAME = 256
};

/* One frame of Python. */
typedef struct frame_text {
    char file[FRAME_TEXT_FILE], function[FRAME_TEXT_NAME];
    uint32_t line; /* 0: not known */
} frame_text_t;

/* Takes the first frame off *text. Returns: false: there is none any more. left_out: it stands for
 * frames that are left out, *out is empty. */
bool frame_text_next(const char **text, frame_text_t *out, bool *left_out);

/* ", from train.py:9 step": the innermost frame of the program's own, else the innermost one; in
 * words for GPURT_PYTHON_*. Nothing where none is known. */
void frame_text_short(const char *python, uint32_t whose, gpurt_text_t *out);

/* "; Python: train.py:9 step < train.py:31 main", with whose that is where it is not the launching
 * thread's. Nothing where none is known. */
void frame_text_line(const char *python, uint32_t whose, gpurt_text_t *out);

/* "  Python of its thread:" and a line each, with the source's line where its file can be read. */
void frame_text_print(const char *python, uint32_t whose, FILE *out);
/* "  from app+0x1f2a < libfoo.so+0x77". */
void frame_text_calls(const char *calls, FILE *out);

/* "python": an array of {"file", "line", "function"}, null where none is known; "python_of": whose;
 * and "calls". */
void frame_text_json(gpurt_json_t *j, const char *python, uint32_t whose);
void frame_text_calls_json(gpurt_json_t *j, const char *calls);

#endif
