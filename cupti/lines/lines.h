/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - where kernels are while they run, by samples of their warps: function, source line and
 * why a warp stands there, a second at a time, as records of kind LINE. On request alone
 * ("lines").
 *
 * The first context of each GPU is sampled, from its creation to its end; CUPTI samples one at a
 * time. A thread of its own reads samples, adds them up (linecount.h) and writes them. Sampling
 * is never stopped while a kernel runs: that would hold up each launch until the kernel ends. What a GPU refuses is told in
 * one line, with the remedy; its kernels are recorded as ever. */
#ifndef GPURT_CUPTI_LINES_H
#define GPURT_CUPTI_LINES_H

#include "cupti_api.h"

#include <stdbool.h>

/* Asks CUPTI to tell of contexts and modules. counters: PM sampling is wanted, too, which takes
 * what this needs; then there are no lines. asked: by name: where they are refused, the collector's
 * state says so; else a warning does. Asked twice, the first counts. api: borrowed for ever. Context: once, behind all
 * kinds of records, before the program has a context. */
void lines_want(const cupti_api_t *api, CUpti_SubscriberHandle subscriber, bool counters,
                bool asked);

/* Behind all that is asked for: what is set, and does nothing without lines, is told. */
void lines_unasked(void);

/* About the subscriber's callback, of CUPTI_CB_DOMAIN_RESOURCE. Context: any thread of the
 * program, inside of its call. */
void lines_told(CUpti_CallbackId id, const CUpti_ResourceData *about);

/* In a child, which has no samples. */
void lines_forked(void);

/* What was sampled by now is in the box when this returns, or after half a second. Context: any
 * thread; the program closes its box. */
void lines_sync(void);

/* What was sampled is in the box. Leaves a thread that hangs behind. */
void lines_stop(void);

#endif
