/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a row is, in a log of several processes: numbers are given once, come back with the file,
 * and never name somebody else. */
#include "lives.h"
#include "program.h"
#include "reader.h"
#include "repair.h"
#include "writer.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s", err.text)

static gplog_file_t about_of(uint32_t pid, uint64_t ticks, const char *name)
{
    gplog_file_t about = {.section_count = 1, .sections = {{.kind = GPURT_SECTION_HOST}}};

    about.identity.pid = pid;
    about.identity.start_ticks = ticks;
    snprintf(about.identity.program, sizeof about.identity.program, "%s", name);
    return about;
}

static uint32_t add(gpurt_dictionary_t *d, uint32_t pid, uint64_t ticks, const char *name)
{
    gplog_file_t about = about_of(pid, ticks, name);

    return gplog_program_add(d, &about.identity);
}

static void check_numbers(void)
{
    gpurt_dictionary_t d = {0};
    gplog_program_t p;

    CHECK(!gplog_program_get(&d, 0, &p));
    CHECK_EQ(add(&d, 10, 5, "a"), 0);
    CHECK_EQ(add(&d, 11, 5, "a"), 1);
    CHECK_EQ(add(&d, 10, 6, "a"), 2); /* the pid again, another process */
    CHECK_EQ(add(&d, 10, 5, "b"), 3); /* the process, another program */
    CHECK_EQ(add(&d, 10, 5, "a"), 0);
    CHECK_EQ(gplog_program_count(&d), 4);
    CHECK(gplog_program_get(&d, 3, &p));
    CHECK_EQ(p.pid, 10);
    CHECK_EQ(p.start_ticks, 5);
    CHECK_STR(p.name, "b");
    CHECK(!gplog_program_get(&d, 4, &p));
    CHECK_EQ(p.pid, 0);
    gpurt_dictionary_fini(&d);
}

/* Numbers are a byte: who comes when all are given shares one that is nobody's. */
static void check_full(void)
{
    gpurt_dictionary_t d = {0};
    gplog_program_t p;

    for (uint32_t i = 0; i < 300; i++)
        CHECK_EQ(add(&d, 1000 + i, 1, "many"), i < 255 ? i : GPLOG_PROGRAM_OTHERS);
    CHECK_EQ(gplog_program_count(&d), 255);
    CHECK_EQ(d.last_id, 255); /* nor does it take room */
    CHECK_EQ(add(&d, 1254, 1, "many"), 254);
    CHECK(!gplog_program_get(&d, GPLOG_PROGRAM_OTHERS, &p));
    gpurt_dictionary_fini(&d);
}

/* Going through a dictionary meets the last one, too. */
static void check_all(void)
{
    gpurt_dictionary_t d = {0};
    gpurt_site_info_t info;
    uint32_t id = 0;

    CHECK(!gpurt_dictionary_next(&d, &id, &info));
    (void)add(&d, 10, 5, "a");
    (void)add(&d, 11, 5, "a");
    CHECK(gpurt_dictionary_next(&d, &id, &info));
    CHECK_EQ(info.id, 1);
    CHECK(gpurt_dictionary_next(&d, &id, &info));
    CHECK_EQ(info.id, 2);
    CHECK(!gpurt_dictionary_next(&d, &id, &info));
    gpurt_dictionary_fini(&d);
}

/* Who a row is of where the dictionary does not say: the file's own process, or who the recorder
 * names. */
static void check_known(void)
{
    gpurt_dictionary_t d = {0};
    gplog_file_t about = about_of(77, 1, "old");
    gpurt_life_t life = {.number = 2, .pid = 4711};
    gpurt_life_row_t r;
    gpurt_row_t row = {.kind = GPURT_KIND_TEXT};
    gplog_program_t p;

    CHECK(!gplog_program_several(&d) && gplog_program_known(&d, &about, 0, &p));
    CHECK_EQ(p.pid, 77);
    CHECK_STR(p.name, "old");
    CHECK_EQ(gplog_program_pid(&d, &about, &row), 77);
    row.program = GPLOG_PROGRAM_OTHERS;
    CHECK_EQ(gplog_program_pid(&d, &about, &row), 0);
    CHECK(!gplog_program_known(&d, &about, 1, &p) && !gplog_program_find(&d, 77, &p));
    add(&d, 10, 5, "a");
    CHECK(!gplog_program_several(&d));
    add(&d, 11, 5, "b");
    add(&d, 10, 6, "c");
    CHECK(gplog_program_several(&d) && gplog_program_known(&d, &about, 1, &p));
    CHECK_EQ(p.pid, 11);
    CHECK(!gplog_program_known(&d, &about, 3, &p));
    CHECK_EQ(p.pid, 0);
    CHECK(gplog_program_find(&d, 10, &p));
    CHECK_STR(p.name, "c"); /* the last of that pid */
    CHECK(!gplog_program_find(&d, 77, &p));
    CHECK_EQ(gplog_program_pid(&d, &about, gpurt_life_begins(&d, &life, &r)), 4711);
    CHECK_EQ(r.row.program, GPLOG_PROGRAM_OTHERS);
    CHECK_EQ(gplog_program_pid(&d, &about, gpurt_life_ends(&d, &life, &r)), 4711);
    gpurt_dictionary_fini(&d);
}

