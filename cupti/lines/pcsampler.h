/* SPDX-License-Identifier: Apache-2.0 */
/* pcsampler.h - CUPTI's samples of one context's warps, in its continuous mode: the hardware looks
 * at a warp of each scheduler every so many cycles, while kernels run side by side as ever.
 *
 * It is armed as the context is created. Later it is armed in vain: nothing comes of a kernel
 * that runs by then, nor of the next ones (docs/CUPTI.md). It keeps no sums and tells nobody.
 * One thread at a time. */
#ifndef GPURT_CUPTI_PCSAMPLER_H
#define GPURT_CUPTI_PCSAMPLER_H

#include "pcsampling_api.h"

enum {
    PCSAMPLER_REASONS = 64, /* why a warp stands; an H200 has 19 */
    PCSAMPLER_REASON_TEXT = 48
};

/* Samples of a warp at an instruction, for one reason. */
typedef struct pcsample {
    uint64_t cubin; /* checksum, as cuptiGetCubinCrc has it */
    const char *function;
    uint64_t offset;
    const char *reason;
    uint32_t samples;
    uint32_t idle; /* of them: the warp's scheduler issued nothing */
} pcsample_t;

/* Texts are borrowed for the call alone. */
typedef void pcsampler_each_fn(void *context, const pcsample_t *sample);

/* Owner: the caller; zeroed at first, and after disarm. */
typedef struct pcsampler {
    const pcsampling_api_t *api;
    CUcontext context;
    CUpti_PCSamplingData
        *kept; /* CUPTI's from arm to disarm: what it has when it must flush */
    CUpti_PCSamplingData *out;
    size_t number_count; /* of CUPTI's reasons: each has a twin, of schedulers that idled */
    uint32_t *numbers;
    uint32_t reason_count;
    char reasons[PCSAMPLER_REASONS][PCSAMPLER_REASON_TEXT];
    struct {
        uint32_t number;
        uint8_t reason; /* index */
        bool idle;
    } ways[2 * PCSAMPLER_REASONS];
    uint64_t lost; /* samples, by the hardware; since arm */
    bool full;     /* the hardware's buffer was, at the last read */
} pcsampler_t;

/* Takes 70 to 100 ms. period: 2^period cycles from one look to the next. *what: the step that is
 * refused; then nothing is armed. */
CUptiResult pcsampler_arm(pcsampler_t *s, const pcsampling_api_t *api, CUcontext context,
                          uint32_t period, const char **what);

/* All that CUPTI has by now. Waits for no kernel (so CUPTI's header; an H200 took up to 0.3 s
 * after much work). Returns: CUPTI_ERROR_OUT_OF_MEMORY where no more will come before it is
 * disarmed and armed again. */
CUptiResult pcsampler_read(pcsampler_t *s, pcsampler_each_fn *each, void *context);

/* Waits for the kernel that runs, for as long as that takes, and holds up each launch of the
 * program meanwhile: for who knows that none does. What was on its way goes to `each`. */
CUptiResult pcsampler_disarm(pcsampler_t *s, pcsampler_each_fn *each, void *context);

/* Of a context that went without that: nothing is called, and what CUPTI may still hold stays
 * with it for ever. */
void pcsampler_abandon(pcsampler_t *s);

#endif
