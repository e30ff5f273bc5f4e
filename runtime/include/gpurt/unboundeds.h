/* SPDX-License-Identifier: Apache-2.0 */
/* unboundeds.h - the host's side of unbounded channels: make one, close it, look at it, take it apart.
 *
 *     GPURT_UNBOUNDED(jobs, struct job);              (unbounded.h)
 *     jobs_t jobs;
 *     gpurt_make_unbounded(rt, &jobs, &heap, NULL, &err);    the size is the type's
 *     struct args a = {.jobs = jobs, ...};            kernels: gpurt_post(&p->jobs, &job)
 *     ...
 *     gpurt_unbounded_end(rt, &jobs.unbounded, &err);     closes it: receivers get what is left
 *     gpurt_unbounded_destroy(rt, &jobs.unbounded, &err); before the heap's end
 *
 * The description may be copied freely; what holds for copies of channels that were destroyed
 * holds here (channels.h). GPURT_CHANNELS of them at a time.
 * Context of all calls: host, any thread. */
#ifndef GPURT_UNBOUNDEDS_H
#define GPURT_UNBOUNDEDS_H

#include <gpurt/channels.h>
#include <gpurt/heap.h>
#include <gpurt/impl/unboundedmap.h>

typedef struct gpurt_unbounded_options {
    uint32_t struct_size; /* sizeof(gpurt_unbounded_options_t), or 0 */
    uint32_t bytes;       /* of a message, GPURT_UNBOUNDED_BYTES_MOST at most */
    uint32_t policy;      /* gpurt_channel_policy_t, not _DROP_OLDEST; block */
    uint32_t segments; /* at a time: a power of two, GPURT_UNBOUNDED_ROWS_MOST at most; 0:
                               GPURT_UNBOUNDED_ROWS. Each has room for 64 messages */
    const gpurt_heap_t *heap; /* of the same device; it outlives the channel */
    const char *name; /* what the log, gpurt-top and reports call it; copied. NULL: its
                                 number */
} gpurt_unbounded_options_t;

/* While kernels are at work, its parts are of different moments. */
typedef struct gpurt_unbounded_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t policy, bytes, segments_most;
    gpurt_unbounded_counts_t counts;
    uint64_t refused;              /* messages that found it full or closed */
    uint64_t cancelled, timed_out; /* lanes' waits that ended so */
    uint32_t sending, receiving;   /* lanes that wait at this moment */
} gpurt_unbounded_status_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_unbounded_create(gpurt_t *rt, const gpurt_unbounded_options_t *options,
                                      gpurt_unbounded_t *out, gpurt_error_t *err);

/* Nothing can be sent any more; receivers get what is left, then GPURT_E_CHANNEL_CLOSED.
 * Returns: that, when it was closed before. Waits for no kernel of the program's. */
gpurt_status_t gpurt_unbounded_end(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                   gpurt_error_t *err);

gpurt_status_t gpurt_unbounded_status(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                      gpurt_unbounded_status_t *out, gpurt_error_t *err);

/* Messages that are left are gone, and their memory goes back to the heap. Context: no kernel
 * uses it. NULL and a description of zeros: nothing. When it is refused (GPURT_E_HANDLE:
 * destroyed before, or another device's) *channel stays as it was. */
gpurt_status_t gpurt_unbounded_destroy(gpurt_t *rt, gpurt_unbounded_t *channel,
                                       gpurt_error_t *err);

/* What gpurt_make_unbounded calls; name: of a channel whose options have none. */
gpurt_status_t gpurt_unbounded_create_of(gpurt_t *rt, gpurt_unbounded_t *out,
                                         uint32_t bytes, const gpurt_heap_t *heap,
                                         const char *name,
                                         const gpurt_unbounded_options_t *options,
                                         gpurt_error_t *err);

GPURT_END_DECLS

/* A typed channel. Last come options, NULL or its policy, segments and name, and err: variadic, so that
 * options may be a literal with commas. */
#define gpurt_make_unbounded(rt, c, heap, ...)                                           \
    gpurt_unbounded_create_of(rt, &(c)->unbounded, (uint32_t)sizeof *(c)->message, heap, \
                              #c, __VA_ARGS__)

#endif
