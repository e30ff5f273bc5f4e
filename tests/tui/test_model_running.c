/* SPDX-License-Identifier: Apache-2.0 */
/* What runs and has not ended: as each process said last, which launch of a stream it is, how it is
 * shown, when it is an alert; and a hang that is told once. */
#include "canvas_seen.h"
#include "gpurows.h"
#include "hosttime.h"
#include "kernel_hang.h"
#include "model_stage.h"
#include "picture.h"
#include "running_text.h"

#include <locale.h>
#include <stdio.h>

#define SECOND 1000000000ull

static picture_t p;
static canvas_t c;

static gpurt_activity_running_t running(const char *name, uint64_t stream, uint64_t age_ns,
                                        uint32_t place, uint32_t queued)
{
    return (gpurt_activity_running_t){.name = string(name),
                                      .grid = {4, 3, 2},
                                      .block = {96, 2, 1},
                                      .stream = gpurt_pair(stream),
                                      .age = gpurt_pair(age_ns),
                                      .queued = queued,
                                      .place = place,
                                      .correlation = 7,
                                      .thread = 77};
}

static void put_running(const char *name, uint64_t stream, uint64_t at, uint64_t age_ns,
                        uint32_t place, uint32_t queued)
{
    const gpurt_activity_running_t row = running(name, stream, age_ns, place, queued);

    put(GPURT_KIND_RUNNING, T0 + at, &row, sizeof row);
}

static void put_sample(const char *function, uint64_t at)
{
    const gpurt_activity_line_t row = {.function = string(function),
                                       .file = string("a.cu"),
                                       .line = 3,
                                       .reason = string("barrier"),
                                       .ns = gpurt_pair(SECOND),
                                       .samples = 10,
                                       .idle = 10};

    put(GPURT_KIND_LINE, T0 + at - SECOND, &row, sizeof row);
}

/* The lines, as they are at a moment. */
static const char *shown(uint64_t at)
{
    static char text[16384];
    FILE *out = fmemopen(text, sizeof text, "w");

    gpurt_model_view(model, T0 + at, GPURT_MODEL_REPLAY, view);
    running_plain(out, &view->activity, T0 + at);
    fclose(out);
    return text;
}

static void check_last(void)
{
    stage_program = process(100, "one");
    put_running("spin", 0x77, 4 * SECOND, 3 * SECOND, 0, 1);
    put_running("other", 0, 4 * SECOND, SECOND, 0, 1);
    CHECK_STR(
        shown(4 * SECOND),
        "running    spin for 3.00 s, grid 4,3,2 block 96,2,1, stream 0x77 of GPU 0\n"
        "running    other for 1.00 s, grid 4,3,2 block 96,2,1, default stream of GPU 0\n");
    /* A moment later it is a second older; long after that nobody knows. */
    CHECK_CONTAINS(shown(5 * SECOND), "spin for 4.00 s, grid");
    CHECK_CONTAINS(shown(9 * SECOND), "spin for 3.00 s when it was last told, 5.00 s ago");
    put_running("late", 0x77, 3 * SECOND, 2 * SECOND, 0, 1); /* an older look comes late */
    CHECK(strstr(shown(4 * SECOND), "other") && !strstr(shown(4 * SECOND), "late"));
    put_running("spin", 0x77, 5 * SECOND, 4 * SECOND, 0, 1);
    CHECK(!strstr(shown(5 * SECOND), "other"));
    stage_program = process(200, "two"); /* which says nothing of the first */
    put_running("theirs", 0x77, 6 * SECOND, 2 * SECOND, 0, 1);
    CHECK_CONTAINS(shown(6 * SECOND), "theirs for 2.00 s");
    CHECK_CONTAINS(shown(6 * SECOND), "spin for 5.00 s");
    put_running("(none)", 0, 7 * SECOND, 0, 0, 0);
    CHECK(!strstr(shown(7 * SECOND), "theirs") && strstr(shown(7 * SECOND), "spin"));
}

