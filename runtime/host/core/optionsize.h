/* SPDX-License-Identifier: Apache-2.0 */
/* optionsize.h - options as a program gives them, built with headers of this version or an older
 * one: their first word, struct_size, says how many bytes it knows; 0: all. */
#ifndef GPURT_HOST_OPTIONSIZE_H
#define GPURT_HOST_OPTIONSIZE_H

#include "refuse.h"

#include <string.h>

/* Copies them to `to`, of `room` bytes; what they do not say, or with NULL all, is 0.
 * Returns: GPURT_E_INVALID: they are of a newer version. */
static inline gpurt_status_t gpurt_options_copy(void *to, size_t room, const void *given,
                                                const char *name, gpurt_error_t *err)
{
    uint32_t bytes = 0;

    memset(to, 0, room);
    if (!given)
        return GPURT_OK;
    memcpy(&bytes, given, sizeof bytes);
    if (bytes > room)
        return REFUSE(err, GPURT_E_INVALID,
                      "%s: struct_size %u, this library knows %zu bytes: build with its "
                      "headers",
                      name, bytes, room);
    memcpy(to, given, bytes ? bytes : room);
    return GPURT_OK;
}

#endif
