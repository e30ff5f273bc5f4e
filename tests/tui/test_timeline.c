/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of streams: lanes, spans, bins of each width, what is late, what a file makes
 * up; and how the GPU view draws it. */
#include "check.h"
#include "picture.h"

#include <string.h>

#define T0 1767225600000000000ull
#define MS 1000000ull

static gpurt_modelview_t *view;
static gpurt_timeline_t *t;

static void put_of(uint32_t program, uint32_t kind, uint32_t stream, uint64_t at,
                   uint64_t ns)
{
    gpurt_span_t s = {.kind = kind,
                      .time_ns = at,
                      .ns = ns,
                      .stream = stream,
                      .context = 1,
                      .program = (uint8_t)program};

    gpurt_timeline_put(t, &s, kind == GPURT_KIND_KERNEL ? 0 : GPURT_TIMELINE_NAMELESS);
}

static void put(uint32_t kind, uint32_t stream, uint64_t at, uint64_t ns)
{
    put_of(0, kind, stream, at, ns);
}

static void fresh(void)
{
    memset(view, 0, sizeof *view);
    t = &view->timeline;
}

static const gpurt_timeline_cell_t *cell(uint32_t zoom, uint64_t at, uint32_t lane)
{
    uint64_t bin = at / gpurt_timeline_width(zoom);

    return &t->bins[zoom].cells[bin % GPURT_TIMELINE_BINS][lane];
}

static void check_lanes(void)
{
    fresh();
    put(GPURT_KIND_KERNEL, 7, T0, 10);
    put(GPURT_KIND_KERNEL, 8, T0, 10);
    put(GPURT_KIND_COPY, 7, T0 + 20, 10);
    put(GPURT_KIND_WAIT, 7, T0, 5);
    put(GPURT_KIND_CALL, 7, T0, 5);                        /* of no stream */
    put(GPURT_KIND_KERNEL, 7, T0, GPURT_ACTIVITY_NO_TIME); /* nowhere */
    CHECK_EQ(t->lane_count, 3);
    CHECK_EQ(t->count, 4);
    CHECK_EQ(t->lanes[0].count, 2);
    CHECK_EQ(t->lanes[0].ns, 20);
    CHECK_EQ(t->lanes[2].kind, GPURT_TIMELINE_WAITS);
    for (uint32_t i = 0; i < 100; i++)
        put(GPURT_KIND_KERNEL, 100 + i, T0 + i, 1);
    CHECK_EQ(t->lane_count, GPURT_TIMELINE_LANES);
    CHECK_EQ(t->lanes[GPURT_TIMELINE_OTHER].count, 100 - (GPURT_TIMELINE_LANES - 3));
}

/* Of two processes, whose numbers are the same. */
static void check_programs(void)
{
    fresh();
    for (uint32_t program = 0; program < 2; program++) {
        put_of(program, GPURT_KIND_KERNEL, 7, T0, 10 + program);
        put_of(program, GPURT_KIND_WAIT, 7, T0, 5);
    }
    put_of(1, GPURT_KIND_COPY, 7, T0 + 20, 10);
    CHECK_EQ(t->lane_count, 4);
    CHECK_EQ(t->lanes[0].ns, 10);
    CHECK_EQ(t->lanes[2].ns, 21);
    CHECK_EQ(t->lanes[2].program, 1);
    CHECK_EQ(t->lanes[3].kind, GPURT_TIMELINE_WAITS);
    CHECK_EQ(t->lanes[3].program, 1);
    CHECK_EQ(t->spans[2].program, 1);
    CHECK_EQ(cell(0, T0, 0)->kernels, 10);
    CHECK_EQ(cell(0, T0, 2)->kernels, 11);
}