/* Samples tell which of several it is. */
static void check_which(void)
{
    stage_program = process(100, "one");
    put_running("before", 0x77, 4 * SECOND, 3 * SECOND, 0, 5);
    put_running("spin", 0x77, 4 * SECOND, 2 * SECOND, 1, 5);
    put_running("behind", 0x77, 4 * SECOND, SECOND, 4, 5);
    CHECK_CONTAINS(shown(4 * SECOND), "running    before for at most 3.00 s");
    CHECK_CONTAINS(shown(4 * SECOND), "; it or one of 4 behind it\n");
    put_sample("spin", 4 * SECOND);
    CHECK_CONTAINS(shown(4 * SECOND), "running    spin for 2.00 s");
    CHECK_CONTAINS(shown(4 * SECOND), ", 3 behind it\n");
    CHECK(!strstr(shown(4 * SECOND), "before"));
    put_running("before", 0x77, 9 * SECOND, 8 * SECOND, 0, 5);
    put_running("spin", 0x77, 9 * SECOND, 7 * SECOND, 1, 5);
    CHECK_CONTAINS(shown(9 * SECOND), "before for at most"); /* those were of long ago */
}

static void draw_at(view_id_t id, uint64_t at)
{
    gpurt_model_view(model, T0 + at, GPURT_MODEL_REPLAY, view);
    CHECK(canvas_resize(&c, 30, 120));
    p.view = view;
    p.shown = id;
    p.name = "x";
    picture_draw(&p, &c);
}

static bool seen(const char *text)
{
    return canvas_seen_row(&c, text) >= 0;
}

static void check_screen(void)
{
    stage_program = process(100, "one");
    put_running("spin \033[31m", 0x77, 4 * SECOND, 4 * SECOND, 0, 1);
    draw_at(VIEW_OVERVIEW, 4 * SECOND);
    CHECK(seen("running spin \\x1b[31m for 4.00 s") && !seen("LONG"));
    draw_at(VIEW_GPU, 4 * SECOND);
    CHECK(seen("running spin"));
    draw_at(VIEW_OVERVIEW, 5 * SECOND + 1);
    CHECK(seen("LONG spin \\x1b[31m for 5.00 s") && !seen("(9 shows where it is)"));
    put_sample("spin", 5 * SECOND);
    draw_at(VIEW_OVERVIEW, 6 * SECOND);
    CHECK(seen("(9 shows where it is)"));
    for (uint32_t i = 0; i < 2 * GPURT_MODEL_RUNNING; i++)
        put_running("many", i, 7 * SECOND, SECOND, 0, 1);
    CHECK_CONTAINS(shown(7 * SECOND), "running    and 64 more\n");
    draw_at(VIEW_GPU, 7 * SECOND);
    CHECK(seen("and what runs on 60 more streams"));
}

/* ---- a hang -------------------------------------------------------------------------- */

static void hang_put(kernel_hang_t *k, uint32_t kind, uint64_t at, const void *payload,
                     size_t bytes)
{
    struct {
        gpurt_row_t row;
        uint32_t words[32];
    } r = {.row = {.time_ns = T0 + at, .mask = 1, .form = GPURT_FORM_THREAD}};
    gpurt_drain_sink_t sink = kernel_hang_sink(k);

    r.row.kind = (uint8_t)kind;
    r.row.level = GPURT_LEVEL_TRACE;
    r.row.words = (uint16_t)(bytes / 4);
    memcpy(r.words, payload, bytes);
    CHECK_EQ(sink.put(sink.context, &r.row, NULL), GPURT_OK);
}

static const char *told(kernel_hang_t *k, bool dumps, uint32_t *count)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof text, "w");

    *count = kernel_hang_print(k, "me", dumps, out);
    fclose(out);
    return text;
}

