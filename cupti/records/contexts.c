/* SPDX-License-Identifier: Apache-2.0 */
#include "contexts.h"

#include <gpurt/base.h>

void contexts_show(contexts_t *c, uint32_t context, uint32_t device)
{
    contexts_place_t *place = &c->places[context & (CONTEXTS_MOST - 1)];

    if (GPURT_LIKELY(place->number == context && place->device == device + 1))
        return;
    place->number = context;
    place->device = device + 1;
    if (c->device != device + 1)
        c->device = c->device ? CONTEXTS_UNKNOWN : device + 1;
}

uint32_t contexts_device(const contexts_t *c, uint32_t context)
{
    const contexts_place_t *place = &c->places[context & (CONTEXTS_MOST - 1)];

    if (place->device && place->number == context)
        return place->device - 1;
    return c->device && c->device != CONTEXTS_UNKNOWN ? c->device - 1 : CONTEXTS_UNKNOWN;
}
