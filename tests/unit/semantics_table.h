/* SPDX-License-Identifier: Apache-2.0 */
/* semantics_table.h - the rows of test_semantics: what is launched, and what it must yield.
 *
 * A row has either a reference, which fills in the words that one lane must have stored, or
 * a check of the whole output where many outcomes are right. */
#ifndef GPURT_TESTS_SEMANTICS_TABLE_H
#define GPURT_TESTS_SEMANTICS_TABLE_H

#include <stdio.h>

#include <gpurt/gpurt.h>

#include "../kernels/semantics.h"

typedef struct probe_case probe_case_t;

/* One lane, placed by the launch shape alone. */
typedef struct probe_lane {
    const probe_case_t *row;
    uint64_t id, warp_first; /* gpurt_global_id64 of the lane, of lane 0 of its warp */
    uint32_t block, rank;    /* linear, in the grid and in the block */
    uint32_t threads, blocks;
    uint32_t warp, lane, live;
} probe_lane_t;

/* What a launch left behind. Owner: the runner. */
typedef struct probe_result {
    const probe_case_t *row;
    const gpurt_info_t *info;
    const uint64_t *out, *mem; /* host copies */
    uint64_t lanes;
} probe_result_t;

/* Returns: NULL, or what is wrong, in a buffer that the next call reuses. */
typedef const char *(*probe_check_fn)(const probe_result_t *result);
typedef void (*probe_reference_fn)(const probe_lane_t *self, uint64_t *expected);

enum {
    PROBE_CPU_ONLY = 1,
    PROBE_NEEDS_CLUSTER = 2,
    PROBE_NEEDS_WIDE = 4
};

struct probe_case {
    const char *name;
    const gpurt_kernel_t *kernel;
    gpurt_launch_t launch;
    uint32_t words; /* of a lane's row */
    uint32_t mode;
    uint32_t mem_words; /* filled from mem_init, or with 0 */
    probe_reference_fn reference;
    probe_check_fn check;
    uint32_t needs; /* PROBE_CPU_ONLY | ... */
    void (*mem_init)(const probe_case_t *row, uint64_t *mem);
    const char *(*word_name)(uint32_t word);
    /* Launches by itself instead of the runner. */
    gpurt_status_t (*drive)(gpurt_t *rt, const probe_case_t *row, uint64_t *out,
                            gpurt_error_t *err);
};

typedef struct probe_table {
    const probe_case_t *rows;
    size_t count;
} probe_table_t;

/* One a file of the same name. */
extern const probe_table_t semantics_warp_table, semantics_block_table,
    semantics_atomic_table;

void probe_place(const probe_case_t *row, uint64_t id, probe_lane_t *lane);

/* Fills the buffer that checks return. */
const char *probe_wrong(const char *fmt, ...) GPURT_PRINTF(1, 2);

#define PROBE_SHAPE(gx, gy, gz, bx, by, bz)           \
    {                                                 \
        .grid = {gx, gy, gz}, .block = { bx, by, bz } \
    }
#define PROBE_1D(blocks, threads) PROBE_SHAPE(blocks, 1, 1, threads, 1, 1)

#endif
