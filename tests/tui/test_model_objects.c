/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of any class in the model and on the screen: what was told last counts, what has ended
 * makes room, rows and definitions that do not fit are not believed, and a class that nobody knows
 * has a table and a page. */
#include "model_stage.h"
#include "object_text.h"
#include "picture.h"

#include <locale.h>

#define S 1000000000ull

static const char KETTLE[] = "kettle kettles\n"
                             "stove reference words=stove parent\n"
                             "name text\n"
                             "capacity limit unit=l\n"
                             "litres gauge unit=l of=capacity\n"
                             "state state words=cold,warm,boiling\n"
                             "boils counter\n"
                             "leaks gauge trouble\n"
                             "faults fault\n"
                             "colour shade later=word\n" /* of a later version */
                             "waits histogram unit=ns count=8\n"
                             "map cells count=16\n";
enum {
    VALUES = 19
};

static uint32_t kettle, stove;

/* Values [first, first + count) of an object; the row has `words` words. */
static void put_words(uint32_t site, uint64_t time_ns, uint32_t id, uint32_t what,
                      const uint64_t *values, uint32_t words)
{
    struct {
        gpurt_row_t row;
        uint32_t words[128];
    } r;

    memset(&r, 0, sizeof r);
    r.row = (gpurt_row_t){.time_ns = time_ns,
                          .site = site,
                          .kind = GPURT_KIND_OBJECT,
                          .form = GPURT_FORM_THREAD,
                          .program = (uint8_t)stage_program,
                          .words = (uint16_t)words};
    r.words[0] = id;
    r.words[1] = what;
    for (uint32_t i = 2; i < words; i++)
        r.words[i] = (uint32_t)(values[(i - 2) / 2] >> (i % 2 * 32));
    gpurt_model_put(model, &r.row);
}

static void put_kettle(uint32_t id, uint64_t time_ns, uint64_t litres, uint64_t boils,
                       uint32_t flags)
{
    uint64_t v[VALUES] = {1, string("the \"blue\" one"), 8, litres, 2, boils, 0, 3, 77};

    v[9 + 3] = 12;
    v[9 + 7] = 6;
    v[17] = 0xfffe7f0000000001ull;
    put_words(kettle, time_ns, id, gpurt_object_word(0, VALUES, flags), v, 2 + 2 * VALUES);
}

static const gpurt_model_object_t *object(uint32_t i)
{
    return &view->objects.list[i];
}

static uint64_t value(uint32_t i, const char *field)
{
    const gpurt_classdef_t *d = gpurt_objects_class(&view->objects, object(i)->class_);

    return object_at(&view->objects, object(i), gpurt_classdef_find(d, field))->now;
}

/* ---- the model ----------------------------------------------------------------------- */

static void check_sums(void)
{
    uint64_t plates = 4;

    kettle = object_class(KETTLE);
    stove = object_class("stove stoves\nplates limit\n");
    put_words(stove, T0, 1, gpurt_object_word(0, 1, 0), &plates, 4);
    put_kettle(1, T0, 6, 100, 0);
    put_kettle(1, T0 - 5, 1, 1, 0); /* older: not what it is now */
    put_kettle(1, T0 + 2 * S, 4, 300, 0);
    look();
    CHECK_EQ(view->objects.count, 2);
    CHECK_EQ(view->objects.others, 0);
    CHECK_EQ(value(1, "litres"), 4);
    CHECK_EQ(value(1, "boils"), 300);
    CHECK_EQ(object_full(&view->objects, object(1)), 50);
    CHECK_EQ(view->lines[GPURT_CLASS_LOW].end, 0); /* none of it is a line of the log */
    CHECK(object_referred(&view->objects, object(1),
                          gpurt_classdef_find(&view->objects.classes[1].def, "stove")) ==
          object(0));
}

/* A stove that nobody told of is not the kettle of that number. */
static void check_reference(void)
{
    const gpurt_classdef_field_t *f;
    static char text[65536];
    uint64_t v[VALUES] = {9};

    put_words(kettle, T0, 9, gpurt_object_word(0, VALUES, 0), v, 2 + 2 * VALUES);
    look();
    f = gpurt_classdef_find(&view->objects.classes[1].def, "stove");
    CHECK_EQ(value(view->objects.count - 1, "stove"), 9);
    CHECK(object_referred(&view->objects, object(view->objects.count - 1), f) == NULL);
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "kettle 9  stove 9, ");
    v[0] = 0;
    put_words(kettle, T0 + 1, 9, gpurt_object_word(0, VALUES, 0), v, 2 + 2 * VALUES);
    look();
    text_of(objects_plain, text, sizeof text);
    CHECK_CONTAINS(text, "kettle 9  stove -, ");
}

