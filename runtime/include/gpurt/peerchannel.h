/* SPDX-License-Identifier: Apache-2.0 */
/* peerchannel.h - channels from kernels of one device to kernels of another: what both call
 * (peerchannels.h has what the host does).
 *
 *     GPURT_PEERS(parcels, struct parcel, 256);       types parcels_out_t and parcels_in_t
 *     struct send_args { parcels_out_t out; ... };    for the device that sends
 *     struct take_args { parcels_in_t in; ... };      for the one that receives
 *
 *     gpurt_peer_send(&p->out, &parcel)               the type of the message is checked
 *     gpurt_peer_close(&p->out)
 *     while (gpurt_peer_receive(&p->in, &parcel) == GPURT_OK) ...
 *
 *   gpurt_peer_send(c, m)        by the channel's policy: waits, fails or drops when it is full
 *   gpurt_peer_send_for(c, m, ns), gpurt_peer_try_send(c, m)
 *   gpurt_peer_receive(c, m)     waits for a message, and frees its slot
 *   gpurt_peer_receive_for(c, m, ns), gpurt_peer_try_receive(c, m)
 *   gpurt_peer_close(c)          nothing can be sent any more; the other device gets what is in it
 *
 * They answer as those of hostchannel.h do, and lanes that call together go on together in the same
 * way. What the sender wrote before it sent is seen by the receiver, where both reach that memory.
 * Context: device code, any lane. docs/PEER_CHANNELS.md tells how. */
#ifndef GPURT_PEERCHANNEL_H
#define GPURT_PEERCHANNEL_H

#include <gpurt/hostchannel.h>

/* A channel of `type` messages with so many slots, as the sender and the receiver have it. */
#define GPURT_PEERS(name, type, capacity)                   \
    GPURT_HOSTCHANNEL_TYPE_(name##_out, type, capacity, 4); \
    GPURT_HOSTCHANNEL_TYPE_(name##_in, type, capacity, 3)
GPURT_STATIC_ASSERT(GPURT_FROM_PEER == 3 && GPURT_TO_PEER == 4, "what the types say");

#define gpurt_peer_receive_for(c, m, ns)                                                   \
    GPURT_HOSTCHANNEL_CALL_(gpurt_hostchannel_receive_at, "receives of another device", c, \
                            m, GPURT_FROM_PEER, ns, NULL)
#define gpurt_peer_receive(c, m)     gpurt_peer_receive_for(c, m, UINT64_MAX)
#define gpurt_peer_try_receive(c, m) gpurt_peer_receive_for(c, m, 0)
#define gpurt_peer_send_for(c, m, ns)                                                   \
    GPURT_HOSTCHANNEL_CALL_(gpurt_hostchannel_send_at, "sends to another device", c, m, \
                            GPURT_TO_PEER, ns)
#define gpurt_peer_send(c, m)     gpurt_peer_send_for(c, m, UINT64_MAX)
#define gpurt_peer_try_send(c, m) gpurt_peer_send_for(c, m, 0)
#define gpurt_peer_close(c)       gpurt_hostchannel_shut(&(c)->channel)

#endif
