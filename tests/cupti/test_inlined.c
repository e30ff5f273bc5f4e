/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined calls as a text, and back: names as people call them, places, what has no room; and how many
 * such texts a box has. */
#include "calls_text.h"
#include "check.h"
#include "inlined.h"
#include "linecalls.h"

#include <stdio.h>

static void check_name(const char *mangled, const char *wanted)
{
    char name[INLINED_NAME];

    inlined_name(mangled, name);
    CHECK_STR(name, wanted);
}

static void check_names(void)
{
    char long_one[256], wanted[256];

    check_name("_Z4leafj", "leaf");
    check_name("plain_c", "plain_c");
    check_name("", "");
    check_name("_ZNK4Walk4stepEjPKj", "Walk::step");
    check_name("_Z5outerILi3EEjjPKj", "outer<3>"); /* and not what it returns */
    check_name("_ZNK4WalkclEi", "Walk::operator()");
    check_name("_ZN4WalkcvjEv", "Walk::operator unsigned int");
    check_name("_Zls4WalkS_", "operator<<");
    check_name("_ZltIiEbT_S0_", "operator< <int>");
    check_name("_ZN12_GLOBAL__N_14leafEi", "(anonymous namespace)::leaf");
    check_name("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()");
    /* long: without arguments of templates, and cut */
    snprintf(long_one, sizeof long_one, "_ZN4GemmI%sE3runEv",
             "14a_type_so_longS0_14b_type_so_longS1_"
             "14c_type_so_longS2_14d_type_so_longS3_"
             "14e_type_so_longS4_");
    check_name(long_one, "Gemm<...>::run");
    memset(wanted, 'x', sizeof wanted);
    snprintf(long_one, sizeof long_one, "_Z150%.150sv", wanted);
    snprintf(wanted + INLINED_NAME - 4, 4, "...");
    check_name(long_one, wanted);
}

static const line_frame_t frames[LINETABLE_FRAMES] = {
    {"/src", "app.cu", "_Z4leafj", 5},
    {"/src", "app.cu", "_ZNK4Walk4stepEjPKj", 12},
    {"/src", "/a b:7/h.h", "_ZltIiEbT_S0_", 19},
    {"", "app.cu", "", 27},
};

static void check_chain(void)
{
    char text[INLINED_TEXT], shown[INLINED_TEXT];
    gpurt_text_t out;
    calls_text_t c;

    CHECK(!inlined_text(frames, 0, text) && !inlined_text(frames, 1, text));
    CHECK(inlined_text(frames, 4, text));
    CHECK_STR(
        text,
        "leaf < /src/app.cu:12 Walk::step < /a b:7/h.h:19 operator< <int> < app.cu:27");
    CHECK(calls_text_read(text, &c));
    CHECK_STR(c.function, "leaf");
    CHECK_EQ(c.count, 3);
    CHECK(!c.cut);
    CHECK_STR(c.of[0].file, "/src/app.cu");
    CHECK_EQ(c.of[0].line, 12);
    CHECK_STR(c.of[0].function, "Walk::step");
    CHECK_STR(c.of[1].file, "/a b:7/h.h");
    CHECK_STR(c.of[1].function, "operator< <int>");
    CHECK_EQ(c.of[2].line, 27);
    CHECK_STR(c.of[2].function, "");
    gpurt_text_init(&out, shown, sizeof shown);
    calls_text_short(&c, &out);
    CHECK_STR(shown, "leaf < app.cu:12 Walk::step < h.h:19 operator< <int> < app.cu:27");
}

static void check_short(const char *text, const char *wanted)
{
    char shown[INLINED_TEXT];
    gpurt_text_t out;
    calls_text_t c;

    CHECK(calls_text_read(text, &c));
    gpurt_text_init(&out, shown, sizeof shown);
    calls_text_short(&c, &out);
    CHECK_STR(shown, wanted);
}

