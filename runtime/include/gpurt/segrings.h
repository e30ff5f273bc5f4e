/* SPDX-License-Identifier: Apache-2.0 */
/* segrings.h - the host's side of rings of segments: make one, close it, look at it, take it apart.
 *
 *     gpurt_segring_t notes;
 *     gpurt_segring_create(rt, &(gpurt_segring_options_t){.bytes = 1 << 16, .name = "notes"},
 *                          &notes, &err);
 *     struct args a = {.notes = notes, ...};    kernels: gpurt_segring_write(&p->notes, ...)
 *     ...
 *     gpurt_segring_end(rt, &notes, &err);      closes it: readers read what is left
 *     gpurt_segring_destroy(rt, &notes, &err);
 *
 * The description may be copied freely; what holds for copies of channels that were destroyed
 * holds here (channels.h). GPURT_CHANNELS of them at a time.
 * Context of all calls: host, any thread. */
#ifndef GPURT_SEGRINGS_H
#define GPURT_SEGRINGS_H

#include <gpurt/channels.h>
#include <gpurt/impl/segringmap.h>

typedef struct gpurt_segring_options {
    uint32_t struct_size; /* sizeof(gpurt_segring_options_t), or 0 */
    uint32_t bytes;  /* a power of two, GPURT_SEGRING_UNIT to _BYTES_MOST. A segment takes
                                16 bytes more than it holds, and whole units of 64 */
    uint32_t policy; /* gpurt_segring_policy_t; block */
    uint64_t patience_ns; /* until a reservation that nobody commits is given up; 0:
                                GPURT_SEGRING_PATIENCE; UINT64_MAX: never */
    const char *name;     /* what the log, gpurt-top and reports call it; copied. NULL: its
                                number */
} gpurt_segring_options_t;

/* While kernels are at work, its parts are of different moments. */
typedef struct gpurt_segring_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t policy, bytes;
    gpurt_segring_counts_t counts;
    uint64_t refused, cancelled, timed_out; /* lanes' calls that were told so */
    uint32_t writing, reading;              /* lanes that wait at this moment */
} gpurt_segring_status_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_segring_create(gpurt_t *rt, const gpurt_segring_options_t *options,
                                    gpurt_segring_t *out, gpurt_error_t *err);

/* Nothing can be reserved any more; readers read what is left, then GPURT_E_CHANNEL_CLOSED.
 * Returns: that, when it was closed before. Waits for no kernel of the program's. */
gpurt_status_t gpurt_segring_end(gpurt_t *rt, const gpurt_segring_t *ring,
                                 gpurt_error_t *err);

gpurt_status_t gpurt_segring_status(gpurt_t *rt, const gpurt_segring_t *ring,
                                    gpurt_segring_status_t *out, gpurt_error_t *err);

/* Segments that are left are gone. Context: no kernel uses it. NULL and a description of zeros:
 * nothing. When it is refused (GPURT_E_HANDLE: destroyed before, or another device's)
 * *ring stays as it was. */
gpurt_status_t gpurt_segring_destroy(gpurt_t *rt, gpurt_segring_t *ring,
                                     gpurt_error_t *err);

GPURT_END_DECLS

#endif
