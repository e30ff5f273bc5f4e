/* SPDX-License-Identifier: Apache-2.0 */
/* hostchannel.h - channels with one end on the host: the device's side (hostchannels.h has the
 * host's).
 *
 *     GPURT_TO_DEVICE(orders, struct order, 256);     a type of channel, for both sides
 *     GPURT_TO_HOST(answers, struct answer, 256);
 *     struct args { orders_t orders; answers_t answers; ... };      made by the host
 *
 *     while (gpurt_host_receive(&p->orders, &order) == GPURT_OK) ...
 *     gpurt_host_send(&p->answers, &answer)           the type of the message is checked
 *
 *   gpurt_host_receive(c, m)        waits for a message of the host's, and acknowledges it
 *   gpurt_host_receive_for(c, m, ns), gpurt_host_try_receive(c, m)
 *   gpurt_host_take(c, m, &ticket)  ... and does not: its slot stays the message's until
 *   gpurt_host_acknowledge(c, ticket)   the host sees what the lane wrote before
 *   gpurt_host_send(c, m)           by the channel's policy: waits, fails or drops when it is full
 *   gpurt_host_send_for(c, m, ns), gpurt_host_try_send(c, m)
 *   gpurt_host_close(c)             nothing can be sent any more; the host gets what is in it
 *
 * All are functions of an expression's value, gpurt_status_t:
 *
 *   GPURT_OK                  sent, received
 *   GPURT_E_FULL, _EMPTY      of try, and of the policy FAIL
 *   GPURT_E_DROPPED           of the policy DROP_NEWEST: the message is gone, and counted
 *   GPURT_E_CHANNEL_CLOSED    of a send: closed. Of a receive: closed and nothing is left
 *   GPURT_E_TIMEOUT
 *   GPURT_E_CANCELLED         the caller's block was: it holds no ticket
 *   GPURT_E_HANDLE            no channel, or one that was destroyed
 *   GPURT_E_INVALID           a message of another size, or the other end
 *
 * Lanes that call together draw tickets together, in the order of their numbers, and go on
 * together: a lane with its message waits for those of its warp that have none yet. So one lane of
 * a warp at a time calls gpurt_host_take, and one receives where the host waits for each answer.
 * Their time limit is the lowest lane's. What the host wrote before it sent is seen by
 * the receiver, and what a lane wrote before it sent or acknowledged by the host.
 * Context: device code, any lane. docs/HOST_CHANNELS.md tells how. */
#ifndef GPURT_HOSTCHANNEL_H
#define GPURT_HOSTCHANNEL_H

#include <gpurt/channel.h>
#include <gpurt/impl/hostchannelcore.h>

/* ---- typed --------------------------------------------------------------------------- */

/* Type name_t: a channel of `type` messages with so many slots. The host sends, or kernels do. */
#define GPURT_TO_DEVICE(name, type, capacity) \
    GPURT_HOSTCHANNEL_TYPE_(name, type, capacity, 1)
#define GPURT_TO_HOST(name, type, capacity) GPURT_HOSTCHANNEL_TYPE_(name, type, capacity, 2)
#define GPURT_HOSTCHANNEL_TYPE_(name, type, capacity, toward)                     \
    GPURT_STATIC_ASSERT(                                                          \
        (capacity) > 0 && ((capacity) & ((capacity)-1)) == 0 &&                   \
            (capacity) <= (long)GPURT_HOSTCHANNEL_CAPACITY_MOST,                  \
        "a channel's capacity is a power of two, 65536 at most to a host");       \
    GPURT_STATIC_ASSERT(sizeof(type) <= GPURT_HOSTCHANNEL_BYTES_MOST,             \
                        "a message to or from the host has 4092 bytes at most");  \
    typedef union name {                                                          \
        gpurt_hostchannel_t channel;                                              \
        type *message;             /* never one: it has the type */               \
        char (*slots)[(capacity)]; /* never any: it has the number */             \
        char (*way)[(toward)];     /* likewise: GPURT_TO_DEVICE, GPURT_TO_HOST */ \
    } name##_t
GPURT_STATIC_ASSERT(GPURT_TO_DEVICE == 1 && GPURT_TO_HOST == 2, "what the types say");

#define GPURT_HOSTCHANNEL_IS_(c, m, toward)                           \
    GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(c, m),                       \
                        "this channel's messages have another type"); \
    GPURT_STATIC_ASSERT(sizeof *(c)->way == (toward),                 \
                        "this is the other end of the channel")
#define GPURT_HOSTCHANNEL_CALL_(function, text, c, m, toward, ...)                    \
    __extension__({                                                                   \
        GPURT_PLACE(gpurt_place_, text);                                              \
        GPURT_HOSTCHANNEL_IS_(c, m, toward);                                          \
        function(&(c)->channel, m, (uint32_t)sizeof *(m), __VA_ARGS__, &gpurt_place_, \
                 GPURT_HERE);                                                         \
    })
#define gpurt_host_receive_for(c, m, ns)                                                \
    GPURT_HOSTCHANNEL_CALL_(gpurt_hostchannel_receive_at, "receives of the host", c, m, \
                            GPURT_TO_DEVICE, ns, NULL)
#define gpurt_host_receive(c, m)     gpurt_host_receive_for(c, m, UINT64_MAX)
#define gpurt_host_try_receive(c, m) gpurt_host_receive_for(c, m, 0)
#define gpurt_host_take(c, m, ticket)                                                   \
    GPURT_HOSTCHANNEL_CALL_(gpurt_hostchannel_receive_at, "receives of the host", c, m, \
                            GPURT_TO_DEVICE, UINT64_MAX, ticket)
#define gpurt_host_acknowledge(c, ticket) \
    gpurt_hostchannel_acknowledge(&(c)->channel, ticket)
#define gpurt_host_send_for(c, m, ns)                                             \
    GPURT_HOSTCHANNEL_CALL_(gpurt_hostchannel_send_at, "sends to the host", c, m, \
                            GPURT_TO_HOST, ns)
#define gpurt_host_send(c, m)     gpurt_host_send_for(c, m, UINT64_MAX)
#define gpurt_host_try_send(c, m) gpurt_host_send_for(c, m, 0)
#define gpurt_host_close(c)       gpurt_hostchannel_shut(&(c)->channel)

/* ---- of any type --------------------------------------------------------------------- */

/* ns: 0 never waits, UINT64_MAX is the policy's. ticket: NULL, or of gpurt_host_acknowledge. place:
 * of the caller, for who looks at waits (waits.h); here: its line, for reports of the CPU. */
GPURT_DEV gpurt_status_t gpurt_hostchannel_receive_at(const gpurt_hostchannel_t *c,
                                                      void *message, uint32_t bytes,
                                                      uint64_t ns, uint64_t *ticket,
                                                      gpurt_site_t *place, const char *here)
{
    gpurt_hostchannel_call_t call = {c, ns, 0, place, here, false, ticket != NULL};

    return gpurt_hostchannel_run(&call, message, bytes, ticket);
}

GPURT_DEV gpurt_status_t gpurt_hostchannel_send_at(const gpurt_hostchannel_t *c,
                                                   const void *message, uint32_t bytes,
                                                   uint64_t ns, gpurt_site_t *place,
                                                   const char *here)
{
    gpurt_hostchannel_call_t call = {c, ns, 0, place, here, true, false};

    return gpurt_hostchannel_run(&call, (void *)(uintptr_t)message, bytes, NULL);
}

#endif
