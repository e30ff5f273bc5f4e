/* SPDX-License-Identifier: Apache-2.0 */
#include "launchlink.h"

#include "hostring.h"
#include "injection.h"
#include "launchsite.h"
#include "names.h"
#include "procfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const uint32_t *level; /* of the box; NULL: not connected */
    uint32_t device;
    gpurt_hostring_t ring;
    pthread_mutex_t lock; /* guards what is below */
    names_t names;
    uint32_t launched;
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where the calling thread is about to launch from. */
static GPURT_TLS struct {
    const char *file;
    uint32_t line;
} place;

static bool is_set(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value && strcmp(value, "0") != 0;
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
void gpurt_launchlink_connect(const gpurt_boxmap_t *map, uint32_t section)
{
    if (gpurt_hostring_init(&launches.ring, map, section, NULL) != GPURT_OK)
        return;
    launches.device = map->sections[0].device;
    launches.level = &map->box->control.xlevel;
    gpurt_launchsite_connect();
}

void gpurt_launchlink_disconnect(void)
{
    gpurt_launchsite_disconnect();
    gpurt_injection_sync();
    launches.level = NULL;
    names_clear(&launches.names);
}

void gpurt_launch_from(const char *file, uint32_t line)
{
    place.file = file;
    place.line = line;
}

/* With a full ring the record is counted as lost. */
static void tell(const gpurt_launch_t *l, const gpurt_kernel_t *kernel, const char *file,
                 uint32_t line)
{
    gpurt_activity_launch_t out = {.line = line,
                                   .grid = {l->grid.x, l->grid.y, l->grid.z},
                                   .block = {l->block.x, l->block.y, l->block.z},
                                   .shared_bytes = l->shared_bytes,
                                   .stream = gpurt_pair(l->stream)};
    uint64_t now = gpurt_real_ns();

    pthread_mutex_lock(&launches.lock);
    out.name = names_number(&launches.names, &launches.ring, kernel->name, false);
    out.file = names_number(&launches.names, &launches.ring, file, false);
    out.number = ++launches.launched;
    out.thread = (uint32_t)gettid();
    pthread_mutex_unlock(&launches.lock);
    if (!gpurt_hostring_put(&launches.ring, GPURT_KIND_LAUNCH, launches.device, now, &out))
        gpurt_hostring_lose(&launches.ring, 1, GPURT_LOSS_FULL, now);
}

void gpurt_launchlink_tell(const gpurt_launch_t *launch, const gpurt_kernel_t *kernel,
                           const void *caller)
{
    const char *file = place.file ? place.file : "(not by gpurt_launch)";
    uint32_t line = place.line;

    gpurt_launchsite_note(kernel->name, place.file, line, caller);
    place.file = NULL;
    place.line = 0;
    /* relaxed: a level that changes may miss a launch */
    if (GPURT_UNLIKELY(launches.level != NULL) &&
        gpurt_load_relaxed_sys_u32(launches.level) <= GPURT_LEVEL_TRACE)
        tell(launch, kernel, file, line);
}
