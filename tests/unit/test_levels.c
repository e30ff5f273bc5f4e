/* SPDX-License-Identifier: Apache-2.0 */
/* Levels as words: what is read, what is refused, what a pattern matches; and in a box, with
 * readers beside writers who change them all the time. */
#include "../check.h"
#include "levelset.h"

#include <gpurt/impl/levels.h>
#include <pthread.h>

enum {
    WRITES = 20000,
    WRITERS = 2
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static uint32_t xstop;

static uint32_t at(const char *words, const char *file, uint32_t line)
{
    gpurt_levelset_t set;

    CHECK_MSG(gpurt_levelset_parse(words, &set, &err) == GPURT_OK, "%s: %s", words,
              err.text);
    gpurt_levelset_write(&map, &set);
    return gpurt_level_at(&map.box->control, file, (uint32_t)strlen(file), line);
}

static void matches(void)
{
    static const struct {
        const char *words, *file;
        uint32_t line, level;
    } rows[] = {
        {"info", "a.c", 1, GPURT_LEVEL_INFO},
        {"OFF", "a.c", 1, GPURT_LEVEL_LOST},
        {"a.c=trace", "a.c", 1, GPURT_LEVEL_TRACE},
        {"a.c=trace", "b/a.c", 1, GPURT_LEVEL_TRACE},
        {"a.c=trace", "ba.c", 1, GPURT_LEVEL_INFO},
        {"a.c=trace", "a.cu", 1, GPURT_LEVEL_INFO},
        {"warn,net/*=debug", "/src/net/tcp.cu", 1, GPURT_LEVEL_DEBUG},
        {"warn,net/*=debug", "/src/subnet/tcp.cu", 1, GPURT_LEVEL_WARN},
        {"warn,net/*=debug", "net", 1, GPURT_LEVEL_WARN},
        {"*=error,a.c=trace", "a.c", 1, GPURT_LEVEL_TRACE},
        {"a.c=trace,*=error", "a.c", 1, GPURT_LEVEL_ERROR},
        {"a.c:42=debug", "a.c", 42, GPURT_LEVEL_DEBUG},
        {"a.c:42=debug", "a.c", 43, GPURT_LEVEL_INFO},
        {"?.c=debug", "a.c", 1, GPURT_LEVEL_DEBUG},
        {"?.c=debug", ".c", 1, GPURT_LEVEL_INFO},
        {"*a*b*=debug", "xxaxxxb", 1, GPURT_LEVEL_DEBUG},
        {"*a*b=debug", "xxaxbxb", 1, GPURT_LEVEL_DEBUG},
        {"*a*b=debug", "xxaxbx", 1, GPURT_LEVEL_INFO},
        {"=*=debug", "a.c", 1, GPURT_LEVEL_NONE},
        {"a.c:0=debug", "a.c", 1, GPURT_LEVEL_NONE},
        {"a.c:99999999=debug", "a.c", 1, GPURT_LEVEL_NONE},
        {"loud", "a.c", 1, GPURT_LEVEL_NONE},
        {"a.c=", "a.c", 1, GPURT_LEVEL_NONE},
        {"info,", "a.c", 1, GPURT_LEVEL_NONE},
        {"", "a.c", 1, GPURT_LEVEL_NONE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gpurt_levelset_t set;

        if (rows[i].level == GPURT_LEVEL_NONE) {
            CHECK_MSG(gpurt_levelset_parse(rows[i].words, &set, &err) == GPURT_E_INVALID,
                      "'%s' is no rule", rows[i].words);
            continue;
        }
        CHECK_MSG(at(rows[i].words, rows[i].file, rows[i].line) == rows[i].level,
                  "%s at %s:%u: %u", rows[i].words, rows[i].file, rows[i].line,
                  at(rows[i].words, rows[i].file, rows[i].line));
    }
}

static void round_trip(void)
{
    static const char words[] = "warn,net/*=trace,pool.c:42=debug,*=off";
    char text[GPURT_LEVELSET_TEXT], many[2048] = "info";
    gpurt_levelset_t set;

    CHECK(at(words, "x", 1) == GPURT_LEVEL_LOST);
    CHECK(gpurt_levelset_read(&map, &set));
    CHECK(gpurt_levelset_print(&set, text, sizeof text) == strlen(words));
    CHECK_MSG(strcmp(text, words) == 0, "%s", text);
    for (uint32_t i = 0; i < GPURT_BOX_RULES; i++)
        strcat(many, ",a=info");
    CHECK(gpurt_levelset_parse(many, &set, &err) == GPURT_OK);
    strcat(many, ",a=info");
    CHECK(gpurt_levelset_parse(many, &set, &err) == GPURT_E_INVALID);
}

/* Every word of a set says the same number: half of one and half of another shows. */
static void *write_many(void *nothing)
{
    gpurt_levelset_t set;

    for (uint32_t i = 0; i < WRITES; i++) {
        memset(&set, 0, sizeof set);
        set.level = 1 + i % 5;
        set.rule_count = GPURT_BOX_RULES;
        for (uint32_t r = 0; r < GPURT_BOX_RULES; r++) {
            set.rules[r].level = set.level;
            strcpy(set.rules[r].module, "*");
        }
        gpurt_levelset_write(&map, &set);
    }
    return nothing;
}

static void *read_many(void *nothing)
{
    gpurt_levelset_t set;

    while (!gpurt_load_relaxed_sys_u32(&xstop)) {
        if (!gpurt_levelset_read(&map, &set))
            continue;
        for (uint32_t r = 0; r < set.rule_count; r++)
            CHECK_MSG(set.rules[r].level == set.level, "rule %u: %u of %u", r,
                      set.rules[r].level, set.level);
    }
    return nothing;
}

static void raced(void)
{
    gpurt_levelset_t set = {.level = GPURT_LEVEL_INFO};
    pthread_t writers[WRITERS], reader;
    uint32_t before;

    gpurt_levelset_write(&map, &set);
    before = map.box->control.xrules;
    CHECK(pthread_create(&reader, NULL, read_many, NULL) == 0);
    for (uint32_t i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&writers[i], NULL, write_many, NULL) == 0);
    for (uint32_t i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    gpurt_store_relaxed_sys_u32(&xstop, 1);
    pthread_join(reader, NULL);
    CHECK_MSG(map.box->control.xrules == before + 2 * WRITERS * WRITES, "%u",
              map.box->control.xrules - before);
}

/* A writer died half way: the next one takes over, and readers do not hang meanwhile. */
static void dead_writer(void)
{
    gpurt_store_relaxed_sys_u32(&map.box->control.xrules, 7);
    (void)gpurt_level_at(&map.box->control, "a.c", 3, 1);
    CHECK(at("a.c=trace", "a.c", 1) == GPURT_LEVEL_TRACE);
    CHECK(map.box->control.xrules % 2 == 0);
}

int main(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    matches();
    round_trip();
    raced();
    dead_writer();
    gpurt_boxmap_detach(&map);
    return 0;
}
