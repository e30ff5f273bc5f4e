/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture of gpurt-top costs: drawn and given to curses, each of another moment so
 * that all of it changes; and how long a user waits for the first one. */
#include "check.h"
#include "model.h"
#include "picture.h"
#include "rows.h"
#include "scene.h"
#include "screen.h"

#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAMES = 200,
    ROWS_A_FRAME = 1000, /* of a program that logs 10,000 rows a second */
    STARTS = 21
};

/* CPU time of this thread: whatever else the machine does. */
static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* curses takes the size of a terminal that has none from the environment. */
static void terminal_open(int rows, int columns)
{
    const char *problem;
    char text[16];

    snprintf(text, sizeof text, "%d", rows);
    setenv("LINES", text, 1);
    snprintf(text, sizeof text, "%d", columns);
    setenv("COLUMNS", text, 1);
    setenv("TERM", "xterm-256color", 0);
    problem = screen_open("/dev/null", SCREEN_COLOR_ALWAYS);
    CHECK_MSG(!problem, "%s", problem);
}

static bool shows(const canvas_t *c, const char *word)
{
    size_t at = 0, length = strlen(word);

    for (int i = 0; i < c->rows * c->columns && at < length; i++)
        at = c->cells[i].code == (uint32_t)word[at] ? at + 1 : 0;
    return at == length;
}

static void frames_run(view_id_t which, int rows, int columns)
{
    picture_t p = {.shown = which, .name = "bench", .hertz = 10, .speed = 1};
    gpurt_modelview_t *view = calloc(1, sizeof *view);
    canvas_t canvas = {.unicode = true};
    gpurt_dictionary_t d = {0};
    static scene_row_t row;
    double times[FRAMES], half;
    gplog_file_t about;
    gpurt_error_t err;
    gpurt_model_t *m;
    scene_t scene;
    char name[64];

    scene_about(&about);
    scene_begin(&scene, &d, 1, 100000);
    CHECK_MSG(view && canvas_resize(&canvas, rows, columns), "memory");
    CHECK_MSG(gpurt_model_create(&d, &about, &m, &err) == GPURT_OK, "%s", err.text);
    p.view = view;
    terminal_open(rows, columns);
    for (int i = -10; i < FRAMES; i++) { /* the first ones warm up */
        double begin;

        for (int r = 0; r < ROWS_A_FRAME; r++) {
            scene_next(&scene, &row);
            gpurt_model_put(m, &row.row);
        }
        gpurt_model_view(m, gpurt_model_last_ns(m), GPURT_MODEL_LIVE, view);
        begin = cpu_us();
        picture_draw(&p, &canvas);
        screen_show(&canvas);
        times[i < 0 ? 0 : i] = cpu_us() - begin;
        CHECK_MSG(shows(&canvas, "LIVE") && shows(&canvas, "decode.cu"), "a picture");
    }
    screen_close();
    half = rows_median(times, FRAMES); /* sorts */
    snprintf(name, sizeof name, "%s_%dx%d_p50", picture_view(which)->name, columns, rows);
    rows_add("top", name, half, "us", NULL, 0);
    snprintf(name, sizeof name, "%s_%dx%d_p99", picture_view(which)->name, columns, rows);
    rows_add("top", name, times[FRAMES * 99 / 100], "us", NULL, 0);
    gpurt_model_destroy(m);
    gpurt_dictionary_fini(&d);
    canvas_fini(&canvas);
    free(view);
}

/* From the start of a program on a terminal until it has written so many bytes. */
static double start_ms(char *const argv[], size_t enough)
{
    struct winsize size = {.ws_row = 36, .ws_col = 120};
    double begin = rows_now_ns(), end;
    char bytes[4096];
    size_t seen = 0;
    int terminal;
    pid_t pid = forkpty(&terminal, NULL, NULL, &size);

    CHECK_MSG(pid >= 0, "forkpty");
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    while (seen < enough) {
        ssize_t got = read(terminal, bytes, sizeof bytes);

        CHECK_MSG(got > 0, "%s wrote %zu bytes only", argv[0], seen);
        seen += (size_t)got;
    }
    end = rows_now_ns();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(terminal);
    return (end - begin) * 1e-6;
}

/* Beside it a shell that prints as much: what a process and a terminal cost. */
static void start_run(const char *self)
{
    char top[4096], *slash, sh[] = "sh", c[] = "-c", sleeps[] = "sleep", ten[] = "10";
    char print[] = "printf '%03000d' 1; sleep 10";
    char *argv[] = {top, sleeps, ten, NULL}, *shell[] = {sh, c, print, NULL};
    double ours[STARTS], theirs[STARTS];

    snprintf(top, sizeof top, "%s", self);
    slash = strrchr(top, '/');
    snprintf(slash ? slash + 1 : top, 16, "gpurt-top");
    for (int i = 0; i < STARTS; i++) {
        ours[i] = start_ms(argv, 1000);
        theirs[i] = start_ms(shell, 1000);
    }
    rows_add("top", "first_picture", rows_median(ours, STARTS), "ms", "sh printf",
             rows_median(theirs, STARTS));
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{24, 80}, {36, 120}, {60, 200}};

    (void)argc;
    setlocale(LC_ALL, "C.UTF-8");
    rows_head();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        frames_run(VIEW_OVERVIEW, sizes[i][0], sizes[i][1]);
        frames_run(VIEW_LOG, sizes[i][0], sizes[i][1]);
    }
    start_run(argv[0]);
    return 0;
}
