/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs did in a log of several processes, each with numbers of its own: graphs are told
 * apart, kernels are summed by name; a GPU is one whatever it is called, and two that are
 * called alike are two; whatever the order of rows. */
#include "activity_text.h"
#include "check.h"
#include "model.h"
#include "program.h"
#include "written.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define T0 1700000000000000000ull

enum {
    PID = 101, /* of program 0, one more of each behind it */
    PROGRAMS = 20,
    STEPS = 256
};

/* A row that is put, as often as a model is made. */
typedef struct step {
    gpurt_row_t row;
    uint32_t words[GPURT_ACTIVITY_WORDS];
} step_t;

static gpurt_dictionary_t dictionary;
static gpurt_modelview_t *view, *other;
static gpurt_error_t err;
static step_t steps[STEPS];
static uint32_t step_count;

static void step_put(uint32_t program, uint32_t device, uint32_t kind, uint64_t time_ns,
                     const void *words, size_t bytes)
{
    step_t *s = &steps[step_count++];

    CHECK(step_count <= STEPS);
    memset(s, 0, sizeof *s);
    s->row = (gpurt_row_t){.time_ns = time_ns,
                           .kind = (uint8_t)kind,
                           .block = device,
                           .mask = 1,
                           .form = GPURT_FORM_THREAD,
                           .level = GPURT_LEVEL_TRACE,
                           .program = (uint8_t)program,
                           .words = (uint16_t)(bytes / 4)};
    memcpy(s->words, words, bytes);
}

/* uuid: of a GPU, 0: it is not told. */
static void put_device(uint32_t program, uint32_t device, uint8_t uuid, uint32_t sms_75)
{
    gpurt_activity_device_t of_90 = {9,     0,     132,        32,   2048, 32,
                                     65536, 65536, 228 * 1024, 1024, {0},  0};
    gpurt_activity_device_t of_75 = {7,     5,     40,        32, 1024, 16,
                                     65536, 65536, 64 * 1024, 0,  {0},  0};
    gpurt_activity_device_t d = sms_75 ? of_75 : of_90;

    d.uuid[15] = uuid;
    step_put(program, device, GPURT_KIND_DEVICE, T0, &d, sizeof d);
}

/* A kernel that begins as late as it is long. */
static void put_busy(uint32_t program, uint32_t device, uint64_t ns)
{
    gpurt_activity_kernel_t k = {.ns = gpurt_pair(ns), .stream = 7, .context = device + 1};

    step_put(program, device, GPURT_KIND_KERNEL, T0 + ns, &k, sizeof k);
}

static void put_celsius(uint32_t program, uint32_t device, uint32_t celsius)
{
    gpurt_activity_environment_t e = {.celsius = celsius};

    step_put(program, device, GPURT_KIND_ENVIRONMENT, T0 + celsius, &e, sizeof e);
}

static void put_sample(uint32_t program, uint32_t device, int32_t percent)
{
    gpurt_activity_sample_t s = {gpurt_pair(1000000), {percent, -1, -1, -1, -1}};

    step_put(program, device, GPURT_KIND_SAMPLE, T0, &s, sizeof s);
}

static void put_kernel(uint32_t program, uint32_t name, uint64_t ns)
{
    gpurt_activity_kernel_t k = {.name = name,
                                 .ns = gpurt_pair(ns),
                                 .grid = {1, 1, 1},
                                 .block = {256, 1, 1},
                                 .registers = 40,
                                 .shared_bytes = 1536,
                                 .stream = 7,
                                 .context = 1};

    step_put(program, 0, GPURT_KIND_KERNEL, T0, &k, sizeof k);
}

static void put_graph(uint32_t program, uint32_t graph, uint64_t ns, uint32_t nodes)
{
    gpurt_activity_graph_t g = {graph, gpurt_pair(ns), 7, 1, 1, nodes};

    step_put(program, 0, GPURT_KIND_GRAPH, T0, &g, sizeof g);
}

