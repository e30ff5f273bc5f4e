/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is read: rows, definitions and sums, through several indexes, after
 * appending to a closed and to a crashed file, by index and by walk; and zstd can unpack
 * all of it. */
#include "check.h"
#include "reader.h"
#include "render.h"
#include "repair.h"
#include "writer.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FRAMES = 2100,
    FRAME_ROWS = 10
};

static gpurt_error_t err;
static char path[] = "/tmp/test_store.XXXXXX";

static uint32_t define(gpurt_writer_t *w, const char *format, uint32_t line)
{
    gpurt_site_info_t s = {.line = line,
                           .kind = GPURT_DEF_SITE,
                           .record_kind = GPURT_KIND_LOG,
                           .level = GPURT_LEVEL_WARN,
                           .arg_count = 2,
                           .types = GPURT_TYPE_U32 | GPURT_TYPE_I32 << 4,
                           .format = format,
                           .format_bytes = (uint32_t)strlen(format),
                           .file = "a/b.c",
                           .file_bytes = 5};

    return gpurt_writer_define(w, &s);
}

static void put(gpurt_writer_t *w, uint32_t site, uint32_t i)
{
    struct {
        gpurt_row_t row;
        uint32_t words[8];
    } r = {.row = {.time_ns = 5000000 + i,
                   .site = site,
                   .kind = GPURT_KIND_LOG,
                   .level = GPURT_LEVEL_WARN,
                   .mask = 3,
                   .sm = 9,
                   .words = 2}};

    r.words[0] = i;
    r.words[1] = 0u - i;
    if (i % 3 == 0) {
        r.row.form = GPURT_FORM_LANES_PART;
        r.row.words =
            5; /* two lanes, two words each, and an odd one that nobody asked for */
        r.words[1] = i;
        r.words[2] = r.words[3] = 0u - i;
        r.words[4] = 77;
    }
    CHECK_MSG(gpurt_writer_put(w, &r.row, &err) == GPURT_OK, "%s", err.text);
}

static gpurt_writer_t *open_writer(bool append)
{
    gpurt_writer_options_t o = {
        .struct_size = sizeof o, .frame_rows = FRAME_ROWS, .append = append};
    gpurt_writer_t *w;

    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    return w;
}

/* Reads all; rows must be numbered from 0. Returns: messages. */
static uint64_t read_all(bool walked, uint32_t rows_expected)
{
    gpurt_log_summary_t sum;
    gpurt_log_t *log;
    uint32_t number = 0;
    uint64_t messages = 0;

    CHECK_MSG((walked ? gpurt_log_open_walked : gpurt_log_open)(path, &log, &err) ==
                  GPURT_OK,
              "%s", err.text);
    for (uint64_t f = 0; f < gpurt_log_frames(log); f++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        CHECK_MSG(gpurt_log_read(log, f, &rows, &err) == GPURT_OK, "%s", err.text);
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            char text[200], want[200];
            gpurt_text_t out;

            gpurt_text_init(&out, text, sizeof text);
            gpurt_render_message(gpurt_log_dictionary(log), row,
                                 gpurt_row_messages(row) - 1, &out);
            snprintf(want, sizeof want, "%s %u %d", number % 2 ? "odd" : "even", number,
                     -(int)number);
            CHECK_MSG(strcmp(text, want) == 0, "row %u says '%s', not '%s'", number, text,
                      want);
            CHECK_MSG(row->time_ns == 5000000 + number, "time");
            messages += gpurt_row_messages(row);
            number++;
        }
    }
    gpurt_log_summary(log, &sum);
    CHECK_MSG(number == rows_expected, "%u rows of %u", number, rows_expected);
    CHECK_MSG(sum.messages == messages && sum.torn_frames == 0 && sum.sites == 2,
              "summary");
    CHECK_MSG(sum.indexed == !walked, "opened by the index");
    CHECK_MSG(sum.first_ns == 5000000 && sum.last_ns == 5000000 + number - 1, "times");
    gpurt_log_close(log);
    return messages;
}

