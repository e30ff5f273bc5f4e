/* SPDX-License-Identifier: Apache-2.0 */
/* broadcasts.h - the host's side of broadcasts: make one, close it, look at it, take it apart.
 *
 *     GPURT_BROADCAST(prices, struct price, 256);     (broadcast.h)
 *     prices_t prices;
 *     gpurt_make_broadcast(rt, &prices, NULL, &err);  capacity and size are the type's
 *     struct args a = {.prices = prices, ...};        kernels: gpurt_publish(&p->prices, &price)
 *     ...
 *     gpurt_broadcast_end(rt, &prices.broadcast, &err);    closes it: readers read what is left
 *     gpurt_broadcast_destroy(rt, &prices.broadcast, &err);
 *
 * The description may be copied freely; what holds for copies of channels that were destroyed
 * holds here (channels.h). Both count as channels: GPURT_CHANNELS of each kind at a time.
 * Context of all calls: host, any thread. */
#ifndef GPURT_BROADCASTS_H
#define GPURT_BROADCASTS_H

#include <gpurt/channels.h>
#include <gpurt/impl/broadcastmap.h>

typedef struct gpurt_broadcast_options {
    uint32_t struct_size; /* sizeof(gpurt_broadcast_options_t), or 0 */
    uint32_t capacity; /* messages: a power of two, GPURT_CHANNEL_CAPACITY_MOST at most */
    uint32_t bytes;    /* of a message, GPURT_BROADCAST_BYTES_MOST at most */
    uint32_t policy;   /* gpurt_broadcast_policy_t; block */
    uint32_t readers;  /* at a time; 0: GPURT_BROADCAST_READERS */
    const char *name;  /* what the log, gpurt-top and reports call it; copied. NULL: its
                             number */
} gpurt_broadcast_options_t;

/* While kernels are at work, its parts are of different moments. For all readers together:
 * what was sent while they had joined is received, lost, or left when they left, or before them. */
typedef struct gpurt_broadcast_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t policy, capacity, bytes, seats;
    gpurt_broadcast_counts_t counts;
    uint64_t refused;              /* messages that found it full or closed */
    uint64_t cancelled, timed_out; /* lanes' waits that ended so */
    uint64_t unseated;             /* joins that found no seat */
    uint32_t sending, receiving;   /* lanes that wait at this moment */
} gpurt_broadcast_status_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_broadcast_create(gpurt_t *rt, const gpurt_broadcast_options_t *options,
                                      gpurt_broadcast_t *out, gpurt_error_t *err);

/* Nothing can be published any more; readers read what is left, then GPURT_E_CHANNEL_CLOSED.
 * Returns: that, when it was closed before. Waits for no kernel of the program's. */
gpurt_status_t gpurt_broadcast_end(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                   gpurt_error_t *err);

gpurt_status_t gpurt_broadcast_status(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                      gpurt_broadcast_status_t *out, gpurt_error_t *err);

/* Messages that are left are gone. Context: no kernel uses it. NULL and a description of zeros:
 * nothing. When it is refused (GPURT_E_HANDLE: destroyed before, or another device's)
 * *broadcast stays as it was. */
gpurt_status_t gpurt_broadcast_destroy(gpurt_t *rt, gpurt_broadcast_t *broadcast,
                                       gpurt_error_t *err);

/* What gpurt_make_broadcast calls; name: of a broadcast whose options have none. */
gpurt_status_t gpurt_broadcast_create_of(gpurt_t *rt, gpurt_broadcast_t *out,
                                         uint32_t capacity, uint32_t bytes,
                                         const char *name,
                                         const gpurt_broadcast_options_t *options,
                                         gpurt_error_t *err);

GPURT_END_DECLS

/* A typed broadcast. Last come options, NULL or its policy, readers and name, and err: variadic, so that
 * options may be a literal with commas. */
#define gpurt_make_broadcast(rt, b, ...)                                         \
    gpurt_broadcast_create_of(rt, &(b)->broadcast, (uint32_t)sizeof *(b)->slots, \
                              (uint32_t)sizeof *(b)->message, #b, __VA_ARGS__)

#endif
