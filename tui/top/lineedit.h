/* SPDX-License-Identifier: Apache-2.0 */
/* lineedit.h - a line of text that is typed: cursor, words, and the lines kept before. Knows no
 * screen: keys come as codes of keys.h, picture.c draws it. */
#ifndef GPURT_TUI_LINEEDIT_H
#define GPURT_TUI_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINEEDIT_ROOM = 256, /* with the 0 at its end */
    LINEEDIT_PAST = 32   /* lines kept; the oldest goes first */
};

/* Owner: the caller. Zeroed it is an empty line without a past. */
typedef struct lineedit {
    char text[LINEEDIT_ROOM];
    size_t cursor; /* bytes before it; at the start of a character, or at the end */
    bool full;     /* the last key found no room */
    char past[LINEEDIT_PAST][LINEEDIT_ROOM]; /* line i at i modulo the number */
    uint32_t past_end;                       /* lines ever kept */
    uint32_t back;             /* lines before past_end that is shown; 0: the typed one */
    char draft[LINEEDIT_ROOM]; /* the typed one, while another is shown */
} lineedit_t;

/* Begins with this text, the cursor at its end. The past stays. */
void lineedit_begin(lineedit_t *l, const char *text);

/* Types a character, or does what a key means: Left, Right, Home, End, Delete, erase; Ctrl-A,
 * -E, -B, -F, -D as those; Ctrl-U and Ctrl-K cut to the start and to the end, Ctrl-W a word; Up,
 * Down, Ctrl-P, -N show lines of the past. Any other key changes nothing. */
void lineedit_key(lineedit_t *l, uint32_t code);

/* The line is done: it becomes the newest of the past, unless it is empty or the newest already
 * is the same. */
void lineedit_keep(lineedit_t *l);

#endif
