/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs did, as the model adds it up: every figure against one that is worked out here,
 * quantiles as exact as they promise, more names than there is room for, rows that are too
 * short; and on the screen. */
#include "activity_text.h"
#include "model_stage.h"
#include "picture.h"
#include "written.h"

#include <locale.h>

enum {
    COUNT = 5000,
    NAMES = GPURT_MODEL_KERNELS + 44
};
static void put_at(uint32_t kind, uint32_t device, uint64_t time_ns, const void *payload,
                   size_t bytes)
{
    put_on(device, kind, GPURT_LEVEL_TRACE, time_ns, payload, bytes);
}

static void put_kernel(uint32_t name, uint64_t ns)
{
    gpurt_activity_kernel_t k = {name, gpurt_pair(ns), {1, 2, 3}, {4, 5, 6}, 77, 4096, 1, 2,
                                 3};

    put_at(GPURT_KIND_KERNEL, 0, T0, &k, sizeof k);
}

static const gpurt_model_kernel_t *kernel(const char *name)
{
    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++)
        if (strcmp(view->activity.kernels[i].name, name) == 0)
            return &view->activity.kernels[i];
    CHECK_MSG(false, "no kernel %s", name);
    return NULL;
}

/* Durations 1..COUNT times 37 ns, each once, in an order that is not theirs. */
static void check_kernels(void)
{
    uint32_t name = string("gemm<float>"), slow = string("slow"), lost = string("lost");
    const gpurt_model_kernel_t *k;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t ns = 37 * (uint64_t)((i * 3001) % COUNT + 1);

        sum += ns;
        put_kernel(name, ns);
    }
    for (int i = 0; i < 99; i++)
        put_kernel(slow, 1000);
    put_kernel(slow, 5000000000);
    put_kernel(lost, GPURT_ACTIVITY_NO_TIME);
    put_kernel(lost, 3);
    look();
    k = kernel("gemm<float>");
    CHECK_EQ(k->times.count, COUNT);
    CHECK_EQ(k->times.total_ns, sum);
    CHECK_EQ(k->times.min_ns, 37);
    CHECK_EQ(k->times.max_ns, 37 * COUNT);
    CHECK_MSG(k->times.p50_ns > 37 * COUNT / 2 * 93 / 100 &&
                  k->times.p50_ns < 37 * COUNT / 2 * 107 / 100,
              "p50 %llu", (unsigned long long)k->times.p50_ns);
    CHECK_MSG(k->times.p99_ns > 37 * COUNT * 92 / 100 && k->times.p99_ns <= 37 * COUNT,
              "p99 %llu", (unsigned long long)k->times.p99_ns);
    CHECK_EQ(k->registers, 77);
    CHECK_EQ(k->grid[2], 3);
    k = kernel("slow");
    CHECK_EQ(k->times.max_ns, 5000000000);
    CHECK_MSG(k->times.p99_ns < 1100, "p99 %llu: the slowest of 100 is above it",
              (unsigned long long)k->times.p99_ns);
    CHECK_MSG(k->times.p50_ns >= 1000 && k->times.p50_ns < 1070, "p50 %llu",
              (unsigned long long)k->times.p50_ns);
    k = kernel("lost");
    CHECK_EQ(k->times.count, 2);
    CHECK_EQ(k->times.untimed, 1);
    CHECK_EQ(k->times.total_ns, 3);
    CHECK_EQ(k->times.min_ns, 3);
    CHECK_EQ(k->times.p50_ns, 3);
}

