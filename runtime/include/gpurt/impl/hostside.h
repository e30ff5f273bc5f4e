/* SPDX-License-Identifier: Apache-2.0 */
/* hostside.h - an assertion that fails on the host's side of a __host__ __device__ function: as
 * assert() of C, one line on standard error and abort(). Included by panic.h where nvcc compiles
 * for the host; not for users. It needs no library. */
#ifndef GPURT_HOSTSIDE_H
#define GPURT_HOSTSIDE_H

#include <gpurt/impl/logargs.h>

#if GPURT_HOST_SIDE
#    include <stdio.h>
#    include <stdlib.h>

enum {
    GPURT_HOSTSIDE_SHAPE = 24 /* bytes of a conversion without its length and letter */
};

#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* shape: '%', flags, width and precision. */
static inline void gpurt_hostside_put(const char *shape, char letter, uint32_t type,
                                      uint64_t bits)
{
    char format[GPURT_HOSTSIDE_SHAPE + 4];
    uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;

    __builtin_memcpy(&narrow, &low, sizeof narrow);
    __builtin_memcpy(&wide, &bits, sizeof wide);
    if (type == GPURT_TYPE_F32 || type == GPURT_TYPE_F64) {
        snprintf(format, sizeof format, "%s%c", shape, letter);
        fprintf(stderr, format, type == GPURT_TYPE_F32 ? (double)narrow : wide);
    } else if (type == GPURT_TYPE_STRING && letter == 's') {
        snprintf(format, sizeof format, "%ss", shape);
        fprintf(stderr, format, bits ? (const char *)(uintptr_t)bits : "(null)");
    } else if (type == GPURT_TYPE_STRING || type == GPURT_TYPE_PTR) {
        fprintf(stderr, "0x%llx", (unsigned long long)bits);
    } else if (letter == 'c') {
        fprintf(stderr, "%c", (int)low);
    } else {
        if (type == GPURT_TYPE_I32 || type == GPURT_TYPE_U32)
            bits = letter == 'd' || letter == 'i' ? (uint64_t)(int64_t)(int32_t)low : low;
        snprintf(format, sizeof format, "%sll%c", shape, letter);
        fprintf(stderr, format, (unsigned long long)bits);
    }
}
#    pragma GCC diagnostic pop

/* format is known to fit the types. */
static inline void gpurt_hostside_message(const char *format, uint64_t types,
                                          const uint64_t *args)
{
    while (*format) {
        char shape[GPURT_HOSTSIDE_SHAPE] = "%";
        uint32_t used = 1;

        if (*format != '%' || format[1] == '%') {
            fputc(*format, stderr);
            format += *format == '%' ? 2 : 1;
            continue;
        }
        for (format++; gpurt_conversion_skips(*format); format++)
            if (*format < 'a' && used + 1 < sizeof shape) /* no length: values are wide */
                shape[used++] = *format;
        shape[used] = '\0';
        gpurt_hostside_put(shape, *format++, types & 15u, *args++);
        types >>= 4;
    }
}

/* condition: NULL where nothing was promised; own: so many of the operands are the macro's, and come
 * first. */
static inline GPURT_NORETURN void gpurt_hostside_fail(const gpurt_site_t *site,
                                                      const char *condition,
                                                      const char *function, uint32_t own,
                                                      const uint64_t *args)
{
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: %s", site->file, (unsigned)site->line, function,
            condition ? condition : "panic");
    fputs(condition ? " does not hold" : "", stderr);
    for (uint32_t i = 0; i < own; i++) {
        uint32_t type = gpurt_type_at(site->types, i);

        fputs(i ? " and " : ": ", stderr);
        gpurt_hostside_put("%",
                           type == GPURT_TYPE_F32 || type == GPURT_TYPE_F64   ? 'g'
                           : type == GPURT_TYPE_U32 || type == GPURT_TYPE_U64 ? 'u'
                                                                              : 'd',
                           type, args[i]);
    }
    if (*site->format)
        fputs(": ", stderr);
    gpurt_hostside_message(site->format, site->types >> (4 * own), args + own);
    fputc('\n', stderr);
    abort();
}
#endif

#endif
