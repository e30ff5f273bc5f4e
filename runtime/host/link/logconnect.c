/* SPDX-License-Identifier: Apache-2.0 */
#include "logconnect.h"

#include "sitegate.h"

#include <errno.h>
#include <gpurt/impl/logport.h>
#include <gpurt/impl/trail.h>
#include <stdlib.h>
#include <string.h>

gpurt_log_port_t gpurt_log_ports[GPURT_MAX_DEVICES];

/* Of the boxes of this process; 0 is what an object that was never named holds. */
static uint32_t epoch;

void gpurt_log_connect_state(const gpurt_boxmap_t *map, uint32_t section,
                             gpurt_log_port_t *port)
{
    uint32_t objects;
    gpurt_state_head_t *head = gpurt_boxmap_state(map, section, &objects);

    epoch = epoch % 0xffffu + 1;
    port->epoch = epoch;
    if (!head || map->bare)
        return;
    port->object_count = objects;
    port->xobjects = &head->xobjects;
    port->objects = gpurt_state_entries(head, map->sections[section].ring_count);
    port->waits = gpurt_state_waits(head);
}

static void rings_connect(const gpurt_boxmap_t *map, uint32_t section,
                          gpurt_log_port_t *port)
{
    const gpurt_box_section_t *s = &map->sections[section];

    /* Touched only where there are notes; without memory for them there are none. */
    port->trails = calloc(s->ring_count, sizeof *port->trails);
    port->controls = gpurt_boxmap_control(map, section, 0);
    port->heads = (char *)&port->controls->head;
    port->group_count = s->ring_bytes / GPURT_GROUP_BYTES;
    port->ring_bytes = s->ring_bytes;
    port->ring_count = s->ring_count;
    port->warp_slots = s->warp_slots;
    port->heads_end = s->ring_count * (uint32_t)sizeof(gpurt_ring_control_t);
    port->policy = s->policy;
    gpurt_log_port_open(port, GPURT_LEVEL_PANIC); /* gates decide */
    port->groups = gpurt_boxmap_groups(map, section, 0);
}

gpurt_status_t gpurt_log_connect(uint32_t index, const gpurt_boxmap_t *map,
                                 uint32_t section, gpurt_error_t *err)
{
    const gpurt_box_section_t *s = &map->sections[section];
    gpurt_log_port_t *port = &gpurt_log_ports[index];
    gpurt_log_string_entry_t *strings;

    if (port->panic_count)
        return gpurt_fail(err, GPURT_E_OPEN, GPURT_FROM_GPURT, 0,
                          "log: a box is connected");
    strings = calloc(GPURT_LOG_STRINGS, sizeof *strings);
    if (!strings)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: strings");
    port->strings = strings;
    port->defs = s->def_count ? gpurt_boxmap_def(map, section, 0) : NULL;
    port->xdefs = &map->box->sections[section].xdefs;
    port->panics = s->panic_count ? gpurt_boxmap_panic(map, section, 0) : NULL;
    port->xpanics = &map->box->sections[section].xpanics;
    port->xfailed = &map->box->sections[section].xfailed;
    port->control = &map->box->control;
    port->def_count = s->def_count;
    port->panic_count = s->panic_count;
    gpurt_log_connect_state(map, section, port);
    if (!map->bare)
        rings_connect(map, section, port);
    return GPURT_OK;
}

void gpurt_log_disconnect(uint32_t index, const gpurt_boxmap_t *map, uint32_t section)
{
    gpurt_log_port_t *port = &gpurt_log_ports[index];

    gpurt_sitegate_forget(map, section);
    free(port->strings);
    free(port->trails);
    memset(port, 0, sizeof *port);
}

void gpurt_log_forget(uint32_t index)
{
    memset(&gpurt_log_ports[index], 0, sizeof gpurt_log_ports[0]);
}