/* A file that somebody made: the first of a number stands, numbers may have holes. */
static void check_hostile(void)
{
    gpurt_dictionary_t d = {0};
    gpurt_site_info_t info = {.kind = GPURT_DEF_STRING,
                              .record_kind = GPURT_KIND_LIFE,
                              .format = "x",
                              .format_bytes = 1};
    gplog_program_t p;

    info.types = 3ull << 48;
    info.line = 7;
    gpurt_dictionary_add(&d, &info);
    info.line = 8;
    gpurt_dictionary_add(&d, &info);
    info.types = 0xffffull << 48;
    gpurt_dictionary_add(&d, &info);
    CHECK_EQ(gplog_program_count(&d), 4);
    CHECK(!gplog_program_get(&d, 2, &p));
    CHECK(gplog_program_get(&d, 3, &p));
    CHECK_EQ(p.pid, 7);
    gpurt_dictionary_fini(&d);
}

/* ---- through a file ------------------------------------------------------------------ */
static void put(gpurt_writer_t *w, const gplog_file_t *about, uint64_t time_ns)
{
    gpurt_row_t row = {.time_ns = time_ns, .kind = GPURT_KIND_TEXT, .mask = 1};
    gplog_numbers_t n;
    gpurt_error_t err;

    gpurt_writer_numbers(w, about, &n);
    OK(gpurt_writer_put_of(w, &n, &row, &err));
}

static void record(const char *path, const gplog_file_t *first, const gplog_file_t *second,
                   uint64_t time_ns)
{
    gpurt_writer_options_t o = {.struct_size = sizeof o, .append = true};
    gpurt_writer_t *w;
    gpurt_error_t err;

    OK(gpurt_writer_open(path, &o, &w, &err));
    OK(gpurt_writer_about(w, first, &err));
    OK(gpurt_writer_about(w, second, &err));
    put(w, second, time_ns);
    put(w, first, time_ns + 1);
    OK(gpurt_writer_close(w, &err));
}

static void read_back(gpurt_log_t *log, const uint32_t *pids, uint32_t count)
{
    gpurt_log_summary_t sum;
    gpurt_log_rows_t rows;
    gpurt_error_t err;
    uint32_t seen = 0;

    gpurt_log_summary(log, &sum);
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        const gpurt_row_t *row;

        OK(gpurt_log_read(log, i, &rows, &err));
        for (uint32_t at = 0; (row = gpurt_log_row(&rows, at, &at)) != NULL; seen++) {
            CHECK(seen < count);
            CHECK_EQ(gplog_program_pid(gpurt_log_dictionary(log), &sum.about, row),
                     pids[seen]);
        }
    }
    CHECK_EQ(seen, count);
}

/* A copy without its end, mended: numbers and who they are of are kept, and one that goes on with
 * it goes on with them. */
static void check_repaired(const char *path, const uint32_t pids[4])
{
    gplog_file_t one = about_of(21, 1, "rank"), four = about_of(24, 4, "rank");
    uint32_t more[] = {pids[0], pids[1], pids[2], pids[3], 21, 24};
    gpurt_repair_figures_t sum;
    gpurt_error_t err;
    gpurt_log_t *log;
    char mended[64];
    struct stat info;

    snprintf(mended, sizeof mended, "%s.mended", path);
    CHECK(stat(path, &info) == 0 && truncate(path, info.st_size - 60) == 0);
    OK(gpurt_log_repair(path, mended, &sum, &err));
    OK(gpurt_log_open(mended, &log, &err));
    CHECK_EQ(gplog_program_count(gpurt_log_dictionary(log)), 3);
    read_back(log, pids, 4);
    gpurt_log_close(log);
    record(mended, &four, &one, 3000);
    OK(gpurt_log_open(mended, &log, &err));
    CHECK_EQ(gplog_program_count(gpurt_log_dictionary(log)), 4);
    read_back(log, more, 6);
    gpurt_log_close(log);
    unlink(mended);
}

/* Written by two recorders, one after another: the second goes on with the first one's
 * numbers. By the index and by walking alike. */
static void check_file(const char *path)
{
    static const uint32_t pids[] = {22, 21, 21, 23};
    gplog_file_t one = about_of(21, 1, "rank"), two = about_of(22, 2, "rank"),
                 three = about_of(23, 3, "rank");
    gpurt_error_t err;
    gpurt_log_t *log;

    record(path, &one, &two, 1000);
    record(path, &three, &one, 2000);
    OK(gpurt_log_open(path, &log, &err));
    CHECK_EQ(gplog_program_count(gpurt_log_dictionary(log)), 3);
    read_back(log, pids, 4);
    gpurt_log_close(log);
    OK(gpurt_log_open_walked(path, &log, &err));
    read_back(log, pids, 4);
    gpurt_log_close(log);
    check_repaired(path, pids);
}

int main(void)
{
    char path[] = "/tmp/gpurt-program-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    unlink(path);
    check_numbers();
    check_full();
    check_all();
    check_hostile();
    check_known();
    check_file(path);
    unlink(path);
    return 0;
}
