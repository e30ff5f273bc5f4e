/* SPDX-License-Identifier: Apache-2.0 */
/* allocrow.h - records that a heap makes: their kinds, and what their words are.
 *
 * They are records like all others (record.h), so a reader who knows nothing of them prints
 * them by their formats. Written by kernels (alloctell.h) and by host code (heapwatch.c);
 * read by the model and by gpurt-replay. The layouts are frozen. */
#ifndef GPURT_ALLOCROW_H
#define GPURT_ALLOCROW_H

#include <gpurt/dialect.h>
#include <gpurt/record.h>

enum {
    GPURT_KIND_HEAP_WRONG = GPURT_KIND_ALLOCATOR, /* alloctell.h */
    GPURT_KIND_HEAP_ALLOC = 17,                   /* trace: heap, size, unit, alignment */
    GPURT_KIND_HEAP_FREE = 18                     /* trace: heap, unit */
};

/* Addresses in traces count units of 16 bytes from the heap's begin. */
#define GPURT_HEAP_NO_UNIT 0xffffffffu /* NULL */
#define GPURT_HEAP_ALIEN   0xfffffffeu /* freed, but not of this heap */

enum {
    GPURT_ALLOC_FOUND_WORDS = 13,
    GPURT_ALLOC_ALIEN_WORDS = 3,
    GPURT_ALLOC_TRACE_WORDS = 4,
    GPURT_ALLOC_FREE_WORDS = 2
};

/* Forms 1 to 6 are those of gpurt_heap_wrong_t. */
enum {
    GPURT_ALLOC_FORM_ALLOC = 7,
    GPURT_ALLOC_FORM_FREE = 8,
    GPURT_ALLOC_FORMS = 9
};

/* What is written of a form. */
typedef struct gpurt_alloc_form {
    const char *format;
    uint64_t types;
    uint16_t kind;
    uint8_t level, args;
} gpurt_alloc_form_t;

/* heap U32, object PTR, size U64, site STRING, block U32, thread U32, free site STRING, free
 * block U32, free thread U32, byte I64 */
#define GPURT_ALLOC_FOUND_TYPES_ 0x3229229472ull
#define GPURT_ALLOC_TRACE_TYPES_ 0x2222ull
#define GPURT_ALLOC_FREE_TYPES_  0x22ull
#define GPURT_ALLOC_FOUND_(text, end)                                                     \
    {                                                                                     \
        "heap %u: %p of %llu bytes " text                                                 \
        "; allocated at %s by block %u thread %u, freed at %s by block %u thread %u" end, \
            GPURT_ALLOC_FOUND_TYPES_, GPURT_KIND_HEAP_WRONG, GPURT_LEVEL_ERROR, 10        \
    }

GPURT_TABLE const gpurt_alloc_form_t gpurt_alloc_forms[GPURT_ALLOC_FORMS] = {
    {"", 0, 0, 0, 0},
    {"heap %u: %p is freed, which is none of its objects", 0x72ull, GPURT_KIND_HEAP_WRONG,
     GPURT_LEVEL_ERROR, 2},
    GPURT_ALLOC_FOUND_("is freed by a pointer into it", ", byte %lld"),
    GPURT_ALLOC_FOUND_("is freed again", ""),
    GPURT_ALLOC_FOUND_("was written past its end", ", byte %lld"),
    GPURT_ALLOC_FOUND_("was written before its begin", ", byte %lld"),
    GPURT_ALLOC_FOUND_("was written after it was freed", ", byte %lld"),
    {"heap %u: alloc %u bytes, unit %u, aligned to %u", GPURT_ALLOC_TRACE_TYPES_,
     GPURT_KIND_HEAP_ALLOC, GPURT_LEVEL_TRACE, 4},
    {"heap %u: free unit %u", GPURT_ALLOC_FREE_TYPES_, GPURT_KIND_HEAP_FREE,
     GPURT_LEVEL_TRACE, 2},
};

#endif
