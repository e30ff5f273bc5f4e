/* SPDX-License-Identifier: Apache-2.0 */
/* panic_brief.h - what a line says of one failure, gathered once: its row taken apart, what it is,
 * whose it is, and its message. Lists, watches, comparisons and reports print it. */
#ifndef GPURT_TUI_PANIC_BRIEF_H
#define GPURT_TUI_PANIC_BRIEF_H

#include "faultkind.h"
#include "json.h"
#include "panic_line.h"
#include "who.h"

/* Owner: the caller. Texts live as long as the entry's row and its source's dictionary. Never
 * copied: `message` points into it. */
typedef struct panic_brief {
    const panic_entry_t *entry;
    const gpurt_dictionary_t *sites;
    panic_facts_t facts;
    const char *kind;            /* "panic", "fault" or "hang" */
    const faultkind_t *category; /* NULL: the row is not of kind PANIC */
    gplog_program_t who;
    gpurt_text_t message;
    char room[GPURT_MESSAGE_MAX];
} panic_brief_t;

void panic_brief_read(const panic_entry_t *e, panic_brief_t *out);

/* "train.c:31", ready for a terminal. Returns: false, nothing, where the file is not known. */
bool panic_brief_place(const panic_brief_t *b, gpurt_text_t *out);
/* The message, ready for a terminal. */
void panic_brief_message(const panic_brief_t *b, gpurt_text_t *out);

/* file, line and msg; of a whole site also module and format. */
void panic_brief_json(gpurt_json_t *j, const panic_brief_t *b, bool whole);

#endif
