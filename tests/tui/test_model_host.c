/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and ranges by name, as the model adds them up: counts, times and errors worked out here,
 * ranges whose records come in any order, come alone or are too many at a time, more names than
 * there is room for; and what is written of them. */
#include "activity_text.h"
#include "model_stage.h"
#include "written.h"

enum {
    OPEN = 4096, /* ranges that may be open at a time, */
    EARLY = 512  /* and ends that may wait for their beginnings */
};

static void put_call(const char *name, uint64_t ns, uint32_t result)
{
    gpurt_activity_call_t call = {string(name), gpurt_pair(ns), result, 77, 1};

    put(GPURT_KIND_CALL, T0, &call, sizeof call);
}

static void put_range(const char *what, const char *name, const char *domain, uint32_t id,
                      uint64_t at)
{
    gpurt_activity_range_t range = {string(what), string(name), string(domain), id, 77};

    put(GPURT_KIND_RANGE, T0 + at, &range, sizeof range);
}

static void begin(const char *name, uint32_t id, uint64_t at)
{
    put_range("begin", name, "default", id, at);
}

static void end(uint32_t id, uint64_t at)
{
    put_range("end", "", "default", id, at);
}

static const gpurt_model_host_row_t *find(const gpurt_model_host_rows_t *rows,
                                          const char *name)
{
    for (uint32_t i = 0; i <= GPURT_MODEL_HOST_ROWS; i++)
        if (strcmp(rows->list[i].name, name) == 0)
            return &rows->list[i];
    CHECK_MSG(false, "no row %s", name);
    return NULL;
}

static const gpurt_model_host_row_t *range(const char *name)
{
    return find(&view->activity.range_rows, name);
}

static void write_plain(FILE *out, const gpurt_model_activity_t *a)
{
    activity_plain(out, a, 20);
}

/* ---- calls --------------------------------------------------------------------------- */

