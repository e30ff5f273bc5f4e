/* SPDX-License-Identifier: Apache-2.0 */
/* make_several FILE - a log of two processes at once, on one GPU: what each numbers, the other
 * numbers too. Process 1001 is FIRST, 22 is SECOND; both are called "rank \033[31m". Times are
 * microseconds after the start.
 *
 *    5        what GPU 0 is for SECOND: called "two", where boxes say "one"
 *   10 to 19  steps of both in turn, 5 each: block 5, warp 5, SM 0, slot 1; the values of FIRST
 *             are 100 to 104, of SECOND 200 to 204
 *   20, 21    ways to a launch: alpha of FIRST, beta of SECOND
 *   30, 31    launches, call 7 on stream 1: alpha of FIRST, beta of SECOND
 *   40        alpha's kernel ended
 *   50        a panic of FIRST, 60 one of SECOND, 70 the second of FIRST: all of launch 41,
 *             block 5, at one site
 *   80        a panic of SECOND elsewhere */
#include "check.h"
#include "writer.h"

#include <gpurt/impl/activity.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST,
    SECOND,
    LAUNCH = 41,
    BLOCK = 5,
    CALL = 7,
    US = 1000
};
#define START_NS 1767225600000000000ull /* 2026-01-01 00:00:00 UTC */

static const struct {
    uint32_t pid;
    const char *kernel;
} who[] = {{1001, "alpha"}, {22, "beta"}};

/* Owner: main. */
typedef struct several {
    gpurt_writer_t *writer;
    gplog_numbers_t numbers[2];
    uint32_t step, bounds, other, launch, kernel, device; /* sites */
    struct {
        gpurt_row_t row;
        uint32_t words[64];
    } r;
} several_t;

static gpurt_error_t err;

static gplog_file_t about_of(uint32_t which)
{
    gplog_file_t about = {
        .section_count = 1,
        .sections = {
            {.kind = GPURT_SECTION_CUDA, .sm_count = 2, .warp_slots = 2, .name = "one"}}};

    about.identity.pid = who[which].pid;
    about.identity.start_ticks = 77 + which;
    snprintf(about.identity.program, sizeof about.identity.program, "rank \033[31m");
    return about;
}

static uint32_t site(several_t *s, uint32_t kind, uint32_t line, uint64_t types,
                     const char *format)
{
    gpurt_site_info_t info = {.kind = GPURT_DEF_SITE,
                              .record_kind = (uint8_t)kind,
                              .level = kind == GPURT_KIND_PANIC ? GPURT_LEVEL_PANIC
                                                                : GPURT_LEVEL_INFO,
                              .line = line,
                              .types = types,
                              .format = format,
                              .format_bytes = (uint32_t)strlen(format),
                              .file = "src/kernel.c",
                              .file_bytes = 12,
                              .module = ""};

    for (; types; types >>= 4)
        info.arg_count++;
    return gpurt_dictionary_add(gpurt_writer_dictionary(s->writer), &info);
}

static uint32_t string(several_t *s, const char *text)
{
    gpurt_site_info_t info = {.kind = GPURT_DEF_STRING,
                              .format = text,
                              .format_bytes = (uint32_t)strlen(text),
                              .file = "",
                              .module = ""};

    return gpurt_dictionary_add(gpurt_writer_dictionary(s->writer), &info);
}

static void word(several_t *s, uint32_t value)
{
    s->r.words[s->r.row.words++] = value;
}

static void begin(several_t *s, uint32_t kind, uint32_t id, uint32_t us)
{
    memset(&s->r, 0, sizeof s->r);
    s->r.row = (gpurt_row_t){.time_ns = START_NS + us * US,
                             .site = id,
                             .block = BLOCK,
                             .mask = 1,
                             .slot = 1,
                             .warp = BLOCK,
                             .kind = (uint8_t)kind,
                             .form = GPURT_FORM_WARP_PART,
                             .level = kind == GPURT_KIND_PANIC ? GPURT_LEVEL_PANIC
                                                               : GPURT_LEVEL_INFO};
}

static void put(several_t *s, uint32_t which)
{
    CHECK_MSG(gpurt_writer_put_of(s->writer, &s->numbers[which], &s->r.row, &err) ==
                  GPURT_OK,
              "%s", err.text);
}

static void step(several_t *s, uint32_t which, uint32_t value, uint32_t us)
{
    begin(s, GPURT_KIND_LOG, s->step, us);
    word(s, value);
    put(s, which);
}

static void way(several_t *s, uint32_t which, uint32_t us)
{
    char text[64];

    begin(s, GPURT_KIND_TEXT, 0, us);
    s->r.row.form = GPURT_FORM_THREAD;
    word(s, (uint32_t)snprintf(text, sizeof text, "launch of %s at main.c:%u",
                               who[which].kernel, which));
    memcpy(s->r.words + 1, text, sizeof text);
    s->r.row.words = 1 + sizeof text / 4;
    put(s, which);
}

