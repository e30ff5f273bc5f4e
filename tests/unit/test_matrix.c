/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with a pitch: where they begin, that they are apart, and what cannot be; tiles in
 * shared memory: how often lanes of a warp want different words of one bank, counted over
 * all of them. */
#include "place_stage.h"

#include <gpurt/matrix.h>

/* ---- banks --------------------------------------------------------------------------- */

/* The most different words that one bank serves in one phase, over the phases of a warp's
 * access to `bytes` at offset[lane]. 1: no lane waits for another. */
static uint32_t ways(const uint32_t *offset, uint32_t bytes)
{
    uint32_t lanes = bytes <= 4 ? 32 : 128 / bytes, most = 0;

    for (uint32_t first = 0; first < 32; first += lanes)
        for (uint32_t bank = 0; bank < GPURT_BANKS; bank++) {
            uint32_t words[64], count = 0;

            for (uint32_t i = first; i < first + lanes; i++)
                for (uint32_t at = offset[i]; at < offset[i] + bytes; at++) {
                    uint32_t word = at / 4, k = 0;

                    while (k < count && words[k] != word)
                        k++;
                    if (word % GPURT_BANKS == bank && k == count)
                        words[count++] = word;
                }
            most = count > most ? count : most;
        }
    return most;
}

/* Tiles of rows by columns: down each column, along each row. */
static void test_pitch(void)
{
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        for (uint32_t columns = 1; columns <= 80; columns++) {
            uint32_t row = columns * bytes, pitch = gpurt_bank_pitch(row, bytes),
                     offset[32];

            CHECK(pitch >= row && pitch % bytes == 0 && pitch < row + 2 * 16);
            for (uint32_t c = 0; c < columns; c++) {
                for (uint32_t i = 0; i < 32; i++)
                    offset[i] = i * pitch + c * bytes;
                CHECK_EQ(ways(offset, bytes), 1);
            }
            for (uint32_t i = 0; i < 32; i++)
                offset[i] = 3 * pitch + i * bytes;
            CHECK_EQ(ways(offset, bytes), 1);
        }
}

static void test_swizzle(void)
{
    for (uint32_t bytes = 4; bytes <= 16; bytes *= 2)
        for (uint32_t columns = 128 / bytes; columns <= 256; columns *= 2) {
            uint32_t offset[32], bare = 0;
            uint8_t seen[256] = {0};

            for (uint32_t c = 0; c < columns; c++) {
                for (uint32_t i = 0; i < 32; i++)
                    offset[i] = (i * columns + gpurt_bank_swizzle(i, c, bytes)) * bytes;
                CHECK_EQ(ways(offset, bytes), 1);
                for (uint32_t i = 0; i < 32; i++)
                    offset[i] = (i * columns + c) * bytes;
                bare = ways(offset, bytes);
                CHECK(gpurt_bank_swizzle(21, c, bytes) < columns);
                seen[gpurt_bank_swizzle(21, c, bytes)]++;
            }
            CHECK_EQ(bare, 128 / bytes); /* without it all lanes wait */
            for (uint32_t c = 0; c < columns; c++)
                CHECK_EQ(seen[c], 1);
            for (uint32_t c = 0; c + 32 <= columns; c += 32) {
                for (uint32_t i = 0; i < 32; i++)
                    offset[i] = (5 * columns + gpurt_bank_swizzle(5, c + i, bytes)) * bytes;
                CHECK_EQ(ways(offset, bytes), 1);
            }
        }
}

static void test_skip(void)
{
    for (uint32_t bytes = 4; bytes <= 16; bytes *= 2)
        for (uint32_t step = 1; step <= 128 / bytes; step *= 2) {
            uint32_t offset[32], last = 0;

            for (uint32_t i = 0; i < 32; i++)
                offset[i] = gpurt_bank_skip(i * step, bytes) * bytes;
            CHECK_EQ(ways(offset, bytes), 1);
            for (uint32_t i = 1; i < 5000; i++) { /* no two indices meet */
                CHECK(gpurt_bank_skip(i, bytes) > last);
                last = gpurt_bank_skip(i, bytes);
            }
        }
}

/* ---- memory -------------------------------------------------------------------------- */

static uint64_t ask(place_stage_t *s, uint64_t rows, uint64_t row_bytes, uint64_t align,
                    uint64_t *out)
{
    s->args.matrix_rows = rows;
    s->args.row_bytes = row_bytes;
    s->args.align = align;
    RUN(s, place_matrix);
    holding_take(s->args.verdict);
    place_read(out, s->args.out, 3);
    CHECK_EQ(out[0] == 0, out[1] != 0);
    CHECK_EQ(place_stats(s).live, 0);
    return out[0];
}

static void test_rows(place_stage_t *s)
{
    uint64_t out[3];

    for (uint64_t rows = 1; rows <= 70; rows = rows * 3 + 1)
        for (uint64_t row = 4; row <= 9000; row = row * 3 + 8)
            for (uint64_t align = 16; align <= 8192; align *= 8) {
                CHECK_EQ(ask(s, rows, row, align, out), GPURT_ALLOC_OK);
                CHECK_EQ(out[1] % align, 0);
                CHECK_EQ(out[2] % align, 0);
                CHECK(out[2] >= row && out[2] < row + align);
            }
    CHECK_EQ(ask(s, 3, 100, 0, out), GPURT_ALLOC_OK);
    CHECK_EQ(out[2], 128);
    CHECK_EQ(out[1] % 128, 0);
    CHECK_EQ(ask(s, 0, 0, 32, out), GPURT_ALLOC_OK);
    CHECK_EQ(ask(s, 10, 100, 48, out), GPURT_ALLOC_ALIGNMENT);
    CHECK_EQ(ask(s, 10, 100, 1 << 17, out), GPURT_ALLOC_ALIGNMENT);
    CHECK_EQ(ask(s, 1ull << 40, 1ull << 40, 64, out), GPURT_ALLOC_TOO_LARGE);
    CHECK_EQ(ask(s, 2, ~0ull - 3, 64, out), GPURT_ALLOC_TOO_LARGE);
    CHECK_EQ(ask(s, 1000, 100000, 64, out), GPURT_ALLOC_TOO_LARGE);
}

static void test_lanes(place_stage_t *s)
{
    uint64_t base;

    s->launch.grid.x = 1;
    s->launch.block.x = 32;
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        for (uint64_t count = 1; count <= 300; count = count * 7 + 1) {
            s->args.matrix_rows = count;
            s->args.row_bytes = bytes;
            RUN(s, place_lanes);
            holding_take(s->args.verdict);
            place_read(&base, s->args.out, 1);
            CHECK(base && base % 128 == 0);
            CHECK_EQ(place_stats(s).live, 0);
        }
    s->args.matrix_rows = 1ull << 61;
    RUN(s, place_lanes);
    place_read(&base, s->args.out, 1);
    CHECK_EQ(base, 0);
    s->args.matrix_rows = 1;
    s->args.row_bytes = 12;
    RUN(s, place_lanes);
    place_read(&base, s->args.out, 1);
    CHECK_EQ(base, 0);
}

int main(void)
{
    gpurt_error_t failed = {0};
    place_stage_t s;

    test_pitch();
    test_swizzle();
    test_skip();
    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    place_stage_open(&s, 8 << 20, 1);
    test_rows(&s);
    test_lanes(&s);
    place_stage_close(&s);
    OK(gpurt_close(rt, &err));
    return 0;
}
