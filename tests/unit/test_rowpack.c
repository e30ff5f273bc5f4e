/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as differences: whatever rows there are, they come back byte by byte; those of a
 * GPU's work become small; packed bytes that somebody damaged give rows that lie in their
 * room, or none. What a frame's head says of its rows is what they add up to. */
#include "check.h"
#include "framesum.h"
#include "rowpack.h"

#include <gpurt/impl/activity.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ROOM = 1 << 19,
    ROUNDS = 300,
    KERNELS = 1000,
    DAMAGES = 20000,
    PAGE = 4096
};

static gplog_pack_table_t table;
static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint32_t below(uint32_t end)
{
    return end ? (uint32_t)(rnd() >> 33) % end : 0;
}

/* A word that differs from another by nothing, by little, or by anything: each width and
 * both its edges. */
static uint32_t near(uint32_t word)
{
    static const int32_t edges[] = {1,     -1,    127,    128,    -128,      -129,
                                    32767, 32768, -32768, -32769, INT32_MAX, INT32_MIN};

    switch (below(4)) {
    case 0:
        return word + (uint32_t)edges[below(sizeof edges / sizeof edges[0])];
    case 1:
        return (uint32_t)rnd();
    default:
        return word;
    }
}

/* The row behind `before`, of the same memory; few sites, so that slots are used again. */
static uint32_t row_make(gpurt_row_t *row, uint64_t *time_ns)
{
    static const uint64_t steps[] = {0,     1,          127,        200,
                                     40000, 1ull << 31, 1ull << 32, 1ull << 62};
    static const uint8_t kinds[] = {GPURT_KIND_LOG,  GPURT_KIND_LOG,  GPURT_KIND_KERNEL,
                                    GPURT_KIND_COPY, GPURT_KIND_LOSS, GPURT_KIND_PANIC};
    static uint32_t words[64];

    *time_ns += below(2) ? steps[below(8)] : 0ull - steps[below(8)];
    memset(row, 0, sizeof *row);
    row->time_ns = *time_ns;
    row->site = below(6);
    row->kind = kinds[below(sizeof kinds)];
    row->mask = near(0xffffffffu);
    row->form = (uint8_t)(below(4) ? GPURT_FORM_THREAD : below(GPURT_FORM_LANES_PART + 1));
    row->section = (uint8_t)(below(9) / 8);
    row->sm = (uint16_t)below(132);
    row->level = (uint8_t)below(8);
    row->words = (uint16_t)(below(20) ? below(26) : below(64));
    for (uint32_t i = 0; i < row->words; i++)
        gpurt_row_words(row)[i] = words[i] = near(words[i]);
    if (row->words % 2)
        gpurt_row_words(row)[row->words] = 0;
    return gpurt_row_bytes(row->words);
}

static uint32_t rows_make(uint8_t *rows, uint32_t count)
{
    uint64_t time_ns = rnd();
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += row_make((gpurt_row_t *)(rows + bytes), &time_ns);
    return bytes;
}

/* The sum of rows, one by one. */
static void sum_check(const uint8_t *rows, uint32_t bytes, const gplog_frame_t *sum)
{
    gplog_frame_t want = {.first_ns = UINT64_MAX, .raw_bytes = bytes};

    for (uint32_t at = 0; at < bytes; want.rows++) {
        const gpurt_row_t *row = (const gpurt_row_t *)(rows + at);

        want.first_ns = row->time_ns < want.first_ns ? row->time_ns : want.first_ns;
        want.last_ns = row->time_ns > want.last_ns ? row->time_ns : want.last_ns;
        want.messages += gpurt_row_messages(row);
        want.lost += gpurt_row_lost(row);
        want.panics += row->kind == GPURT_KIND_PANIC;
        want.levels |= 1u << row->level;
        want.sections |= 1u << row->section;
        want.sites[row->site / 64 % 4] |= 1ull << row->site % 64;
        at += gpurt_row_bytes(row->words);
    }
    CHECK(memcmp(sum, &want, sizeof want) == 0);
}

static size_t pack(const uint8_t *rows, uint32_t bytes, uint8_t *packed)
{
    static gplog_collected_t seen; /* test_collected */
    gplog_frame_t sum;
    size_t size;

    gplog_frame_begin(&sum);
    size = gplog_pack(&table, (const gpurt_row_t *)rows, bytes, packed, &sum, &seen);
    sum_check(rows, bytes, &sum);
    CHECK_MSG(size <= gplog_pack_bound(bytes), "%zu bytes for %u", size, bytes);
    return size;
}

