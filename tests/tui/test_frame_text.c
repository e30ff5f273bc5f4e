/* SPDX-License-Identifier: Apache-2.0 */
/* Who launched, in words: which frame of Python is shown where there is room for one, whose it is, and
 * frames of files with blanks, of no line, of names that are none. */
#include "check.h"
#include "frame_text.h"

#include <gpurt/impl/activity.h>

static void check_short(const char *python, uint32_t whose, const char *wanted)
{
    char room[512];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    frame_text_short(python, whose, &text);
    CHECK_MSG(strcmp(room, wanted) == 0, "%s", room);
}

static void check_next(void)
{
    const char *text = "/a b/c.py:12 Model.f < ... < <frozen importlib>:? g < odd";
    frame_text_t f;
    bool left_out;

    CHECK(frame_text_next(&text, &f, &left_out) && !left_out);
    CHECK(strcmp(f.file, "/a b/c.py") == 0 && strcmp(f.function, "Model.f") == 0);
    CHECK_EQ(f.line, 12);
    CHECK(frame_text_next(&text, &f, &left_out) && left_out);
    CHECK(frame_text_next(&text, &f, &left_out) && !left_out);
    CHECK(strcmp(f.file, "<frozen importlib>") == 0 && strcmp(f.function, "g") == 0);
    CHECK_EQ(f.line, 0);
    CHECK(frame_text_next(&text, &f, &left_out) && strcmp(f.file, "odd") == 0);
    CHECK(!frame_text_next(&text, &f, &left_out));
}

int main(void)
{
    static const char deep[] =
        "/v/site-packages/torch/nn/module.py:5 call < /src/train.py:9 step < "
        "/src/train.py:31 main";
    static const char alone[] =
        "/v/site-packages/torch/a.py:5 call < /usr/lib/python3.11/b.py:7 run";

    check_short(deep, GPURT_PYTHON_OWN, ", from train.py:9 step");
    check_short(deep, GPURT_PYTHON_WAITS, ", beside train.py:9 step, which waits");
    check_short(deep, GPURT_PYTHON_NOW, ", its thread is now at train.py:9 step");
    check_short(alone, GPURT_PYTHON_OWN, ", from a.py:5 call");
    check_short(deep, GPURT_PYTHON_NONE, "");
    check_short("(not known)", GPURT_PYTHON_OWN, "");
    check_short("", GPURT_PYTHON_OWN, "");
    check_short(deep, 77, ", from train.py:9 step"); /* of a later version */
    check_next();
    return 0;
}
