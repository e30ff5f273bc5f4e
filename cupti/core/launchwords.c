/* SPDX-License-Identifier: Apache-2.0 */
#include "launchwords.h"

#include "calledback.h"
#include "callers.h"
#include "counted.h"
#include "hooked.h"
#include "hostwaits.h"
#include "inflight.h"
#include "runninglook.h"
#include "trouble.h"
#include "wanted.h"

/* One process. */
static struct {
    bool running, counted; /* left to CUPTI */
} launchwords;

static uint32_t bits_of(CUpti_ActivityKind kind)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; wanted_rows[i].word; i++)
        if (wanted_rows[i].kind == kind)
            bits |= 1u << i;
    return bits;
}

static bool has_records(uint32_t wanted)
{
    return wanted & (bits_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) |
                     bits_of(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
}

#define HOW \
    "start the program with gpurt-record or gpurt-top, or with LD_PRELOAD=" LAUNCHHOOK_LIB

uint32_t launchwords_begin(uint32_t wanted)
{
    const uint32_t run = bits_of(WANTED_RUNNING), count = bits_of(WANTED_COUNTED),
                   wait = bits_of(WANTED_HOST_WAITS);
    const bool running = (wanted & run) && runninglook_start(),
               counted = (wanted & count) && counted_start(),
               waits = wanted & wait &&
                       !(wanted & bits_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)),
               hooks = running && !has_records(wanted);

    wanted &= ~wait;
    if (hooks)
        callers_begin(NULL);
    if (waits)
        hostwaits_start();
    if ((hooks || counted || waits) && hooked_start(hooks, counted)) {
        launchwords.running = running && !hooks;
        return wanted & ~count & ~(hooks ? run : 0);
    }
    launchwords.running = running;
    launchwords.counted = counted;
    if (counted || hooks)
        trouble_say(TROUBLE_NOTE,
                    "CUPTI tells of each launch, which costs it 1.7 us: " HOW ", for less");
    if (waits)
        trouble_say(TROUBLE_PART, "waits of the host are not recorded: " HOW
                                  "; or ask for waits, which CUPTI has");
    return wanted;
}

void launchwords_want(const cupti_api_t *api, CUpti_SubscriberHandle subscriber,
                      bool graphs)
{
    if ((!launchwords.running && !launchwords.counted) || calledback_is_on())
        return;
    if (launchwords.running)
        callers_begin(api);
    if (!calledback_watch(api, subscriber, launchwords.running, graphs))
        trouble_say(TROUBLE_PART, "launches are not known: CUPTI tells of none");
}

bool launchwords_end_with_records(void)
{
    return launchwords.running;
}

void launchwords_sync(void)
{
    counted_sync();
}

void launchwords_stop(void)
{
    hooked_stop();
    runninglook_stop();
    counted_stop();
}

void launchwords_leave(void)
{
    hooked_leave();
    inflight_leave();
}
