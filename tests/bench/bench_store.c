/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store - rows in order of time into a compressed file and back on one core, beside
 * what memcpy and zstd alone take for the same bytes in the same run, in CPU time of the one
 * thread. What was written is read back and compared before it is timed. */
#include "check.h"
#include "reader.h"
#include "rows.h"
#include "writer.h"

#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum {
    ROWS = 1 << 20,
    REPEATS = 20,
    FRAME = 32768,
    SITES = 230
};

static uint64_t seed = 88172645463325252ull;
static uint32_t rnd(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

/* Two-argument rows with the entropy of a GPU's log: time steps of 32 ns with jitter,
 * 132 SMs, few hot sites, an address-like and a size-like argument. Times are sorted
 * within a drain round, as the drainer delivers them. */
static size_t rows_make(uint8_t *rows)
{
    uint64_t time = 1700000000000000000ull;
    uint8_t *p = rows;

    for (uint32_t i = 0; i < ROWS; i++) {
        gpurt_row_t *row = (gpurt_row_t *)p;
        uint32_t pick = rnd(100), *w = gpurt_row_words(row);

        memset(row, 0, sizeof *row);
        row->time_ns = time += 32 * rnd(12);
        row->site = pick < 60 ? 1 + rnd(4) : pick < 90 ? 5 + rnd(20) : 25 + rnd(200);
        row->sm = (uint16_t)rnd(132);
        row->slot = (uint16_t)rnd(64);
        row->warp = (uint8_t)(row->slot % 8);
        row->block = row->sm + 132 * (i / 65536);
        row->mask = 0xffffffffu;
        row->kind = GPURT_KIND_LOG;
        row->level = (uint8_t)(1 + row->site % 5);
        row->words = 2;
        w[0] = row->site < 5 ? 0x7f000000u + rnd(65536) * 256 : rnd(4096);
        w[1] = row->site < 25 ? 64u << rnd(6) : i / 7 % 100000;
        p += gpurt_row_bytes(2);
    }
    return (size_t)(p - rows);
}

typedef struct store {
    const uint8_t *rows;
    size_t bytes;
    int level;
} store_t;

static double m_rows(double *times)
{
    return ROWS * 1e3 / rows_median(times, REPEATS);
}

/* Puts all rows into a new file. Returns: its bytes. */
static uint64_t file_write(const store_t *s, const char *path)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .level = s->level};
    gpurt_writer_figures_t sum;
    gpurt_writer_t *w;
    gpurt_error_t err;

    unlink(path);
    CHECK_MSG(gpurt_writer_open(path, &options, &w, &err) == GPURT_OK, "%s", err.text);
    for (const uint8_t *p = s->rows; p < s->rows + s->bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)p;

        CHECK_MSG(gpurt_writer_put(w, row, &err) == GPURT_OK, "%s", err.text);
        p += gpurt_row_bytes(row->words);
    }
    CHECK_MSG(gpurt_writer_flush(w, &err) == GPURT_OK, "%s", err.text);
    gpurt_writer_figures(w, &sum);
    CHECK_MSG(sum.rows == ROWS && sum.messages == ROWS, "rows");
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    return sum.bytes;
}

/* Reads all frames, and compares every row when asked. */
static void file_read(const store_t *s, const char *path, bool compare)
{
    const uint8_t *p = s->rows;
    gpurt_error_t err;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        CHECK_MSG(gpurt_log_read(log, i, &rows, &err) == GPURT_OK, "%s", err.text);
        while (compare && (row = gpurt_log_row(&rows, at, &at)) != NULL) {
            CHECK_MSG(memcmp(row, p, gpurt_row_bytes(2)) == 0, "a row came back changed");
            p += gpurt_row_bytes(2);
        }
    }
    CHECK_MSG(!compare || p == s->rows + s->bytes, "rows are missing");
    gpurt_log_close(log);
}

static size_t run_zstd(const uint8_t *rows, size_t bytes, uint8_t *out, size_t room,
                       int level)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t total = 0, chunk = FRAME * gpurt_row_bytes(2);

    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    for (size_t at = 0; at < bytes; at += chunk)
        total += ZSTD_compress2(c, out, room, rows + at,
                                bytes - at < chunk ? bytes - at : chunk);
    ZSTD_freeCCtx(c);
    return total;
}

static void bench_level(const store_t *s, uint8_t *out, size_t room)
{
    double zstd[REPEATS], writes[REPEATS], reads[REPEATS], packed = 0, bytes = 0;
    const char *name = s->level > 0 ? "write_zstd_1" : "write_zstd_fast5";
    char path[] = "/tmp/bench_store.XXXXXX", text[64];

    close(mkstemp(path));
    file_write(s, path);
    file_read(s, path, true);
    for (int i = -1; i < REPEATS; i++) {
        double start = rows_cpu_ns();

        packed = (double)run_zstd(s->rows, s->bytes, out, room, s->level);
        zstd[i < 0 ? 0 : i] = rows_cpu_ns() - start;
        start = rows_cpu_ns();
        bytes = (double)file_write(s, path);
        writes[i < 0 ? 0 : i] = rows_cpu_ns() - start;
        start = rows_cpu_ns();
        file_read(s, path, false);
        reads[i < 0 ? 0 : i] = rows_cpu_ns() - start;
    }
    unlink(path);
    rows_add("store", name, m_rows(writes), "M rows/s", "zstd_alone", m_rows(zstd));
    snprintf(text, sizeof text, "%s.p1", name);
    rows_add("store", text, ROWS * 1e3 / rows_percentile(writes, REPEATS, 99), "M rows/s",
             NULL, 0);
    snprintf(text, sizeof text, "%s.bytes", name);
    rows_add("store", text, bytes / ROWS, "B/row", "zstd_alone", packed / ROWS);
    if (s->level > 0)
        rows_add("store", "read", m_rows(reads), "M rows/s", NULL, 0);
}

int main(void)
{
    store_t s = {.rows = malloc(ROWS * gpurt_row_bytes(2))};
    uint8_t *copy = malloc(ROWS * gpurt_row_bytes(2));
    size_t room = ZSTD_compressBound(FRAME * gpurt_row_bytes(2));
    uint8_t *out = malloc(room);
    double times[REPEATS];

    CHECK(s.rows && copy && out);
    s.bytes = rows_make((uint8_t *)(uintptr_t)s.rows);
    for (int i = -2; i < REPEATS; i++) {
        double start = rows_cpu_ns();

        memcpy(copy, s.rows, s.bytes);
        times[i < 0 ? 0 : i] = rows_cpu_ns() - start;
    }
    rows_head();
    rows_add("store", "memcpy", m_rows(times), "M rows/s", NULL, 0);
    for (s.level = 1; s.level >= -5; s.level -= 6)
        bench_level(&s, out, room);
    free((void *)(uintptr_t)s.rows);
    free(copy);
    free(out);
    return 0;
}
