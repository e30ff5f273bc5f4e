/* SPDX-License-Identifier: Apache-2.0 */
/* Lines by function and offset: of functions that share a section and of such that do not, with
 * both kinds of relocations; and of code that is cut or damaged anywhere. */
#include "check.h"
#include "cubincode.h"
#include "fake_cubin.h"

enum {
    DAMAGES = 20000
};

static const fake_function_t functions[] = {
    {"_Z5firstv", 0, 0, 10, 8, 0},
    {"_Z6secondv", 0, 1, 60, 8, 3},
    {"$_Z5firstv$_Z4helpi", 128, 0, 40, 4, 0},
    {"$_Z6secondv$_Z5firstv", 128, 1, 50, 4, 1}, /* the kernel of that name is meant */
};
enum {
    FUNCTIONS = sizeof functions / sizeof functions[0]
};

static uint32_t line_of(const cubincode_t *c, const char *function, uint64_t offset)
{
    line_frame_t f[LINETABLE_FRAMES];

    if (cubincode_frames(c, function, offset, f) == 0)
        return 0;
    CHECK(strcmp(f[0].folder, "/src/app") == 0 && strcmp(f[0].file, "spin.cu") == 0);
    return f[0].line;
}

static uint32_t line_wanted(const fake_function_t *f, uint32_t at)
{
    const uint32_t plain = f->count - f->inlined - 1; /* the last one's place */

    return f->line + (at < plain ? at : plain);
}

/* Each instruction of those that are inlined stands in one call more. */
static void check_frames(const cubincode_t *c, const fake_function_t *f, uint32_t at)
{
    const uint32_t plain = f->count - f->inlined - 1, deep = at > plain ? at - plain : 0;
    line_frame_t frames[LINETABLE_FRAMES];

    CHECK_EQ(cubincode_frames(c, f->name, at * FAKE_CUBIN_STEP, frames),
             deep < LINETABLE_FRAMES ? deep + 1 : (uint32_t)LINETABLE_FRAMES);
    for (uint32_t i = 0; i < LINETABLE_FRAMES && i <= deep; i++) {
        CHECK_EQ(frames[i].line, line_wanted(f, at - i));
        CHECK_STR(frames[i].file, "spin.cu");
        CHECK_STR(frames[i].function,
                  i < deep ? fake_cubin_calls[(deep - i - 1) % FAKE_CUBIN_CALLS] : "");
    }
}

/* More calls in each other than anybody shows. */
static void check_deep(void)
{
    static const fake_function_t deep[] = {{"_Z4deepv", 0, 0, 10, 30, 25},
                                           {"_Z5againv", 0, 1, 10, 30, 25}};
    static fake_cubin_t cubin;
    cubincode_t *c;

    fake_cubin_make(&cubin, deep, 2, false);
    c = cubincode_open(cubin.at, cubin.bytes);
    CHECK(c);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t at = 0; at < deep[i].count; at++)
            check_frames(c, &deep[i], at);
    cubincode_close(c);
}

static void check_places(bool rel)
{
    fake_cubin_t cubin;
    cubincode_t *c;

    fake_cubin_make(&cubin, functions, FUNCTIONS, rel);
    c = cubincode_open(cubin.at, cubin.bytes);
    CHECK(c);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        for (uint32_t at = 0; at < functions[i].count * FAKE_CUBIN_STEP; at += 8)
            CHECK_EQ(line_of(c, functions[i].name, at),
                     line_wanted(&functions[i], at / FAKE_CUBIN_STEP));
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        for (uint32_t at = 0; at < functions[i].count; at++)
            check_frames(c, &functions[i], at);
    CHECK_EQ(line_of(c, "_Z4helpi", 17), 41);
    CHECK_EQ(line_of(c, "_Z5firstv", 0), 10);
    CHECK_EQ(line_of(c, "_Z5firstv", 128), 40); /* its section goes on */
    CHECK_EQ(line_of(c, "_Z5firstv", 128 + 64), 0);
    CHECK_EQ(line_of(c, "_Z5firstv", 1ull << 32), 0); /* another section's */
    CHECK_EQ(line_of(c, "_Z5firstv", UINT64_MAX), 0);
    CHECK_EQ(line_of(c, "_Z5first", 0), 0);
    CHECK_EQ(line_of(c, "zzz", 0), 0);
    CHECK_EQ(line_of(c, "", 0), 0);
    cubincode_close(c);
}

static void check_none(void)
{
    fake_cubin_t cubin;

    fake_cubin_make(&cubin, functions, 0, false);
    CHECK(!cubincode_open(cubin.at, cubin.bytes));
    CHECK(!cubincode_open((uint8_t *)"no ELF file", 11));
    cubincode_close(NULL);
}

/* Read out of exactly so many bytes: whoever reads or writes behind them is caught. */
static void look(const uint8_t *from, uint64_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    cubincode_t *c;
    line_frame_t f[LINETABLE_FRAMES];
    uint32_t count;

    CHECK(copy);
    memcpy(copy, from, bytes);
    c = cubincode_open(copy, bytes);
    for (uint32_t i = 0; c && i < FUNCTIONS; i++)
        for (uint32_t at = 20; at < 128; at += 60) {
            count = cubincode_frames(c, functions[i].name, at, f);
            while (count-- > 0)
                CHECK(strlen(f[count].folder) + strlen(f[count].file) +
                          strlen(f[count].function) <
                      bytes);
        }
    cubincode_close(c);
    free(copy);
}

static void check_damage(void)
{
    static fake_cubin_t cubin, broken;
    uint64_t seed = 1;

    fake_cubin_make(&cubin, functions, FUNCTIONS, false);
    for (uint64_t bytes = 0; bytes <= cubin.bytes; bytes++)
        look(cubin.at, bytes);
    for (uint32_t i = 0; i < DAMAGES; i++) {
        broken = cubin;
        for (uint32_t k = 0; k <= i % 3; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            broken.at[(seed >> 33) % cubin.bytes] = (uint8_t)(seed >> 24);
        }
        look(broken.at, broken.bytes);
    }
}

int main(void)
{
    check_places(false);
    check_places(true);
    check_deep();
    check_none();
    check_damage();
    return 0;
}
