/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.h - memory for kernels: allocate and free, from any lane, at any time.
 *
 *     struct node *n = (struct node *)gpurt_alloc(sizeof *n);
 *     if (!n) ...                      no memory left: an answer, never a wait
 *     gpurt_free(n);                   by any lane of any block, in this kernel or a later
 * one
 *
 * The host makes a heap first (heap.h). gpurt_alloc uses the one that it named the default;
 * gpurt_heap_alloc and so on take theirs: put the gpurt_heap_t into the kernel's arguments
 * and pass its address. A __global__ function of plain CUDA C++ takes it as `const
 * __grid_constant__ gpurt_heap_t heap`, as GPURT_KERNEL does: without this word each thread
 * copies the heap to its stack to have an address of it (176 bytes).
 *
 * Objects are aligned to 16 bytes, those of a power of two up to 32 KiB to their size as long
 * as the heap has slots of it: who relies on that asks with an
 * alignment. Memory is not initialised. 0 bytes count as 1.
 *
 * Lanes that call together share one atomic a size class. What a lane wrote before it freed
 * comes before what the next owner does. Freeing NULL does nothing; a pointer that cannot
 * be freed is counted (heap.h) and left alone: foreign, inside of an object, free already.
 * Free already is not seen once the memory has been handed out again, or has been given back
 * with all around it and taken up anew: docs/ALLOCATOR.md, "A pointer that is not one".
 * (A magazine's free does not look: magazine.h.) Where no heap was
 * made every request gets NULL. All of it is lock-free: no lane depends on another one that
 * does not get on.
 *
 * -DGPURT_HEAP_CHECKS=1 or 2 while compiling, and GPURT_HEAP_CHECKS=cheap or full in the
 * environment (or `checks` of the heap's options): overruns, double frees, leaks and writes
 * after a free are told with the line that asked for the memory (docs/HEAP_CHECKS.md).
 * Without it this code is what it would be if there were no checks. */
#ifndef GPURT_ALLOC_H
#define GPURT_ALLOC_H

#ifndef GPURT_HEAP_CHECKS
#    define GPURT_HEAP_CHECKS 0
#endif

#include <gpurt/impl/alloc/alloccore.h>
#if GPURT_HEAP_CHECKS
#    include <gpurt/impl/alloc/alloccheck.h>
#endif

/* ---- a heap's -------------------------------------------------------------------------- */
/* here: "file:line" (GPURT_HERE) of who asks, for a heap that checks. */

/* As gpurt_heap_alloc, with an alignment (a power of two up to 64 KiB), and the reason when
 * the answer is NULL (a gpurt_alloc_reason_t). */
GPURT_DEV void *gpurt_heap_alloc_at(const gpurt_heap_t *h, size_t size, size_t align,
                                    uint32_t *why, const char *here)
{
#if GPURT_HEAP_CHECKS
    if (h->watch)
        return gpurt_watch_alloc(h, size, align, why, here);
#else
    (void)here;
#endif
    return gpurt_core_alloc(h, size, align, why);
}
GPURT_DEV void *gpurt_heap_alloc_why(const gpurt_heap_t *h, size_t size, size_t align,
                                     uint32_t *why)
{
    return gpurt_heap_alloc_at(h, size, align, why, NULL);
}
GPURT_DEV void *gpurt_heap_alloc_aligned_at(const gpurt_heap_t *h, size_t size,
                                            size_t align, const char *here)
{
    uint32_t why;

    return gpurt_heap_alloc_at(h, size, align, &why, here);
}
GPURT_DEV void *gpurt_heap_alloc_aligned(const gpurt_heap_t *h, size_t size, size_t align)
{
    return gpurt_heap_alloc_aligned_at(h, size, align, NULL);
}

/* Returns: memory of at least `size` bytes, or NULL. Context: any lanes. */
GPURT_DEV void *gpurt_heap_alloc(const gpurt_heap_t *h, size_t size)
{
    return gpurt_heap_alloc_aligned_at(h, size, 16, NULL);
}

/* n objects of one size for a warp, into out[0 .. n), with one atomic for up to 1,024 of
 * them. Returns: how many there were; less than n when nothing is left. None when there is no
 * heap, nor of a size above 32 KiB (counted as GPURT_ALLOC_TOO_LARGE): larger objects are
 * asked for one by one. Context: all 32 lanes of a warp, with the same arguments. */
GPURT_DEV uint32_t gpurt_heap_alloc_warp_at(const gpurt_heap_t *h, uint32_t n, size_t size,
                                            void **out, const char *here)
{
#if GPURT_HEAP_CHECKS
    if (h->watch)
        return gpurt_watch_alloc_warp(h, n, size, out, here);
#else
    (void)here;
#endif
    return gpurt_core_alloc_warp(h, n, size, out);
}
GPURT_DEV uint32_t gpurt_heap_alloc_warp(const gpurt_heap_t *h, uint32_t n, size_t size,
                                         void **out)
{
    return gpurt_heap_alloc_warp_at(h, n, size, out, NULL);
}

/* Context: any lanes. */
GPURT_DEV void gpurt_heap_free_at(const gpurt_heap_t *h, void *object, const char *here)
{
#if GPURT_HEAP_CHECKS
    if (h->watch) {
        gpurt_watch_free(h, object, here);
        return;
    }
#else
    (void)here;
#endif
    gpurt_core_free(h, object);
}
GPURT_DEV void gpurt_heap_free(const gpurt_heap_t *h, void *object)
{
    gpurt_heap_free_at(h, object, NULL);
}

/* The line that asks: last parameter of a function out of line, argument, value. Code that does
 * not check has no such parameter, and calls that function under its own name: what nvcc makes
 * of it depends on both. In code that checks a macro of the same name fills it in. */
#if GPURT_HEAP_CHECKS
#    define GPURT_ASKED_BY , const char *here
#    define GPURT_ASKS     , here
#    define GPURT_ASKER    here
#else
#    define GPURT_ASKED_BY
#    define GPURT_ASKS
#    define GPURT_ASKER NULL
#endif

/* ---- the default heap ---------------------------------------------------------------- */
/* A unit of CUDA code, and its copy of the default heap. Owner: the unit. */
typedef struct gpurt_heap_unit {
    const void *symbol;
    struct gpurt_heap_unit *next; /* written by: the list it is in */
} gpurt_heap_unit_t;

GPURT_BEGIN_DECLS
/* While a program or a plugin is loaded and unloaded (heapunit.c). Weak: what is linked
 * without gpurt has no heap. */
void gpurt_heap_unit_add(gpurt_heap_unit_t *unit) GPURT_WEAK;
void gpurt_heap_unit_remove(gpurt_heap_unit_t *unit) GPURT_WEAK;
#if !GPURT_ON_CUDA
extern gpurt_heap_t gpurt_heap_defaults[GPURT_MAX_DEVICES]; /* heapunit.c */
#    define gpurt_heap_default gpurt_heap_defaults[gpurt_device_copy()]
#endif
GPURT_END_DECLS

#if GPURT_ON_CUDA
static __constant__ gpurt_heap_t gpurt_heap_default;
static gpurt_heap_unit_t gpurt_heap_unit;

static __attribute__((constructor)) void gpurt_heap_unit_enter(void)
{
    gpurt_heap_unit.symbol = &gpurt_heap_default;
    if (gpurt_heap_unit_add)
        gpurt_heap_unit_add(&gpurt_heap_unit);
}
static __attribute__((destructor)) void gpurt_heap_unit_leave(void)
{
    if (gpurt_heap_unit_remove)
        gpurt_heap_unit_remove(&gpurt_heap_unit);
}
#endif

/* A function of its own: a kernel that asks in many places has its code once. */
GPURT_DEVN void *gpurt_alloc_at(size_t size, size_t align, const char *here)
{
    return gpurt_heap_alloc_aligned_at(&gpurt_heap_default, size, align, here);
}
GPURT_DEV void *gpurt_alloc(size_t size)
{
    return gpurt_alloc_at(size, 16, NULL);
}
GPURT_DEV uint32_t gpurt_alloc_warp(uint32_t n, size_t size, void **out)
{
    return gpurt_heap_alloc_warp(&gpurt_heap_default, n, size, out);
}
GPURT_DEV void *gpurt_alloc_aligned(size_t size, size_t align)
{
    return gpurt_alloc_at(size, align, NULL);
}
GPURT_DEV void gpurt_free(void *object)
{
    gpurt_heap_free(&gpurt_heap_default, object);
}

/* n objects by a warp, whose lanes share them out; those of a chunk that meet cost one
 * atomic together. NULLs among them are nothing. Context: all 32 lanes, same arguments. */
GPURT_DEVN void gpurt_heap_free_warp_at(const gpurt_heap_t *h, uint32_t n,
                                        void *const *objects, const char *here)
{
    for (uint32_t i = gpurt_lane(); i < n; i += GPURT_WARP_SIZE)
        gpurt_heap_free_at(h, objects[i], here);
    gpurt_syncwarp(GPURT_FULL_MASK);
}
GPURT_DEV void gpurt_heap_free_warp(const gpurt_heap_t *h, uint32_t n, void *const *objects)
{
    gpurt_heap_free_warp_at(h, n, objects, NULL);
}
GPURT_DEV void gpurt_free_warp(uint32_t n, void *const *objects)
{
    gpurt_heap_free_warp(&gpurt_heap_default, n, objects);
}

/* ---- with the line that calls ---------------------------------------------------------- */
/* In code that checks, the words above record their own line. Code that allocates for its
 * callers (a container, say) takes `here` from them and calls the words with _at. */
#define GPURT_ALLOC(size)  gpurt_alloc_at(size, 16, GPURT_HERE)
#define GPURT_FREE(object) gpurt_heap_free_at(&gpurt_heap_default, object, GPURT_HERE)

#if GPURT_HEAP_CHECKS
#    define gpurt_heap_alloc_why(h, size, align, why) \
        gpurt_heap_alloc_at(h, size, align, why, GPURT_HERE)
#    define gpurt_heap_alloc_aligned(h, size, align) \
        gpurt_heap_alloc_aligned_at(h, size, align, GPURT_HERE)
#    define gpurt_heap_alloc(h, size) gpurt_heap_alloc_aligned_at(h, size, 16, GPURT_HERE)
#    define gpurt_heap_alloc_warp(h, n, size, out) \
        gpurt_heap_alloc_warp_at(h, n, size, out, GPURT_HERE)
#    define gpurt_heap_free(h, object) gpurt_heap_free_at(h, object, GPURT_HERE)
#    define gpurt_heap_free_warp(h, n, objects) \
        gpurt_heap_free_warp_at(h, n, objects, GPURT_HERE)
#    define gpurt_free_warp(n, objects) \
        gpurt_heap_free_warp_at(&gpurt_heap_default, n, objects, GPURT_HERE)
#    define gpurt_alloc(size)  GPURT_ALLOC(size)
#    define gpurt_free(object) GPURT_FREE(object)
#    define gpurt_alloc_warp(n, size, out) \
        gpurt_heap_alloc_warp_at(&gpurt_heap_default, n, size, out, GPURT_HERE)
#    define gpurt_alloc_aligned(size, align) gpurt_alloc_at(size, align, GPURT_HERE)
#endif

#endif
