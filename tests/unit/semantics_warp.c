/* SPDX-License-Identifier: Apache-2.0 */
/* References and rows of ids and warp operations (tests/kernels/semantics_kernels.c). */
#include "semantics_table.h"

#include <math.h>

/* ---- ids ----------------------------------------------------------------------------- */
#define ID_NAME(name) #name,
static const char *id_word_name(uint32_t word)
{
    static const char *const names[] = {PROBE_IDS(ID_NAME)};

    return names[word];
}

static void ids_reference(const probe_lane_t *self, uint64_t *expected)
{
    gpurt_dim3_t grid = self->row->launch.grid, block = self->row->launch.block;
    uint32_t block_x = self->block % grid.x, thread_x = self->rank % block.x;

    expected[PROBE_ID_thread_x] = thread_x;
    expected[PROBE_ID_thread_y] = self->rank / block.x % block.y;
    expected[PROBE_ID_thread_z] = self->rank / block.x / block.y;
    expected[PROBE_ID_block_x] = block_x;
    expected[PROBE_ID_block_y] = self->block / grid.x % grid.y;
    expected[PROBE_ID_block_z] = self->block / grid.x / grid.y;
    expected[PROBE_ID_block_dim_x] = block.x;
    expected[PROBE_ID_block_dim_y] = block.y;
    expected[PROBE_ID_block_dim_z] = block.z;
    expected[PROBE_ID_grid_dim_x] = grid.x;
    expected[PROBE_ID_grid_dim_y] = grid.y;
    expected[PROBE_ID_grid_dim_z] = grid.z;
    expected[PROBE_ID_lane] = self->lane;
    expected[PROBE_ID_warp] = self->warp;
    expected[PROBE_ID_warps] = (self->threads + 31) / 32;
    expected[PROBE_ID_thread_rank] = self->rank;
    expected[PROBE_ID_block_rank] = self->block;
    expected[PROBE_ID_block_threads] = self->threads;
    expected[PROBE_ID_grid_blocks] = self->blocks;
    expected[PROBE_ID_global_id] = block_x * block.x + thread_x;
    expected[PROBE_ID_global_id64] = self->id;
    expected[PROBE_ID_lanes_below] = (1u << self->lane) - 1;
    expected[PROBE_ID_cluster_rank] = 0;
    expected[PROBE_ID_cluster_size] = 1;
}

static uint64_t count_bits(uint64_t v, uint32_t width)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < width; i++)
        count += v >> i & 1;
    return count;
}
static uint64_t zeros_below(uint64_t v, uint32_t width)
{
    uint32_t i = 0;

    while (i < width && !(v >> i & 1))
        i++;
    return i;
}
static uint64_t zeros_above(uint64_t v, uint32_t width)
{
    uint32_t i = 0;

    while (i < width && !(v >> (width - 1 - i) & 1))
        i++;
    return i;
}

static void bits_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint64_t id = self->id, v = id ? probe_mix(id) >> (id & 63) << (id >> 3 & 63) : 0;

    for (uint32_t wide = 0; wide < 2; wide++) {
        uint32_t width = wide ? 64 : 32;

        expected[wide] = count_bits(v, width);
        expected[2 + wide] = zeros_below(v, width);
        expected[4 + wide] = zeros_above(v, width);
    }
    expected[6] = (uint32_t)(31 - (int)zeros_above(v, 32));
}

/* ---- votes and matches --------------------------------------------------------------- */
static uint32_t group_of(const probe_lane_t *self)
{
    return probe_group(PROBE_EXTRA(self->row->mode), self->live, self->warp_first,
                       self->lane);
}

static void votes_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t mask = group_of(self);

    for (uint32_t round = 0; round < PROBE_VOTE_ROUNDS; round++) {
        uint32_t yes = 0;

        for (uint32_t i = 0; i < 32; i++)
            if (mask >> i & 1 &&
                probe_predicate(self->warp_first + i, round, PROBE_VOTE_ROUNDS))
                yes |= 1u << i;
        expected[PROBE_VOTE_BALLOT] = yes;
        expected[PROBE_VOTE_ANY] = yes != 0;
        expected[PROBE_VOTE_ALL] = yes == mask;
        expected += PROBE_VOTE_WORDS;
    }
}

