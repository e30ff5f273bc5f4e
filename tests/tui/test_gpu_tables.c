/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the GPU view: which there are and how long they are, rows in the order that is
 * asked for, those that a filter leaves, why one is empty, and keys; at small sizes, too. */
#include "activity_text.h"
#include "canvas_seen.h"
#include "gputable.h"
#include "model_stage.h"

#include <locale.h>
#include <stdlib.h>

enum {
    COLUMNS = 130,
    ROWS = 40
};

static picture_t p;
static canvas_t c;

/* ---- records ------------------------------------------------------------------------- */

static void put_kernel_in(uint32_t device, uint32_t stream, const char *name, uint64_t ns)
{
    gpurt_activity_kernel_t k = {.name = string(name),
                                 .ns = gpurt_pair(ns),
                                 .grid = {1, 1, 1},
                                 .block = {64, 1, 1},
                                 .registers = 40,
                                 .stream = stream,
                                 .context = 1};

    put_on(device, GPURT_KIND_KERNEL, GPURT_LEVEL_TRACE, T0, &k, sizeof k);
}

static void put_kernel(uint32_t device, const char *name, uint64_t ns)
{
    put_kernel_in(device, 7, name, ns);
}

static void put_call(const char *name, uint64_t ns, uint32_t result)
{
    gpurt_activity_call_t call = {string(name), gpurt_pair(ns), result, 77, 1};

    put(GPURT_KIND_CALL, T0, &call, sizeof call);
}

static void put_range(const char *what, const char *name, uint32_t id, uint64_t at)
{
    gpurt_activity_range_t range = {string(what), string(name), string("torch"), id, 77};

    put(GPURT_KIND_RANGE, T0 + at, &range, sizeof range);
}

static void put_memory(uint32_t device, const char *what, const char *kind,
                       uint64_t address, uint64_t bytes)
{
    gpurt_activity_memory_t row = {string(what), gpurt_pair(bytes), gpurt_pair(address),
                                   string(kind)};

    put_on(device, GPURT_KIND_MEMORY, GPURT_LEVEL_TRACE, T0, &row, sizeof row);
}

static void put_pool(const char *what, uint64_t address, uint64_t bytes, uint64_t used)
{
    gpurt_activity_pool_t pool = {.name = string(what),
                                  .address = gpurt_pair(address),
                                  .bytes = gpurt_pair(bytes),
                                  .used = gpurt_pair(used),
                                  .memory = string("device")};

    put_on(1, GPURT_KIND_POOL, GPURT_LEVEL_TRACE, T0, &pool, sizeof pool);
}

static void put_some_of_all(void)
{
    stage_program = process(100, "one");
    put_kernel(0, "gemm", 9000);
    put_kernel(0, "softmax", 1000);
    put_call("cudaMalloc", 7000000, 2);
    for (uint32_t i = 0; i < 100; i++)
        put_call("cudaLaunchKernel", 10000, 0);
    put_call("cuInit", 2000000, 0);
    put_range("begin", "step", 1, 0);
    put_range("end", "", 1, 3000000);
    put_range("begin", "never", 2, 0);
    put_range("mark", "here", 3, 0);
    put_memory(0, "take", "device", 0x1000, 6 << 20);
    put_memory(0, "take", "device", 0x2000, 6 << 20);
    put_memory(0, "give back", "device", 0x2000, 0);
    put_memory(0, "take", "pinned", 0x3000, 1 << 20);
    put_pool("pool trimmed", 0x7000, 8 << 20, 2 << 20);
    put_pool("pool made", 0x8000, UINT64_MAX, UINT64_MAX);
    stage_program = process(200, "other");
    put_memory(1, "take", "device", 0x1000, 3 << 20);
    put_memory(1, "give back", "device", 0x9000, 0);
}

/* ---- the screen ---------------------------------------------------------------------- */

static void draw(int rows, int columns)
{
    look();
    CHECK(canvas_resize(&c, rows, columns));
    picture_draw(&p, &c);
}

static const char *row_text(int row)
{
    return canvas_seen(&c, row);
}

static int row_of(const char *text)
{
    return canvas_seen_row(&c, text);
}

static void check_has(const char *text)
{
    if (row_of(text) >= 0)
        return;
    for (int row = 0; row < c.rows; row++)
        fprintf(stderr, "%s\n", row_text(row));
    CHECK_MSG(false, "no '%s' on the screen", text);
}

static void check_no(const char *text)
{
    CHECK_MSG(row_of(text) < 0, "'%s' is on the screen: %s", text, row_text(row_of(text)));
}

