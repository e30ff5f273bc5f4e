/* SPDX-License-Identifier: Apache-2.0 */
/* Filters against a table of messages, each with those that it lets through; what is refused, and
 * where; and the rows of a log and the lines of a screen, which say the same. */
#include "check.h"
#include "filter_match.h"
#include "filter_run.h"
#include "program.h"

#include <string.h>

enum {
    MESSAGES = 8
};

typedef struct message {
    uint32_t level, kind, section, sm, block, warp, lanes, pid, line;
    const char *file, *text;
} message_t;

/* Section 0 is GPU 0, 1 GPU 1, 2 host code. A letter of the table below for each. */
static const message_t messages[MESSAGES] = {
    {GPURT_LEVEL_INFO, GPURT_KIND_LOG, 0, 0, 5, 0, 0xffffffffu, 100, 42, "src/net/pool.c",
     "session opened"},
    {GPURT_LEVEL_WARN, GPURT_KIND_LOG, 0, 7, 5, 1, 0x9, 100, 43, "src/net/pool.c",
     "retry 3 of 5: sm>0"},
    {GPURT_LEVEL_ERROR, GPURT_KIND_LOG, 1, 0, 6, 2, 0x80000000u, 200, 42, "src/deep/pool.c",
     "task a->b lost"},
    {GPURT_LEVEL_TRACE, GPURT_KIND_LOG, 1, 9, 0, 0, 0x1, 200, 7, "decode.cu",
     "Token or so"},
    {GPURT_LEVEL_INFO, GPURT_KIND_LOG, 2, 0, 4711, 0, 0, 100, 9, "host.c",
     "host says hello"},
    {GPURT_LEVEL_LOST, GPURT_KIND_LOSS, 0, 7, 0, 0, 0, 100, 0, "", "ring full"},
    {GPURT_LEVEL_NONE, GPURT_KIND_LIFE, 2, 0, 4711, 0, 0, 200, 0, "", "begins"},
    {GPURT_LEVEL_PANIC, GPURT_KIND_PANIC, 0, 3, 2, 0, 0x20, 100, 88, "decode.cu",
     "bounds: idx"},
};

/* What fits, and behind a comma what nobody knows. */
static const struct {
    const char *text, *fit;
} table[] = {
    {"", "abcdefgh"},
    {"  ", "abcdefgh"},
    {"session", "a"},
    {"SESSION", "a"},
    {"!session", "bcdefgh"},
    {"not session", "bcdefgh"},
    {"!!session", "a"},
    {"pool.c:42", "ac"},
    {"error", "c"},
    {"WARN", "b"},
    {"\"a->b\"", "c"},
    {"\"sm>0\"", "b"},
    {"'sm>0'", "b"},
    {"\"or\"", "d"},
    {"pool.c task", "c"},
    {"session or task", "ac"},
    {"session || task", "ac"},
    {"session||task", "ac"},
    {"session or pool.c task", "ac"},
    {"(session or pool.c) task", "c"},
    {"!(session or task)", "bdefgh"},
    {"session and opened", "a"},
    {"session && task", ""},
    {"sm=0", "ac"},
    {"sm==0", "ac"},
    {"!sm=0", "bdefgh"},
    {"sm!=0", "bdfh"},
    {"sm>0", "bdfh"},
    {"sm >= 7", "bdf"},
    {"sm<7", "ach"},
    {"sm<=7 level>=info", "abcfh"},
    {"sm=0x7", "bf"},
    {"block=5", "ab"},
    {"block>5", "c"},
    {"block=4711", ""},
    {"block=0,0,0", "d"},
    {"block=5,0", ",ab"},
    {"block=2,1,0", ",abc"},
    {"block!=2,1,0", "dh,abc"},
    {"block=\"(9, 0, 0)\"", ""},
    {"lvl=warn", "b"},
    {"lvl>=warn", "bcfh"},
    {"level>=error", "cfh"},
    {"level<info", "dg"},
    {"level=event", "g"},
    {"level!=info", "bcdfgh"},
    {"warp=1", "b"},
    {"warp>=1", "bc"},
    {"lane=3", "ab"},
    {"lane=31", "ac"},
    {"lane>3", "ach"},
    {"lane!=3", "cdh"},
    {"!lane=3", "cdefgh"},
    {"thread=35", "b"},
    {"thread=95", "c"},
    {"thread=4711", "eg"},
    {"thread=5,0,0", "h,a"},
    {"pid=200", "cdg"},
    {"pid=100 !host", "abfh"},
    {"gpu=1", "cd"},
    {"device=0", "abfh"},
    {"cpu=0", ""},
    {"back_end=host", "eg"},
    {"site=pool.c:42", "ac"},
    {"site=net/pool.c:42", "a"},
    {"site=pool.c", "abc"},
    {"site=pool.c:44", ""},
    {"site~ool.c:4", "abc"},
    {"file=*.cu", "dh"},
    {"file=net/*", "ab"},
    {"file=p*", "abc"},
    {"file=s*", ""},
    {"file!=pool.c", "deh"},
    {"file~net", "ab"},
    {"line>=42", "abch"},
    {"kind=loss", "f"},
    {"kind=panic", "h"},
    {"kind!=log", "fgh"},
    {"msg=\"session opened\"", "a"},
    {"msg=host*", "e"},
    {"msg~TOKEN", "d"},
    {"msg~se*ion", "a"},
    {"msg!~e !kind=loss", "ch"},
    {"kernel=scale", ",abcdh"},
    {"!kernel=scale", "efg,abcdh"},
    {"kernel=scale or warn", "b,acdh"},
    {"kernel=scale sm=9", ",d"},
    {"func~x host", ""},
};

