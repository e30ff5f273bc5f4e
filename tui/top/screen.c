/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include "keys.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_NOMACROS       1
#include <curses.h>

enum {
    ESCAPE_MS = 25,
    RUN = 512
};

static struct {
    SCREEN *terminal;
    FILE *in, *out;
    canvas_t last; /* what the terminal shows */
    attr_t attributes[STYLE_COUNT];
    short pairs[STYLE_COUNT];
    bool lost;
} screen;

/* ---- colours ------------------------------------------------------------------------- */

/* Colour never carries a meaning alone: words and signs stand beside it. */
typedef struct look {
    short rich, plain; /* foreground of 256 and of 8 colours, -1: the terminal's own */
    short rich_back, plain_back;
    attr_t with, without; /* attributes with and without colour */
} look_t;

static const look_t looks[STYLE_COUNT] = {
    [STYLE_NORMAL] = {-1, -1, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_DIM] = {245, -1, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_BOLD] = {-1, -1, -1, -1, A_BOLD, A_BOLD},
    [STYLE_TITLE] = {75, COLOR_CYAN, -1, -1, A_BOLD, A_BOLD},
    [STYLE_RULE] = {240, -1, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_HEAD] = {255, COLOR_WHITE, 24, COLOR_BLUE, A_BOLD, A_REVERSE},
    [STYLE_HEAD_GOOD] = {120, COLOR_GREEN, 24, COLOR_BLUE, A_BOLD, A_REVERSE},
    [STYLE_HEAD_WARN] = {222, COLOR_YELLOW, 24, COLOR_BLUE, A_BOLD, A_REVERSE},
    [STYLE_HEAD_BAD] = {231, COLOR_WHITE, 160, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD},
    [STYLE_KEY] = {215, COLOR_YELLOW, -1, -1, A_BOLD, A_BOLD},
    [STYLE_GOOD] = {71, COLOR_GREEN, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_INFO] = {74, COLOR_CYAN, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_WARN] = {178, COLOR_YELLOW, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_ERROR] = {203, COLOR_RED, -1, -1, A_NORMAL, A_BOLD},
    [STYLE_PANIC] = {231, COLOR_WHITE, 160, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD},
    [STYLE_LOST] = {176, COLOR_MAGENTA, -1, -1, A_NORMAL, A_BOLD},
    [STYLE_SELECT] = {231, COLOR_BLACK, 238, COLOR_CYAN, A_NORMAL, A_REVERSE},
    [STYLE_HEAT_1] = {31, COLOR_BLUE, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_HEAT_2] = {37, COLOR_CYAN, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_HEAT_3] = {71, COLOR_GREEN, -1, -1, A_NORMAL, A_NORMAL},
    [STYLE_HEAT_4] = {113, COLOR_GREEN, -1, -1, A_BOLD, A_NORMAL},
};

static void colors_set(screen_color_t color)
{
    const char *no = getenv("NO_COLOR");
    bool on = color == SCREEN_COLOR_ALWAYS ||
              (color == SCREEN_COLOR_AUTO && !(no && no[0] != '\0'));

    on = on && has_colors() && start_color() == OK;
    if (on)
        use_default_colors();
    for (int i = 0; i < STYLE_COUNT; i++) {
        const look_t *l = &looks[i];
        bool rich = COLORS >= 256;

        screen.attributes[i] = on ? l->with : l->without;
        screen.pairs[i] = 0;
        if (on && init_pair((short)(i + 1), rich ? l->rich : l->plain,
                            rich ? l->rich_back : l->plain_back) == OK)
            screen.pairs[i] = (short)(i + 1);
    }
}

/* ---- open and close ------------------------------------------------------------------ */

/* A crash of ours must not leave the user with a terminal that shows nothing. */
static void crashed(int number)
{
    endwin();
    signal(number, SIG_DFL);
    raise(number);
}

static void settings(screen_color_t color)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

    raw(); /* Ctrl-C and Ctrl-Z are keys here */
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    colors_set(color);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], crashed);
}

/* TERM=dumb is what windows of editors and of builds say that show lines alone: curses would
 * draw all rows over each other. */
static bool can_move(void)
{
    const char *address = tigetstr("cup");

    return address && address != (const char *)-1;
}

const char *screen_open(const char *path, screen_color_t color)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    const char *term = getenv("TERM");

    memset(&screen, 0, sizeof screen);
    if (fd < 0)
        return "there is no terminal; -b prints plain pictures";
    screen.in = fdopen(fd, "r");
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    screen.out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!screen.in || !screen.out) {
        screen_close();
        return "the terminal cannot be opened";
    }
    /* The descriptors must stay ours: a terminal that hangs up is noticed by its flag. */
    screen.terminal =
        newterm(term && *term ? (char *)(uintptr_t)term : NULL, screen.out, screen.in);
    if (!screen.terminal) {
        screen_close();
        return "TERM names a terminal that is not known here; -b prints plain pictures";
    }
    if (!can_move()) {
        screen_close();
        return "TERM names a terminal whose cursor cannot be moved; -b prints plain "
               "pictures";
    }
    settings(color);
    return NULL;
}

