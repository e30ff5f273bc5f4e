/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store - rows into a compressed file on one core, beside what memcpy and zstd
 * alone take for the same bytes in the same run, in CPU time of the one thread. One
 * machine-readable row a case:
 *   bench_store case=... m_rows_s=... p50_ms=... p99_ms=... bytes_row=... */
#include "check.h"
#include "writer.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum {
    ROWS = 1 << 20,
    REPEATS = 20,
    FRAME = 32768,
    SITES = 230
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(const char *name, double *times, double bytes)
{
    qsort(times, REPEATS, sizeof *times, compare);
    printf("bench_store case=%s m_rows_s=%.1f p50_ms=%.1f p99_ms=%.1f bytes_row=%.2f\n",
           name, ROWS / times[REPEATS / 2] / 1e6, times[REPEATS / 2] * 1e3,
           times[REPEATS - 1] * 1e3, bytes / ROWS);
}

static uint64_t run_writer(const uint8_t *rows, size_t bytes, int level)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .level = level};
    gpurt_writer_figures_t sum;
    char path[] = "/tmp/bench_store.XXXXXX";
    gpurt_writer_t *w;
    gpurt_error_t err;
    int fd = mkstemp(path);

    CHECK_MSG(fd >= 0, "mkstemp");
    close(fd);
    CHECK_MSG(gpurt_writer_open(path, &options, &w, &err) == GPURT_OK, "%s", err.text);
    for (const uint8_t *p = rows; p < rows + bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)p;

        CHECK_MSG(gpurt_writer_put(w, row, &err) == GPURT_OK, "%s", err.text);
        p += gpurt_row_bytes(row->words);
    }
    CHECK_MSG(gpurt_writer_flush(w, &err) == GPURT_OK, "%s", err.text);
    gpurt_writer_figures(w, &sum);
    CHECK_MSG(sum.rows == ROWS && sum.messages == ROWS, "rows");
    gpurt_writer_close(w, NULL);
    unlink(path);
    return sum.bytes;
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

int main(void)
{
    uint8_t *rows = malloc(ROWS * gpurt_row_bytes(2)),
            *copy = malloc(ROWS * gpurt_row_bytes(2));
    size_t room = ZSTD_compressBound(FRAME * gpurt_row_bytes(2)), bytes = rows_make(rows);
    uint8_t *out = malloc(room);
    double times[REPEATS], out_bytes = 0;

    for (int i = -2; i < REPEATS; i++) {
        double t = now();

        memcpy(copy, rows, bytes);
        times[i < 0 ? 0 : i] = now() - t;
    }
    report("floor_memcpy", times, (double)bytes);
    for (int level = 1; level >= -5; level -= 6) {
        for (int i = -1; i < REPEATS; i++) {
            double t = now();

            out_bytes = (double)run_zstd(rows, bytes, out, room, level);
            times[i < 0 ? 0 : i] = now() - t;
        }
        report(level > 0 ? "floor_zstd_1" : "floor_zstd_fast5", times, out_bytes);
        for (int i = -1; i < REPEATS; i++) {
            double t = now();

            out_bytes = (double)run_writer(rows, bytes, level);
            times[i < 0 ? 0 : i] = now() - t;
        }
        report(level > 0 ? "writer_rows_zstd_1" : "writer_rows_zstd_fast5", times,
               out_bytes);
    }
    free(rows);
    free(copy);
    free(out);
    return 0;
}