/* One below the other. */
static void check_below(const char *first, const char *second)
{
    check_has(first);
    check_has(second);
    CHECK_MSG(row_of(first) < row_of(second), "'%s' is not above '%s'", first, second);
}

/* Of `part` in the first row that has `text`. */
static style_t style_in(const char *text, const char *part)
{
    int row = row_of(text);
    const char *line;

    check_has(text);
    line = row_text(row);
    return (style_t)c.cells[row * c.columns + (int)(strstr(line, part) - line)].style;
}

static style_t style_of(const char *text)
{
    return style_in(text, text);
}

static bool act(action_t action)
{
    return picture_view(VIEW_GPU)->act(&p, action, 10);
}

static void fresh(void)
{
    static output_t output;

    p = (picture_t){.view = view,
                    .name = "x",
                    .hertz = 10,
                    .speed = 1,
                    .shown = VIEW_GPU,
                    .output = &output};
    c.unicode = false;
}

/* ---- tables -------------------------------------------------------------------------- */

static void check_line(void)
{
    static const char *const lines[] = {
        ">kernels 2  calls 3  ranges 3  memory 3  pools 2  by total (t table, s sort)",
        " kernels 2 >calls 3  ranges 3  memory 3  pools 2  by total (t table, s sort)",
        " kernels 2  calls 3 >ranges 3  memory 3  pools 2  by total (t table, s sort)",
        " kernels 2  calls 3  ranges 3 >memory 3  pools 2  by now (t table, s sort)",
        " kernels 2  calls 3  ranges 3  memory 3 >pools 2  by size (t table, s sort)"};

    put_some_of_all();
    for (int i = 0; i < 5; i++) {
        draw(24, 80);
        check_has(lines[i]);
        CHECK(act(ACTION_TABLE));
    }
    draw(24, 80);
    check_has(lines[0]);
    CHECK(act(ACTION_TABLE_BEFORE));
    draw(24, 80);
    check_has(lines[4]);
    CHECK(act(ACTION_BACK)); /* to the first one, and no further */
    draw(24, 80);
    check_has(lines[0]);
    CHECK(!act(ACTION_BACK));
}

static void check_calls(void)
{
    put_some_of_all();
    p.table = GPUROWS_CALLS;
    draw(ROWS, COLUMNS);
    check_has("102 of 3 names, 10.00 ms, 0 without times, 1 with errors");
    check_has("  share    count      total       mean        p50        p99        max  "
              "errors  call");
    check_has("  70.0%        1    7.00 ms    7.00 ms ");
    check_has("       1  cudaMalloc");
    check_has("  10.0%      100    1.00 ms   10.00 us ");
    check_below("cudaMalloc", "cuInit");
    check_below("cuInit", "cudaLaunchKernel");
    check_no("gemm");
    CHECK_EQ(style_of("7.00 ms    7.00 ms"), STYLE_SELECT);
    CHECK(act(ACTION_DOWN));
    draw(ROWS, COLUMNS);
    CHECK_EQ(style_of("1  cudaMalloc"), STYLE_ERROR); /* it has one */
    CHECK_EQ(style_of("0  cudaLaunchKernel"), STYLE_DIM);
}

static void check_ranges(void)
{
    put_some_of_all();
    p.table = GPUROWS_RANGES;
    draw(ROWS, COLUMNS);
    check_has("2 of 3 names, 1 without an end, 0 ends without a beginning, 1 mark");
    check_has("    max   open  marks  range");
    check_has(" 100.0%        1    3.00 ms    3.00 ms");
    check_has("      0      0  step (torch)");
    check_has("      1      0  never (torch)");
    check_has("      0      1  here (torch)");
    CHECK_EQ(style_of("1      0  never"), STYLE_WARN);
}

/* The longest bar is of what was the most. */
static void check_memory(void)
{
    put_some_of_all();
    p.table = GPUROWS_MEMORY;
    draw(ROWS, COLUMNS);
    check_has("        now       peak   of the most   taken   given  memory");
    check_has(
        "    6.0 MiB   12.0 MiB  ######++++++       2       1  device, GPU 0, process "
        "100");
    check_has(
        "    3.0 MiB    3.0 MiB  ###.........       1       1  device, GPU 1, process "
        "200");
    check_has("    1.0 MiB    1.0 MiB  #...........       1       0  pinned, process 100");
    check_has(" 1 given back whose taking is not known: they change no sum");
    CHECK_EQ(style_of("1 given back"), STYLE_WARN);
    check_below("process 200", "pinned");
}