static void check_calls(void)
{
    static const char *const plain[] = {
        "calls      103 of 3 names, 7.01 ms, 1 without times, 4 with errors\n",
        ("  share     count      total       mean        min        p50        p99        "
         "max"
         "  errors  call\n"),
        " 99.86%         2    7.00 ms    3.50 ms    2.00 ms",
        "    5.00 ms       1  cudaMalloc\n",
        "  0.14%       100   10.00 us     100 ns     100 ns",
        "       3  cudaLaunchKernel\n",
        "  0.00%         1          -          -          -",
        "       0  cuInit\n",
        NULL};
    static const char *const json[] = {
        ("\"call_list\":[{\"name\":\"cudaMalloc\",\"count\":2,\"untimed\":0,\"total_ns\":"
         "7000000,\"share_percent\":99.86,\"mean_ns\":3500000,\"min_ns\":2000000,"),
        "\"max_ns\":5000000,\"errors\":1},{\"name\":\"cudaLaunchKernel\",\"count\":100,",
        "{\"name\":\"cuInit\",\"count\":1,\"untimed\":1,\"total_ns\":0,",
        "\"max_ns\":null,\"errors\":0}],\"range_list\":[],", NULL};
    const gpurt_model_host_row_t *row;

    put_call("cuInit", GPURT_ACTIVITY_NO_TIME, 0);
    for (uint32_t i = 0; i < 100; i++)
        put_call("cudaLaunchKernel", 100, i % 40 == 0 ? 700 : 0);
    put_call("cudaMalloc", 5000000, 2);
    look();
    CHECK_EQ(find(&view->activity.call_rows, "cudaMalloc")->times.count, 1);
    put_call("cudaMalloc", 2000000, 0);
    look();
    row = find(&view->activity.call_rows, "cudaMalloc");
    CHECK_EQ(row->times.count, 2);
    CHECK_EQ(row->times.min_ns, 2000000);
    CHECK_EQ(row->times.max_ns, 5000000);
    row = find(&view->activity.call_rows, "cudaLaunchKernel");
    CHECK_EQ(row->more, 3);
    CHECK_EQ(row->times.p99_ns, 100);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* Names beyond the table are counted together, and stand last however long they took. */
static void check_crowd(void)
{
    static const char *const plain[] = {"calls      71 of more than 64 names, ",
                                        "and more than 44 more names\n", NULL};
    static const char *const json[] = {
        "\"call_list\":[{\"name\":\"call 5\",\"count\":2,", "{\"name\":\"call 0\",",
        "{\"name\":\"(all others)\",\"count\":6,\"untimed\":0,\"total_ns\":6000,", NULL};
    char name[32];

    for (uint32_t i = 0; i < GPURT_MODEL_HOST_ROWS + 6; i++) {
        snprintf(name, sizeof name, "call %u", i);
        put_call(name, i < GPURT_MODEL_HOST_ROWS ? i : 1000, 0);
    }
    put_call("call 5", 100, 0); /* it has its row still */
    look();
    CHECK_EQ(view->activity.call_rows.count, GPURT_MODEL_HOST_ROWS);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* ---- ranges -------------------------------------------------------------------------- */

static void check_ranges(void)
{
    static const char *const plain[] = {
        "ranges     5 of 5 names, 1 without an end, 1 end without a beginning, 3 marks\n",
        "        max   marks  range\n",
        " 48.78%         1    1.00 us    1.00 us    1.00 us",
        "       0  step\n",
        " 29.27%         2     600 ns     300 ns     100 ns",
        "       2  load\n",
        "       0  load (torch)\n",
        "  0.00%         0          -          -          -",
        "       1  here\n",
        "  0.00%         1          -          -          -",
        "       0  never\n",
        NULL};
    static const char *const json[] = {
        "\"range_list\":[{\"name\":\"step\",\"domain\":\"default\",\"count\":1,\"untimed\":"
        "0,"
        "\"total_ns\":1000,\"share_percent\":48.78,",
        "\"name\":\"load\",\"domain\":\"default\",\"count\":2,\"untimed\":0,\"total_ns\":"
        "600,"
        "\"share_percent\":29.27,\"mean_ns\":300,\"min_ns\":100,",
        "\"max_ns\":500,\"marks\":2}",
        "\"name\":\"load\",\"domain\":\"torch\",\"count\":1,\"untimed\":0,\"total_ns\":"
        "450,",
        "],\"ranges_open\":1,\"range_ends_alone\":1",
        NULL};

    begin("step", 1, 0);
    begin("load", 2, 100); /* in the other one */
    begin("load", 3, 200); /* these two cross */
    end(2, 600);
    put_range("begin", "load", "torch", 4, 250);
    end(3, 300);
    end(4, 700);
    end(1, 1000);
    look();
    CHECK_EQ(range("step")->times.untimed, 0);
    begin("never", 5, 800);
    put_range("mark", "load", "default", 6, 50);
    put_range("mark", "load", "default", 7, 60);
    put_range("mark", "here", "default", 8, 70);
    end(99, 900);
    look();
    CHECK_EQ(range("load")->times.total_ns, 600);
    CHECK_EQ(range("load")->times.max_ns, 500);
    CHECK_EQ(range("load")->more, 2);
    CHECK_EQ(range("never")->times.count, 1);
    CHECK_EQ(range("never")->times.untimed, 1);
    check_written(write_plain, &view->activity, plain);
    check_written(write_json, &view->activity, json);
}

/* The buffers of two threads are read one after the other. */
static void check_any_order(void)
{
    end(1, 500);
    look();
    CHECK_EQ(view->activity.range_ends_alone, 1);
    begin("early", 1, 200);
    begin("again", 1, 600); /* the number is used again, */
    end(1, 650);
    begin("twice", 2, 700); /* also of one without an end */
    begin("twice", 2, 800);
    end(2, 900);
    end(3, 1000); /* before that: it is of another one, whose beginning is lost */
    begin("late", 3, 2000);
    end(3, 2500);
    begin("open", 4, 3000);
    end(4, 2900); /* likewise */
    look();
    CHECK_EQ(range("early")->times.total_ns, 300);
    CHECK_EQ(range("again")->times.total_ns, 50);
    CHECK_EQ(range("twice")->times.count, 2);
    CHECK_EQ(range("twice")->times.untimed, 1);
    CHECK_EQ(range("twice")->times.total_ns, 100);
    CHECK_EQ(range("late")->times.total_ns, 500);
    CHECK_EQ(range("open")->times.untimed, 1);
    CHECK_EQ(view->activity.range_ends_alone, 2);
}

/* Each process numbers its ranges for itself. */
static void check_processes(void)
{
    stage_program = process(100, "one");
    begin("mine", 1, 0);
    stage_program = process(200, "other");
    begin("theirs", 1, 10);
    end(1, 20);
    stage_program = process(100, "one");
    end(1, 100);
    look();
    CHECK_EQ(range("mine")->times.total_ns, 100);
    CHECK_EQ(range("theirs")->times.total_ns, 10);
}

/* The oldest gives way: it has no end then, and its end no beginning. */
static void check_full(void)
{
    for (uint32_t i = 0; i < OPEN + 2; i++)
        begin("many", i + 1, i);
    end(1, 9999);
    end(2, 9999);
    end(3, 10002);
    look();
    CHECK_EQ(range("many")->times.untimed, OPEN + 1);
    CHECK_EQ(range("many")->times.total_ns, 10000);
    CHECK_EQ(view->activity.range_ends_alone, 2);
    for (uint32_t i = 3; i < OPEN + 2; i++) /* all others are there, each once */
        end(i + 1, i);
    look();
    CHECK_EQ(range("many")->times.untimed, 2);
    CHECK_EQ(range("many")->times.total_ns, 10000);
    for (uint32_t i = 0; i < OPEN; i++)
        begin("more", i + 1, i);
    look();
    CHECK_EQ(range("more")->times.untimed, OPEN - 2); /* those two ends were early */
    CHECK_EQ(view->activity.range_ends_alone, 0);
}

/* Who is the oldest stays known when others between have ended, and their places are taken. */
static void check_ages(void)
{
    for (uint32_t i = 1; i <= 3; i++)
        begin("old", i, i);
    end(2, 10);
    begin("second", 4, 11);
    end(3, 12);
    for (uint32_t i = 0; i < OPEN; i++)
        begin("young", 10 + i, 20 + i);
    end(1, 9000); /* it gave way, */
    end(4, 9000); /* and so did this one */
    for (uint32_t i = 0; i < OPEN; i++)
        end(10 + i, 20 + i);
    look();
    CHECK_EQ(range("old")->times.untimed, 1);
    CHECK_EQ(range("second")->times.untimed, 1);
    CHECK_EQ(range("young")->times.untimed, 0);
    CHECK_EQ(view->activity.range_ends_alone, 2);
}

static void check_full_of_ends(void)
{
    for (uint32_t i = 0; i < EARLY + 1; i++)
        end(i + 1, 100);
    begin("first", 1, 0);
    begin("second", 2, 0);
    look();
    CHECK_EQ(range("first")->times.untimed, 1);
    CHECK_EQ(range("second")->times.total_ns, 100);
    CHECK_EQ(view->activity.range_ends_alone, EARLY);
}

int main(void)
{
    in_model(check_calls);
    in_model(check_crowd);
    in_model(check_ranges);
    in_model(check_any_order);
    in_model(check_processes);
    in_model(check_full);
    in_model(check_ages);
    in_model(check_full_of_ends);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
