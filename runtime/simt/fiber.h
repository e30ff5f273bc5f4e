/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - a stack and a saved place in it: what a lane runs on.
 *
 * A fiber belongs to one worker thread for ever; it is made, switched to and freed there only.
 * The switch saves what the calling convention says a callee keeps, and the floating-point
 * control words. On other CPUs than x86-64 and aarch64 (or with GPURT_FIBER_UCONTEXT) the C
 * library's contexts do the same, ten times slower. */
#ifndef GPURT_SIMT_FIBER_H
#define GPURT_SIMT_FIBER_H

#include <gpurt/base.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(GPURT_FIBER_UCONTEXT)
#    define GPURT_FIBER_UCONTEXT 1
#endif

/* Owner: its worker. Shared with: nobody. */
typedef struct simt_fiber {
    void *place; /* saved stack pointer, or a ucontext_t when ucontext is used */
    char *stack; /* lowest usable byte; NULL for the worker's own stack */
    size_t stack_bytes;
    bool guarded;            /* the page below the stack faults */
    bool spoiled;            /* left in mid-call: must be made anew before it runs again */
    void *tsan, *fake;       /* race detector's fiber, address sanitizer's fake stack */
    struct simt_fiber *next; /* in the worker's list of idle fibers */
} simt_fiber_t;

/* Stacks come in chunks of one warp, so that a warp's stacks lie together.
 * Owner: the worker that made it. */
typedef struct simt_fiber_chunk {
    struct simt_fiber_chunk *next;
    char *memory;
    size_t memory_bytes;
    uint32_t guards;  /* counted against the limit */
    uint32_t guarded; /* bit per fiber */
    simt_fiber_t fibers[GPURT_WARP_SIZE];
} simt_fiber_chunk_t;

/* Prepares the thread's own stack as a fiber to come back to. Context: worker start. */
void simt_fiber_adopt(simt_fiber_t *main);

/* 32 fibers that will call entry(), which must not return. Returns: NULL without memory. */
simt_fiber_chunk_t *simt_fiber_chunk_create(size_t stack_bytes, void (*entry)(void));
void simt_fiber_chunk_destroy(simt_fiber_chunk_t *chunk);

/* Makes a spoiled fiber as new. Context: the worker's main fiber. */
void simt_fiber_remake(simt_fiber_t *fiber, void (*entry)(void));

/* Leaves `from`, which continues here when somebody switches back to it.
 * Order: none; lanes are ordered by what they execute, never by the switch. */
void simt_fiber_switch(simt_fiber_t *from, simt_fiber_t *to);

/* Leaves a fiber that never continues (exit, fault). */
void simt_fiber_leave(simt_fiber_t *from, simt_fiber_t *to) GPURT_NORETURN;

/* The first thing a new fiber does. main: the fiber that made this one run first. */
void simt_fiber_landed(simt_fiber_t *self, simt_fiber_t *main);

/* In a forked child: no stack is kept that was changing hands. */
void simt_fibers_forked(void);

#endif
