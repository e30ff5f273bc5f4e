/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of kernels, objects of two classes, in the model and on the screen at both sizes: what was
 * told last counts, those of several processes are told apart, a matrix and a map that span
 * records are whole, and the selected one stays selected. */
#include "model_stage.h"
#include "object_text.h"
#include "picture.h"

#include <gpurt/impl/heaprow.h>
#include <locale.h>

#define MIB (1ull << 20)

/* As heapview.c declares them. */
static const char HEAP[] =
    "heap heaps\nbytes limit unit=B\nlive_bytes gauge unit=B of=bytes\nlive gauge\n"
    "checks state words=none,off,cheap,full\ntraced state words=no,yes\n"
    "slack_bytes gauge unit=B\nkept_bytes gauge unit=B\nfree_chunks gauge\n"
    "largest_row gauge\nlarge_chunks gauge\nrefused fault\nwrong fault\n"
    "served_by_thread counter\nserved_by_warp counter\nserved_by_block counter\n"
    "served_by_heap counter\nreturned_to_thread counter\nreturned_to_warp counter\n"
    "returned_to_block counter\nreturned_to_heap counter\nmap_chunks limit\n"
    "map cells count=128\n"
    "size_classes matrix count=200 unit=B words=bytes,chunks,live,reusable,fresh\n";
static const char HOLDER[] = "holder holders\nheap reference words=heap parent\nsite text\n"
                             "bytes gauge unit=B\nobjects gauge\nsampled limit\n";
enum {
    SERVED = 12,
    MAP_CHUNKS = 20,
    MAP = 21,
    SIZES = MAP + 16,
    VALUES = SIZES + 200,
    CHEAP = 2,
    TRACED = 16 /* beside the level of checks */
};

static uint32_t heap_site, holder_site;
static uint64_t served; /* by threads' pools, of what is put */
static bool bare;       /* without classes and a map */

static void put_on_device(uint32_t device, uint32_t heap, uint64_t time_ns,
                          uint64_t live_bytes, uint32_t how, bool ended)
{
    uint64_t v[VALUES] = {64 * MIB,
                          live_bytes,
                          live_bytes / 64,
                          how % TRACED,
                          how / TRACED,
                          3 * MIB,
                          MIB,
                          400,
                          100,
                          7,
                          5,
                          2};
    static const uint64_t rows[2][5] = {{64, 3, 3000, 72, 0}, {4096, 9, 100, 20, 24}};

    v[SERVED] = served;
    v[MAP_CHUNKS] = 8;
    for (int i = 0; i < 16 && !bare; i++)
        v[MAP + i] = i % 2 ? 0xfffe002040608000ull : 0xa0c0e0fd20406000ull;
    if (!bare)
        memcpy(&v[SIZES], rows, sizeof rows);
    heap_site = heap_site ? heap_site : object_class(HEAP);
    object_put(device, heap_site, time_ns, heap, ended, v, VALUES);
}

static void put_heap(uint32_t heap, uint64_t time_ns, uint64_t live_bytes, uint32_t how)
{
    put_on_device(0, heap, time_ns, live_bytes, how, false);
}

static void put_holder(uint32_t id, uint64_t time_ns, uint32_t heap, const char *site,
                       uint64_t bytes, bool ended)
{
    const uint64_t v[] = {heap, string(site), bytes, 12345, 1};

    holder_site = holder_site ? holder_site : object_class(HOLDER);
    object_put(0, holder_site, time_ns, id, ended, v, 5);
}

static const gpurt_model_object_t *heap(uint32_t id)
{
    gpurt_model_view(model, T0 + 1, GPURT_MODEL_REPLAY, view);
    for (uint32_t i = 0; i < view->objects.count; i++)
        if (view->objects.list[i].told.id == id &&
            strcmp(view->objects.classes[view->objects.list[i].class_].def.name, "heap") ==
                0)
            return &view->objects.list[i];
    return NULL;
}

static const gpurt_model_value_t *value(const gpurt_model_object_t *h, const char *field)
{
    const gpurt_classdef_t *d = gpurt_objects_class(&view->objects, h->class_);

    return gpurt_objects_values(&view->objects, h, gpurt_classdef_find(d, field));
}

