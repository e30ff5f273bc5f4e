/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the host's side of heaps: make one, look into it, take it apart.
 *
 *     gpurt_heap_t heap;
 *     gpurt_heap_create(rt, NULL, &heap, &err);       256 MiB
 *     struct args a = {.heap = heap, ...};            kernels: gpurt_heap_alloc(&p->heap,
 * 48)
 *     ...
 *     gpurt_heap_destroy(rt, &heap, &err);
 *
 * alloc.h is what kernels call. A heap is one piece of device memory; several can exist at
 * a time. The gpurt_heap_t is a description that may be copied freely; one whose heap was
 * destroyed is recognised. Objects live until they are freed or the heap is destroyed, over
 * any number of kernels.
 *
 * Of several devices that are open each has its own. A call here that names a heap of another
 * device says GPURT_E_HANDLE. Kernels are given heaps of the device that they run on: a free
 * of an object of another device's heap is counted as foreign (alloc.h), but nothing looks at
 * the heap of a request, whose tables would then be words of the other device.
 * Context of all calls: host, any thread. */
#ifndef GPURT_HEAP_H
#define GPURT_HEAP_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/alloc/allocwatch.h>

enum {
    GPURT_HEAPS = 64 /* at a time in a process */
};

typedef struct gpurt_heap_options {
    uint32_t struct_size; /* sizeof(gpurt_heap_options_t), or 0: lets the library grow it */
    uint32_t shards;      /* default one a multiprocessor, fewer in a small heap */
    uint32_t spread;      /* log2 of the shards that warps of one multiprocessor use; 0 */
    uint32_t run_chunks;  /* longest run, at most 64; default by size */
    uint64_t bytes;       /* of device memory, tables included, below 1 TiB; 256 MiB */
    bool make_default;    /* the heap of gpurt_alloc */
    bool trace;           /* every call of code that checks is a record of the log; heaps of
                             less than 64 GiB, reserve included */
    uint32_t checks;      /* GPURT_CHECKS_*; for code that checks (alloc.h) */
    uint64_t keep_bytes;  /* of freed objects, kept back at level full; default 1/16 */
    uint64_t
        reserve_bytes; /* of addresses: what it can grow to, in steps of 4 MiB; 0: not */
} gpurt_heap_options_t;

/* Of one size class. */
typedef struct gpurt_heap_class {
    uint32_t bytes;           /* of a slot */
    uint32_t chunks;          /* that the class holds */
    uint64_t live;            /* slots with the program */
    uint64_t reusable, fresh; /* slots that were freed, that were never handed out */
} gpurt_heap_class_t;

typedef struct gpurt_heap_stats {
    uint64_t bytes;      /* of all chunks: what objects can use */
    uint64_t live_bytes; /* of live slots and large objects, rounded up to their class */
    uint64_t live;       /* objects */
    uint64_t tables;     /* bytes of the heap's own tables */
    uint32_t chunks, free_chunks;
    uint32_t largest_row; /* of free chunks: the largest object that fits, in 64 KiB */
    uint32_t large;       /* objects above 32 KiB, */
    uint32_t large_chunks;
    gpurt_heap_class_t classes[GPURT_CLASS_COUNT];
    gpurt_heap_counts_t counts;
    /* Objects that were freed and are kept back (keep_bytes). live, live_bytes and classes count
     * them too, since nobody can have their slots; the log and gpurt-top leave them out. */
    uint64_t kept, kept_bytes;
} gpurt_heap_stats_t;

/* Something that a heap that checks has found. Places are "file:line", "" unknown. */
typedef struct gpurt_heap_fault {
    uint32_t what;   /* GPURT_WRONG_* */
    uint64_t object; /* its address, or the pointer that was freed */
    uint64_t size;   /* asked for; 0: nothing is known of an object there */
    int64_t at;      /* first byte of it that was written, or the one that was freed */
    char site[GPURT_WATCH_SITE_TEXT + 1];       /* who asked for it */
    char free_site[GPURT_WATCH_SITE_TEXT + 1];  /* who freed it */
    char found_site[GPURT_WATCH_SITE_TEXT + 1]; /* whose call found it */
    uint32_t block, thread, free_block, free_thread, found_block, found_thread;
} gpurt_heap_fault_t;

/* Objects that one place asked for and nobody freed. */
typedef struct gpurt_heap_leak {
    char site[GPURT_WATCH_SITE_TEXT +
              1];            /* "": of code that does not check, or a place not known */
    uint64_t objects, bytes; /* bytes: asked for; of code that does not check: of slots */
    uint64_t first;          /* address of one of them, who got it: */
    uint32_t block, thread;
} gpurt_heap_leak_t;

