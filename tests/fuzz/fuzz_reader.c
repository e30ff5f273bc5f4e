/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_reader - any bytes as a log: opened, every frame read, every message rendered,
 * and walked again for a repair. Built by clang with
 * -fsanitize=fuzzer,address,undefined. Blocks that lost their checksum to the fuzzer get
 * it back, so that it reaches what lies behind. */
#include "crc32c.h"
#include "reader.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Mends the checksums of blocks and of the rows behind a FRAME. */
static void mend(uint8_t *data, size_t size)
{
    gplog_block_t b;
    gplog_frame_t f;

    for (size_t at = 0; at + sizeof b <= size;) {
        size_t body;

        memcpy(&b, data + at, sizeof b);
        if (b.magic != GPLOG_MAGIC || b.tag != GPLOG_TAG || b.size < 16 ||
            b.size + 8 > size - at) {
            at++;
            continue;
        }
        body = b.size - 16;
        if (b.type == GPLOG_FRAME && body >= sizeof f) {
            memcpy(&f, data + at + sizeof b, sizeof f);
            if (f.packed_bytes <= size - at - sizeof b - body) {
                f.packed_crc = gpurt_crc32c(0, data + at + sizeof b + body, f.packed_bytes);
                memcpy(data + at + sizeof b, &f, sizeof f);
            }
        }
        b.crc = 0;
        b.crc = gpurt_crc32c(gpurt_crc32c(0, (uint8_t *)&b + 8, 16), data + at + sizeof b,
                             body);
        memcpy(data + at, &b, sizeof b);
        at += sizeof b + body;
    }
}

static void read_log(gpurt_log_t *log)
{
    char text[GPURT_MESSAGE_MAX], escaped[GPURT_MESSAGE_MAX];
    uint64_t frames = gpurt_log_frames(log);

    for (uint64_t i = 0; i < frames && i < 64; i++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0, shown = 0;

        if (gpurt_log_read(log, i, &rows, NULL) != GPURT_OK)
            continue;
        while (shown++ < 256 && (row = gpurt_log_row(&rows, at, &at)) != NULL) {
            gpurt_text_t out, safe;

            gpurt_text_init(&out, text, sizeof text);
            gpurt_render_message(gpurt_log_dictionary(log), row, shown % 33, &out);
            gpurt_text_init(&safe, escaped, sizeof escaped);
            gpurt_render_plain(&safe, text, out.used);
            gpurt_text_init(&safe, escaped, sizeof escaped);
            gpurt_render_json(&safe, text, out.used);
            gpurt_render_lanes(row, shown % 33);
        }
    }
    gpurt_log_refresh(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    gpurt_log_t *log;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (size & 1u)
        mend(copy, size);
    for (int walked = 0; walked < 2; walked++) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        char path[64];

        if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
            abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if ((walked ? gpurt_log_open_walked : gpurt_log_open)(path, &log, NULL) ==
            GPURT_OK) {
            read_log(log);
            gpurt_log_close(log);
        }
        close(fd);
    }
    free(copy);
    return 0;
}
