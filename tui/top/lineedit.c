/* SPDX-License-Identifier: Apache-2.0 */
#include "lineedit.h"

#include "keys.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define CTRL(letter) ((uint32_t)(letter) - 'A' + 1)

void lineedit_begin(lineedit_t *l, const char *text)
{
    snprintf(l->text, sizeof l->text, "%s", text);
    l->cursor = strlen(l->text);
    l->back = 0;
    l->full = false;
}

/* ---- places -------------------------------------------------------------------------- */

static size_t after(const lineedit_t *l, size_t at)
{
    if (l->text[at] != '\0')
        do
            at++;
        while (((uint8_t)l->text[at] & 0xc0) == 0x80);
    return at;
}

static size_t before(const lineedit_t *l, size_t at)
{
    return at > 0 ? utf8_before(l->text, at) : 0;
}

/* Where the word before the cursor begins. */
static size_t word_before(const lineedit_t *l)
{
    size_t at = l->cursor;

    while (at > 0 && l->text[at - 1] == ' ')
        at--;
    while (at > 0 && l->text[at - 1] != ' ')
        at--;
    return at;
}

/* ---- changes ------------------------------------------------------------------------- */

/* Cuts what lies between; the cursor stands there then. */
static void cut(lineedit_t *l, size_t from, size_t to)
{
    memmove(l->text + from, l->text + to, strlen(l->text + to) + 1);
    l->cursor = from;
}

/* What no terminal shows is left out. */
static void insert(lineedit_t *l, uint32_t code)
{
    size_t used = strlen(l->text), length;
    char bytes[4];

    if (utf8_is_control(code) || utf8_deceives(code) || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
        return;
    length = utf8_write(bytes, code);
    l->full = used + length >= sizeof l->text;
    if (l->full)
        return;
    memmove(l->text + l->cursor + length, l->text + l->cursor, used - l->cursor + 1);
    memcpy(l->text + l->cursor, bytes, length);
    l->cursor += length;
}

/* ---- the past ------------------------------------------------------------------------ */

static void past_show(lineedit_t *l, bool older)
{
    uint32_t kept = l->past_end < LINEEDIT_PAST ? l->past_end : LINEEDIT_PAST;
    uint32_t back = older ? l->back + 1 : l->back - 1;
    char text[LINEEDIT_ROOM];

    if (older ? l->back >= kept : l->back == 0)
        return;
    if (l->back == 0)
        memcpy(l->draft, l->text, sizeof l->draft);
    memcpy(text, back ? l->past[(l->past_end - back) % LINEEDIT_PAST] : l->draft,
           sizeof text);
    lineedit_begin(l, text);
    l->back = back;
}

void lineedit_keep(lineedit_t *l)
{
    l->back = 0;
    if (l->text[0] == '\0' ||
        (l->past_end > 0 &&
         strcmp(l->past[(l->past_end - 1) % LINEEDIT_PAST], l->text) == 0))
        return;
    memcpy(l->past[l->past_end++ % LINEEDIT_PAST], l->text, sizeof l->text);
}

/* ---- keys ---------------------------------------------------------------------------- */

static bool moves(lineedit_t *l, uint32_t code)
{
    switch (code) {
    case KEY_LEFT_CODE:
    case CTRL('B'):
        l->cursor = before(l, l->cursor);
        return true;
    case KEY_RIGHT_CODE:
    case CTRL('F'):
        l->cursor = after(l, l->cursor);
        return true;
    case KEY_HOME_CODE:
    case CTRL('A'):
        l->cursor = 0;
        return true;
    case KEY_END_CODE:
    case CTRL('E'):
        l->cursor = strlen(l->text);
        return true;
    case KEY_UP_CODE:
    case CTRL('P'):
        past_show(l, true);
        return true;
    case KEY_DOWN_CODE:
    case CTRL('N'):
        past_show(l, false);
        return true;
    default:
        return false;
    }
}

void lineedit_key(lineedit_t *l, uint32_t code)
{
    l->full = false;
    if (moves(l, code))
        return;
    switch (code) {
    case KEY_ERASE:
        cut(l, before(l, l->cursor), l->cursor);
        break;
    case KEY_DELETE_CODE:
    case CTRL('D'):
        cut(l, l->cursor, after(l, l->cursor));
        break;
    case CTRL('U'):
        cut(l, 0, l->cursor);
        break;
    case CTRL('K'):
        cut(l, l->cursor, strlen(l->text));
        break;
    case CTRL('W'):
        cut(l, word_before(l), l->cursor);
        break;
    default:
        insert(l, code);
    }
}
