/* SPDX-License-Identifier: Apache-2.0 */
/* The line that is typed: each key against what a shell's line does, and any keys at all. */
#include "check.h"
#include "keys.h"
#include "lineedit.h"

#include <string.h>

enum {
    CTRL_A = 1,
    CTRL_D = 4,
    CTRL_E = 5,
    CTRL_K = 11,
    CTRL_P = 16,
    CTRL_U = 21,
    CTRL_W = 23
};

static lineedit_t line;

static void type(const char *text)
{
    for (; *text; text++)
        lineedit_key(&line, (uint8_t)*text);
}

/* keys end with 0. */
static void press(const uint32_t *keys)
{
    while (*keys)
        lineedit_key(&line, *keys++);
}
#define PRESS(...) press((const uint32_t[]){__VA_ARGS__, 0})

static void check_cursor(void)
{
    lineedit_begin(&line, "one two");
    PRESS(KEY_LEFT_CODE, KEY_LEFT_CODE, KEY_LEFT_CODE);
    type("and ");
    CHECK_STR(line.text, "one and two");
    PRESS(KEY_HOME_CODE, KEY_LEFT_CODE, KEY_DELETE_CODE, KEY_RIGHT_CODE, CTRL_D);
    CHECK_STR(line.text, "n and two");
    PRESS(KEY_END_CODE, KEY_RIGHT_CODE, KEY_DELETE_CODE, KEY_ERASE);
    CHECK_STR(line.text, "n and tw");
    PRESS(CTRL_A, KEY_ERASE, 'x', CTRL_E, 'y');
    CHECK_STR(line.text, "xn and twy");
}

static void check_cuts(void)
{
    lineedit_begin(&line, "lvl>=warn  session  ");
    PRESS(CTRL_W);
    CHECK_STR(line.text, "lvl>=warn  ");
    PRESS(CTRL_W, CTRL_W);
    CHECK_STR(line.text, "");
    lineedit_begin(&line, "one two");
    PRESS(KEY_LEFT_CODE, KEY_LEFT_CODE, KEY_LEFT_CODE, CTRL_W);
    CHECK_STR(line.text, "two");
    CHECK(line.cursor == 0);
    lineedit_begin(&line, "one two");
    PRESS(KEY_LEFT_CODE, KEY_LEFT_CODE, CTRL_U);
    CHECK_STR(line.text, "wo");
    PRESS(KEY_RIGHT_CODE, CTRL_K);
    CHECK_STR(line.text, "w");
}

/* A character of several bytes is one step, one erase. */
static void check_wide(void)
{
    lineedit_begin(&line, "a\u6838\U0001f9ffb");
    PRESS(KEY_LEFT_CODE, KEY_LEFT_CODE, KEY_ERASE, 0xe9);
    CHECK_STR(line.text, "a\u00e9\U0001f9ffb");
    PRESS(KEY_DELETE_CODE);
    CHECK_STR(line.text, "a\u00e9b");
    PRESS(0x202e, 0x7f, 27, 0xd800, KEY_PAGE_UP, KEY_F1); /* nothing of a line */
    CHECK_STR(line.text, "a\u00e9b");
}

static void check_room(void)
{
    lineedit_begin(&line, "");
    for (int i = 0; i < 3 * LINEEDIT_ROOM; i++)
        lineedit_key(&line, 0x6838);
    CHECK(strlen(line.text) == (LINEEDIT_ROOM - 1) / 3 * 3 && line.full);
    PRESS(KEY_LEFT_CODE);
    CHECK(!line.full);
}

static void check_past(void)
{
    memset(&line, 0, sizeof line);
    PRESS(KEY_UP_CODE, KEY_DOWN_CODE);
    CHECK_STR(line.text, "");
    for (int i = 0; i < 3; i++) { /* the same twice and nothing are not kept */
        lineedit_begin(&line, i < 2 ? "first" : "");
        lineedit_keep(&line);
    }
    lineedit_begin(&line, "second");
    lineedit_keep(&line);
    lineedit_begin(&line, "draft");
    PRESS(KEY_UP_CODE);
    CHECK_STR(line.text, "second");
    PRESS(CTRL_P, KEY_UP_CODE);
    CHECK_STR(line.text, "first");
    PRESS(KEY_DOWN_CODE, KEY_DOWN_CODE, KEY_DOWN_CODE);
    CHECK_STR(line.text, "draft");
    for (int i = 0; i < 2 * LINEEDIT_PAST; i++) {
        char text[12];

        snprintf(text, sizeof text, "%d", i);
        lineedit_begin(&line, text);
        lineedit_keep(&line);
    }
    for (int i = 0; i < 3 * LINEEDIT_PAST; i++)
        PRESS(KEY_UP_CODE);
    CHECK_STR(line.text, "32"); /* the oldest that is kept */
}

/* Whatever is pressed, the cursor stands at a character and the text ends. */
static void check_noise(void)
{
    static const uint32_t codes[] = {
        KEY_ERASE,     KEY_DELETE_CODE, KEY_UP_CODE, KEY_DOWN_CODE,
        KEY_LEFT_CODE, KEY_RIGHT_CODE,  CTRL_W,      CTRL_K,
        CTRL_U,        KEY_HOME_CODE,   'a',         ' ',
        0xe9,          0x6838,          0x1f9ff,     'b'};
    uint32_t x = 7;

    for (int i = 0; i < 200000; i++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 28 == 0)
            lineedit_keep(&line);
        else
            lineedit_key(&line, codes[(x >> 20) % (sizeof codes / sizeof codes[0])]);
        CHECK(line.cursor <= strlen(line.text) && strlen(line.text) < LINEEDIT_ROOM);
        CHECK(((uint8_t)line.text[line.cursor] & 0xc0) != 0x80);
    }
}

int main(void)
{
    check_cursor();
    check_cuts();
    check_wide();
    check_room();
    check_past();
    check_noise();
    return 0;
}