/* Memory behind which there is none: a byte too far ends the test. */
static uint8_t *fence_open(void)
{
    uint8_t *memory = mmap(NULL, 2 * (size_t)ROOM + PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    CHECK_EQ(mprotect(memory + 2 * ROOM, PAGE, PROT_NONE), 0);
    return memory + 2 * ROOM;
}

static bool unpack(const uint8_t *packed, size_t size, uint8_t *rows, uint32_t bytes)
{
    static uint8_t *fence;
    uint8_t *exact;

    fence = fence ? fence : fence_open();
    exact = fence - GPLOG_PACK_SLACK - size;
    memcpy(exact, packed, size);
    memset(exact + size, 0xa5, GPLOG_PACK_SLACK);
    return gplog_unpack(&table, exact, size, rows, bytes);
}

static void come_back(uint8_t *rows, uint8_t *packed, uint8_t *back)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t bytes = rows_make(rows, i == 0 ? 0 : 1 + below(900));
        size_t size = pack(rows, bytes, packed);

        CHECK_MSG(unpack(packed, size, back, bytes), "round %u", i);
        CHECK_MSG(memcmp(rows, back, bytes) == 0, "round %u: a row came back changed", i);
    }
}

/* As a training loop has them: kernels of many names by turns, each with its own shape. */
static void kernels_shrink(uint8_t *rows, uint8_t *packed)
{
    uint32_t bytes = 0;
    uint64_t time_ns = 1700000000000000000ull;
    size_t size;

    for (uint32_t i = 0; i < KERNELS; i++) {
        gpurt_row_t *row = (gpurt_row_t *)(rows + bytes);
        uint32_t name = 1 + i * 7 % 40;
        gpurt_activity_kernel_t k = {.name = name,
                                     .ns = gpurt_pair(20000 * name + below(500)),
                                     .grid = {name * 31, 1 + name % 3, 1},
                                     .block = {32 * name, 1, 1},
                                     .registers = 16 + name,
                                     .shared_bytes = 1024 * name,
                                     .stream = 7,
                                     .correlation = 900 + i,
                                     .context = 1};

        *row = (gpurt_row_t){.time_ns = time_ns += 20000 * name + below(3000),
                             .site = 3,
                             .mask = 1,
                             .kind = GPURT_KIND_KERNEL,
                             .form = GPURT_FORM_THREAD,
                             .words = sizeof k / 4};
        memcpy(gpurt_row_words(row), &k, sizeof k);
        bytes += gpurt_row_bytes(row->words);
    }
    size = pack(rows, bytes, packed);
    CHECK_MSG(size < 15 * KERNELS, "%zu bytes a kernel of %u", size / KERNELS,
              bytes / KERNELS);
}

/* Every row that comes out lies in the room. */
static void walk(const uint8_t *rows, uint32_t bytes)
{
    uint32_t at = 0;

    while (at < bytes) {
        CHECK_MSG(bytes - at >= sizeof(gpurt_row_t), "half a row at %u of %u", at, bytes);
        at += gpurt_row_bytes(((const gpurt_row_t *)(rows + at))->words);
    }
    CHECK_MSG(at == bytes, "the last row ends at %u of %u", at, bytes);
}

static void damage(uint8_t *rows, uint8_t *packed)
{
    uint32_t refused = 0;

    for (uint32_t i = 0; i < DAMAGES; i++) {
        uint32_t bytes = rows_make(rows, 1 + below(30)), room = bytes;
        size_t size = pack(rows, bytes, packed);
        uint8_t *back;

        if (below(4) == 0)
            size = below((uint32_t)size + 1);
        for (uint32_t k = below(4); size && k > 0; k--)
            packed[below((uint32_t)size)] ^= (uint8_t)(1u << below(8));
        if (below(8) == 0)
            room = below(bytes / 8) * 8;
        back = malloc(room ? room : 1);
        CHECK(back);
        if (unpack(packed, size, back, room))
            walk(back, room);
        else
            refused++;
        free(back);
    }
    CHECK_MSG(refused > DAMAGES / 4 && refused < DAMAGES, "%u refused", refused);
}

/* A row that says it has more words than a slot. */
static void long_row(uint8_t *packed, uint8_t *back)
{
    const gplog_pack_t head = {.op_bytes = 10};
    const uint64_t widths = 3ull << 2 * 7; /* the word that ends with the count */
    const uint32_t words = 100, value = words << 16;
    uint8_t *at = packed + sizeof head;

    memcpy(packed, &head, sizeof head);
    *at++ = GPLOG_PACK_WIDTHS;
    memcpy(at, &widths, sizeof widths);
    at += sizeof widths;
    *at++ = 5;
    memcpy(at, &value, sizeof value);
    at += sizeof value;
    CHECK(!unpack(packed, (size_t)(at - packed), back, gpurt_row_bytes(words)));
}

int main(void)
{
    uint8_t *rows = malloc(ROOM), *packed = malloc(gplog_pack_bound(ROOM)),
            *back = malloc(ROOM);

    CHECK(rows && packed && back);
    come_back(rows, packed, back);
    kernels_shrink(rows, packed);
    damage(rows, packed);
    long_row(packed, back);
    free(rows);
    free(packed);
    free(back);
    return 0;
}
