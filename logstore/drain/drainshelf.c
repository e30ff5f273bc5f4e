/* SPDX-License-Identifier: Apache-2.0 */
/* The shelf: what was taken off rings, and no file holds yet.
 *
 * A ring is small, and who writes it waits or drops when it is full. A frame of a few records is
 * dear: a head, a plan, a write, an entry of the index, and nothing to compress it against.
 * So a ring that is half used up does not end the frame at hand. Its groups are copied to the
 * shelf, which lies in the box as it does, and its space is given back; their rows wait in the
 * batch for others. A drainer that dies leaves them there, and the next one takes them first.
 *
 * Which pieces count, the rings say: those that end behind xfiled. So the flush that moves
 * xfiled takes pieces off by that alone, wherever it is cut short, and xfirst, which it stores
 * last, only gives their room back.
 *   SH1  xend.rel -> shelf_take_over.acq   the piece; the ring's tail moves behind it (B2)
 *   SH2  xfirst.rel -> room.acq            xfiled, before another piece lies over this one */
#include "drainpart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- to the shelf -------------------------------------------------------------------- */

/* By the drain's thread, as it shelves, and by the scribe's, as it has written: who comes late
 * must not take back what the other gave. */
void drain_tail_raise(gpurt_ring_control_t *c, uint32_t to)
{
    uint32_t tail = gpurt_load_relaxed_sys_u32(&c->xtail); /* relaxed: compared below */

    while ((int32_t)(to - tail) > 0 &&
           !gpurt_cas_release_sys_u32(&c->xtail, &tail, to)) /* B2.rel */
        ;
}

static uint32_t shelf_room(const gpurt_drain_t *d)
{
    uint32_t first = gpurt_load_acquire_sys_u32(&d->map->box->shelf.xfirst); /* SH2.acq */

    return d->map->shelf.group_count - (d->shelf_at - first);
}

/* All of a ring that is neither in the file nor here: also what is in a batch that waits to be
 * written. Meanwhile the scribe may free some of it, and it may be overwritten as it is
 * copied: then it is before xfiled, and nobody will ask for it. */
static bool ring_shelve(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    const gpurt_group_t *from = gpurt_boxmap_groups(d->map, section, ring);
    const uint32_t from_mask = d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES - 1;
    const uint32_t mask = d->map->shelf.group_count - 1;
    gpurt_ring_control_t *c = gpurt_boxmap_control(d->map, section, ring);
    const uint32_t end = d->sections[section].positions[ring];
    gpurt_group_t *shelf = gpurt_boxmap_shelf(d->map);
    gpurt_box_piece_t piece = {.ring = drain_ring_name(section, ring)};

    piece.start =
        gpurt_load_relaxed_sys_u32(&c->xtail); /* relaxed: an older one is true too */
    if (end - piece.start > from_mask + 1)     /* overwritten before it was read */
        piece.start = end - (from_mask + 1);
    piece.groups = end - piece.start;
    if (shelf_room(d) < piece.groups + 1)
        return false;
    memcpy(&shelf[d->shelf_at & mask], &piece, sizeof piece);
    for (uint32_t i = 0; i < piece.groups; i++)
        shelf[(d->shelf_at + 1 + i) & mask] =
            gpurt_group_load(&from[(piece.start + i) & from_mask]); /* B1 */
    d->shelf_end = d->shelf_at += piece.groups + 1;
    gpurt_store_release_sys_u32(&d->map->box->shelf.xend, d->shelf_at); /* SH1.rel */
    drain_tail_raise(c, end);
    d->sections[section].cursors[ring].handed = end;
    return true;
}

bool drain_shelve(gpurt_drain_t *d)
{
    if (!d->store || !d->map->writable || d->map->shelf.group_count == 0 ||
        drain_shelf_left(d))
        return false;
    for (uint32_t i = 0; i < d->batch->mark_count; i++) {
        uint32_t section = drain_name_section(d->batch->marks[i].ring);
        uint32_t ring = drain_name_ring(d->batch->marks[i].ring);
        const drain_section_t *s = &d->sections[section];

        if (s->positions[ring] - s->cursors[ring].handed >=
                d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES / 2 &&
            !ring_shelve(d, section, ring))
            return false;
    }
    return true;
}