static const char *vote_word_name(uint32_t word)
{
    static const char *const names[] = {"ballot", "any", "all"};

    return names[word % PROBE_VOTE_WORDS];
}

/* Lanes of the mask whose key is this lane's, in its lowest `width` bits. */
static uint32_t lanes_with_key(const probe_lane_t *self, uint32_t mask, uint32_t round,
                               uint32_t width)
{
    uint64_t keep = width == 64 ? ~(uint64_t)0 : 0xffffffffu;
    uint64_t key = probe_key(self->id, round) & keep;
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < 32; i++)
        if (mask >> i & 1 && (probe_key(self->warp_first + i, round) & keep) == key)
            lanes |= 1u << i;
    return lanes;
}

static void match_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t mask = group_of(self);

    for (uint32_t round = 0; round < PROBE_MATCH_ROUNDS; round++) {
        uint32_t narrow = lanes_with_key(self, mask, round, 32);
        uint32_t wide = lanes_with_key(self, mask, round, 64);

        expected[PROBE_MATCH_ANY_U32] = narrow;
        expected[PROBE_MATCH_ANY_U64] = wide;
        expected[PROBE_MATCH_ALL_U32] = narrow == mask ? mask : 0;
        expected[PROBE_MATCH_ALL_U64] = wide == mask ? mask : 0;
        expected[PROBE_SAME_U32] = narrow == mask;
        expected[PROBE_SAME_U64] = wide == mask;
        expected += PROBE_MATCH_WORDS;
    }
}

static const char *match_word_name(uint32_t word)
{
    static const char *const names[] = {"match_any_u32", "match_any_u64", "match_all_u32",
                                        "same_u32",      "match_all_u64", "same_u64"};

    return names[word % PROBE_MATCH_WORDS];
}

/* ---- shuffles ------------------------------------------------------------------------ */
static bool is_narrow(uint32_t type)
{
    return type == PROBE_U32 || type == PROBE_I32 || type == PROBE_F32;
}

/* Groups of `width` lanes lie at multiples of width. */
static uint32_t shuffle_from(uint32_t kind, uint32_t lane, uint32_t by, uint32_t width)
{
    uint32_t first = lane / width * width, end = first + width;

    switch (kind) {
    case PROBE_IDX:
        return first + by % width;
    case PROBE_UP:
        return lane >= first + by ? lane - by : lane;
    case PROBE_DOWN:
        return lane + by < end ? lane + by : lane;
    case PROBE_XOR: /* an earlier group may be read, a later one not */
        return (lane ^ by) < end ? lane ^ by : lane;
    default:
        return by;
    }
}

static void shfl_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t mode = self->row->mode, kind = PROBE_KIND(mode);
    uint32_t widest = PROBE_EXTRA(mode) == PROBE_HALVES ? 16 : 32;

    for (uint32_t nth = 0; nth < PROBE_SHFL_WORDS; nth++) {
        uint32_t width = 1u << nth / PROBE_DELTAS;
        uint32_t by = probe_delta(kind, nth % PROBE_DELTAS, width, self->lane);
        uint32_t from = shuffle_from(kind, self->lane, by, width);
        uint64_t bits = probe_input(self->warp_first + from, nth);

        expected[nth] = width > widest                ? 0
                        : is_narrow(PROBE_TYPE(mode)) ? (uint32_t)bits
                                                      : bits;
    }
}

static const char *shfl_word_name(uint32_t word)
{
    static char name[32];

    snprintf(name, sizeof name, "width %u, by nr %u", 1u << word / PROBE_DELTAS,
             word % PROBE_DELTAS);
    return name;
}