static void check_hang(void)
{
    const uint64_t now = gpurt_steady_ns();
    gpurt_activity_running_t young = running("spin", 0x77, SECOND, 0, 1), none = {0};
    gpurt_activity_running_t old = running("spin", 0x77, 2 * SECOND, 0, 1);
    gplog_file_t about = {.identity = {.pid = 4711}};
    kernel_hang_t k;
    uint32_t count;

    kernel_hang_init(&k, 2 * SECOND, &dictionary, &about);
    hang_put(&k, GPURT_KIND_RUNNING, 1 * SECOND, &young, sizeof young);
    CHECK(!kernel_hang_due(&k, now + 10 * SECOND));
    hang_put(&k, GPURT_KIND_RUNNING, 2 * SECOND, &old, sizeof old);
    CHECK(!kernel_hang_due(&k, k.due_ns + SECOND / 2)); /* samples may come */
    CHECK(kernel_hang_due(&k, k.due_ns + SECOND));
    hang_put(&k, GPURT_KIND_RUNNING, 3 * SECOND, &none, sizeof none);
    CHECK(!kernel_hang_due(&k, now + 10 * SECOND)); /* it has ended meanwhile */
    hang_put(&k, GPURT_KIND_RUNNING, 4 * SECOND, &old, sizeof old);
    CHECK_CONTAINS(told(&k, false, &count), "me: a kernel has not ended for 2 s:\n"
                                            "  spin for 2.00 s, grid 4,3,2 block 96,2,1");
    CHECK_EQ(count, 1);
    CHECK_CONTAINS(told(&k, false, &count), "");
    CHECK_EQ(count, 0); /* it is told */
    old.age = gpurt_pair(3 * SECOND);
    hang_put(&k, GPURT_KIND_RUNNING, 5 * SECOND, &old, sizeof old);
    CHECK(!kernel_hang_due(&k, now + 99 * SECOND)); /* the same one */
    old.age = gpurt_pair(2 * SECOND);
    hang_put(&k, GPURT_KIND_RUNNING, 6 * SECOND, &old, sizeof old);
    CHECK(kernel_hang_due(&k, k.due_ns + SECOND)); /* another */
    CHECK_CONTAINS(told(&k, true, &count), "no samples came (GPURT_CUPTI=live, or lines)\n"
                                           "  the core dump, which is asked for now");
    CHECK_CONTAINS(told(&k, true, &count), "");
    kernel_hang_fini(&k);
}

/* Warps that stand, and nothing that issues. */
static void check_hang_lines(void)
{
    const gpurt_activity_line_t line = {.function = string("spin"),
                                        .file = string("a.cu"),
                                        .line = 3,
                                        .reason = string("barrier"),
                                        .ns = gpurt_pair(SECOND),
                                        .samples = 10,
                                        .idle = 10};
    gpurt_activity_running_t old = running("spin", 0x77, 2 * SECOND, 0, 1);
    gplog_file_t about = {.identity = {.pid = 4711}};
    kernel_hang_t k;
    uint32_t count;

    kernel_hang_init(&k, 2 * SECOND, &dictionary, &about);
    hang_put(&k, GPURT_KIND_LINE, SECOND, &line, sizeof line);
    hang_put(&k, GPURT_KIND_RUNNING, 2 * SECOND, &old, sizeof old);
    CHECK(kernel_hang_due(&k, k.due_ns + SECOND / 5));
    CHECK_CONTAINS(told(&k, false, &count), "  its warps, by 10 samples of the last 2 s:\n"
                                            "  100.0%  a.cu:3  waits at a barrier 100%\n"
                                            "  nothing moves: no instruction was issued");
    kernel_hang_fini(&k);
}

static void put_counted(const char *name, uint64_t launches)
{
    const gpurt_activity_counted_t row = {.name = string(name),
                                          .launches = gpurt_pair(launches)};

    put(GPURT_KIND_COUNTED, T0 + SECOND, &row, sizeof row);
}

