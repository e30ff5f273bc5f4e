/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - log messages from kernels. Levels are GPURT_LEVEL_*.
 *
 *   GPURT_TRACE/DEBUG/INFO/WARN/ERROR(fmt, ...)     every lane its own values
 *   GPURT_LOG(level, fmt, ...)                      the same
 *   GPURT_LOG_WARP(level, fmt, ...)                 one a warp: the first lane's values
 *   GPURT_LOG_BLOCK(level, fmt, ...)                one a block: thread 0's values
 *   GPURT_LOG_IF(cond, level, fmt, ...)             where cond holds
 *   GPURT_LOG_EVERY(n, level, fmt, ...)             one call of n, over all warps
 *   GPURT_LOG_FIRST(n, level, fmt, ...)             the first n calls
 *   GPURT_LOG_LIMIT(per_second, level, fmt, ...)    at most so many calls a second
 *
 * Context: device code; lanes that call together make one record together. fmt is a
 * literal in printf's language without *; up to 12 arguments, checked against it while
 * compiling. Strings (%s) must be constants: the same address is the same text for ever.
 * Never waits, unless the box was opened with the blocking policy: a message that finds
 * no room is counted, and the count reaches the log. Before gpurt_open it does nothing.
 * Messages below GPURT_LOG_FLOOR (default GPURT_LEVEL_TRACE: none) are not compiled. */
#ifndef GPURT_LOG_H
#define GPURT_LOG_H

#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/logargs.h>
#include <gpurt/ringput.h>
#include <gpurt/warp.h>

#ifndef GPURT_LOG_FLOOR
#    define GPURT_LOG_FLOOR GPURT_LEVEL_TRACE
#endif

/* Where the calling lanes write. Uniform but for lane and rank. */
typedef struct gpurt_log_call {
    uint32_t mask, lane, rank,
        count; /* lanes, me, my place among them, how many they are */
    uint32_t ring, block, warp, salt;
    uint64_t time_ns;
} gpurt_log_call_t;

/* mask: of gpurt_activemask in the macro itself. In a function it would stand at one
 * source line for all calls, and the CPU back end would take lanes at different calls
 * for one group. */
GPURT_DEV gpurt_log_call_t gpurt_log_begin(uint32_t mask)
{
    gpurt_log_call_t c;

    c.mask = mask;
    c.lane = gpurt_lane();
    c.rank = gpurt_popc(c.mask & gpurt_lanes_below());
    c.count = gpurt_popc(c.mask);
    c.ring = gpurt_sm() * gpurt_log_port.warp_slots + gpurt_warp_slot();
    c.block = gpurt_block_rank();
    c.warp = gpurt_warp();
    c.salt = c.block * 31u + c.warp;
    c.time_ns = gpurt_globaltimer();
    return c;
}

/* One lane takes room for all. A whole warp is its ring's only producer and keeps its head
 * with plain loads and stores; lanes of a warp that diverged may meet others of the same warp
 * half way through, so they use atomics.
 * Inlined, rare ways included: kept out of line they cost a kernel of 38 registers 34 more
 * instead of 26 (ptxas of CUDA 13.0, sm_90), because what lives across a call is moved aside.
 * Returns: true and the position, in every lane. */
GPURT_DEV bool gpurt_log_room(const gpurt_log_call_t *c, uint32_t groups, uint32_t messages,
                              uint32_t *position)
{
    uint32_t at = 0, ok = 0;

    if (c->rank == 0 && c->ring < gpurt_log_port.ring_count) {
        gpurt_ring_port_t port = gpurt_log_ring(c->ring);

        for (;;) {
            ok = c->mask == GPURT_FULL_MASK
                     ? gpurt_ring_take(&port, groups, messages, c->time_ns, &at)
                     : gpurt_ring_take_shared(&port, groups, messages, c->time_ns, &at);
            if (ok || port.policy != GPURT_POLICY_BLOCK)
                break;
            if (gpurt_cancelled()) {
                gpurt_ring_lose(&port, messages, GPURT_LOSS_FULL, c->time_ns);
                break;
            }
            gpurt_pause(); /* the others of the mask wait for this lane */
        }
    }
    *position = gpurt_shfl_u32(c->mask, at, gpurt_leader(c->mask));
    return gpurt_shfl_u32(c->mask, ok, gpurt_leader(c->mask)) != 0;
}