/* ---- reductions ---------------------------------------------------------------------- */
static float fold_f32(uint32_t kind, float a, float b)
{
    if (kind == PROBE_ADD)
        return a + b;
    if (a == 0 && b == 0) /* C's fmin may return either zero */
        return (kind == PROBE_MIN) == (signbit(a) != 0) ? a : b;
    return kind == PROBE_MIN ? fminf(a, b) : fmaxf(a, b);
}
static double fold_f64(uint32_t kind, double a, double b)
{
    if (kind == PROBE_ADD)
        return a + b;
    if (a == 0 && b == 0)
        return (kind == PROBE_MIN) == (signbit(a) != 0) ? a : b;
    return kind == PROBE_MIN ? fmin(a, b) : fmax(a, b);
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

/* Two values combined; bits in, bits out. */
static uint64_t fold(uint32_t kind, uint32_t type, uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;

    if (type == PROBE_F32)
        return probe_bits_f32(fold_f32(kind, probe_value_f32(a), probe_value_f32(b)));
    if (type == PROBE_F64)
        return probe_bits_f64(fold_f64(kind, probe_value_f64(a), probe_value_f64(b)));
    switch (kind) {
    case PROBE_MIN:
        return is_less(type, a, b) ? a : b;
    case PROBE_MAX:
        return is_less(type, a, b) ? b : a;
    case PROBE_AND:
        return a & b;
    case PROBE_OR:
        return a | b;
    case PROBE_EXOR:
        return a ^ b;
    default:
        return is_narrow(type) ? (uint32_t)sum : sum;
    }
}

/* warp.h: the full mask combines pairs at distance 16, 8, 4, 2, 1, any other lanes in
 * order. */
static uint64_t fold_lanes(const probe_lane_t *self, uint32_t mask, uint32_t round)
{
    uint32_t kind = PROBE_KIND(self->row->mode), type = PROBE_TYPE(self->row->mode),
             first = 32;
    uint64_t v[32], total = 0;

    for (uint32_t i = 0; i < 32; i++)
        v[i] = probe_number(type, self->warp_first + i, round);
    if (mask == GPURT_FULL_MASK) {
        for (uint32_t distance = 16; distance; distance /= 2)
            for (uint32_t i = 0; i < distance; i++)
                v[i] = fold(kind, type, v[i], v[i + distance]);
        return v[0];
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (!(mask >> i & 1))
            continue;
        total = first == 32 ? v[i] : fold(kind, type, total, v[i]);
        first = first == 32 ? i : first;
    }
    return total;
}

static void reduce_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t mask = group_of(self);

    for (uint32_t round = 0; round < PROBE_REDUCE_ROUNDS; round++)
        expected[round] =
            probe_one_nan(PROBE_TYPE(self->row->mode), fold_lanes(self, mask, round));
}

/* ---- divergence ---------------------------------------------------------------------- */
static uint32_t lowest(uint32_t mask)
{
    return (uint32_t)zeros_below(mask, 32);
}

static void meanwhile_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t place = self->lane % 3, third = self->lane - place + 2;
    bool has_third = third < GPURT_WARP_SIZE && self->rank - place + 2 < self->threads;

    expected[0] = self->id - place + (has_third ? 2 : 0);
}

static void syncwarp_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t mask = group_of(self), next = self->lane;

    do
        next = (next + 1) % 32;
    while (!(mask >> next & 1));
    for (uint32_t round = 0; round < self->row->words; round++)
        expected[round] = probe_input(self->warp_first + next, round);
}

static void divergent_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t half = self->live & (self->lane < 16 ? 0xffffu : 0xffff0000u);
    uint64_t trips = 0, sum = 0;

    for (uint32_t i = 0; i < 32; i++)
        sum += half >> i & 1 ? i : 0;
    for (uint32_t i = 0; i <= self->lane; i++)
        trips += probe_input(self->id, i);
    if (self->lane < 16) {
        expected[0] = self->warp_first + lowest(half);
        expected[1] = sum;
    } else {
        expected[0] = half & 0xaaaaaaaau;
        expected[1] = self->warp_first + lowest(half);
    }
    expected[2] = trips;
    expected[3] = self->warp_first + probe_input(self->warp_first, 0);
}

static void groups_reference(const probe_lane_t *self, uint64_t *expected)
{
    uint32_t group = 0, sum = 0, odd = 0;

    for (uint32_t i = 0; i < 32; i++) {
        uint32_t value = (uint32_t)probe_input(self->warp_first + i, 1);

        if (!(self->live >> i & 1) ||
            probe_input(self->warp_first + i, 0) % 3 != probe_input(self->id, 0) % 3)
            continue;
        group |= 1u << i;
        sum += value;
        odd |= (value & 1) << i;
    }
    expected[0] = group;
    expected[1] = sum;
    expected[2] = odd;
    expected[3] = (uint32_t)probe_input(self->warp_first + lowest(group), 1);
    expected[4] = self->lane == lowest(group);
}

