/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on heaps in the model: what was told last counts, what has ended makes room,
 * rows that are too short are not believed, those of several processes are told apart; and on
 * the screen at both sizes. */
#include "heap_text.h"
#include "model_stage.h"
#include "picture.h"
#include "region_text.h"

#include <gpurt/impl/heaprow.h>
#include <locale.h>

#define KIB (1ull << 10)

static void put_region(uint32_t id, uint64_t time_ns, uint64_t used, uint32_t flags)
{
    gpurt_region_state_row_t s = {.region = id,
                                  .flags = flags,
                                  .granule = 256,
                                  .name = string("mesh \"a\""),
                                  .bytes = gpurt_pair(1024 * KIB),
                                  .used = gpurt_pair(used),
                                  .largest = gpurt_pair(128 * KIB),
                                  .holes = gpurt_pair(14),
                                  .blocks = gpurt_pair(812),
                                  .full = gpurt_pair(3),
                                  .fragmented = gpurt_pair(2),
                                  .refused = gpurt_pair(1),
                                  .wrong = gpurt_pair(7),
                                  .stuck = gpurt_pair(4),
                                  .races = gpurt_pair(9),
                                  .looking = 1};

    put(GPURT_KIND_REGION_STATE, time_ns, &s, sizeof s);
}

static void put_rest(void)
{
    gpurt_region_map_row_t map = {.region = 1, .granules = 32};
    gpurt_heap_state_row_t heap = {.heap = 64, .bytes = gpurt_pair(64 * KIB)};
    gpurt_heap_pools_row_t pools = {.heap = 64};

    for (uint32_t i = 0; i < GPURT_HEAP_CELLS / 16; i++)
        map.cells[i] = gpurt_pair(0xfd00123456789abcull);
    pools.got[0] = gpurt_pair(9000);
    pools.got[3] = gpurt_pair(1000);
    pools.put[1] = gpurt_pair(5000);
    put(GPURT_KIND_REGION_MAP, T0, &map, sizeof map);
    map.granules = 1;
    put(GPURT_KIND_REGION_MAP, T0 + 9, &map, sizeof map - 4); /* too short */
    put(GPURT_KIND_HEAP_STATE, T0, &heap, sizeof heap);
    put(GPURT_KIND_HEAP_POOLS, T0, &pools, sizeof pools);
}

static void check_sums(void)
{
    const gpurt_model_region_t *r = &view->heaps.regions[0];

    put_region(1, T0, 640 * KIB, 2);
    put_region(1, T0 - 5, 1, 0); /* older: not what it is now */
    put_region(1, T0 + 9, 512 * KIB, 1);
    put_rest();
    look();
    CHECK_EQ(view->heaps.region_count, 1);
    CHECK_EQ(r->used, 512 * KIB);
    CHECK_EQ(r->peak_used, 640 * KIB);
    CHECK_EQ(region_fragmented(r), 75);
    CHECK_EQ(region_refused(r), 6);
    CHECK(strcmp(region_policy(r), "best") == 0);
    CHECK(strcmp(r->name, "mesh \"a\"") == 0);
    CHECK_EQ(r->cells[0], 0xc);
    CHECK_EQ(r->map_granules, 32);
    CHECK_EQ(view->heaps.list[0].got[3], 1000);
    CHECK_EQ(view->heaps.others, 0);
    CHECK_EQ(view->lines[GPURT_CLASS_LOW].end, 0); /* none of it is a line of the log */
}

/* More regions than rows: those that ended go first. */
static void check_crowd(void)
{
    for (uint32_t i = 2; i <= GPURT_MODEL_REGIONS; i++)
        put_region(i, T0 + i, i == 5 ? 512 * KIB : i, i == 5 ? GPURT_HEAP_ENDED : 0);
    put_region(100, T0 + 100, 100, 0);
    put_region(101, T0 + 101, 101, 0);
    look();
    CHECK_EQ(view->heaps.region_count, GPURT_MODEL_REGIONS);
    CHECK_EQ(view->heaps.regions[4].told.id, 100);
    CHECK_EQ(view->heaps.regions[4].peak_used, 100); /* not that of the one before */
    CHECK_EQ(view->heaps.others, 1);
}

/* ---- the screen ---------------------------------------------------------------------- */

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

static void draw(canvas_t *c, uint32_t selected)
{
    picture_t p = {.view = view,
                   .name = "x",
                   .hertz = 10,
                   .speed = 1,
                   .shown = VIEW_HEAPS,
                   .heap = selected};

    canvas_clear(c);
    picture_draw(&p, c);
}

