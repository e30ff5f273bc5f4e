/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_clock.h - the GPU's %globaltimer against CLOCK_REALTIME.
 *
 * A kernel of one thread and a host thread hand a word to and fro; each trip bounds the
 * difference of the two clocks from both sides. The tightest bounds of some trips give the
 * fit and its error; two fits some time apart give the rate. Used by cuda_box.c. */
#ifndef GPURT_HOST_CUDA_CLOCK_H
#define GPURT_HOST_CUDA_CLOCK_H

#include "cuda_device.h"

#include <gpurt/impl/box.h>

typedef struct gpurt_cuda_mail gpurt_cuda_mail_t;

/* Owner: cuda_box.c. Used by one thread at a time. */
typedef struct gpurt_cuda_clock {
    gpurt_cuda_mail_t *mail; /* pinned host memory */
    cudaStream_t stream;
    uint32_t next; /* number of the next trip; never one twice */
    gpurt_clock_fit_t last;
} gpurt_cuda_clock_t;

/* Context: host; the GPU is the thread's current one. Release accepts a zeroed clock, and
 * one whose context died. */
cudaError_t gpurt_cuda_clock_init(gpurt_cuda_clock_t *clock);
void gpurt_cuda_clock_fini(gpurt_cuda_clock_t *clock, bool alive);

/* Takes about 0.2 ms on an idle GPU, and gives up after 20 ms on one with no room for a
 * thread. Returns: whether clock->last is new. */
bool gpurt_cuda_clock_fit(gpurt_cuda_clock_t *clock);

#endif