/* Kernels that were counted and have no times: their shares are those of the samples. */
static void check_counted(void)
{
    const gpurt_model_activity_t *a = &view->activity;
    uint16_t order[GPUROWS_MOST];
    bool about;

    put_counted("rare", 2);
    put_counted("often", 5);
    put_counted("often", 4);
    put_counted("long", 1);
    gpurt_model_view(model, T0 + 2 * SECOND, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(gpurows_order(a, GPUROWS_KERNELS, 0, order), 3);
    CHECK_STR(a->kernels[order[0]].name, "often");
    CHECK_EQ(a->kernels[order[0]].times.count, 9);
    CHECK_EQ(a->kernels[order[0]].times.untimed, 9);
    CHECK(gpurows_share(a, GPUROWS_KERNELS, order[0], 0, &about) < 0 && !about);
    put_sample("long", 2 * SECOND);
    put_sample("long", 3 * SECOND);
    put_sample("long", 4 * SECOND);
    put_sample("rare", 2 * SECOND);
    gpurt_model_view(model, T0 + 4 * SECOND, GPURT_MODEL_REPLAY, view);
    gpurows_order(a, GPUROWS_KERNELS, 0, order);
    CHECK_STR(a->kernels[order[0]].name, "long");
    CHECK_STR(a->kernels[order[1]].name, "rare");
    CHECK_EQ((int)gpurows_share(a, GPUROWS_KERNELS, order[0], 0, &about), 75);
    CHECK(about);
    draw_at(VIEW_GPU, 4 * SECOND);
    CHECK(seen("--cupti full has times") && seen("~75.0%"));
}

static void put_kernels(const char *name, uint32_t count, uint64_t ns, uint64_t more)
{
    gpurt_activity_kernel_t row = {.name = string(name), .context = 1};

    for (uint32_t i = 0; i < count; i++) {
        row.ns = gpurt_pair(ns + (i % 2 ? more : 0));
        put(GPURT_KIND_KERNEL, T0 + SECOND / 10 + i * 10000, &row, sizeof row);
    }
}

static void put_counted_too(const char *name, uint64_t launches, uint64_t recorded)
{
    const gpurt_activity_counted_t row = {.name = string(name),
                                          .launches = gpurt_pair(launches),
                                          .recorded = gpurt_pair(recorded)};

    put(GPURT_KIND_COUNTED, T0 + SECOND, &row, sizeof row);
}

/* Where records came in windows, a launch counts once, totals are estimates, and those say how far
 * they may be off. */
static void check_windows(void)
{
    const gpurt_model_activity_t *a = &view->activity;
    const gpurt_activity_window_t closes = {.window_ms = 200,
                                            .pause_ms = 1800,
                                            .budget = 20000,
                                            .cost = 19000,
                                            .counting = 4000,
                                            .slowdown = 150000};
    const gpurt_activity_window_t opens = {.off = gpurt_pair(5 * SECOND / 2), .on = 1};
    const gpurt_model_times_t *even, *odd;
    uint16_t order[GPUROWS_MOST];
    double spread;

    put_kernels("odd", 100, 1000, 1000);
    put_kernels("even", 100, 3000, 0);
    put(GPURT_KIND_WINDOW, T0 + SECOND / 2, &closes, sizeof closes);
    put_counted_too("odd", 10000, 60);
    put_counted_too("odd", 0, 40);
    put_counted_too("even", 400, 100);
    gpurt_model_view(model, T0 + 2 * SECOND, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(gpurows_order(a, GPUROWS_KERNELS, 0, order), 2);
    odd = &a->kernels[order[0]].times; /* by what all of it takes: 15 ms against 1.2 */
    even = &a->kernels[order[1]].times;
    CHECK_EQ(odd->count, 10000);
    CHECK_EQ(odd->untimed, 9900);
    CHECK_EQ(odd->about_ns, 15000000);
    CHECK_EQ(even->count, 400);
    CHECK_EQ(even->about_ns, 1200000);
    CHECK_EQ(even->about_error_ns, 0);
    CHECK_EQ(a->counted, 9900 + 300);
    spread = (double)odd->about_error_ns / (2 * 10000 * 500.0 / 10); /* of a mean of 100 */
    CHECK_MSG(spread > 0.9 && spread < 1.1, "%g", spread);
    CHECK_EQ(view->timeline.offs[0][0].start_ns, T0 + SECOND / 2);
    CHECK_EQ(view->timeline.offs[0][0].end_ns, UINT64_MAX);
    draw_at(VIEW_GPU, 2 * SECOND);
    CHECK(seen("windows: 200 ms of records in each 2.00 s, off now; that and counting take "
               "~1.9% of "
               "the time, budget 2.0%"));
    CHECK(seen("GPU  10400 kernels, ~16.20 ms, 10200 without times"));
    CHECK(seen("~92.6%") && seen("~15.00 ms"));
    put(GPURT_KIND_WINDOW, T0 + 3 * SECOND, &opens, sizeof opens);
    gpurt_model_view(model, T0 + 3 * SECOND, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(view->timeline.offs[0][0].end_ns, T0 + 3 * SECOND);
    CHECK_EQ(view->timeline.offs[0][1].end_ns, 0);
}

/* What a kernel has left of a second in which another runs by now. */
static void check_left_over(void)
{
    for (int i = 0; i < 60; i++)
        put_sample("spin", 2 * SECOND);
    put_sample("before", 2 * SECOND);
    put_running("before", 0x77, 2 * SECOND, SECOND, 0, 2);
    put_running("spin", 0x77, 2 * SECOND, SECOND, 1, 2);
    CHECK_CONTAINS(shown(2 * SECOND), "running    spin for 1.00 s");
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    in_model(check_last);
    in_model(check_which);
    in_model(check_counted);
    in_model(check_windows);
    in_model(check_left_over);
    in_model(check_screen);
    check_hang();
    check_hang_lines();
    canvas_fini(&c);
    return 0;
}