/* Those of a persistent kernel, or of one that many wait for: hours, and days. */
static void check_long(void)
{
    const uint64_t hour = 3600ull * 1000000000;
    uint32_t name = string("persistent");
    const gpurt_model_kernel_t *k;

    put_kernel(name, 1);
    for (uint32_t i = 1; i <= 200; i++)
        put_kernel(name, i * hour);
    look();
    k = kernel("persistent");
    CHECK_MSG(k->times.p50_ns > 93 * hour && k->times.p50_ns < 107 * hour, "p50 %llu",
              (unsigned long long)k->times.p50_ns);
    CHECK_MSG(k->times.p99_ns > 184 * hour && k->times.p99_ns <= 200 * hour, "p99 %llu",
              (unsigned long long)k->times.p99_ns);
    put_kernel(name, UINT64_MAX - 1); /* longer than all buckets */
    look();
    CHECK_EQ(k->times.max_ns, UINT64_MAX - 1);
    CHECK_EQ(k->times.total_ns, UINT64_MAX);
}

/* A device that tells of its limits after its kernels, and one that never does. */
static void check_occupancy(void)
{
    gpurt_activity_device_t device = {9,          0,    132,   32,
                                      2048,       32,   65536, 65536,
                                      228 * 1024, 1024, {0},   string("GPU of test")};
    const size_t old_bytes = offsetof(gpurt_activity_device_t, uuid);
    gpurt_activity_kernel_t k = {.name = string("fills"),
                                 .ns = gpurt_pair(7),
                                 .grid = {1, 1, 1},
                                 .block = {32, 4, 2},
                                 .registers = 40,
                                 .shared_bytes = 1536};

    put_at(GPURT_KIND_KERNEL, 3, T0, &k, sizeof k);
    k.name = string("unknown");
    put_at(GPURT_KIND_KERNEL, 4, T0, &k, sizeof k);
    put_at(GPURT_KIND_KERNEL, 4000000000u, T0, &k, sizeof k);
    look();
    CHECK_EQ(kernel("fills")->occupancy, 0);
    put_at(GPURT_KIND_DEVICE, 3, T0, &device, old_bytes - 4); /* cut short */
    look();
    CHECK_EQ(kernel("fills")->occupancy, 0);
    put_at(GPURT_KIND_DEVICE, 3, T0, &device, old_bytes); /* before UUIDs were told */
    look();
    CHECK_STR(view->activity.gpus[3].name, "");
    CHECK_EQ(kernel("fills")->occupancy, 7500);
    put_at(GPURT_KIND_DEVICE, 3, T0, &device, sizeof device);
    put_at(GPURT_KIND_DEVICE, 4000000000u, T0, &device, sizeof device);
    look();
    CHECK_STR(view->activity.gpus[3].name, "GPU of test");
    CHECK_EQ(kernel("fills")->occupancy, 7500);
    CHECK_EQ(kernel("unknown")->occupancy, 0);
}

enum {
    STEADY = 13 /* kernels that what a GPU did with its time is shown by */
};

/* On GPU 1. */
static void ran(uint64_t from, uint64_t to)
{
    gpurt_activity_kernel_t k = {.name = string("unknown"),
                                 .ns = gpurt_pair(to - from),
                                 .grid = {1, 1, 1},
                                 .block = {32, 4, 2},
                                 .registers = 40,
                                 .shared_bytes = 1536,
                                 .context = 9};

    put_at(GPURT_KIND_KERNEL, 1, T0 + from, &k, sizeof k);
}

/* A millisecond: what was waited for is known before anything is known of that context. */
static void check_busy(void)
{
    gpurt_activity_wait_t wait = {1, gpurt_pair(250000), 0, 0, 9, 0};
    gpurt_activity_copy_t copy = {
        1, gpurt_pair(1), gpurt_pair(100000), 0, 0, GPURT_COPY_ON_DEVICE, 9, 0, 0};

    put_at(GPURT_KIND_WAIT, 0, T0 + 50000, &wait, sizeof wait);
    wait.context = 10; /* never known */
    put_at(GPURT_KIND_WAIT, 0, T0 + 420000, &wait, sizeof wait);
    for (uint64_t at = 480000; at < 1000000; at += 52000)
        ran(at + 25000, at + 52000);
    ran(0, 100000); /* late */
    ran(470000, 480000);
    put_at(GPURT_KIND_COPY, 1, T0 + 300000, &copy, sizeof copy);
    ran(400000, 420000);
    look();
    CHECK_EQ(view->activity.gpus[1].busy.ns, 1000000);
    CHECK_EQ(view->activity.gpus[1].busy.kernels, 400000);
    CHECK_EQ(view->activity.gpus[1].busy.copying, 100000);
    CHECK_EQ(view->activity.gpus[1].busy.waiting, 200000);
    CHECK_EQ(view->activity.gpus[1].busy.launching, 250000);
    CHECK_EQ(view->activity.gpus[1].busy.idle, 50000);
    CHECK_EQ(view->activity.gpus[1].recent.launching, 250000);
    CHECK_EQ(view->activity.gpus[1].recent_ns, T0 + 1000000);
    CHECK_EQ(view->timeline.busy[1][0].start_ns, T0);
    CHECK_EQ(view->timeline.busy[1][1].ns, 0);
}

