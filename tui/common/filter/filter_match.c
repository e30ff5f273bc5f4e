/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_match.h"

#include <string.h>
#include <strings.h>

static unsigned char low(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool filter_match_word(filter_text_t text, filter_text_t word)
{
    for (size_t at = 0; at + word.bytes <= text.bytes; at++)
        if (word.bytes == 0 || strncasecmp(text.at + at, word.at, word.bytes) == 0)
            return true;
    return false;
}

static bool one_fits(char c, char pattern, bool path)
{
    return pattern == '?' ? !(path && c == '/') : low(c) == low(pattern);
}

/* open: the text may go on behind the pattern. On a mismatch the last * takes one byte more. */
static bool match(filter_text_t text, filter_text_t pattern, bool path, bool open)
{
    size_t t = 0, p = 0, star = pattern.bytes, from = 0;

    while (t < text.bytes) {
        if (p == pattern.bytes && open)
            return true;
        if (p < pattern.bytes && pattern.at[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.bytes && one_fits(text.at[t], pattern.at[p], path)) {
            t++;
            p++;
        } else if (star < pattern.bytes && !(path && text.at[from] == '/')) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.bytes && pattern.at[p] == '*')
        p++;
    return p == pattern.bytes;
}

bool filter_match_all(filter_text_t text, filter_text_t pattern, bool path)
{
    return match(text, pattern, path, false);
}

bool filter_match_part(filter_text_t text, filter_text_t pattern)
{
    for (size_t at = 0; at <= text.bytes; at++)
        if (match((filter_text_t){text.at + at, text.bytes - at}, pattern, false, true))
            return true;
    return false;
}

bool filter_match_path(filter_text_t text, filter_text_t pattern)
{
    if (match(text, pattern, true, false))
        return true;
    for (size_t at = 0; at < text.bytes; at++)
        if (text.at[at] == '/' &&
            match((filter_text_t){text.at + at + 1, text.bytes - at - 1}, pattern, true,
                  false))
            return true;
    return false;
}

bool filter_match_function(filter_text_t text, filter_text_t pattern)
{
    filter_text_t head = text;

    if (match(text, pattern, false, false))
        return true;
    for (size_t i = 0; i < head.bytes; i++)
        if (head.at[i] == '<' || head.at[i] == '(')
            head.bytes = i;
    for (size_t i = head.bytes; i-- > 0;)
        if (i == 0 || head.at[i - 1] == ' ' || head.at[i - 1] == ':')
            if (match((filter_text_t){head.at + i, head.bytes - i}, pattern, false, false))
                return true;
    return false;
}