/* Two that differ in front of what is kept are not one and the same name. */
static void check_long_name(void)
{
    char name[2 * GPURT_MODEL_TEXT];
    uint64_t v[VALUES] = {0, 0};
    const char *text;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name + GPURT_MODEL_TEXT + 2, "\u00e9", 2); /* the mark ends within it */
    v[1] = string(name);
    put_words(kettle, T0 + 2, 9, gpurt_object_word(0, VALUES, 0), v, 2 + 2 * VALUES);
    look();
    text = view->objects.texts[value(view->objects.count - 1, "name") - 1];
    CHECK_EQ(strlen(text), GPURT_MODEL_TEXT - 1);
    CHECK_MSG(strncmp(text, "....nn", 6) == 0, "%s", text);
}

static void write_json(FILE *out)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    objects_json(&j, NULL, &view->objects);
}

static void check_words(void)
{
    static char text[65536];
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out != NULL);
    objects_plain(out, &view->objects);
    write_json(out);
    fclose(out);
    CHECK_CONTAINS(text,
                   "kettle 1  stove 1, name the \"blue\" one, capacity 8 l, litres 4 l "
                   "(most 6 l), state boiling, boils 300, leaks 0, faults 3\n"
                   "           waits: 12 from 8 ns, 6 from 128 ns\n");
    CHECK_CONTAINS(text, "\"fields\":{\"stove\":1,\"name\":\"the \\\"blue\\\" one\",");
    CHECK_CONTAINS(text, "\"waits\":[0,0,0,12,0,0,0,6],\"map\":[1,0,0,0,0,127,254,255,");
    CHECK_CONTAINS(text, "\"peaks\":{\"litres\":6,\"leaks\":0},"
                         "\"per_second\":{\"boils\":100.0,\"faults\":0.0}}");
    CHECK(strstr(text, "colour 77") == NULL && strstr(text, "\"colour\":") == NULL);
}

/* A number that nobody knows is null, and no part of a limit. */
static void check_unknown(void)
{
    const gpurt_classdef_field_t fault = {.kind = GPURT_FIELD_FAULT};
    static char text[65536];
    uint64_t unknown[] = {GPURT_VALUE_UNKNOWN, 3, 5, GPURT_VALUE_UNKNOWN};
    uint32_t cup = object_class("cup cups\nsize limit\nfill gauge of=size\n");
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out != NULL);
    CHECK(object_is_trouble(&fault, 1) && !object_is_trouble(&fault, GPURT_VALUE_UNKNOWN));
    put_words(cup, T0, 1, gpurt_object_word(0, 2, 0), unknown, 6);
    put_words(cup, T0, 2, gpurt_object_word(0, 2, 0), unknown + 2, 6);
    look();
    write_json(out);
    fclose(out);
    for (uint32_t i = view->objects.count - 2; i < view->objects.count; i++)
        CHECK_EQ(object_full(&view->objects, object(i)), -1);
    CHECK_CONTAINS(text, "\"fields\":{\"size\":null,\"fill\":3},\"peaks\":{\"fill\":3}");
    CHECK_CONTAINS(text, "\"fields\":{\"size\":5,\"fill\":null},\"peaks\":{\"fill\":0}");
}

/* Rows and definitions that are not as they should be. */
static void check_hostile(void)
{
    static const char *const broken[] = {"",
                                         "kettle",
                                         "Kettle kettles\n",
                                         "a b\nx\n",
                                         "a b\nx gauge of=y\n",
                                         "a b\ny limit\nx counter of=y\n",
                                         "a b\ny limit\nx state of=y\n",
                                         "a b\ny limit\nx limit of=y\n",
                                         "a b\nx histogram count=0\n",
                                         "a b\nx cells count=99999\n",
                                         "a b\nx gauge count=3\n",
                                         "a b\nx gauge unit=\x1b[1m\n",
                                         "a b\nx\x1b gauge\n"};
    uint64_t v[VALUES] = {0}, rows = view->objects.others;
    gpurt_classdef_t read;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CHECK(!gpurt_classdef_read(&read, broken[i], strlen(broken[i])));
    put_words(kettle, T0 + 3 * S, 9, gpurt_object_word(0, VALUES, 0), v,
              2 + 2 * VALUES - 1);
    put_words(kettle, T0 + 3 * S, 9, gpurt_object_word(VALUES, 1, 0), v, 4);
    put_words(kettle, T0 + 3 * S, 9, gpurt_object_word(4000, 4000, 0), v, 4);
    put_words(kettle, T0 + 3 * S, 0, gpurt_object_word(0, 1, 0), v, 4);
    put_words(kettle, T0 + 3 * S, 9, 0, v, 1);
    put_words(object_class("a b\nx gauge of=y\n"), T0, 9, gpurt_object_word(0, 1, 0), v, 4);
    put_words(12345, T0, 9, gpurt_object_word(0, 1, 0), v, 4);
    look();
    CHECK_EQ(view->objects.others, rows + 7);
    CHECK_EQ(view->objects.count, 2);
}

