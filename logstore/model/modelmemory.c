/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a program has taken, by kind and device, and its pools. What is given back is known
 * by its address: a record of that need not say how much it was. Records of two threads may come
 * in either order, and some may be missing: what cannot be paired is counted, and not guessed. */
#include "modelpart.h"

#include <string.h>

/* ---- taken, given back --------------------------------------------------------------- */

/* The host's memory is of no device, whichever one a record names. */
static bool is_of_host(const model_activity_t *a, uint32_t kind)
{
    return model_is_word(a, kind, "pinned") || model_is_word(a, kind, "pageable");
}

static uint32_t row_of(model_activity_t *a, const gpurt_row_t *r, uint32_t kind)
{
    model_memory_t *m = &a->memories;
    const model_table_t table = {m, offsetof(model_memory_t, hash),
                                 offsetof(model_memory_t, list), sizeof m->list[0],
                                 MEMORY_HASH_BITS};
    uint32_t device = is_of_host(a, kind) ? UINT32_MAX : r->block;
    uint64_t key = (uint64_t)device << 32 | kind;
    uint32_t place, row = model_table_find(table, r->program, key, &place);

    if (row)
        return row - 1;
    if (m->count == GPURT_MODEL_MEMORIES)
        return GPURT_MODEL_MEMORIES; /* all others */
    m->list[m->count].id = (model_key_t){.key = key, .kind = r->program};
    m->hash[place] = (uint16_t)++m->count;
    return m->count - 1;
}

static void bytes_leave(model_activity_t *a, model_open_t *taken)
{
    a->memories.list[taken->row].sums.bytes -= taken->bytes;
    model_open_remove(&a->opens, taken);
}

static void bytes_come(model_activity_t *a, const gpurt_row_t *r, uint32_t row,
                       const gpurt_activity_memory_t *words)
{
    gpurt_model_memory_sums_t *sums = &a->memories.list[row].sums;
    model_open_t *taken = model_open_add(&a->opens, MODEL_OPEN_MEMORY, r->program,
                                         gpurt_pair_value(words->address));

    if (!taken) {
        a->memories.about.no_room++;
        return;
    }
    taken->time_ns = r->time_ns;
    taken->bytes = gpurt_pair_value(words->bytes);
    taken->row = (uint16_t)row;
    sums->bytes += taken->bytes;
    if (sums->bytes > sums->peak_bytes)
        sums->peak_bytes = sums->bytes;
}

static void take(model_activity_t *a, const gpurt_row_t *r,
                 const gpurt_activity_memory_t *words)
{
    const uint64_t address = gpurt_pair_value(words->address);
    model_open_t *given = model_open_find(&a->opens, MODEL_OPEN_GIVEN, r->program, address);
    model_open_t *same = model_open_find(&a->opens, MODEL_OPEN_MEMORY, r->program, address);
    uint32_t row = row_of(a, r, words->memory);

    a->memories.list[row].sums.takes++;
    if (given && given->time_ns >= r->time_ns) {
        model_open_remove(&a->opens, given);
        a->memories.about.gives_alone--;
        return;
    }
    if (same) { /* nobody can take it again who has not given it back */
        a->memories.about.gives_missed++;
        if (same->time_ns > r->time_ns)
            return; /* this one is the older */
        bytes_leave(a, same);
    }
    bytes_come(a, r, row, words);
}

/* Kept for a while: its taking may only come late. */
static void give_alone(model_activity_t *a, const gpurt_row_t *r, uint64_t address)
{
    model_opens_t *o = &a->opens;
    model_open_t *given = model_open_find(o, MODEL_OPEN_GIVEN, r->program, address);

    a->memories.about.gives_alone++;
    if (given)
        model_open_remove(o, given);
    else if (o->count[MODEL_OPEN_GIVEN] == MODEL_OPEN_EARLY)
        model_open_remove(o, model_open_oldest(o, MODEL_OPEN_GIVEN));
    given = model_open_add(o, MODEL_OPEN_GIVEN, r->program, address);
    given->time_ns = r->time_ns;
}

static void give(model_activity_t *a, const gpurt_row_t *r,
                 const gpurt_activity_memory_t *words)
{
    const uint64_t address = gpurt_pair_value(words->address);
    model_open_t *taken =
        model_open_find(&a->opens, MODEL_OPEN_MEMORY, r->program, address);
    gpurt_model_memory_about_t *about = &a->memories.about;

    if (taken && taken->time_ns <= r->time_ns) {
        a->memories.list[taken->row].sums.gives++;
        bytes_leave(a, taken);
        return;
    }
    a->memories.list[row_of(a, r, words->memory)].sums.gives++;
    if (taken && about->gives_missed) /* of who had it before: it was missed then */
        about->gives_missed--;
    else
        give_alone(a, r, address);
}

