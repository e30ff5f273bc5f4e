/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "channelname.h"

#include "tell.h"

#include <gpurt/atomic.h>
#include <stdio.h>
#include <string.h>

void gpurt_channel_name(gpurt_channel_desk_t *desk, uint32_t id, const char *name)
{
    desk->id = id;
    if (name && name[0])
        gpurt_tell_plain(desk->name, sizeof desk->name, name);
    else
        snprintf(desk->name, sizeof desk->name, "%u", id);
}

/* &args->orders is called orders, &(all[i + 1]) is all[i + 1]. Returns: its length. */
static uint32_t last_word(const char **name)
{
    const char *at = *name, *end = at + strlen(at);
    int depth = 0;

    while (end > at && (end[-1] == ')' || end[-1] == ' '))
        end--;
    for (; at < end; at++) {
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        if (depth == 0 && strchr("&.>* ()", *at))
            *name = at + 1;
    }
    return (uint32_t)(end - *name);
}

/* all[2] names one channel, all[i] each of a loop. */
static bool is_variable(const char *word, uint32_t length)
{
    const char *at = memchr(word, '[', length);

    for (; at && at < word + length; at++)
        if (!strchr("[]0123456789", *at))
            return true;
    return false;
}

const char *gpurt_channel_name_of(char *to, const char *expression)
{
    static uint32_t xnumbered; /* names with a number so far; written by: any thread */
    uint32_t length = last_word(&expression);
    char word[GPURT_CHANNEL_NAME_BYTES], number[16] = "";

    if (is_variable(expression, length)) /* relaxed: the number is all */
        snprintf(number, sizeof number, " #%u",
                 gpurt_add_relaxed_sys_u32(&xnumbered, 1) + 1);
    if (length >= sizeof word - strlen(number))
        length = (uint32_t)(sizeof word - strlen(number)) - 1;
    snprintf(to, GPURT_CHANNEL_NAME_BYTES, "%.*s%s", (int)length, expression, number);
    return to;
}