/* All that was put so far, from the first on or from the last. */
static void look_at(gpurt_modelview_t *v, bool backwards)
{
    gpurt_model_t *m;

    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &m, &err), GPURT_OK);
    for (uint32_t i = 0; i < step_count; i++)
        gpurt_model_put(m, &steps[backwards ? step_count - 1 - i : i].row);
    memset(v, 0, sizeof *v);
    gpurt_model_view(m, T0, GPURT_MODEL_REPLAY, v);
    gpurt_model_destroy(m);
}

/* Into *view, the same either way; nothing is left for the next look. */
static void look(void)
{
    look_at(view, false);
    look_at(other, true);
    CHECK(memcmp(view->activity.gpus, other->activity.gpus, sizeof view->activity.gpus) ==
          0);
    CHECK_EQ(view->activity.gpus_left_out, other->activity.gpus_left_out);
    CHECK(memcmp(view->activity.collectors, other->activity.collectors,
                 sizeof view->activity.collectors) == 0);
    step_count = 0;
}

static uint32_t string(const char *text)
{
    gpurt_site_info_t info = {
        .kind = GPURT_DEF_STRING, .format = text, .format_bytes = (uint32_t)strlen(text)};

    return gpurt_dictionary_add(&dictionary, &info);
}

static void write_plain(FILE *out, const gpurt_model_activity_t *a)
{
    activity_plain(out, a, 0);
}

static const gpurt_model_gpu_t *gpu(uint32_t place)
{
    return &view->activity.gpus[place];
}

/* ---- whose a GPU is ------------------------------------------------------------------ */

/* One sees both GPUs, the other one only the second, and calls it 0. */
static void check_one_of_both(void)
{
    put_busy(1, 0, 1000);
    put_busy(0, 0, 1);
    put_busy(0, 1, 10);
    put_celsius(1, 0, 70);
    put_celsius(0, 0, 50);
    put_celsius(0, 1, 69);
    put_device(0, 0, 1, 0);
    put_device(0, 1, 2, 0);
    put_device(1, 0, 2, 0);
    look();
    CHECK_EQ(gpu(0)->busy.kernels, 1);
    CHECK_EQ(gpu(0)->environment.celsius, 50);
    CHECK_EQ(gpu(0)->uuid[15], 1);
    CHECK_EQ(gpu(0)->other_names, 0);
    CHECK_EQ(gpu(1)->busy.kernels, 1010);
    CHECK_EQ(gpu(1)->busy.ns, 1990); /* one clock for both */
    CHECK_EQ(gpu(1)->recent.ns, 1990);
    CHECK_EQ(gpu(1)->environment.celsius, 70);
    CHECK_EQ(gpu(1)->uuid[15], 2);
    CHECK_EQ(gpu(1)->other_names, 1);
    CHECK_EQ(gpu(1)->other_pid, PID + 1);
    CHECK_EQ(gpu(1)->other_number, 0);
    CHECK_EQ(gpu(2)->busy.ns, 0);
}

/* Each has one GPU, which it calls 0; the last two share theirs. */
static void check_one_each(void)
{
    for (uint32_t program = 0; program < 4; program++) {
        put_busy(program, 0, 1ull << program);
        put_device(program, 0, program < 3 ? (uint8_t)(9 - program) : 7, 0);
        put_sample(program, 0, 1000 * (int32_t)(program + 1));
        put_kernel(program, 0, 5);
    }
    look();
    for (uint32_t place = 0; place < 3; place++) {
        uint32_t mean = 0;

        CHECK_EQ(gpu(place)->busy.kernels, place < 2 ? 5 : 16); /* some at once */
        CHECK_EQ(gpu(place)->other_names, place == 2 ? 2 : place > 0);
        CHECK_EQ(gpu(place)->other_pid, place ? PID + place : 0);
        CHECK(gpurt_timeline_sample(&view->timeline, place, T0, 0, &mean));
        CHECK_EQ(mean, place < 2 ? 1000 * (place + 1) : 3500);
    }
    CHECK_EQ(gpu(3)->busy.ns, 0);
    CHECK_EQ(view->timeline.lane_count, 4);
    for (uint32_t lane = 0; lane < 4; lane++) {
        CHECK_EQ(view->timeline.lanes[lane].pid, PID + lane);
        CHECK_EQ(view->timeline.lanes[lane].gpu, lane < 3 ? lane : 2);
        CHECK_EQ(view->timeline.lanes[lane].device, 0);
    }
}

