/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever attaches trusts no byte: each count and offset is bounded here, once, on a
 * private copy, and everything else uses the copy. */
#include "boxcheck.h"

#include "crc32c.h"

#include <string.h>

/* A section up to its clock fit is fixed, and so are its last two fields. */
static uint32_t section_sum(uint32_t sum, const gpurt_box_section_t *s)
{
    sum = gpurt_crc32c(sum, s, offsetof(gpurt_box_section_t, clock));
    return gpurt_crc32c(sum, s->uuid, sizeof s->uuid + sizeof s->name);
}

uint32_t gpurt_boxcheck_sum(const gpurt_box_t *box)
{
    uint32_t sum = gpurt_crc32c(0, box, offsetof(gpurt_box_t, check));

    sum = gpurt_crc32c(sum, &box->identity, sizeof box->identity);
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++)
        sum = section_sum(sum, &box->sections[i]);
    return gpurt_crc32c(sum, &box->shelf, offsetof(gpurt_box_shelf_t, xfirst));
}

uint32_t gpurt_boxcheck_ring_max(uint32_t policy)
{
    return policy == GPURT_POLICY_OVERWRITE ? GPURT_RING_MAX_BYTES / 2
                                            : GPURT_RING_MAX_BYTES;
}

static bool part_fits(uint64_t offset, uint64_t count, uint64_t each, uint64_t bytes)
{
    return offset % GPURT_BOX_PAGE == 0 && offset >= GPURT_BOX_PAGE && offset <= bytes &&
           count <= (bytes - offset) / each;
}

static bool section_fits(const gpurt_box_section_t *s, uint64_t bytes)
{
    uint32_t ring = s->ring_bytes;

    return s->kind >= GPURT_SECTION_CUDA && s->kind <= GPURT_SECTION_HOST &&
           s->policy <= GPURT_POLICY_BLOCK && ring >= GPURT_RING_MIN_BYTES &&
           ring <= gpurt_boxcheck_ring_max(s->policy) && (ring & (ring - 1)) == 0 &&
           s->sm_count <= GPURT_BOX_SIDE && s->warp_slots <= GPURT_BOX_SIDE &&
           s->ring_count > 0 && s->sm_count * s->warp_slots == s->ring_count &&
           s->def_count <= GPURT_DEF_MAX_COUNT &&
           part_fits(s->rings_offset, s->ring_count, sizeof(gpurt_ring_control_t), bytes) &&
           part_fits(s->data_offset, s->ring_count, ring, bytes) &&
           part_fits(s->defs_offset, s->def_count, GPURT_DEF_BYTES, bytes) &&
           part_fits(s->panics_offset, s->panic_count, GPURT_PANIC_BYTES, bytes) &&
           part_fits(s->state_offset, s->state_bytes, 1, bytes);
}

static bool shelf_fits(const gpurt_box_shelf_t *s, uint64_t bytes)
{
    uint32_t count = s->group_count;

    return count <= GPURT_SHELF_MAX_BYTES / GPURT_GROUP_BYTES &&
           (count & (count - 1)) == 0 &&
           part_fits(s->offset, count, GPURT_GROUP_BYTES, bytes);
}

/* copy: a private one of page 0. */
static gpurt_status_t header_check(const gpurt_box_t *copy, size_t bytes,
                                   gpurt_error_t *err)
{
    if (copy->magic != GPURT_BOX_MAGIC)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "not a gpurt box");
    if (copy->version != GPURT_BOX_VERSION || copy->header_bytes != sizeof *copy ||
        copy->section_bytes != sizeof copy->sections[0])
        return gpurt_fail(
            err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
            "box of version %u, this program reads %d; use the gpurt that the "
            "application was built with",
            copy->version, GPURT_BOX_VERSION);
    if (copy->xlife == GPURT_LIFE_CREATING)
        return gpurt_fail(err, GPURT_E_NOT_READY, GPURT_FROM_GPURT, 0,
                          "box still being made; try again");
    if (copy->box_bytes > bytes || copy->section_count == 0 ||
        copy->section_count > GPURT_BOX_SECTIONS || copy->check != gpurt_boxcheck_sum(copy))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "box damaged: its header does not add up");
    for (uint32_t i = 0; i < copy->section_count; i++)
        if (!section_fits(&copy->sections[i], copy->box_bytes))
            return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "box damaged: section %u is out of bounds", i);
    if (!shelf_fits(&copy->shelf, copy->box_bytes))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "box damaged: its shelf is out of bounds");
    return GPURT_OK;
}

static gpurt_status_t header_copy(const gpurt_box_t *box, size_t bytes, gpurt_box_t *copy,
                                  gpurt_error_t *err)
{
    if (bytes < GPURT_BOX_PAGE)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "too short for a box");
    memcpy(copy, box, sizeof *copy);
    copy->xlife = gpurt_load_acquire_sys_u32(&box->xlife); /* B4.acq */
    if (copy->xlife == GPURT_LIFE_CREATING)
        return header_check(copy, bytes, err);
    memcpy(copy, box, offsetof(gpurt_box_t, xlife)); /* what B4 has made visible */
    memcpy(&copy->identity, &box->identity, sizeof copy->identity);
    memcpy(copy->sections, box->sections, sizeof copy->sections);
    memcpy(&copy->shelf, &box->shelf, sizeof copy->shelf);
    return header_check(copy, bytes, err);
}

gpurt_status_t gpurt_boxmap_check(const gpurt_box_t *box, size_t bytes, gpurt_error_t *err)
{
    gpurt_box_t copy;

    return header_copy(box, bytes, &copy, err);
}

gpurt_status_t gpurt_boxcheck_adopt(gpurt_boxmap_t *map, gpurt_error_t *err)
{
    gpurt_box_t copy;
    gpurt_status_t st = header_copy(map->box, map->bytes, &copy, err);

    if (st != GPURT_OK)
        return st;
    map->section_count = copy.section_count;
    memcpy(map->sections, copy.sections, sizeof map->sections);
    map->shelf = copy.shelf;
    return GPURT_OK;
}
