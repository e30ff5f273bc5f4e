/* SPDX-License-Identifier: Apache-2.0 */
/* References and rows of atomics (tests/kernels/semantics_atomic_kernels.c). */
#include "semantics_table.h"

#include <stdlib.h>
#include <string.h>

#include <gpurt/atomic.h>

enum {
    BLOCKS = 4,
    THREADS = 96,
    LANES = BLOCKS * THREADS
};

/* ---- one operation in plain C -------------------------------------------------------- */
static bool is_narrow(uint32_t type)
{
    return type == PROBE_U32 || type == PROBE_I32 || type == PROBE_F32;
}

static bool is_less(uint32_t type, uint64_t a, uint64_t b)
{
    switch (type) {
    case PROBE_I32:
        return (int32_t)a < (int32_t)b;
    case PROBE_I64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

static uint64_t sum_of(uint32_t type, uint64_t a, uint64_t b)
{
    switch (type) {
    case PROBE_F32:
        return probe_bits_f32(probe_value_f32(a) + probe_value_f32(b));
    case PROBE_F64:
        return probe_bits_f64(probe_value_f64(a) + probe_value_f64(b));
    default:
        return a + b;
    }
}

/* What the word holds after the operation found `old` in it. */
static uint64_t after(uint32_t mode, uint64_t old, uint64_t v)
{
    uint32_t type = PROBE_TYPE(mode);
    uint64_t word;

    switch (PROBE_KIND(mode)) {
    case PROBE_SUB:
        word = old - v;
        break;
    case PROBE_MIN:
        word = is_less(type, v, old) ? v : old;
        break;
    case PROBE_MAX:
        word = is_less(type, old, v) ? v : old;
        break;
    case PROBE_AND:
        word = old & v;
        break;
    case PROBE_OR:
        word = old | v;
        break;
    case PROBE_EXOR:
        word = old ^ v;
        break;
    case PROBE_XCHG:
        word = v;
        break;
    default: /* PROBE_ADD, and PROBE_CAS, which adds */
        word = sum_of(type, old, v);
    }
    return is_narrow(type) ? (uint32_t)word : word;
}

/* Counters start just before the wrap, signed ones before the overflow; the others
 * somewhere. */
static uint64_t first_value(uint32_t mode)
{
    uint32_t type = PROBE_TYPE(mode), kind = PROBE_KIND(mode);

    if (type == PROBE_F32 || type == PROBE_F64)
        return 0;
    if (kind == PROBE_ADD || kind == PROBE_CAS || kind == PROBE_SUB)
        switch (type) {
        case PROBE_U32:
            return kind == PROBE_SUB ? 9 : 0xfffffff0u;
        case PROBE_I32:
            return kind == PROBE_SUB ? 0x80000009u : 0x7ffffff0u;
        case PROBE_U64:
            return kind == PROBE_SUB ? 9 : ~(uint64_t)15;
        default:
            return kind == PROBE_SUB ? 0x8000000000000009u : 0x7ffffffffffffff0u;
        }
    return is_narrow(type) ? 0x12345678u : 0x123456789abcdef0u;
}

static void atomic_init(const probe_case_t *row, uint64_t *mem)
{
    for (uint32_t i = 0; i < row->mem_words; i++)
        mem[i] = first_value(row->mode);
}

/* ---- many lanes on one word ---------------------------------------------------------- */
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The lanes [from, to) worked on one word. Each operation left what the next one found: so
 * what all of them found, with the final value, is as a multiset what they left, with the
 * first. */
static const char *word_check(const probe_result_t *result, uint64_t from, uint64_t to,
                              uint64_t last)
{
    static uint64_t found[LANES * PROBE_ATOMIC_ROUNDS + 1],
        left[LANES * PROBE_ATOMIC_ROUNDS + 1];
    uint32_t mode = result->row->mode, kind = PROBE_KIND(mode), type = PROBE_TYPE(mode);
    uint64_t want = first_value(mode), n = 0;

    for (uint64_t id = from; id < to; id++)
        for (uint32_t round = 0; round < PROBE_ATOMIC_ROUNDS; round++, n++) {
            uint64_t v = probe_operand(kind, type, id, round);

            found[n] = result->out[id * PROBE_ATOMIC_ROUNDS + round];
            left[n] = after(mode, found[n], v);
            want = after(mode, want, v);
        }
    /* Any order gives the same, but of exchanges. */
    if (kind != PROBE_XCHG && last != want)
        return probe_wrong("lanes %llu to %llu left 0x%llx, expected 0x%llx",
                           (unsigned long long)from, (unsigned long long)to,
                           (unsigned long long)last, (unsigned long long)want);
    found[n] = last;
    left[n++] = first_value(mode);
    qsort(found, n, sizeof found[0], by_value);
    qsort(left, n, sizeof left[0], by_value);
    for (uint64_t i = 0; i < n; i++)
        if (found[i] != left[i])
            return probe_wrong(
                "an operation returned 0x%llx, which %s",
                (unsigned long long)(found[i] < left[i] ? found[i] : left[i]),
                found[i] < left[i] ? "was never there" : "another overwrote unseen");
    return NULL;
}

static const char *atomic_check(const probe_result_t *result)
{
    uint32_t type = PROBE_TYPE(result->row->mode);
    const char *wrong = NULL;

    if (PROBE_EXTRA(result->row->mode) >= PROBE_DEV)
        return word_check(result, 0, LANES,
                          is_narrow(type) ? (uint32_t)result->mem[0] : result->mem[0]);
    for (uint32_t block = 0; block < BLOCKS && !wrong; block++) {
        uint64_t last = result->mem[1 + block];

        wrong = word_check(result, block * THREADS, (block + 1) * THREADS,
                           is_narrow(type) ? (uint32_t)last : last);
    }
    return wrong;
}

/* ---- single cells -------------------------------------------------------------------- */
static void cas_fails_init(const probe_case_t *row, uint64_t *mem)
{
    for (uint32_t i = 0; i < row->mem_words; i++)
        mem[i] = probe_input(i, 0);
}
static void cas_fails_reference(const probe_lane_t *self, uint64_t *expected)
{
    for (uint32_t type = 0; type < 4; type++, expected += 3) {
        uint64_t there = probe_input(self->id, 0);

        expected[0] = false;
        expected[1] = expected[2] = is_narrow(type) ? (uint32_t)there : there;
    }
}

static void cells_reference(const probe_lane_t *self, uint64_t *expected)
{
    for (uint32_t word = 0; word < self->row->words; word++) {
        uint64_t bits = probe_input(self->id, word);

        expected[word] = is_narrow(word / 8) ? (uint32_t)bits : bits;
    }
}

static const char *cell_word_name(uint32_t word)
{
    static const char *const types[] = {"u32", "i32", "u64", "i64", "f32", "f64"};
    static const char *const scopes[] = {"blk", "clu", "dev", "sys"};
    static char name[64];

    snprintf(name, sizeof name, "%s %s %s", types[word / 8], scopes[word / 2 % 4],
             word & 1 ? "release store, relaxed load" : "relaxed store, acquire load");
    return name;
}

/* Six ops in turn, 48 words of 32 bits, then of 64. */
static void red_reference(const probe_lane_t *self, uint64_t *expected)
{
    for (uint32_t word = 0; word < self->row->words; word++) {
        uint64_t mask = word < 48 ? UINT32_MAX : UINT64_MAX;
        uint64_t a = probe_input(self->id, 2 * word) & mask;
        uint64_t b = probe_input(self->id, 2 * word + 1) & mask;
        const uint64_t results[] = {a + b, a & b,         a | b,
                                    a ^ b, a < b ? a : b, a > b ? a : b};

        expected[word] = results[word % 6] & mask;
    }
}

/* ---- 128 bits ------------------------------------------------------------------------ */
/* The low halves count 0, 1, 2, ...; the high half sums up; exchanges form one chain. */
static const char *wide_check(const probe_result_t *result)
{
    static uint64_t found[LANES], swapped[LANES + 1], stored[LANES + 1];
    uint64_t sum = 0;

    for (uint64_t id = 0; id < LANES; id++) {
        const uint64_t *row = result->out + 3 * id;

        found[id] = row[0];
        swapped[id] = row[1];
        stored[id] = probe_input(id, 0);
        sum += id;
        if (row[1] != row[2])
            return probe_wrong("lane %llu: the exchange returned a torn value",
                               (unsigned long long)id);
    }
    qsort(found, LANES, sizeof found[0], by_value);
    for (uint64_t id = 0; id < LANES; id++)
        if (found[id] != id)
            return probe_wrong("compare-and-swap nr %llu found %llu",
                               (unsigned long long)id, (unsigned long long)found[id]);
    if (result->mem[0] != LANES || result->mem[1] != sum)
        return probe_wrong("the sums are %llu and %llu, expected %u and %llu",
                           (unsigned long long)result->mem[0],
                           (unsigned long long)result->mem[1], LANES,
                           (unsigned long long)sum);
    swapped[LANES] = result->mem[2];
    stored[LANES] = 0;
    qsort(swapped, LANES + 1, sizeof swapped[0], by_value);
    qsort(stored, LANES + 1, sizeof stored[0], by_value);
    return memcmp(swapped, stored, sizeof stored)
               ? probe_wrong("the exchanges lost a value, or returned one twice")
               : NULL;
}

/* A pair whose halves belong together: the one that exchanges start with, and that loads
 * may find before the first store. */
static void pair_init(const probe_case_t *row, uint64_t *mem)
{
    mem[row->mem_words - 2] = 0;
    mem[row->mem_words - 1] = ~(uint64_t)0;
}
static void tear_reference(const probe_lane_t *self, uint64_t *expected)
{
    (void)self;
    expected[0] = 0;
}

/* ---- order --------------------------------------------------------------------------- */
static void message_reference(const probe_lane_t *self, uint64_t *expected)
{
    expected[0] = probe_input(self->block / 2 * self->threads + self->rank, 0);
}

/* ---- rows ---------------------------------------------------------------------------- */
#define ON(kern, nm, kd, T, S)                                                        \
    {                                                                                 \
        .name = nm, .kernel = &gpurt_kernel_probe_##kern,                             \
        .launch = PROBE_1D(BLOCKS, THREADS), .words = PROBE_ATOMIC_ROUNDS,            \
        .mode = PROBE_MODE(kd, T, S), .mem_words = 1 + BLOCKS, .check = atomic_check, \
        .mem_init = atomic_init                                                       \
    }
#define ATOMIC(nm, kd, T)                                  \
    ON(atomic, "atomic_" nm "_blk", kd, T, PROBE_BLK),     \
        ON(atomic, "atomic_" nm "_clu", kd, T, PROBE_CLU), \
        ON(atomic, "atomic_" nm "_dev", kd, T, PROBE_DEV), \
        ON(atomic, "atomic_" nm "_sys", kd, T, PROBE_SYS), \
        ON(atomic_shared, "atomic_" nm "_shared", kd, T, PROBE_BLK)
#define ATOMIC_ARITH(t, T)                                              \
    ATOMIC("add_" t, PROBE_ADD, T), ATOMIC("sub_" t, PROBE_SUB, T),     \
        ATOMIC("min_" t, PROBE_MIN, T), ATOMIC("max_" t, PROBE_MAX, T), \
        ATOMIC("xchg_" t, PROBE_XCHG, T), ATOMIC("cas_" t, PROBE_CAS, T)
#define ATOMIC_BITS(t, T)                                         \
    ATOMIC("and_" t, PROBE_AND, T), ATOMIC("or_" t, PROBE_OR, T), \
        ATOMIC("xor_" t, PROBE_EXOR, T)
#define ATOMIC_FLOAT(t, T) ATOMIC("add_" t, PROBE_ADD, T), ATOMIC("xchg_" t, PROBE_XCHG, T)

static const probe_case_t rows[] = {
    ATOMIC_ARITH("u32", PROBE_U32),
    ATOMIC_BITS("u32", PROBE_U32),
    ATOMIC_ARITH("i32", PROBE_I32),
    ATOMIC_ARITH("u64", PROBE_U64),
    ATOMIC_BITS("u64", PROBE_U64),
    ATOMIC_ARITH("i64", PROBE_I64),
    ATOMIC_FLOAT("f32", PROBE_F32),
    ATOMIC_FLOAT("f64", PROBE_F64),
    {.name = "cas_fails",
     .kernel = &gpurt_kernel_probe_cas_fails,
     .launch = PROBE_1D(2, 64),
     .words = 12,
     .mem_words = 128,
     .reference = cas_fails_reference,
     .mem_init = cas_fails_init},
    {.name = "load_store",
     .kernel = &gpurt_kernel_probe_cells,
     .launch = PROBE_1D(2, 64),
     .words = 48,
     .mem_words = 128,
     .reference = cells_reference,
     .word_name = cell_word_name},
    {.name = "red",
     .kernel = &gpurt_kernel_probe_red,
     .launch = PROBE_1D(2, 64),
     .words = 96,
     .mem_words = 128,
     .reference = red_reference},
    {.name = "atomic_u128",
     .kernel = &gpurt_kernel_probe_wide,
     .launch = PROBE_1D(BLOCKS, THREADS),
     .words = 3,
     .mem_words = 4,
     .check = wide_check,
     .needs = PROBE_NEEDS_WIDE,
     .mem_init = pair_init},
    {.name = "load_store_u128",
     .kernel = &gpurt_kernel_probe_wide_tear,
     .launch = PROBE_1D(BLOCKS, THREADS),
     .words = 1,
     .mem_words = 2,
     .reference = tear_reference,
     .mem_init = pair_init},
    {.name = "load_u128_parts",
     .kernel = &gpurt_kernel_probe_wide_parts,
     .launch = PROBE_1D(BLOCKS, THREADS),
     .words = 1,
     .mem_words = 2,
     .reference = tear_reference,
     .mem_init = pair_init},
    {.name = "message_release_acquire",
     .kernel = &gpurt_kernel_probe_message,
     .launch = PROBE_1D(16, 64),
     .words = 1,
     .mem_words = 2 * 8 * 64,
     .reference = message_reference},
    {.name = "message_fences",
     .kernel = &gpurt_kernel_probe_message,
     .launch = PROBE_1D(16, 64),
     .words = 1,
     .mode = 1,
     .mem_words = 2 * 8 * 64,
     .reference = message_reference},
};

const probe_table_t semantics_atomic_table = {rows, sizeof rows / sizeof rows[0]};