static const struct {
    const char *text, *why;
    uint32_t at, bytes;
} wrong[] = {
    {"lvl>=foo", "no level is called 'foo'; there are event, trace, debug, info, warn,", 5,
     3},
    {"blok=5", "no field is called 'blok'; did you mean block?", 0, 4},
    {"foo a=5", "no field is called 'a'; there are level, kind,", 4, 1},
    {"a->b", "no field is called 'a-'", 0, 2},
    {"x > 3", "no field is called 'x'", 0, 1},
    {"sm=", "sm= wants a number from 0 to 65535", 3, 0},
    {"sm= ", "sm= wants a number from 0 to 65535", 4, 0},
    {"level>=", "level>= wants one of event, trace", 7, 0},
    {"sm=x", "sm is a number from 0 to 65535, not 'x'", 3, 1},
    {"sm=-1", "sm is a number", 3, 2},
    {"sm=1.5", "sm is a number", 3, 3},
    {"sm=65536", "sm is a number from 0 to 65535, not '65536'", 3, 5},
    {"gpu=4294967296", "gpu is a number from 0 to 4294967295", 4, 10},
    {"pid=99999999999999999999999", "pid is a number", 4, 23},
    {"pid=18446744073709551617", "pid is a number", 4, 20},
    {"lane=32", "lane is a number from 0 to 31", 5, 2},
    {"warp=32", "warp is a number from 0 to 31", 5, 2},
    {"block=1,2,3,4", "block is a number from 0 to 4294967295, or x,y,z", 6, 7},
    {"block=1,", "block is a number", 6, 2},
    {"block<1,2", "block with x,y,z takes = and !=, not <", 6, 3},
    {"sm~3", "sm takes = != < <= > >=, not ~", 3, 1},
    {"msg<3", "msg takes = != ~ !~, not <", 4, 1},
    {"kind<log", "kind takes = and !=, not <", 5, 3},
    {"kind=foo", "no kind is called 'foo'; there are log, loss, panic", 5, 3},
    {">3", "no field stands before >", 0, 1},
    {"!=3", "no field stands before !=", 0, 2},
    {"foo(3)", "a word with '(' stands in quotes: \"foo(3)\"", 3, 1},
    {"a|b", "a word with '|'", 1, 1},
    {"sm=3=4", "a value with '=' stands in quotes", 4, 1},
    {"(a", "this ( is not closed", 0, 1},
    {"a)", "no ( stands before this )", 1, 1},
    {"()", "no condition stands before this )", 1, 1},
    {"(a)b", "a space is missing behind the )", 3, 1},
    {"a or", "the filter ends where a condition should stand", 4, 0},
    {"!", "the filter ends where a condition should stand", 1, 0},
    {"or a", "'or' joins conditions", 0, 2},
    {"a and and b", "'and' joins conditions", 6, 3},
    {"&& a", "&& stands between two conditions", 0, 2},
    {"\"a", "this quote is not closed", 0, 1},
    {"\"a\\", "this quote is not closed", 0, 1},
    {"\"a\"b", "a space is missing behind the quote", 3, 1},
    {"\"\"", "nothing stands in the quotes", 0, 2},
};

