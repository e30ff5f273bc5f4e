/* SPDX-License-Identifier: Apache-2.0 */
#include "channelname.h"

#include <stdio.h>
#include <string.h>

void gpurt_channel_name(gpurt_channel_desk_t *desk, uint32_t id, const char *name)
{
    desk->id = id;
    if (name && name[0])
        snprintf(desk->name, sizeof desk->name, "%s", name);
    else
        snprintf(desk->name, sizeof desk->name, "%u", id);
}

const char *gpurt_channel_last_word(const char *name)
{
    for (const char *at = name; *at; at++)
        if (strchr("&.>* (", *at))
            name = at + 1;
    return name;
}
