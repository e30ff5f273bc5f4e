/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h where there is no curses: no terminal can be opened, and gpurt-top prints plain
 * pictures, as it does where there is no terminal. */
#include "screen.h"

#include "keys.h"

const char *screen_open(const char *path, screen_color_t color)
{
    (void)path;
    (void)color;
    return "this gpurt-top was built without ncurses; it prints plain pictures";
}

void screen_close(void) {}

int screen_fd(void)
{
    return -1;
}

bool screen_lost(void)
{
    return false;
}

bool screen_unicode(void)
{
    return false;
}

void screen_ascii(bool on)
{
    (void)on;
}

void screen_size(int *rows, int *columns)
{
    *rows = 24;
    *columns = 80;
}

void screen_resize(void) {}

void screen_show(const canvas_t *canvas)
{
    (void)canvas;
}

uint32_t screen_key(void)
{
    return KEY_NONE;
}

void screen_suspend(void) {}
