/* SPDX-License-Identifier: Apache-2.0 */
#include "top_bench.h"

#include "screen.h"
#include "top_loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time of this thread: what a picture costs, whatever else the machine does. */
static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Each picture is of another moment, so that everything on it changes. */
static uint64_t picture(top_t *t, canvas_t *canvas, uint64_t i, uint64_t count)
{
    const gpurt_model_numbers_t *n = &t->fresh->numbers;
    uint64_t span = n->range_last_ns - n->range_first_ns, begin;

    t->source->class->seek(t->source,
                           n->range_first_ns +
                               (uint64_t)((double)span * (double)(i + 1) / (double)count));
    t->source->class->finish(t->source);
    begin = cpu_ns();
    top_refresh(t);
    picture_draw(&t->picture, canvas);
    screen_show(canvas);
    return cpu_ns() - begin;
}

static void size_run(top_t *t, const char *name, view_id_t view, int rows, int columns,
                     unsigned long frames)
{
    uint64_t *times = calloc(frames, sizeof *times), half, most;
    canvas_t canvas = {.unicode = screen_unicode()};

    if (!times || !canvas_resize(&canvas, rows, columns)) {
        free(times);
        return;
    }
    t->picture.shown = view;
    for (unsigned long i = 0; i < frames; i++)
        times[i] = picture(t, &canvas, i, frames);
    qsort(times, frames, sizeof *times, compare);
    half = times[frames / 2];
    most = times[frames * 99 / 100];
    fprintf(stderr,
            "bench_top case=%s_%dx%d frames=%lu p50_us=%.0f p99_us=%.0f max_us=%.0f\n",
            name, columns, rows, frames, (double)half / 1e3, (double)most / 1e3,
            (double)times[frames - 1] / 1e3);
    canvas_fini(&canvas);
    free(times);
}

/* curses takes the size of a terminal that has none from the environment. */
static bool terminal_open(int rows, int columns)
{
    char text[16];

    snprintf(text, sizeof text, "%d", rows);
    setenv("LINES", text, 1);
    snprintf(text, sizeof text, "%d", columns);
    setenv("COLUMNS", text, 1);
    setenv("TERM", "xterm-256color", 0);
    return screen_open("/dev/null", SCREEN_COLOR_ALWAYS) == NULL;
}

int top_bench(unsigned long frames, const char *log)
{
    static const int sizes[][2] = {{24, 80}, {36, 120}, {60, 200}};
    top_t t = {.picture = {.speed = 1, .replay = true, .hertz = 10, .name = "bench"}};
    gpurt_error_t err;
    int status = 0;

    t.fresh = calloc(1, sizeof *t.fresh);
    t.held = calloc(1, sizeof *t.held);
    if (!t.fresh || !t.held || frames == 0 ||
        source_replay_open(log, false, &t.source, &err) != GPURT_OK) {
        free(t.fresh);
        free(t.held);
        return LAUNCHEE_FAILED;
    }
    t.source->class->finish(t.source);
    top_refresh(&t);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!terminal_open(sizes[i][0], sizes[i][1])) {
            status = LAUNCHEE_FAILED;
            break;
        }
        size_run(&t, "overview", VIEW_OVERVIEW, sizes[i][0], sizes[i][1], frames);
        size_run(&t, "log", VIEW_LOG, sizes[i][0], sizes[i][1], frames);
        screen_close();
    }
    t.source->class->close(t.source);
    free(t.fresh);
    free(t.held);
    return status;
}