static gpurt_dictionary_t dictionary;
static gplog_file_t about;
static gpurt_model_numbers_t numbers;

static void place_make(gplog_section_t *s, uint32_t kind, uint32_t device, uint32_t i)
{
    s->kind = kind;
    s->device = device;
    numbers.sections[i].kind = kind;
    numbers.sections[i].device = device;
}

static void about_make(void)
{
    gpurt_box_identity_t other = {.start_ticks = 1};

    about.section_count = 3;
    about.identity.pid = 100;
    CHECK_EQ(gplog_program_add(&dictionary, &about.identity), 0);
    other.pid = 200;
    CHECK_EQ(gplog_program_add(&dictionary, &other), 1);
    place_make(&about.sections[0], GPURT_SECTION_CUDA, 0, 0);
    place_make(&about.sections[1], GPURT_SECTION_CUDA, 1, 1);
    place_make(&about.sections[2], GPURT_SECTION_HOST, 0, 2);
}

static void line_make(const message_t *m, gpurt_model_line_t *l)
{
    const char *slash = strrchr(m->file, '/');

    memset(l, 0, sizeof *l);
    l->level = (uint8_t)m->level;
    l->kind = (uint8_t)m->kind;
    l->section = (uint8_t)m->section;
    l->form = m->section == 2 ? GPURT_FORM_THREAD : GPURT_FORM_WARP;
    l->sm = (uint16_t)m->sm;
    l->block = m->block;
    l->warp = (uint8_t)m->warp;
    l->mask = m->lanes;
    l->pid = m->pid;
    l->line = m->line;
    snprintf(l->file, sizeof l->file, "%s", slash ? slash + 1 : m->file);
    l->text_bytes = (uint16_t)snprintf(l->text, sizeof l->text, "%s", m->text);
}

typedef struct row {
    gpurt_row_t row;
    uint32_t words[16];
} row_t;

static void row_make(const message_t *m, row_t *out)
{
    gpurt_site_info_t site = {.line = m->line,
                              .kind = GPURT_DEF_SITE,
                              .record_kind = (uint16_t)m->kind,
                              .level = (uint8_t)m->level,
                              .format = m->text,
                              .format_bytes = (uint32_t)strlen(m->text),
                              .file = m->file,
                              .file_bytes = (uint32_t)strlen(m->file),
                              .module = ""};
    gpurt_row_t *row = &out->row;

    memset(out, 0, sizeof *out);
    row->site = m->kind == GPURT_KIND_LOSS || m->kind == GPURT_KIND_LIFE
                    ? 0
                    : gpurt_dictionary_add(&dictionary, &site);
    row->level = (uint8_t)m->level;
    row->kind = (uint8_t)m->kind;
    row->section = (uint8_t)m->section;
    row->form = m->section == 2 ? GPURT_FORM_THREAD : GPURT_FORM_WARP;
    row->sm = (uint16_t)m->sm;
    row->block = m->block;
    row->warp = (uint8_t)m->warp;
    row->mask = m->lanes;
    row->program = m->pid == 200;
    row->words = 10;
    if (m->kind == GPURT_KIND_PANIC) { /* block 2,0,0, thread 5,0,0 */
        out->words[0] = 2;
        out->words[3] = 5;
        out->words[6] = 5;
        out->words[7] = 0x20;
    }
    if (m->kind == GPURT_KIND_LIFE)
        out->words[1] = m->pid;
}