/* Word i of a record: its head, then the mask if there is one, then the arguments. */
GPURT_DEV uint32_t gpurt_log_head_word(const gpurt_log_call_t *c, uint32_t what,
                                       uint32_t lane, uint32_t index)
{
    return index == 0   ? what
           : index == 1 ? (uint32_t)c->time_ns
           : index == 2 ? ((uint32_t)(c->time_ns >> 32) & 0xffffu) | lane << 16
                        : c->block;
}

GPURT_DEV void gpurt_log_store(const gpurt_log_call_t *c, uint32_t position, uint32_t index,
                               uint32_t groups, uint32_t a, uint32_t b, uint32_t d)
{
    gpurt_group_t g;
    uint32_t at = position + index;

    g.tag = index == 0 ? gpurt_tag_first(at, c->salt, groups)
                       : gpurt_tag_rest(at, c->salt, index);
    g.word[0] = a;
    g.word[1] = b;
    g.word[2] = d;
    gpurt_group_store(gpurt_log_port.groups + (size_t)c->ring * gpurt_log_port.group_count +
                          (at & (gpurt_log_port.group_count - 1)),
                      g);
}

/* One set of values, those of the first lane; the record's groups are spread over the
 * lanes. what: kind and form are in it already. */
GPURT_DEV void gpurt_log_uniform(gpurt_site_t *site, uint32_t gate, uint32_t mask,
                                 uint32_t form, const uint32_t *args, uint32_t words)
{
    gpurt_log_call_t c = gpurt_log_begin(mask);
    bool part = form == GPURT_FORM_WARP && c.mask != GPURT_FULL_MASK;
    uint32_t first = GPURT_RECORD_HEAD_WORDS + (part ? 1u : 0u);
    uint32_t groups = gpurt_record_groups(words + (part ? 1u : 0u));
    uint32_t what = gpurt_record_what(gate, site->kind,
                                      part ? (uint32_t)GPURT_FORM_WARP_PART : form, c.warp);
    uint32_t position;

    if (!gpurt_log_room(&c, groups, 1, &position))
        return;
    for (uint32_t g = c.rank; g < groups; g += c.count) {
        uint32_t v[GPURT_GROUP_WORDS];

        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            v[t] = gpurt_log_head_word(&c, what, 0, i);
            if (part && i == GPURT_RECORD_HEAD_WORDS)
                v[t] = c.mask;
            /* A select each: a dynamic index would put the arguments into local memory. */
            for (uint32_t j = 0; j < words; j++)
                v[t] = i == first + j ? args[j] : v[t];
        }
        gpurt_log_store(&c, position, g, groups, v[0], v[1], v[2]);
    }
    gpurt_syncwarp(c.mask);
}

/* Own values of a whole warp: one record, or several of fewer lanes when the arguments are
 * many. The words are dealt out to the groups by shuffles. */
GPURT_DEV void gpurt_log_whole(const gpurt_log_call_t *c, uint32_t what,
                               const uint32_t *args, uint32_t words)
{
    uint32_t total = words * GPURT_WARP_SIZE, groups = gpurt_record_groups(total), position;

    if (!gpurt_log_room(c, groups, GPURT_WARP_SIZE, &position))
        return;
    for (uint32_t from = 0; from < groups; from += GPURT_WARP_SIZE) {
        uint32_t g = from + c->lane, v[GPURT_GROUP_WORDS];

        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t, k = i - GPURT_RECORD_HEAD_WORDS;

            v[t] = gpurt_log_head_word(c, what, 0, i);
            for (uint32_t j = 0; j < words; j++) {
                uint32_t other = gpurt_shfl_u32(GPURT_FULL_MASK, args[j], k & 31u);

                v[t] = i >= GPURT_RECORD_HEAD_WORDS && k >> 5 == j ? other : v[t];
            }
        }
        if (g < groups)
            gpurt_log_store(c, position, g, groups, v[0], v[1], v[2]);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* Own values of the lanes of a diverged warp, or too many of them for one record: a record
 * each, in one stretch of the ring. */
GPURT_DEV void gpurt_log_each(const gpurt_log_call_t *c, uint32_t what,
                              const uint32_t *args, uint32_t words)
{
    uint32_t groups = gpurt_record_groups(words), position;

    if (!gpurt_log_room(c, groups * c->count, c->count, &position))
        return;
    position += c->rank * groups;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t v[GPURT_GROUP_WORDS];

        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            v[t] = gpurt_log_head_word(c, what, c->lane, i);
            for (uint32_t j = 0; j < words; j++)
                v[t] = i == GPURT_RECORD_HEAD_WORDS + j ? args[j] : v[t];
        }
        gpurt_log_store(c, position, g, groups, v[0], v[1], v[2]);
    }
    gpurt_syncwarp(c->mask);
}

