/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - whole numbers as users type them, in the environment and on command lines: decimal, or
 * hexadecimal after 0x. strtoull would take signs, spaces and octal, and wraps silently. */
#ifndef GPURT_BASE_NUMBER_H
#define GPURT_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The digits from text up to stop. Returns: false at anything else, and beyond 64 bits. */
static inline bool gpurt_number_part(const char *text, const char *stop, uint64_t *number)
{
    unsigned base = stop - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;

    *number = 0;
    if (base == 16)
        text += 2;
    if (text == stop)
        return false;
    for (; text != stop; text++) {
        char c = (char)(*text | 0x20);
        unsigned digit = *text >= '0' && *text <= '9' ? (unsigned)(*text - '0')
                         : c >= 'a' && c <= 'f'       ? (unsigned)(c - 'a') + 10
                                                      : base;

        if (digit >= base || __builtin_mul_overflow(*number, (uint64_t)base, number) ||
            __builtin_add_overflow(*number, (uint64_t)digit, number))
            return false;
    }
    return true;
}

static inline bool gpurt_number_read(const char *text, uint64_t *number)
{
    return gpurt_number_part(text, text + strlen(text), number);
}

#endif