/* Logs of before tell of no UUID: numbers are all that is known, and what has none stands
 * before those that have and must go elsewhere. */
static void check_unknown(void)
{
    put_busy(0, 0, 1);
    put_busy(0, 1, 2);
    put_busy(1, 0, 4);
    put_device(0, 0, 0, 0);
    put_device(1, 0, 0, 0);
    put_device(2, 0, 3, 0);
    put_busy(2, 0, 8);
    put_device(3, 0, 4, 0);
    put_busy(3, 0, 16);
    look();
    CHECK_EQ(gpu(0)->busy.kernels, 1 + 4 + 8);
    CHECK_EQ(gpu(1)->busy.kernels, 2);
    CHECK_EQ(gpu(2)->busy.kernels, 16);
    CHECK_EQ(gpu(2)->other_pid, PID + 3);
}

/* More GPUs than there are places; numbers that are none; processes that share a number. */
static void check_crowd(void)
{
    static const char *const plain[] = {
        "GPU 7 (0 of process 108) of 256 ns: ",
        "GPUs       11 records of others, for which there is no room\n", NULL};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    for (uint32_t program = 0; program < 10; program++) {
        put_device(program, 0, (uint8_t)(1 + program), 0);
        put_busy(program, 0, 1ull << program);
        put_celsius(program, 0, 40);
        put_kernel(program, 0, 5);
    }
    put_busy(0, GPURT_MODEL_DEVICES, 1);
    put_busy(0, 4000000000u, 1);
    put_device(GPLOG_PROGRAM_OTHERS, 0, 1, 0);
    put_busy(GPLOG_PROGRAM_OTHERS, 0, 1);
    put_celsius(GPLOG_PROGRAM_OTHERS, 0, 99);
    put_kernel(GPLOG_PROGRAM_OTHERS, 0, 5);
    look();
    CHECK_EQ(view->activity.gpus_left_out, 2 * 3 + 5);
    for (uint32_t place = 0; place < GPURT_MODEL_DEVICES; place++) {
        CHECK_EQ(gpu(place)->busy.kernels, place < 2    ? 5
                                           : place == 2 ? 8
                                                        : 5 + (1u << place));
        CHECK_EQ(gpu(place)->environment.celsius, 40);
    }
    for (uint32_t lane = 0; lane < 8; lane++)
        CHECK_EQ(view->timeline.lanes[lane].gpu, lane);
    for (uint32_t lane = 8; lane < 13; lane++) /* nowhere */
        CHECK(view->timeline.lanes[lane].gpu >= GPURT_MODEL_DEVICES);
    CHECK_EQ(view->timeline.lanes[12].pid, 0);
    CHECK(out != NULL);
    activity_plain(out, &view->activity, 0);
    fclose(out);
    for (uint32_t i = 0; plain[i]; i++)
        CHECK_CONTAINS(text, plain[i]);
    free(text);
}

/* So many processes that see so many GPUs each that there is no room to tell them apart. */
static void check_full(void)
{
    for (uint32_t i = 0; i < STEPS - 1; i++)
        put_celsius(i / GPURT_MODEL_DEVICES, i % GPURT_MODEL_DEVICES, 40);
    put_kernel(200, 0, 5);
    look_at(view, false);
    step_count = 0;
    CHECK_EQ(view->activity.gpus_left_out, STEPS - 128);
    CHECK_EQ(gpu(0)->environment.celsius, 40);
    CHECK_EQ(view->timeline.lanes[0].gpu, GPURT_MODEL_DEVICES);
}

