/* SPDX-License-Identifier: Apache-2.0 */
/* panic_scene FOLDER [hang] - what gpurt-panic is tested on: a black box (a file in
 * FOLDER, its name ends in .box) and the log drained out of it (FOLDER/run.gplog), with
 * panics and records of known places.
 *
 * Two SMs of two warp slots. Times are microseconds after the start; the panic of interest
 * is at 1000, in block 5, warp 5, SM 0, slot 1. Messages say whose they are:
 *   slot 0.1: block 37 (the same warp number, earlier) 0..4, block 5: 100..139, a row of
 *             lane values at 900, and three after the panic
 *   slot 0.0: block 9, 200..249
 *   slot 1.0: block 43 (the same warp number, earlier) 290..291, block 11: 300..309
 * In the log there are six panics. In the box the second slot of them is emptied again, as
 * if its lane had died, and three more were raised than there are slots. `hang` waits. */
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"

#include <string.h>
#include <unistd.h>

enum {
    SITE_STEP = 1,
    SITE_BOUNDS,
    SITE_FLOAT,
    SITE_LANES,
    TEXT_NAME,
    TEXT_PROMISE,
    TEXT_REQUEST,
    TEXT_KERNEL,
    TEXT_HELPER,
    TEXT_FILE,
    TEXT_TABLE,
    PANIC_SLOTS = 6, /* all of them taken */
    STEP_NS = 1000
};

static gpurt_boxmap_t map;
static gpurt_error_t err;
static uint64_t start_ns;

static void define(uint32_t number, uint32_t what, uint32_t level, uint32_t line,
                   uint64_t types, const char *format, const char *file)
{
    gpurt_def_t *def = gpurt_boxmap_def(&map, 0, number - 1);
    size_t format_bytes = strlen(format), file_bytes = strlen(file);

    def->slots = 1;
    def->level = (uint8_t)level;
    def->line = line;
    def->kind = level == GPURT_LEVEL_PANIC ? GPURT_KIND_PANIC : GPURT_KIND_LOG;
    def->types = types;
    for (; types; types >>= 4)
        def->arg_count++;
    def->format_bytes = (uint16_t)format_bytes;
    def->file_bytes = (uint16_t)file_bytes;
    memcpy(gpurt_def_text(def), format, format_bytes);
    memcpy(gpurt_def_text(def) + format_bytes, file, file_bytes);
    gpurt_store_release_sys_u32(&def->xstate, what); /* B3.rel */
}

static void define_all(void)
{
    define(SITE_STEP, GPURT_DEF_SITE, GPURT_LEVEL_INFO, 3,
           GPURT_TYPE_U32 | GPURT_TYPE_STRING << 4, "step %u of %s \033[31m",
           "src/kernel.c");
    define(SITE_BOUNDS, GPURT_DEF_SITE, GPURT_LEVEL_PANIC, 6,
           GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4 | GPURT_TYPE_STRING << 8,
           "index %u of %u in %s", "src/kernel.c");
    define(SITE_FLOAT, GPURT_DEF_SITE, GPURT_LEVEL_PANIC, 1, GPURT_TYPE_F64, "bad float %f",
           "/etc/passwd");
    define(SITE_LANES, GPURT_DEF_SITE, GPURT_LEVEL_WARN, 4,
           GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4, "lane value %u, %u", "src/kernel.c");
    define(TEXT_PROMISE, GPURT_DEF_STRING, 0, 0, 0, "0 <= i < n\033[31m", "");
    define(TEXT_REQUEST, GPURT_DEF_STRING, 0, 0, 0, "request", "");
    define(TEXT_KERNEL, GPURT_DEF_STRING, 0, 0, 0, "gpurt_body_of_scene", "");
    define(TEXT_HELPER, GPURT_DEF_STRING, 0, 0, 0, "helper", "");
    define(TEXT_FILE, GPURT_DEF_STRING, 0, 0, 0, "src/helper.h", "");
    define(TEXT_TABLE, GPURT_DEF_STRING, 0, 0, 0, "table", "");
    define(TEXT_NAME, GPURT_DEF_STRING, 0, 0, 0, "q\033]0;evil\007\302\233\342\200\256",
           "");
}

static void step(uint32_t ring, uint32_t block, uint32_t number, uint32_t us)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, ring);

    CHECK_MSG(
        feed_uniform(&port, SITE_STEP, block, number, TEXT_NAME, start_ns + us * STEP_NS),
        "ring %u is full", ring);
}

static void write_records(void)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, 1);

    for (uint32_t i = 0; i < 5; i++)
        step(1, 37, i, i);
    for (uint32_t i = 0; i < 40; i++)
        step(1, 5, 100 + i, 100 + i);
    CHECK_MSG(feed_lanes(&port, SITE_LANES, 5, 500, 7, start_ns + 900 * STEP_NS), "lanes");
    for (uint32_t i = 0; i < 3; i++)
        step(1, 5, 600 + i, 1001 + i);
    for (uint32_t i = 0; i < 50; i++)
        step(0, 9, 200 + i, 140 + i);
    for (uint32_t i = 0; i < 2; i++)
        step(2, 43, 290 + i, 390 + i);
    for (uint32_t i = 0; i < 10; i++)
        step(2, 11, 300 + i, 400 + i);
}

