/* SPDX-License-Identifier: Apache-2.0 */
#include "course.h"

#include <gpurt/impl/activity.h>
#include <stdio.h>
#include <string.h>

#define US 1000ull
enum {
    MAIN = COURSE_PID,
    OTHER = COURSE_PID + 1,
    WORDS = 64,
    HOST = 0,
    GPU0 = 1,
    GPU1 = 2
};

/* Owner: course_write. */
typedef struct course {
    gpurt_writer_t *w;
    const gplog_numbers_t *numbers; /* NULL: of the one that the file is about */
    uint64_t late_ns;
    gpurt_error_t *err;
    gpurt_status_t st;
    uint32_t sites[GPURT_ACTIVITY_SITES], log, panic;
} course_t;

typedef union course_row {
    gpurt_row_t row;
    uint64_t room[(sizeof(gpurt_row_t) + 4 * WORDS) / 8];
} course_row_t;

void course_about(gplog_file_t *about)
{
    memset(about, 0, sizeof *about);
    about->created_ns = COURSE_START_NS;
    about->section_count = 3;
    about->identity.pid = COURSE_PID;
    snprintf(about->identity.program, sizeof about->identity.program, "trainer");
    about->sections[HOST].kind = GPURT_SECTION_HOST;
    for (uint32_t i = GPU0; i <= GPU1; i++) {
        about->sections[i].kind = GPURT_SECTION_CUDA;
        about->sections[i].device = i - GPU0;
        about->sections[i].sm_count = 132;
        about->sections[i].warp_slots = 64;
        snprintf(about->sections[i].name, sizeof about->sections[i].name, "Test GPU");
    }
}

/* ---- definitions --------------------------------------------------------------------- */

static uint32_t define(course_t *c, gpurt_site_info_t info, const char *format,
                       const char *file)
{
    info.format = format;
    info.format_bytes = (uint32_t)strlen(format);
    info.file = file;
    info.file_bytes = (uint32_t)strlen(file);
    info.module = "";
    return gpurt_writer_define(c->w, &info);
}

static uint32_t name(course_t *c, const char *text)
{
    return define(c, (gpurt_site_info_t){.kind = GPURT_DEF_STRING}, text, "");
}

static void sites_define(course_t *c)
{
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++) {
        const gpurt_activity_site_t *s = &gpurt_activity_sites[i];
        gpurt_site_info_t info = {.kind = GPURT_DEF_SITE,
                                  .record_kind = s->kind,
                                  .level = s->level,
                                  .types = s->types};

        for (uint64_t types = s->types; types; types >>= 4)
            info.arg_count++;
        c->sites[i] = define(c, info, s->format, "");
    }
    c->log = define(c,
                    (gpurt_site_info_t){.kind = GPURT_DEF_SITE,
                                        .record_kind = GPURT_KIND_LOG,
                                        .level = GPURT_LEVEL_INFO,
                                        .arg_count = 1,
                                        .types = GPURT_TYPE_U32,
                                        .line = 12},
                    "step %u", "train.c");
    c->panic = define(c,
                      (gpurt_site_info_t){.kind = GPURT_DEF_SITE,
                                          .record_kind = GPURT_KIND_PANIC,
                                          .level = GPURT_LEVEL_PANIC,
                                          .arg_count = 1,
                                          .types = GPURT_TYPE_U32,
                                          .line = 99},
                      "index %u out of bounds", "gemm.c");
}

/* ---- rows ---------------------------------------------------------------------------- */

static void put(course_t *c, gpurt_row_t head, uint64_t at_ns, const void *words,
                uint32_t count)
{
    course_row_t r = {.row = head};

    r.row.time_ns = COURSE_START_NS + c->late_ns + at_ns;
    r.row.words = (uint16_t)count;
    memcpy(gpurt_row_words(&r.row), words, 4u * count);
    if (c->st == GPURT_OK)
        c->st = gpurt_writer_put_of(c->w, c->numbers, &r.row, c->err);
}