static void check_rest(void)
{
    gpurt_activity_copy_t copy = {
        1, gpurt_pair(1 << 20), gpurt_pair(1000), 0, 0, GPURT_COPY_TO_HOST, 1, 0, 0};
    gpurt_activity_environment_t e = {
        91,   7,   gpurt_pair(1ull << 33), gpurt_pair(1ull << 37), 312000, 700000, 45,
        1980, 3201};
    gpurt_activity_collector_t c = {
        string("on"), gpurt_pair(1), gpurt_pair(2), gpurt_pair(3), 4, 5, 6};
    gpurt_activity_wait_t wait = {1, gpurt_pair(500), 0, 0, 1, 0};
    const gpurt_model_copy_t *copies;
    uint64_t rows;
    char text[24];

    put_at(GPURT_KIND_COPY, 0, T0, &copy, sizeof copy - 8); /* of an older file */
    copy.memory = GPURT_MEMORY_DEVICE | GPURT_MEMORY_PINNED << 8;
    put_at(GPURT_KIND_COPY, 0, T0, &copy, sizeof copy);
    copy.ns = gpurt_pair(GPURT_ACTIVITY_NO_TIME);
    put_at(GPURT_KIND_COPY, 0, T0, &copy, sizeof copy);
    copy.direction = 99; /* of a later version */
    put_at(GPURT_KIND_COPY, 0, T0, &copy, sizeof copy);
    put_at(GPURT_KIND_ENVIRONMENT, 1, T0 + 5, &e, sizeof e);
    e.gpu_percent = 1; /* an older one that comes later */
    put_at(GPURT_KIND_ENVIRONMENT, 1, T0 + 4, &e, sizeof e);
    put_at(GPURT_KIND_COLLECTOR, 0, T0 - 1, &c, sizeof c - 8); /* of an older file */
    look();
    CHECK_EQ(view->activity.starved, 4);
    CHECK_EQ(view->activity.unknown, 0);
    put_at(GPURT_KIND_COLLECTOR, 0, T0, &c, sizeof c);
    put_at(GPURT_KIND_WAIT, 0, T0, &wait, sizeof wait);
    put_at(GPURT_KIND_WAIT, 0, T0, &wait, sizeof wait - 8); /* of a file before contexts */
    look();
    rows = view->activity.rows;
    put_at(GPURT_KIND_WAIT, 0, T0, &wait, sizeof wait - 12); /* cut short */
    look();
    CHECK_EQ(view->activity.rows, rows);
    copies = view->activity.copies[GPURT_COPY_TO_HOST];
    CHECK_EQ(copies[GPURT_MEMORY_UNKNOWN].count, 1);
    CHECK_EQ(copies[GPURT_MEMORY_PINNED].count, 2);
    CHECK_EQ(copies[GPURT_MEMORY_PINNED].bytes, 2 << 20);
    CHECK_STR(activity_rate(&copies[GPURT_MEMORY_PINNED], text), "1048.58 GB/s");
    CHECK_EQ(view->activity.copies[GPURT_COPY_OTHER][0].count, 1);
    CHECK_EQ(view->activity.gpus[1].environment.gpu_percent, 91);
    CHECK_EQ(view->activity.waits.ns, 501000);
    CHECK_EQ(view->activity.starved, 4);
    CHECK_STR(view->activity.state, "on");
}