static void check_bins(void)
{
    fresh();
    put(GPURT_KIND_KERNEL, 7, T0 + MS / 2, MS); /* half in each of two */
    CHECK_EQ(cell(0, T0, 0)->kernels, MS / 2);
    CHECK_EQ(cell(0, T0 + MS, 0)->kernels, MS / 2);
    CHECK_EQ(cell(1, T0, 0)->kernels, MS);
    put(GPURT_KIND_FILL, 7, T0, 100);
    CHECK_EQ(cell(0, T0, 0)->copies, 100);
    /* A lap later what stood there is gone, and late records of then change nothing. */
    put(GPURT_KIND_KERNEL, 7, T0 + GPURT_TIMELINE_BINS * MS, 1000);
    CHECK_EQ(cell(0, T0, 0)->kernels, 1000);
    CHECK_EQ(cell(0, T0, 0)->copies, 0);
    CHECK_EQ(cell(2, T0, 0)->copies, 100);
    put(GPURT_KIND_KERNEL, 7, T0 + 100, 1000);
    CHECK_EQ(cell(0, T0, 0)->kernels, 1000);
    /* A kernel of an hour fills what there is, in bounded time. */
    put(GPURT_KIND_KERNEL, 7, T0, 3600000 * MS);
    CHECK_EQ(cell(2, T0 + 3599000 * MS, 0)->kernels, 256 * MS);
}

/* Times that no clock says. */
static void check_absurd(void)
{
    fresh();
    put(GPURT_KIND_KERNEL, 7, UINT64_MAX - 5, 3);
    put(GPURT_KIND_KERNEL, 7, 5, UINT64_MAX - 6);
    CHECK_EQ(t->count, 0);
    put(GPURT_KIND_KERNEL, 7, 0, 1);
    put(GPURT_KIND_KERNEL, 7, 1ull << 62, 1ull << 62);
    put(GPURT_KIND_KERNEL, 7, T0, 1);
    CHECK_EQ(t->count, 3);
}

static void check_holds(void)
{
    fresh();
    for (uint64_t i = 0; i < GPURT_TIMELINE_SPANS; i++)
        put(GPURT_KIND_KERNEL, 7, T0 + i * 10, 5);
    CHECK(gpurt_timeline_holds(t, T0 - 1000));
    put(GPURT_KIND_KERNEL, 7, T0 + 100000, 5);
    CHECK(!gpurt_timeline_holds(t, T0));
    CHECK(gpurt_timeline_holds(t, T0 + 10));
}

/* ---- the picture --------------------------------------------------------------------- */

static void text_of(const canvas_t *c, int row, char *out)
{
    for (int i = 0; i < c->columns; i++) {
        uint32_t code = c->cells[row * c->columns + i].code;

        out[i] = (char)(code < 0x80 ? code : '?');
    }
    out[c->columns] = '\0';
}

/* The row that begins with a label; fails when there is none. */
static const char *row_of(const canvas_t *c, const char *label)
{
    static char text[512];

    for (int row = 0; row < c->rows; row++) {
        text_of(c, row, text);
        if (strncmp(text + 1, label, strlen(label)) == 0)
            return text + 20;
    }
    CHECK_MSG(false, "no row %s", label);
    return NULL;
}

static bool has_row(const canvas_t *c, const char *label)
{
    char text[512];

    for (int row = 0; row < c->rows; row++) {
        text_of(c, row, text);
        if (strncmp(text + 1, label, strlen(label)) == 0)
            return true;
    }
    return false;
}

/* A hundred columns of 10 us: a kernel, a gap in which the host was told of its end, a
 * kernel, a gap of a launch, a kernel, nothing. */
static void scene_put(void)
{
    fresh();
    view->numbers.first_ns = T0;
    view->numbers.time_ns = T0 + MS;
    view->activity.rows = 1;
    view->activity.kernel_count = 1;
    view->activity.kernels[0].times.count = 3;
    snprintf(view->activity.kernels[0].name, sizeof view->activity.kernels[0].name,
             "gemm_with_a_long_name");
    put(GPURT_KIND_KERNEL, 7, T0, 200000);
    put(GPURT_KIND_WAIT, 0, T0 + 50000, 250000);
    put(GPURT_KIND_KERNEL, 7, T0 + 300000, 100000);
    put(GPURT_KIND_KERNEL, 7, T0 + 440000, 60000);
    put(GPURT_KIND_COPY, 9, T0 + 600000, 100000);
}