void model_memory_put(model_activity_t *a, const gpurt_row_t *r,
                      const gpurt_activity_memory_t *words)
{
    if (model_is_word(a, words->name, "take"))
        take(a, r, words);
    else
        give(a, r, words);
}

/* ---- pools --------------------------------------------------------------------------- */

/* The row of a pool, or one that is free: of a pool that is gone, the one told of first. Returns:
 * NULL, all are in use. */
static model_pool_t *pool_of(model_activity_t *a, const gpurt_row_t *r, uint64_t address)
{
    model_pool_t *free = NULL;

    for (uint32_t i = 0; i < a->memories.pool_count; i++) {
        model_pool_t *p = &a->memories.pools[i];

        if (p->address == address && p->program == r->program)
            return p;
        if (p->gone && (!free || p->time_ns < free->time_ns))
            free = p;
    }
    if (a->memories.pool_count < GPURT_MODEL_POOLS)
        return &a->memories.pools[a->memories.pool_count++];
    return free;
}

void model_pool_put(model_activity_t *a, const gpurt_row_t *r,
                    const gpurt_activity_pool_t *words)
{
    const uint64_t address = gpurt_pair_value(words->address);
    model_pool_t *p = pool_of(a, r, address);

    if (!p) {
        a->memories.about.pools_left_out++;
        return;
    }
    if (p->address == address && p->program == r->program && r->time_ns < p->time_ns)
        return; /* a later one is known */
    *p = (model_pool_t){.address = address,
                        .bytes = gpurt_pair_value(words->bytes),
                        .used = gpurt_pair_value(words->used),
                        .time_ns = r->time_ns,
                        .device = r->block,
                        .program = r->program,
                        .what = words->name,
                        .memory = words->memory,
                        .gone = model_is_word(a, words->name, "pool destroyed")};
}

/* ---- the view ------------------------------------------------------------------------ */

/* Of several processes it must be said whose something is. */
static uint32_t pid_of(const gpurt_model_t *m, uint32_t program)
{
    return model_programs(m) > 1 ? model_pid_of(m, program) : 0;
}

static void memory_view(const gpurt_model_t *m, const model_places_t *places,
                        gpurt_model_memory_t *v)
{
    const model_memory_t *from = &m->activity.memories;

    v->count = from->count;
    v->about = from->about;
    for (uint32_t i = 0; i < from->count; i++) {
        const model_memory_row_t *row = &from->list[i];
        gpurt_model_memory_row_t *to = &v->list[i];
        uint32_t device = (uint32_t)(row->id.key >> 32);

        to->sums = row->sums;
        to->gpu = device == UINT32_MAX
                      ? GPURT_MODEL_DEVICES
                      : model_place_of(&m->activity.devices, places, row->id.kind, device);
        to->pid = pid_of(m, row->id.kind);
        model_name(m, (uint32_t)row->id.key, to->kind, sizeof to->kind);
    }
    v->list[GPURT_MODEL_MEMORIES].sums = from->list[GPURT_MODEL_MEMORIES].sums;
    v->list[GPURT_MODEL_MEMORIES].gpu = GPURT_MODEL_DEVICES;
    model_text_begin(v->list[GPURT_MODEL_MEMORIES].kind,
                     sizeof v->list[GPURT_MODEL_MEMORIES].kind, "(all others)", 12);
}

static void pools_view(const gpurt_model_t *m, const model_places_t *places,
                       gpurt_model_memory_t *v)
{
    const model_memory_t *from = &m->activity.memories;

    v->pool_count = from->pool_count;
    for (uint32_t i = 0; i < from->pool_count; i++) {
        const model_pool_t *p = &from->pools[i];
        gpurt_model_pool_t *to = &v->pools[i];

        to->address = p->address;
        to->bytes = p->bytes;
        to->used = p->used;
        to->gpu = model_place_of(&m->activity.devices, places, p->program, p->device);
        to->pid = pid_of(m, p->program);
        model_name(m, p->what, to->what, sizeof to->what);
        model_name(m, p->memory, to->kind, sizeof to->kind);
    }
}

void model_memory_view(const gpurt_model_t *m, const model_places_t *places,
                       gpurt_model_activity_t *v)
{
    memory_view(m, places, &v->memories);
    pools_view(m, places, &v->memories);
}