/* Returns: false to stop. */
typedef bool (*gpurt_heap_visit_fn)(void *context, void *object, size_t bytes);

GPURT_BEGIN_DECLS

/* options: NULL for defaults. */
gpurt_status_t gpurt_heap_create(gpurt_t *rt, const gpurt_heap_options_t *options,
                                 gpurt_heap_t *out, gpurt_error_t *err);

/* Puts memory behind so many more bytes of a heap with reserve_bytes, rounded up to 4 MiB.
 * Kernels may run: a request that begins after this finds it when nothing else is left.
 * Returns: GPURT_E_NOMEM when the reserve or the device has no more, GPURT_E_INVALID for a
 * heap without a reserve.
 * Context: not while gpurt_heap_trim works on it. */
gpurt_status_t gpurt_heap_grow(gpurt_t *rt, const gpurt_heap_t *heap, uint64_t bytes,
                               gpurt_error_t *err);

/* Ends all its objects. What stands on the heap (references, epochs, hazard pointers, a
 * collector, sources of arenas) is destroyed before it: behind it those can only be looked
 * into and destroyed, their other calls say GPURT_E_HANDLE. A call of another thread that
 * looks into the heap now goes on, and the last of them frees the memory. When it is refused
 * (GPURT_E_HANDLE: destroyed before, or another device's; GPURT_E_CLOSED: of no device that is
 * open; GPURT_E_TIMEOUT: a service that declared it, which the error names, does not come to
 * rest) *heap stays as it was. Context: no kernel uses it but such services, which rest
 * meanwhile. NULL and a description of zeros: nothing. */
gpurt_status_t gpurt_heap_destroy(gpurt_t *rt, gpurt_heap_t *heap, gpurt_error_t *err);

/* Which heap gpurt_alloc uses; NULL: none. Device code that is loaded later (a plugin) has
 * none until the next call. A kernel has read the description when it began, or reads it while it is
 * written. So this is refused while a service runs (GPURT_E_SERVICE), as is make_default; only the end
 * of the default heap takes it away. Context: no other kernel runs. */
gpurt_status_t gpurt_heap_set_default(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_error_t *err);

/* Reads the tables. While kernels allocate it is a snapshot whose parts may differ by what
 * they did meanwhile; it costs them nothing. */
gpurt_status_t gpurt_heap_stats(gpurt_t *rt, const gpurt_heap_t *heap,
                                gpurt_heap_stats_t *out, gpurt_error_t *err);

/* Calls visit for every live object, by rising address. Context: no kernel allocates. */
gpurt_status_t gpurt_heap_walk(gpurt_t *rt, const gpurt_heap_t *heap,
                               gpurt_heap_visit_fn visit, void *context,
                               gpurt_error_t *err);

/* Gives chunks that shards hold in reserve back to the pool. Context: no kernel allocates.
 * */
gpurt_status_t gpurt_heap_trim(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err);

/* Looks through all tables for what cannot be, and in a heap that checks at the guards of
 * every object: so damage to one that was never freed is found, too.
 * Returns: GPURT_E_FAULT and what it is, when a kernel has broken the heap.
 * Context: no kernel allocates. */
gpurt_status_t gpurt_heap_check(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err);

/* ---- what a heap that checks has seen ------------------------------------------------ */
/* Others have seen nothing: 0. Context: no kernel allocates. */

const char *gpurt_heap_wrong_text(uint32_t what); /* a few words */

/* The first ones, at most `room`. *count: how many were found in all; of more than
 * GPURT_WATCH_FAULTS only the number is known. */
gpurt_status_t gpurt_heap_faults(gpurt_t *rt, const gpurt_heap_t *heap,
                                 gpurt_heap_fault_t *out, uint32_t room, uint64_t *count,
                                 gpurt_error_t *err);

/* Live objects by who asked for them, most bytes first. *count: places in all. */
gpurt_status_t gpurt_heap_leaks(gpurt_t *rt, const gpurt_heap_t *heap,
                                gpurt_heap_leak_t *out, uint32_t room, uint32_t *count,
                                gpurt_error_t *err);

/* Both as text of several lines, or one JSON object, with damage that no call of a kernel has found
 * yet. Copies at most bytes - 1 characters.
 * GPURT_HEAP_LEAKS=FILE in the environment (- is standard error) appends it there when a heap
 * that checks is destroyed, or still there at gpurt_close; JSON when FILE ends in .json. */
gpurt_status_t gpurt_heap_report(gpurt_t *rt, const gpurt_heap_t *heap, bool json,
                                 char *text, size_t bytes, size_t *length,
                                 gpurt_error_t *err);

GPURT_END_DECLS

#endif
