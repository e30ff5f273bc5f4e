/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber.h"

#include <gpurt/atomic.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"
#include "sanitizer.h"

/* Each guard page splits a mapping in three. Linux allows 65,530 mappings a process by default;
 * past this many guards stacks go without, and an overflow is found by the sanitizers only. */
enum {
    GUARDS_MAX = 24000
};

static uint32_t guards_used; /* written by: every worker that makes a chunk */

#if !defined(GPURT_FIBER_UCONTEXT)

void simt_place_switch(void **save, void *to);
void simt_place_begin(void);

/* The frame simt_place_switch expects to pop, with the entry function where
 * simt_place_begin looks for it. */
static bool place_make(simt_fiber_t *f, void (*entry)(void))
{
    uintptr_t *top = (uintptr_t *)(((uintptr_t)f->stack + f->stack_bytes) & ~(uintptr_t)15);

#    if defined(__x86_64__)
    *--top = 0; /* keeps the 16-byte alignment the ABI wants at a call */
    *--top = 0; /* end of the frame-pointer chain */
    *--top = (uintptr_t)simt_place_begin;
    *--top = 0;                                 /* rbp */
    *--top = 0;                                 /* rbx */
    *--top = (uintptr_t)entry;                  /* r12 */
    *--top = 0;                                 /* r13 */
    *--top = 0;                                 /* r14 */
    *--top = 0;                                 /* r15 */
    *--top = 0x1f80u | (uintptr_t)0x037f << 32; /* mxcsr and x87 word at process start */
#    else
    top -= 22;
    memset(top, 0, 22 * sizeof *top);
    top[0] = (uintptr_t)entry;             /* x19 */
    top[11] = (uintptr_t)simt_place_begin; /* x30 */
#    endif
    f->place = top;
    return true;
}

static void place_free(simt_fiber_t *f)
{
    f->place = NULL;
}

static void place_switch(simt_fiber_t *from, simt_fiber_t *to)
{
    simt_place_switch(&from->place, to->place);
}

#else
#    include <ucontext.h>

static bool place_make(simt_fiber_t *f, void (*entry)(void))
{
    ucontext_t *u = f->place ? (ucontext_t *)f->place : (ucontext_t *)calloc(1, sizeof *u);

    if (!u)
        return false;
    f->place = u;
    getcontext(u);
    u->uc_stack.ss_sp = f->stack;
    u->uc_stack.ss_size = f->stack_bytes;
    u->uc_link = NULL;
    makecontext(u, entry, 0);
    return true;
}

static void place_free(simt_fiber_t *f)
{
    free(f->place);
    f->place = NULL;
}

static void place_switch(simt_fiber_t *from, simt_fiber_t *to)
{
    swapcontext((ucontext_t *)from->place, (ucontext_t *)to->place);
}
#endif

void simt_fiber_adopt(simt_fiber_t *main)
{
    memset(main, 0, sizeof *main);
    main->tsan = simt_tsan_fiber_current();
#if defined(GPURT_FIBER_UCONTEXT)
    main->place = calloc(1, sizeof(ucontext_t));
#endif
}

void simt_fiber_remake(simt_fiber_t *fiber, void (*entry)(void))
{
    simt_asan_forget(fiber->stack, fiber->stack_bytes);
    if (fiber->spoiled) { /* the detector's call stack is in mid-call too */
        simt_tsan_fiber_destroy(fiber->tsan);
        fiber->tsan = simt_tsan_fiber_create();
    }
    fiber->fake = NULL;
    fiber->spoiled = false;
    place_make(fiber, entry);
}

static void chunk_guard(simt_fiber_chunk_t *c, size_t stride, size_t page)
{
    if (gpurt_add_relaxed_sys_u32(&guards_used, GPURT_WARP_SIZE) > GUARDS_MAX) {
        gpurt_sub_relaxed_sys_u32(&guards_used, GPURT_WARP_SIZE);
        return;
    }
    c->guards = GPURT_WARP_SIZE;
    for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++)
        if (mprotect(c->memory + i * stride, page, PROT_NONE) == 0)
            c->guarded |= 1u << i;
}

/* ---- stacks kept for the next runtime ---------------------------------------------------------- */
/* A program under gpurt-check opens and closes often, and most of an open is mapping stacks and
 * their guards. Not under the race detector: to it a used stack has a history. */
enum {
    KEPT_CHUNKS = 16
};

typedef struct kept_chunk {
    char *memory; /* NULL: free place */
    size_t bytes;
    uint32_t guards, guarded;
} kept_chunk_t;

static kept_chunk_t kept[KEPT_CHUNKS]; /* under kept_mutex */
static gpurt_lock_t kept_mutex = GPURT_LOCK_INIT;

