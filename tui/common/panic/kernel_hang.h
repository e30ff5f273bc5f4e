/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_hang.h - notices a kernel of any CUDA program that has not ended for too long, and tells all
 * that is known without touching the program: which, since when, where its warps stand and why,
 * whether anything moves, and what waits behind it.
 *
 * The collector says what runs (GPURT_CUPTI words running and lines). A kernel is told once. One
 * thread uses it. */
#ifndef GPURT_TUI_KERNEL_HANG_H
#define GPURT_TUI_KERNEL_HANG_H

#include "drain.h"
#include "model.h"

#include <stdio.h>

enum {
    KERNEL_HANG_TOLD = 32 /* launches of a process that are remembered as told */
};

/* Owner: the caller, one for each box. Zeroed it does nothing. */
typedef struct kernel_hang {
    uint64_t limit_ns; /* 0: off */
    const gpurt_dictionary_t *dictionary;
    const gplog_file_t *about; /* both borrowed */
    gpurt_model_t *model;      /* of what is needed here; NULL: nothing came yet */
    uint64_t due_ns;           /* since when something is to be told; steady; 0: nothing */
    bool sampled;              /* samples came of late */
    uint64_t told[KERNEL_HANG_TOLD]; /* when they were launched */
    uint32_t told_count;
} kernel_hang_t;

void kernel_hang_init(kernel_hang_t *k, uint64_t limit_ns,
                      const gpurt_dictionary_t *dictionary, const gplog_file_t *about);
gpurt_drain_sink_t kernel_hang_sink(kernel_hang_t *k);
void kernel_hang_fini(kernel_hang_t *k);

/* Whether something is to be told now: samples are given a moment to come. now_ns: of the steady
 * clock. */
bool kernel_hang_due(const kernel_hang_t *k, uint64_t now_ns);

/* Tells of each such kernel. name: of the program that says so; dumps: the driver is asked for a dump
 * next. Returns: how many. */
uint32_t kernel_hang_print(kernel_hang_t *k, const char *name, bool dumps, FILE *out);

#endif
