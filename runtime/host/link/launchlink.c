/* SPDX-License-Identifier: Apache-2.0 */
#include "launchlink.h"

#include "environ.h"
#include "hostring.h"
#include "hosttime.h"
#include "injection.h"
#include "launchsite.h"
#include "names.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of each open device. Fixed while it is connected, but for what is under lock. */
typedef struct launches {
    const uint32_t *level; /* of the box; NULL: not connected */
    gpurt_hostring_t ring;
    names_t names;     /* under lock */
    uint32_t launched; /* likewise */
} launches_t;

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static launches_t all[GPURT_MAX_DEVICES];

/* Where the calling thread is about to launch from. */
static GPURT_TLS struct {
    const char *file;
    uint32_t line;
} place;

static bool is_set(const char *name)
{
    const char *value = gpurt_env_get(name);

    return value && strcmp(value, "0") != 0;
}

void gpurt_launchlink_prepare(void)
{
    char number[16];

    if ((!is_set("GPURT_DRAIN") && !is_set("GPURT_LOG")) || is_set("GPURT_OFF") ||
        !gpurt_injection_name())
        return;
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv(GPURT_INJECTION_OPENS, number, 1);
}

/* A box without room for its definitions goes without launches. */
void gpurt_launchlink_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                              uint32_t section)
{
    launches_t *l = &all[opened->index];

    if (gpurt_hostring_init(&l->ring, map, section, NULL) == GPURT_OK)
        l->level = &map->box->control.xlevel;
}

void gpurt_launchlink_disconnect(const gpurt_opened_t *opened)
{
    launches_t *l = &all[opened->index];

    gpurt_injection_sync();
    l->level = NULL;
    names_clear(&l->names);
}

void gpurt_launchlink_forked(uint32_t index)
{
    memset(&all[index], 0, sizeof all[0]);
}

void gpurt_launch_from(const char *file, uint32_t line)
{
    place.file = file;
    place.line = line;
}

/* With a full ring the record is counted as lost. */
static void tell(launches_t *own, uint32_t device, const gpurt_launch_t *l,
                 const char *kernel, const char *file, uint32_t line)
{
    gpurt_activity_launch_t out = {.line = line,
                                   .grid = {l->grid.x, l->grid.y, l->grid.z},
                                   .block = {l->block.x, l->block.y, l->block.z},
                                   .shared_bytes = l->shared_bytes,
                                   .stream = gpurt_pair(l->stream)};
    uint64_t now = gpurt_real_ns();

    gpurt_lock_take(&lock);
    out.name = names_number(&own->names, &own->ring, kernel, false);
    out.file = names_number(&own->names, &own->ring, file, false);
    out.number = ++own->launched;
    out.thread = (uint32_t)gettid();
    gpurt_lock_give(&lock);
    if (!gpurt_hostring_put(&own->ring, GPURT_KIND_LAUNCH, device, now, &out))
        gpurt_hostring_lose(&own->ring, 1, GPURT_LOSS_FULL, now);
}

void gpurt_launchlink_tell(const gpurt_opened_t *opened, const gpurt_launch_t *launch,
                           const gpurt_kernel_t *kernel, const void *caller)
{
    launches_t *own = &all[opened->index];
    const char *file = place.file ? place.file : "(not by gpurt_launch)";
    uint32_t line = place.line;

    gpurt_launchsite_note(kernel->name, place.file, line, caller);
    place.file = NULL;
    place.line = 0;
    /* relaxed: a level that changes may miss a launch */
    if (GPURT_UNLIKELY(own->level != NULL) &&
        gpurt_load_relaxed_sys_u32(own->level) <= GPURT_LEVEL_TRACE)
        tell(own, (uint32_t)opened->info.device, launch, kernel->name, file, line);
}
