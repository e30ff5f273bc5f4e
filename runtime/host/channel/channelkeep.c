/* SPDX-License-Identifier: Apache-2.0 */
#include "channelkeep.h"

#include "channellife.h"
#include "part.h"
#include "process.h"

#include <gpurt/channels.h>
#include <string.h>

typedef struct kept {
    gpurt_t *rt;
    void *memory; /* NULL: none */
    uint32_t device;
} kept_t;

static gpurt_lock_t keep_lock = GPURT_LOCK_INIT;
/* All under the lock. */
static struct {
    kept_t things[GPURT_CHANNELS_KEPT];
    uint32_t next;
    uint32_t process; /* generation of who keeps them */
} keep;

static void lock(void)
{
    gpurt_lock_take(&keep_lock);
    if (keep.process == gpurt_process_generation())
        return;
    memset(&keep, 0, sizeof keep); /* the parent's */
    keep.process = gpurt_process_generation();
}

gpurt_status_t gpurt_channel_keep(gpurt_t *rt, void *memory)
{
    kept_t now = {rt, memory, gpurt_life_index(rt)}, last;

    lock();
    last = keep.things[keep.next];
    keep.things[keep.next] = now;
    keep.next = (keep.next + 1) % GPURT_CHANNELS_KEPT;
    gpurt_lock_give(&keep_lock);
    return last.memory ? gpurt_mem_destroy(last.rt, last.memory) : GPURT_OK;
}

static gpurt_status_t channels_close(gpurt_opened_t *o, gpurt_status_t status,
                                     gpurt_error_t *err)
{
    (void)status;
    (void)err;
    gpurt_channellife_closed(o->index);
    lock();
    for (uint32_t i = 0; i < GPURT_CHANNELS_KEPT; i++)
        if (keep.things[i].memory && keep.things[i].device == o->index) {
            o->ops->mem_destroy(o->self, keep.things[i].memory);
            keep.things[i].memory = NULL;
        }
    gpurt_lock_give(&keep_lock);
    return GPURT_OK;
}

const gpurt_part_t gpurt_part_channels = {.name = "channels", .close = channels_close};
