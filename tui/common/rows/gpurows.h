/* SPDX-License-Identifier: Apache-2.0 */
/* gpurows.h - the tables of what GPUs did, and the host for them: which rows are in use, in which
 * order, and what each is called. For text, for JSON and for the screen. */
#ifndef GPURT_TUI_GPUROWS_H
#define GPURT_TUI_GPUROWS_H

#include "modelview.h"

typedef enum gpurows {
    GPUROWS_KERNELS,
    GPUROWS_CALLS,
    GPUROWS_RANGES,
    GPUROWS_MEMORY,
    GPUROWS_POOLS,
    GPUROWS_TABLES
} gpurows_t;

enum {
    GPUROWS_MOST = GPURT_MODEL_KERNEL_ROWS, /* rows of the largest */
    GPUROWS_AS_TOLD = 99,                   /* in no order but the log's */
    GPUROWS_NAME = GPURT_MODEL_KERNEL_NAME + GPURT_MODEL_DOMAIN + 8
};

/* What the rows can be ordered by; NULL: no more. All but a name have the largest first. */
const char *gpurows_sort(gpurows_t table, uint32_t sort);

/* Rows in use; of them those that stand for several names, which nobody has counted. */
uint32_t gpurows_count(const gpurt_model_activity_t *a, gpurows_t table);
uint32_t gpurows_others(const gpurt_model_activity_t *a, gpurows_t table);

/* Indices into the table's array, equal rows by name, all others last. sort: as above, 0 where
 * there is none such, or GPUROWS_AS_TOLD. Returns: how many. */
uint32_t gpurows_order(const gpurt_model_activity_t *a, gpurows_t table, uint32_t sort,
                       uint16_t order[GPUROWS_MOST]);

/* Of calls and ranges. */
const gpurt_model_host_rows_t *gpurows_host(const gpurt_model_activity_t *a,
                                            gpurows_t table);
/* NULL: rows of this table have no durations. */
const gpurt_model_times_t *gpurows_times(const gpurt_model_activity_t *a, gpurows_t table,
                                         uint32_t index);
/* What a share is of: all durations of the table. */
uint64_t gpurows_whole_ns(const gpurt_model_activity_t *a, gpurows_t table);

/* A row's part of all: of their time; where kernels have no times, of the samples of warps: *about is
 * true then. Returns: percent, below 0: not known. */
double gpurows_share(const gpurt_model_activity_t *a, gpurows_t table, uint32_t index,
                     uint64_t whole, bool *about);

/* Of a pool: nothing where it is not known. */
static inline uint64_t gpurows_known(uint64_t bytes)
{
    return bytes == UINT64_MAX ? 0 : bytes;
}

/* "step (torch)", "device, GPU 1, process 4711": as the log has it, so it is no text for a
 * terminal yet. */
const char *gpurows_name(const gpurt_model_activity_t *a, gpurows_t table, uint32_t index,
                         char buffer[GPUROWS_NAME]);

#endif