/* For people: the last two parts of a name. */
static void check_shorts(void)
{
    check_short("a::b<x::y>::Walk<n::m>::step < /f.cu:1 cg::v1::block::sync < /f.cu:2",
                "Walk<n::m>::step < f.cu:1 block::sync < f.cu:2");
    check_short("_INTERNAL_12_app_cu::leaf < f.cu:1 (anonymous namespace)::outer < f.cu:2",
                "leaf < f.cu:1 (anonymous namespace)::outer < f.cu:2");
    check_short("main::{lambda(a::b)#1}::operator() < f.cu:1 operator< <int> < f.cu:2",
                "{lambda(a::b)#1}::operator() < f.cu:1 operator< <int> < f.cu:2");
}

/* The outermost are left out, never a part of one. */
static void check_cut(void)
{
    line_frame_t deep[LINETABLE_FRAMES];
    char text[INLINED_TEXT], file[600];
    calls_text_t c;

    for (uint32_t bytes = 1; bytes < sizeof file; bytes++) {
        memset(file, 'f', bytes);
        file[bytes] = '\0';
        for (uint32_t i = 0; i < LINETABLE_FRAMES; i++)
            deep[i] = (line_frame_t){"", file, "_Z4leafj", 1 + i};
        CHECK(inlined_text(deep, LINETABLE_FRAMES, text));
        CHECK(strlen(text) < sizeof text && calls_text_read(text, &c) && c.cut);
        CHECK(bytes > 600 / LINETABLE_FRAMES || c.count == LINETABLE_FRAMES - 1);
        for (uint32_t i = 0; i < c.count; i++)
            CHECK(c.of[i].line == i + 2 && strcmp(c.of[i].function, "leaf") == 0);
    }
}

/* What a file may hold that no collector wrote. */
static void check_strange(void)
{
    char text[4096];
    size_t used;
    calls_text_t c;

    CHECK(!calls_text_read("", &c) && !calls_text_read("(not inlined)", &c));
    CHECK(!calls_text_read("leaf <", &c));
    CHECK(calls_text_read("leaf < ", &c));
    CHECK_EQ(c.count, 1);
    CHECK(calls_text_read(" < a: b < :9", &c));
    CHECK_STR(c.of[0].file, "a: b");
    CHECK_EQ(c.of[0].line, 0);
    CHECK_STR(c.of[1].file, "");
    CHECK_EQ(c.of[1].line, 9);
    used = (size_t)snprintf(text, sizeof text, "leaf");
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " < f:%d g", i);
    CHECK(calls_text_read(text, &c));
    CHECK_EQ(c.count, CALLS_TEXT_MOST);
    CHECK(c.cut);
    memset(text, 'x', sizeof text - 1);
    memcpy(text + 1000, " < ", 3);
    memcpy(text + 3000, ":8 ", 3);
    text[sizeof text - 1] = '\0';
    CHECK(calls_text_read(text, &c));
    CHECK_EQ(c.of[0].line, 8);
}

static void check_room(void)
{
    static linecalls_t calls;
    char text[INLINED_TEXT];
    uint32_t fit = 0;

    for (uint32_t i = 0; i < 2 * LINECALLS_SLOTS; i++) {
        snprintf(text, sizeof text, "%300u", i); /* two slots */
        fit += linecalls_fits(&calls, 1, text);
    }
    CHECK_EQ(fit, LINECALLS_SLOTS / 2);
    snprintf(text, sizeof text, "%300u", 7);
    CHECK(linecalls_fits(&calls, 1, text)); /* it is there */
    CHECK(!linecalls_fits(&calls, 1, "new"));
    CHECK(linecalls_fits(&calls, 2, "new")); /* another box */
    CHECK(linecalls_fits(&calls, 1, "new"));
}

int main(void)
{
    check_names();
    check_chain();
    check_shorts();
    check_cut();
    check_strange();
    check_room();
    return 0;
}