static bool chunk_take_kept(simt_fiber_chunk_t *c)
{
    bool found = false;

    gpurt_lock_take(&kept_mutex);
    for (uint32_t i = 0; i < KEPT_CHUNKS && !found; i++)
        if (kept[i].memory && kept[i].bytes == c->memory_bytes) {
            c->memory = kept[i].memory;
            c->guards = kept[i].guards;
            c->guarded = kept[i].guarded;
            kept[i].memory = NULL;
            found = true;
        }
    gpurt_lock_give(&kept_mutex);
    return found;
}

static bool chunk_keep(const simt_fiber_chunk_t *c)
{
    bool found = false;

    if (simt_sanitizers.tsan)
        return false;
    gpurt_lock_take(&kept_mutex);
    for (uint32_t i = 0; i < KEPT_CHUNKS && !found; i++)
        if (!kept[i].memory) {
            kept[i] = (kept_chunk_t){c->memory, c->memory_bytes, c->guards, c->guarded};
            found = true;
        }
    gpurt_lock_give(&kept_mutex);
    return found;
}

void simt_fibers_forked(void)
{
    if (gpurt_lock_was_held(&kept_mutex))
        memset(kept, 0, sizeof kept);
    gpurt_lock_take(&kept_mutex); /* before there are threads: to the race detector, too */
    gpurt_lock_give(&kept_mutex);
}

static bool chunk_map(simt_fiber_chunk_t *c, size_t stride, size_t page)
{
    void *memory;

    c->memory_bytes = stride * GPURT_WARP_SIZE;
    if (chunk_take_kept(c))
        return true;
    memory = mmap(NULL, c->memory_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    c->memory = (char *)memory;
    chunk_guard(c, stride, page);
    return true;
}

static void chunk_unmap(simt_fiber_chunk_t *c)
{
    /* the next owner of these addresses must not find this one's marks */
    simt_asan_forget(c->memory, c->memory_bytes);
    if (chunk_keep(c))
        return;
    gpurt_sub_relaxed_sys_u32(&guards_used, c->guards);
    munmap(c->memory, c->memory_bytes);
}

/* ---- chunks -------------------------------------------------------------------------------------- */
simt_fiber_chunk_t *simt_fiber_chunk_create(size_t stack_bytes, void (*entry)(void))
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t stride = ((stack_bytes + page - 1) & ~(page - 1)) + page;
    simt_fiber_chunk_t *c = (simt_fiber_chunk_t *)calloc(1, sizeof *c);

    if (!c)
        return NULL;
    if (!chunk_map(c, stride, page)) {
        free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++) {
        simt_fiber_t *f = &c->fibers[i];

        f->stack = c->memory + i * stride + page;
        f->stack_bytes = stride - page;
        f->guarded = c->guarded >> i & 1u;
        f->tsan = simt_tsan_fiber_create();
        if (!place_make(f, entry)) {
            simt_fiber_chunk_destroy(c);
            return NULL;
        }
    }
    return c;
}

void simt_fiber_chunk_destroy(simt_fiber_chunk_t *chunk)
{
    if (!chunk)
        return;
    for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++) {
        simt_tsan_fiber_destroy(chunk->fibers[i].tsan);
        place_free(&chunk->fibers[i]);
    }
    chunk_unmap(chunk);
    free(chunk);
}

/* Everything between begin and end runs on `from`'s stack until the switch and on it again
 * after the way back. The worker's own stack bounds are learnt on the first way out of it. */
static void switch_watched(simt_fiber_t *from, simt_fiber_t *to, void **fake)
{
    simt_tsan_fiber_switch(to->tsan);
    simt_asan_switch_begin(fake, to->stack, to->stack_bytes);
    place_switch(from, to);
}

void simt_fiber_landed(simt_fiber_t *self, simt_fiber_t *main)
{
    const void *stack = NULL;
    size_t bytes = 0;

    if (!simt_sanitizers.asan)
        return;
    simt_asan_switch_end(self->fake, &stack, &bytes);
    if (main && !main->stack) {
        main->stack = (char *)(uintptr_t)stack;
        main->stack_bytes = bytes;
    }
}

void simt_fiber_switch(simt_fiber_t *from, simt_fiber_t *to)
{
    if (GPURT_LIKELY(!simt_sanitizers.any)) {
        place_switch(from, to);
        return;
    }
    switch_watched(from, to, &from->fake);
    simt_fiber_landed(from, NULL);
}

void simt_fiber_leave(simt_fiber_t *from, simt_fiber_t *to)
{
    from->spoiled = true;
    switch_watched(from, to, NULL);
    __builtin_unreachable();
}