/* Sums of many processes over days, and more than anybody has: as wide as their column is. */
static void check_wide(void)
{
    static const uint64_t hours = 3600ull * 1000000000;

    for (uint32_t i = 0; i < 1234; i++)
        put_call("cudaStreamSynchronize", hours, 0);
    put_call("cudaMalloc", UINT64_MAX - 1, 0);
    put_memory(0, "take", "device", 0x1000, UINT64_MAX - 1);
    p.table = GPUROWS_CALLS;
    draw(ROWS, COLUMNS);
    check_has("     1234  4442400 s  3600.00 s  ");
    check_has(" 100.0%        1 1.84e+10 s 1.84e+10 s");
    CHECK_EQ(gpurows_whole_ns(&view->activity, GPUROWS_CALLS), UINT64_MAX);
    CHECK_EQ(view->activity.calls.ns, UINT64_MAX);
    for (int i = 0; i < 3; i++)
        put_call("cudaMalloc", UINT64_MAX / 2, 0);
    put_kernel(0, "gemm", UINT64_MAX - 1);
    put_kernel(0, "softmax", UINT64_MAX - 1);
    draw(ROWS, COLUMNS);
    check_has(" 100.0%        4 1.84e+10 s ");
    CHECK_EQ(activity_sum(&view->activity).ns, UINT64_MAX);
    p.table = GPUROWS_MEMORY;
    draw(ROWS, COLUMNS);
    check_has("   16.0 EiB   16.0 EiB  #####");
}

static void check_pools(void)
{
    put_some_of_all();
    p.table = GPUROWS_POOLS;
    draw(ROWS, COLUMNS);
    check_has("       size       used   of the most  at last         pool");
    check_has(
        "    8.0 MiB    2.0 MiB  ###+++++++++  pool trimmed    0x7000, GPU 1, process "
        "100, device");
    check_has("          -          -  ............  pool made       0x8000, GPU 1,");
    for (uint64_t i = 0; i < GPURT_MODEL_POOLS; i++)
        put_pool("pool made", 0x10000 * (i + 1), 1, 0);
    draw(ROWS, COLUMNS);
    check_has(" 2 records of others, for which there is no room");
}

/* ---- order, filter ------------------------------------------------------------------- */

static void check_order(const char *by, const char *first)
{
    char text[64];
    int row;

    draw(ROWS, COLUMNS);
    snprintf(text, sizeof text, "by %s (t table", by);
    check_has(text);
    row = row_of("  share    count");
    row = row < 0 ? row_of("   of the most ") : row;
    CHECK_MSG(row > 0 && strstr(row_text(row + 1), first), "by %s: %s", by,
              row_text(row + 1));
    CHECK(act(ACTION_SORT));
}

static void check_sort(void)
{
    put_some_of_all();
    check_order("total", "gemm");
    p.table = GPUROWS_CALLS;
    check_order("total", "cudaMalloc");
    CHECK_EQ(style_in("errors  call", "total"), STYLE_KEY);
    CHECK_EQ(style_in("errors  call", "count"), STYLE_DIM);
    check_order("count", "cudaLaunchKernel");
    CHECK_EQ(style_in("errors  call", "total"), STYLE_DIM);
    CHECK_EQ(style_in("errors  call", "count"), STYLE_KEY);
    CHECK_EQ(style_in("errors  call", "call"), STYLE_DIM);
    check_order("mean", "cudaMalloc");
    check_order("max", "cudaMalloc");
    check_order("errors", "cudaMalloc");
    check_order("name", "cuInit");
    CHECK_EQ(style_in("errors  call", "call"), STYLE_KEY);
    check_order("total", "cudaMalloc");
    p.table = GPUROWS_MEMORY;
    check_order("now", "6.0 MiB");
    check_order("peak", "12.0 MiB");
    check_order("taken", "12.0 MiB");
    check_order("kind", "device, GPU 0");
    check_order("now", "6.0 MiB");
    p.table = GPUROWS_POOLS;
    p.table_sort[GPUROWS_POOLS] = 2;
    put_pool("pool made", 0x10, 1, 1);
    check_order("address", "0x10,");
    check_order("size", "0x7000");
    p.table = GPUROWS_KERNELS; /* each table has an order of its own */
    check_order("count", "gemm");
}

static void check_no_row(const char *filter)
{
    CHECK(filter_parse(&p.filter, filter, NULL));
    draw(ROWS, COLUMNS);
    check_has(">memory 0/3");
}

