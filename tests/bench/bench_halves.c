/* SPDX-License-Identifier: Apache-2.0 */
/* bench_halves - what it would bring to place memory in the half of a GPU's L2 that is near its
 * user. Which lines are near to a multiprocessor is measured, by atomics; how they lie says how
 * small a piece of memory would have to be to be all near; and walks over near, far and all lines
 * say what there is to gain, alone and with many lanes at work. */
#include "bench_halves.h"
#include "rows.h"

#include <gpurt/gpurt.h>
#include <string.h>

enum {
    MAX_SMS = 512,
    CROWD = 256,
    REPEATS = 5
};

typedef enum kind {
    NEAR_LINES,
    FAR_LINES,
    ALL_LINES
} kind_t;

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static struct bench_halves_args args;
static uint32_t *walks;         /* as args.walks, which lies near the kernels */
static uint16_t *cycles;        /* of a line, by multiprocessor, as kernels saw it */
static uint32_t limit[MAX_SMS]; /* below: near */

static void need(gpurt_status_t st, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_halves: %s: %s: %s\n", what, gpurt_status_name(st), err.text);
    exit(1);
}

static void *shared(size_t bytes)
{
    void *memory;

    need(gpurt_host_create(rt, bytes, &memory, &err), "host memory");
    memset(memory, 0, bytes);
    return memory;
}

static void *device(size_t bytes)
{
    void *memory;

    need(gpurt_mem_create(rt, bytes, &memory, &err), "memory");
    need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, bytes, &err), "fill");
    return memory;
}

static void run(const gpurt_kernel_t *kernel, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {info.sm_count, 1, 1}, .block = {threads, 1, 1}};

    /* A block each: more shared memory than two could have. */
    launch.shared_bytes = (uint32_t)(info.max_shared / 2 + 1024);
    need(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err), "launch");
    need(gpurt_sync(rt, &err), "sync");
}

static bool is_near(uint32_t sm, uint32_t line)
{
    return cycles[(size_t)sm * HALVES_LINES + line] < limit[sm];
}

/* Between the fast tenth and the slow tenth. */
static void limit_find(uint32_t sm)
{
    static double sorted[HALVES_LINES];

    for (uint32_t i = 0; i < HALVES_LINES; i++)
        sorted[i] = cycles[(size_t)sm * HALVES_LINES + i];
    qsort(sorted, HALVES_LINES, sizeof *sorted, rows_compare);
    limit[sm] =
        (uint32_t)((sorted[HALVES_LINES / 10] + sorted[HALVES_LINES - HALVES_LINES / 10]) /
                   2);
}

/* ---- how lines lie ------------------------------------------------------------------- */

static void map_tell(void)
{
    static double near_lines[HALVES_LINES], far_lines[HALVES_LINES], runs[HALVES_LINES];
    uint32_t nears = 0, fars = 0, count = 0, length = 0, alike = 0;

    for (uint32_t i = 0; i < HALVES_LINES; i++) {
        if (is_near(0, i))
            near_lines[nears++] = cycles[i];
        else
            far_lines[fars++] = cycles[i];
        length++;
        if (i + 1 == HALVES_LINES || is_near(0, i) != is_near(0, i + 1)) {
            runs[count++] = (double)length * HALVES_LINE;
            length = 0;
        }
    }
    if (!nears || !fars) {
        fprintf(stderr, "bench_halves: all lines are alike\n");
        exit(1);
    }
    rows_add("halves", "an atomic on a near line, p50", rows_median(near_lines, nears),
             "cycles", "on a far line", rows_median(far_lines, fars));
    rows_add("halves", "lines that are near", 100.0 * nears / HALVES_LINES, "%", NULL, 0);
    rows_add("halves", "lines in a row that are alike, p50", rows_median(runs, count), "B",
             NULL, 0);
    rows_add("halves", "lines in a row that are alike, longest", runs[count - 1], "B", NULL,
             0);
    for (uint32_t sm = 1; sm < info.sm_count; sm++) {
        uint32_t same = 0;

        for (uint32_t i = 0; i < HALVES_LINES; i++)
            same += is_near(sm, i) == is_near(0, i);
        alike += same > HALVES_LINES / 2;
    }
    rows_add("halves", "multiprocessors on the side of the first", alike + 1, "",
             "multiprocessors", info.sm_count);
}

