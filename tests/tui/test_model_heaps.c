/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of kernels in the model: what was told last counts, heaps that ended make room for
 * new ones, rows that are too short are not believed; and on the screen at both sizes. */
#include "heap_text.h"
#include "model_stage.h"
#include "picture.h"

#include <gpurt/heaprow.h>
#include <locale.h>

#define MIB (1ull << 20)

static void put_state(uint32_t heap, uint64_t time_ns, uint64_t live_bytes, uint32_t flags)
{
    gpurt_heap_state_row_t s = {.heap = heap,
                                .flags = flags,
                                .bytes = gpurt_pair(64 * MIB),
                                .live = gpurt_pair(live_bytes / 64),
                                .live_bytes = gpurt_pair(live_bytes),
                                .slack = gpurt_pair(3 * MIB),
                                .kept = gpurt_pair(MIB),
                                .free_chunks = 400,
                                .largest_row = 100,
                                .large_chunks = 7,
                                .refused = gpurt_pair(5),
                                .wrong = gpurt_pair(2)};

    put(GPURT_KIND_HEAP_STATE, time_ns, &s, sizeof s);
}

static void put_rest(uint32_t heap)
{
    gpurt_heap_class_row_t big = {heap,           4096,          9, gpurt_pair(100),
                                  gpurt_pair(20), gpurt_pair(24)};
    gpurt_heap_class_row_t small = {heap,           64,           3, gpurt_pair(3000),
                                    gpurt_pair(72), gpurt_pair(0)};
    gpurt_heap_site_row_t site = {.heap = heap,
                                  .site = string("net/pool.cu:117"),
                                  .count = 1,
                                  .objects = gpurt_pair(12345),
                                  .bytes = gpurt_pair(2 * MIB),
                                  .sampled = 1};
    gpurt_heap_map_row_t map = {.heap = heap, .chunks = 8};

    for (uint32_t i = 0; i < GPURT_HEAP_CELLS / 16; i++)
        map.cells[i] = gpurt_pair(0xfed0123456789abcull);
    put(GPURT_KIND_HEAP_CLASS, T0, &big, sizeof big);
    put(GPURT_KIND_HEAP_CLASS, T0, &small, sizeof small);
    put(GPURT_KIND_HEAP_SITE, T0, &site, sizeof site);
    put(GPURT_KIND_HEAP_MAP, T0, &map, sizeof map);
    put(GPURT_KIND_HEAP_CLASS, T0, &big, 8); /* too short */
}

static const gpurt_model_heap_t *heap(uint32_t id)
{
    gpurt_model_view(model, T0 + 1, GPURT_MODEL_REPLAY, view);
    for (uint32_t i = 0; i < view->heaps.count; i++)
        if (view->heaps.list[i].told.id == id)
            return &view->heaps.list[i];
    return NULL;
}

static void check_sums(void)
{
    const gpurt_model_heap_t *h;

    put_state(64, T0, 48 * MIB, GPURT_HEAP_TRACE | 2);
    put_rest(64);
    put_state(64, T0 - 5, 1, 2); /* older: not what it is now */
    CHECK_EQ(heap(64)->live_bytes, 48 * MIB);
    put_state(64, T0 + 9, 40 * MIB, 2);
    h = heap(64);
    CHECK(h != NULL);
    CHECK_EQ(h->live_bytes, 40 * MIB);
    CHECK_EQ(h->peak_bytes, 48 * MIB);
    CHECK_EQ(h->class_count, 2);
    CHECK_EQ(h->classes[0].bytes, 64);
    CHECK_EQ(h->classes[1].live, 100);
    CHECK_EQ(h->cells[0], 0xc);
    CHECK_EQ(h->cells[15], GPURT_HEAP_CELL_NONE);
    CHECK(strcmp(h->sites[0].site, "net/pool.cu:117") == 0);
    CHECK_EQ(heap_fragmented(h), 75);
    CHECK(strcmp(heap_checks(h), "cheap") == 0);
    CHECK_EQ(view->lines[GPURT_CLASS_LOW].end, 0); /* none of it is a line of the log */
}

/* More heaps than rows: those that ended go first. */
static void check_crowd(void)
{
    for (uint32_t i = 1; i < GPURT_MODEL_HEAPS; i++)
        put_state(64 + i, T0 + i, MIB, i == 3 ? GPURT_HEAP_ENDED : 0);
    CHECK(heap(67) != NULL);
    put_state(200, T0 + 20, MIB, 0);
    CHECK(heap(67) == NULL);
    CHECK(heap(200) != NULL);
    put_state(201, T0 + 21, MIB, 0);
    CHECK(heap(201) == NULL);
    CHECK_EQ(view->heaps.others, 1);
    CHECK_EQ(view->heaps.count, GPURT_MODEL_HEAPS);
}

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

static void check_screen(int rows, int columns)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_HEAPS};
    canvas_t c = {.unicode = false};

    gpurt_model_view(model, T0 + 1, GPURT_MODEL_REPLAY, view);
    CHECK(canvas_resize(&c, rows, columns));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "heap 64    ########....  63% 40.0 MiB of 64.0 MiB"));
    CHECK(on_canvas(&c, "2 wrong"));
    CHECK(on_canvas(&c, "most 48.0 MiB  free chunks 400, 100 in a row, fragmented 75%"));
    CHECK(on_canvas(&c, "checks cheap, 1.0 MiB kept back"));
    CHECK(on_canvas(&c, "#xxxx++++---.#L")); /* the first cells of the map */
    CHECK(on_canvas(&c, "    64 B       3    3000      72       0    98%"));
    CHECK(on_canvas(&c, "   4 KiB       9     100      20      24    69%") ||
          on_canvas(&c, " 4.0 KiB       9     100      20      24    69%"));
    CHECK(on_canvas(&c, "   2.0 MiB    12.3k  net/pool.cu:117"));
    canvas_fini(&c);
}

/* Processes of one log begin to number their heaps anew: the device tells them apart. */
static void check_devices(void)
{
    gpurt_heap_state_row_t s = {.heap = 64, .live_bytes = gpurt_pair(7 * MIB)};

    put_on(1, GPURT_KIND_HEAP_STATE, GPURT_LEVEL_DEBUG, T0 + 10, &s, sizeof s);
    gpurt_model_view(model, T0 + 11, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(view->heaps.count, 2);
    CHECK_EQ(view->heaps.list[0].told.device, 0);
    CHECK_EQ(view->heaps.list[0].live_bytes, 40 * MIB);
    CHECK_EQ(view->heaps.list[1].told.device, 1);
    CHECK_EQ(view->heaps.list[1].live_bytes, 7 * MIB);
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
    gpurt_model_destroy(model);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    view->heaps.rows = 0;
    put_state(64, T0, 40 * MIB, 0);
    check_devices();
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    free(view);
    return 0;
}
