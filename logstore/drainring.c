/* SPDX-License-Identifier: Apache-2.0 */
/* One ring: records, marks, what was dropped, what was overwritten, what was left
 * unfinished. */
#include "drainpart.h"

/* The ring at hand, gathered once for the loop. */
typedef struct ring_view {
    const gpurt_group_t *groups;
    uint32_t group_count;
    uint32_t section, ring;
    drain_cursor_t *cursor;
} ring_view_t;

static uint32_t messages_of(const uint32_t *words)
{
    switch (words[0] >> 29) {
    case GPURT_FORM_LANES:
        return GPURT_WARP_SIZE;
    case GPURT_FORM_LANES_PART:
        return (uint32_t)__builtin_popcount(words[GPURT_RECORD_HEAD_WORDS]);
    default:
        return 1;
    }
}

/* A mark says how many messages were written before it: what was not seen is lost. */
static bool mark_take(gpurt_drain_t *d, const ring_view_t *v, const uint32_t *words)
{
    const uint32_t *lap = words + GPURT_RECORD_HEAD_WORDS;
    uint64_t written = lap[1] | (uint64_t)lap[2] << 32;
    drain_cursor_t *c = v->cursor;
    int64_t lost = (int64_t)(written - c->seen);

    if (c->overrun && lost > 0) {
        if (!drain_loss(d, v->section, v->ring, GPURT_LOSS_OVERRUN, (uint64_t)lost,
                        d->now_ns))
            return false;
        c->seen = written;
    }
    c->overrun = false;
    return true;
}

/* The figure at the end, for an overrun that no mark followed. */
static bool overrun_close(gpurt_drain_t *d, const ring_view_t *v)
{
    const gpurt_ring_control_t *control = gpurt_boxmap_control(d->map, v->section, v->ring);
    /* relaxed: the producer has ended */
    uint64_t lost = gpurt_load_relaxed_sys_u64(&control->head.xrecords) - v->cursor->seen;

    /* A GPU keeps its counts to itself until the box is closed. If it never was: at least one. */
    if ((int64_t)lost <= 0 && d->map->sections[v->section].kind == GPURT_SECTION_CUDA)
        lost = 1;
    if (lost && !drain_loss(d, v->section, v->ring, GPURT_LOSS_OVERRUN, lost, d->now_ns))
        return false;
    v->cursor->seen += lost;
    v->cursor->overrun = false;
    return true;
}

/* What the producer counted as dropped since we last looked. */
static bool losses_take(gpurt_drain_t *d, const ring_view_t *v)
{
    const gpurt_ring_control_t *control = gpurt_boxmap_control(d->map, v->section, v->ring);
    gpurt_group_t loss = gpurt_group_load((const gpurt_group_t *)&control->xloss);
    uint64_t time = loss.word[1] | (uint64_t)loss.word[2] << 32;
    uint32_t count = loss.tag - v->cursor->lost_told;

    if ((int32_t)count <= 0) /* an older sum may be stored over a newer one for a moment */
        return true;
    if (!drain_loss(d, v->section, v->ring, loss.word[0], count,
                    drain_time(d, v->section, time & GPURT_TIME_MASK)))
        return false;
    v->cursor->lost_told += count;
    return true;
}

/* Whether something was begun at this position. A device keeps its head to itself, but it
 * leaves no holes: its lanes stop between records or all at once. */
static bool begun(const gpurt_drain_t *d, const ring_view_t *v, uint32_t state)
{
    const gpurt_ring_control_t *control = gpurt_boxmap_control(d->map, v->section, v->ring);

    if (state == GPURT_READ_PART || d->map->sections[v->section].kind == GPURT_SECTION_CUDA)
        return state == GPURT_READ_PART;
    /* relaxed: only a hint that it is worth waiting */
    return gpurt_load_relaxed_sys_u32(&control->head.xhead) != v->cursor->position;
}

/* Nothing whole to read here. Steps over an unfinished record when its producer is gone
 * or has slept too long; if it wakes, its groups carry positions that nobody asks for
 * any more. Returns: 1 stepped, 0 stay, -1 the batch is full. */
static int hole_step(gpurt_drain_t *d, const ring_view_t *v, uint32_t state,
                     uint32_t groups)
{
    drain_cursor_t *c = v->cursor;
    uint32_t next;

    if (!d->final) {
        if (!begun(d, v, state)) {
            c->wait_since = 0;
            return 0;
        }
        if (c->wait_since == 0)
            c->wait_since = d->now_ns;
        if (d->now_ns - c->wait_since < HOLE_WAIT_NS)
            return 0;
    }
    next = gpurt_ring_find(v->groups, v->group_count, c->position);
    if (next == c->position) {
        if (!d->final || state != GPURT_READ_PART)
            return 0;
        next = c->position + groups; /* the last one, cut off */
    }
    if (!drain_loss(d, v->section, v->ring, GPURT_LOSS_TORN, 1, d->now_ns))
        return -1;
    c->wait_since = 0;
    c->position = next;
    d->sum.torn++;
    return 1;
}

/* Returns: 1 taken, 0 nothing to take, -1 the batch is full. */
static int record_take(gpurt_drain_t *d, const ring_view_t *v)
{
    uint32_t words[GPURT_READ_WORDS], groups, messages;
    drain_cursor_t *c = v->cursor;
    uint32_t state =
        gpurt_ring_read(v->groups, v->group_count, c->position, words, &groups);
    bool wait = !d->final;
    int done;

    if (state == GPURT_READ_OVERRUN) {
        c->overrun = true;
        c->position = gpurt_ring_oldest(v->groups, v->group_count, c->position);
        return 1;
    }
    if (state == GPURT_READ_SHARED) {
        if (!drain_loss(d, v->section, v->ring, GPURT_LOSS_SHARED, 1, d->now_ns))
            return -1;
        c->position += groups;
        return 1;
    }
    if (state != GPURT_READ_RECORD)
        return hole_step(d, v, state, groups);
    if ((words[0] >> 16 & 0xffu) == GPURT_KIND_LAP) {
        if (!mark_take(d, v, words))
            return -1;
        c->position += groups;
        return 1;
    }
    messages = messages_of(words);
    if (wait && c->wait_since && d->now_ns - c->wait_since >= SITE_WAIT_NS)
        wait = false;
    done = drain_record(d, v->section, v->ring, words, groups, wait);
    if (done < 0) {
        if (c->wait_since == 0)
            c->wait_since = d->now_ns;
        return 0;
    }
    if (done == 0)
        return -1;
    c->wait_since = 0;
    c->position += groups;
    c->seen += messages;
    return 1;
}

bool drain_ring(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    ring_view_t v = {gpurt_boxmap_groups(d->map, section, ring),
                     d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES, section,
                     ring, &d->sections[section].cursors[ring]};
    uint32_t start = v.cursor->position;
    int state;

    do {
        state = record_take(d, &v);
        /* A producer as fast as we are must not hold us at one ring. */
    } while (state > 0 && v.cursor->position - start < v.group_count);
    if (v.cursor->position - v.cursor->freed >= v.group_count / 2)
        d->urgent = true;
    if (state < 0)
        return false;
    if (d->final && v.cursor->overrun && !overrun_close(d, &v))
        return false;
    return losses_take(d, &v);
}
