/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of kernels in the model: what was told last counts, heaps that ended make room for
 * new ones, rows that are too short are not believed, those of several processes are told apart;
 * and on the screen at both sizes. */
#include "heap_text.h"
#include "model_stage.h"
#include "picture.h"

#include <gpurt/impl/heaprow.h>
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

/* On devices of one process, too. */
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

/* ---- several processes ----------------------------------------------------------------- */

enum {
    FIRST = 10801,
    SECOND = 4194304 /* the longest that there is */
};

static void stage_end(void)
{
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    memset(view, 0, sizeof *view);
    stage_program = 0;
}

static void stage_begin(const gplog_file_t *about)
{
    CHECK_EQ(gpurt_model_create(&dictionary, about, &model, &err), GPURT_OK);
}

static void text_of(void (*print)(FILE *out, const gpurt_model_heaps_t *heaps), char *to,
                    size_t room)
{
    FILE *out = fmemopen(to, room, "w");

    CHECK(out != NULL);
    print(out, &view->heaps);
    fclose(out);
}

static void write_json(FILE *out, const gpurt_model_heaps_t *heaps)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    heap_json(&j, NULL, heaps);
}

/* Two heaps of one number, on one device, whose rows come by turns. */
static void put_both(void)
{
    gpurt_heap_pools_row_t pools = {.heap = 64, .got = {gpurt_pair(9)}};

    put_state(64, T0, 40 * MIB, 0);
    stage_program = process(SECOND, "rank");
    put_state(64, T0 + 1, 7 * MIB, GPURT_HEAP_ENDED);
    put_rest(64);
    stage_program = 0;
    put_state(64, T0 + 2, 48 * MIB, 0);
    put(GPURT_KIND_HEAP_POOLS, T0 + 2, &pools, sizeof pools);
}

static void check_processes(void)
{
    const gpurt_model_heap_t *h = view->heaps.list;
    static char text[32768];

    stage_program = process(FIRST, "rank");
    CHECK_EQ(stage_program, 0);
    stage_begin(NULL);
    put_both();
    CHECK(gpurt_model_view(model, T0 + 11, GPURT_MODEL_REPLAY, view) & 1u << 8);
    CHECK_EQ(view->heaps.programs, 2);
    CHECK_EQ(view->heaps.count, 2);
    CHECK_EQ(h[0].told.pid, FIRST);
    CHECK_EQ(h[0].live_bytes, 48 * MIB);
    CHECK_EQ(h[0].told.flags, 0);
    CHECK_EQ(h[0].class_count, 0);
    CHECK_EQ(h[0].got[0], 9);
    CHECK_EQ(h[1].told.pid, SECOND);
    CHECK_EQ(h[1].live_bytes, 7 * MIB);
    CHECK_EQ(h[1].told.flags, GPURT_HEAP_ENDED);
    CHECK_EQ(h[1].class_count, 2);
    CHECK_EQ(h[1].got[0], 0);
    text_of(heap_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64    of process 10801, 48.0 MiB in ");
    CHECK_CONTAINS(text, "heap 64    of process 4194304, at its end 7.0 MiB in ");
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, "\"processes\":2,");
    CHECK_CONTAINS(text, "{\"heap\":64,\"pid\":10801,\"device\":0,");
    CHECK_CONTAINS(text, "{\"heap\":64,\"pid\":4194304,\"device\":0,");
}

static void press(picture_t *p, action_t action)
{
    CHECK(view_heaps.act(p, action, 1));
}

/* What must be seen is, though columns are few. */
static void check_processes_drawn(void)
{
    picture_t p = {.view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_HEAPS};
    canvas_t c = {.unicode = false};

    CHECK(canvas_resize(&c, 24, 80));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "Heaps  2  of 2 processes"));
    CHECK(on_canvas(
        &c,
        "heap 64 of 10801      #########...  75% 48.0 MiB of 64.0 MiB  2 wrong  5 ref"));
    CHECK(on_canvas(
        &c,
        "heap 64 of 4194304    #...........  11% 7.0 MiB of 64.0 MiB  2 wrong  5 refu"));
    CHECK(!on_canvas(&c, "    64 B       3")); /* of the second */
    press(&p, ACTION_DOWN);
    canvas_clear(&c);
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, "    64 B       3"));
    canvas_fini(&c);
}

