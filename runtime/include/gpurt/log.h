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
#include <gpurt/logput.h>
#include <gpurt/warp.h>

#ifndef GPURT_LOG_FLOOR
#    define GPURT_LOG_FLOOR GPURT_LEVEL_TRACE
#endif

/* Whether messages of this level may be recorded at all. On a GPU the span is an operand in
 * constant memory: a call beyond it is one comparison and one branch that all lanes take. */
GPURT_DEV bool gpurt_log_passes(uint32_t level)
{
    return gpurt_log_port.span > GPURT_LEVEL_PANIC - level;
}

/* Whether a site is anything but in use: never used, being defined, or off. */
GPURT_DEV bool gpurt_log_is_rare(uint32_t gate)
{
    return GPURT_UNLIKELY(gate - 1 >= GPURT_GATE_CLAIMED - 1);
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

#define GPURT_SITE_INIT(level_, kind_, types_, count_, fmt)                               \
    {                                                                                     \
        0, 0, 0, types_, fmt, __FILE__, __LINE__, (uint16_t)(sizeof(fmt) - 1),            \
            (uint16_t)(sizeof(__FILE__) - 1), (uint8_t)(level_), (uint8_t)(count_), kind_ \
    }
#define GPURT_SITE(name, level_, kind_, fmt, ...)                     \
    static gpurt_site_t name =                                        \
        GPURT_SITE_INIT(level_, kind_, GPURT_TYPES(_, ##__VA_ARGS__), \
                        GPURT_ARG_COUNT(_, ##__VA_ARGS__), fmt)

/* First use. On a GPU lanes come out one by one, and should go on as they came. On the CPU
 * they park for the record's mask anyway, and a second gpurt_activemask of the same source
 * line would take lanes of the two for one group. */
#if GPURT_ON_CUDA
#    define GPURT_LOG_DEFINE_                          \
        do {                                           \
            uint32_t gpurt_all_ = gpurt_activemask();  \
                                                       \
            gpurt_gate_ = gpurt_log_define(&gpurt_s_); \
            gpurt_syncwarp(gpurt_all_);                \
        } while (0)
#else
#    define GPURT_LOG_DEFINE_ gpurt_gate_ = gpurt_log_define(&gpurt_s_)
#endif

/* mine: what a lane decides for itself; ours: what the lanes of gpurt_mask_ decide
 * together; emit: writes gpurt_w_[0 .. gpurt_n_) of gpurt_s_ at gpurt_gate_. */
#define GPURT_LOG_(level_, mine, ours, emit, fmt, ...)                              \
    do {                                                                            \
        GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);      \
        if ((level_) >= GPURT_LOG_FLOOR && gpurt_log_passes(level_)) {              \
            GPURT_SITE(gpurt_s_, level_, GPURT_KIND_LOG, fmt, ##__VA_ARGS__);       \
            gpurt_log_aim_t gpurt_aim_ = gpurt_log_aim();                           \
            uint32_t gpurt_gate_ = gpurt_log_gate(&gpurt_s_);                       \
                                                                                    \
            if (gpurt_log_is_rare(gpurt_gate_) && (int32_t)gpurt_gate_ >= 0)        \
                GPURT_LOG_DEFINE_;                                                  \
            if ((int32_t)gpurt_gate_ >= 0 && (mine)) {                              \
                uint32_t gpurt_w_[GPURT_WORDS(_, ##__VA_ARGS__) + 1], gpurt_n_ = 0; \
                uint32_t gpurt_mask_;                                               \
                                                                                    \
                GPURT_ARGS(GPURT_ARG_PUT_, ##__VA_ARGS__)                           \
                gpurt_w_[gpurt_n_] = 0;                                             \
                gpurt_mask_ = gpurt_activemask();                                   \
                if (ours)                                                           \
                    emit;                                                           \
            }                                                                       \
        }                                                                           \
    } while (0)

#define GPURT_EMIT_LANES_                                                            \
    (gpurt_n_ == 0 ? gpurt_log_uniform(gpurt_log_call(gpurt_aim_, gpurt_gate_,       \
                                                      GPURT_FORM_WARP, gpurt_mask_), \
                                       gpurt_w_, gpurt_n_)                           \
                   : gpurt_log_lanes(gpurt_log_call(gpurt_aim_, gpurt_gate_,         \
                                                    GPURT_FORM_LANES, gpurt_mask_),  \
                                     gpurt_w_, gpurt_n_))
#define GPURT_EMIT_UNIFORM_(form)                                                 \
    gpurt_log_uniform(gpurt_log_call(gpurt_aim_, gpurt_gate_, form, gpurt_mask_), \
                      gpurt_w_, gpurt_n_)
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
