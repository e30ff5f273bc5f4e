/* SPDX-License-Identifier: Apache-2.0 */
/* channelwarp.h - one message of a whole warp through a channel (channel.h): each lane has a part of it, in registers.
 *
 *     typedef struct tile { float value[32][32]; } tile_t;         4 KiB
 *     typedef struct part { float value[32]; } part_t;             a lane's 128 bytes of it
 *     GPURT_CHANNEL(tiles, tile_t, 1024);
 *
 *     gpurt_send_warp(&p->tiles, &part)
 *     while (gpurt_receive_warp(&p->tiles, &part) == GPURT_OK) ...
 *
 *   gpurt_send_warp(c, part), gpurt_send_warp_for(c, part, ns), gpurt_try_send_warp(c, part)
 *   gpurt_receive_warp(c, part), gpurt_receive_warp_for(c, part, ns), gpurt_try_receive_warp(c, part)
 *                       as gpurt_send and so on, with their answers. All lanes have the same one
 *
 * A part is a multiple of 16 bytes, and 32 of them are a message: anything else does not compile. 16 bytes are a unit: unit
 * i of lane l is unit i * 32 + l of the message. So the warp touches neighbouring memory, and a lane alone that receives
 * the message finds its units in that order. A warp draws one ticket, so it orders and waits as one lane does.
 * Context: device code, all 32 lanes of a warp together. Not for a GPURT_PAIR. */
#ifndef GPURT_CHANNELWARP_H
#define GPURT_CHANNELWARP_H

#include <gpurt/channel.h>

/* A part is handed on with its type's size, and never leaves its registers. */
#define GPURT_CHANNEL_PART_(function, text, c, part, ns)                                 \
    __extension__({                                                                      \
        GPURT_STATIC_ASSERT(sizeof *(part) % GPURT_CHANNEL_UNIT == 0 &&                  \
                                sizeof *(part)*GPURT_WARP_SIZE == sizeof *(c)->message,  \
                            "a lane's part is a 32nd of this channel's message, and a "  \
                            "multiple of 16 bytes");                                     \
        GPURT_STATIC_ASSERT(sizeof *(c)->ends == 1, "a pair has one lane at each end");  \
        GPURT_CHANNEL_AT_(function, text, &(c)->channel, part, (uint32_t)sizeof *(part), \
                          ns);                                                           \
    })
#define gpurt_send_warp_for(c, part, ns) \
    GPURT_CHANNEL_PART_(gpurt_channel_send_warp_at, "sends", c, part, ns)
#define gpurt_send_warp(c, part)     gpurt_send_warp_for(c, part, UINT64_MAX)
#define gpurt_try_send_warp(c, part) gpurt_send_warp_for(c, part, 0)
#define gpurt_receive_warp_for(c, part, ns) \
    GPURT_CHANNEL_PART_(gpurt_channel_receive_warp_at, "receives", c, part, ns)
#define gpurt_receive_warp(c, part)     gpurt_receive_warp_for(c, part, UINT64_MAX)
#define gpurt_try_receive_warp(c, part) gpurt_receive_warp_for(c, part, 0)

/* Until the slot has that turn. One lane acquires for all, behind its looks. relaxed: so */
GPURT_DEV void gpurt_channel_warp_turn(const gpurt_channel_place_t *place, uint32_t turn)
{
    if (gpurt_lane() == 0) {
        while (gpurt_load_relaxed_dev_u32(place->xturn) != turn)
            gpurt_pause();
        gpurt_acquire_behind_dev_u32(place->xturn, 1); /* CH1.acq CH2.acq */
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

GPURT_DEV void gpurt_channel_warp_put(const gpurt_channel_t *c, uint64_t ticket,
                                      const void *part, uint32_t bytes)
{
    gpurt_channel_place_t place = gpurt_channel_place(c, ticket);
    gpurt_u128_t *to = (gpurt_u128_t *)(void *)place.slot + gpurt_lane(), unit;

    gpurt_channel_warp_turn(&place, place.turn);
    for (uint32_t i = 0; i < bytes / GPURT_CHANNEL_UNIT; i++) {
        __builtin_memcpy(&unit, (const char *)part + i * GPURT_CHANNEL_UNIT, sizeof unit);
        to[i * GPURT_WARP_SIZE] = unit;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* all of it is there before a lane says so */
    if (gpurt_lane() == 0)
        gpurt_store_release_dev_u32(place.xturn, place.turn + 1); /* CH1.rel */
}

GPURT_DEV void gpurt_channel_warp_get(const gpurt_channel_t *c, uint64_t ticket, void *part,
                                      uint32_t bytes)
{
    gpurt_channel_place_t place = gpurt_channel_place(c, ticket);
    const gpurt_u128_t *from =
        (const gpurt_u128_t *)(const void *)place.slot + gpurt_lane();
    gpurt_u128_t unit;

    gpurt_channel_warp_turn(&place, place.turn + 1);
    for (uint32_t i = 0; i < bytes / GPURT_CHANNEL_UNIT; i++) {
        /* relaxed: acquired above. It passes by the cache, which each acquire throws away */
        unit = gpurt_load_relaxed_dev_u128(from + i * GPURT_WARP_SIZE);
        __builtin_memcpy((char *)part + i * GPURT_CHANNEL_UNIT, &unit, sizeof unit);
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* all of it is read before the next sender may come */
    if (gpurt_lane() == 0)
        gpurt_store_release_dev_u32(
            place.xturn, (place.turn + 2) % (2 * GPURT_CHANNEL_LAPS)); /* CH2.rel */
}

/* from, to: one of them NULL. */
GPURT_DEV gpurt_status_t gpurt_channel_run_warp(gpurt_channel_call_t *call,
                                                const void *from, void *to, uint32_t bytes)
{
    const gpurt_channel_t *c = call->c;
    const bool sends = from != NULL;
    int32_t answer = gpurt_channel_refused(c, (uint64_t)bytes * GPURT_WARP_SIZE, 1);
    bool looks = call->ns == 0;

    if (answer != GPURT_OK)
        return answer;
    for (;;) {
        gpurt_channel_tickets_t t = {0, 0};

        if (!looks)
            t = gpurt_channel_take(c, GPURT_FULL_MASK, 1, sends);
        if (t.count && sends)
            gpurt_channel_warp_put(c, t.first, from, bytes);
        else if (t.count)
            gpurt_channel_warp_get(c, t.first, to, bytes);
        if (t.count)
            return GPURT_OK;
        answer = gpurt_channel_await(call, GPURT_FULL_MASK, 1, 1, sends);
        looks = false;
        if (answer == GPURT_CHANNEL_MAKE_ROOM)
            GPURT_FAR(gpurt_channel_make_room)(c, GPURT_FULL_MASK, 1);
        else if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

GPURT_DEV gpurt_status_t gpurt_channel_send_warp_at(const gpurt_channel_t *c,
                                                    const void *part, uint32_t bytes,
                                                    uint64_t ns, gpurt_site_t *place,
                                                    const char *here)
{
    gpurt_channel_call_t call = {c, ns, 0, place, here};

    return gpurt_channel_run_warp(&call, part, NULL, bytes);
}

GPURT_DEV gpurt_status_t gpurt_channel_receive_warp_at(const gpurt_channel_t *c, void *part,
                                                       uint32_t bytes, uint64_t ns,
                                                       gpurt_site_t *place,
                                                       const char *here)
{
    gpurt_channel_call_t call = {c, ns, 0, place, here};

    return gpurt_channel_run_warp(&call, NULL, part, bytes);
}

#endif
