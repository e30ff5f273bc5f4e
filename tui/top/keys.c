/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include <stddef.h>

enum {
    CTRL_C = 3,
    CTRL_L = 12,
    CTRL_Z = 26
};

/* Every function key has a letter beside it: some terminals keep function keys. */
const key_row_t key_rows[] = {
#define ROW(id, name, second, third, keys, help, label, key) \
    {ACTION_##id, {VIEW_KEY(VIEW_##id), second, third}, keys, help, label, key},
    VIEW_LIST(ROW)
#undef ROW
        {ACTION_NEXT_VIEW, {'\t'}, "Tab", "next view", NULL, NULL},
    {ACTION_PREVIOUS_VIEW, {KEY_BACK_TAB}, "Shift-Tab", "view before", NULL, NULL},
    {ACTION_UP, {KEY_UP_CODE, 'k'}, "Up k", "up", NULL, NULL},
    {ACTION_DOWN, {KEY_DOWN_CODE, 'j'}, "Down j", "down", NULL, NULL},
    {ACTION_PAGE_UP, {KEY_PAGE_UP}, "PgUp", "a page up", NULL, NULL},
    {ACTION_PAGE_DOWN, {KEY_PAGE_DOWN}, "PgDn", "a page down", NULL, NULL},
    {ACTION_FIRST, {KEY_HOME_CODE, 'g'}, "Home g", "first line", NULL, NULL},
    {ACTION_LAST,
     {KEY_END_CODE, 'G'},
     "End G",
     "last line; the log follows again",
     NULL,
     NULL},
    {ACTION_LEFT, {KEY_LEFT_CODE}, "Left", "to the left; streams: earlier", NULL, NULL},
    {ACTION_RIGHT, {KEY_RIGHT_CODE}, "Right", "to the right; streams: later", NULL, NULL},
    {ACTION_NARROWER, {'>', 'z'}, "> z", "streams: a shorter stretch of time", NULL, NULL},
    {ACTION_WIDER, {'<', 'x'}, "< x", "streams: a longer one", NULL, NULL},
    {ACTION_OPEN,
     {KEY_ENTER_CODE},
     "Enter",
     "open a panic, streams, object, source",
     NULL,
     NULL},
    {ACTION_CODE, {'d'}, "d", "lines: machine code, source", NULL, NULL},
    {ACTION_BACK, {KEY_ESCAPE}, "Esc", "back; clears the filter", NULL, NULL},
    {ACTION_FILTER,
     {'/', KEY_F1 + 3, '\\'},
     "/ F4",
     "filter: words of the line, lvl>=warn",
     "Filter",
     "F4"},
    {ACTION_LEVEL_UP, {'l'}, "l", "show fewer levels", "Level", "l"},
    {ACTION_LEVEL_DOWN, {'K'}, "K", "show more levels", NULL, NULL},
    {ACTION_SORT, {'s', KEY_F1 + 5, '.'}, "s F6", "sort by the next column", "Sort", "F6"},
    {ACTION_TABLE, {'t'}, "t", "views 6, 8: the next table", NULL, NULL},
    {ACTION_TABLE_BEFORE, {'T'}, "T", "views 6, 8: the table before", NULL, NULL},
    {ACTION_PAUSE,
     {' ', KEY_F1 + 6, 'Z'},
     "Space F7",
     "hold the picture; a replay stops",
     "Pause",
     "F7"},
    {ACTION_TIME_BACK, {'['}, "[", "a second back, less in a short replay", NULL, NULL},
    {ACTION_TIME_ON, {']'}, "]", "a second on, less in a short replay", "Scrub", "[ ]"},
    {ACTION_TIME_FAR_BACK, {'{'}, "{", "ten seconds back; a tenth of a replay", NULL, NULL},
    {ACTION_TIME_FAR_ON, {'}'}, "}", "ten seconds on; a tenth of a replay", NULL, NULL},
    {ACTION_TIME_START, {'^'}, "^", "to the start of what is kept", NULL, NULL},
    {ACTION_TIME_NOW, {'$', '0'}, "$ 0", "to now; to the end of a replay", NULL, NULL},
    {ACTION_PANIC_BEFORE, {'('}, "(", "to the panic before this moment", NULL, NULL},
    {ACTION_PANIC_NEXT, {')'}, ")", "to the next panic", NULL, NULL},
    {ACTION_FASTER, {'+', '='}, "+", "faster: pictures a second, or a replay", NULL, NULL},
    {ACTION_SLOWER, {'-'}, "-", "slower", NULL, NULL},
    {ACTION_PROCESS, {'p'}, "p", "next device, or process of the program", NULL, NULL},
    {ACTION_REDRAW, {CTRL_L}, "Ctrl-L", "draw the screen anew", NULL, NULL},
    {ACTION_SUSPEND, {CTRL_Z}, "Ctrl-Z", "suspend, with the program", NULL, NULL},
    {ACTION_QUIT, {'q', KEY_F1 + 9, CTRL_C}, "q F10", "quit", "Quit", "F10"},
    {ACTION_NONE, {0}, NULL, NULL, NULL, NULL},
};

action_t keys_action(uint32_t code)
{
    for (const key_row_t *row = key_rows; row->action != ACTION_NONE; row++)
        for (size_t i = 0; i < 3; i++)
            if (code != 0 && row->codes[i] == code)
                return row->action;
    return ACTION_NONE;
}
