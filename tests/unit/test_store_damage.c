/* SPDX-License-Identifier: Apache-2.0 */
/* A log cut at every length and flipped at every byte: the reader never fails on it
 * beyond the frame that was hit, and never shows a row that was not written. */
#include "check.h"
#include "reader.h"
#include "repair.h"
#include "writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FRAMES = 12,
    FRAME_ROWS = 8
};

static gpurt_error_t err;
static uint8_t *whole;
static size_t bytes;
static uint64_t frame_end[FRAMES]; /* file size after so many frames */

static void make(void)
{
    char path[] = "/tmp/test_damage.XXXXXX";
    gpurt_writer_options_t o = {
        .struct_size = sizeof o, .frame_rows = FRAME_ROWS, .append = true};
    gpurt_site_info_t s = {.line = 3,
                           .kind = GPURT_DEF_SITE,
                           .format = "x %u",
                           .format_bytes = 4,
                           .types = GPURT_TYPE_U32,
                           .arg_count = 1};
    gpurt_writer_t *w;
    int fd = mkstemp(path);

    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_writer_define(w, &s) == 1, "define");
    for (uint32_t f = 0; f < FRAMES; f++) {
        for (uint32_t i = 0; i < FRAME_ROWS; i++) {
            struct {
                gpurt_row_t row;
                uint32_t words[2];
            } r = {.row = {
                       .time_ns = 1000 + f, .site = 1, .words = 2, .kind = GPURT_KIND_LOG}};

            r.words[0] = f * FRAME_ROWS + i;
            r.words[1] = r.words[0] * 2654435761u;
            CHECK_MSG(gpurt_writer_put(w, &r.row, &err) == GPURT_OK, "%s", err.text);
        }
        CHECK_MSG(gpurt_writer_flush(w, &err) == GPURT_OK, "%s", err.text);
        frame_end[f] = (uint64_t)lseek(fd, 0, SEEK_END);
    }
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    bytes = (size_t)lseek(fd, 0, SEEK_END);
    whole = malloc(bytes);
    CHECK_MSG(pread(fd, whole, bytes, 0) == (ssize_t)bytes, "read back");
    close(fd);
    unlink(path);
}

/* Opens data as a log and reads it. Returns: frames that were whole, or -1: refused. */
static int frames_of(const uint8_t *data, size_t size, uint64_t *torn)
{
    int fd = memfd_create("damaged", MFD_CLOEXEC), good = 0;
    gpurt_log_summary_t sum;
    gpurt_log_t *log;

    CHECK_MSG(write(fd, data, size) == (ssize_t)size, "memfd");
    if (gpurt_log_open_fd(fd, "memfd", &log, &err) != GPURT_OK)
        return -1;
    for (uint64_t f = 0; f < gpurt_log_frames(log); f++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0, count = 0;

        if (gpurt_log_read(log, f, &rows, &err) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            const uint32_t *w = gpurt_row_words(row);

            CHECK_MSG(row->words == 2 && w[1] == w[0] * 2654435761u &&
                          w[0] < FRAMES * FRAME_ROWS,
                      "a row that nobody wrote");
            count++;
        }
        CHECK_MSG(count == FRAME_ROWS, "half a frame");
        good++;
    }
    gpurt_log_summary(log, &sum);
    *torn = sum.torn_frames;
    gpurt_log_close(log);
    return good;
}

static void cuts(void)
{
    for (size_t size = 0; size < bytes; size++) {
        uint64_t torn;
        int want = 0, good = frames_of(whole, size, &torn);

        while (want < FRAMES && frame_end[want] <= size)
            want++;
        CHECK_MSG(good == want || (good < 0 && want == 0), "cut to %zu: %d frames, not %d",
                  size, good, want);
        CHECK_MSG(good < 0 || torn <= 1, "cut to %zu: %llu torn", size,
                  (unsigned long long)torn);
    }
}

static void flips(void)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t torn;
        int good;

        whole[i] ^= (uint8_t)(1u << i % 8);
        good = frames_of(whole, bytes, &torn);
        CHECK_MSG(good >= FRAMES - 1, "bit %zu of byte %zu: %d frames", i % 8, i, good);
        CHECK_MSG(good == FRAMES || torn == 1, "byte %zu: %llu torn", i,
                  (unsigned long long)torn);
        whole[i] ^= (uint8_t)(1u << i % 8);
    }
}

static char from[64], to[64];

/* A log of one frame whose rows are damaged: it is one, but nothing is left to repair. */
static void nothing_whole(void)
{
    size_t size = (size_t)(frame_end[5] - frame_end[4]);
    int fd = open(from, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    gpurt_repair_figures_t figures;

    whole[frame_end[5] - 1] ^= 1;
    CHECK_MSG(write(fd, whole + frame_end[4], size) == (ssize_t)size, "write");
    whole[frame_end[5] - 1] ^= 1;
    close(fd);
    CHECK_MSG(gpurt_log_repair(from, to, &figures, &err) == GPURT_E_INVALID, "kept %llu",
              (unsigned long long)figures.frames_kept);
    CHECK_MSG(access(to, F_OK) != 0, "a file that is no log");
    unlink(from);
}

/* A frame cut out of the middle: the rest is repaired into a file without a flaw. */
static void hole(size_t hole_at, size_t hole_end)
{
    int fd = open(from, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    gpurt_repair_figures_t figures;
    gpurt_log_summary_t sum;
    gpurt_log_t *log;

    CHECK_MSG(write(fd, whole, hole_at) > 0 &&
                  write(fd, whole + hole_end, bytes - hole_end) > 0,
              "w");
    close(fd);
    unlink(to);
    CHECK_MSG(gpurt_log_repair(from, to, &figures, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(figures.frames_kept == FRAMES - 1 &&
                  (figures.bytes_skipped > 0 || figures.frames_lost == 1),
              "kept %llu", (unsigned long long)figures.frames_kept);
    CHECK_MSG(gpurt_log_repair(from, to, &figures, &err) == GPURT_E_OS,
              "never over a file");
    CHECK_MSG(gpurt_log_open(to, &log, &err) == GPURT_OK, "%s", err.text);
    for (uint64_t f = 0; f < gpurt_log_frames(log); f++)
        CHECK_MSG(gpurt_log_check(log, f, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    CHECK_MSG(sum.indexed && !gplog_damage_any(&sum.damage) && sum.frames == FRAMES - 1 &&
                  sum.sites == 1,
              "repaired");
    gpurt_log_close(log);
    unlink(from);
    unlink(to);
}

int main(void)
{
    char folder[] = "/tmp/test_damage.XXXXXX";

    CHECK(mkdtemp(folder) != NULL);
    snprintf(from, sizeof from, "%s/cut", folder);
    snprintf(to, sizeof to, "%s/fixed", folder);
    make();
    cuts();
    flips();
    hole((size_t)frame_end[4] + 30, (size_t)frame_end[5] - 7); /* head and rows */
    hole((size_t)frame_end[4] + 140, (size_t)frame_end[5]);    /* rows to the next frame */
    nothing_whole();
    free(whole);
    rmdir(folder);
    return 0;
}