static void check_sums(void)
{
    const gpurt_model_value_t *sizes;

    put_heap(64, T0, 48 * MIB, CHEAP + TRACED);
    put_holder(1, T0, 64, "net/pool.cu:117", 2 * MIB, false);
    put_holder(2, T0, 64, "before/last.cu:9", 9 * MIB, true);
    put_holder(3, T0, 64, "net/queue.cu:3", 4 * MIB, false);
    put_holder(4, T0, 65, "of/another.cu:3", 5 * MIB, false);
    put_heap(64, T0 - 5, 1, CHEAP); /* older: not what it is now */
    CHECK_EQ(value(heap(64), "live_bytes")->now, 48 * MIB);
    put_heap(64, T0 + 9, 40 * MIB, CHEAP);
    CHECK(heap(64) != NULL);
    CHECK_EQ(value(heap(64), "live_bytes")->now, 40 * MIB);
    CHECK_EQ(value(heap(64), "live_bytes")->peak, 48 * MIB);
    sizes = value(heap(64), "size_classes");
    CHECK_EQ(sizes[0].now, 64);
    CHECK_EQ(sizes[7].now, 100);
    CHECK_EQ(sizes[10].now, 0);
    CHECK_EQ(value(heap(64), "map")[1].now >> 56, GPURT_CELL_NONE);
    CHECK_EQ(view->lines[GPURT_CLASS_LOW].end, 0); /* none of it is a line of the log */
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
    CHECK(on_canvas(&c, "Heaps  1 "));
    CHECK(on_canvas(&c, " 64      ########....  63%         5         2  64.0 MiB"));
    CHECK(on_canvas(&c, "most 48.0 MiB  free chunks 400, 100 in a row, fragmented 75%"));
    CHECK(on_canvas(&c, "checks cheap, 1.0 MiB kept back"));
    CHECK(on_canvas(&c, "a cell: 8 chunks of 64 KiB, by what is live; . free, L large"));
    CHECK(on_canvas(&c, ".++-#xxx.+++-.L ")); /* the first cells of the map */
    CHECK(on_canvas(&c, "    64 B       3    3000      72       0    98%"));
    CHECK(on_canvas(&c, "   4 KiB       9     100      20      24    69%") ||
          on_canvas(&c, " 4.0 KiB       9     100      20      24    69%"));
    CHECK(on_canvas(&c, "   4.0 MiB    12.3k  net/queue.cu:3"));
    CHECK(on_canvas(&c, "   2.0 MiB    12.3k  net/pool.cu:117"));
    CHECK(!on_canvas(&c, "before/last.cu") && !on_canvas(&c, "of/another.cu"));
    canvas_fini(&c);
}

/* On devices of one process, too. */
static void check_devices(void)
{
    static char text[32768];
    FILE *out = fmemopen(text, sizeof text, "w");

    put_on_device(1, 64, T0 + 10, 7 * MIB, 0, false);
    gpurt_model_view(model, T0 + 11, GPURT_MODEL_REPLAY, view);
    CHECK_EQ(view->objects.count, 2);
    CHECK_EQ(view->objects.list[0].told.device, 0);
    CHECK_EQ(value(&view->objects.list[0], "live_bytes")->now, 40 * MIB);
    CHECK_EQ(view->objects.list[1].told.device, 1);
    CHECK_EQ(value(&view->objects.list[1], "live_bytes")->now, 7 * MIB);
    CHECK(out != NULL);
    objects_plain(out, &view->objects);
    fclose(out);
    CHECK_CONTAINS(text, "\nheap 64 on device 1  bytes 64.0 MiB, live bytes 7.0 MiB, ");
}

/* A text too long for its column is cut: of a path its end stays, and nobody's number is gone. */
static void check_table(void)
{
    picture_t p = {.view = view,
                   .name = "x",
                   .hertz = 10,
                   .speed = 1,
                   .shown = VIEW_OBJECTS,
                   .object_wanted = "holders"};
    canvas_t c = {.unicode = false};

    put_holder(5, T0, 64, "a/path/of/some/depth/in/the/tree/of/a/module/pool.cu:117", MIB,
               false);
    gpurt_model_view(model, T0 + 1, GPURT_MODEL_REPLAY, view);
    CHECK(canvas_resize(&c, 24, 80));
    picture_draw(&p, &c);
    CHECK(on_canvas(&c, " 5          heap 64  a/module/pool.cu:117   1.0 MiB"));
    canvas_fini(&c);
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
    stage_program = heap_site = holder_site = 0;
}

static void stage_begin(const gplog_file_t *about)
{
    CHECK_EQ(gpurt_model_create(&dictionary, about, &model, &err), GPURT_OK);
}

