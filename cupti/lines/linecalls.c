/* SPDX-License-Identifier: Apache-2.0 */
#include "linecalls.h"

#include <gpurt/impl/box.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
    h ^= h >> 32;
    return h ? h : 1;
}

bool linecalls_fits(linecalls_t *c, uint64_t box, const char *text)
{
    const size_t bytes = strlen(text);
    const uint64_t hash = hash_of(text, bytes);
    uint32_t at = (uint32_t)hash % LINECALLS_TABLE, slots;

    if (c->box != box)
        memset(c, 0, sizeof *c);
    c->box = box;
    while (c->seen[at] && c->seen[at] != hash)
        at = (at + 1) % LINECALLS_TABLE;
    if (c->seen[at])
        return true;
    slots =
        (uint32_t)((sizeof(gpurt_def_t) + bytes + GPURT_DEF_BYTES - 1) / GPURT_DEF_BYTES);
    if (c->slots + slots > LINECALLS_SLOTS)
        return false;
    c->slots += slots;
    c->seen[at] = hash;
    return true;
}
