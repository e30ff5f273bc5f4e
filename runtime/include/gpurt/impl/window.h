/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the memory that a panic shows: copies of what was named, around the address that
 * matters. Included by panic.h; not for users (context.h, GPURT_CHECK_INDEX).
 *
 * Context: device code, the leader of a panic. What was named must be memory that may be read:
 * it is read as it is, while others may write it. */
#ifndef GPURT_WINDOW_H
#define GPURT_WINDOW_H

#include <gpurt/impl/trail.h>

/* The race detector is right that others may write there. */
#if GPURT_ON_CUDA
#    define GPURT_WINDOW_READS
#else
#    define GPURT_WINDOW_READS __attribute__((no_sanitize("thread")))
#endif

/* Eight bytes at a time where both sides allow it. */
GPURT_WINDOW_READS GPURT_DEVN void gpurt_window_copy(uint8_t *to, const uint8_t *from,
                                                     uint32_t bytes)
{
    uint32_t i = 0;

    if ((uintptr_t)from % 8 == 0) {
        GPURT_ROLLED
        for (; i + 8 <= bytes; i += 8)
            *(uint64_t *)(void *)(to + i) = *(const uint64_t *)(const void *)(from + i);
    }
    GPURT_ROLLED
    for (; i < bytes; i++)
        to[i] = from[i];
}

/* From where on a part of [base, base + size) is copied: around mark, in steps of 16. */
GPURT_DEV uint64_t gpurt_window_start(uint64_t base, uint64_t size, uint64_t mark)
{
    uint64_t most = size > GPURT_PANIC_WINDOW ? size - GPURT_PANIC_WINDOW : 0, at = 0;

    if (mark > base + GPURT_PANIC_WINDOW / 2)
        at = (mark - base - GPURT_PANIC_WINDOW / 2) & ~15ull;
    return base + (at < most ? at : (most + 15) & ~15ull);
}

/* Adds a window to the slot. mark: 0 none. */
GPURT_DEVN void gpurt_window_tell(gpurt_panic_t *p, uint64_t base, uint64_t size,
                                  uint64_t mark)
{
    gpurt_panic_window_t *w;
    uint64_t start, left;

    if (p->window_count >= GPURT_PANIC_WINDOWS || base == 0 || size == 0)
        return;
    w = &p->windows[p->window_count];
    start = gpurt_window_start(base, size, mark);
    left = base + size - start;
    w->base = base;
    w->size = size;
    w->start = start;
    w->mark = mark;
    w->bytes = left < GPURT_PANIC_WINDOW ? (uint32_t)left : (uint32_t)GPURT_PANIC_WINDOW;
    gpurt_window_copy(w->data, (const uint8_t *)(uintptr_t)start, w->bytes);
    p->window_count++;
}

/* An operand that is an address in or near [base, base + size), 0 none. */
GPURT_DEVN uint64_t gpurt_window_mark(const gpurt_panic_t *p, uint64_t types, uint64_t base,
                                      uint64_t size)
{
    GPURT_ROLLED
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS && types; i++, types >>= 4)
        if ((types & 15u) == GPURT_TYPE_PTR &&
            p->args[i] - base + GPURT_PANIC_WINDOW < size + 2 * GPURT_PANIC_WINDOW)
            return p->args[i];
    return 0;
}

/* What the warp has named before, one by one. */
GPURT_DEVN void gpurt_window_tell_named(gpurt_panic_t *p, uint64_t types, uint32_t i)
{
    const gpurt_trail_t *t = gpurt_trail_notes();
    uint64_t base, size;

    if (!t || i >= gpurt_trail_load(&t->xwindows))
        return;
    base = gpurt_trail_load(&t->windows[i].xbase);
    size = gpurt_trail_load(&t->windows[i].xsize);
    gpurt_window_tell(p, base, size, gpurt_window_mark(p, types, base, size));
}

#endif
