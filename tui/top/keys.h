/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - what each key does: one table, from which help and the foot line are made too.
 * Knows no terminal: screen.c turns what a terminal sends into these codes. */
#ifndef GPURT_TUI_KEYS_H
#define GPURT_TUI_KEYS_H

#include "views.h"

#include <stdbool.h>
#include <stdint.h>

/* Codes of keys that are no characters; characters are their own code. */
enum {
    KEY_NONE = 0,
    KEY_ENTER_CODE = 0x110001,
    KEY_ESCAPE,
    KEY_ERASE,
    KEY_DELETE_CODE,
    KEY_UP_CODE,
    KEY_DOWN_CODE,
    KEY_LEFT_CODE,
    KEY_RIGHT_CODE,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME_CODE,
    KEY_END_CODE,
    KEY_BACK_TAB,
    KEY_RESIZED,
    KEY_F1 /* F2 and so on follow */
};

typedef enum action {
    ACTION_NONE,
    /* of the views, in their order */
#define ACTION_OF_VIEW(id, ...) ACTION_##id,
    VIEW_LIST(ACTION_OF_VIEW)
#undef ACTION_OF_VIEW
    ACTION_NEXT_VIEW,
    ACTION_PREVIOUS_VIEW,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_FIRST,
    ACTION_LAST,
    ACTION_LEFT,
    ACTION_RIGHT,
    ACTION_OPEN,
    ACTION_BACK,
    ACTION_CODE,
    ACTION_FILTER,
    ACTION_LEVEL_UP,
    ACTION_LEVEL_DOWN,
    ACTION_SORT,
    ACTION_TABLE,
    ACTION_TABLE_BEFORE,
    ACTION_PAUSE,
    ACTION_TIME_BACK,
    ACTION_TIME_ON,
    ACTION_TIME_FAR_BACK,
    ACTION_TIME_FAR_ON,
    ACTION_TIME_START,
    ACTION_TIME_NOW,
    ACTION_PANIC_BEFORE,
    ACTION_PANIC_NEXT,
    ACTION_FASTER,
    ACTION_SLOWER,
    ACTION_NARROWER,
    ACTION_WIDER,
    ACTION_PROCESS,
    ACTION_REDRAW,
    ACTION_SUSPEND,
    ACTION_QUIT
} action_t;

typedef struct key_row {
    action_t action;
    uint32_t codes[3]; /* unused ones 0 */
    const char *keys;  /* as help prints them */
    const char *help;
    const char *foot; /* a word for the foot line; NULL: not there */
    const char *foot_key;
} key_row_t;

/* Ends with ACTION_NONE. */
extern const key_row_t key_rows[];

action_t keys_action(uint32_t code);

#endif