static void activity(course_t *c, uint32_t kind, uint32_t device, uint64_t at_ns,
                     const void *words)
{
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++) {
        const gpurt_activity_site_t *s = &gpurt_activity_sites[i];

        if (s->kind == kind)
            put(c,
                (gpurt_row_t){.site = c->sites[i],
                              .block = device,
                              .mask = 1,
                              .kind = (uint8_t)kind,
                              .form = GPURT_FORM_THREAD,
                              .level = s->level},
                at_ns, words, s->words);
    }
}

/* Where something runs. */
typedef struct lane {
    uint32_t device, context, stream;
} lane_t;

static gpurt_activity_kernel_t kernel_of(course_t *c, const char *text, lane_t lane,
                                         uint64_t ns, uint32_t call)
{
    return (gpurt_activity_kernel_t){.name = name(c, text),
                                     .ns = gpurt_pair(ns),
                                     .grid = {132, 2, 1},
                                     .block = {256, 1, 1},
                                     .registers = 40,
                                     .shared_bytes = 1024,
                                     .stream = lane.stream,
                                     .correlation = call,
                                     .context = lane.context};
}

static void kernel(course_t *c, const char *text, lane_t lane, uint64_t at, uint64_t ns,
                   uint32_t call)
{
    gpurt_activity_kernel_t k = kernel_of(c, text, lane, ns, call);

    activity(c, GPURT_KIND_KERNEL, lane.device, at, &k);
}

static void node(course_t *c, const char *text, lane_t lane, uint64_t at, uint64_t ns,
                 uint32_t call)
{
    gpurt_activity_node_t n = {kernel_of(c, text, lane, ns, call), 3, gpurt_pair(77)};

    activity(c, GPURT_KIND_NODE, lane.device, at, &n);
}

static void call(course_t *c, const char *text, uint32_t thread, uint64_t at, uint64_t ns,
                 uint32_t number)
{
    gpurt_activity_call_t out = {.name = name(c, text),
                                 .ns = gpurt_pair(ns),
                                 .thread = thread,
                                 .correlation = number};

    activity(c, GPURT_KIND_CALL, 0, at, &out);
}

static void range(course_t *c, const char *what, const char *text, uint32_t thread,
                  uint64_t at, uint32_t id)
{
    gpurt_activity_range_t out = {.what = name(c, what),
                                  .name = name(c, text),
                                  .domain = name(c, "torch"),
                                  .id = id,
                                  .thread = thread};

    activity(c, GPURT_KIND_RANGE, 0, at, &out);
}

static void ranges(course_t *c)
{
    range(c, "begin", "step", MAIN, 0, 1);
    range(c, "begin", "forward", MAIN, 0, 2); /* in the same moment */
    range(c, "begin", "matmul", MAIN, 100 * US, 3);
    range(c, "end", "", MAIN, 200 * US, 3);
    range(c, "end", "", MAIN, 500 * US, 2);
    range(c, "begin", "backward", MAIN, 500 * US, 4);
    range(c, "end", "", MAIN, 1000 * US, 4);
    range(c, "end", "", MAIN, 1000 * US, 1);
    range(c, "begin", "load", OTHER, 0, 5); /* these two cross */
    range(c, "begin", "decode", OTHER, 100 * US, 6);
    range(c, "end", "", OTHER, 300 * US, 5);
    range(c, "end", "", OTHER, 400 * US, 6);
    range(c, "begin", "unfinished", OTHER, 600 * US, 7);
    range(c, "mark", "checkpoint", OTHER, 700 * US, 8);
    range(c, "end", "", OTHER, 800 * US, 99);
}