static bool on_canvas(const canvas_t *c, const char *text)
{
    size_t bytes = strlen(text);

    for (int i = 0; i + (int)bytes <= c->rows * c->columns; i++) {
        size_t same = 0;

        while (same < bytes && c->cells[i + (int)same].code == (uint8_t)text[same])
            same++;
        if (same == bytes)
            return true;
    }
    return false;
}

static void check_screen(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    canvas_t c = {.unicode = true};

    CHECK(canvas_resize(&c, 36, 160));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "GPU  5118 kernels, 5.46 s, 1 without times, 3 dropped by CUPTI"));
    CHECK(on_canvas(&c, "GPU 1  91%  8.0 GiB of 128.0 GiB  312 W  45 C  1980 MHz"));
    CHECK(on_canvas(
        &c, "2 records without times   no buffer 4 times   5 records of unknown kinds   "
            "6 samples left out"));
    CHECK(on_canvas(&c, "kernels 40% copies 10% completion latency 20% launch latency 25% "
                        "idle 5%"));
    CHECK(!on_canvas(&c, "completion latency among these"));
    CHECK(on_canvas(&c, "device to host, pinned 2, 2.0 MiB, 1048.58 GB/s"));
    CHECK(on_canvas(&c, " 91.5%      100     5.00 s   50.00 ms"));
    CHECK(on_canvas(&c,
                    "mean        min        p50        p99        max regs  shared  occ  "
                    "kernel"));
    CHECK(on_canvas(&c, "   50.00 ms    1.00 us    1.0"));
    CHECK(on_canvas(&c, " 40    1536  75%  fills"));
    CHECK(on_canvas(&c, " 40    1536    -  unknown"));
    CHECK(on_canvas(&c, "gemm<float>"));
    CHECK(on_canvas(&c, "GPU of test"));
    CHECK(!on_canvas(&c, "nothing has ended"));
    view->activity.waits.count = 0;
    CHECK(canvas_resize(&c, 36, 220));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c,
                    "idle 5%, completion latency among these: add host-waits to --cupti"));
    CHECK(canvas_resize(&c, 36, 50)); /* no room beside what is worth more */
    picture_draw(&p, &c);
    CHECK(!on_canvas(&c, "GPU of test"));
    CHECK(canvas_resize(&c, 36, 160));
    gpurt_model_view(model, T0 + 10000000000, GPURT_MODEL_REPLAY, view);
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "nothing has ended for 9 s"));
    CHECK(canvas_resize(&c, 36, 140)); /* names matter more */
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "mean        p50        p99        max regs  shared  occ  kernel"));
    p.shown = VIEW_OVERVIEW;
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "GPUs  (6 shows kernels)"));
    CHECK(on_canvas(&c, "GPU 1  91%"));
    canvas_fini(&c);
}

/* Names beyond the table are counted together; the order is that of time. */
static void check_crowd(void)
{
    uint16_t order[GPURT_MODEL_KERNEL_ROWS];
    activity_sum_t sum;
    char name[16];
    uint32_t count;

    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "k%u", i);
        put_kernel(string(name), i + 1);
    }
    look();
    count = gpurows_order(&view->activity, GPUROWS_KERNELS, 0, order);
    sum = activity_sum(&view->activity);
    CHECK_EQ(count, GPURT_MODEL_KERNELS + 1);
    CHECK_EQ(order[count - 1], GPURT_MODEL_KERNELS);
    CHECK_EQ(view->activity.kernels[GPURT_MODEL_KERNELS].times.count,
             NAMES + 5 - GPURT_MODEL_KERNELS);
    CHECK_EQ(sum.count, COUNT + 100 + 5 + STEADY + NAMES);
    for (uint32_t i = 1; i + 1 < count; i++)
        CHECK(view->activity.kernels[order[i - 1]].times.total_ns >=
              view->activity.kernels[order[i]].times.total_ns);
}

