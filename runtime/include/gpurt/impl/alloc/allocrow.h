/* SPDX-License-Identifier: Apache-2.0 */
/* allocrow.h - records that kernels make of a heap: forms, and what their words are
 * (heaprow.h tells the kinds). For alloctell.h only. */
#ifndef GPURT_ALLOCROW_H
#define GPURT_ALLOCROW_H

#include <gpurt/impl/dialect.h>
#include <gpurt/impl/heaprow.h>

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
        "heap %u: %p of %llu B " text                                                     \
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
