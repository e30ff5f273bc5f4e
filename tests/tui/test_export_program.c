/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a log as an export has them: true pids for its lines, a pid of its own for
 * each in a trace, and logs from before as they were. */
#include "export_program.h"

#include "check.h"

#include <stdio.h>

static gpurt_dictionary_t dictionary;
static gplog_file_t about;
static export_programs_t programs;

static void begin(uint32_t pid, const char *name)
{
    gpurt_dictionary_fini(&dictionary);
    memset(&dictionary, 0, sizeof dictionary);
    memset(&about, 0, sizeof about);
    about.identity.pid = pid;
    snprintf(about.identity.program, sizeof about.identity.program, "%s", name);
}

static void add(uint32_t pid, uint64_t ticks, const char *name)
{
    gpurt_box_identity_t id = {.pid = pid, .start_ticks = ticks};

    snprintf(id.program, sizeof id.program, "%s", name);
    gplog_program_add(&dictionary, &id);
}

/* A definition that somebody made. */
static void define(uint32_t number, uint32_t pid)
{
    gpurt_site_info_t info = {.kind = GPURT_DEF_STRING,
                              .record_kind = GPURT_KIND_LIFE,
                              .line = pid,
                              .types = (uint64_t)number << 48,
                              .format = "made",
                              .format_bytes = 4};

    gpurt_dictionary_add(&dictionary, &info);
}

static void named(uint32_t program, const char *name, const char *with_pid)
{
    char room[128];

    export_program_name(&programs, program, false, room, sizeof room);
    CHECK_STR(room, name);
    export_program_name(&programs, program, true, room, sizeof room);
    CHECK_STR(room, with_pid);
}

static void all_differ(void)
{
    for (uint32_t i = 0; i < EXPORT_PROGRAMS; i++)
        for (uint32_t j = 0; j < i; j++)
            CHECK(programs.shown[i] != programs.shown[j]);
}

/* Whatever stands where rows have their process now. */
static void check_before(void)
{
    gpurt_row_t row = {.program = 9};

    begin(77, "old");
    export_programs_init(&programs, &dictionary, &about);
    CHECK_EQ(export_program_of(&programs, &row), 0);
    CHECK_EQ(programs.pids[0], 77);
    CHECK_EQ(programs.shown[0], 77);
    CHECK(!export_program_shares(&programs, 0));
    named(0, "old", "old");

    begin(0, ""); /* nor need its process be known */
    export_programs_init(&programs, &dictionary, &about);
    CHECK_EQ(programs.shown[0], 0);
    named(0, "", "");
}

static void check_one(void)
{
    gpurt_row_t row = {.program = 9};

    begin(77, "alone");
    add(77, 5, "alone");
    export_programs_init(&programs, &dictionary, &about);
    CHECK_EQ(programs.shown[0], 77);
    CHECK(!export_program_shares(&programs, 0));
    named(0, "alone", "alone");
    CHECK_EQ(export_program_of(&programs, &row), 9);
    CHECK(export_program_shares(&programs, 9)); /* a file that somebody made */
    CHECK_EQ(programs.pids[9], 0);
    all_differ();
}

static void check_many(void)
{
    begin(12, "last");
    add(10, 5, "a");
    add(11, 5, "b");
    add(10, 6, "a");    /* the pid again */
    add(10, 6, "exec"); /* and again */
    add(12, 6, "last");
    export_programs_init(&programs, &dictionary, &about);
    CHECK_EQ(programs.pids[2], 10);
    CHECK_EQ(programs.shown[0], 10);
    CHECK_EQ(programs.shown[1], 11);
    CHECK_EQ(programs.shown[2], EXPORT_PID_FREE + 2);
    CHECK_EQ(programs.shown[4], 12);
    CHECK(export_program_shares(&programs, 0));
    named(0, "a", "a (pid 10)");
    named(2, "a (pid 10, process 2 of the log)", "a (pid 10, process 2 of the log)");
    named(3, "exec (pid 10, process 3 of the log)", "exec (pid 10, process 3 of the log)");
    named(7, "process 7 of the log", "process 7 of the log");
    named(GPLOG_PROGRAM_OTHERS, "other processes", "other processes");
    CHECK_EQ(programs.pids[GPLOG_PROGRAM_OTHERS], 0);
    all_differ();
}

/* Pids that no Linux gives out, and none at all. */
static void check_hostile(void)
{
    begin(12, "x");
    define(3, EXPORT_PID_FREE + 1);
    define(1, 0);
    define(5, UINT32_MAX);
    define(4, EXPORT_PID_FREE - 1);
    export_programs_init(&programs, &dictionary, &about);
    CHECK_EQ(programs.pids[0], 0);
    CHECK_EQ(programs.pids[3], EXPORT_PID_FREE + 1);
    CHECK_EQ(programs.shown[3], EXPORT_PID_FREE + 3);
    CHECK_EQ(programs.shown[4], EXPORT_PID_FREE - 1);
    named(1, "made", "made");
    named(0, "process 0 of the log", "process 0 of the log");
    all_differ();
}

int main(void)
{
    check_before();
    check_one();
    check_many();
    check_hostile();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
