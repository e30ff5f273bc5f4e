/* SPDX-License-Identifier: Apache-2.0 */
/* A log whose frames hold plain rows, as all did before rows were packed: it is read as ever,
 * and goes on with packed ones. plain_rows.bin was written by a version that knew no other
 * encoding, with the rows of row_make. */
#include "check.h"
#include "reader.h"
#include "writer.h"

#include <fcntl.h>
#include <gpurt/impl/activity.h>
#include <string.h>
#include <unistd.h>

enum {
    PLAIN = 120, /* rows of the file */
    MORE = 1000
};

typedef union {
    gpurt_row_t row;
    uint64_t room[32];
} any_row_t;

static gpurt_error_t err;

/* Kernels, messages with an odd count of words, losses. */
static void row_make(uint32_t i, any_row_t *r)
{
    gpurt_activity_kernel_t kernel = {.name = 1 + i % 3,
                                      .ns = gpurt_pair(1000 + 17ull * i),
                                      .grid = {i, 1, 1},
                                      .block = {256, 1, 1},
                                      .correlation = i};
    uint32_t *words = gpurt_row_words(&r->row);

    memset(r, 0, sizeof *r);
    r->row.time_ns = 1700000000000000000ull + 1000ull * i;
    r->row.mask = 1;
    if (i % 4 == 0) {
        r->row.kind = GPURT_KIND_KERNEL;
        r->row.form = GPURT_FORM_THREAD;
        r->row.words = sizeof kernel / 4;
        memcpy(words, &kernel, sizeof kernel);
    } else if (i % 4 < 3) {
        r->row.kind = GPURT_KIND_LOG;
        r->row.level = GPURT_LEVEL_INFO;
        r->row.sm = (uint16_t)i;
        r->row.words = 3;
        for (uint32_t k = 0; k < 3; k++)
            words[k] = i << 8 * k;
    } else {
        r->row.kind = GPURT_KIND_LOSS;
        r->row.level = GPURT_LEVEL_LOST;
        r->row.words = 4;
        words[0] = GPURT_LOSS_FULL;
        words[1] = i;
    }
}

static void read_all(const char *path, bool walked, uint32_t count)
{
    gpurt_log_t *log;
    uint32_t number = 0;

    CHECK_MSG((walked ? gpurt_log_open_walked : gpurt_log_open)(path, &log, &err) ==
                  GPURT_OK,
              "%s", err.text);
    for (uint64_t f = 0; f < gpurt_log_frames(log); f++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        CHECK_MSG(gpurt_log_read(log, f, &rows, &err) == GPURT_OK, "%s", err.text);
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            any_row_t want;

            row_make(number, &want);
            CHECK_MSG(memcmp(row, &want, gpurt_row_bytes(want.row.words)) == 0,
                      "row %u is another", number);
            number++;
        }
    }
    CHECK_EQ(number, count);
    gpurt_log_close(log);
}

/* How many frames of a file are packed. */
static uint32_t packed_frames(const char *path)
{
    uint8_t bytes[1 << 16];
    uint32_t packed = 0;
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, bytes, sizeof bytes);

    for (ssize_t at = 0; at + 128 <= size; at++) {
        gplog_block_t head;
        gplog_frame_t frame;

        memcpy(&head, bytes + at, sizeof head);
        memcpy(&frame, bytes + at + sizeof head, sizeof frame);
        packed += head.magic == GPLOG_MAGIC && head.tag == GPLOG_TAG &&
                  head.type == GPLOG_FRAME && frame.encoding == GPLOG_PACKED;
    }
    CHECK(size > 0 && size < (ssize_t)sizeof bytes);
    close(fd);
    return packed;
}

static void copy(const char *from, const char *to)
{
    char line[4096];

    snprintf(line, sizeof line, "cp '%s' %s && chmod 600 %s", from, to, to);
    CHECK_MSG(system(line) == 0, "%s", line);
}

int main(int argc, char **argv)
{
    gpurt_writer_options_t o = {.struct_size = sizeof o, .append = true};
    char path[] = "/tmp/test_store_plain.XXXXXX";
    gpurt_writer_t *w;
    any_row_t r;

    CHECK(argc == 2);
    close(mkstemp(path));
    copy(argv[1], path);
    CHECK_EQ(packed_frames(path), 0);
    read_all(path, false, PLAIN);
    read_all(path, true, PLAIN);
    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    for (uint32_t i = PLAIN; i < PLAIN + MORE; i++) {
        row_make(i, &r);
        CHECK_MSG(gpurt_writer_put(w, &r.row, &err) == GPURT_OK, "%s", err.text);
    }
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(packed_frames(path), 1);
    read_all(path, false, PLAIN + MORE);
    read_all(path, true, PLAIN + MORE);
    unlink(path);
    return 0;
}
