/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_box - any bytes as a black box: attached as a descriptor and as a part of a core
 * dump, its rings, sites and panics drained into a model, every row rendered. Headers that
 * lost their checksum to the fuzzer get it back when the size is odd, so that it reaches
 * what lies behind; counts and offsets then are as hostile as it likes. */
#include "fuzz.h"

#include "boxcheck.h"
#include "check.h"
#include "feed.h"
#include "json.h"
#include "model.h"
#include "procfs.h"
#include "render.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ROUNDS = 3
};

/* A sink and what it found wrong. */
static gpurt_status_t row_look(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    char text[GPURT_MESSAGE_MAX], safe[GPURT_MESSAGE_MAX];
    const gpurt_dictionary_t *d = context;
    gpurt_json_t json;
    gpurt_text_t out;
    uint32_t lanes = gpurt_row_per_lane(row) ? 2 : 1;

    (void)err;
    CHECK(row->words <= GPLOG_ROW_WORDS);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        gpurt_text_init(&out, text, sizeof text);
        gpurt_render_message(d, row, lane, &out);
        gpurt_json_memory(&json, safe, sizeof safe);
        gpurt_json_bytes(&json, NULL, text, out.used);
    }
    return GPURT_OK;
}

static void box_drain(const gpurt_boxmap_t *map)
{
    gpurt_dictionary_t dictionary = {0};
    gpurt_drain_options_t o = {
        .struct_size = sizeof o,
        .sink_count = 1,
        .sinks = {{.context = &dictionary, .put = row_look, .in_order = true}},
        .dictionary = &dictionary};
    gpurt_modelview_t *view = calloc(1, sizeof *view);
    gpurt_model_t *model = NULL;
    gpurt_drain_t *d;
    gplog_file_t about;
    uint32_t rows;

    gpurt_drain_about(map, &about);
    if (view && gpurt_model_create(&dictionary, &about, &model, NULL) == GPURT_OK)
        o.sinks[o.sink_count++] = gpurt_model_sink(model);
    if (gpurt_drain_open(map, &o, &d, NULL) == GPURT_OK) {
        for (int i = 0; i < ROUNDS; i++)
            gpurt_drain_round(d, &rows, NULL);
        gpurt_drain_finish(d, NULL);
        gpurt_drain_close(d);
    }
    if (model)
        gpurt_model_view(model, gpurt_model_last_ns(model), GPURT_MODEL_ENDED, view);
    gpurt_model_destroy(model);
    free(view);
    gpurt_dictionary_fini(&dictionary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    gpurt_boxmap_t map;

    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if ((size & 1u) && size >= sizeof(gpurt_box_t)) {
        gpurt_box_t head;

        memcpy(&head, data, sizeof head);
        head.magic = GPURT_BOX_MAGIC;
        head.check = gpurt_boxcheck_sum(&head);
        CHECK(pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head);
    }
    for (int writable = 0; writable < 2; writable++)
        if (gpurt_boxmap_attach_fd(fd, writable, &map, NULL) == GPURT_OK) {
            box_drain(&map);
            gpurt_boxmap_detach(&map);
        }
    close(fd);
    return 0;
}

/* ---- sound boxes --------------------------------------------------------------------- */

static void fill(const gpurt_boxmap_t *map, uint32_t policy)
{
    uint64_t time = map->box->identity.real_ns;
    uint32_t fed = policy == GPURT_POLICY_OVERWRITE ? 2000 : 60;

    feed_define(map, 0);
    for (uint32_t i = 0; i < fed; i++) {
        gpurt_ring_port_t port = gpurt_boxmap_port(map, 0, i % 3);

        if (i % 7 == 3)
            feed_lanes(&port, 1 + i % FEED_SITES, i, i, i, time += 1000);
        else
            feed_uniform(&port, 1 + i % FEED_SITES, i, i, i % 3, time += 1000);
    }
    feed_panic(map, 0, 0, 1);
    gpurt_add_relaxed_sys_u32(&map->box->sections[0].xpanics, 1);
    feed_panic(map, 0, 2, 2);
}

/* What a drainer that was killed may have left. */
static void shelve(const gpurt_boxmap_t *map)
{
    const gpurt_ring_control_t *c = gpurt_boxmap_control(map, 0, 1);
    const gpurt_group_t *from = gpurt_boxmap_groups(map, 0, 1);
    gpurt_group_t *shelf = gpurt_boxmap_shelf(map);
    gpurt_box_piece_t piece = {.ring = 1, .start = c->head.xhead - 16, .groups = 8};

    for (int i = 0; i < 2; i++, piece.start += 8) {
        uint32_t at = map->box->shelf.xend;

        memcpy(&shelf[at++ % map->shelf.group_count], &piece, sizeof piece);
        for (uint32_t g = 0; g < piece.groups; g++)
            shelf[at++ % map->shelf.group_count] =
                from[(piece.start + g) % (4096 / GPURT_GROUP_BYTES)];
        map->box->shelf.xend = at;
    }
}

/* Small, so that a fuzzer finds its way: one ring policy each. */
uint8_t *fuzz_seed(uint32_t index, size_t *size)
{
    gpurt_section_plan_t s[2] = {{.kind = GPURT_SECTION_CPU,
                                  .sm_count = 3,
                                  .ring_bytes = 4096,
                                  .policy = index,
                                  .def_count = 16,
                                  .panic_count = 4,
                                  .state_bytes = 4096,
                                  .name = "fuzz"},
                                 {.kind = GPURT_SECTION_CUDA,
                                  .sm_count = 2,
                                  .ring_bytes = 4096,
                                  .def_count = 1,
                                  .panic_count = 1,
                                  .state_bytes = 4096}};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 2, .sections = s, .shelf_bytes = 4096};
    gpurt_boxmap_t map;
    gpurt_error_t err;
    uint8_t *copy;

    if (index > GPURT_POLICY_BLOCK)
        return NULL;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    fill(&map, index);
    shelve(&map);
    copy = malloc(map.bytes);
    CHECK(copy);
    memcpy(copy, map.box, map.bytes);
    *size = map.bytes;
    gpurt_boxmap_detach(&map);
    return copy;
}
