/* SPDX-License-Identifier: Apache-2.0 */
/* peerchannels.h - what the host does with channels between two devices (peerchannel.h has what
 * kernels call).
 *
 *     GPURT_PEERS(parcels, struct parcel, 256);       (peerchannel.h)
 *     struct send_args out = {0}; struct take_args in = {0};
 *     gpurt_make_peerchannel(a, &out.out, b, &in.in, NULL, &err);     a sends, b receives
 *     ... launch the sender on a, the receiver on b ...
 *     gpurt_peerchannel_close(a, &out.out.channel, &err);             if no kernel did
 *     gpurt_peerchannel_destroy(a, &out.out.channel, b, &in.in.channel, &err);
 *
 * Both devices are open in this process and may be the same one. GPUs must reach each other's memory:
 * GPURT_E_UNSUPPORTED says which do not, and what to do. The first channel between two of them lets
 * them, which may wait for kernels that run: make channels before services start. Destroy a channel
 * before either device is closed.
 * Context of all calls: host, any thread. */
#ifndef GPURT_PEERCHANNELS_H
#define GPURT_PEERCHANNELS_H

#include <gpurt/gpurt.h>
#include <gpurt/peerchannel.h>

enum {
    GPURT_PEERCHANNELS = 256, /* ends, at a time in a process: two a channel */
    GPURT_PEERCHANNEL_CAPACITY_MOST = GPURT_HOSTCHANNEL_CAPACITY_MOST,
    GPURT_PEERCHANNEL_BYTES_MOST = GPURT_HOSTCHANNEL_BYTES_MOST
};

typedef struct gpurt_peerchannel_options {
    uint32_t struct_size; /* sizeof(gpurt_peerchannel_options_t), or 0 */
    uint32_t
        capacity;    /* messages: a power of two, GPURT_PEERCHANNEL_CAPACITY_MOST at most */
    uint32_t bytes;  /* of a message, GPURT_PEERCHANNEL_BYTES_MOST at most */
    uint32_t policy; /* gpurt_channel_policy_t but DROP_OLDEST; block */
    const char *name; /* what the log, gpurt-top and reports call it; copied. NULL: its
                             number */
} gpurt_peerchannel_options_t;

/* While it is used, its parts are of different moments. */
typedef struct gpurt_peerchannel_status {
    char name[GPURT_CHANNEL_NAME_BYTES];
    uint32_t state; /* GPURT_CHANNEL_OPEN, _SHUT */
    uint32_t policy, capacity, bytes;
    gpurt_channel_counts_t counts;
    uint64_t refused;              /* messages that found it full or closed */
    uint64_t cancelled, timed_out; /* lanes' waits that ended so, of both ends */
    uint64_t looks;                /* of lanes, at what the other end stored */
    uint32_t sending, receiving;   /* lanes that wait at this moment */
} gpurt_peerchannel_status_t;

GPURT_BEGIN_DECLS

/* *out: for kernels of `from`, which send. *in: for kernels of `to`, which receive. */
gpurt_status_t gpurt_peerchannel_create(gpurt_t *from, gpurt_hostchannel_t *out,
                                        gpurt_t *to, gpurt_hostchannel_t *in,
                                        const gpurt_peerchannel_options_t *options,
                                        gpurt_error_t *err);

/* out: the sender's end. Kernels of the other device get what is left, then
 * GPURT_E_CHANNEL_CLOSED. Returns: that, when it was closed before. Waits for no kernel of the
 * program's. */
gpurt_status_t gpurt_peerchannel_close(gpurt_t *from, const gpurt_hostchannel_t *out,
                                       gpurt_error_t *err);

gpurt_status_t gpurt_peerchannel_status(gpurt_t *from, const gpurt_hostchannel_t *out,
                                        gpurt_t *to, const gpurt_hostchannel_t *in,
                                        gpurt_peerchannel_status_t *status,
                                        gpurt_error_t *err);

/* Messages that are left are gone. Context: no kernel uses it. NULL and descriptions of zeros:
 * nothing. Late calls of kernels are told GPURT_E_HANDLE. */
gpurt_status_t gpurt_peerchannel_destroy(gpurt_t *from, gpurt_hostchannel_t *out,
                                         gpurt_t *to, gpurt_hostchannel_t *in,
                                         gpurt_error_t *err);

/* What gpurt_make_peerchannel calls; name: of a channel whose options have none. */
gpurt_status_t gpurt_peerchannel_create_of(gpurt_t *from, gpurt_hostchannel_t *out,
                                           gpurt_t *to, gpurt_hostchannel_t *in,
                                           uint32_t capacity, uint32_t bytes,
                                           const char *name,
                                           const gpurt_peerchannel_options_t *options,
                                           gpurt_error_t *err);

GPURT_END_DECLS

/* A typed channel, both ends of one GPURT_PEERS. Last come options, NULL or its policy and name, and err: variadic, so that
 * options may be a literal with commas. */
#define gpurt_make_peerchannel(from, out, to, in, ...)                                    \
    __extension__({                                                                       \
        GPURT_HOSTCHANNEL_IS_(out, (in)->message, GPURT_TO_PEER);                         \
        GPURT_HOSTCHANNEL_IS_(in, (out)->message, GPURT_FROM_PEER);                       \
        GPURT_STATIC_ASSERT(sizeof *(out)->slots == sizeof *(in)->slots,                  \
                            "these ends have different capacities");                      \
        gpurt_peerchannel_create_of(from, &(out)->channel, to, &(in)->channel,            \
                                    (uint32_t)sizeof *(out)->slots,                       \
                                    (uint32_t)sizeof *(out)->message, #out, __VA_ARGS__); \
    })

#endif