/* Rows of any kinds, sites, places and ticks, some late, as a drain may find them. */
static uint32_t row_any(gpurt_row_t *row, uint32_t i)
{
    static const uint8_t kinds[] = {GPURT_KIND_KERNEL, GPURT_KIND_KERNEL, GPURT_KIND_COPY,
                                    GPURT_KIND_LOG, GPURT_KIND_LOSS};
    static uint64_t seed = 42, time_ns = T0;
    uint32_t r;

    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    r = (uint32_t)(seed >> 32);
    time_ns += r % 97 ? r % 3000000 : 0 - 200000000ull;
    memset(row, 0, sizeof *row + 4 * GPURT_ACTIVITY_WORDS);
    *row = (gpurt_row_t){.time_ns = time_ns,
                         .site = 1 + (r >> 8) % 40 / 38,
                         .mask = 3,
                         .sm = (uint16_t)((r >> 12) % 30 / 29),
                         .kind = kinds[i / 50 % 5],
                         .section = (uint8_t)((r >> 16) % 30 / 29),
                         .form = (r >> 20) % 20 ? GPURT_FORM_THREAD : GPURT_FORM_LANES_PART,
                         .level = (uint8_t)(1 + (r >> 24) % 40 / 38),
                         .program = (uint8_t)((r >> 5) % 30 / 29),
                         .words = 14};
    gpurt_row_words(row)[0] = r % 5;
    gpurt_row_words(row)[1] = r % 9999;
    gpurt_row_words(row)[5] = gpurt_row_words(row)[11] = r % 11 / 10; /* the stream */
    return gpurt_row_bytes(row->words);
}

/* *view holds what the other one shows. */
static void check_same(const gpurt_model_t *m, const gpurt_model_t *single)
{
    gpurt_modelview_t *other = calloc(1, sizeof *other);

    CHECK(other);
    gpurt_model_view(m, gpurt_model_last_ns(single), GPURT_MODEL_LIVE, other);
    CHECK(memcmp(&view->numbers, &other->numbers, sizeof view->numbers) == 0);
    CHECK(memcmp(&view->activity, &other->activity, sizeof view->activity) == 0);
    CHECK(memcmp(&view->timeline, &other->timeline, sizeof view->timeline) == 0);
    free(other);
}

/* Many at once are the same as one by one, by an order or as they lie. */
static void check_together(void)
{
    enum {
        ROWS = 20000,
        ROW_BYTES = (32 + 4 * GPURT_ACTIVITY_WORDS + 7) / 8 * 8
    };
    gpurt_timed_t *order = calloc(ROWS, sizeof *order);
    uint8_t *rows = malloc((size_t)ROWS * ROW_BYTES);   /* one behind the other, */
    uint8_t *places = malloc((size_t)ROWS * ROW_BYTES); /* and anywhere */
    gpurt_model_t *together, *lying, *single;
    uint32_t used = 0;

    CHECK(order && rows && places);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &together, &err), GPURT_OK);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &lying, &err), GPURT_OK);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &single, &err), GPURT_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        gpurt_row_t *row = (gpurt_row_t *)(rows + used);
        uint32_t bytes = row_any(row, i);

        order[i] = (gpurt_timed_t){row->time_ns, i * 7919u % ROWS * ROW_BYTES};
        memcpy(places + order[i].offset, row, bytes);
        used += bytes;
        gpurt_model_put(single, row);
    }
    used = 0;
    for (uint32_t i = 0, some; i < ROWS; i += some) {
        some = 1 + i * 7 % 900 < ROWS - i ? 1 + i * 7 % 900 : ROWS - i;
        gpurt_model_put_all(together, places, order + i, some);
        gpurt_model_put_all(lying, rows + used, NULL, some);
        for (uint32_t k = 0; k < some; k++)
            used += gpurt_row_bytes(((const gpurt_row_t *)(rows + used))->words);
    }
    memset(view, 0, sizeof *view);
    gpurt_model_view(single, gpurt_model_last_ns(single), GPURT_MODEL_LIVE, view);
    CHECK(view->numbers.messages > ROWS / 2 && view->activity.kernel_count == 5);
    check_same(together, single);
    check_same(lying, single);
    gpurt_model_destroy(together);
    gpurt_model_destroy(lying);
    gpurt_model_destroy(single);
    free(order);
    free(rows);
    free(places);
}