static void check_filter(void)
{
    put_some_of_all();
    filter_parse(&p.filter, "launch", NULL);
    p.table = GPUROWS_CALLS;
    draw(ROWS, COLUMNS);
    check_has(">calls 1/3  ranges 3");
    check_has("cudaLaunchKernel");
    check_no("cudaMalloc");
    CHECK(!act(ACTION_BACK)); /* the filter goes first */
    CHECK_EQ(p.table, GPUROWS_CALLS);
    filter_parse(&p.filter, "!launch lvl>=warn sm=3", NULL);
    draw(ROWS, COLUMNS);
    check_has("cudaMalloc");
    check_no("cudaLaunchKernel");
    filter_parse(&p.filter, "nothing", NULL);
    draw(ROWS, COLUMNS);
    check_has(" No call fits the filter (Esc clears it).");
    p.table = GPUROWS_MEMORY;
    filter_parse(&p.filter, "pid=200", NULL);
    draw(ROWS, COLUMNS);
    check_has(">memory 1/3");
    check_no("process 100");
    filter_parse(&p.filter, "gpu=0", NULL);
    draw(ROWS, COLUMNS);
    check_has(">memory 1/3");
    check_has("device, GPU 0, process 100");
    check_no_row("gpu=65536"); /* the same in 16 bits */
    check_no_row("gpu=8");     /* nor is the host's memory of it */
    check_no_row("pid=4294967294");
    filter_parse(&p.filter, "gpu=0", NULL);
    p.table = GPUROWS_POOLS;
    draw(ROWS, COLUMNS);
    check_has(">pools 0/2");
}

/* ---- why there is nothing ------------------------------------------------------------ */

static void check_empty(void)
{
    static const char *const why[][2] = {
        {"", ""},
        {"No call of the CUDA API was recorded.", "GPURT_CUPTI=all, or default,calls."},
        {"No range (NVTX) was recorded.", "GPURT_CUPTI=all, or default,ranges."},
        {"No allocation was recorded.", "GPURT_CUPTI=all, or default,memory."},
        {"No pool of memory was recorded.", "GPURT_CUPTI=all, or default,memory."}};

    put_kernel(0, "gemm", 9000);
    for (int i = 1; i < GPUROWS_TABLES; i++) {
        p.table = (gpurows_t)i;
        draw(ROWS, COLUMNS);
        check_has(why[i][0]);
        check_has(why[i][1]);
        CHECK(act(ACTION_DOWN) && act(ACTION_LAST) && act(ACTION_FIRST));
        CHECK_EQ(p.table_row[i], 0);
    }
    put_memory(0, "take", "device", 0x1000, 4096);
    draw(ROWS, COLUMNS);
    check_has(
        "No pool of memory was made, trimmed or destroyed while memory was recorded.");
    draw(24, 40); /* what has no room in a line goes on in the next */
    check_has("No pool of memory was made, trimmed or");
    check_has(" destroyed while memory was recorded.");
}

static void check_no_kernel(void)
{
    put_memory(0, "take", "device", 0x1000, 4096);
    draw(ROWS, COLUMNS);
    check_has(">kernels 0  calls 0  ranges 0  memory 1  pools 0");
    check_has("No kernel was recorded. A kernel is recorded when it ends,");
}

/* ---- keys ---------------------------------------------------------------------------- */

static void check_selected(void)
{
    char name[32];

    for (uint32_t i = 0; i < GPURT_MODEL_HOST_ROWS + 6; i++) {
        snprintf(name, sizeof name, "call number %02u", i);
        put_call(name, 1000 - i, 0);
    }
    p.table = GPUROWS_CALLS;
    draw(24, 80);
    check_has(">calls 65  ranges 0  memory 0  pools 0  by total 48 below ");
    CHECK_EQ(style_of("call number 00"), STYLE_SELECT);
    CHECK(act(ACTION_DOWN) && act(ACTION_PAGE_DOWN) && act(ACTION_UP));
    draw(24, 80);
    CHECK_EQ(style_of("call number 10"), STYLE_SELECT);
    CHECK(act(ACTION_LAST));
    draw(24, 80);
    CHECK_EQ(style_of("(all others)"), STYLE_SELECT);
    check_no(" below");
    check_no("call number 00");
    CHECK(act(ACTION_DOWN));
    CHECK_EQ(p.table_row[GPUROWS_CALLS], GPURT_MODEL_HOST_ROWS);
    CHECK_EQ(p.table_row[GPUROWS_KERNELS], 0); /* each has a row of its own */
    filter_parse(&p.filter, "number 0", NULL); /* fewer rows: the last of them */
    draw(24, 80);
    CHECK_EQ(style_of("call number 0"), STYLE_NORMAL);
    CHECK_EQ(style_of("call number 60"), STYLE_SELECT);
    memset(&p.filter, 0, sizeof p.filter);
    CHECK(act(ACTION_FIRST));
    CHECK_EQ(p.table_row[GPUROWS_CALLS], 0);
}