GPURT_DEV void gpurt_log_lanes(gpurt_site_t *site, uint32_t gate, uint32_t mask,
                               const uint32_t *args, uint32_t words)
{
    gpurt_log_call_t c = gpurt_log_begin(mask);
    bool whole =
        c.mask == GPURT_FULL_MASK && words * GPURT_WARP_SIZE <= GPURT_RECORD_MAX_WORDS;
    uint32_t what = gpurt_record_what(gate, site->kind,
                                      whole ? GPURT_FORM_LANES : GPURT_FORM_LANE, c.warp);

    if (words == 0)
        gpurt_log_uniform(site, gate, mask, GPURT_FORM_WARP, args, 0);
    else if (whole)
        gpurt_log_whole(&c, what, args, words);
    else
        gpurt_log_each(&c, what, args, words);
}

/* The gate of a site: its number, or OFF among others. */
GPURT_DEV uint32_t gpurt_log_gate(gpurt_site_t *site)
{
    uint32_t gate = gpurt_load_relaxed_dev_u32(&site->xgate);

    return GPURT_UNLIKELY((gate & ~GPURT_GATE_OFF) == 0 || gate == GPURT_GATE_CLAIMED)
               ? gpurt_log_define(site)
               : gate;
}

/* Limited forms: one lane decides for all that came together. */
GPURT_DEV bool gpurt_log_nth(gpurt_site_t *site, uint32_t mask, uint32_t n, bool first)
{
    uint32_t count = 0;

    if (gpurt_is_leader(mask))
        count = gpurt_add_relaxed_dev_u32(&site->xcount, 1);
    count = gpurt_shfl_u32(mask, count, gpurt_leader(mask));
    return first ? count < n : n < 2 || count % n == 0;
}
GPURT_DEV bool gpurt_log_token(gpurt_site_t *site, uint32_t mask, uint32_t per_second)
{
    uint32_t count = 0;

    if (gpurt_is_leader(mask)) {
        uint64_t now = gpurt_globaltimer();
        uint64_t start = gpurt_load_relaxed_dev_u64(&site->xwindow_ns);

        /* Whoever moves the window empties the count; a few too many pass then. */
        if (now - start >= 1000000000ull &&
            gpurt_cas_relaxed_dev_u64(&site->xwindow_ns, &start, now))
            gpurt_store_relaxed_dev_u32(&site->xcount, 0);
        count = gpurt_add_relaxed_dev_u32(&site->xcount, 1);
    }
    count = gpurt_shfl_u32(mask, count, gpurt_leader(mask));
    return count < per_second;
}

