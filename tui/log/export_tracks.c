/* SPDX-License-Identifier: Apache-2.0 */
#include "export_tracks.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 2 * EXPORT_TRACKS
};

/* Memory is touched as tracks are made. */
struct export_tracks {
    const export_writer_t *writer;
    export_out_t *out;
    uint32_t count;
    uint32_t slots[SLOTS]; /* number of a track, 0: none */
    export_track_t list[EXPORT_TRACKS];
};

export_tracks_t *export_tracks_create(const export_writer_t *writer, export_out_t *out)
{
    export_tracks_t *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->writer = writer;
    t->out = out;
    out->tracks = t->list;
    return t;
}

void export_tracks_destroy(export_tracks_t *t)
{
    free(t);
}

/* Returns: false: it lies in nothing. */
static bool parent_of(const export_out_t *o, const export_key_t *key, export_key_t *parent)
{
    memset(parent, 0, sizeof *parent);
    parent->program = key->program;
    switch (key->kind) {
    case EXPORT_THREAD:
    case EXPORT_WAITS:
    case EXPORT_OVERHEAD:
    case EXPORT_GRAPHS:
        parent->kind = EXPORT_PROCESS;
        return true;
    case EXPORT_DEVICE: /* of one process alone it stands beside that */
        parent->kind = EXPORT_PROCESS;
        return export_program_shares(&o->programs, key->program);
    case EXPORT_RANGES:
        parent->kind = key->a ? EXPORT_THREAD : EXPORT_PROCESS;
        parent->a = key->a;
        return true;
    case EXPORT_COUNTER:
    case EXPORT_OBJECT:
    case EXPORT_IDLE:
    case EXPORT_MANAGED:
    case EXPORT_STREAM:
    case EXPORT_SM:
        parent->kind = EXPORT_DEVICE;
        parent->device = key->device;
        return true;
    case EXPORT_WARP:
        parent->kind = EXPORT_SM;
        parent->device = key->device;
        parent->a = key->a;
        return true;
    default:
        return false;
    }
}

static uint32_t hash(const export_key_t *k)
{
    uint64_t h = k->kind | (uint64_t)k->program << 16;

    h = (h ^ k->device) * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 29) ^ k->lane) * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 29) ^ k->a) * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 29) ^ k->b) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 40) % SLOTS;
}

export_track_t *export_tracks_get(export_tracks_t *t, export_key_t key)
{
    static const export_key_t others;
    export_key_t parent;
    export_track_t *track;
    uint32_t at = hash(&key), in = 0;

    for (; t->slots[at]; at = (at + 1) % SLOTS)
        if (memcmp(&t->list[t->slots[at] - 1].key, &key, sizeof key) == 0)
            return &t->list[t->slots[at] - 1];
    if (t->count >= EXPORT_TRACKS - 4 && key.kind != EXPORT_OTHERS)
        return export_tracks_get(t, others); /* it and the like always find room */
    if (parent_of(t->out, &key, &parent)) {
        in = export_tracks_get(t, parent)->number;
        at = hash(&key); /* the slot may have been taken for the parent */
        while (t->slots[at])
            at = (at + 1) % SLOTS;
    }
    track = &t->list[t->count];
    track->key = key;
    track->parent = in;
    t->slots[at] = track->number = ++t->count;
    t->writer->track(t->out, track);
    return track;
}

/* A slice without a length takes no room. */
static bool fits(export_track_t *t, bool nests, uint64_t start, uint64_t end)
{
    while (t->depth && t->ends[t->depth - 1] <= start)
        t->depth--;
    if (start == end || t->depth == 0)
        return true;
    return nests && t->depth < EXPORT_DEPTH && end <= t->ends[t->depth - 1];
}

export_track_t *export_tracks_lane(export_tracks_t *t, export_key_t key, bool nests,
                                   uint64_t start, uint64_t end)
{
    export_track_t *track = export_tracks_get(t, key);

    while (!fits(track, nests, start, end) && key.lane + 1 < EXPORT_LANES) {
        key.lane++;
        track = export_tracks_get(t, key);
    }
    if (start != end && track->depth < EXPORT_DEPTH)
        track->ends[track->depth++] = end;
    return track;
}