/* Of devices that nobody told anything of none can be another's GPU: each has an account, as
 * long as there are any. One that turns out to be another's gives its own back. */
static void check_accounts(void)
{
    for (uint32_t i = 0; i < 24; i++)
        put_busy(i / GPURT_MODEL_DEVICES, i % GPURT_MODEL_DEVICES, 1);
    look_at(view, false);
    CHECK_EQ(view->activity.gpus_left_out, 12);
    CHECK_EQ(gpu(0)->busy.ns, 2);
    put_device(0, 1, 3, 0);
    put_device(1, 2, 3, 0); /* the same */
    put_busy(1, 2, 100);
    put_busy(4, 0, 1000); /* has found room */
    put_busy(4, 1, 1000);
    look_at(view, false);
    CHECK_EQ(view->activity.gpus_left_out, 12 + 1);
    CHECK_EQ(gpu(0)->busy.kernels, 2 + 1000);
    CHECK_EQ(gpu(1)->busy.kernels, 1 + 1 + 100);
    CHECK_EQ(gpu(2)->busy.kernels, 1);
    step_count = 0;
}

/* Two runs of a program into one log: between them nobody watched. */
static void check_runs(void)
{
    put_device(0, 0, 1, 0);
    put_busy(0, 0, 1000);
    put_device(1, 0, 1, 0);
    steps[step_count - 1].row.time_ns = T0 + 60000000000;
    put_busy(1, 0, 61000000000);
    look_at(view, false);
    CHECK_EQ(gpu(0)->busy.kernels, 61000001000);
    CHECK_EQ(gpu(0)->busy.idle, 1000000000);
    put_busy(2, 0, 5); /* another device of that number, which is not known */
    look_at(view, false);
    CHECK_EQ(gpu(0)->busy.kernels, 61000001005);
    step_count = 0;
}

/* ---- kernels and graphs -------------------------------------------------------------- */

static const gpurt_model_kernel_t *kernel(const char *name)
{
    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++)
        if (strcmp(view->activity.kernels[i].name, name) == 0)
            return &view->activity.kernels[i];
    CHECK_MSG(false, "no kernel %s", name);
    return NULL;
}

/* What the last launch could reach is a matter of the device that it ran on. */
static void check_occupancy(uint32_t name)
{
    put_device(0, 0, 1, 0);
    put_device(1, 0, 2, 1);
    put_kernel(0, name, 5);
    put_kernel(1, name, 6);
    look_at(view, false);
    CHECK_EQ(kernel("gemm")->times.count, 2);
    CHECK_EQ(kernel("gemm")->times.total_ns, 11);
    CHECK_EQ(kernel("gemm")->occupancy, 10000);
    put_kernel(0, name, 5);
    look_at(view, false);
    CHECK_EQ(kernel("gemm")->occupancy, 7500);
    put_kernel(2, name, 5); /* told nothing: it goes by its number */
    look_at(view, false);
    CHECK_EQ(kernel("gemm")->occupancy, 7500);
    step_count = 0;
    put_device(0, 0, 0, 0); /* which GPU it is is not known, but what it holds */
    put_device(1, 0, 0, 1);
    put_kernel(1, name, 6);
    look_at(view, false);
    CHECK_EQ(kernel("gemm")->occupancy, 10000);
    step_count = 0;
}

