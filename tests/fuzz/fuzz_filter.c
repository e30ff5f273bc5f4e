/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_filter - any text as a filter. One that is taken can be judged: its opposite says the
 * opposite of each message, and it says the same when it is parsed again. One that is refused
 * has a place within the text, and words. */
#include "fuzz.h"

#include "check.h"
#include "filter_run.h"

#include <string.h>

static const char *const seeds[] = {
    "session !retry \"a->b\" or (lvl>=warn and not sm=0) || block=1,2,3",
    "kernel=scale* file~net site=pool.c:42 lane!=3 thread>=64 pid=0x64",
    "((kind=panic category=bounds) or back_end=host) msg!~'x y' func=f gpu<2"};

static void line_make(uint32_t i, gpurt_model_line_t *l)
{
    memset(l, 0, sizeof *l);
    l->level = (uint8_t)(i % 8);
    l->kind = i % 3 ? GPURT_KIND_LOG : GPURT_KIND_LOSS;
    l->form = i % 5 ? GPURT_FORM_WARP : GPURT_FORM_THREAD;
    l->sm = (uint16_t)(i * 7);
    l->block = i * 3;
    l->warp = (uint8_t)(i % 32);
    l->mask = 0x1111u * i;
    l->pid = i % 4 ? 100 : 0;
    l->line = 42 * i;
    memcpy(l->file, "pool.c", i % 2 ? 6 : 0);
    l->text_bytes = (uint16_t)snprintf(l->text, sizeof l->text, "session %u a->b", i);
}

static void taken(const filter_t *f, const char *text)
{
    char opposite[FILTER_TEXT];
    filter_t again = {.level = 0}, other = {.level = 0};
    bool has = snprintf(opposite, sizeof opposite, "!(%s)", text) < FILTER_TEXT &&
               text[strspn(text, " \t\r\n")] && filter_parse(&other, opposite, NULL);

    CHECK(filter_parse(&again, text, NULL) && filter_same(f, &again));
    for (uint32_t i = 0; i < 16; i++) {
        filter_answer_t answer;
        gpurt_model_line_t line;
        uint32_t unsure;

        line_make(i, &line);
        answer = filter_line(f, NULL, &line, &unsure);
        CHECK((answer == FILTER_UNSURE) == (unsure != 0));
        if (has)
            CHECK_EQ(filter_line(&other, NULL, &line, NULL), FILTER_YES - answer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[2 * FILTER_TEXT];
    filter_t f = {.level = 0};
    filter_error_t err;
    FILE *out;

    size = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (filter_parse(&f, text, &err)) {
        taken(&f, text);
        return 0;
    }
    CHECK(err.why[0] && err.at + err.bytes <= strlen(text));
    CHECK(filter_is_empty(&f));
    out = fopen("/dev/null", "w");
    filter_point(out, text, &err);
    fclose(out);
    return 0;
}

uint8_t *fuzz_seed(uint32_t index, size_t *size)
{
    if (index >= sizeof seeds / sizeof seeds[0])
        return NULL;
    *size = strlen(seeds[index]);
    return (uint8_t *)strdup(seeds[index]);
}