static void write_json(FILE *out, const gpurt_model_objects_t *objects)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    objects_json(&j, NULL, objects);
}

/* Two heaps of one number, on one device, whose rows come by turns. */
static void put_both(void)
{
    bare = true;
    put_heap(64, T0, 40 * MIB, 0);
    bare = false;
    stage_program = process(SECOND, "rank");
    put_on_device(0, 64, T0 + 1, 7 * MIB, 0, true);
    stage_program = 0;
    bare = true;
    served = 9;
    put_heap(64, T0 + 2, 48 * MIB, 0);
    served = 0;
    bare = false;
}

static void check_processes(void)
{
    const gpurt_model_object_t *h = view->objects.list;
    static char text[65536];

    stage_program = process(FIRST, "rank");
    CHECK_EQ(stage_program, 0);
    stage_begin(NULL);
    put_both();
    CHECK(gpurt_model_view(model, T0 + 11, GPURT_MODEL_REPLAY, view) & 1u << 8);
    CHECK_EQ(view->objects.programs, 2);
    CHECK_STR(view->names.sites[0].format, "heaps (objects)");
    CHECK_CONTAINS(view->names.sites[0].last, "heap 64: bytes ");
    CHECK_EQ(view->objects.count, 2);
    CHECK_EQ(h[0].told.pid, FIRST);
    CHECK_EQ(value(&h[0], "live_bytes")->now, 48 * MIB);
    CHECK_EQ(h[0].told.flags, 0);
    CHECK_EQ(value(&h[0], "size_classes")->now, 0);
    CHECK_EQ(value(&h[0], "served_by_thread")->now, 9);
    CHECK_EQ(h[1].told.pid, SECOND);
    CHECK_EQ(value(&h[1], "live_bytes")->now, 7 * MIB);
    CHECK_EQ(h[1].told.flags, GPURT_OBJECT_ENDED);
    CHECK_EQ(value(&h[1], "size_classes")[5].now, 4096);
    CHECK_EQ(value(&h[1], "served_by_thread")->now, 0);
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64 of process 10801  bytes 64.0 MiB, live bytes 48.0 MiB, ");
    CHECK_CONTAINS(text, "heap 64 of process 4194304, ended  bytes 64.0 MiB, live bytes 7");
    CHECK_CONTAINS(
        text,
        "\n           size classes     bytes    chunks      live  reusable     fresh\n");
    CHECK_CONTAINS(
        text,
        "\n                          4.0 KiB         9       100        20        24\n");
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, "\"processes\":2,");
    CHECK_CONTAINS(text, "{\"class\":\"heap\",\"id\":64,\"pid\":10801,\"device\":0,");
    CHECK_CONTAINS(text, "{\"class\":\"heap\",\"id\":64,\"pid\":4194304,\"device\":0,");
    CHECK_CONTAINS(text, "\"size_classes\":[]");
    CHECK_CONTAINS(text, "\"size_classes\":[{\"bytes\":64,\"chunks\":3,\"live\":3000,"
                         "\"reusable\":72,\"fresh\":0},{\"bytes\":4096,\"chunks\":9,");
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
    CHECK(
        on_canvas(&c, " 64 of 10801         #########...  75%         5         2  64.0"));
    CHECK(
        on_canvas(&c, " 64 of 4194304       #...........  11%         5         2  64.0"));
    CHECK(on_canvas(&c, "pools served    9       thread 100%"));
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
    CHECK_EQ(p.object_row, 1);
    CHECK_EQ(p.object_told.program, 1);
    put_heap(65, T0, MIB, 0);
    heap(64);
    p.object_row = 0;
    press(&p, ACTION_UP); /* from the second process's, which is last now */
    CHECK_EQ(p.object_row, 1);
    CHECK_EQ(p.object_told.id, 65);
    press(&p, ACTION_FIRST);
    CHECK_EQ(p.object_row, 0);
}

/* The one that is selected is on the screen, however long the list. */
static void check_scroll(void)
{
    picture_t p = {.view = view,
                   .name = "x",
                   .hertz = 10,
                   .speed = 1,
                   .shown = VIEW_HEAPS,
                   .object_row = 1000};
    canvas_t c = {.unicode = false};

    CHECK(canvas_resize(&c, 20, 80));
    picture_draw(&p, &c);
    CHECK(!on_canvas(&c, " 105 of others"));
    CHECK(on_canvas(&c, " 64 of 4194304"));
    canvas_fini(&c);
}

