/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - how the program's GPUs fare, once a second: use, memory, power, temperature,
 * clocks. NVML is found at run time; without it there are no such records.
 *
 * It has a thread of its own and holds nothing of ours while it asks, so a driver that hangs
 * stops these records and nothing else; nvml_stuck tells of it. */
#ifndef GPURT_CUPTI_NVML_H
#define GPURT_CUPTI_NVML_H

#include <gpurt/base.h>

/* GPURT_NVML=off: nothing is started. GPURT_NVML_LIBRARY names another library. It is asked
 * for the first time when the program has begun, or after a second. */
void nvml_start(void);

/* CUDA is there, and the program does something with it. Context: any, again and again. */
void nvml_begun(void);

/* Leaves a thread that hangs behind. */
void nvml_stop(void);

/* Returns: true once for each time that an answer takes longer than three seconds. Context:
 * one thread. */
bool nvml_stuck(void);

#endif
