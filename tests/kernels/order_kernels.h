/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of docs/MEMORY_ORDER.md, each alone: one block writes plain words and then does what is
 * said to release; the next block does what is said to acquire, and reads them. */
#ifndef GPURT_TESTS_ORDER_KERNELS_H
#define GPURT_TESTS_ORDER_KERNELS_H

#include <gpurt/impl/gcmap.h>
#include <gpurt/impl/reclaimmap.h>
#include <gpurt/kernel.h>

enum {
    ORDER_LEAVES = 128, /* of a set of two branches and a root */
    ORDER_NOTES = 32,   /* one a lane */
    ORDER_ROOM = 512,   /* words that a region is made of */
    ORDER_SECTION = 5,  /* a slot that lane 5 looks at */
    ORDER_RETIRES = 6,  /* more than a slot has room for */
    ORDER_ROUNDS = 16,  /* in which two try to meet */
    ORDER_BLOCKS = 3
};

/* What is tried. The blocks of a scene follow one another, but those of ORDER_AT_ONCE. */
enum {
    ORDER_SET,
    ORDER_BRANCH,
    ORDER_ROOT,
    ORDER_BRANCH_ROW,
    ORDER_ROOT_ROW,
    ORDER_NEWS,
    ORDER_GROWN,
    ORDER_KNOWN,
    ORDER_TICKET,
    ORDER_TICKET_WARP,
    ORDER_TICKET_LOOK,
    ORDER_REST,
    ORDER_STEAL,
    ORDER_REPLACE,
    ORDER_UNHINT,
    ORDER_HINT,
    ORDER_HINT_LOOK,
    ORDER_FREE,
    ORDER_WIPE,
    ORDER_UNTAKE,
    ORDER_FREE_ROW,
    ORDER_CLOSE_ROW,
    ORDER_SECTION_NEXT,
    ORDER_BORROW,
    ORDER_EPOCH,
    ORDER_HAZARD_SLOT,
    ORDER_HAZARD_CLEAR,
    ORDER_HAZARD_SET,
    ORDER_HAZARD_FIND,
    ORDER_RETIRE_EPOCH,
    ORDER_RETIRE_HAZARD,
    ORDER_REF_RECORD,
    ORDER_REF_LAST,
    ORDER_REF_UNDO,
    ORDER_NUMBERS,
    ORDER_GC_CONTROL,
    ORDER_GC_WAIT,
    ORDER_GC_OBJECT,
    ORDER_GC_CONDEMN,
    ORDER_GC_FREE,
    ORDER_GC_BEGIN,
    ORDER_GC_WORD,
    ORDER_GC_WORD_MARKING,
    ORDER_GC_WORD_NEXT,
    ORDER_GC_WORD_LOOK,
    ORDER_GC_ROOT,
    ORDER_GC_ROOT_BEGIN,
    ORDER_GC_DIRTY,
    ORDER_GC_SHADE,
    ORDER_GC_DONE,
    ORDER_ARENA_RELEASE,
    ORDER_ARENA_RESET,
    ORDER_ARENA_END,
    ORDER_ARENA_MARK,
    ORDER_REGION,
    ORDER_MAGAZINE,
    ORDER_FREE_WARP,
    ORDER_AT_ONCE,
    ORDER_DRY = ORDER_AT_ONCE,
    ORDER_HINT_CLASS,
    ORDER_HINT_SHARD,
    ORDER_HAZARD_LATE,
    ORDER_SCENES
};

struct order_args {
    gpurt_heap_t heap;       /* of one shard */
    gpurt_heap_t set;        /* the shape of a set, and nothing else */
    gpurt_epochs_t one, few; /* of one slot, and of eight */
    gpurt_hazards_t hazards; /* of one slot */
    gpurt_refs_t refs;
    gpurt_gc_t gc;
    uint64_t *notes; /* plain */
    uint64_t *cells; /* what blocks tell each other without order */
    uint64_t *room;  /* ORDER_ROOM words, plain */
    uint32_t *xcome; /* lanes that have done their part. Written by: all */
    uint32_t *xmet;  /* whether a scene at once came to its point. Written by: its blocks */
    uint32_t *xwrong;
    uint32_t scene;
};

#endif