void screen_close(void)
{
    if (screen.terminal) {
        endwin();
        delscreen(screen.terminal);
    }
    if (screen.in)
        fclose(screen.in);
    if (screen.out)
        fclose(screen.out);
    canvas_fini(&screen.last);
    memset(&screen, 0, sizeof screen);
}

int screen_fd(void)
{
    return screen.in ? fileno(screen.in) : -1;
}

bool screen_lost(void)
{
    struct pollfd look = {screen_fd(), 0, 0};

    return screen.lost || (poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR)));
}

static bool ascii;

void screen_ascii(bool on)
{
    ascii = on;
}

bool screen_unicode(void)
{
    return !ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* ---- size ---------------------------------------------------------------------------- */

void screen_size(int *rows, int *columns)
{
    *rows = LINES;
    *columns = COLS;
}

void screen_resize(void)
{
    struct winsize size;

    if (ioctl(screen_fd(), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
    canvas_fini(&screen.last);
    clearok(stdscr, TRUE);
}

void screen_suspend(void)
{
    endwin();
    kill(0, SIGTSTP); /* the whole job, as the terminal would */
    refresh();
    screen_resize();
}

/* ---- show ---------------------------------------------------------------------------- */

static void row_show(const canvas_t *c, int row)
{
    const canvas_cell_t *cells = &c->cells[row * c->columns];
    cchar_t run[RUN];
    int count = 0;

    move(row, 0);
    for (int i = 0; i < c->columns; i++) {
        wchar_t text[2] = {(wchar_t)cells[i].code, 0};
        uint32_t style = cells[i].style < STYLE_COUNT ? cells[i].style : STYLE_NORMAL;

        if (cells[i].code == 0)
            continue; /* curses fills the right half itself */
        setcchar(&run[count++], text, screen.attributes[style], screen.pairs[style], NULL);
        if (count == RUN || i + 1 == c->columns) {
            int y, x;

            add_wchnstr(run, count);
            getyx(stdscr, y, x);
            move(y, x + count < c->columns ? i + 1 : x);
            count = 0;
        }
    }
    if (count)
        add_wchnstr(run, count);
}

static bool row_same(const canvas_t *c, int row)
{
    const canvas_t *last = &screen.last;

    return last->rows == c->rows && last->columns == c->columns &&
           memcmp(&last->cells[row * c->columns], &c->cells[row * c->columns],
                  (size_t)c->columns * sizeof *c->cells) == 0;
}

void screen_show(const canvas_t *c)
{
    for (int row = 0; row < c->rows && row < LINES; row++)
        if (!row_same(c, row))
            row_show(c, row);
    refresh();
    if (screen.last.rows != c->rows || screen.last.columns != c->columns)
        canvas_resize(&screen.last, c->rows, c->columns);
    if (screen.last.cells)
        memcpy(screen.last.cells, c->cells,
               (size_t)c->rows * (size_t)c->columns * sizeof *c->cells);
}

/* ---- keys ---------------------------------------------------------------------------- */

static uint32_t key_code(wint_t key)
{
    switch (key) {
    case KEY_UP:
        return KEY_UP_CODE;
    case KEY_DOWN:
        return KEY_DOWN_CODE;
    case KEY_LEFT:
        return KEY_LEFT_CODE;
    case KEY_RIGHT:
        return KEY_RIGHT_CODE;
    case KEY_PPAGE:
        return KEY_PAGE_UP;
    case KEY_NPAGE:
        return KEY_PAGE_DOWN;
    case KEY_HOME:
        return KEY_HOME_CODE;
    case KEY_END:
        return KEY_END_CODE;
    case KEY_BTAB:
        return KEY_BACK_TAB;
    case KEY_ENTER:
        return KEY_ENTER_CODE;
    case KEY_DC:
        return KEY_DELETE_CODE;
    case KEY_BACKSPACE:
        return KEY_ERASE;
    case KEY_RESIZE:
        return KEY_RESIZED;
    default:
        return key >= KEY_F(1) && key <= KEY_F(12) ? KEY_F1 + (uint32_t)(key - KEY_F(1))
                                                   : KEY_NONE;
    }
}

uint32_t screen_key(void)
{
    wint_t key;
    int kind = get_wch(&key);

    if (kind == ERR) {
        char byte;

        /* Readable without a key: either half a sequence, or the end. */
        if (feof(screen.in) || (screen_lost() && read(screen_fd(), &byte, 1) <= 0))
            screen.lost = true;
        return KEY_NONE;
    }
    if (kind == KEY_CODE_YES)
        return key_code(key);
    if (key == '\r' || key == '\n')
        return KEY_ENTER_CODE;
    if (key == 27)
        return KEY_ESCAPE;
    return key == 127 || key == 8 ? KEY_ERASE : (uint32_t)key;
}