/* Those that found no number share one, which is nobody's. */
static void check_others(void)
{
    static char text[65536];

    stage_program = GPLOG_PROGRAM_OTHERS;
    put_heap(64, T0, MIB, 0);
    heap(64);
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64 of another process  bytes 64.0 MiB, live bytes 1.0 MiB");
    for (uint32_t i = 0; i < 8; i++)
        put_heap(100 + i, T0, MIB, 0);
    heap(64);
    check_scroll();
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, "{\"class\":\"heap\",\"id\":64,\"pid\":null,");
    stage_end();
}

static void one_has(uint32_t pid, const char *json)
{
    static char text[65536];

    CHECK_EQ(view->objects.programs, 1);
    CHECK_EQ(view->objects.list[0].told.pid, pid);
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, json);
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "heap 64  bytes 64.0 MiB, live bytes 40.0 MiB, ");
    CHECK(strstr(text, "process") == NULL);
}

/* Of one process nothing is said but in JSON: what it is whose numbers nobody wrote, and a
 * drain's, though others write into the same log. A second process is told of when it comes. */
static void check_single(void)
{
    gplog_file_t about = {.identity = {.pid = 77}};

    stage_begin(NULL);
    put_heap(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(0, "\"id\":64,\"pid\":null,");
    stage_end();
    stage_begin(&about);
    put_heap(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(77, "\"id\":64,\"pid\":77,");
    process(FIRST, "rank");
    process(SECOND, "rank");
    CHECK(gpurt_model_view(model, T0 + 2, GPURT_MODEL_REPLAY, view) & 1u << 8);
    CHECK_EQ(view->objects.programs, 2);
    CHECK_EQ(view->objects.list[0].told.pid, FIRST);
    CHECK(!(gpurt_model_view(model, T0 + 3, GPURT_MODEL_REPLAY, view) & 1u << 8));
    gpurt_model_destroy(model);
    memset(view, 0, sizeof *view);
    stage_begin(&about);
    gpurt_model_of_box(model);
    put_heap(64, T0, 40 * MIB, 0);
    heap(64);
    one_has(77, "\"id\":64,\"pid\":77,");
    stage_end();
}

/* As many as there is room for. One that is new has the place of one that ended, and nothing of what
 * was told of that; one more is counted. */
static void check_place_again(void)
{
    uint32_t id = 1;

    stage_begin(NULL);
    put_on_device(0, 1000, T0, 40 * MIB, 0, true);
    do
        put_heap(id, T0 + id, 40 * MIB, 0);
    while ((look(), view->objects.list[0].told.id == 1000) && ++id < 1000);
    CHECK(id > 16 && id < 1000);
    CHECK_EQ(view->objects.list[0].told.id, id);
    CHECK_EQ(view->objects.others, 0);
    put_heap(id, T0 + id + 1, MIB, 0);
    CHECK_EQ(value(heap(id), "live_bytes")->peak, 40 * MIB);
    put_on_device(0, 3, T0 + 2000, MIB, 0, true);
    put_heap(2000, T0 + 2001, MIB, 0);
    CHECK_EQ(value(heap(2000), "live_bytes")->peak, MIB);
    CHECK(heap(3) == NULL);
    CHECK_EQ(view->objects.others, 0);
    put_heap(2001, T0 + 2002, MIB, 0);
    CHECK(heap(2001) == NULL);
    CHECK_EQ(view->objects.others, 3); /* its records */
    stage_end();
}

/* Calls of traced heaps are counted; they are no lines of the log. */
static void check_traces(void)
{
    static char text[4096];
    const uint32_t words[4] = {64, 100, 7, 16};

    stage_begin(NULL);
    for (int i = 0; i < 3; i++)
        put(GPURT_KIND_HEAP_ALLOC, T0, words, sizeof words);
    put(GPURT_KIND_HEAP_FREE, T0, words, 8);
    look();
    CHECK_EQ(view->lines[GPURT_CLASS_LOW].end, 0);
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "traced     3 requests, 1 free\n");
    text_of(write_json, text, sizeof text);
    CHECK_CONTAINS(text, "\"traced_allocs\":3,\"traced_frees\":1,");
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
    check_table();
    gpurt_model_destroy(model);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    view->objects.rows = 0;
    put_heap(64, T0, 40 * MIB, 0);
    check_devices();
    stage_end();
    check_processes();
    check_processes_drawn();
    check_selected();
    check_others();
    check_single();
    check_place_again();
    check_traces();
    free(view);
    return 0;
}