/* All that a record can tell. */
static void fill(gpurt_panic_t *p, uint32_t slot)
{
    gpurt_panic_window_t *w = &p->windows[0];

    p->number = slot;
    p->category = GPURT_CATEGORY_BOUNDS;
    p->condition = TEXT_PROMISE;
    p->function = TEXT_KERNEL;
    p->grid.x = 9;
    p->grid.y = p->grid.z = 1;
    p->block_dim.x = 192;
    p->block_dim.y = p->block_dim.z = 1;
    p->cluster_rank = 1;
    p->cluster_size = 3;
    p->launch = 41 + slot / 2;
    p->log_sequence = 45;
    p->context_count = 2;
    p->contexts_left_out = 1;
    p->contexts[0] = (gpurt_panic_context_t){TEXT_REQUEST, GPURT_TYPE_U64, 4711};
    p->contexts[1] = (gpurt_panic_context_t){TEXT_TABLE, GPURT_TYPE_STRING, TEXT_NAME};
    p->frame_count = 2;
    p->frames_left_out = 5;
    p->frames[0] = (gpurt_panic_frame_t){TEXT_HELPER, TEXT_FILE, 12};
    p->frames[1] = (gpurt_panic_frame_t){TEXT_KERNEL, TEXT_FILE, 99};
    p->window_count = 1;
    w->name = TEXT_TABLE;
    w->base = 0x7f0000001000u;
    w->size = 400;
    w->start = w->base + 144;
    w->mark = w->base + 404;
    w->bytes = GPURT_PANIC_WINDOW;
    for (uint32_t i = 0; i < w->bytes; i++)
        w->data[i] = (uint8_t)i;
    if (slot == 2)
        w->mark = w->start + 35;
}

static void raise_panic(uint32_t slot, uint32_t site, uint32_t us, uint32_t block_y,
                        uint64_t argument)
{
    gpurt_panic_t *p = gpurt_boxmap_panic(&map, 0, slot);

    p->site = site;
    p->sm = block_y ? 1 : 0;
    p->warp_slot = block_y ? 0 : 1;
    p->block.x = block_y ? 1 : 5;
    p->block.y = block_y;
    p->thread.x = 167;
    p->warp = block_y ? 11 : 5;
    p->lane = 7;
    p->mask = 0xffffu;
    p->failed = 3u << 7;
    p->time_ns = start_ns + us * STEP_NS;
    p->clock = 123456789012345u;
    p->args[0] = p->lanes[0][7] = argument;
    p->lanes[0][8] = argument + 1;
    p->args[1] = 100;
    p->args[2] = TEXT_NAME;
    if (site == SITE_BOUNDS)
        fill(p, slot);
    gpurt_add_relaxed_sys_u32(&map.box->sections[0].xpanics, 1);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}

static void raise_all(void)
{
    double value = -2.5;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 5; i++)
        raise_panic(i, SITE_BOUNDS, 1000 + 1000 * i, 0, 101 + i);
    raise_panic(5, SITE_FLOAT, 9000, 2, bits);
}

static void drain_into(const char *path)
{
    gpurt_drain_options_t options = {.struct_size = sizeof options, .sink_count = 1};
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .frame_rows = 16};
    gpurt_writer_t *writer;
    gpurt_drain_t *drain;
    gplog_file_t about;

    gpurt_drain_about(&map, &about);
    wo.about = &about;
    CHECK_MSG(gpurt_writer_open(path, &wo, &writer, &err) == GPURT_OK, "%s", err.text);
    options.sinks[0] = gpurt_logsink(writer);
    options.dictionary = gpurt_writer_dictionary(writer);
    CHECK_MSG(gpurt_drain_open(&map, &options, &drain, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_drain_finish(drain, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(drain);
    CHECK_MSG(gpurt_writer_close(writer, &err) == GPURT_OK, "%s", err.text);
}

int main(int argc, char **argv)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = 2,
                              .warp_slots = 2,
                              .panic_count = PANIC_SLOTS,
                              .name = "scene \033[2J"};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    char path[4096];

    CHECK_MSG(argc > 1, "usage: panic_scene FOLDER [hang]");
    plan.no_memfd = argc == 2;
    plan.folder = argv[1];
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    start_ns = gpurt_real_ns() - 1000000000u;
    define_all();
    write_records();
    raise_all();
    snprintf(path, sizeof path, "%s/run.gplog", argv[1]);
    drain_into(path);
    gpurt_boxmap_panic(&map, 0, 1)->xstate = GPURT_PANIC_EMPTY;
    map.box->sections[0].xpanics = PANIC_SLOTS + 3;
    puts("ready");
    fflush(stdout);
    if (argc > 2)
        for (;;)
            pause();
    _exit(0); /* the box's file stays */
}