static void check_graphs(void)
{
    static const char want[] = "{\"graph\":3,\"nodes\":9,\"count\":1,\"untimed\":0,"
                               "\"total_ns\":700,\"share_percent\":94.59,\"mean_ns\":700,"
                               "\"min_ns\":700,\"p50_ns\":700,\"p99_ns\":700,"
                               "\"max_ns\":700,\"pid\":102}";
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    gpurt_model_t *m;

    put_graph(0, 3, 10, 5);
    put_graph(0, 3, 30, 5);
    put_graph(0, 4, 0, 5);
    put_graph(1, 3, 700, 9);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &m, &err), GPURT_OK);
    memset(view, 0, sizeof *view);
    gpurt_model_put(m, &steps[0].row);
    gpurt_model_put(m, &steps[1].row);
    gpurt_model_put(m, &steps[2].row);
    gpurt_model_view(m, T0, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(kernel("graph 3 (5 nodes)")->times.count, 2); /* nobody else has any */
    gpurt_model_put(m, &steps[3].row);
    gpurt_model_view(m, T0, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(kernel("graph 3 (5 nodes) of 101")->times.total_ns, 40);
    CHECK_EQ(kernel("graph 3 (9 nodes) of 102")->times.total_ns, 700);
    CHECK_EQ(view->activity.graphs.count, 4);
    gpurt_model_destroy(m);
    CHECK(out != NULL);
    write_json(out, &view->activity);
    fclose(out);
    CHECK_CONTAINS(text, want);
    free(text);
    step_count = 0;
}

/* Each collector counts for itself; the last word is that of the one that spoke last. */
static void check_collectors(uint32_t state)
{
    gpurt_activity_collector_t c = {
        state, gpurt_pair(100), gpurt_pair(1), gpurt_pair(20), 300, 4000, 50000};

    step_put(0, 0, GPURT_KIND_COLLECTOR, T0 + 2, &c, sizeof c);
    c.state = 0;
    c.bad = gpurt_pair(2);
    step_put(1, 0, GPURT_KIND_COLLECTOR, T0, &c, sizeof c);
    c.dropped = gpurt_pair(30);
    step_put(1, 0, GPURT_KIND_COLLECTOR, T0 + 1, &c, sizeof c);
    look();
    CHECK_EQ(view->activity.bad, 3);
    CHECK_EQ(view->activity.dropped, 50);
    CHECK_EQ(view->activity.starved, 600);
    CHECK_EQ(view->activity.unknown, 8000);
    CHECK_EQ(view->activity.samples_left_out, 100000);
    CHECK_STR(view->activity.state, "gemm");
}

static void put_collector(uint32_t program, uint64_t time_ns, const char *state,
                          uint32_t records)
{
    gpurt_activity_collector_t c = {.state = string(state), .records = gpurt_pair(records)};

    step_put(program, 0, GPURT_KIND_COLLECTOR, T0 + time_ns, &c, sizeof c);
}

/* One that is broken stands before those that are on, whoever spoke last, with whose it is; of
 * each what it said last. */
static void check_troubles(void)
{
    static const char clash[] = "no records of kernels: another profiler holds CUPTI",
                      part[] = "on; CUPTI refuses records of overhead";
    static const char *const plain[] = {
        "collector  rank[103]: no records of kernels: another profiler holds CUPTI\n"
        "collector  rank[105]: no records of kernels: another profiler holds CUPTI\n"
        "collector  rank[102]: on; CUPTI refuses records of overhead\n"
        "collector  2 of 5 processes plainly on; 0 dropped by CUPTI, ",
        NULL};
    static const char *const json[] = {
        "\"state\":\"on\"},\"collectors\":[{\"pid\":103,\"program\":\"rank\",\"state\":"
        "\"no records of kernels: another profiler holds CUPTI\",\"on\":false,"
        "\"records\":3,",
        "{\"pid\":102,\"program\":\"rank\",\"state\":\"on; CUPTI refuses records of "
        "overhead\",\"on\":false,\"records\":2,",
        "{\"pid\":101,\"program\":\"rank\",\"state\":\"on\",\"on\":true,\"records\":9,",
        "],\"collectors_left_out\":0,", NULL};

    put_collector(0, 1, clash, 1);
    put_collector(0, 9, "on", 9);
    put_collector(1, 2, part, 2);
    put_collector(2, 3, clash, 3);
    put_collector(3, 1, "on", 1);
    put_collector(4, 1, "on", 1);
    put_collector(4, 5, clash, 5);
    look();
    CHECK_EQ(view->activity.collector_count, 5);
    CHECK_EQ(view->activity.collectors_troubled, 3);
    CHECK_EQ(view->activity.collectors[0].pid, 103);
    CHECK_EQ(view->activity.collectors[3].pid, 101);
    CHECK_STR(view->activity.state, "on");
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* More than there are rows for; all well; and the only one of several processes. */
static void check_many_collectors(void)
{
    static const char *const crowd[] = {
        "collector  rank[120]: no records of kernels: why\ncollector  rank[101]: (no room "
        "for more "
        "names)\n",
        "collector  rank[115]: (no room for more names)\n"
        "collector  nor are 4 more plainly on\n"
        "collector  0 of 20 processes plainly on; 0 dropped",
        NULL};
    static const char *const left_out[] = {"],\"collectors_left_out\":4,", NULL};
    static const char *const well[] = {"collector  on; 0 dropped by CUPTI, ", NULL};
    static const char *const only[] = {
        "collector  rank[106]: no records of kernels: why; 0 dropped by CUPTI, ", NULL};

    for (uint32_t i = 0; i < PROGRAMS; i++)
        put_collector(i, i,
                      i < PROGRAMS - 1 ? "(no room for more names)"
                                       : "no records of kernels: why",
                      1);
    look();
    CHECK_EQ(view->activity.collectors_troubled, PROGRAMS);
    check_written(write_plain, &view->activity, crowd);
    check_written(write_json, &view->activity, left_out);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        put_collector(i, i, "on", 1);
    look();
    check_written(write_plain, &view->activity, well);
    check_written(write_json, &view->activity, left_out);
    put_collector(5, 1, "no records of kernels: why", 0);
    look();
    check_written(write_plain, &view->activity, only);
    put_collector(5, 1, "on", 0);
    look();
    check_written(write_plain, &view->activity, well);
}

/* ---- as it is shown ------------------------------------------------------------------ */

static void check_texts(void)
{
    gpurt_model_gpu_t g = {.other_names = 0};
    char name[ACTIVITY_GPU];
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK_STR(activity_gpu(3, &g, name), "GPU 3");
    g = (gpurt_model_gpu_t){.other_names = 1, .other_pid = 10801, .other_number = 0};
    CHECK_STR(activity_gpu(1, &g, name), "GPU 1 (0 of process 10801)");
    g.other_names = UINT32_MAX;
    g.other_pid = g.other_number = UINT32_MAX;
    CHECK_STR(activity_gpu(7, &g, name),
              "GPU 7 (4294967295 of process 4294967295 and 4294967294 more)");
    put_busy(0, 0, 100);
    put_device(0, 0, 0xab, 0);
    put_busy(1, 0, 100);
    put_device(1, 0, 0xcd, 0);
    look();
    CHECK(out != NULL);
    write_json(out, &view->activity);
    fclose(out);
    CHECK_CONTAINS(text,
                   "\"idle_ns\":0,\"uuid\":\"00000000-0000-0000-0000-0000000000ab\"}");
    CHECK_CONTAINS(text, "\"uuid\":\"00000000-0000-0000-0000-0000000000cd\",\"called\":"
                         "{\"device\":0,\"pid\":102,\"more\":0}}],\"gpus_left_out\":0,");
    free(text);
}

int main(void)
{
    uint32_t name;
    gpurt_site_info_t gemm = {
        .kind = GPURT_DEF_STRING, .format = "gemm", .format_bytes = 4};

    setlocale(LC_ALL, "C.UTF-8");
    view = calloc(1, sizeof *view);
    other = calloc(1, sizeof *other);
    CHECK(view && other);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        gpurt_box_identity_t id = {.pid = PID + i, .start_ticks = 1, .program = "rank"};

        CHECK_EQ(gplog_program_add(&dictionary, &id), i);
    }
    name = gpurt_dictionary_add(&dictionary, &gemm);
    check_one_of_both();
    check_one_each();
    check_unknown();
    check_crowd();
    check_full();
    check_accounts();
    check_runs();
    check_occupancy(name);
    check_graphs();
    check_collectors(name);
    check_troubles();
    check_many_collectors();
    check_texts();
    free(view);
    free(other);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
