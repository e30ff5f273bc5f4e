/* SPDX-License-Identifier: Apache-2.0 */
/* busy.h - what each device did with its time: kernels ran, only copies ran, or nothing,
 * and why.
 *
 * Records come late and not in order (a buffer comes back when it is full), so they wait
 * here for a while, sorted, before time is accounted up to a moment. The union of a
 * device's kernels is its busy time; a gap between them is taken apart:
 *
 *   copying     a copy or fill ran in it
 *   waiting     the host slept in a wait for this device as the gap began: the time until
 *               it woke up, less copies in it
 *   launching   the rest, where it is shorter than GAP_LAUNCH_NS: as fast as this host can
 *   idle        the rest of longer gaps: nobody asked for anything
 *
 * A kernel that runs is not known before it ends. Memory is fixed; one thread uses it. */
#ifndef GPURT_CUPTI_BUSY_H
#define GPURT_CUPTI_BUSY_H

#include <gpurt/activity.h>

enum {
    BUSY_DEVICES = 8,
    BUSY_EVENTS = 32768, /* a device's; when they are used up the older half is accounted */
    BUSY_COPIES = 64,
    BUSY_WAITS = 128,
    BUSY_CONTEXTS = 256, /* a power of two; of two with one place the later is known */
    BUSY_UNKNOWN = UINT32_MAX, /* of devices */
    BUSY_GAP_LAUNCH_NS = GPURT_ACTIVITY_LAUNCH_NS
};

typedef struct busy_span {
    uint64_t start, end;
} busy_span_t;

typedef struct busy_wait {
    busy_span_t span;
    uint32_t context;
} busy_wait_t;

typedef struct busy_context {
    uint32_t number, device; /* device: and one more; 0: not known */
} busy_context_t;

typedef struct busy_event {
    busy_span_t span;
    bool copy;
} busy_event_t;

typedef struct busy_device {
    busy_event_t events[BUSY_EVENTS]; /* by start */
    uint32_t count;
    busy_span_t copies[BUSY_COPIES]; /* that reach behind `until`; disjoint, by start */
    uint32_t copy_count;
    uint64_t told;   /* accounted and told before it; 0: nothing is known */
    uint64_t until;  /* accounted before it; a kernel's end, or further */
    uint64_t latest; /* end of anything known */
    uint64_t kernels, copying, waiting, launching, idle; /* since told */
} busy_device_t;

/* Owner: the collector; zeroed at first. */
typedef struct busy {
    busy_device_t devices[BUSY_DEVICES];
    busy_wait_t waits[BUSY_WAITS]; /* the last ones */
    uint32_t wait_count;           /* ever */
    busy_context_t contexts[BUSY_CONTEXTS];
} busy_t;

void busy_add(busy_t *b, uint32_t device, bool copy, uint64_t start, uint64_t end);
/* The host waits for a context, and so for its device, which may be known later than the wait. */
void busy_wait(busy_t *b, uint32_t context, uint64_t start, uint64_t end);

/* Something that ran shows of which device a context is. */
void busy_context(busy_t *b, uint32_t context, uint32_t device);

/* Returns: BUSY_UNKNOWN where nothing has shown it yet. While but one device has done anything
 * that is the one. */
uint32_t busy_device_of(const busy_t *b, uint32_t context);

/* Accounts up to a moment, or to the last end that is known: records that are late, or a
 * kernel that still runs, are not taken for idleness. Returns: whether there is anything to say; *start and *out are
 * the record then. */
bool busy_take(busy_t *b, uint32_t device, uint64_t until, uint64_t *start,
               gpurt_activity_busy_t *out);

#endif
