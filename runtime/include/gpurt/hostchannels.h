/* SPDX-License-Identifier: Apache-2.0 */
/* hostchannels.h - channels with one end on the host: the host's side (hostchannel.h has the
 * device's).
 *
 *     GPURT_TO_DEVICE(orders, struct order, 256);     (hostchannel.h)
 *     GPURT_TO_HOST(answers, struct answer, 256);
 *     gpurt_make_hostchannel(rt, &args.orders, NULL, &err);
 *     gpurt_make_hostchannel(rt, &args.answers, NULL, &err);
 *     ... launch ...
 *     gpurt_device_send(rt, &args.orders, &order, GPURT_FOREVER, &ticket, &err);
 *     gpurt_device_await(rt, &args.orders, ticket, GPURT_FOREVER, &err);    it was acknowledged
 *     gpurt_device_receive(rt, &args.answers, &answer, GPURT_FOREVER, &err);
 *     gpurt_hostchannel_close(rt, &args.orders.channel, &err);
 *     gpurt_hostchannel_destroy(rt, &args.orders.channel, &err);
 *
 * Time limits are in nanoseconds; 0 never waits, GPURT_FOREVER does what the policy says. A host
 * that waits polls for 50 us, then sleeps between looks, a sixteenth of the wait so far, 4 ms at
 * most. The sender's side closes. gpurt_close waits for calls that wait: close or destroy first.
 * Context of all calls: host, any thread. */
#ifndef GPURT_HOSTCHANNELS_H
#define GPURT_HOSTCHANNELS_H

#include <gpurt/gpurt.h>
#include <gpurt/hostchannel.h>

enum {
    GPURT_HOSTCHANNELS = 256 /* at a time in a process */
};

typedef struct gpurt_hostchannel_options {
    uint32_t struct_size; /* sizeof(gpurt_hostchannel_options_t), or 0 */
    uint32_t
        capacity;    /* messages: a power of two, GPURT_HOSTCHANNEL_CAPACITY_MOST at most */
    uint32_t bytes;  /* of a message, GPURT_HOSTCHANNEL_BYTES_MOST at most */
    uint32_t way;    /* GPURT_TO_DEVICE, GPURT_TO_HOST */
    uint32_t policy; /* gpurt_channel_policy_t but DROP_OLDEST; block */
    const char *name; /* what the log, gpurt-top and reports call it; copied. NULL: its
                             number */
} gpurt_hostchannel_options_t;

/* While it is used, its parts are of different moments. */
typedef struct gpurt_hostchannel_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t way, policy, capacity, bytes;
    gpurt_channel_counts_t counts;
    uint64_t refused;               /* messages that found it full or closed */
    uint64_t cancelled, timed_out;  /* waits of lanes and of the host that ended so */
    uint64_t looks;                 /* of lanes, at the host's word */
    uint32_t waiting, host_waiting; /* lanes and threads that wait at this moment */
} gpurt_hostchannel_status_t;

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_hostchannel_create(gpurt_t *rt,
                                        const gpurt_hostchannel_options_t *options,
                                        gpurt_hostchannel_t *out, gpurt_error_t *err);

/* count messages of `bytes`, one behind the other. *done: NULL, or how many were sent; *ticket:
 * NULL, or of the last one. Returns: GPURT_E_FULL (of ns 0, and of the policy FAIL),
 * GPURT_E_DROPPED, GPURT_E_TIMEOUT, GPURT_E_CHANNEL_CLOSED: what is not done was not sent. */
gpurt_status_t gpurt_hostchannel_send(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                      const void *messages, uint32_t bytes, uint32_t count,
                                      uint64_t ns, uint32_t *done, uint64_t *ticket,
                                      gpurt_error_t *err);
/* Waits until a kernel has acknowledged the message of a ticket: what it wrote before is seen. */
gpurt_status_t gpurt_hostchannel_await(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                       uint64_t ticket, uint64_t ns, gpurt_error_t *err);
/* Waits for one message, and takes more that are there, count at most. Returns: GPURT_E_EMPTY (of
 * ns 0), GPURT_E_TIMEOUT, GPURT_E_CHANNEL_CLOSED: kernels closed it, and nothing is left. */
gpurt_status_t gpurt_hostchannel_receive(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                         void *messages, uint32_t bytes, uint32_t count,
                                         uint64_t ns, uint32_t *done, gpurt_error_t *err);

/* Of GPURT_TO_DEVICE: kernels get what is left, then GPURT_E_CHANNEL_CLOSED. Returns: that, when
 * it was closed before. */
gpurt_status_t gpurt_hostchannel_close(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                       gpurt_error_t *err);

gpurt_status_t gpurt_hostchannel_status(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                        gpurt_hostchannel_status_t *out,
                                        gpurt_error_t *err);

/* Messages that are left are gone; threads of the host that wait are told GPURT_E_HANDLE. Context:
 * no kernel uses it. NULL and a description of zeros: nothing. */
gpurt_status_t gpurt_hostchannel_destroy(gpurt_t *rt, gpurt_hostchannel_t *channel,
                                         gpurt_error_t *err);

GPURT_END_DECLS

/* A typed channel. Last come options, NULL or its policy and name, and err: variadic, so that
 * options may be a literal with commas. */
#define gpurt_make_hostchannel(rt, c, ...)                                       \
    gpurt_hostchannel_create_of(rt, &(c)->channel, (uint32_t)sizeof *(c)->slots, \
                                (uint32_t)sizeof *(c)->message,                  \
                                (uint32_t)sizeof *(c)->way, #c, __VA_ARGS__)

#define GPURT_HOSTCHANNEL_DO_(function, c, m, toward, rt, ...)              \
    __extension__({                                                         \
        GPURT_HOSTCHANNEL_IS_(c, m, toward);                                \
        function(rt, &(c)->channel, m, (uint32_t)sizeof *(m), __VA_ARGS__); \
    })
#define gpurt_device_send(rt, c, m, ns, ticket, err)                                      \
    GPURT_HOSTCHANNEL_DO_(gpurt_hostchannel_send, c, m, GPURT_TO_DEVICE, rt, 1, ns, NULL, \
                          ticket, err)
#define gpurt_device_send_many(rt, c, m, count, ns, done, ticket, err)                  \
    GPURT_HOSTCHANNEL_DO_(gpurt_hostchannel_send, c, m, GPURT_TO_DEVICE, rt, count, ns, \
                          done, ticket, err)
#define gpurt_device_await(rt, c, ticket, ns, err) \
    gpurt_hostchannel_await(rt, &(c)->channel, ticket, ns, err)
#define gpurt_device_receive(rt, c, m, ns, err)                                            \
    GPURT_HOSTCHANNEL_DO_(gpurt_hostchannel_receive, c, m, GPURT_TO_HOST, rt, 1, ns, NULL, \
                          err)
#define gpurt_device_receive_many(rt, c, m, count, ns, done, err)                        \
    GPURT_HOSTCHANNEL_DO_(gpurt_hostchannel_receive, c, m, GPURT_TO_HOST, rt, count, ns, \
                          done, err)

GPURT_BEGIN_DECLS
/* What gpurt_make_hostchannel calls; name: of a channel whose options have none. */
gpurt_status_t gpurt_hostchannel_create_of(gpurt_t *rt, gpurt_hostchannel_t *out,
                                           uint32_t capacity, uint32_t bytes, uint32_t way,
                                           const char *name,
                                           const gpurt_hostchannel_options_t *options,
                                           gpurt_error_t *err);
GPURT_END_DECLS

#endif
