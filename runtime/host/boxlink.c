/* SPDX-License-Identifier: Apache-2.0 */
#include "boxlink.h"

#include "drainspawn.h"
#include "handover.h"
#include "refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One runtime a process, so one box. Written under the lock of gpurt_open and gpurt_close. */
static struct {
    gpurt_boxmap_t map;
    int drainer; /* pipe to a drainer of our own, or -1 */
    bool open;
} link = {.drainer = -1};

/* NULL where it is not set, or set to nothing. Not read in a program that runs with the
 * rights of another user: it would start a program and write a file. */
static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

static gpurt_status_t level_read(uint32_t *level, gpurt_error_t *err)
{
    static const char *const words[] = {"trace", "debug", "info", "warn", "error", "panic"};
    const char *value = setting("GPURT_LEVEL");

    *level = GPURT_LEVEL_INFO;
    if (!value)
        return GPURT_OK;
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(value, words[i]) == 0) {
            *level = GPURT_LEVEL_TRACE + i;
            return GPURT_OK;
        }
    return REFUSE(err, GPURT_E_INVALID,
                  "GPURT_LEVEL=%.32s: say trace, debug, info, warn, error or panic", value);
}

static gpurt_status_t ring_bytes_read(uint32_t *bytes, gpurt_error_t *err)
{
    const char *value = setting("GPURT_RING_BYTES");
    unsigned long long number;
    char *end;

    *bytes = 0;
    if (!value)
        return GPURT_OK;
    number = strtoull(value, &end, 0);
    if (*value == '-' || *end || number == 0 || number > UINT32_MAX)
        return REFUSE(err, GPURT_E_INVALID, "GPURT_RING_BYTES=%.32s: say a number of bytes",
                      value);
    *bytes = (uint32_t)number;
    return GPURT_OK;
}

static gpurt_status_t box_make(const gpurt_opened_t *opened, gpurt_error_t *err)
{
    const gpurt_info_t *info = &opened->info;
    gpurt_section_plan_t section = {.kind = info->backend == GPURT_BACKEND_CUDA
                                                ? GPURT_SECTION_CUDA
                                                : GPURT_SECTION_CPU,
                                    .device = (uint32_t)info->device,
                                    .sm_count = info->sm_count,
                                    .warp_slots = info->warp_slots,
                                    .name = info->name};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_status_t st = level_read(&plan.level, err);

    if (st == GPURT_OK)
        st = ring_bytes_read(&section.ring_bytes, err);
    if (st == GPURT_OK)
        st = gpurt_boxmap_create(&plan, &link.map, err);
    if (st != GPURT_OK)
        return st;
    st = opened->ops->box_connect(opened->self, &link.map, 0, err);
    if (st != GPURT_OK)
        gpurt_boxmap_detach(&link.map);
    link.open = st == GPURT_OK;
    return st;
}

void gpurt_boxlink_open(gpurt_opened_t *opened)
{
    gpurt_info_t *info = &opened->info;
    const char *off = setting("GPURT_OFF"), *drainer = setting("GPURT_DRAIN");
    const char *file = setting("GPURT_LOG");
    gpurt_error_t err = {0};
    gpurt_status_t st;
    size_t used;

    if ((!drainer && !file) || (off && strcmp(off, "0") != 0))
        return;
    st = box_make(opened, &err);
    if (st == GPURT_OK && drainer)
        st = gpurt_handover_give(&link.map, &err);
    else if (st == GPURT_OK)
        st = gpurt_drainspawn_start(file, link.map.fd, &link.drainer, &err);
    if (st == GPURT_OK)
        return;
    gpurt_boxlink_close(opened);
    used = strlen(info->why);
    snprintf(info->why + used, sizeof info->why - used, "; no log: %s",
             err.text[0] ? err.text : gpurt_status_text(st));
}

void gpurt_boxlink_close(const gpurt_opened_t *opened)
{
    if (!link.open)
        return;
    opened->ops->box_disconnect(opened->self, &link.map, 0);
    gpurt_store_release_sys_u32(&link.map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(&link.map);
    gpurt_drainspawn_wait(link.drainer);
    link.drainer = -1;
    link.open = false;
}
