/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitizer.h"

extern void *__tsan_get_current_fiber(void) GPURT_WEAK;
extern void *__tsan_create_fiber(unsigned flags) GPURT_WEAK;
extern void __tsan_destroy_fiber(void *fiber) GPURT_WEAK;
extern void __tsan_switch_to_fiber(void *fiber, unsigned flags) GPURT_WEAK;
extern void __tsan_acquire(void *addr) GPURT_WEAK;
extern void __tsan_release(void *addr) GPURT_WEAK;
extern void __sanitizer_start_switch_fiber(void **fake, const void *stack,
                                           size_t bytes) GPURT_WEAK;
extern void __sanitizer_finish_switch_fiber(void *fake, const void **stack,
                                            size_t *bytes) GPURT_WEAK;
extern void __asan_unpoison_memory_region(void const volatile *addr,
                                          size_t size) GPURT_WEAK;

/* A flag of 0 would order the two fibers and hide every race between lanes. */
enum {
    TSAN_NO_ORDER = 1
};

simt_sanitizers_t simt_sanitizers;

void simt_sanitizers_find(void)
{
    simt_sanitizers.tsan = __tsan_switch_to_fiber != NULL;
    simt_sanitizers.asan = __asan_unpoison_memory_region != NULL;
    simt_sanitizers.any = simt_sanitizers.tsan || simt_sanitizers.asan;
}

void simt_tsan_release(void *word)
{
    __tsan_release(word);
}

void simt_tsan_acquire(void *word)
{
    __tsan_acquire(word);
}

void simt_asan_forget(const void *memory, size_t bytes)
{
    if (simt_sanitizers.asan)
        __asan_unpoison_memory_region(memory, bytes);
}

void *simt_tsan_fiber_create(void)
{
    return simt_sanitizers.tsan ? __tsan_create_fiber(0) : NULL;
}

void *simt_tsan_fiber_current(void)
{
    return simt_sanitizers.tsan ? __tsan_get_current_fiber() : NULL;
}

void simt_tsan_fiber_destroy(void *fiber)
{
    if (fiber)
        __tsan_destroy_fiber(fiber);
}

void simt_tsan_fiber_switch(void *fiber)
{
    if (simt_sanitizers.tsan)
        __tsan_switch_to_fiber(fiber, TSAN_NO_ORDER);
}

void simt_asan_switch_begin(void **fake, const void *stack, size_t bytes)
{
    if (simt_sanitizers.asan)
        __sanitizer_start_switch_fiber(fake, stack, bytes);
}

void simt_asan_switch_end(void *fake, const void **from_stack, size_t *from_bytes)
{
    if (simt_sanitizers.asan)
        __sanitizer_finish_switch_fiber(fake, from_stack, from_bytes);
}