/* ---- what there is to gain ----------------------------------------------------------- */

/* Of each multiprocessor by itself: lines of that kind, spread over all. */
static void walks_make(kind_t kind)
{
    for (uint32_t sm = 0; sm < info.sm_count; sm++) {
        uint32_t line = sm * 97, n = 0;

        for (uint32_t tries = 0; n < HALVES_STEPS && tries < 64 * HALVES_STEPS; tries++) {
            line = (line + 2654435761u % HALVES_LINES) % HALVES_LINES;
            if (kind == ALL_LINES || is_near(sm, line) == (kind == NEAR_LINES))
                walks[(size_t)sm * HALVES_STEPS + n++] = line;
        }
        for (uint32_t i = n; i < HALVES_STEPS && n; i++)
            walks[(size_t)sm * HALVES_STEPS + i] = walks[(size_t)sm * HALVES_STEPS + i % n];
    }
    need(gpurt_copy(rt, GPURT_STREAM_DEFAULT, args.walks, walks,
                    (size_t)info.sm_count * HALVES_STEPS * sizeof *walks, &err),
         "copy");
}

static double walked(const gpurt_kernel_t *kernel, uint32_t threads)
{
    double samples[REPEATS], sms[MAX_SMS];

    for (int r = -1; r < REPEATS; r++) {
        run(kernel, threads);
        for (uint32_t sm = 0; sm < info.sm_count; sm++)
            sms[sm] = args.walked[sm];
        samples[r < 0 ? 0 : r] = rows_median(sms, info.sm_count);
    }
    return rows_median(samples, REPEATS);
}

static void walks_tell(void)
{
    static const char *const names[] = {"near", "far", "all"};
    double alone[3], crowd[3];
    char name[64];

    for (int kind = ALL_LINES; kind >= NEAR_LINES; kind--) {
        walks_make((kind_t)kind);
        alone[kind] = walked(&gpurt_kernel_bench_halves_walk, 1);
        crowd[kind] = walked(&gpurt_kernel_bench_halves_crowd, CROWD);
    }
    for (int kind = NEAR_LINES; kind < ALL_LINES; kind++) {
        snprintf(name, sizeof name, "a lane a multiprocessor, %s lines", names[kind]);
        rows_add("halves", name, alone[kind], "cycles", "all lines", alone[ALL_LINES]);
        snprintf(name, sizeof name, "%d lanes each, %s lines", CROWD, names[kind]);
        rows_add("halves", name, crowd[kind], "cycles", "all lines", crowd[ALL_LINES]);
    }
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_halves: %s\n", err.text);
        return 77;
    }
    need(gpurt_info(rt, &info), "info");
    if (info.sm_count > MAX_SMS)
        return 1;
    args.memory = (char *)device((size_t)HALVES_LINES * HALVES_LINE);
    args.sm_count = info.sm_count;
    args.cycles = cycles =
        (uint16_t *)shared((size_t)info.sm_count * HALVES_LINES * sizeof *cycles);
    walks = (uint32_t *)shared((size_t)info.sm_count * HALVES_STEPS * sizeof *walks);
    args.walks = (uint32_t *)device((size_t)info.sm_count * HALVES_STEPS * sizeof *walks);
    args.walked = (uint32_t *)shared(info.sm_count * sizeof *args.walked);
    run(&gpurt_kernel_bench_halves_map, 1);
    for (uint32_t sm = 0; sm < info.sm_count; sm++)
        limit_find(sm);
    rows_head();
    map_tell();
    walks_tell();
    need(gpurt_mem_destroy(rt, args.memory), "memory");
    need(gpurt_mem_destroy(rt, args.walks), "memory");
    need(gpurt_host_destroy(rt, args.cycles), "memory");
    need(gpurt_host_destroy(rt, walks), "memory");
    need(gpurt_host_destroy(rt, args.walked), "memory");
    need(gpurt_close(rt, &err), "close");
    return 0;
}
