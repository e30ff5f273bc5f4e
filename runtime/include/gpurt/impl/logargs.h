/* SPDX-License-Identifier: Apache-2.0 */
/* logargs.h - arguments of a log call: their types and bits, and the check against the
 * format while compiling. Included by log.h and panic.h; not for users.
 *
 * C compilers check a call by their own knowledge of printf, as an error; C++ and nvcc
 * by gpurt_format_fits below. Up to 12 arguments: integers of every width, floats,
 * pointers, characters, constant strings. */
#ifndef GPURT_LOGARGS_H
#define GPURT_LOGARGS_H

#include <gpurt/impl/logport.h>

GPURT_HD uint64_t gpurt_bits_u64(uint64_t v)
{
    return v;
}
GPURT_HD uint64_t gpurt_bits_i64(int64_t v)
{
    return (uint64_t)v;
}
GPURT_HD uint64_t gpurt_bits_f32(float v)
{
    uint32_t word;

    __builtin_memcpy(&word, &v, sizeof word);
    return word;
}
GPURT_HD uint64_t gpurt_bits_f64(double v)
{
    uint64_t word;

    __builtin_memcpy(&word, &v, sizeof word);
    return word;
}
GPURT_HD uint64_t gpurt_bits_ptr(const void *v)
{
    return (uint64_t)(uintptr_t)v;
}
#if GPURT_HOST_SIDE
GPURT_HD uint64_t gpurt_bits_str(const char *v)
{
    return gpurt_bits_ptr(v);
}
#else
GPURT_DEV uint64_t gpurt_bits_str(const char *v)
{
    return gpurt_log_string(v ? v : "(null)"); /* as a host's printf has it */
}
#endif

#if defined(__cplusplus)
template <class T> struct gpurt_type_of {
    static const uint32_t code = T(-1) < T(0)
                                     ? (sizeof(T) == 8 ? GPURT_TYPE_I64 : GPURT_TYPE_I32)
                                     : (sizeof(T) == 8 ? GPURT_TYPE_U64 : GPURT_TYPE_U32);
};
template <> struct gpurt_type_of<float> {
    static const uint32_t code = GPURT_TYPE_F32;
};
template <> struct gpurt_type_of<double> {
    static const uint32_t code = GPURT_TYPE_F64;
};
template <class T> struct gpurt_type_of<T *> {
    static const uint32_t code = GPURT_TYPE_PTR;
};
template <> struct gpurt_type_of<const char *> {
    static const uint32_t code = GPURT_TYPE_STRING;
};
template <> struct gpurt_type_of<char *> {
    static const uint32_t code = GPURT_TYPE_STRING;
};
template <class T> GPURT_HD uint64_t gpurt_bits_of(T v)
{
    return (uint64_t)(int64_t)v;
}
template <class T> GPURT_HD uint64_t gpurt_bits_of(T *v)
{
    return gpurt_bits_ptr(v);
}
GPURT_HD uint64_t gpurt_bits_of(float v)
{
    return gpurt_bits_f32(v);
}
GPURT_HD uint64_t gpurt_bits_of(double v)
{
    return gpurt_bits_f64(v);
}
GPURT_HD uint64_t gpurt_bits_of(const char *v)
{
    return gpurt_bits_str(v);
}
GPURT_HD uint64_t gpurt_bits_of(char *v)
{
    return gpurt_bits_str(v);
}

/* An argument as it is told: unary + makes an array a pointer and a small integer an int; of a
 * scoped enum (std::byte is one) it takes the number, of a class without a + what float makes of it
 * (__half). By value but for classes: a constant of the host is none of a GPU's variables. */