static void run(bool append, uint32_t from, uint32_t to)
{
    gpurt_writer_t *w = open_writer(append);
    uint32_t even = define(w, "even %u %d", 1), odd = define(w, "odd %u %d", 2);

    CHECK_MSG(even == 1 && odd == 2 && define(w, "even %u %d", 1) == 1,
              "the same ids again");
    for (uint32_t i = from; i < to; i++)
        put(w, i % 2 ? odd : even, i);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

/* A writer that dies without closing, in the middle of a frame's bytes. */
static void crash(uint32_t from, uint32_t to)
{
    gpurt_writer_options_t o = {
        .struct_size = sizeof o, .frame_rows = FRAME_ROWS, .append = true};
    static const char junk[1 << 20];
    pid_t child = fork();
    int status, fd;

    if (child == 0) {
        gpurt_writer_t *w;

        if (gpurt_writer_open(path, &o, &w, &err) != GPURT_OK)
            _exit(1);
        for (uint32_t i = from; i < to; i++)
            put(w, i % 2 ? 2 : 1, i);
        gpurt_writer_flush(w, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK_MSG(status == 0, "child");
    fd = open(path, O_WRONLY | O_APPEND);
    CHECK_MSG(write(fd, "\x57\x2a\x4d\x18\x10\x01\0\0GPL1\x03\0\x01\0torn", 20) == 20,
              "torn tail");
    CHECK_MSG(write(fd, junk, sizeof junk) == (ssize_t)sizeof junk,
              "longer than what follows");
    close(fd);
}

static void refusals(void)
{
    char pipe[sizeof path + 8];
    gpurt_writer_options_t o = {.struct_size = sizeof o};
    gpurt_writer_t *w, *second;
    gpurt_log_t *log;
    struct {
        gpurt_row_t row;
        uint32_t words[GPLOG_ROW_WORDS + 1];
    } r = {.row = {.words = GPLOG_ROW_WORDS + 1}};

    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_E_INVALID, "not empty");
    CHECK_MSG(gpurt_writer_open("/nonexistent/x", &o, &w, &err) == GPURT_E_OS && w == NULL,
              "folder");
    CHECK_MSG(gpurt_writer_open("/dev/null", &o, &w, &err) == GPURT_E_INVALID, "device");
    w = open_writer(true);
    o.append = true;
    CHECK_MSG(gpurt_writer_open(path, &o, &second, &err) == GPURT_E_BUSY, "two writers");
    CHECK_MSG(gpurt_writer_put(w, &r.row, &err) == GPURT_E_INVALID, "row too long");
    gpurt_writer_close(w, NULL);
    CHECK_MSG(gpurt_log_open("/dev/zero", &log, &err) == GPURT_E_INVALID && !log, "device");
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    CHECK(mkfifo(pipe, 0600) == 0); /* nobody ever writes to it */
    CHECK_MSG(gpurt_log_open(pipe, &log, &err) == GPURT_E_INVALID && !log, "pipe");
    unlink(pipe);
    CHECK_MSG(gpurt_log_open("/bin/true", &log, &err) == GPURT_E_INVALID && !log, "no log");
}

/* A disk that is full in the middle of a frame: the file stays whole, the rows are kept. */
static void full_disk(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        gpurt_writer_t *w = open_writer(true);
        struct rlimit limit = {0, RLIM_INFINITY};
        struct stat info;
        off_t before;

        stat(path, &info);
        for (uint32_t i = 0; i < FRAME_ROWS; i++)
            put(w, 1, i * 2);
        signal(SIGXFSZ, SIG_IGN);
        limit.rlim_cur = (rlim_t)info.st_size + 160; /* inside the rows */
        setrlimit(RLIMIT_FSIZE, &limit);
        if (gpurt_writer_flush(w, &err) != GPURT_E_OS ||
            gpurt_writer_pending(w) != FRAME_ROWS)
            _exit(1);
        before = info.st_size;
        if (stat(path, &info) != 0 || info.st_size != before)
            _exit(3);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(gpurt_writer_flush(w, &err) == GPURT_OK ? 0 : 2);
    }
    waitpid(child, &status, 0);
    CHECK_MSG(status == 0, "status %d", status);
}

/* A box's frame for which there was no room is nobody's any more: the log is not closed, though its end would fit. */
static void lost_frame(void)
{
    gpurt_log_summary_t sum;
    gpurt_log_t *log;
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct {
            gpurt_row_t row;
            uint32_t words[2];
        } r = {.row = {
                   .time_ns = 1, .site = 1, .kind = GPURT_KIND_LOG, .mask = 1, .words = 2}};
        struct rlimit limit = {0, RLIM_INFINITY};
        gpurt_writer_t *w = open_writer(true);
        gpurt_box_intent_t place;
        struct stat info;

        signal(SIGXFSZ, SIG_IGN);
        if (gpurt_writer_prepare(w, NULL, &r.row, gpurt_row_bytes(2), &place, &err) !=
            GPURT_OK)
            _exit(1);
        stat(path, &info);
        limit.rlim_cur = (rlim_t)info.st_size + 16;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (gpurt_writer_commit(w, &err) != GPURT_E_OS)
            _exit(2);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(gpurt_writer_close(w, &err) == GPURT_OK ? 0 : 3);
    }
    waitpid(child, &status, 0);
    CHECK_MSG(status == 0, "status %d", status);
    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    CHECK(!sum.closed);
    gpurt_log_close(log);
}

