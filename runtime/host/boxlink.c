/* SPDX-License-Identifier: Apache-2.0 */
#include "boxlink.h"

#include "drainspawn.h"
#include "handover.h"
#include "hostring.h"
#include "injection.h"
#include "names.h"
#include "procfs.h"
#include "refuse.h"

#include <gpurt/activity.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* One runtime a process, so one box. Written under the lock of gpurt_open and gpurt_close. */
static struct {
    gpurt_boxmap_t map;
    int drainer; /* pipe to a drainer of our own, or -1 */
    bool open;
    bool launches; /* are recorded */
    gpurt_hostring_t ring;
    pthread_mutex_t lock; /* guards what is below */
    names_t names;
    uint32_t launched;
} boxlink = {.drainer = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

enum {
    DEVICE_SECTION = 0,
    HOST_SECTION = 1,
    SECTIONS = 2
};

/* Where the calling thread is about to launch from. */
static _Thread_local struct {
    const char *file;
    uint32_t line;
} launch_site;

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
    gpurt_section_plan_t sections[SECTIONS], *device = &sections[DEVICE_SECTION];
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = SECTIONS, .sections = sections};
    gpurt_status_t st = level_read(&plan.level, err);

    memset(device, 0, sizeof *device);
    device->kind =
        info->backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU;
    device->device = (uint32_t)info->device;
    device->sm_count = info->sm_count;
    device->warp_slots = info->warp_slots;
    device->name = info->name;
    gpurt_hostring_plan(&sections[HOST_SECTION]);
    if (st == GPURT_OK)
        st = ring_bytes_read(&device->ring_bytes, err);
    if (st == GPURT_OK)
        st = gpurt_boxmap_create(&plan, &boxlink.map, err);
    if (st != GPURT_OK)
        return st;
    gpurt_hostring_clock(&boxlink.map, HOST_SECTION);
    st = gpurt_hostring_init(&boxlink.ring, &boxlink.map, HOST_SECTION, err);
    if (st == GPURT_OK)
        st = opened->ops->box_connect(opened->self, &boxlink.map, DEVICE_SECTION, err);
    if (st != GPURT_OK)
        gpurt_boxmap_detach(&boxlink.map);
    boxlink.open = st == GPURT_OK;
    boxlink.launches = boxlink.open && plan.level <= GPURT_LEVEL_TRACE;
    return st;
}

/* Whether anybody wants a log. */
static bool is_wanted(void)
{
    const char *off = setting("GPURT_OFF");

    return (setting("GPURT_DRAIN") || setting("GPURT_LOG")) &&
           (!off || strcmp(off, "0") == 0);
}

void gpurt_boxlink_prepare(void)
{
    char number[16];

    if (!is_wanted() || !gpurt_injection_name())
        return;
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv(GPURT_INJECTION_OPENS, number, 1);
}

void gpurt_boxlink_open(gpurt_opened_t *opened)
{
    gpurt_info_t *info = &opened->info;
    const char *drainer = setting("GPURT_DRAIN"), *file = setting("GPURT_LOG");
    gpurt_error_t err = {0};
    gpurt_status_t st;
    size_t used;

    if (!is_wanted())
        return;
    st = box_make(opened, &err);
    if (st == GPURT_OK && drainer)
        st = gpurt_handover_give(&boxlink.map, &err);
    else if (st == GPURT_OK)
        st = gpurt_drainspawn_start(file, boxlink.map.fd, &boxlink.drainer, &err);
    if (st == GPURT_OK)
        return;
    gpurt_boxlink_close(opened);
    used = strlen(info->why);
    snprintf(info->why + used, sizeof info->why - used, "; no log: %s",
             err.text[0] ? err.text : gpurt_status_text(st));
}

void gpurt_boxlink_close(const gpurt_opened_t *opened)
{
    if (!boxlink.open)
        return;
    gpurt_injection_sync();
    opened->ops->box_disconnect(opened->self, &boxlink.map, DEVICE_SECTION);
    gpurt_store_release_sys_u32(&boxlink.map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(&boxlink.map);
    gpurt_drainspawn_wait(boxlink.drainer);
    boxlink.drainer = -1;
    boxlink.open = boxlink.launches = false;
    names_clear(&boxlink.names);
}

/* ---- launches ------------------------------------------------------------------------ */

void gpurt_launch_from(const char *file, uint32_t line)
{
    launch_site.file = file;
    launch_site.line = line;
}

/* Nothing waits here: with a full ring the record is counted as lost. */
void gpurt_boxlink_launch(const gpurt_launch_t *l, const gpurt_kernel_t *kernel)
{
    gpurt_activity_launch_t out = {.line = launch_site.line,
                                   .grid = {l->grid.x, l->grid.y, l->grid.z},
                                   .block = {l->block.x, l->block.y, l->block.z},
                                   .shared_bytes = l->shared_bytes,
                                   .stream = gpurt_pair(l->stream)};
    const char *file = launch_site.file ? launch_site.file : "(not by gpurt_launch)";
    uint64_t now;

    launch_site.file = NULL;
    launch_site.line = 0;
    if (GPURT_LIKELY(!boxlink.launches))
        return;
    now = gpurt_real_ns();
    pthread_mutex_lock(&boxlink.lock);
    out.name = names_number(&boxlink.names, &boxlink.ring, kernel->name, false);
    out.file = names_number(&boxlink.names, &boxlink.ring, file, false);
    out.number = ++boxlink.launched;
    pthread_mutex_unlock(&boxlink.lock);
    if (!gpurt_hostring_put(&boxlink.ring, GPURT_KIND_LAUNCH,
                            boxlink.map.sections[0].device, now, &out))
        gpurt_hostring_lose(&boxlink.ring, 1, GPURT_LOSS_FULL, now);
}