static void device_work(course_t *c)
{
    static const lane_t s7 = {0, 1, 7}, s8 = {0, 1, 8}, s9 = {0, 1, 9};
    static const lane_t other = {0, 2, 7}, gpu1 = {1, 3, 7};
    gpurt_activity_copy_t copy = {.name = name(c, "host to device"),
                                  .bytes = gpurt_pair(1 << 20),
                                  .ns = gpurt_pair(40 * US),
                                  .stream = 9,
                                  .correlation = 12,
                                  .direction = GPURT_COPY_TO_DEVICE,
                                  .context = 1};
    gpurt_activity_fill_t fill = {.bytes = gpurt_pair(4096),
                                  .ns = gpurt_pair(1 * US),
                                  .stream = 9,
                                  .correlation = 17,
                                  .context = 1};
    gpurt_activity_graph_t graph = {.graph = 3,
                                    .ns = gpurt_pair(20 * US),
                                    .stream = 8,
                                    .correlation = 16,
                                    .context = 1};

    kernel(c, "gemm", s7, 150 * US, 100 * US, 11);
    kernel(c, "softmax", s7, 250 * US, 50 * US, 13);   /* begins as gemm ends */
    kernel(c, "epilogue", s7, 280 * US, 100 * US, 14); /* and this one before it ends */
    node(c, "gemm", s8, 600 * US, 10 * US, 15);
    kernel(c, "gemm", other, 150 * US, 10 * US, 21);
    kernel(c, "softmax", gpu1, 150 * US, 10 * US, 22);
    kernel(c, "bad", s9, 650 * US, GPURT_ACTIVITY_NO_TIME, 23);
    kernel(c, "evil \033]0;\a \xff name", s9, 660 * US, 1 * US, 24);
    activity(c, GPURT_KIND_COPY, 0, 330 * US, &copy);
    activity(c, GPURT_KIND_FILL, 0, 400 * US, &fill);
    activity(c, GPURT_KIND_GRAPH, 0, 700 * US, &graph);
}

static void host_work(course_t *c)
{
    gpurt_activity_wait_t wait = {.name = name(c, "a stream"),
                                  .ns = gpurt_pair(60 * US),
                                  .stream = 7,
                                  .correlation = 30,
                                  .context = 1};
    gpurt_activity_wait_t slept = {.name = name(c, "an event"),
                                   .ns = gpurt_pair(25 * US),
                                   .correlation = 31,
                                   .context = 1};
    gpurt_activity_overhead_t overhead = {name(c, "loading a module"), gpurt_pair(5 * US)};
    gpurt_activity_memory_t memory = {.name = name(c, "take"),
                                      .bytes = gpurt_pair(4096),
                                      .address = gpurt_pair(0x7f0000001000),
                                      .memory = name(c, "device")};
    gpurt_activity_launch_t launch = {.name = name(c, "gemm"),
                                      .file = name(c, "train.c"),
                                      .line = 31,
                                      .grid = {132, 2, 1},
                                      .block = {256, 1, 1},
                                      .number = 1,
                                      .thread = MAIN};

    /* As CUPTI tells them: the inner call ends first. */
    call(c, "cuLaunchKernel", MAIN, 112 * US, 10 * US, 11);
    call(c, "cudaLaunchKernel", MAIN, 110 * US, 20 * US, 11);
    call(c, "cuMemcpyHtoDAsync", MAIN, 300 * US, 10 * US, 12); /* in the same moment */
    call(c, "cudaMemcpyAsync", MAIN, 300 * US, 30 * US, 12);
    activity(c, GPURT_KIND_WAIT, 0, 500 * US, &wait);
    activity(c, GPURT_KIND_WAIT, 0, 605 * US, &slept); /* until 20 us behind a kernel */
    activity(c, GPURT_KIND_OVERHEAD, 0, 20 * US, &overhead);
    activity(c, GPURT_KIND_MEMORY, 0, 10 * US, &memory);
    activity(c, GPURT_KIND_LAUNCH, 0, 108 * US, &launch);
}