static off_t size_now(void)
{
    struct stat info;

    return stat(path, &info) == 0 ? info.st_size : -1;
}

/* What was not to be is taken back: by the writer that holds the file, and by no other. */
static void dropped(void)
{
    gpurt_writer_t *w, *other;
    off_t before;

    CHECK(truncate(path, 0) == 0);
    gpurt_writer_drop(open_writer(false));
    CHECK_EQ(size_now(), 0);
    run(false, 0, 3);
    before = size_now();
    gpurt_writer_drop(open_writer(true));
    CHECK_EQ(size_now(), before);
    read_all(false, 3);

    unlink(path);
    w = open_writer(false);
    CHECK_EQ(gpurt_writer_open(path, NULL, &other, &err), GPURT_E_BUSY);
    CHECK_MSG(size_now() > 0, "a log that another process writes is gone");
    gpurt_writer_drop(w);
    CHECK_EQ(size_now(), -1);
    w = open_writer(false);
    unlink(path);
    run(false, 0, 3);
    gpurt_writer_drop(w); /* it has no name any more, and this is another file's */
    read_all(false, 3);
    gpurt_writer_drop(NULL);
}

/* Another process cuts the log: at once, and where a later write makes it as long again. */
static void cut(void)
{
    for (int written_after = 0; written_after < 2; written_after++) {
        gpurt_writer_t *w;

        unlink(path);
        w = open_writer(false);
        put(w, define(w, "value %u %d", 7), 0);
        CHECK_EQ(gpurt_writer_flush(w, &err), GPURT_OK);
        CHECK_EQ(gpurt_writer_stands(w, &err), GPURT_OK);
        CHECK(truncate(path, 0) == 0);
        if (written_after) {
            put(w, 1, 1);
            CHECK_EQ(gpurt_writer_flush(w, &err), GPURT_OK);
        }
        CHECK_EQ(gpurt_writer_stands(w, &err), GPURT_E_OS);
        CHECK_CONTAINS(err.text, "was cut while it was recorded");
        gpurt_writer_close(w, NULL);
    }
}

int main(void)
{
    char command[256];
    gpurt_repair_figures_t figures;

    close(mkstemp(path));
    run(false, 0, FRAMES * FRAME_ROWS);
    read_all(false, FRAMES * FRAME_ROWS);
    read_all(true, FRAMES * FRAME_ROWS);
    snprintf(command, sizeof command, "zstd -dc %s | wc -c > %s.size", path, path);
    CHECK_MSG(system(command) == 0, "zstd -dc");
    snprintf(command, sizeof command, "zstd -t -q %s", path);
    CHECK_MSG(system(command) == 0, "zstd -t");
    crash(FRAMES * FRAME_ROWS, FRAMES * FRAME_ROWS + 25);
    run(true, FRAMES * FRAME_ROWS + 25, FRAMES * FRAME_ROWS + 31);
    read_all(false, FRAMES * FRAME_ROWS + 31);
    read_all(true, FRAMES * FRAME_ROWS + 31);
    CHECK_MSG(system(command) == 0, "zstd -t after a crash and an append");
    refusals();
    snprintf(command, sizeof command, "%s.fixed", path);
    CHECK_MSG(gpurt_log_repair(path, command, &figures, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(figures.frames_lost == 0 && figures.bytes_skipped == 0, "nothing to repair");
    CHECK_MSG(rename(command, path) == 0, "rename");
    read_all(false, FRAMES * FRAME_ROWS + 31);
    full_disk();
    lost_frame();
    dropped();
    cut();
    unlink(path);
    snprintf(command, sizeof command, "%s.size", path);
    unlink(command);
    return 0;
}
