/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - kinds of records, one table: number, family, and the word that lines, filters and exports
 * show. A new kind is a line here. Who wants to know what a kind is asks the table.
 *
 * Numbers are frozen. A reader that does not know a kind prints it by its site's format. */
#ifndef GPURT_KINDS_H
#define GPURT_KINDS_H

#include <gpurt/base.h>

/* What kinds of one family have in common. */
typedef enum gpurt_family {
    GPURT_FAMILY_MESSAGE,  /* what code says, as a line of the log */
    GPURT_FAMILY_LOSS,     /* a line: messages are missing */
    GPURT_FAMILY_PANIC,    /* a line: a failure of device code */
    GPURT_FAMILY_LIFE,     /* a line: a process begins or has ended */
    GPURT_FAMILY_OBJECT,   /* no line, as all below: how an object fares (objectclass.h), */
    GPURT_FAMILY_TRACE,    /* ... a call of a heap that is traced (heaprow.h), */
    GPURT_FAMILY_ACTIVITY, /* ... what a device did, by host code (activity.h) */
    GPURT_FAMILY_TASK,     /* ... a body of a task that ran (taskrow.h) */
    GPURT_FAMILIES
} gpurt_family_t;

/* X(name, number, family, word) */
#define GPURT_KIND_LIST(X)                                                                 \
    X(NONE, 0, MESSAGE, "log")                                                             \
    X(LOG, 1, MESSAGE, "log")                                                              \
    X(TEXT, 2, MESSAGE, "log")  /* word 4: byte count, then the bytes, four a word */      \
    X(LAP, 3, MESSAGE, "log")   /* gpurt_lap_t, in rings: not a message */                 \
    X(LOSS, 4, LOSS, "loss")    /* by the drainer: word 4 reason, 5-6 count, 7 ring */     \
    X(PANIC, 5, PANIC, "panic") /* by the drainer out of a panic slot */                   \
    X(FAULT, 6, PANIC, "panic") /* made out of a GPU core dump; never in a ring */         \
    X(OBJECT, 7, OBJECT, "object")                                                         \
    X(HANG, 12, PANIC, "panic") /* by a watchdog out of the state pages (state.h) */       \
    X(LIFE, 13, LIFE, "life")   /* by a recorder */                                        \
    X(HEAP_WRONG, 16, MESSAGE, "log")                                                      \
    X(HEAP_ALLOC, 17, TRACE, "log")  /* heap, size, unit, alignment; a column each */      \
    X(HEAP_FREE, 18, TRACE, "log")   /* heap, unit */                                      \
    X(HEAP_LEAK, 23, MESSAGE, "log") /* when a heap ends: who still holds memory of it, */ \
    X(HEAP_DAMAGE, 24, MESSAGE,                                                            \
      "log") /* ... and what of it was overwritten, which no call has found */             \
    X(TASK, 32, TASK, "task")                                                              \
    X(KERNEL, 64, ACTIVITY, "kernel")                                                      \
    X(COPY, 65, ACTIVITY, "copy")                                                          \
    X(FILL, 66, ACTIVITY, "fill")                                                          \
    X(WAIT, 67, ACTIVITY, "wait") /* the host waited for the GPU */                        \
    X(MEMORY, 68, ACTIVITY, "memory")                                                      \
    X(GRAPH, 69, ACTIVITY, "graph")                                                        \
    X(RANGE, 70, ACTIVITY, "range") /* NVTX */                                             \
    X(OVERHEAD, 71, ACTIVITY, "overhead")                                                  \
    X(CALL, 72, ACTIVITY, "call")           /* of the CUDA API */                          \
    X(COLLECTOR, 73, ACTIVITY, "collector") /* how the collector itself fares */           \
    X(BUSY, 74, ACTIVITY, "busy")     /* of older logs: what a device did with its time */ \
    X(NODE, 75, ACTIVITY, "kernel")   /* a kernel that is a node of a graph */             \
    X(SAMPLE, 76, ACTIVITY, "sample") /* counters of a device, while kernels run */        \
    X(DEVICE_NODE, 77, ACTIVITY,                                                           \
      "kernel")                   /* as NODE, of a graph that device code launched */      \
    X(POOL, 78, ACTIVITY, "pool") /* of memory: made, destroyed, trimmed */                \
    X(MANAGED, 79, ACTIVITY, "managed") /* unified memory moved, or was elsewhere */       \
    X(DRIVER_LAUNCH, 80, ACTIVITY,                                                         \
      "launch")                       /* a plain program's, as the driver gets it */       \
    X(DEVICE, 81, ACTIVITY, "device") /* what one can hold */                              \
    X(DEVICE_GRAPH, 82, ACTIVITY,                                                          \
      "graph")                    /* as GRAPH, of one that device code launched */         \
    X(LINE, 83, ACTIVITY, "line") /* where kernels were, by samples of their warps */      \
    X(RUNNING, 84, ACTIVITY, "running") /* launched, and not ended as far as is known */   \
    X(COUNTED, 85, ACTIVITY, "counted") /* launches of a kernel, as they were made */      \
    X(WINDOW, 86, ACTIVITY, "window")   /* kernels have records for a while, or none */    \
    X(LAUNCH, 96, ACTIVITY, "launch")                                                      \
    X(ENVIRONMENT, 97, ACTIVITY, "environment")

