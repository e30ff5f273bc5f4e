/* SPDX-License-Identifier: Apache-2.0 */
/* One ring: records, marks, what was dropped, what was overwritten, what was left
 * unfinished. */
#include "drainagain.h"

enum {
    QUANTUM = 256,   /* groups of one visit: a ring that is always full holds nobody up */
    PANIC_STEPS = 32 /* records between two looks for panics: about a microsecond */
};

/* The ring at hand, gathered once for the loop. */
typedef struct ring_view {
    const gpurt_group_t *groups;
    uint32_t group_count;
    uint32_t section, ring;
    uint32_t position;
    drain_section_t *own;
    drain_cursor_t *cursor;
    bool ended; /* nobody writes here any more */
} ring_view_t;

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
    drain_touch(d, v->section, v->ring);
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
                    drain_time(&d->sections[v->section], time & GPURT_TIME_MASK)))
        return false;
    v->cursor->lost_told += count;
    drain_touch(d, v->section, v->ring);
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
    return gpurt_load_relaxed_sys_u32(&control->head.xhead) != v->position;
}

/* Nothing whole to read here. Steps over an unfinished record when its producer is gone
 * or has slept too long; if it wakes, its groups carry positions that nobody asks for
 * any more. Returns: 1 stepped, 0 stay, -1 the batch is full. */
static int hole_step(gpurt_drain_t *d, ring_view_t *v, uint32_t state, uint32_t groups)
{
    drain_cursor_t *c = v->cursor;
    uint32_t next;

    if (!v->ended) {
        if (!begun(d, v, state)) {
            c->wait_since = 0;
            return 0;
        }
        if (c->wait_since == 0)
            c->wait_since = d->now_ns;
        if (d->now_ns - c->wait_since < HOLE_WAIT_NS)
            return 0;
    }
    next = gpurt_ring_find(v->groups, v->group_count, v->position);
    if (next == v->position) {
        if (!v->ended || state != GPURT_READ_PART)
            return 0;
        next = v->position + groups; /* the last one, cut off */
    }
    /* After an overrun the count of the next mark, or of the end, has it too. */
    if (!c->overrun && !drain_loss(d, v->section, v->ring, GPURT_LOSS_TORN, 1, d->now_ns))
        return -1;
    c->wait_since = 0;
    v->position = next;
    d->sum.torn++;
    return 1;
}

/* What is neither a record of the program nor nothing. Returns: as record_take. */
static int oddity_take(gpurt_drain_t *d, ring_view_t *v, uint32_t state,
                       const uint32_t *words, uint32_t groups)
{
    switch (state) {
    case GPURT_READ_RECORD: /* a mark */
        if (!mark_take(d, v, words))
            return -1;
        break;
    case GPURT_READ_OVERRUN:
        v->cursor->overrun = true;
        v->position = gpurt_ring_oldest(v->groups, v->group_count, v->position);
        return 1;
    case GPURT_READ_SHARED:
        if (!drain_loss(d, v->section, v->ring, GPURT_LOSS_SHARED, 1, d->now_ns))
            return -1;
        break;
    default:
        return hole_step(d, v, state, groups);
    }
    v->position += groups;
    return 1;
}

/* A record is read to where its row will be. Returns: 1 taken, 0 nothing to take, -1 the
 * batch is full. */
static int record_take(gpurt_drain_t *d, ring_view_t *v)
{
    gpurt_row_t *row = drain_row(d);
    drain_cursor_t *c = v->cursor;
    const drain_again_t *again;
    uint32_t *words, groups, state, messages;
    bool wait = !d->final;

    if (GPURT_UNLIKELY(!row))
        return -1;
    words = drain_record_words(row);
    state = gpurt_ring_read(v->groups, v->group_count, v->position, words, &groups);
    if (GPURT_UNLIKELY(state != GPURT_READ_RECORD ||
                       (words[0] >> 16 & 0xffu) == GPURT_KIND_LAP))
        return oddity_take(d, v, state, words, groups);
    if (GPURT_UNLIKELY(c->wait_since != 0) && d->now_ns - c->wait_since >= SITE_WAIT_NS)
        wait = false;
    again = wait ? drain_again_find(v->own, words[0], groups) : NULL;
    messages = GPURT_LIKELY(again != NULL)
                   ? drain_again(d, v->own, again, v->section, v->ring, row)
                   : drain_record(d, v->section, v->ring, row, groups, wait);
    if (GPURT_UNLIKELY(messages == 0)) {
        if (c->wait_since == 0)
            c->wait_since = d->now_ns;
        return 0;
    }
    c->wait_since = 0;
    v->position += groups;
    c->seen += messages;
    return 1;
}

