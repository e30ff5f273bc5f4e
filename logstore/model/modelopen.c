/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of chains, in which each kind's entries are also linked by age: all verbs take the same
 * time however many there are. */
#include "modelopen.h"

static uint32_t room_of(model_open_kind_t kind)
{
    return kind == MODEL_OPEN_RANGE    ? MODEL_OPEN_RANGES
           : kind == MODEL_OPEN_MEMORY ? MODEL_OPEN_MEMORIES
                                       : MODEL_OPEN_EARLY;
}

static uint16_t *chain_of(model_opens_t *o, uint32_t kind, uint32_t program, uint64_t key)
{
    uint64_t mixed =
        (key ^ (uint64_t)program << 48 ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ull;

    return &o->hash[mixed >> (64 - MODEL_OPEN_HASH_BITS)];
}

model_open_t *model_open_find(model_opens_t *o, model_open_kind_t kind, uint32_t program,
                              uint64_t key)
{
    uint16_t at = *chain_of(o, kind, program, key);

    for (; at; at = o->list[at - 1].next) {
        model_open_t *e = &o->list[at - 1];

        if (e->key == key && e->program == program && e->kind == kind)
            return e;
    }
    return NULL;
}

model_open_t *model_open_oldest(model_opens_t *o, model_open_kind_t kind)
{
    return o->oldest[kind] ? &o->list[o->oldest[kind] - 1] : NULL;
}

/* There is one: all kinds' rooms together are as large as the list. */
static uint16_t entry_take(model_opens_t *o)
{
    uint16_t at = o->free;

    if (at == 0)
        return ++o->used;
    o->free = o->list[at - 1].next;
    return at;
}

model_open_t *model_open_add(model_opens_t *o, model_open_kind_t kind, uint32_t program,
                             uint64_t key)
{
    uint16_t at, *chain = chain_of(o, kind, program, key);
    model_open_t *e;

    if (o->count[kind] == room_of(kind))
        return NULL;
    at = entry_take(o);
    e = &o->list[at - 1];
    *e = (model_open_t){.key = key,
                        .next = *chain,
                        .older = o->newest[kind],
                        .kind = (uint8_t)kind,
                        .program = (uint8_t)program};
    *chain = at;
    if (e->older)
        o->list[e->older - 1].newer = at;
    else
        o->oldest[kind] = at;
    o->newest[kind] = at;
    o->count[kind]++;
    return e;
}

static void chain_leave(model_opens_t *o, const model_open_t *e, uint16_t at)
{
    uint16_t *link = chain_of(o, e->kind, e->program, e->key);

    while (*link != at)
        link = &o->list[*link - 1].next;
    *link = e->next;
}

void model_open_remove(model_opens_t *o, model_open_t *e)
{
    uint16_t at = (uint16_t)(e - o->list + 1);

    chain_leave(o, e, at);
    if (e->older)
        o->list[e->older - 1].newer = e->newer;
    else
        o->oldest[e->kind] = e->newer;
    if (e->newer)
        o->list[e->newer - 1].older = e->older;
    else
        o->newest[e->kind] = e->older;
    o->count[e->kind]--;
    e->next = o->free;
    o->free = at;
}