/* Kinds that have no line above, by the range they are in: X(name, first, last, family, word) */
#define GPURT_KIND_RANGES(X)             \
    X(ALLOCATOR, 16, 31, MESSAGE, "log") \
    X(SCHEDULER, 32, 47, MESSAGE, "log") \
    X(CHANNEL, 48, 63, MESSAGE, "log")   \
    X(CUPTI, 64, 95, ACTIVITY, "other")  \
    X(HOST, 96, 127, ACTIVITY, "other")  \
    X(USER, 128, 255, MESSAGE, "log")

enum {
#define GPURT_KIND_(name, number, ...) GPURT_KIND_##name = (number),
    GPURT_KIND_LIST(GPURT_KIND_)
    GPURT_KIND_RANGES(GPURT_KIND_)
#undef GPURT_KIND_
        GPURT_KINDS = 256
};

/* Also of a kind that a later version has made. */
static inline gpurt_family_t gpurt_kind_family(uint32_t kind)
{
#define GPURT_KIND_(name, number, family, word) \
    if (kind == (number))                       \
        return GPURT_FAMILY_##family;
#define GPURT_RANGE_(name, first, last, family, word) \
    if (kind >= (first) && kind <= (last))            \
        return GPURT_FAMILY_##family;
    GPURT_KIND_LIST(GPURT_KIND_)
    GPURT_KIND_RANGES(GPURT_RANGE_)
#undef GPURT_RANGE_
#undef GPURT_KIND_
    return GPURT_FAMILY_MESSAGE;
}

/* "kernel"; of several kinds one word, where people need not tell them apart. */
static inline const char *gpurt_kind_word(uint32_t kind)
{
#define GPURT_KIND_(name, number, family, word) \
    if (kind == (number))                       \
        return (word);
#define GPURT_RANGE_(name, first, last, family, word) \
    if (kind >= (first) && kind <= (last))            \
        return (word);
    GPURT_KIND_LIST(GPURT_KIND_)
    GPURT_KIND_RANGES(GPURT_RANGE_)
#undef GPURT_RANGE_
#undef GPURT_KIND_
    return "log";
}

/* Asked of every row, so it is two comparisons, which agree with the table: */
static inline bool gpurt_kind_is_activity(uint32_t kind)
{
    return kind >= GPURT_KIND_CUPTI && kind < GPURT_KIND_USER;
}
#define GPURT_KIND_(name, number, family, word)                                           \
    GPURT_STATIC_ASSERT((GPURT_FAMILY_##family == GPURT_FAMILY_ACTIVITY) ==               \
                            ((number) >= GPURT_KIND_CUPTI && (number) < GPURT_KIND_USER), \
                        #name);
#define GPURT_RANGE_(name, first, last, family, word) \
    GPURT_KIND_(name, first, family, word) GPURT_KIND_(name, last, family, word)
GPURT_KIND_LIST(GPURT_KIND_)
GPURT_KIND_RANGES(GPURT_RANGE_)
#undef GPURT_RANGE_
#undef GPURT_KIND_

/* Whether it is a line of the log. Others are too many, or of no moment. */
static inline bool gpurt_kind_is_line(uint32_t kind)
{
    return gpurt_kind_family(kind) <= GPURT_FAMILY_LIFE;
}

#endif