/* Takes records until there is no more, or enough, or a panic was found. Returns: as
 * record_take, of the last one. */
static int records_take(gpurt_drain_t *d, ring_view_t *v)
{
    /* At the end a ring holds one lap and no more, whatever a damaged one pretends; before,
     * neither a producer as fast as we are nor a damaged ring must hold us. */
    const uint32_t steps_end = v->group_count,
                   most = d->final || v->group_count < QUANTUM ? v->group_count : QUANTUM;
    uint32_t start = v->position, steps = 0;
    int state;

    do {
        if (v->position - start > v->group_count) /* overrun, and now where it goes on */
            start = v->position;
        state = d->final && v->cursor->records_left == 0 ? 0 : record_take(d, v);
        if (GPURT_UNLIKELY(d->final))
            v->cursor->records_left -= state > 0;
        if (GPURT_UNLIKELY(++steps % PANIC_STEPS == 0)) {
            if (!drain_panics(d))
                return -1;
            if (d->alarm)
                break;
        }
    } while (state > 0 && steps < steps_end &&
             (v->position - start < most || v->position - start > v->group_count));
    return state;
}

/* Rows of it will say whose they are. */
static ring_view_t view_of(gpurt_drain_t *d, uint32_t section, uint32_t ring,
                           const gpurt_group_t *groups)
{
    drain_section_t *own = &d->sections[section];
    const gpurt_box_section_t *s = &d->map->sections[section];

    d->sm = (uint16_t)(ring / s->warp_slots);
    d->slot = (uint16_t)(ring % s->warp_slots);
    return (ring_view_t){groups,
                         s->ring_bytes / GPURT_GROUP_BYTES,
                         section,
                         ring,
                         own->positions[ring],
                         own,
                         &own->cursors[ring],
                         d->final};
}

bool drain_ring(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    drain_section_t *own = &d->sections[section];
    ring_view_t v = view_of(d, section, ring, gpurt_boxmap_groups(d->map, section, ring));
    const uint32_t start = v.position;
    int state;

    state = records_take(d, &v);
    v.cursor->more = state != 0 && !drain_ring_quiet(v.groups, v.group_count, v.position);
    if (v.position != start) {
        own->positions[ring] = v.position;
        drain_touch(d, section, ring);
        if (v.position - v.cursor->handed >= v.group_count / 4 * (d->patient ? 3 : 2))
            d->half = true; /* who can wait is given larger frames */
    }
    if (state < 0)
        return false;
    if (d->final && state == 0 && v.cursor->overrun && !overrun_close(d, &v))
        return false;
    return losses_take(d, &v);
}

/* Nobody goes on writing a copy, so its holes are stepped over at once, and behind the last
 * record that can be found it ends. */
bool drain_piece(gpurt_drain_t *d, uint32_t section, uint32_t ring,
                 const gpurt_group_t *groups, uint32_t end)
{
    ring_view_t v = view_of(d, section, ring, groups);
    const uint32_t size = end - v.position, left = v.cursor->records_left;
    uint32_t before;
    int state;

    v.ended = true;
    v.cursor->records_left = v.group_count; /* what is on the shelf is bounded */
    do {
        before = v.position;
        state = records_take(d, &v);
        if (end - v.position > size || (state > 0 && v.position == before && !d->alarm))
            v.position = end; /* beyond it, back or nowhere: it was overwritten meanwhile */
    } while (state > 0 && v.position != end && !d->alarm);
    v.cursor->records_left = left;
    if (state == 0 && v.position != end && v.cursor->wait_since == 0) {
        if (!v.cursor->overrun &&
            !drain_loss(d, section, ring, GPURT_LOSS_TORN, 1, d->now_ns))
            state = -1;
        else
            v.position = end;
    }
    d->sections[section].positions[ring] = v.position;
    drain_touch(d, section, ring);
    return state >= 0;
}