/* Any subset of the lanes on the same path with the caller in it, the same for all in
 * it. */
static const char *activemask_check(const probe_result_t *result)
{
    for (uint64_t id = 0; id < result->lanes; id++) {
        const uint64_t *row = result->out + id * result->row->words;
        probe_lane_t self;

        probe_place(result->row, id, &self);
        if (!(row[0] >> self.lane & 1))
            return probe_wrong("lane %u is not in its answer %08llx", self.lane,
                               (unsigned long long)row[0]);
        if (row[1] != row[0])
            return probe_wrong("lane %u: an operation under its answer %08llx saw %08llx",
                               self.lane, (unsigned long long)row[0],
                               (unsigned long long)row[1]);
        for (uint32_t i = 0; i < 32; i++) {
            uint64_t other = self.warp_first + i;

            if (!(row[0] >> i & 1))
                continue;
            if (!(self.live >> i & 1) ||
                probe_input(other, 0) % 3 != probe_input(id, 0) % 3)
                return probe_wrong("lane %u: lane %u of its answer is not on its path",
                                   self.lane, i);
            if (result->out[other * result->row->words] != row[0])
                return probe_wrong("lanes %u and %u of one answer have different answers",
                                   self.lane, i);
        }
    }
    return NULL;
}

/* ---- rows ---------------------------------------------------------------------------- */
#define IDS(nm, ...)                                                 \
    {                                                                \
        .name = "ids_" nm, .kernel = &gpurt_kernel_probe_ids,        \
        .launch = PROBE_SHAPE(__VA_ARGS__), .words = PROBE_ID_WORDS, \
        .reference = ids_reference, .word_name = id_word_name        \
    }
#define ROW(nm, kern, wrd, md, ref, namer, ...)                                            \
    {                                                                                      \
        .name = nm, .kernel = &gpurt_kernel_probe_##kern, .launch = PROBE_1D(__VA_ARGS__), \
        .words = wrd, .mode = md, .reference = ref, .word_name = namer                     \
    }
#define VOTES(nm, pattern, ...)                                  \
    ROW("votes_" nm, votes, PROBE_VOTE_ROUNDS *PROBE_VOTE_WORDS, \
        PROBE_MODE(0, 0, pattern), votes_reference, vote_word_name, __VA_ARGS__)
#define MATCH(nm, pattern, ...)                                    \
    ROW("match_" nm, match, PROBE_MATCH_ROUNDS *PROBE_MATCH_WORDS, \
        PROBE_MODE(0, 0, pattern), match_reference, match_word_name, __VA_ARGS__)
#define SHFL_TYPE(kd, t, T, nm, pattern)                                      \
    ROW("shfl_" nm "_" t, shfl, PROBE_SHFL_WORDS, PROBE_MODE(kd, T, pattern), \
        shfl_reference, shfl_word_name, 2, 64)
#define SHFL(kd, nm, pattern)                         \
    SHFL_TYPE(kd, "u32", PROBE_U32, nm, pattern),     \
        SHFL_TYPE(kd, "i32", PROBE_I32, nm, pattern), \
        SHFL_TYPE(kd, "u64", PROBE_U64, nm, pattern), \
        SHFL_TYPE(kd, "i64", PROBE_I64, nm, pattern), \
        SHFL_TYPE(kd, "f32", PROBE_F32, nm, pattern), \
        SHFL_TYPE(kd, "f64", PROBE_F64, nm, pattern)
#define REDUCE_MASK(kd, T, nm, suffix, pattern, threads)                              \
    ROW("reduce_" nm suffix, reduce, PROBE_REDUCE_ROUNDS, PROBE_MODE(kd, T, pattern), \
        reduce_reference, NULL, 16, threads)
#define REDUCE(kd, T, nm)                                \
    REDUCE_MASK(kd, T, nm, "", PROBE_ALL, 64),           \
        REDUCE_MASK(kd, T, nm, "_even", PROBE_EVEN, 64), \
        REDUCE_MASK(kd, T, nm, "_random", PROBE_RANDOM, 50)
#define REDUCE_ARITH(T, t)                                          \
    REDUCE(PROBE_ADD, T, "add_" t), REDUCE(PROBE_MIN, T, "min_" t), \
        REDUCE(PROBE_MAX, T, "max_" t)