static void answers_put(const filter_answer_t *answers, char *fit)
{
    char *sure = fit;

    for (uint32_t i = 0; i < MESSAGES; i++)
        if (answers[i] == FILTER_YES)
            *fit++ = (char)('a' + i);
    sure = fit;
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (answers[i] == FILTER_UNSURE) {
            if (fit == sure)
                *fit++ = ',';
            *fit++ = (char)('a' + i);
        }
    *fit = '\0';
}

static const char *rows_fit(const filter_t *f, char fit[MESSAGES + 2])
{
    filter_answer_t answers[MESSAGES];

    for (uint32_t i = 0; i < MESSAGES; i++) {
        row_t row;

        row_make(&messages[i], &row);
        answers[i] = filter_of_row(f, &dictionary, &about, &row.row, 0, NULL);
    }
    answers_put(answers, fit);
    return fit;
}

static const char *lines_fit(const filter_t *f, char fit[MESSAGES + 2])
{
    filter_answer_t answers[MESSAGES];

    for (uint32_t i = 0; i < MESSAGES; i++) {
        gpurt_model_line_t line;

        line_make(&messages[i], &line);
        answers[i] = filter_line(f, &numbers, &line, NULL);
    }
    answers_put(answers, fit);
    return fit;
}

static void check_rows(void)
{
    char fit[MESSAGES + 2];
    filter_error_t err;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        filter_t f = {.level = 0};

        CHECK_MSG(filter_parse(&f, table[i].text, &err), "%s: %s", table[i].text, err.why);
        CHECK_MSG(strcmp(rows_fit(&f, fit), table[i].fit) == 0, "%s: %s, not %s",
                  table[i].text, fit, table[i].fit);
    }
}

/* What lines of a screen know less of: folders, and of a panic more than its place. */
static void check_lines(void)
{
    static const struct {
        const char *text, *fit;
    } lines[] = {{"sm=0", "ac"},
                 {"!sm=0", "bdefgh"},
                 {"block=5 lvl=warn", "b"},
                 {"gpu=1", "cd"},
                 {"site=pool.c:42", "ac"},
                 {"site=net/pool.c:42", ",ac"},
                 {"file=net/*.cu", ",dh"},
                 {"file~/", ",abcdeh"},
                 {"pid=200", "cdg"},
                 {"cat=bounds", ",h"},
                 {"block=2,0,0", ",h"},
                 {"kernel=x", ",abcdh"},
                 {"session", "a"},
                 {"ring", "f"},
                 {"level>=error", "cfh"}};
    char fit[MESSAGES + 2];

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        filter_t f = {.level = 0};

        CHECK(filter_parse(&f, lines[i].text, NULL));
        CHECK_MSG(strcmp(lines_fit(&f, fit), lines[i].fit) == 0, "%s: %s, not %s",
                  lines[i].text, fit, lines[i].fit);
    }
}

/* A wrong one is told with its place, and the filter before it stays. */
static void check_wrong(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        filter_t f = {.level = GPURT_LEVEL_INFO}, before;
        filter_error_t err;

        CHECK(filter_parse(&f, "sm=3", NULL));
        before = f;
        CHECK_MSG(!filter_parse(&f, wrong[i].text, &err), "%s is none", wrong[i].text);
        CHECK_MSG(strncmp(err.why, wrong[i].why, strlen(wrong[i].why)) == 0,
                  "%s: %s, not %s", wrong[i].text, err.why, wrong[i].why);
        CHECK_MSG(err.at == wrong[i].at && err.bytes == wrong[i].bytes, "%s: %u, %u",
                  wrong[i].text, err.at, err.bytes);
        CHECK(filter_same(&f, &before));
        CHECK(f.level == GPURT_LEVEL_INFO);
    }
}