static void check_picture(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = false};

    scene_put();
    CHECK(canvas_resize(&c, 30, 121));
    picture_draw(&p, &c);
    CHECK_MSG(
        strncmp(
            row_of(&c, "GPU 0"),
            "####################wwwwwwwwww##########llll######..........##########....",
            74) == 0,
        "%s", row_of(&c, "GPU 0"));
    CHECK(strncmp(row_of(&c, " 0 stream 7"), "gemm_with_a_long_nam..........gemm_with_",
                  40) == 0);
    CHECK(strncmp(row_of(&c, " host waits"), ".....#########################.....", 35) ==
          0);
    /* From afar, by bins: the first columns of the window hold what is known. */
    for (uint64_t i = 0; i < GPURT_TIMELINE_SPANS; i++)
        put(GPURT_KIND_KERNEL, 7, T0 + 10000 * MS + i * MS, MS / 2);
    view->numbers.time_ns = T0 + 12048 * MS;
    p.streams_zoom = 15; /* 5 s */
    picture_draw(&p, &c);
    CHECK(strncmp(row_of(&c, "GPU 0"), "..........", 10) == 0);
    CHECK(strchr(row_of(&c, "GPU 0") + 60, '+') || strchr(row_of(&c, "GPU 0") + 60, '#'));
    canvas_fini(&c);
}

/* Two processes on a GPU each, under one number: the second one's host sleeps while the first
 * one's GPU does nothing, which is none of that one's business. */
static void check_picture_of_two(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = false};
    const char *row;

    scene_put();
    put_of(1, GPURT_KIND_KERNEL, 7, T0, 500000);
    put_of(1, GPURT_KIND_KERNEL, 7, T0 + 800000, 100000);
    put_of(1, GPURT_KIND_WAIT, 0, T0 + 400000, 450000);
    t->lanes[0].pid = t->lanes[1].pid = t->lanes[2].pid = 10801;
    t->lanes[3].pid = t->lanes[4].pid = 4194304;
    t->lanes[3].gpu = 1;
    view->activity.gpus[1].other_names = 1;
    view->activity.gpus[1].other_pid = 4194304;
    CHECK(canvas_resize(&c, 30, 129));
    p.streams_open = true;
    picture_draw(&p, &c);
    row = row_of(&c, "GPU 0") + 8;
    CHECK_MSG(
        strncmp(
            row,
            "####################wwwwwwwwww##########llll######..........##########....",
            74) == 0,
        "%s", row);
    row = row_of(&c, "GPU 1 (0 of 4194304)") + 8;
    CHECK_MSG(strncmp(row + 48, "##wwwwwwwwwwwwwwwwwwwwwwwwwwwwww##########....", 46) == 0,
              "%s", row);
    CHECK(strncmp(row_of(&c, " 0 stream 7 of 10801") + 8, "gemm_with_a_long_nam......",
                  26) == 0);
    CHECK(strncmp(row_of(&c, " 0 stream 7 of 4194304") + 8, "gemm_with_a_long_name", 21) ==
          0);
    CHECK(strncmp(row_of(&c, " host waits of 10801") + 8, ".....#########################.",
                  31) == 0);
    CHECK(has_row(&c, " host waits of 4194304"));
    canvas_fini(&c);
}

/* What is further back than spans: each GPU's own sums say why it did nothing. */
static void check_reasons_of_two(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = false};

    scene_put();
    for (uint64_t i = 0; i < GPURT_TIMELINE_SPANS; i++)
        put_of(i % 2, GPURT_KIND_KERNEL, 7, T0 + 10000 * MS + i * MS, MS / 2);
    t->lanes[3].gpu = 1;
    for (uint64_t i = 0; i < 4; i++) {
        gpurt_timeline_busy_t *b = &t->busy[0][i];

        b[0] = b[GPURT_TIMELINE_BUSY] = (gpurt_timeline_busy_t){
            .start_ns = T0 + (9 - i) * 1000 * MS, .ns = 1000 * MS, .idle = 100};
        b[0].waiting = b[GPURT_TIMELINE_BUSY].launching = 150;
    }
    view->numbers.time_ns = T0 + 12048 * MS;
    p.streams_zoom = 15; /* 5 s */
    CHECK(canvas_resize(&c, 30, 129));
    picture_draw(&p, &c);
    CHECK_MSG(strncmp(row_of(&c, "GPU 0") + 8, "wwwwwwwwww", 10) == 0, "%s",
              row_of(&c, "GPU 0"));
    CHECK_MSG(strncmp(row_of(&c, "GPU 1") + 8, "llllllllll", 10) == 0, "%s",
              row_of(&c, "GPU 1"));
    canvas_fini(&c);
}