/* The table that was there comes back from under the streams. */
static void check_streams(void)
{
    put_some_of_all();
    p.table = GPUROWS_CALLS;
    CHECK(act(ACTION_OPEN) && p.streams_open);
    draw(24, 80);
    check_no("ranges 3");
    CHECK(act(ACTION_TABLE) && !p.streams_open);
    CHECK_EQ(p.table, GPUROWS_CALLS);
}

static void check_names(void)
{
    gpurows_t table = GPUROWS_POOLS;

    CHECK(gputable_named("calls", &table) && table == GPUROWS_CALLS);
    CHECK(gputable_named("Kernels", &table) && table == GPUROWS_KERNELS);
    CHECK(!gputable_named("call", &table) && table == GPUROWS_KERNELS);
}

/* ---- sizes --------------------------------------------------------------------------- */

static void check_small(void)
{
    static const char *const rows[GPUROWS_TABLES] = {
        "9.00 us  gemm", "7.00 ms  cudaMalloc", "3.00 ms  step (torch)",
        "12.0 MiB  device, GPU 0", "2.0 MiB  0x7000, GPU 1"};
    static const char *const lines[GPUROWS_TABLES] = {
        ">kernels 2 calls ranges memory pools", " kernels>calls 3 ranges memory pools",
        " kernels calls>ranges 3 memory pools", " kernels calls ranges>memory 3 pools",
        " kernels calls ranges memory>pools 2"};

    put_some_of_all();
    for (int i = 0; i < GPUROWS_TABLES; i++) {
        p.table = (gpurows_t)i;
        p.replay = i % 2; /* a row less */
        draw(10, 40);
        check_has(lines[i]);
        check_has(rows[i]);
        draw(7, 30);
        CHECK(row_of("of 5)") > 0);
    }
    p.replay = true;
    p.table = GPUROWS_MEMORY;
    draw(10, 40);
    check_below("GPU 0 ", "       now       peak  memory");
    check_below("12.0 MiB  device, GPU 0", " 3.0 MiB  device, GPU 1");
    p.table = GPUROWS_RANGES;
    draw(7, 30);
    check_has(">ranges 3 (3 of 5)");
}

static void put_gpus(uint32_t count)
{
    gpurt_activity_environment_t e = {.gpu_percent = 50, .sm_mhz = 1980};

    for (uint32_t i = 0; i < count; i++)
        put_on(i, GPURT_KIND_ENVIRONMENT, GPURT_LEVEL_DEBUG, T0, &e, sizeof e);
}

/* Beside a long table streams have half of the room, whichever table is shown; they stay even where
 * many GPUs leave less. */
static void check_long(void)
{
    char name[32];
    int line;

    for (uint32_t i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "call number %02u", i);
        put_call(name, 1000 - i, 0);
    }
    for (uint32_t i = 0; i < 12; i++)
        put_kernel_in(0, i, "gemm", 1000);
    put_gpus(4);
    p.table = GPUROWS_CALLS;
    draw(24, 80);
    check_below("streams, ", " stream 3 ");
    check_below(" stream 3 ", ">calls 20  ranges 0  memory 0  pools 0  by total 13 below");
    line = row_of(">calls");
    p.table = GPUROWS_MEMORY;
    draw(24, 80);
    CHECK_EQ(row_of(">memory 0"), line);
    put_gpus(GPURT_MODEL_DEVICES);
    p.table = GPUROWS_CALLS;
    draw(24, 80);
    check_below("streams, ", " by total 14 below");
}

/* Many GPUs leave the table its rows. */
static void check_many_gpus(void)
{
    put_some_of_all();
    put_gpus(GPURT_MODEL_DEVICES);
    p.table = GPUROWS_CALLS;
    draw(15, 80);
    check_has(">calls 3");
    check_has("cudaLaunchKernel");
    check_has("GPU 3 ");
    check_no(" GPU 7 ");
    draw(24, 80);
    check_has(" GPU 7 ");
    check_has("cudaLaunchKernel");
}

/* The dictionary knows of processes from check_line on. */
static void (*const checks[])(void) = {
    check_empty, check_no_kernel, check_selected, check_long,  check_line,
    check_calls, check_ranges,    check_memory,   check_pools, check_wide,
    check_sort,  check_filter,    check_streams,  check_small, check_many_gpus};
static size_t at;

static void check_fresh(void)
{
    fresh();
    checks[at]();
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    check_names();
    for (at = 0; at < sizeof checks / sizeof checks[0]; at++)
        in_model(check_fresh);
    canvas_fini(&c);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
