/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of a section lie, and its clock. */
#include "boxmap.h"

enum {
    CLOCK_TRIES = 1000
};

static void *part(const gpurt_boxmap_t *map, uint64_t offset, uint64_t index, uint64_t each)
{
    return (char *)map->box + offset + index * each;
}

gpurt_ring_control_t *gpurt_boxmap_control(const gpurt_boxmap_t *map, uint32_t section,
                                           uint32_t ring)
{
    return (gpurt_ring_control_t *)part(map, map->sections[section].rings_offset, ring,
                                        sizeof(gpurt_ring_control_t));
}

gpurt_group_t *gpurt_boxmap_groups(const gpurt_boxmap_t *map, uint32_t section,
                                   uint32_t ring)
{
    const gpurt_box_section_t *s = &map->sections[section];

    return (gpurt_group_t *)part(map, s->data_offset, ring, s->ring_bytes);
}

gpurt_def_t *gpurt_boxmap_def(const gpurt_boxmap_t *map, uint32_t section, uint32_t slot)
{
    return (gpurt_def_t *)part(map, map->sections[section].defs_offset, slot,
                               GPURT_DEF_BYTES);
}

gpurt_panic_t *gpurt_boxmap_panic(const gpurt_boxmap_t *map, uint32_t section,
                                  uint32_t index)
{
    return (gpurt_panic_t *)part(map, map->sections[section].panics_offset, index,
                                 GPURT_PANIC_BYTES);
}

gpurt_group_t *gpurt_boxmap_shelf(const gpurt_boxmap_t *map)
{
    return (gpurt_group_t *)part(map, map->shelf.offset, 0, 0);
}

gpurt_state_head_t *gpurt_boxmap_state(const gpurt_boxmap_t *map, uint32_t section,
                                       uint32_t *objects)
{
    const gpurt_box_section_t *s = &map->sections[section];

    *objects = gpurt_state_objects(s->ring_count, s->state_bytes);
    if (s->kind == GPURT_SECTION_HOST ||
        s->state_bytes < gpurt_state_bytes(s->ring_count, 0))
        return NULL;
    return (gpurt_state_head_t *)part(map, s->state_offset, 0, 0);
}

gpurt_threadpage_t *gpurt_boxmap_threads(const gpurt_boxmap_t *map, uint32_t section)
{
    const gpurt_box_section_t *s = &map->sections[section];

    if (s->kind != GPURT_SECTION_HOST || s->state_bytes < sizeof(gpurt_threadpage_t))
        return NULL;
    return (gpurt_threadpage_t *)part(map, s->state_offset, 0, 0);
}

gpurt_taskpage_t *gpurt_boxmap_tasks(const gpurt_boxmap_t *map, uint32_t section)
{
    const gpurt_box_section_t *s = &map->sections[section];

    if (s->kind != GPURT_SECTION_HOST ||
        s->state_bytes < sizeof(gpurt_threadpage_t) + sizeof(gpurt_taskpage_t))
        return NULL;
    return (gpurt_taskpage_t *)part(map, s->state_offset, 1, sizeof(gpurt_threadpage_t));
}

gpurt_group_t *gpurt_state_waits(gpurt_state_head_t *head)
{
    return (gpurt_group_t *)(head + 1);
}

gpurt_waitable_entry_t *gpurt_state_entries(gpurt_state_head_t *head, uint32_t ring_count)
{
    return (gpurt_waitable_entry_t *)(gpurt_state_waits(head) +
                                      (size_t)ring_count * GPURT_WARP_SIZE);
}

gpurt_ring_port_t gpurt_boxmap_port(const gpurt_boxmap_t *map, uint32_t section,
                                    uint32_t ring)
{
    gpurt_ring_port_t port;

    port.groups = gpurt_boxmap_groups(map, section, ring);
    port.group_count = map->sections[section].ring_bytes / GPURT_GROUP_BYTES;
    port.policy = map->sections[section].policy;
    port.control = gpurt_boxmap_control(map, section, ring);
    port.head = &port.control->head;
    return port;
}

static gpurt_clock_fit_t *clock_of(const gpurt_boxmap_t *map, uint32_t section)
{
    return &map->box->sections[section].clock;
}

/* A sequence lock whose fields are atomics, so that it needs no fence: each field is loaded
 * with acquire, which keeps the second look at xseq behind them. */
bool gpurt_boxmap_clock(const gpurt_boxmap_t *map, uint32_t section, gpurt_clock_fit_t *out)
{
    const gpurt_clock_fit_t *fit = clock_of(map, section);

    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint32_t seq = gpurt_load_acquire_sys_u32(&fit->xseq); /* B5.acq */

        out->error_ns = gpurt_load_acquire_sys_u32(&fit->error_ns);   /* B5.acq */
        out->device_ns = gpurt_load_acquire_sys_u64(&fit->device_ns); /* B5.acq */
        out->real_ns = gpurt_load_acquire_sys_u64(&fit->real_ns);     /* B5.acq */
        out->rate_ppb = gpurt_load_acquire_sys_i64(&fit->rate_ppb);   /* B5.acq */
        out->xseq = seq;
        /* relaxed: the acquires above keep it last */
        if (seq % 2 == 0 && gpurt_load_relaxed_sys_u32(&fit->xseq) == seq)
            return true;
    }
    return false;
}

void gpurt_boxmap_set_clock(const gpurt_boxmap_t *map, uint32_t section,
                            const gpurt_clock_fit_t *fit)
{
    gpurt_clock_fit_t *to = clock_of(map, section);
    /* relaxed: one writer */
    uint32_t seq = gpurt_load_relaxed_sys_u32(&to->xseq);

    /* Releases, so that a reader who sees a new field also sees the odd sequence. */
    gpurt_store_relaxed_sys_u32(&to->xseq,
                                seq + 1); /* relaxed: ordered by the next store */
    gpurt_store_release_sys_u32(&to->error_ns, fit->error_ns);   /* B5.rel */
    gpurt_store_release_sys_u64(&to->device_ns, fit->device_ns); /* B5.rel */
    gpurt_store_release_sys_u64(&to->real_ns, fit->real_ns);     /* B5.rel */
    gpurt_store_release_sys_i64(&to->rate_ppb, fit->rate_ppb);   /* B5.rel */
    gpurt_store_release_sys_u32(&to->xseq, seq + 2);             /* B5.rel */
}

uint64_t gpurt_clock_real(const gpurt_clock_fit_t *fit, uint64_t time48, uint64_t near_ns)
{
    /* Nanoseconds of device time since the fit, to the nearest of the values 2^48 apart. */
    uint64_t near_device = fit->device_ns + (near_ns - fit->real_ns);
    int64_t off = (int64_t)((time48 - near_device) << 16) >> 16;
    int64_t since = (int64_t)(near_device + (uint64_t)off - fit->device_ns);

    return fit->real_ns + (uint64_t)since +
           (uint64_t)(int64_t)((__extension__(__int128) since * fit->rate_ppb) /
                               1000000000);
}