#define GPURT_SITE(name, level_, kind_, fmt, ...)                           \
    static gpurt_site_t name = {0,                                          \
                                0,                                          \
                                0,                                          \
                                GPURT_TYPES(_, ##__VA_ARGS__),              \
                                fmt,                                        \
                                __FILE__,                                   \
                                __LINE__,                                   \
                                (uint16_t)(sizeof(fmt) - 1),                \
                                (uint16_t)(sizeof(__FILE__) - 1),           \
                                (uint8_t)(level_),                          \
                                (uint8_t)GPURT_ARG_COUNT(_, ##__VA_ARGS__), \
                                kind_}

/* mine: what a lane decides for itself; ours: what the lanes of gpurt_mask_ decide
 * together; emit: writes gpurt_w_[0 .. gpurt_n_) of gpurt_s_ at gpurt_gate_. */
#define GPURT_LOG_(level_, mine, ours, emit, fmt, ...)                              \
    do {                                                                            \
        GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);      \
        if ((level_) >= GPURT_LOG_FLOOR) {                                          \
            GPURT_SITE(gpurt_s_, level_, GPURT_KIND_LOG, fmt, ##__VA_ARGS__);       \
            uint32_t gpurt_gate_ = gpurt_log_gate(&gpurt_s_);                       \
                                                                                    \
            if (!(gpurt_gate_ & GPURT_GATE_OFF) && (mine)) {                        \
                uint32_t gpurt_w_[GPURT_WORDS(_, ##__VA_ARGS__) + 1], gpurt_n_ = 0; \
                uint32_t gpurt_mask_;                                               \
                                                                                    \
                gpurt_safe_point();                                                 \
                GPURT_ARGS(GPURT_ARG_PUT_, ##__VA_ARGS__)                           \
                gpurt_w_[gpurt_n_] = 0;                                             \
                gpurt_mask_ = gpurt_activemask();                                   \
                if (ours)                                                           \
                    emit;                                                           \
            }                                                                       \
        }                                                                           \
    } while (0)

#define GPURT_EMIT_LANES_ \
    gpurt_log_lanes(&gpurt_s_, gpurt_gate_, gpurt_mask_, gpurt_w_, gpurt_n_)
#define GPURT_EMIT_UNIFORM_(form) \
    gpurt_log_uniform(&gpurt_s_, gpurt_gate_, gpurt_mask_, form, gpurt_w_, gpurt_n_)
#define GPURT_LOG_OURS_(ours, level, ...) \
    GPURT_LOG_(level, true, ours, GPURT_EMIT_LANES_, __VA_ARGS__)

#define GPURT_LOG(level, ...) GPURT_LOG_OURS_(true, level, __VA_ARGS__)
#define GPURT_TRACE(...)      GPURT_LOG(GPURT_LEVEL_TRACE, __VA_ARGS__)
#define GPURT_DEBUG(...)      GPURT_LOG(GPURT_LEVEL_DEBUG, __VA_ARGS__)
#define GPURT_INFO(...)       GPURT_LOG(GPURT_LEVEL_INFO, __VA_ARGS__)
#define GPURT_WARN(...)       GPURT_LOG(GPURT_LEVEL_WARN, __VA_ARGS__)
#define GPURT_ERROR(...)      GPURT_LOG(GPURT_LEVEL_ERROR, __VA_ARGS__)
#define GPURT_LOG_WARP(level, ...) \
    GPURT_LOG_(level, true, true, GPURT_EMIT_UNIFORM_(GPURT_FORM_WARP), __VA_ARGS__)
#define GPURT_LOG_BLOCK(level, ...)                   \
    GPURT_LOG_(level, gpurt_thread_rank() == 0, true, \
               GPURT_EMIT_UNIFORM_(GPURT_FORM_BLOCK), __VA_ARGS__)
#define GPURT_LOG_IF(cond, level, ...) \
    GPURT_LOG_(level, cond, true, GPURT_EMIT_LANES_, __VA_ARGS__)
#define GPURT_LOG_EVERY(n, level, ...) \
    GPURT_LOG_OURS_(gpurt_log_nth(&gpurt_s_, gpurt_mask_, n, false), level, __VA_ARGS__)
#define GPURT_LOG_FIRST(n, level, ...) \
    GPURT_LOG_OURS_(gpurt_log_nth(&gpurt_s_, gpurt_mask_, n, true), level, __VA_ARGS__)
#define GPURT_LOG_LIMIT(per_second, level, ...) \
    GPURT_LOG_OURS_(gpurt_log_token(&gpurt_s_, gpurt_mask_, per_second), level, __VA_ARGS__)

#endif