static void check_keys(void)
{
    const view_class_t *v = picture_view(VIEW_GPU);
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = false};

    scene_put();
    CHECK(canvas_resize(&c, 30, 121));
    CHECK(v->act(&p, ACTION_OPEN, 10) && p.streams_open);
    picture_draw(&p, &c);
    CHECK(has_row(&c, " host waits"));
    CHECK(!has_row(&c, "  share")); /* the table of kernels gave way */
    /* The last quarter of a millisecond, then the one before: what was left of it. */
    CHECK(v->act(&p, ACTION_NARROWER, 10));
    CHECK(v->act(&p, ACTION_NARROWER, 10));
    picture_draw(&p, &c);
    CHECK(strncmp(row_of(&c, "GPU 0"), "..........", 10) == 0);
    for (int i = 0; i < 9; i++)
        CHECK(v->act(&p, ACTION_LEFT, 10));
    CHECK_EQ(p.streams_back_ns, 450000);
    picture_draw(&p, &c);
    CHECK_MSG(strncmp(row_of(&c, "GPU 0"), "#########################llll", 25) == 0, "%s",
              row_of(&c, "GPU 0"));
    CHECK(v->act(&p, ACTION_RIGHT, 10));
    CHECK_EQ(p.streams_back_ns, 400000);
    for (int i = 0; i < 99; i++)
        CHECK(v->act(&p, ACTION_LEFT, 10));
    CHECK(p.streams_back_ns <= MS);
    CHECK(v->act(&p, ACTION_BACK, 10) && !p.streams_open && p.streams_back_ns == 0);
    for (int i = 0; i < 99; i++)
        CHECK(v->act(&p, ACTION_WIDER, 10));
    picture_draw(&p, &c);
    canvas_fini(&c);
}

/* Memory that somebody else wrote. */
static void check_torn(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = true};

    scene_put();
    CHECK(canvas_resize(&c, 40, 160));
    for (int fill = 0; fill < 256; fill += 51)
        for (uint32_t zoom = 0; zoom < 20; zoom++) {
            memset(t, fill, sizeof *t);
            p.streams_zoom = zoom;
            picture_draw(&p, &c);
        }
    canvas_fini(&c);
}

/* A kernel put the short way lies where it would by the long one, or is refused. */
static void check_short_way(void)
{
    static gpurt_timeline_t other;
    gpurt_timeline_run_t run = {.count = 0}, other_run = {.count = 0};
    uint64_t at = T0, taken = 0;
    uint32_t seed = 1;

    fresh();
    memset(&other, 0, sizeof other);
    for (uint32_t i = 0; i < 20000; i++) {
        gpurt_activity_kernel_t k = {.context = 1};
        gpurt_row_t row = {.kind = GPURT_KIND_KERNEL};
        gpurt_span_t span;

        seed = seed * 1664525u + 1013904223u;
        k.ns = gpurt_pair(seed >> 24 ? (seed >> 8) % 30000 : (seed >> 8) % 3000000);
        k.stream = 7 + (seed >> 20 & 31u) / 31;
        k.context = 1 + (seed >> 14 & 63u) / 63;
        at += (seed >> 5) % 20000;
        row.time_ns = seed >> 17 & 63u ? at : at - 2 * MS; /* late now and then */
        row.block = (seed >> 9 & 63u) / 63;
        row.program = (uint8_t)((seed >> 3 & 63u) / 63);
        CHECK(gpurt_span_of(&row, &k, &span));
        gpurt_timeline_add(&other, &other_run, &span, i % 5);
        if (gpurt_timeline_more(t, &run, &row, &k, i % 5))
            taken++;
        else
            gpurt_timeline_add(t, &run, &span, i % 5);
    }
    gpurt_timeline_end(t, &run);
    gpurt_timeline_end(&other, &other_run);
    CHECK(taken > 10000);
    CHECK_EQ(memcmp(t, &other, sizeof other), 0);
}

int main(void)
{
    view = calloc(1, sizeof *view);
    CHECK(view != NULL);
    check_lanes();
    check_programs();
    check_bins();
    check_absurd();
    check_holds();
    check_short_way();
    check_picture();
    check_picture_of_two();
    check_reasons_of_two();
    check_keys();
    check_torn();
    free(view);
    return 0;
}