/* What is selected stays so wherever it stands now: the line that it stood in is only a guess. */
static void check_selected(void)
{
    picture_t p = {.view = view, .shown = VIEW_HEAPS};

    heap(64);
    press(&p, ACTION_LAST);
    CHECK_EQ(p.heap, 1);
    CHECK_EQ(p.heap_told.program, 1);
    put_state(65, T0, MIB, 0);
    heap(64);
    p.heap = 0;
    press(&p, ACTION_DOWN);
    CHECK_EQ(p.heap, 2);
    CHECK_EQ(p.heap_told.id, 65);
    press(&p, ACTION_FIRST);
    CHECK_EQ(p.heap, 0);
}

/* The one that is selected is on the screen, however long the list. */
static void check_scroll(void)
{
    picture_t p = {.view = view,
                   .name = "x",
                   .hertz = 10,
                   .speed = 1,
                   .shown = VIEW_HEAPS,
                   .heap = 1000};
    canvas_t c = {.unicode = false};

    CHECK(canvas_resize(&c, 20, 80));
    picture_draw(&p, &c);
    CHECK(!on_canvas(&c, "heap 64 of 10801"));
    CHECK(on_canvas(&c, "heap 103"));
    canvas_fini(&c);
}

/* Those that found no number share one, which is nobody's. */
static void check_others(void)
{
    static char text[32768];

    stage_program = GPLOG_PROGRAM_OTHERS;
    put_state(64, T0, MIB, 0);
    heap(64);
    text_of(heap_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64    of other processes, 1.0 MiB in ");
    CHECK(strstr(text, "have no row") == NULL);
    for (uint32_t i = 0; i < GPURT_MODEL_HEAPS; i++)
        put_state(100 + i, T0, MIB, 0);
    heap(64);
    text_of(heap_plain, text, sizeof text);
    CHECK_CONTAINS(text, "others     3 records of some that have no row here\n");
    check_scroll();
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, "\"without_row\":3,");
    CHECK_CONTAINS(text, "{\"heap\":64,\"pid\":null,");
    stage_end();
}

static void one_has(uint32_t pid, const char *json)
{
    static char text[32768];

    CHECK_EQ(view->heaps.programs, 1);
    CHECK_EQ(view->heaps.list[0].told.pid, pid);
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, json);
    text_of(heap_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64    40.0 MiB in ");
    CHECK(strstr(text, "process") == NULL);
}

/* Of one process nothing is said but in JSON: what it is whose numbers nobody wrote, and a
 * drain's, though others write into the same log. A second process is told of when it comes. */
static void check_single(void)
{
    gplog_file_t about = {.identity = {.pid = 77}};

    stage_begin(NULL);
    put_state(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(0, "{\"heap\":64,\"pid\":null,");
    stage_end();
    stage_begin(&about);
    put_state(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(77, "{\"heap\":64,\"pid\":77,");
    process(FIRST, "rank");
    process(SECOND, "rank");
    CHECK(gpurt_model_view(model, T0 + 2, GPURT_MODEL_REPLAY, view) & 1u << 8);
    CHECK_EQ(view->heaps.programs, 2);
    CHECK_EQ(view->heaps.list[0].told.pid, FIRST);
    CHECK(!(gpurt_model_view(model, T0 + 3, GPURT_MODEL_REPLAY, view) & 1u << 8));
    gpurt_model_destroy(model);
    memset(view, 0, sizeof *view);
    stage_begin(&about);
    gpurt_model_of_box(model);
    put_state(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(77, "{\"heap\":64,\"pid\":77,");
    stage_end();
}

/* One that is new has the row of one that ended, and nothing of what was told of that. */
static void check_row_again(void)
{
    stage_begin(NULL);
    for (uint32_t i = 1; i <= GPURT_MODEL_HEAPS; i++)
        put_state(i, T0, 40 * MIB, i == 3 ? GPURT_HEAP_ENDED : 0);
    put_state(99, T0 + 1, MIB, 0);
    look();
    CHECK_EQ(view->heaps.list[2].told.id, 99);
    CHECK_EQ(view->heaps.list[2].peak_bytes, MIB);
    CHECK_EQ(view->heaps.others, 0);
    stage_end();
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
    stage_end();
    check_processes();
    check_processes_drawn();
    check_selected();
    check_others();
    check_single();
    check_row_again();
    free(view);
    return 0;
}