void drain_shelf_free(const drain_batch_t *b)
{
    gpurt_store_release_sys_u32(&b->drain->map->box->shelf.xfirst,
                                b->shelf_at); /* SH2.rel */
}

/* ---- what a drainer left there ------------------------------------------------------- */

gpurt_status_t drain_shelf_take_over(gpurt_drain_t *d, gpurt_error_t *err)
{
    const gpurt_box_shelf_t *shelf = &d->map->box->shelf;
    uint32_t bytes = GPURT_RING_MIN_BYTES;

    d->shelf_end = gpurt_load_acquire_sys_u32(&shelf->xend); /* SH1.acq */
    d->shelf_at =
        gpurt_load_relaxed_sys_u32(&shelf->xfirst); /* relaxed: an older one does */
    if (d->shelf_end - d->shelf_at > d->map->shelf.group_count)
        d->shelf_at = d->shelf_end; /* a damaged box */
    if (!drain_shelf_left(d))
        return GPURT_OK;
    for (uint32_t i = 0; i < d->map->section_count; i++)
        if (d->map->sections[i].ring_bytes > bytes)
            bytes = d->map->sections[i].ring_bytes;
    d->lap = malloc(bytes);
    return d->lap
               ? GPURT_OK
               : gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "drain: memory");
}

/* The piece where we are. Returns: false when that is none. */
static bool piece_get(const gpurt_drain_t *d, gpurt_box_piece_t *piece)
{
    const gpurt_group_t *shelf = gpurt_boxmap_shelf(d->map);
    uint32_t section, ring;

    memcpy(piece, &shelf[d->shelf_at & (d->map->shelf.group_count - 1)], sizeof *piece);
    section = drain_name_section(piece->ring);
    ring = drain_name_ring(piece->ring);
    return section < d->map->section_count && ring < d->map->sections[section].ring_count &&
           piece->groups <= d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES &&
           piece->groups < d->shelf_end - d->shelf_at;
}

/* The ring as it was from `position` on, as far as the piece holds it. What lies before that may have been
 * overwritten as it was copied: those are records of the lap behind this piece, and would be read as such. */
static void lap_lay(const gpurt_drain_t *d, const gpurt_box_piece_t *piece,
                    uint32_t position)
{
    const gpurt_group_t *shelf = gpurt_boxmap_shelf(d->map);
    const uint32_t mask = d->map->shelf.group_count - 1;
    uint32_t bytes = d->map->sections[drain_name_section(piece->ring)].ring_bytes;

    memset(d->lap, 0, bytes);
    for (uint32_t i = position - piece->start; i < piece->groups; i++)
        d->lap[(piece->start + i) & (bytes / GPURT_GROUP_BYTES - 1)] =
            shelf[(d->shelf_at + 1 + i) & mask];
}

/* The drainer that put it here may have died before it gave the space back. */
static void piece_done(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t end)
{
    d->sections[section].cursors[ring].handed = end;
    if (d->map->writable)
        drain_tail_raise(gpurt_boxmap_control(d->map, section, ring), end);
}

bool drain_shelf_look(gpurt_drain_t *d)
{
    while (drain_shelf_left(d) && !d->alarm) {
        gpurt_box_piece_t piece;
        uint32_t section, ring, end, *position;

        if (!piece_get(d, &piece)) {
            d->shelf_at = d->shelf_end;
            break;
        }
        section = drain_name_section(piece.ring);
        ring = drain_name_ring(piece.ring);
        position = &d->sections[section].positions[ring];
        end = piece.start + piece.groups;
        if ((int32_t)(piece.start - *position) > 0) { /* overwritten before it was read */
            d->sections[section].cursors[ring].overrun = true;
            *position = piece.start;
        }
        if ((int32_t)(end - *position) > 0) {
            lap_lay(d, &piece, *position);
            if (!drain_piece(d, section, ring, d->lap, end))
                return false;
            if (*position != end) /* a panic, or a site that is not defined yet */
                return true;
            piece_done(d, section, ring, end);
        }
        d->shelf_at += piece.groups + 1;
        if (!drain_panics(d))
            return false;
    }
    return true;
}
