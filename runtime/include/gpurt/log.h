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
 * literal in printf's language without a width or precision of *, which C compilers let pass
 * and the log prints as it stands; up to 12 arguments, checked against it while compiling.
 * Strings (%s) must be constants: the same address is the same text for ever.
 * Never waits, unless the box was opened with the blocking policy: a message that finds
 * no room is counted, and the count reaches the log. Before gpurt_open it does nothing.
 * Arguments should have no side effects: those of a message that a rule leaves out may be
 * evaluated or not.
 * Arguments are numbers, pointers and texts; in C++ enums of each kind, and classes that float
 * takes (__half), too. In a __host__ __device__ function the host's side makes a message of the host
 * of it, in a file that includes hostlog.h, and else does nothing.
 * Messages below GPURT_LOG_FLOOR (default GPURT_LEVEL_TRACE: none) are not compiled. */
#ifndef GPURT_LOG_H
#define GPURT_LOG_H

#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/impl/kept.h>
#include <gpurt/impl/logargs.h>
#include <gpurt/impl/logput.h>
#include <gpurt/warp.h>

#ifndef GPURT_LOG_FLOOR
#    define GPURT_LOG_FLOOR GPURT_LEVEL_TRACE
#endif

/* Whether messages of this level may be recorded at all. On a GPU the answer is an operand in
 * constant memory, not 0 or 0, because that comparison alone needs no vector register: a call of
 * a level that is not is a load, a comparison and a branch that all lanes take (docs/COST.md). */
GPURT_DEV bool gpurt_log_passes(uint32_t level)
{
    return gpurt_log_port.open[level & 7u] != 0;
}

/* Limited forms: one lane decides for all that came together. */
GPURT_DEV bool gpurt_log_nth(gpurt_log_limit_t *limit, uint32_t mask, uint32_t n,
                             bool first)
{
    uint32_t count = 0;

    if (gpurt_is_leader(mask))
        count = gpurt_add_relaxed_dev_u32(&limit->xcount, 1);
    count = gpurt_shfl_u32(mask, count, gpurt_leader(mask));
    return first ? count < n : n < 2 || count % n == 0;
}
GPURT_DEV bool gpurt_log_token(gpurt_log_limit_t *limit, uint32_t mask, uint32_t per_second)
{
    uint32_t count = 0;

    if (gpurt_is_leader(mask)) {
        uint64_t now = gpurt_globaltimer();
        uint64_t start = gpurt_load_relaxed_dev_u64(&limit->xwindow_ns);

        /* Whoever moves the window empties the count; a few too many pass then. */
        if (now - start >= 1000000000ull &&
            gpurt_cas_relaxed_dev_u64(&limit->xwindow_ns, &start, now))
            gpurt_store_relaxed_dev_u32(&limit->xcount, 0);
        count = gpurt_add_relaxed_dev_u32(&limit->xcount, 1);
    }
    count = gpurt_shfl_u32(mask, count, gpurt_leader(mask));
    return count < per_second;
}

#define GPURT_SITE_INIT(level_, kind_, types_, count_, fmt)                               \
    {                                                                                     \
        {0}, types_, fmt, __FILE__, __LINE__, (uint16_t)(sizeof(fmt) - 1),                \
            (uint16_t)(sizeof(__FILE__) - 1), (uint8_t)(level_), (uint8_t)(count_), kind_ \
    }
