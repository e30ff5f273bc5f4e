/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_reader - any bytes as a log: opened, every frame read, every message rendered,
 * walked again for a repair, and searched for panics and what came before them. Blocks that lost their checksum to the fuzzer get it back
 * when the size is odd, so that it reaches what lies behind. */
#include "fuzz.h"

#include "check.h"
#include "json.h"
#include "mend.h"
#include "panic_source.h"
#include "reader.h"
#include "render.h"
#include "writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
            gpurt_json_t json;

            gpurt_text_init(&out, text, sizeof text);
            gpurt_render_message(gpurt_log_dictionary(log), row, shown % 33, &out);
            gpurt_text_init(&safe, escaped, sizeof escaped);
            gpurt_render_plain(&safe, text, out.used);
            gpurt_json_memory(&json, escaped, sizeof escaped);
            gpurt_json_bytes(&json, NULL, text, out.used);
            gpurt_render_lanes(row, shown % 33);
        }
    }
    gpurt_log_refresh(log);
}

/* The first few, copied: a row is borrowed for the call. */
typedef struct panics {
    gpurt_row_t *rows[4];
    uint32_t count;
} panics_t;

static bool panic_take(void *context, const gpurt_row_t *row)
{
    panics_t *p = context;

    p->rows[p->count++] = panic_row_copy(row);
    return p->count < sizeof p->rows / sizeof p->rows[0];
}

static void read_panics(const char *path)
{
    static panic_source_t sources[PANIC_SOURCES]; /* large */
    panics_t p = {.count = 0};
    uint32_t count;

    if (panic_source_open(path, sources, &count, NULL) != GPURT_OK || count == 0)
        return;
    panic_source_panics(&sources[0], panic_take, &p, NULL);
    for (uint32_t i = 0; i < p.count; i++) {
        panic_near_t near[PANIC_NEAR];

        panic_source_near(&sources[0], p.rows[i], 16, near, NULL);
        for (int k = 0; k < PANIC_NEAR; k++)
            panic_near_fini(&near[k]);
        free(p.rows[i]);
    }
    panic_source_close(&sources[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    gpurt_log_t *log;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (size & 1u)
        fuzz_mend(copy, size);
    for (int walked = 0; walked < 2; walked++) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        char path[64];

        if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
            CHECK_MSG(false, "memfd");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if ((walked ? gpurt_log_open_walked : gpurt_log_open)(path, &log, NULL) ==
            GPURT_OK) {
            read_log(log);
            gpurt_log_close(log);
        }
        if (!walked)
            read_panics(path);
        close(fd);
    }
    free(copy);
    return 0;
}

/* ---- sound logs ---------------------------------------------------------------------- */

static void rows_write(gpurt_writer_t *w, uint32_t site, uint32_t index)
{
    union {
        gpurt_row_t row;
        uint64_t room[32];
    } r;
    gpurt_error_t err;

    for (uint32_t i = 0; i < 100; i++) {
        uint32_t *words = gpurt_row_words(&r.row);

        memset(&r, 0, sizeof r);
        r.row.time_ns = 1700000000000000000ull + i * 1000;
        r.row.site = i % 9 ? site : 0;
        r.row.mask = i % 5 ? 0xffffffffu : 0xf0u;
        r.row.form = i % 5 ? GPURT_FORM_WARP : GPURT_FORM_LANES_PART;
        r.row.kind = (uint8_t)(i % 11 == 7   ? GPURT_KIND_PANIC
                               : i % 11 == 8 ? GPURT_KIND_LOSS
                                             : GPURT_KIND_LOG);
        r.row.section = index == 4 ? 200 : 0; /* no box has so many: damaged */
        r.row.words = (uint16_t)(index == 3 ? 40 : i % 5 ? 3 : 12);
        for (uint32_t k = 0; k < r.row.words; k++)
            words[k] = i * k + index;
        CHECK_MSG(gpurt_writer_put(w, &r.row, &err) == GPURT_OK, "%s", err.text);
    }
}

/* One closed, one that its writer left, one of two runs, one of rows that are not packed,
 * one of rows of a section that cannot be. */
uint8_t *fuzz_seed(uint32_t index, size_t *size)
{
    static const gpurt_site_info_t site = {.kind = GPURT_DEF_SITE,
                                           .record_kind = GPURT_KIND_LOG,
                                           .level = GPURT_LEVEL_INFO,
                                           .arg_count = 2,
                                           .types = GPURT_TYPE_U32 | GPURT_TYPE_F64 << 4,
                                           .format = "%u of %g",
                                           .format_bytes = 8,
                                           .file = "a.c",
                                           .file_bytes = 3,
                                           .module = "",
                                           .line = 7};
    gpurt_writer_options_t o = {.struct_size = sizeof o, .frame_rows = 40, .append = true};
    char path[] = "/tmp/fuzz_reader.XXXXXX";
    int fd = index < 5 ? mkstemp(path) : -1;
    gpurt_writer_t *w = NULL;
    gpurt_error_t err;
    uint8_t *data;
    off_t end;

    if (fd < 0)
        return NULL;
    for (uint32_t run = 0; run < (index == 2 ? 2u : 1u); run++) {
        CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
        rows_write(w, gpurt_writer_define(w, &site), index);
        if (index != 1)
            CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    }
    if (index == 1)
        CHECK_MSG(gpurt_writer_flush(w, &err) == GPURT_OK, "%s", err.text);
    end = lseek(fd, 0, SEEK_END);
    data = malloc((size_t)end);
    CHECK(data && pread(fd, data, (size_t)end, 0) == end);
    *size = (size_t)end;
    if (index == 1)
        gpurt_writer_close(w, NULL);
    close(fd);
    unlink(path);
    return data;
}