static void check_bounds(void)
{
    char text[FILTER_TEXT + 8] = "";
    filter_t f = {.level = 0};
    filter_error_t err;

    memset(text, 'x', FILTER_TEXT);
    CHECK(!filter_parse(&f, text, &err) && strstr(err.why, "at most 255 bytes"));
    text[FILTER_TEXT - 1] = '\0';
    CHECK(filter_parse(&f, text, &err));
    memset(text, '(', FILTER_DEPTH + 1);
    CHECK(!filter_parse(&f, text, &err) && strstr(err.why, "more than 16 parentheses"));
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i < 2 * FILTER_TERMS ? "a "[i % 2] : '\0';
    CHECK(filter_parse(&f, text, &err));
    text[2 * FILTER_TERMS] = 'a';
    CHECK(!filter_parse(&f, text, &err) && strstr(err.why, "at most 32 conditions"));
}

/* A screen reads no frame that holds none of these levels. */
static void check_levels(void)
{
    static const struct {
        const char *text;
        uint32_t level, levels;
    } sets[] = {
        {"", 0, 0xff},           {"", 4, 0xf0},           {"lvl>=warn", 0, 0xf0},
        {"lvl>=warn", 5, 0xe0},  {"!lvl>=warn", 0, 0x0f}, {"lvl=info or x", 0, 0xff},
        {"lvl=info x", 0, 0x08}, {"!warn", 0, 0xef},      {"lvl=info lvl=warn", 0, 0}};

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        filter_t f = {.level = sets[i].level};

        CHECK(filter_parse(&f, sets[i].text, NULL));
        CHECK_MSG(filter_levels(&f) == sets[i].levels, "%s: %x", sets[i].text,
                  filter_levels(&f));
    }
}

static void check_functions(void)
{
    static const filter_text_t name = {"void n::scale<float>(float *, int)", 34};

    CHECK(filter_match_function(name, (filter_text_t){"scale", 5}));
    CHECK(filter_match_function(name, (filter_text_t){"n::scale", 8}));
    CHECK(filter_match_function(name, (filter_text_t){"sc*", 3}));
    CHECK(filter_match_function(name, (filter_text_t){name.at, name.bytes}));
    CHECK(!filter_match_function(name, (filter_text_t){"cale", 4}));
    CHECK(!filter_match_function(name, (filter_text_t){"float", 5}));
}

/* Own values of each lane: a message each. */
static void check_lanes(void)
{
    filter_t f = {.level = 0};
    row_t row;

    row_make(&messages[0], &row);
    row.row.form = GPURT_FORM_LANES;
    CHECK(filter_parse(&f, "lane=3", NULL));
    CHECK_EQ(filter_of_row(&f, &dictionary, &about, &row.row, 3, NULL), FILTER_YES);
    CHECK_EQ(filter_of_row(&f, &dictionary, &about, &row.row, 4, NULL), FILTER_NO);
    CHECK_EQ(filter_of_row(&f, &dictionary, &about, &row.row, FILTER_ANY_LANE, NULL),
             FILTER_YES);
}

static void check_tally(void)
{
    filter_run_t run = {.tally = {0}};
    char text[128], shown[256] = "";
    filter_error_t err;
    FILE *out;

    CHECK(filter_parse(&run.filter, "kernel=x or block=9,1,0", NULL));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        row_t row;

        row_make(&messages[i], &row);
        CHECK(!filter_run_message(&run, &dictionary, &about, &row.row, 0));
    }
    CHECK(filter_tally_text(&run.tally, text, sizeof text));
    CHECK_STR(text, "kernel is not known for 5 of 8 messages");
    memset(&run.tally, 0, sizeof run.tally);
    CHECK(!filter_tally_text(&run.tally, text, sizeof text));
    CHECK(!filter_parse(&run.filter, "\xc3\xa4 lvl>=foo", &err));
    out = fmemopen(shown, sizeof shown, "w");
    filter_point(out, "\xc3\xa4 lvl>=foo", &err);
    fclose(out);
    CHECK_STR(shown, "  \xc3\xa4 lvl>=foo\n         ^~~\n");
}

int main(void)
{
    about_make();
    check_wrong();
    check_bounds();
    check_levels();
    check_rows();
    check_lines();
    check_functions();
    check_lanes();
    check_tally();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