template <bool, class T> struct gpurt_where {
};
template <class T> struct gpurt_where<true, T> {
    typedef T type;
};
template <class T, bool> struct gpurt_number_pick {
    typedef T type;
};
template <class T> struct gpurt_number_pick<T, true> {
    typedef __underlying_type(T) type;
};
template <class T> struct gpurt_number_of {
    static const bool is_class = __is_class(T);
    typedef typename gpurt_number_pick<T, __is_enum(T)>::type type;
};
#    if GPURT_ON_CUDA
#        define GPURT_ARG_ANYWHERE _Pragma("nv_exec_check_disable")
#    else
#        define GPURT_ARG_ANYWHERE
#    endif
GPURT_ARG_ANYWHERE /* what converts a class may be the host's, or a GPU's */
    template <class T>
    GPURT_HD auto gpurt_class_arg(const T &v, int) noexcept(noexcept(+v)) ->
    typename gpurt_where<!gpurt_number_of<decltype(+v)>::is_class, decltype(+v)>::type
{
    return +v;
}
GPURT_ARG_ANYWHERE
template <class T>
GPURT_HD auto gpurt_class_arg(const T &v, long) noexcept(noexcept(static_cast<float>(v)))
    -> decltype(static_cast<float>(v))
{
    return static_cast<float>(v);
}
template <class T> GPURT_HD int gpurt_class_arg(const T &, ...) noexcept
{
    static_assert(sizeof(T) == 0, "an argument is a number, an enum, a pointer or a text");
    return 0;
}
template <class T>
GPURT_HD auto gpurt_arg(const T &v) noexcept(noexcept(gpurt_class_arg(v, 0))) ->
    typename gpurt_where<gpurt_number_of<T>::is_class,
                         decltype(gpurt_class_arg(v, 0))>::type
{
    return gpurt_class_arg(v, 0);
}
template <class T>
GPURT_HD auto gpurt_arg(T v) noexcept ->
    typename gpurt_where<!gpurt_number_of<T>::is_class,
                         decltype(+static_cast<typename gpurt_number_of<T>::type>(v))>::type
{
    return +static_cast<typename gpurt_number_of<T>::type>(v);
}
GPURT_HD const void *gpurt_arg(decltype(nullptr)) noexcept
{
    return nullptr;
}
#    define GPURT_ARG_TYPE(x) gpurt_type_of<decltype(gpurt_arg(x))>::code
#    define GPURT_ARG_BITS(x) gpurt_bits_of(gpurt_arg(x))

