/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.h - the executor's word to the sanitizers that may be in the process.
 *
 * The executor itself is never instrumented. It refers to the sanitizers' interfaces weakly and
 * asks once which are there, so that one library serves plain, AddressSanitizer and
 * ThreadSanitizer programs.
 *
 * Race detector: every lane is a thread of its own to it, and a switch orders nothing; the edges
 * that CUDA promises (barriers, syncwarp, launch, end of a kernel) are declared with
 * simt_order_release and simt_order_acquire on the objects that carry them. */
#ifndef GPURT_SIMT_SANITIZER_H
#define GPURT_SIMT_SANITIZER_H

#include <gpurt/base.h>

typedef struct simt_sanitizers {
    bool any, tsan, asan;
} simt_sanitizers_t;

extern simt_sanitizers_t simt_sanitizers; /* written once by simt_sanitizers_find */

void simt_sanitizers_find(void);

void simt_tsan_release(void *word);
void simt_tsan_acquire(void *word);

static inline void simt_order_release(void *word)
{
    if (GPURT_UNLIKELY(simt_sanitizers.tsan))
        simt_tsan_release(word);
}
static inline void simt_order_acquire(void *word)
{
    if (GPURT_UNLIKELY(simt_sanitizers.tsan))
        simt_tsan_acquire(word);
}

/* A lane's stack is as clean as a new one. */
void simt_asan_forget(const void *memory, size_t bytes);

void *simt_tsan_fiber_create(void);
void *simt_tsan_fiber_current(void);
void simt_tsan_fiber_destroy(void *fiber);
void simt_tsan_fiber_switch(void *fiber);
void simt_asan_switch_begin(void **fake, const void *stack, size_t bytes);
void simt_asan_switch_end(void *fake, const void **from_stack, size_t *from_bytes);

#endif