static void check_screen(int rows, int columns)
{
    canvas_t c = {.unicode = false};

    CHECK(canvas_resize(&c, rows, columns));
    draw(&c, 0);
    CHECK(on_canvas(&c, "Heaps  1  regions  1"));
    CHECK(on_canvas(&c, "region 1   ######......  50% mesh \"a\" 512.0 KiB of 1.0 MiB  "
                        "7 wrong  6 r"));
    CHECK(on_canvas(&c, "pools served    10.0k   thread 90%  warp 0%  block 0%  heap 10%"));
    CHECK(on_canvas(&c, "took back 5000    thread 0%  warp 100%"));
    draw(&c, 1);
    CHECK(on_canvas(&c,
                    "most 640.0 KiB  free 512.0 KiB, 128.0 KiB in a row, fragmented 75%"));
    CHECK(on_canvas(&c, "best fit, granules of 256 B  1 warp looks for a place"));
    CHECK(on_canvas(&c, "refused: 3 full, 2 fragmented, 1 else"));
    CHECK(on_canvas(&c, "resized, but not in place: 4; places lost to other lanes: 9"));
    CHECK(on_canvas(&c, "#xxxx++++---..#")); /* the first cells of the map */
    CHECK(on_canvas(&c, "a cell: 32 granules of 256 B, by what is used; . free"));
    canvas_fini(&c);
}

/* The one that is selected is on the screen, however long the list. */
static void check_scroll(void)
{
    canvas_t c = {.unicode = false};

    CHECK(canvas_resize(&c, 24, 80));
    draw(&c, 0);
    CHECK(on_canvas(&c, "heap 64    "));
    CHECK(!on_canvas(&c, "region 16 "));
    CHECK(on_canvas(&c, " below)"));
    draw(&c, 1000); /* the last */
    CHECK(!on_canvas(&c, "heap 64    "));
    CHECK(on_canvas(&c, "region 16 "));
    canvas_fini(&c);
}

/* ---- several processes ----------------------------------------------------------------- */

/* What has the same number in two processes, and stands on heaps of the same number that are not
 * of the same size. The heap of the second comes first. */
static void put_process(uint32_t program, uint64_t heap_bytes, uint64_t more)
{
    gpurt_heap_state_row_t heap = {.heap = 64, .bytes = gpurt_pair(heap_bytes)};

    stage_program = program;
    put(GPURT_KIND_HEAP_STATE, T0, &heap, sizeof heap);
    put_region(1, T0, 256 * KIB * more, 2);
}

static void check_processes(void)
{
    static char text[65536];
    FILE *out = fmemopen(text, sizeof text, "w");
    canvas_t c = {.unicode = false};

    process(10801, "a");
    process(10802, "b");
    put_process(1, 64 * KIB, 2);
    put_process(0, 32 * KIB, 1);
    look();
    CHECK_EQ(view->heaps.count, 2);
    CHECK_EQ(view->heaps.region_count, 2);
    CHECK_EQ(view->heaps.regions[1].used, 256 * KIB);
    CHECK(out != NULL);
    heap_plain(out, &view->heaps);
    heap_json(out, &view->heaps);
    fclose(out);
    CHECK_CONTAINS(text, "region 1   of process 10802, mesh \"a\": 512.0 KiB of");
    CHECK_CONTAINS(text, "region 1   of process 10801, mesh \"a\": 256.0 KiB of");
    CHECK_CONTAINS(text, "{\"region\":1,\"pid\":10802,\"device\":0,");
    CHECK_CONTAINS(text, "{\"region\":1,\"pid\":10801,\"device\":0,");
    CHECK(canvas_resize(&c, 36, 120));
    draw(&c, 0);
    CHECK(on_canvas(&c, "heap 64 of 10802 "));
    CHECK(on_canvas(&c, "region 1 of 10802     ######......  50% mesh \"a\" 512.0 KiB of"));
    CHECK(on_canvas(&c, "region 1 of 10801     ###.........  25% mesh \"a\" 256.0 KiB of"));
    canvas_fini(&c);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    view = calloc(1, sizeof *view);
    CHECK(view != NULL);
    check_sums();
    check_screen(24, 80);
    check_screen(36, 120);
    check_crowd();
    check_scroll();
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    memset(view, 0, sizeof *view);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    check_processes();
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    free(view);
    return 0;
}