static void put_graph(uint32_t graph, uint64_t ns, uint32_t nodes)
{
    gpurt_activity_graph_t g = {graph, gpurt_pair(ns), 7, 1, 1, nodes};

    /* Files before the count of nodes end before it. */
    put_at(GPURT_KIND_GRAPH, 0, T0, &g, nodes ? sizeof g : sizeof g - 4);
}

static void write_plain(FILE *out, const gpurt_model_activity_t *a)
{
    activity_plain(out, a, 20);
}

/* One of each said "1 samples". */
static void check_one_each(void)
{
    static const char *const plain[] = {
        "\ncollector  on; 3 dropped by CUPTI, no buffer 1 time, 2 without times, 5 of "
        "unknown kinds, 1 sample left out\n",
        NULL};
    gpurt_model_activity_t *a = malloc(sizeof *a);

    CHECK(a != NULL);
    *a = view->activity;
    a->starved = a->samples_left_out = 1;
    check_written(write_plain, a, plain);
    free(a);
}

/* The only collector, of check_rest: its state is in one line with the sums, as long as it may
 * be. */
static void check_collector(void)
{
    static const char *const plain[] = {
        "\ncollector  on; 3 dropped by CUPTI, no buffer 4 times, 2 without times, 5 of "
        "unknown kinds, 6 samples left out\n",
        NULL};
    static const char *const json[] = {
        ",\"collector\":{\"bad\":2,\"cupti_dropped\":3,\"starved\":4,\"unknown\":5,"
        "\"samples_left_out\":6,\"state\":\"on\"},\"collectors\":[{\"pid\":null,"
        "\"program\":\"\",\"state\":\"on\",\"on\":true,\"records\":1,\"bad\":2,"
        "\"cupti_dropped\":3,\"starved\":4,\"unknown\":5,\"samples_left_out\":6}],"
        "\"collectors_left_out\":0,\"copies\":[",
        NULL};
    char state[GPURT_MODEL_STATE + 100] = "no records of kernels: \x1b";
    char line[GPURT_MODEL_STATE + 100];
    const char *const long_one[] = {line, NULL};
    const size_t begun = strlen(state);
    gpurt_activity_collector_t c = {0, gpurt_pair(1), gpurt_pair(2), gpurt_pair(3), 4, 5,
                                    6};

    CHECK_EQ(view->activity.collector_count, 1);
    CHECK_EQ(view->activity.collectors_troubled, 0);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
    check_one_each();
    memset(state + begun, 'x', sizeof state - 1 - begun);
    c.state = string(state);
    put_at(GPURT_KIND_COLLECTOR, 0, T0, &c, sizeof c);
    look();
    CHECK_EQ(view->activity.collectors_troubled, 1);
    state[GPURT_MODEL_STATE - 1] = '\0';
    CHECK_STR(view->activity.collectors[0].state, state);
    CHECK_STR(view->activity.state, state);
    snprintf(line, sizeof line,
             "\ncollector  no records of kernels: \\x1b%s; 3 dropped by CUPTI, ",
             state + begun);
    check_written(write_plain, &view->activity, long_one);
}

/* A graph that is launched whole has a row among the kernels and is none of them, even where
 * its number is that of a kernel's name. */
