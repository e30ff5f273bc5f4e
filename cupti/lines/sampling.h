/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h - the inside of long kernels: counters of each GPU (PM sampling), read while a
 * kernel runs, as records of kind SAMPLE.
 *
 * It has a thread of its own, which CUPTI may hold for as long as it likes; nothing else
 * waits for it. The counters are the device's, whoever's kernels run, and one tool at a time
 * has them; most drivers give them to administrators alone. What a GPU refuses is told in
 * one line, with the remedy, and the others go on. */
#ifndef GPURT_CUPTI_SAMPLING_H
#define GPURT_CUPTI_SAMPLING_H

#include "cupti_api.h"

/* Every GPURT_CUPTI_SAMPLE_US microseconds, 50 to 1,000,000; default 1,000. api: borrowed
 * for ever. */
void sampling_start(const cupti_api_t *api);

/* How many were left out so far: they could not be read, or end before they begin. Context: any
 * thread. */
uint32_t sampling_left_out(void);

/* Leaves a thread that hangs behind. */
void sampling_stop(void);

#endif
