/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "service": how the blocks of one fare. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "serviceown.h"
#include "watch.h"

enum {
    NAME,
    KERNEL,
    STATE,
    BLOCKS,
    RUNNING,
    COMING,
    RESTING,
    LEFT,
    RINGS,
    HEAP,
    SHARE,
    STARTED,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [KERNEL] = GPURT_FIELD("kernel", TEXT),
    [STATE] =
        GPURT_FIELD("state", STATE, .words = "starting,running,resting,stopping,ended"),
    [BLOCKS] = GPURT_FIELD("blocks", LIMIT),
    [RUNNING] = GPURT_FIELD("running", GAUGE, .of = "blocks"),
    [COMING] = GPURT_FIELD("coming", GAUGE),
    [RESTING] = GPURT_FIELD("resting", GAUGE),
    [LEFT] = GPURT_FIELD("left", GAUGE),
    [RINGS] = GPURT_FIELD("rings", COUNTER),
    [HEAP] = GPURT_FIELD("heap", REFERENCE, .words = "heap"), /* the first */
    [SHARE] = GPURT_FIELD("share", GAUGE, .unit = "%"),
    [STARTED] = GPURT_FIELD("started", TIME),
};

static bool service_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_service_own_t *s = object;
    gpurt_service_count_t c = gpurt_service_count(s);

    (void)due;
    values[NAME] = gpurt_watch_text(v, s->name);
    values[KERNEL] = gpurt_watch_text(v, s->kernel);
    values[STATE] = gpurt_service_state(s, &c);
    values[BLOCKS] = s->blocks;
    values[RUNNING] = c.running;
    values[COMING] = c.coming;
    values[RESTING] = c.resting;
    values[LEFT] = c.left;
    values[RINGS] = gpurt_load_relaxed_sys_u32(&s->xrings); /* relaxed: a count */
    values[HEAP] = s->heap_count ? s->heaps[0] : 0;
    values[SHARE] = s->share_percent;
    values[STARTED] = s->started_ns;
    return true;
}

GPURT_CLASS_DECLARE(service, services, fields, service_look);
