/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h - the host's side of channels: make one, close it, look at it, take it apart.
 *
 *     GPURT_CHANNEL(orders, struct order, 1024);      (channel.h)
 *     orders_t orders;
 *     gpurt_make_channel(rt, &orders, NULL, &err);    capacity and size are the type's
 *     struct args a = {.orders = orders, ...};        kernels: gpurt_send(&p->orders, &order)
 *     ...
 *     gpurt_channel_end(rt, &orders.channel, &err);   closes it: receivers get what is left
 *     gpurt_channel_destroy(rt, &orders.channel, &err);
 *
 * channel.h is what kernels call. The description may be copied freely; a copy of one that was
 * destroyed, or whose device was closed, is recognised by the host, GPURT_E_HANDLE. Kernels recognise it as well while the
 * memory is kept: the last GPURT_CHANNELS_KEPT of them, until the device closes.
 * Context of all calls: host, any thread. */
#ifndef GPURT_CHANNELS_H
#define GPURT_CHANNELS_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/channelmap.h>

enum {
    GPURT_CHANNELS = 1024,   /* at a time in a process */
    GPURT_CHANNELS_KEPT = 64 /* whose memory is kept after their end, in a process */
};

typedef struct gpurt_channel_options {
    uint32_t struct_size; /* sizeof(gpurt_channel_options_t), or 0 */
    uint32_t capacity; /* messages: a power of two, GPURT_CHANNEL_CAPACITY_MOST at most */
    uint32_t bytes;    /* of a message, GPURT_CHANNEL_BYTES_MOST at most */
    uint32_t policy;   /* gpurt_channel_policy_t; block */
    uint32_t flags;    /* GPURT_CHANNEL_ALONE, GPURT_CHANNEL_PAIR ... */
    const char *name;  /* what the log, gpurt-top and reports call it; copied. NULL: its
                             number */
    uint32_t limit;    /* messages at first, of GPURT_CHANNEL_RESIZED; 0: its capacity */
    uint32_t credits;  /* that senders have at first, of GPURT_CHANNEL_GRANTED */
} gpurt_channel_options_t;

/* While kernels send and receive, its parts are of different moments. */
typedef struct gpurt_channel_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t policy, capacity, bytes;
    gpurt_channel_counts_t counts;
    uint64_t dropped_newest, dropped_oldest; /* of counts.dropped */
    uint64_t refused;                        /* messages that found it full or closed */
    uint64_t cancelled, timed_out;           /* lanes' waits that ended so */
    uint32_t sending, receiving;             /* lanes that wait at this moment */
    uint32_t limit;   /* messages that it holds at most, as it is now */
    uint32_t credits; /* of GPURT_CHANNEL_GRANTED: that senders have left */
} gpurt_channel_status_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_channel_create(gpurt_t *rt, const gpurt_channel_options_t *options,
                                    gpurt_channel_t *out, gpurt_error_t *err);

/* Nothing can be sent any more; receivers get what is left, then GPURT_E_CHANNEL_CLOSED.
 * Returns: that, when it was closed before. Waits for no kernel of the program's. Of a pair: when
 * its sender's kernel has ended; beside a send, messages that were told GPURT_OK may stay in it. */
gpurt_status_t gpurt_channel_end(gpurt_t *rt, const gpurt_channel_t *channel,
                                 gpurt_error_t *err);

gpurt_status_t gpurt_channel_status(gpurt_t *rt, const gpurt_channel_t *channel,
                                    gpurt_channel_status_t *out, gpurt_error_t *err);

/* As gpurt_channel_grant and gpurt_channel_resize of kernels (impl/channelcredit.h), which may run.
 * Each waits for a kernel of one warp, so the GPU must have room for it beside them. done: NULL, or so
 * many were granted. */
gpurt_status_t gpurt_channel_grant_more(gpurt_t *rt, const gpurt_channel_t *channel,
                                        uint32_t n, uint32_t *done, gpurt_error_t *err);
gpurt_status_t gpurt_channel_set_limit(gpurt_t *rt, const gpurt_channel_t *channel,
                                       uint32_t limit, gpurt_error_t *err);

/* Messages that are left are gone. Waits for calls of the host that are in progress. Context: no
 * kernel uses it. NULL and a description of zeros:
 * nothing. When it is refused (GPURT_E_HANDLE: destroyed before, or another device's)
 * *channel stays as it was. */
gpurt_status_t gpurt_channel_destroy(gpurt_t *rt, gpurt_channel_t *channel,
                                     gpurt_error_t *err);

/* What gpurt_make_channel calls; shape: GPURT_CHANNEL_SHAPE_OF_; name: of a channel whose options
 * have none. */
gpurt_status_t gpurt_channel_create_of(gpurt_t *rt, gpurt_channel_t *out, uint32_t capacity,
                                       uint64_t shape, const char *name,
                                       const gpurt_channel_options_t *options,
                                       gpurt_error_t *err);

GPURT_END_DECLS

/* A typed channel. Last come options, NULL or its policy, flags and name, and err: variadic, so that
 * options may be a literal with commas. */
#define gpurt_make_channel(rt, c, ...)                                       \
    gpurt_channel_create_of(rt, &(c)->channel, (uint32_t)sizeof *(c)->slots, \
                            GPURT_CHANNEL_SHAPE_OF_(c, (c)->message), #c, __VA_ARGS__)

#endif