/* What a conversion takes: a bit per type. 0: no conversion of that letter. */
GPURT_HD constexpr uint32_t gpurt_conversion_takes(char letter)
{
    return letter == 'd' || letter == 'i' || letter == 'u' || letter == 'x' ||
                   letter == 'X' || letter == 'o' || letter == 'c'
               ? 1u << GPURT_TYPE_I32 | 1u << GPURT_TYPE_U32 |
                     (letter == 'c' ? 0 : 1u << GPURT_TYPE_I64 | 1u << GPURT_TYPE_U64)
           : letter == 'e' || letter == 'E' || letter == 'f' || letter == 'F' ||
                   letter == 'g' || letter == 'G' || letter == 'a' || letter == 'A'
               ? 1u << GPURT_TYPE_F32 | 1u << GPURT_TYPE_F64
           : letter == 'p' ? 1u << GPURT_TYPE_PTR | 1u << GPURT_TYPE_STRING
           : letter == 's' ? 1u << GPURT_TYPE_STRING
                           : 0;
}
/* Flags, width, precision and length of a conversion; * is not allowed. */
GPURT_HD constexpr bool gpurt_conversion_skips(char letter)
{
    return letter == '-' || letter == '+' || letter == ' ' || letter == '#' ||
           letter == '.' || (letter >= '0' && letter <= '9') || letter == 'h' ||
           letter == 'l' || letter == 'z' || letter == 'j' || letter == 't';
}
GPURT_HD constexpr bool gpurt_format_fits(const char *format, uint64_t types)
{
    while (*format) {
        if (*format++ != '%')
            continue;
        if (*format == '%') {
            format++;
            continue;
        }
        while (gpurt_conversion_skips(*format))
            format++;
        if (!(gpurt_conversion_takes(*format) >> (types & 15u) & 1u) || !(types & 15u))
            return false;
        format++;
        types >>= 4;
    }
    return types == 0;
}
#    define GPURT_FORMAT_CHECK(types, format, ...)                             \
        static_assert(GPURT_ARG_COUNT(_, ##__VA_ARGS__) <= 12, GPURT_AT_MOST); \
        static_assert(GPURT_ARG_COUNT(_, ##__VA_ARGS__) > 12 ||                \
                          gpurt_format_fits(format, types),                    \
                      "format and arguments do not match")
#else
/* One of eight by the type of x: small integers become int, as in a call of printf. */
/* clang-format off: it takes associations for labels */
#    define GPURT_ARG_PICK_(x, i32, u32, i64, u64, f32, f64, str, ptr) \
        _Generic((x), _Bool: i32, char: i32, signed char: i32, unsigned char: i32, \
                 short: i32, unsigned short: i32, int: i32, unsigned int: u32, \
                 long: i64, unsigned long: u64, long long: i64, \
                 unsigned long long: u64, float: f32, double: f64, char *: str, \
                 const char *: str, default: ptr)
/* clang-format on */
#    define GPURT_ARG_TYPE(x)                                                              \
        GPURT_ARG_PICK_(x, GPURT_TYPE_I32, GPURT_TYPE_U32, GPURT_TYPE_I64, GPURT_TYPE_U64, \
                        GPURT_TYPE_F32, GPURT_TYPE_F64, GPURT_TYPE_STRING, GPURT_TYPE_PTR)
#    define GPURT_ARG_BITS(x)                                                              \
        GPURT_ARG_PICK_(x, gpurt_bits_i64, gpurt_bits_u64, gpurt_bits_i64, gpurt_bits_u64, \
                        gpurt_bits_f32, gpurt_bits_f64, gpurt_bits_str, gpurt_bits_ptr)    \
        (x)
static inline GPURT_PRINTF(1, 2)
    __attribute__((unused)) void gpurt_format_check(const char *f, ...)
{
    (void)f;
}
#    define GPURT_FORMAT_CHECK(types, ...)                                          \
        _Static_assert(GPURT_ARG_COUNT(__VA_ARGS__) <= 12, GPURT_AT_MOST);          \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wformat\"") \
            _Pragma("GCC diagnostic ignored \"-Wformat-zero-length\"") if (0)       \
                gpurt_format_check(__VA_ARGS__);                                    \
        _Pragma("GCC diagnostic pop")
#endif

/* ---- lists of arguments: GPURT_ARGS_n(what, a, b, ...) is what(0, a) what(1, b) ...
 * -------- Each macro has a parameter before the list, because a strict C++17
 * preprocessor drops the comma of an empty list only then; _ stands where it means
 * nothing. */
#define GPURT_AT_MOST "a message has at most 12 arguments: make it two"
/* 99: of 13 to 255, which GPURT_FORMAT_CHECK tells in one sentence; then they are left out. */
#define GPURT_ARG_COUNT_(                                                                 \
    _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18,  \
    _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35,  \
    _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48, _49, _50, _51, _52,  \
    _53, _54, _55, _56, _57, _58, _59, _60, _61, _62, _63, _64, _65, _66, _67, _68, _69,  \
    _70, _71, _72, _73, _74, _75, _76, _77, _78, _79, _80, _81, _82, _83, _84, _85, _86,  \
    _87, _88, _89, _90, _91, _92, _93, _94, _95, _96, _97, _98, _99, _100, _101, _102,    \
    _103, _104, _105, _106, _107, _108, _109, _110, _111, _112, _113, _114, _115, _116,   \
    _117, _118, _119, _120, _121, _122, _123, _124, _125, _126, _127, _128, _129, _130,   \
    _131, _132, _133, _134, _135, _136, _137, _138, _139, _140, _141, _142, _143, _144,   \
    _145, _146, _147, _148, _149, _150, _151, _152, _153, _154, _155, _156, _157, _158,   \
    _159, _160, _161, _162, _163, _164, _165, _166, _167, _168, _169, _170, _171, _172,   \
    _173, _174, _175, _176, _177, _178, _179, _180, _181, _182, _183, _184, _185, _186,   \
    _187, _188, _189, _190, _191, _192, _193, _194, _195, _196, _197, _198, _199, _200,   \
    _201, _202, _203, _204, _205, _206, _207, _208, _209, _210, _211, _212, _213, _214,   \
    _215, _216, _217, _218, _219, _220, _221, _222, _223, _224, _225, _226, _227, _228,   \
    _229, _230, _231, _232, _233, _234, _235, _236, _237, _238, _239, _240, _241, _242,   \
    _243, _244, _245, _246, _247, _248, _249, _250, _251, _252, _253, _254, _255, n, ...) \
    n
#define GPURT_ARG_COUNT(_, ...)                                                           \
    GPURT_ARG_COUNT_(                                                                     \
        _, ##__VA_ARGS__, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   \
        99, 99, 99, 99, 99, 99, 99, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GPURT_CAT_(a, b) a##b
#define GPURT_CAT(a, b)  GPURT_CAT_(a, b)
#define GPURT_ARGS(what, ...) \
    GPURT_CAT(GPURT_ARGS_, GPURT_ARG_COUNT(_, ##__VA_ARGS__))(what, ##__VA_ARGS__)
#define GPURT_ARGS_99(w, ...)
#define GPURT_ARGS_0(w)
#define GPURT_ARGS_1(w, a)                      w(0, a)
#define GPURT_ARGS_2(w, a, b)                   GPURT_ARGS_1(w, a) w(1, b)
#define GPURT_ARGS_3(w, a, b, c)                GPURT_ARGS_2(w, a, b) w(2, c)
#define GPURT_ARGS_4(w, a, b, c, d)             GPURT_ARGS_3(w, a, b, c) w(3, d)
#define GPURT_ARGS_5(w, a, b, c, d, e)          GPURT_ARGS_4(w, a, b, c, d) w(4, e)
#define GPURT_ARGS_6(w, a, b, c, d, e, f)       GPURT_ARGS_5(w, a, b, c, d, e) w(5, f)
#define GPURT_ARGS_7(w, a, b, c, d, e, f, g)    GPURT_ARGS_6(w, a, b, c, d, e, f) w(6, g)
#define GPURT_ARGS_8(w, a, b, c, d, e, f, g, h) GPURT_ARGS_7(w, a, b, c, d, e, f, g) w(7, h)
#define GPURT_ARGS_9(w, a, b, c, d, e, f, g, h, i) \
    GPURT_ARGS_8(w, a, b, c, d, e, f, g, h) w(8, i)
#define GPURT_ARGS_10(w, a, b, c, d, e, f, g, h, i, j) \
    GPURT_ARGS_9(w, a, b, c, d, e, f, g, h, i) w(9, j)
#define GPURT_ARGS_11(w, a, b, c, d, e, f, g, h, i, j, k) \
    GPURT_ARGS_10(w, a, b, c, d, e, f, g, h, i, j) w(10, k)
#define GPURT_ARGS_12(w, a, b, c, d, e, f, g, h, i, j, k, l) \
    GPURT_ARGS_11(w, a, b, c, d, e, f, g, h, i, j, k) w(11, l)

#define GPURT_ARG_CODE_(index, x) | (uint64_t)GPURT_ARG_TYPE(x) << (4 * (index))
#define GPURT_TYPES(_, ...)       (0ull GPURT_ARGS(GPURT_ARG_CODE_, ##__VA_ARGS__))
/* Words of a type, as a constant expression in C too. */
#define GPURT_ARG_WORDS_(index, x) +((0x5a694u >> (2 * GPURT_ARG_TYPE(x))) & 3u)
#define GPURT_WORDS(_, ...)        (0u GPURT_ARGS(GPURT_ARG_WORDS_, ##__VA_ARGS__))

/* Appends one argument to gpurt_w_ at gpurt_n_; both are constants once unrolled. */
#define GPURT_ARG_PUT_(index, x)                                  \
    {                                                             \
        uint64_t gpurt_bits_ = GPURT_ARG_BITS(x);                 \
                                                                  \
        gpurt_w_[gpurt_n_++] = (uint32_t)gpurt_bits_;             \
        if (((0x5a694u >> (2 * GPURT_ARG_TYPE(x))) & 3u) == 2)    \
            gpurt_w_[gpurt_n_++] = (uint32_t)(gpurt_bits_ >> 32); \
    }

#endif