/* More objects than places: those that ended go first. */
static void check_crowd(void)
{
    uint32_t id = 100;

    put_kettle(50, T0 + 4 * S, 2, 1, GPURT_OBJECT_ENDED);
    do
        put_kettle(id, T0 + 5 * S, 1, 1, 0);
    while ((look(), view->objects.others == 7) && ++id < 1000);
    CHECK(view->objects.value_count <= GPURT_MODEL_VALUES);
    CHECK(id > 200);
    for (uint32_t i = 0; i < view->objects.count; i++)
        CHECK(object(i)->told.id != 50);
}

/* ---- the screen ---------------------------------------------------------------------- */

static char *screen(picture_t *p, int rows, int columns)
{
    static char text[65536];
    FILE *out = fmemopen(text, sizeof text, "w");
    canvas_t c = {.unicode = false};

    CHECK(out && canvas_resize(&c, rows, columns));
    picture_draw(p, &c);
    canvas_print(&c, out);
    fclose(out);
    canvas_fini(&c);
    return text;
}

static void act(picture_t *p, action_t action)
{
    CHECK(picture_view(VIEW_OBJECTS)->act(p, action, 10));
}

static void check_screen(void)
{
    picture_t p = {
        .view = view, .name = "x", .hertz = 10, .speed = 1, .shown = VIEW_OBJECTS};
    char *text;

    put_kettle(2, T0 + 2 * S, 8, 500, 0);
    put_kettle(3, T0 + 2 * S, 1, 900, GPURT_OBJECT_ENDED);
    look();
    text = screen(&p, 24, 80);
    CHECK_CONTAINS(text, ">stoves 1  kettles 3  (t table, s sort, Enter page)");
    act(&p, ACTION_TABLE);
    text = screen(&p, 24, 80);
    CHECK_CONTAINS(text,
                   " number  litres               faults     stove            name  cap");
    CHECK_CONTAINS(text,
                   " 1       ######......  50%         3   stove 1  the \"blue\" one ");
    CHECK_CONTAINS(text, " 2       ############ 100%         3");
    CHECK_CONTAINS(text, "ended");
    for (int i = 0; i < 6; i++)
        act(&p, ACTION_SORT); /* by boils */
    CHECK(strstr(screen(&p, 24, 120), " 3       ##") <
          strstr(screen(&p, 24, 120), " 1       ##"));
    act(&p, ACTION_OPEN);
    text = screen(&p, 36, 100);
    CHECK_CONTAINS(text, "kettle 3, ended  (Esc back)");
    CHECK_CONTAINS(text, "litres              1 l              13% of capacity, most 1 l");
    CHECK_CONTAINS(text, "state               boiling");
    CHECK_CONTAINS(text, "        8 ns      12 ########################");
    CHECK_CONTAINS(text, "      128 ns       6 ############\n");
    CHECK_CONTAINS(text, "\n -....+# ...."); /* the map */
    act(&p, ACTION_BACK);
    act(&p, ACTION_LAST);
    act(&p, ACTION_OPEN);
    text = screen(&p, 36, 130);
    CHECK_CONTAINS(text, "kettle 1  (Esc back)");
    CHECK_CONTAINS(text, "boils               300              100/s");
    CHECK_CONTAINS(text, "#+\n"); /* its curve: 6, then 4 litres */
    act(&p, ACTION_TABLE_BEFORE);
    act(&p, ACTION_OPEN);
    CHECK_CONTAINS(screen(&p, 36, 100), "its parts           kettle 1  kettle 2  kettle 3");
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    view = calloc(1, sizeof *view);
    CHECK(view != NULL);
    check_sums();
    check_words();
    check_screen();
    check_reference();
    check_long_name();
    check_unknown();
    gpurt_model_destroy(model);
    memset(view, 0, sizeof *view);
    CHECK_EQ(gpurt_model_create(&dictionary, NULL, &model, &err), GPURT_OK);
    check_sums();
    check_hostile();
    check_crowd();
    gpurt_model_destroy(model);
    gpurt_dictionary_fini(&dictionary);
    free(view);
    return 0;
}
