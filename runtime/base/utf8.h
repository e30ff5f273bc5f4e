/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - characters of texts that nobody has looked at: devices, files and other programs made
 * them. */
#ifndef GPURT_BASE_UTF8_H
#define GPURT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the character that `left` bytes, one or more, begin with, and its code; 0: none
 * begins there that is whole, no longer than needed, and a character. */
static inline size_t utf8_read(const void *text, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)text;
    size_t length = p[0] < 0x80             ? 1
                    : (p[0] & 0xe0) == 0xc0 ? 2
                    : (p[0] & 0xf0) == 0xe0 ? 3
                    : (p[0] & 0xf8) == 0xf0 ? 4
                                            : 0;

    if (length == 0 || length > left)
        return 0;
    *code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}

/* The bytes of a character that utf8_read could have told of. Returns: how many. */
static inline size_t utf8_write(char bytes[4], uint32_t code)
{
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(marks[length] | code);
    return length;
}

/* Of the character that the first `used` bytes, one or more, end with: where it begins. */
static inline size_t utf8_before(const char *text, size_t used)
{
    do
        used--;
    while (used > 0 && ((uint8_t)text[used] & 0xc0) == 0x80);
    return used;
}

/* A terminal obeys them, the second kind, too. */
static inline bool utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Nobody sees it, or it turns the text around that stands beside it: one name looks like
 * another. */
static inline bool utf8_deceives(uint32_t code)
{
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x061c ||
           (code >= 0xe0000 && code <= 0xe0fff);
}

/* A character beyond 0xffff as JSON writes it: 0 asks for the first of its two units. */
static inline unsigned utf8_surrogate(uint32_t code, int which)
{
    return which == 0 ? 0xd7c0u + (code >> 10) : 0xdc00u + (code & 0x3ffu);
}

#endif
