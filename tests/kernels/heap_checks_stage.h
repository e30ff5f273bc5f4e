/* SPDX-License-Identifier: Apache-2.0 */
/* heap_checks_stage.h - a heap that checks, kernels that use and misuse it, and what it tells of
 * them. */
#ifndef GPURT_TESTS_HEAP_CHECKS_STAGE_H
#define GPURT_TESTS_HEAP_CHECKS_STAGE_H

#include "alloc_stage.h"
#include "heap_checks_kernels.h"

GPURT_KERNEL_DECLARE(checks_alloc, struct checks_args);
GPURT_KERNEL_DECLARE(checks_write, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_again, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_raced, struct checks_args);
GPURT_KERNEL_DECLARE(checks_leak, struct checks_args);
GPURT_KERNEL_DECLARE(checks_unchecked, struct checks_args);
GPURT_KERNEL_DECLARE(checks_fill, struct checks_args);
GPURT_KERNEL_DECLARE(checks_drain, struct checks_args);
GPURT_KERNEL_DECLARE(checks_cancelled, struct checks_args);
GPURT_KERNEL_DECLARE(checks_storm, struct checks_args);
GPURT_KERNEL_DECLARE(checks_warp, struct checks_args);
GPURT_KERNEL_DECLARE(checks_passed_on, struct checks_args);
GPURT_KERNEL_DECLARE(checks_places, struct checks_args);
GPURT_KERNEL_DECLARE(checks_tally, struct checks_args);

enum {
    BLOCKS = 4,
    THREADS = 64,
    CELLS = 8192
};
#define FILE_NAME "heap_checks_kernels.c"

typedef struct checks_stage {
    struct checks_args args;
    gpurt_launch_t launch;
    uint32_t lines[LINES]; /* as the last look at its faults found them */
} checks_stage_t;

static inline void checks_open(checks_stage_t *b, uint32_t level, uint64_t bytes)
{
    gpurt_heap_options_t options = {.bytes = bytes, .checks = level, .shards = 2};

    memset(b, 0, sizeof *b);
    OK(gpurt_heap_create(rt, &options, &b->args.heap, &err));
    OK(gpurt_mem_create(rt, CELLS * sizeof(uint64_t), (void **)&b->args.cells, &err));
    OK(gpurt_mem_create(rt, sizeof b->lines, (void **)&b->args.lines, &err));
    OK(gpurt_fill(rt, 0, b->args.cells, 0, CELLS * sizeof(uint64_t), &err));
    b->launch = (gpurt_launch_t){.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    b->args.align = 16;
}

static inline void checks_close(checks_stage_t *b)
{
    OK(gpurt_heap_destroy(rt, &b->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, b->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, b->args.lines), GPURT_OK);
}

static inline uint64_t checks_faults(checks_stage_t *b, gpurt_heap_fault_t *out,
                                     uint32_t room)
{
    uint64_t count;

    OK(gpurt_copy(rt, 0, b->lines, b->args.lines, sizeof b->lines, &err));
    OK(gpurt_heap_faults(rt, &b->args.heap, out, room, &count, &err));
    return count;
}

static inline uint64_t checks_cell(checks_stage_t *b, uint32_t i)
{
    uint64_t value;

    OK(gpurt_copy(rt, 0, &value, b->args.cells + i, sizeof value, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    return value;
}

/* That the place is the call of the kernels which stands there. */
static inline void checks_place(const checks_stage_t *b, const char *what, const char *site,
                                uint32_t which)
{
    char end[64];
    size_t length = strlen(site), want;

    snprintf(end, sizeof end, "%s:%u", FILE_NAME, b->lines[which]);
    want = strlen(end);
    CHECK_MSG(length >= want && strcmp(site + length - want, end) == 0, "%s: %s, not %s",
              what, site, end);
}

static inline void checks_silent(checks_stage_t *b)
{
    gpurt_heap_fault_t f = {0};

    CHECK_MSG(checks_faults(b, &f, 1) == 0, "0x%llx of %llu bytes %s: byte %lld",
              (unsigned long long)f.object, (unsigned long long)f.size,
              gpurt_heap_wrong_text(f.what), (long long)f.at);
    OK(gpurt_heap_check(rt, &b->args.heap, &err));
}

#endif
