/* SPDX-License-Identifier: Apache-2.0 */
/* hostlog.h - log messages from host code, into the same stream as those of kernels.
 *
 *   gpurt_log(level, fmt, ...)     GPURT_LEVEL_*; fmt a literal in printf's language without * (log.h)
 *
 * Context: host code, any thread, not a signal handler. Up to 12 arguments of every type,
 * checked against fmt while compiling. With a %s the message is written as text (1,516
 * bytes of it), so that the string may be any; otherwise the arguments are written as
 * they are. Before gpurt_open, after gpurt_close, in a forked child and below the site's
 * level it does nothing: one load and one comparison when its level is off. Messages below
 * GPURT_LOG_FLOOR are not compiled. Never waits, unless the box was opened with the
 * blocking policy: a message that finds no room is counted, and the count reaches the log.
 * Times are of the clock that kernels' messages are translated to. */
#ifndef GPURT_HOSTLOG_H
#define GPURT_HOSTLOG_H

#include <gpurt/log.h>

GPURT_BEGIN_DECLS

/* First use of a site. Returns: its gate, GPURT_GATE_OFF when nothing is connected. */
uint32_t gpurt_hostlog_define(gpurt_site_t *site);
void gpurt_hostlog_words(uint32_t gate, const uint32_t *words, uint32_t count);
void gpurt_hostlog_text(uint32_t gate, const char *fmt, ...) GPURT_PRINTF(2, 3);

GPURT_END_DECLS

#if defined(__cplusplus)
template <class T> static inline uint64_t gpurt_hostlog_bits(T v)
{
    return (uint64_t)(int64_t)v;
}
template <class T> static inline uint64_t gpurt_hostlog_bits(T *v)
{
    return gpurt_bits_ptr(v);
}
template <> inline uint64_t gpurt_hostlog_bits(float v)
{
    return gpurt_bits_f32(v);
}
template <> inline uint64_t gpurt_hostlog_bits(double v)
{
    return gpurt_bits_f64(v);
}
#    define GPURT_HOSTLOG_BITS(x) gpurt_hostlog_bits(gpurt_arg(x))
#else
#    define GPURT_HOSTLOG_BITS(x)                                                          \
        GPURT_ARG_PICK_(x, gpurt_bits_i64, gpurt_bits_u64, gpurt_bits_i64, gpurt_bits_u64, \
                        gpurt_bits_f32, gpurt_bits_f64, gpurt_bits_ptr, gpurt_bits_ptr)    \
        (x)
#endif

/* As GPURT_ARG_PUT_; a string is not put, its message is text. */
#define GPURT_HOSTLOG_PUT_(index, x)                              \
    {                                                             \
        uint64_t gpurt_bits_ = GPURT_HOSTLOG_BITS(x);             \
                                                                  \
        gpurt_w_[gpurt_n_++] = (uint32_t)gpurt_bits_;             \
        if (gpurt_type_words(GPURT_ARG_TYPE(x)) == 2)             \
            gpurt_w_[gpurt_n_++] = (uint32_t)(gpurt_bits_ >> 32); \
    }
#if defined(__cplusplus)
#    define GPURT_HOSTLOG_PLAIN_(index, x) , gpurt_arg(x)
#else
#    define GPURT_HOSTLOG_PLAIN_(index, x) , x
#endif
#define GPURT_HOSTLOG_IS_TEXT_(index, x) || GPURT_ARG_TYPE(x) == GPURT_TYPE_STRING

/* Log words on the host's side of a __host__ __device__ function (log.h). */
#if GPURT_HOST_SIDE
#    undef GPURT_LOG_HOST_
#    define GPURT_LOG_HOST_(level, fmt, ...) gpurt_log(level, fmt, ##__VA_ARGS__);
#endif

#define gpurt_log(level_, fmt, ...)                                                        \
    do {                                                                                   \
        GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);             \
        if ((level_) >= GPURT_LOG_FLOOR && !GPURT_AT_COMPILE_TIME()) {                     \
            GPURT_SITE(gpurt_s_, level_, GPURT_KIND_LOG, fmt, ##__VA_ARGS__);              \
            /* relaxed: its number is all there is to know */                              \
            uint32_t gpurt_gate_ = gpurt_load_relaxed_dev_u32(gpurt_s_.xgate);             \
                                                                                           \
            if ((gpurt_gate_ & ~GPURT_GATE_OFF) == 0 || gpurt_gate_ == GPURT_GATE_CLAIMED) \
                gpurt_gate_ = gpurt_hostlog_define(&gpurt_s_);                             \
            if (gpurt_gate_ & GPURT_GATE_OFF) {                                            \
            } else if (0 GPURT_ARGS(GPURT_HOSTLOG_IS_TEXT_, ##__VA_ARGS__)) {              \
                gpurt_hostlog_text(gpurt_gate_,                                            \
                                   fmt GPURT_ARGS(GPURT_HOSTLOG_PLAIN_, ##__VA_ARGS__));   \
            } else {                                                                       \
                GPURT_KEPT_ROOM(uint32_t, gpurt_w_, GPURT_WORDS(_, ##__VA_ARGS__) + 1);    \
                uint32_t gpurt_n_ = 0;                                                     \
                                                                                           \
                GPURT_ARGS(GPURT_HOSTLOG_PUT_, ##__VA_ARGS__)                              \
                gpurt_hostlog_words(gpurt_gate_, gpurt_w_, gpurt_n_);                      \
            }                                                                              \
        }                                                                                  \
    } while (0)

#endif
