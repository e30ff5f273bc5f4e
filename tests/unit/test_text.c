/* SPDX-License-Identifier: Apache-2.0 */
/* What other programs printed reaches a terminal without control characters, a shell as one
 * word, and JSON as valid UTF-8. */
#include "../check.h"
#include "json.h"
#include "render.h"
#include "text.h"

#define T(literal) literal, sizeof(literal) - 1

static char text[4096];

static FILE *open_text(void)
{
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out != NULL);
    return out;
}

static void expect_lines(const char *in, size_t bytes, size_t max_lines, const char *want)
{
    FILE *out = open_text();

    text_put_lines(out, "> ", in, bytes, max_lines);
    fclose(out);
    CHECK_STR(text, want);
}

static void test_lines(void)
{
    expect_lines(T(""), 9, "");
    expect_lines(T("one"), 9, "> one\n");
    expect_lines(T("one\n\ntwo\n\n\n"), 9, "> one\n> \n> two\n");
    expect_lines(T("1\n2\n3\n4\n"), 2, "> ... 2 lines before\n> 3\n> 4\n");
    expect_lines(T("1\n2\n3\n"), 2, "> ... 1 line before\n> 2\n> 3\n");
    expect_lines(T("a\tb\r\n\033[2J\a\x7f"), 9, "> a\tb\n> \\x1b[2J\\x07\\x7f\n");
    expect_lines(T("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), 9,
                 "> \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n");
    expect_lines(T("\xc2\x9b"), 9, "> \\xc2\\x9b\n"); /* CSI in one character */
    expect_lines(T("\xc0\xaf\xe2\x82"), 9,
                 "> \\xc0\\xaf\\xe2\\x82\n"); /* too long, cut off */
    expect_lines(T("\xed\xa0\x80\xff"), 9, "> \\xed\\xa0\\x80\\xff\n"); /* a surrogate */
    expect_lines(T("a\0b"), 9, "> a\\x00b\n");
    expect_lines(T("tuo\xe2\x80\xaenot\xef\xbb\xbf"), 9, /* turned round; without a shape */
                 "> tuo\\xe2\\x80\\xaenot\\xef\\xbb\\xbf\n");
}

static void expect_shell(const char *in, const char *want)
{
    FILE *out = open_text();

    text_put_shell(out, in);
    fclose(out);
    CHECK_STR(text, want);
}

static void test_shell(void)
{
    expect_shell("./a-b/c_9.x,y=z:1", "./a-b/c_9.x,y=z:1");
    expect_shell("", "''");
    expect_shell("two words", "'two words'");
    expect_shell("don't $(x)", "'don'\\''t $(x)'");
    expect_shell("~", "'~'");
    expect_shell("\xc3\xa9", "'\xc3\xa9'");
    expect_shell("\0337's \\", "$'\\0337\\'s \\\\'"); /* nothing reaches the terminal */
    expect_shell("a\xe2\x80\xaez\xff\xc3\xa9", "$'a\\342\\200\\256z\\377\xc3\xa9'");
}

/* As messages and names of a log are shown: room: for the text and its end. */
static void expect_rendered(const char *in, size_t bytes, size_t room, const char *plain)
{
    gpurt_text_t out;

    gpurt_text_init(&out, text, room);
    gpurt_render_plain(&out, in, bytes);
    CHECK_STR(text, plain);
}

static void test_rendered(void)
{
    expect_rendered(T("\xc3\xa9 \"q\" \\"), 99, "\xc3\xa9 \"q\" \\");
    expect_rendered(T("\033[2J\t\x7f\xc2\x9b"), 99, "\\x1b[2J\\x09\\x7f\\xc2\\x9b");
    expect_rendered(T("\xc0\xa2\xed\xa0\x80\xff\xe2\x82"), 99,
                    "\\xc0\\xa2\\xed\\xa0\\x80\\xff\\xe2\\x82");
    expect_rendered(T("a\xe2\x80\xaez"), 99, "a\\xe2\\x80\\xaez");
    expect_rendered(T("12\xe2\x82\xac"), 5, "12"); /* never a part of one */
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void expect_json(const char *in, size_t bytes, const char *want)
{
    gpurt_json_t j;

    gpurt_json_memory(&j, text, sizeof text);
    gpurt_json_bytes(&j, NULL, in, bytes);
    CHECK_STR(text, want);
}

static void test_json_strings(void)
{
    expect_json(T(""), "\"\"");
    expect_json(NULL, 0, "\"\"");
    expect_json(T("a\"b\\c\n\t\r\033\x7f\xc2\x9b"),
                "\"a\\\"b\\\\c\\n\\t\\u000d\\u001b\\u007f\\u009b\"");
    expect_json(T("\xc3\xa9\xff\xe2"), "\"\xc3\xa9\\ufffd\\ufffd\"");
    expect_json(T("\xc0\xa2\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
    expect_json(T("a\0b"), "\"a\\u0000b\"");
    expect_json(T("a\xe2\x80\xaez\xf3\xa0\x80\x81"), "\"a\\u202ez\\udb40\\udc01\"");
}

static void put_all(gpurt_json_t *j)
{
    gpurt_json_object(j, NULL);
    gpurt_json_array(j, "none");
    gpurt_json_array_end(j);
    gpurt_json_object(j, "in \"quotes\"");
    gpurt_json_object_end(j);
    gpurt_json_array(j, "list");
    gpurt_json_number(j, NULL, 0);
    gpurt_json_number(j, NULL, UINT64_MAX);
    gpurt_json_signed(j, NULL, INT64_MIN);
    gpurt_json_triple(j, NULL, 1, 2, UINT32_MAX);
    gpurt_json_array_end(j);
    gpurt_json_decimal(j, "half", 0.5, 2);
    gpurt_json_decimal(j, "no number", 0.0 / 0.0, 2);
    gpurt_json_decimal(j, "endless", -1.0 / 0.0, 2);
    gpurt_json_thousandths(j, "time", UINT64_MAX);
    gpurt_json_known(j, "known", true, 7);
    gpurt_json_known(j, "unknown", false, 7);
    gpurt_json_bool(j, "yes", true);
    gpurt_json_text_known(j, "text", NULL);
    gpurt_json_hex(j, "hex", 0xabc);
    gpurt_json_printf(j, "version", "%d.%d", 1, 2);
    gpurt_json_raw(j, "raw", T("[1]"));
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
}

static const char all[] =
    "{\"none\":[],\"in \\\"quotes\\\"\":{},\"list\":[0,18446744073709551615,"
    "-9223372036854775808,[1,2,4294967295]],\"half\":0.50,\"no number\":null,"
    "\"endless\":null,\"time\":18446744073709551.615,\"known\":7,\"unknown\":null,"
    "\"yes\":true,\"text\":null,\"hex\":\"0xabc\",\"version\":\"1.2\",\"raw\":[1]}\n";

/* Commas come by themselves, also behind what ended; a file has a text when it has ended. */
static void test_json_nested(void)
{
    static char same[sizeof all];
    FILE *out = open_text();
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    put_all(&j);
    fflush(out);
    CHECK_STR(text, all);
    fclose(out);
    gpurt_json_memory(&j, same, sizeof same);
    put_all(&j);
    CHECK(!j.cut);
    CHECK_STR(same, all);
    for (size_t room = 1; room < sizeof same; room++) { /* nothing stands behind a gap */
        gpurt_json_memory(&j, same, room);
        put_all(&j);
        CHECK(j.cut && strlen(same) < room);
        CHECK(strncmp(same, all, strlen(same)) == 0);
    }
}

/* Also where a text is longer than what the writer keeps. */
static void test_json_long(void)
{
    static char in[2 * GPURT_JSON_ROOM];
    FILE *out = open_text();
    gpurt_json_t j;

    memset(in, 'x', sizeof in);
    in[GPURT_JSON_ROOM] = '\n';
    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    gpurt_json_field(&j, "a", in);
    gpurt_json_number(&j, "b", 1);
    gpurt_json_object_end(&j);
    fclose(out);
    CHECK_EQ(strlen(text), sizeof in + sizeof "{\"a\":\"\\\",\"b\":1}" - 1);
    CHECK_CONTAINS(text, "x\\nx");
    CHECK_CONTAINS(text, "x\",\"b\":1}");
}

static void test_json_lines(void)
{
    gpurt_json_t j;

    gpurt_json_memory(&j, text, sizeof text);
    j.spaced = true;
    gpurt_json_object(&j, NULL);
    gpurt_json_number(&j, "a", 1);
    gpurt_json_array(&j, "b");
    for (uint64_t i = 0; i < 2; i++) {
        gpurt_json_line(&j, "  ");
        gpurt_json_number(&j, NULL, i);
    }
    gpurt_json_newline(&j);
    gpurt_json_array_end(&j);
    gpurt_json_null(&j, "c");
    gpurt_json_object_end(&j);
    CHECK_STR(text, "{\"a\": 1, \"b\": [\n  0,\n  1\n], \"c\": null}");
}

int main(void)
{
    test_lines();
    test_rendered();
    test_shell();
    test_json_strings();
    test_json_nested();
    test_json_long();
    test_json_lines();
    return 0;
}