static void figures(course_t *c)
{
    gpurt_activity_sample_t sample = {gpurt_pair(100 * US),
                                      {9150, 1000, 4225, GPURT_SAMPLE_UNKNOWN, 50}};

    for (uint32_t device = 0; device < 2; device++)
        for (uint32_t i = 0; i < 2; i++) {
            gpurt_activity_environment_t e = {.gpu_percent = 50 + i,
                                              .memory_used = gpurt_pair(1 << 30),
                                              .memory_total = gpurt_pair(2ull << 30),
                                              .milliwatts = 123456 + device,
                                              .celsius = 44,
                                              .sm_mhz = 1980 - i,
                                              .memory_mhz = 3201};

            activity(c, GPURT_KIND_ENVIRONMENT, device, i * 500 * US, &e);
        }
    activity(c, GPURT_KIND_SAMPLE, 1, 200 * US, &sample);
}

static void messages(course_t *c)
{
    gpurt_row_t head = {.site = c->log,
                        .block = 17,
                        .mask = 0xffffffffu,
                        .sm = 3,
                        .slot = 5,
                        .warp = 2,
                        .kind = GPURT_KIND_LOG,
                        .section = GPU0,
                        .form = GPURT_FORM_WARP,
                        .level = GPURT_LEVEL_INFO};
    uint32_t one = 1, own[4] = {10, 11, 12, 13};
    uint32_t failed[1 + 10 + 2] = {4711, 17}, lost[4] = {GPURT_LOSS_FULL, 6, 0, 5};

    put(c, head, 160 * US, &one, 1);
    head.mask = 0xf0;
    head.form = GPURT_FORM_LANES_PART;
    put(c, head, 170 * US, own, 4);
    head.form = GPURT_FORM_WARP_PART;
    head.site = c->panic;
    head.kind = GPURT_KIND_PANIC;
    head.level = GPURT_LEVEL_PANIC;
    put(c, head, 900 * US, failed, 13);
    head = (gpurt_row_t){.sm = 3,
                         .slot = 5,
                         .kind = GPURT_KIND_LOSS,
                         .section = GPU0,
                         .form = GPURT_FORM_BLOCK,
                         .level = GPURT_LEVEL_LOST};
    put(c, head, 910 * US, lost, 4);
    lost[3] = UINT32_MAX;
    put(c, head, 911 * US, lost, 4);
    head = (gpurt_row_t){.site = c->log,
                         .block = OTHER,
                         .mask = 1,
                         .kind = GPURT_KIND_LOG,
                         .section = HOST,
                         .form = GPURT_FORM_THREAD,
                         .level = GPURT_LEVEL_INFO};
    put(c, head, 50 * US, &one, 1);
}

static void bulk_write(course_t *c, uint64_t bulk)
{
    static const char *const texts[] = {"bulk_a", "bulk_b", "bulk_c"};

    for (uint64_t i = 0; i < bulk && c->st == GPURT_OK; i++) {
        lane_t lane = {(uint32_t)(i % 2), 1 + (uint32_t)(i % 2) * 2,
                       7 + (uint32_t)(i / 2 % 4)};
        uint64_t at = COURSE_BULK_NS + i * 2 * US;

        call(c, "cudaLaunchKernel", MAIN, at - 1 * US, 900, 1000 + (uint32_t)i);
        kernel(c, texts[i % 3], lane, at, 1 * US, 1000 + (uint32_t)i);
    }
}

static void rows_write(course_t *c)
{
    sites_define(c);
    device_work(c);
    host_work(c);
    ranges(c);
    figures(c);
    messages(c);
}

gpurt_status_t course_write(gpurt_writer_t *w, uint64_t bulk, gpurt_error_t *err)
{
    course_t c = {.w = w, .err = err};

    rows_write(&c);
    bulk_write(&c, bulk);
    return c.st;
}

gpurt_status_t course_write_of(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                               uint64_t late_ns, gpurt_error_t *err)
{
    course_t c = {.w = w, .numbers = numbers, .late_ns = late_ns, .err = err};

    rows_write(&c);
    return c.st;
}