static void check_graph_rows(uint32_t name)
{
    static const char *const plain[] = {
        "kernels    2 of 1 name, 40 ns on GPUs",
        "graphs     launches: 4, 60 ns on GPUs; their kernels are not told apart ",
        "(GPURT_CUPTI=default,nodes)\n",
        " 40.00%         2      40 ns      20 ns      20 ns",
        " 30.00%         3      30 ns      15 ns      10 ns ",
        "      30 ns    -      -    -  graph 4000000000\n",
        NULL};
    static const char *const json[] = {
        "{\"kernels\":2,\"kernel_ns\":40,",
        "\"graphs\":4,\"graph_ns\":60,",
        "\"kernel_list\":[{\"name\":\"inside\",\"count\":2,",
        "],\"graph_list\":[{\"graph\":",
        ("\"nodes\":35,\"count\":3,\"untimed\":1,\"total_ns\":30,"
         "\"share_percent\":30.00,\"mean_ns\":15,\"min_ns\":10,"),
        "{\"graph\":4000000000,\"nodes\":null,\"count\":1,",
        NULL};
    char called[64];
    const gpurt_model_kernel_t *row;

    put_kernel(name, 20);
    put_kernel(name, 20);
    put_graph(name, 20, 35);
    put_graph(name, 10, 0);
    put_graph(name, GPURT_ACTIVITY_NO_TIME, 35);
    put_graph(4000000000u, 30, 0);
    look();
    snprintf(called, sizeof called, "graph %u (35 nodes)", name);
    row = kernel(called);
    CHECK_EQ(row->times.count, 3);
    CHECK_EQ(row->times.total_ns, 30);
    CHECK_EQ(row->times.max_ns, 20);
    CHECK_EQ(kernel("inside")->times.count, 2);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* A server has thousands of graphs: they leave kernels their rows. */
static void check_graph_crowd(void)
{
    for (uint32_t i = 0; i < 2 * GPURT_MODEL_GRAPHS; i++)
        put_graph(1000000 + i, 1, 9);
    put_kernel(string("a kernel behind"), 1);
    look();
    CHECK_EQ(kernel("a kernel behind")->times.count, 1);
    CHECK_EQ(kernel("(all other graphs)")->times.count, GPURT_MODEL_GRAPHS + 2);
    CHECK_EQ(view->activity.graphs.count, 4 + 2 * GPURT_MODEL_GRAPHS);
}

static void check_graphs(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_GPU};
    gpurt_model_t *before = model;
    canvas_t c = {.unicode = true};

    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    memset(view, 0, sizeof *view);
    check_graph_rows(string("inside"));
    check_graph_crowd();
    CHECK(canvas_resize(&c, 36, 160));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "GPU  3 kernels, 41 ns, 132 launches of graphs, 188 ns"));
    CHECK(on_canvas(&c, "graph 4000000000"));
    CHECK(on_canvas(&c, "(35 nodes)"));
    canvas_fini(&c);
    gpurt_model_destroy(model);
    model = before;
}

/* Each kind that the collector writes has a word of its own in lines and exports. */
static void check_words(void)
{
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++) {
        uint32_t kind = gpurt_activity_sites[i].kind;
        const char *word = gpurt_kind_word(kind);

        if (kind >= GPURT_KIND_CUPTI && kind < GPURT_KIND_HOST)
            CHECK(word && strcmp(word, "other") != 0);
    }
    CHECK(strcmp(gpurt_kind_word(GPURT_KIND_DEVICE_GRAPH), "graph") == 0);
    CHECK(strcmp(gpurt_kind_word(GPURT_KIND_DEVICE_NODE), "kernel") == 0);
    CHECK(strcmp(gpurt_kind_word(GPURT_KIND_HOST - 1), "other") == 0);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    check_words();
    in_model(check_long);
    view = calloc(1, sizeof *view);
    CHECK(view && gpurt_model_create(&dictionary, NULL, &model, &err) == GPURT_OK);
    look();
    CHECK_EQ(view->activity.rows, 0);
    check_kernels();
    check_occupancy();
    check_busy();
    check_rest();
    check_screen();
    check_collector();
    check_crowd();
    check_together();
    check_graphs();
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    free(view);
    return 0;
}