#define GPURT_SITE(name, level_, kind_, fmt, ...)                                          \
    GPURT_KEPT_NUMBER(name##types_, GPURT_TYPES(_, ##__VA_ARGS__))                         \
    GPURT_KEPT(gpurt_site_t, name,                                                         \
               GPURT_SITE_INIT(level_, kind_,                                              \
                               GPURT_KEPT_AS(name##types_, GPURT_TYPES(_, ##__VA_ARGS__)), \
                               GPURT_ARG_COUNT(_, ##__VA_ARGS__), fmt))

/* Whether evaluating the arguments calls nothing that could log or end a lane. C cannot say. */
#if GPURT_ON_CUDA
#    define GPURT_ARG_QUIET_(index, x) &&noexcept(gpurt_arg(x))
#    define GPURT_LOG_QUIET_(_, ...)   (true GPURT_ARGS(GPURT_ARG_QUIET_, ##__VA_ARGS__))
#else
#    define GPURT_LOG_QUIET_(_, ...) false
#endif

/* Declares gpurt_w_ and fills it with the arguments, then `then`. */
#define GPURT_LOG_WITH_(then, ...)                                              \
    {                                                                           \
        GPURT_KEPT_ROOM(uint32_t, gpurt_w_, GPURT_WORDS(_, ##__VA_ARGS__) + 1); \
        uint32_t gpurt_n_ = 0;                                                  \
                                                                                \
        GPURT_ARGS(GPURT_ARG_PUT_, ##__VA_ARGS__)                               \
        gpurt_w_[gpurt_n_] = 0;                                                 \
        then                                                                    \
    }

/* A small record of a whole warp, all in one. Behind it nothing is left of the call. */
#if GPURT_ON_CUDA
#    define GPURT_LOG_QUICKLY_(form, early, ...)                                  \
        if ((early) && GPURT_LOG_QUIET_(_, ##__VA_ARGS__) &&                      \
            GPURT_WORDS(_, ##__VA_ARGS__) <= 2 &&                                 \
            ((form) != GPURT_FORM_LANES || GPURT_WORDS(_, ##__VA_ARGS__) == 0)) { \
            GPURT_LOG_WITH_(gpurt_log_quick(&gpurt_s_, GPURT_FORM_WARP, gpurt_w_, \
                                            GPURT_WORDS(_, ##__VA_ARGS__));       \
                            , ##__VA_ARGS__)                                      \
            break;                                                                \
        }
#else
#    define GPURT_LOG_QUICKLY_(form, early, ...)
#endif

#if GPURT_HOST_SIDE
/* The host's side of a function for both: hostlog.h makes a message of the host of it. Arguments
 * are named all the same, because a lambda's captures are those of both sides. */
#    ifndef GPURT_LOG_HOST_
#        define GPURT_LOG_USED_(index, x) (void)(x);
#        define GPURT_LOG_HOST_(level, fmt, ...)           \
            if (false) {                                   \
                GPURT_ARGS(GPURT_LOG_USED_, ##__VA_ARGS__) \
            }
#    endif
#    define GPURT_LOG_ON_HOST_(level, fmt, ...)                                    \
        do {                                                                       \
            GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__); \
            GPURT_LOG_HOST_(level, fmt, ##__VA_ARGS__)                             \
        } while (0)
#    define GPURT_LOG(level, ...)       GPURT_LOG_ON_HOST_(level, __VA_ARGS__)
#    define GPURT_LOG_WARP(level, ...)  GPURT_LOG_ON_HOST_(level, __VA_ARGS__)
#    define GPURT_LOG_BLOCK(level, ...) GPURT_LOG_ON_HOST_(level, __VA_ARGS__)
#    define GPURT_LOG_IF(cond, level, ...)              \
        do {                                            \
            if (cond)                                   \
                GPURT_LOG_ON_HOST_(level, __VA_ARGS__); \
        } while (0)
#    define GPURT_LOG_EVERY(n, level, ...) \
        GPURT_LOG_IF(((void)(n), true), level, __VA_ARGS__)
#    define GPURT_LOG_FIRST(n, level, ...) GPURT_LOG_EVERY(n, level, __VA_ARGS__)
#    define GPURT_LOG_LIMIT(per_second, level, ...) \
        GPURT_LOG_EVERY(per_second, level, __VA_ARGS__)
#else
/* early: whether mine and ours are true for any lane; mine: what a lane decides for itself; ours:
 * what the lanes of gpurt_c_.mask decide together. */
#    define GPURT_LOG_(level_, form, early, mine, ours, fmt, ...)                         \
        do {                                                                              \
            GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);        \
            if ((level_) >= GPURT_LOG_FLOOR && !GPURT_AT_COMPILE_TIME() &&                \
                gpurt_log_passes(level_)) {                                               \
                GPURT_SITE(gpurt_s_, level_, GPURT_KIND_LOG, fmt, ##__VA_ARGS__);         \
                GPURT_KEPT(gpurt_log_limit_t, gpurt_l_, {0, 0});                          \
                (void)gpurt_l_;                                                           \
                GPURT_LOG_QUICKLY_(form, early, ##__VA_ARGS__)                            \
                gpurt_log_call_t gpurt_c_ =                                               \
                    gpurt_log_call(&gpurt_s_, form, GPURT_WORDS(_, ##__VA_ARGS__));       \
                                                                                          \
                if ((early) && GPURT_LOG_QUIET_(_, ##__VA_ARGS__)) {                      \
                    if (gpurt_log_early(&gpurt_c_)) {                                     \
                        GPURT_LOG_WITH_(gpurt_log_put_near(&gpurt_c_, gpurt_w_);          \
                                        , ##__VA_ARGS__)                                  \
                        break;                                                            \
                    }                                                                     \
                }                                                                         \
                if (gpurt_log_is_rare(gpurt_c_.gate)) {                                   \
                    gpurt_c_.gate = gpurt_log_rare(&gpurt_s_, gpurt_c_.gate);             \
                    if ((int32_t)gpurt_c_.gate < 0)                                       \
                        break;                                                            \
                }                                                                         \
                if (mine)                                                                 \
                    GPURT_LOG_WITH_(                                                      \
                        gpurt_c_.mask = gpurt_activemask(); if (ours)                     \
                            gpurt_log_put(&gpurt_c_, gpurt_w_,                            \
                                          (early) && GPURT_LOG_QUIET_(_, ##__VA_ARGS__)); \
                        , ##__VA_ARGS__)                                                  \
            }                                                                             \
        } while (0)

#    define GPURT_LOG_OURS_(ours, level, ...) \
        GPURT_LOG_(level, GPURT_FORM_LANES, false, true, ours, __VA_ARGS__)

#    define GPURT_LOG(level, ...) \
        GPURT_LOG_(level, GPURT_FORM_LANES, true, true, true, __VA_ARGS__)
#    define GPURT_LOG_WARP(level, ...) \
        GPURT_LOG_(level, GPURT_FORM_WARP, true, true, true, __VA_ARGS__)
#    define GPURT_LOG_BLOCK(level, ...)                                            \
        GPURT_LOG_(level, GPURT_FORM_BLOCK, false, gpurt_thread_rank() == 0, true, \
                   __VA_ARGS__)
#    define GPURT_LOG_IF(cond, level, ...) \
        GPURT_LOG_(level, GPURT_FORM_LANES, false, cond, true, __VA_ARGS__)
#    define GPURT_LOG_EVERY(n, level, ...)                                        \
        GPURT_LOG_OURS_(gpurt_log_nth(&gpurt_l_, gpurt_c_.mask, n, false), level, \
                        __VA_ARGS__)
#    define GPURT_LOG_FIRST(n, level, ...)                                       \
        GPURT_LOG_OURS_(gpurt_log_nth(&gpurt_l_, gpurt_c_.mask, n, true), level, \
                        __VA_ARGS__)
#    define GPURT_LOG_LIMIT(per_second, level, ...)                                   \
        GPURT_LOG_OURS_(gpurt_log_token(&gpurt_l_, gpurt_c_.mask, per_second), level, \
                        __VA_ARGS__)
#endif

#define GPURT_TRACE(...) GPURT_LOG(GPURT_LEVEL_TRACE, __VA_ARGS__)
#define GPURT_DEBUG(...) GPURT_LOG(GPURT_LEVEL_DEBUG, __VA_ARGS__)
#define GPURT_INFO(...)  GPURT_LOG(GPURT_LEVEL_INFO, __VA_ARGS__)
#define GPURT_WARN(...)  GPURT_LOG(GPURT_LEVEL_WARN, __VA_ARGS__)
#define GPURT_ERROR(...) GPURT_LOG(GPURT_LEVEL_ERROR, __VA_ARGS__)

#endif
