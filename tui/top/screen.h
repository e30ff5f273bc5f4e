/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - a terminal: shows canvases, gives keys. The only file that knows curses is
 * screen.c. Context: one thread, one screen at a time. */
#ifndef GPURT_TUI_SCREEN_H
#define GPURT_TUI_SCREEN_H

#include "canvas.h"

typedef enum screen_color {
    SCREEN_COLOR_AUTO = 0, /* what the terminal can, unless NO_COLOR is set */
    SCREEN_COLOR_ALWAYS,
    SCREEN_COLOR_NEVER
} screen_color_t;

/* path: of the terminal, /dev/tty. Returns: NULL on success, else why not. */
const char *screen_open(const char *path, screen_color_t color);
/* Gives the terminal back as it was; allowed when it is not open. */
void screen_close(void);

int screen_fd(void);       /* readable: call screen_key */
bool screen_lost(void);    /* the terminal has gone away */
bool screen_unicode(void); /* the locale is UTF-8, and nobody asked for ASCII */
void screen_ascii(bool on);
void screen_size(int *rows, int *columns);
/* After SIGWINCH, or to draw everything anew. */
void screen_resize(void);
void screen_show(const canvas_t *canvas);
/* The next key (keys.h), KEY_NONE when there is none now. */
uint32_t screen_key(void);

/* Gives the terminal back, stops the process until it is continued, takes it again. */
void screen_suspend(void);

#endif
