/* SPDX-License-Identifier: Apache-2.0 */
/* A panic in one block: its slot tells who, where and with what; the other blocks
 * finish, the runtime stays usable, and more panics than slots are counted. In the next box, where
 * texts have other numbers, a site that remembers those of the first tells the right ones. */
#include "../check.h"
#include "../kernels/log_kernels.h"
#include "boxmap.h"
#include "life.h"

#include <gpurt/gpurt.h>
#include <gpurt/panic.h>
#include <string.h>

GPURT_KERNEL_DECLARE(panic_bounds, struct panic_args);
GPURT_KERNEL_DECLARE(panic_logs, struct panic_args);

enum {
    SLOTS = 16
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_t *rt;
static gpurt_launch_t launch = {.grid = {8, 1, 1}, .block = {64, 1, 1}};

static const gpurt_opened_t *box_open(void)
{
    gpurt_section_plan_t s = {.panic_count = SLOTS};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    const gpurt_opened_t *opened;
    gpurt_info_t info;

    CHECK_MSG(gpurt_life_enter(rt, &opened, &err) == GPURT_OK, "%s", err.text);
    gpurt_life_leave(opened, GPURT_OK);
    CHECK(gpurt_info(rt, &info) == GPURT_OK);
    s.kind = info.backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU;
    s.sm_count = info.sm_count;
    s.warp_slots = info.warp_slots;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(opened->ops->box_connect(opened->self, &map, 0, &err) == GPURT_OK, "%s",
              err.text);
    return opened;
}

static void text_is(uint32_t number, uint32_t kind, const char *text)
{
    gpurt_def_t *def;

    CHECK_MSG(number != 0, "no \"%s\"", text);
    def = gpurt_boxmap_def(&map, 0, number - 1);
    CHECK_MSG(def->xstate == kind && def->format_bytes == strlen(text) &&
                  memcmp(gpurt_def_text(def), text, strlen(text)) == 0,
              "\"%.*s\", expected \"%s\"", (int)def->format_bytes, gpurt_def_text(def),
              text);
}

/* Returns: lanes that it tells. */
static uint32_t told(const gpurt_panic_t *p)
{
    uint32_t lanes = 0;

    CHECK_MSG(p->block.x == 7 && p->args[1] == 448 && p->site != 0, "block %u", p->block.x);
    CHECK_MSG(gpurt_boxmap_def(&map, 0, p->site - 1)->level == GPURT_LEVEL_PANIC, "site");
    text_is(p->site, GPURT_DEF_SITE, "index %u of %u");
    text_is(p->condition, GPURT_DEF_STRING, "i < p->limit || i % 8 != 0");
    CHECK(p->function != 0 && p->function != p->condition);
    CHECK_MSG(p->args[0] == 448 + p->thread.x && p->lanes[0][p->lane] == p->args[0],
              "operands");
    for (uint32_t m = p->failed; m; m &= m - 1, lanes++)
        CHECK_MSG(p->lanes[0][__builtin_ctz(m)] ==
                      448 + p->warp * 32 + (uint32_t)__builtin_ctz(m),
                  "lane %d", __builtin_ctz(m));
    return lanes;
}

static void one_block(struct panic_args *args)
{
    uint32_t found = 0;

    *args->done = 0;
    args->limit = 448;
    CHECK_MSG(gpurt_launch(rt, &launch, panic_bounds, args, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_sync(rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(*args->done == 512 - 8, "%u lanes finished", *args->done);
    for (uint32_t i = 0; i < SLOTS; i++) {
        const gpurt_panic_t *p = gpurt_boxmap_panic(&map, 0, i);

        if (p->xstate == GPURT_PANIC_WRITTEN && p->block.x == 7)
            found += told(p);
    }
    CHECK_MSG(found == 8, "%u lanes told", found);
}

/* 8 lanes in each of 16 warps: more than there are slots. */
static void more_than_slots(struct panic_args *args)
{
    args->limit = 0;
    CHECK_MSG(gpurt_launch(rt, &launch, panic_bounds, args, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_sync(rt, &err) == GPURT_OK, "the runtime goes on: %s", err.text);
    CHECK_MSG(map.box->sections[0].xpanics > SLOTS, "%u counted",
              map.box->sections[0].xpanics);
}

static void a_log_call(struct panic_args *args)
{
    *args->done = 0;
    CHECK_MSG(gpurt_launch(rt, &launch, panic_logs, args, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_sync(rt, &err) == GPURT_OK, "a log call is a safe point: %s", err.text);
    CHECK_MSG(*args->done == 7 * 64, "%u lanes of the other blocks", *args->done);
}

int main(void)
{
    const gpurt_options_t own = {.panics = GPURT_PANICS_OFF}; /* the box is the test's */
    struct panic_args args = {NULL, 0};
    const gpurt_opened_t *opened;

    CHECK_MSG(gpurt_open(&own, &rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_host_create(rt, sizeof *args.done, (void **)&args.done, &err) ==
                  GPURT_OK,
              "%s", err.text);
    *args.done = 0;
    opened = box_open();
    one_block(&args);
    more_than_slots(&args);
    a_log_call(&args);
    opened->ops->box_disconnect(opened->self, &map, 0);
    gpurt_boxmap_detach(&map);
    opened = box_open();
    a_log_call(&args); /* takes the first numbers */
    one_block(&args);
    opened->ops->box_disconnect(opened->self, &map, 0);
    gpurt_boxmap_detach(&map);
    gpurt_host_destroy(rt, args.done);
    CHECK_MSG(gpurt_close(rt, &err) == GPURT_OK, "%s", err.text);
    return 0;
}