static void activity(several_t *s, uint32_t which, uint32_t kind, uint32_t us,
                     const void *body, uint32_t bytes)
{
    const uint32_t id = kind == GPURT_KIND_KERNEL   ? s->kernel
                        : kind == GPURT_KIND_DEVICE ? s->device
                                                    : s->launch;

    begin(s, kind, id, us);
    s->r.row.block = 0;
    s->r.row.form = GPURT_FORM_THREAD;
    s->r.row.level = GPURT_LEVEL_TRACE;
    memcpy(s->r.words, body, bytes);
    s->r.row.words = (uint16_t)(bytes / 4);
    put(s, which);
}

static void launch(several_t *s, uint32_t which, uint32_t us)
{
    gpurt_activity_driver_launch_t l = {.name = string(s, who[which].kernel),
                                        .calls = string(s, "app+0x10"),
                                        .grid = {9, 1, 1},
                                        .block = {32, 1, 1},
                                        .stream = gpurt_pair(1),
                                        .correlation = CALL,
                                        .thread = who[which].pid};

    activity(s, which, GPURT_KIND_DRIVER_LAUNCH, us, &l, sizeof l);
}

static void ends(several_t *s, uint32_t which, uint32_t us)
{
    gpurt_activity_kernel_t k = {.name = string(s, who[which].kernel),
                                 .ns = gpurt_pair(5 * US),
                                 .grid = {9, 1, 1},
                                 .block = {32, 1, 1},
                                 .stream = 1,
                                 .correlation = CALL};

    activity(s, which, GPURT_KIND_KERNEL, us, &k, sizeof k);
}

static void device(several_t *s, uint32_t which, const char *name, uint32_t us)
{
    gpurt_activity_device_t d = {
        .major = 9, .sms = 132, .warp = 32, .name = string(s, name)};

    activity(s, which, GPURT_KIND_DEVICE, us, &d, sizeof d);
}

/* number: of the panics of its process. */
static void panics(several_t *s, uint32_t which, uint32_t id, uint32_t number, uint32_t us)
{
    begin(s, GPURT_KIND_PANIC, id, us);
    word(s, who[which].pid);
    word(s, BLOCK);
    for (uint32_t i = 0; i < 6; i++) /* rest of block and thread, lane */
        word(s, 0);
    word(s, 1); /* lanes that failed */
    word(s, 0); /* clock */
    word(s, 0);
    word(s, who[which].pid); /* of the lane */
    word(s, 0);
    word(s, GPLOG_PART_ABOUT << 24 | 10);
    word(s, GPURT_CATEGORY_PANIC);
    word(s, number);
    word(s, LAUNCH);
    word(s, 0);
    for (uint32_t i = 0; i < 6; i++) /* grid and block */
        word(s, i == 0 ? 9 : 1);
    put(s, which);
}

static void write_all(several_t *s)
{
    device(s, SECOND, "two", 5);
    for (uint32_t i = 0; i < 5; i++) {
        step(s, FIRST, 100 + i, 10 + 2 * i);
        step(s, SECOND, 200 + i, 11 + 2 * i);
    }
    for (uint32_t which = FIRST; which <= SECOND; which++) {
        way(s, which, 20 + which);
        launch(s, which, 30 + which);
    }
    ends(s, FIRST, 40);
    panics(s, FIRST, s->bounds, 0, 50);
    panics(s, SECOND, s->bounds, 0, 60);
    panics(s, FIRST, s->bounds, 1, 70);
    panics(s, SECOND, s->other, 1, 80);
}

int main(int argc, char **argv)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .frame_rows = 8};
    several_t s = {0};

    CHECK_MSG(argc == 2, "usage: make_several FILE");
    unlink(argv[1]);
    CHECK_MSG(gpurt_writer_open(argv[1], &options, &s.writer, &err) == GPURT_OK, "%s",
              err.text);
    for (uint32_t which = FIRST; which <= SECOND; which++) {
        gplog_file_t about = about_of(which);

        CHECK_MSG(gpurt_writer_about(s.writer, &about, &err) == GPURT_OK, "%s", err.text);
        gpurt_writer_numbers(s.writer, &about, &s.numbers[which]);
    }
    s.step = site(&s, GPURT_KIND_LOG, 3, GPURT_TYPE_U32, "step %u");
    s.bounds = site(&s, GPURT_KIND_PANIC, 6, GPURT_TYPE_U32, "bad value %u");
    s.other = site(&s, GPURT_KIND_PANIC, 9, GPURT_TYPE_U32, "worse value %u");
    s.launch = site(&s, GPURT_KIND_DRIVER_LAUNCH, 0, 0, "launch");
    s.kernel = site(&s, GPURT_KIND_KERNEL, 0, 0, "kernel");
    s.device = site(&s, GPURT_KIND_DEVICE, 0, 0, "device");
    write_all(&s);
    CHECK_MSG(gpurt_writer_close(s.writer, &err) == GPURT_OK, "%s", err.text);
    return 0;
}
