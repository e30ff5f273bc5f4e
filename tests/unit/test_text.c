/* SPDX-License-Identifier: Apache-2.0 */
/* What other programs printed reaches a terminal without control characters, a shell as one
 * word, and JSON as valid UTF-8. */
#include "../check.h"
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

static void expect_json(const char *in, size_t bytes, const char *want)
{
    FILE *out = open_text();

    text_put_json(out, in, bytes);
    fclose(out);
    CHECK_STR(text, want);
}

static void test_json(void)
{
    expect_json(T(""), "\"\"");
    expect_json(T("a\"b\\c\n\t\r\033"), "\"a\\\"b\\\\c\\n\\t\\u000d\\u001b\"");
    expect_json(T("\xc3\xa9\xff\xe2"), "\"\xc3\xa9\\ufffd\\ufffd\"");
    expect_json(T("a\0b"), "\"a\\u0000b\"");
    expect_json(T("a\xe2\x80\xaez\xf3\xa0\x80\x81"), "\"a\\u202ez\\udb40\\udc01\"");
}

/* As messages and names of a log are shown: room: for the text and its end. */
static void expect_rendered(const char *in, size_t bytes, size_t room, const char *plain,
                            const char *json)
{
    gpurt_text_t out;

    gpurt_text_init(&out, text, room);
    gpurt_render_plain(&out, in, bytes);
    CHECK_STR(text, plain);
    gpurt_text_init(&out, text, room);
    gpurt_render_json(&out, in, bytes);
    CHECK_STR(text, json);
}

static void test_rendered(void)
{
    expect_rendered(T("\xc3\xa9 \"q\" \\"), 99, "\xc3\xa9 \"q\" \\",
                    "\xc3\xa9 \\\"q\\\" \\\\");
    expect_rendered(T("\033[2J\t\x7f\xc2\x9b"), 99, "\\x1b[2J\\x09\\x7f\\xc2\\x9b",
                    "\\u001b[2J\\u0009\\u007f\\u009b");
    expect_rendered(T("\xc0\xa2\xed\xa0\x80\xff\xe2\x82"), 99,
                    "\\xc0\\xa2\\xed\\xa0\\x80\\xff\\xe2\\x82",
                    "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd");
    expect_rendered(T("a\xe2\x80\xaez"), 99, "a\\xe2\\x80\\xaez", "a\\u202ez");
    expect_rendered(T("12\xe2\x82\xac"), 5, "12", "12"); /* never a part of one */
}

int main(void)
{
    test_lines();
    test_rendered();
    test_shell();
    test_json();
    return 0;
}
