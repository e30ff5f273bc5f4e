/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h - what tests of memory have in common: the runtime, calls that must not fail, launches
 * that are waited for. A stage has args and a launch, and in a header of its own what must be
 * true of them. */
#ifndef GPURT_TESTS_STAGE_H
#define GPURT_TESTS_STAGE_H

#include "check.h"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>

static gpurt_t *rt;

static inline void ok_at(const char *where, gpurt_status_t st, const gpurt_error_t *err)
{
    static char report[16 * 1024];

    if (st == GPURT_OK)
        return;
    if (rt && gpurt_report(rt, report, sizeof report))
        fprintf(stderr, "%s\n", report);
    check_end(CHECK_FAILED, where, "%s: %s", gpurt_status_name(st), err->text);
}
#define OK(call)                      \
    do {                              \
        gpurt_error_t err = {0};      \
        gpurt_status_t st_ = call;    \
        ok_at(CHECK_HERE, st_, &err); \
    } while (0)

#define RUN_AS(s, shape, kernel)                                     \
    do {                                                             \
        OK(gpurt_launch(rt, &(s)->shape, kernel, &(s)->args, &err)); \
        OK(gpurt_stream_sync(rt, (s)->shape.stream, &err));          \
    } while (0)
#define RUN(s, kernel) RUN_AS(s, launch, kernel)

static inline void *stage_zeros(size_t bytes)
{
    void *memory = NULL;

    OK(gpurt_mem_create(rt, bytes, &memory, &err));
    OK(gpurt_fill(rt, 0, memory, 0, bytes, &err));
    return memory;
}

/* A heap that checks has found nothing wrong. */
static inline void stage_silent(const gpurt_heap_t *heap)
{
    gpurt_heap_fault_t f = {0};
    uint64_t count = 0;

    OK(gpurt_heap_faults(rt, heap, &f, 1, &count, &err));
    CHECK_MSG(
        count == 0, "%llu faults; 0x%llx of %llu bytes %s: byte %lld; asked for at %s",
        (unsigned long long)count, (unsigned long long)f.object, (unsigned long long)f.size,
        gpurt_heap_wrong_text(f.what), (long long)f.at, f.site);
}

static inline void stage_read(void *to, const void *from, size_t bytes)
{
    OK(gpurt_copy(rt, 0, to, from, bytes, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
}

#endif
