/* SPDX-License-Identifier: Apache-2.0 */
/* activity_text.h - what GPUs did, for a terminal without a screen and for programs: the
 * same in gpurt-log stat and in gpurt-top --once and --json. */
#ifndef GPURT_TUI_ACTIVITY_TEXT_H
#define GPURT_TUI_ACTIVITY_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

/* Sums over all kernels; graphs that were launched whole are not among them. */
typedef struct activity_sum {
    uint64_t count, untimed, ns;
    uint32_t names; /* that have a row of their own */
    bool others;    /* ... and there are more */
    bool about;     /* ns is an estimate */
} activity_sum_t;
activity_sum_t activity_sum(const gpurt_model_activity_t *a);

/* "812 ns", "3.21 us", "1.50 s". */
const char *activity_time(uint64_t ns, char buffer[24]);
/* "812 B", "3.2 MiB". */
const char *activity_bytes(uint64_t bytes, char buffer[24]);
/* "24.1 GB/s"; "-" where no time is known. */
const char *activity_rate(const gpurt_model_copy_t *c, char buffer[24]);
/* "GPU 1"; where a process has another number for it "GPU 1 (0 of process 10801)". */
enum {
    ACTIVITY_GPU = 64
};
const char *activity_gpu(uint32_t place, const gpurt_model_gpu_t *g,
                         char buffer[ACTIVITY_GPU]);
/* "75%"; "-" where it is not known. */
const char *activity_occupancy(uint32_t hundredths, char buffer[16]);
/* How far a share of so many samples may be off, in points. */
double activity_about(uint64_t samples);
/* Of GPURT_SAMPLE_*. */
const char *activity_measure(uint32_t measure);
/* In percent. */
double activity_mean(const gpurt_model_measure_t *m);
/* Of GPURT_COPY_*. */
const char *activity_direction(uint32_t direction);
/* Of GPURT_MEMORY_*: "pageable", "pinned", "managed"; else "". */
const char *activity_memory(uint32_t memory);
/* Both: "host to device, pinned". */
const char *activity_copy(uint32_t direction, uint32_t memory, char buffer[40]);
/* Of GPURT_MANAGED_*. */
const char *activity_managed(uint32_t what);
/* All sums of copies, one behind another: a direction's of each memory, then the next one's. */
static inline const gpurt_model_copy_t *activity_copies(const gpurt_model_activity_t *a,
                                                        uint32_t index)
{
    return &a->copies[index / GPURT_MEMORY_KINDS][index % GPURT_MEMORY_KINDS];
}

/* Nothing where nothing is known. `most`: rows of each table that are listed. */
void activity_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most);
/* One object. */
void activity_json(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a);

#endif