#define REDUCE_BITS(T, t)                                         \
    REDUCE(PROBE_AND, T, "and_" t), REDUCE(PROBE_OR, T, "or_" t), \
        REDUCE(PROBE_EXOR, T, "xor_" t)

static const probe_case_t rows[] = {
    IDS("1", 1, 1, 1, 1, 1, 1),
    IDS("31", 3, 1, 1, 31, 1, 1),
    IDS("33", 3, 1, 1, 33, 1, 1),
    IDS("96", 5, 1, 1, 96, 1, 1),
    IDS("1024", 2, 1, 1, 1024, 1, 1),
    IDS("2d", 3, 5, 1, 8, 4, 1),
    IDS("2d_partial", 2, 2, 1, 7, 5, 1),
    IDS("2d_1024", 1, 2, 1, 32, 32, 1),
    IDS("3d", 2, 3, 4, 5, 3, 3),
    IDS("3d_z", 1, 1, 6, 1, 1, 64),
    IDS("3d_1024", 1, 2, 2, 16, 8, 8),
    ROW("bits", bits, 7, 0, bits_reference, NULL, 8, 256),
    VOTES("full", PROBE_ALL, 4, 96),
    VOTES("one_lane", PROBE_ALL, 2, 1),
    VOTES("partial_31", PROBE_ALL, 4, 31),
    VOTES("partial_33", PROBE_EVEN, 4, 33),
    VOTES("even", PROBE_EVEN, 4, 64),
    VOTES("random", PROBE_RANDOM, 16, 64),
    MATCH("full", PROBE_ALL, 8, 64),
    MATCH("partial_33", PROBE_ALL, 4, 33),
    MATCH("even", PROBE_EVEN, 8, 64),
    MATCH("random", PROBE_RANDOM, 16, 64),
    SHFL(PROBE_WARP, "lane", PROBE_ALL),
    SHFL(PROBE_IDX, "idx", PROBE_ALL),
    SHFL(PROBE_UP, "up", PROBE_ALL),
    SHFL(PROBE_DOWN, "down", PROBE_ALL),
    SHFL(PROBE_XOR, "xor", PROBE_ALL),
    SHFL(PROBE_UP, "up_halves", PROBE_HALVES),
    SHFL(PROBE_DOWN, "down_halves", PROBE_HALVES),
    REDUCE_ARITH(PROBE_U32, "u32"),
    REDUCE_ARITH(PROBE_I32, "i32"),
    REDUCE_ARITH(PROBE_U64, "u64"),
    REDUCE_ARITH(PROBE_I64, "i64"),
    REDUCE_ARITH(PROBE_F32, "f32"),
    REDUCE_ARITH(PROBE_F64, "f64"),
    REDUCE_BITS(PROBE_U32, "u32"),
    REDUCE_BITS(PROBE_U64, "u64"),
    ROW("syncwarp_full", syncwarp, 5, PROBE_MODE(0, 0, PROBE_ALL), syncwarp_reference, NULL,
        4, 256),
    ROW("syncwarp_partial", syncwarp, 5, PROBE_MODE(0, 0, PROBE_EVEN), syncwarp_reference,
        NULL, 4, 45),
    ROW("syncwarp_random", syncwarp, 5, PROBE_MODE(0, 0, PROBE_RANDOM), syncwarp_reference,
        NULL, 16, 64),
    ROW("divergent", divergent, 4, 0, divergent_reference, NULL, 4, 96),
    ROW("divergent_partial", divergent, 4, 0, divergent_reference, NULL, 4, 50),
    ROW("meanwhile", meanwhile, 1, 0, meanwhile_reference, NULL, 4, 96),
    ROW("meanwhile_partial", meanwhile, 1, 0, meanwhile_reference, NULL, 4, 49),
    ROW("groups", groups, 5, 0, groups_reference, NULL, 16, 64),
    ROW("groups_partial", groups, 5, 0, groups_reference, NULL, 16, 41),
    {.name = "activemask",
     .kernel = &gpurt_kernel_probe_activemask,
     .launch = PROBE_1D(16, 75),
     .words = 2,
     .check = activemask_check},
};

const probe_table_t semantics_warp_table = {rows, sizeof rows / sizeof rows[0]};
