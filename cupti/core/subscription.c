/* SPDX-License-Identifier: Apache-2.0 */
#include "subscription.h"

#include "calledback.h"
#include "environ.h"
#include "graphs.h"
#include "hosttime.h"
#include "launches.h"
#include "launchwords.h"
#include "lines.h"
#include "managed.h"
#include "outlet.h"
#include "sampling.h"
#include "servewait.h"
#include "trouble.h"
#include "vigil.h"
#include "wanted.h"
#include "windows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One process, one subscriber. */
static struct {
    const cupti_api_t *api;
    CUpti_SubscriberHandle subscriber;
    bool counters; /* of GPUs are sampled */
    bool graphs;   /* each launch of one has a record */
    bool lines;    /* are asked for */
    bool whole;    /* records are, all the time, that windows would turn off */
    char holder[TROUBLE_TEXT / 2]; /* a library whose CUPTI is; empty: nobody's */
} subscription;

void subscription_yield(const char *library)
{
    snprintf(subscription.holder, sizeof subscription.holder, "%s", library);
}

static uint64_t CUPTIAPI time_now(void)
{
    return gpurt_real_ns();
}

/* Ranges are told by NVTX, which loads what this names at its first use. */
static void ranges_route(void)
{
    const char *other;
    Dl_info info;
    void *entry;

    memcpy(&entry, &subscription.api->cuptiGetVersion, sizeof entry);
    if (!dladdr(entry, &info) || !info.dli_fname)
        return;
    other = gpurt_env_get("NVTX_INJECTION64_PATH");
    if (!other)
        setenv("NVTX_INJECTION64_PATH", info.dli_fname, 1);
    else if (strcmp(other, info.dli_fname) != 0)
        trouble_say(TROUBLE_PART, "no ranges: NVTX_INJECTION64_PATH gives them to %s",
                    other);
}

/* The subscriber's: CUPTI has one for all that it calls back for. */
static void CUPTIAPI told(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    (void)data;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (launches_are_watched())
            launches_told(id, about);
        if (calledback_is_on())
            calledback_told(id, about);
        vigil_told(id, about);
        servewait_told(id, about);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        graphs_told(id, about);
        lines_told(id, about);
    }
}

/* The box shall be there before the first launch: no record of CUPTI's comes before that. */
static void launches_want(void)
{
    if (!launches_watch(subscription.api, subscription.subscriber))
        trouble_say(TROUBLE_PART, "CUPTI tells of no launches");
    else if (outlet_enter(false))
        outlet_exit();
}

static void kind_enable(const wanted_row_t *row);

static void lines_ask(bool asked)
{
    lines_want(subscription.api, subscription.subscriber, subscription.counters, asked);
}

static void windows_ask(void)
{
    windows_want(subscription.api, (windows_beside_t){.lines = subscription.lines,
                                                      .whole = subscription.whole,
                                                      .graphs = subscription.graphs});
}

/* Returns: whether it is asked for in its own way, and was. */
static bool in_its_own_way(CUpti_ActivityKind kind)
{
    switch (kind) {
    case WANTED_LINES:
        lines_ask(true);
        return true;
    case WANTED_TRY_LINES:
        lines_ask(false);
        return true;
    case WANTED_RUNNING:
    case WANTED_COUNTED:
        launchwords_want(subscription.api, subscription.subscriber, subscription.graphs);
        return true;
    case WANTED_WINDOWS:
        windows_ask();
        return true;
    case WANTED_SAMPLES:
        subscription.counters = true;
        sampling_start(subscription.api);
        return true;
    case WANTED_LAUNCHES:
        launches_want();
        return true;
    case WANTED_DEVICE_GRAPHS:
        graphs_by_device_want(subscription.api);
        return true;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        managed_want(subscription.api);
        return true;
    default:
        return false;
    }
}

/* One that is refused leaves the others on. */
static void kind_enable(const wanted_row_t *row)
{
    if (in_its_own_way(row->kind))
        return;
    if (row->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        vigil_start(subscription.api, subscription.subscriber);
    if (subscription.api->cuptiActivityEnable(row->kind) != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI refuses records of %s", row->word);
    else if (row->kind == CUPTI_ACTIVITY_KIND_MARKER)
        ranges_route();
    else if (row->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE ||
             row->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        subscription.graphs |= row->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
        graphs_watch(subscription.api, subscription.subscriber);
    }
}

static bool is_lines(const wanted_row_t *row)
{
    return row->kind == WANTED_LINES || row->kind == WANTED_TRY_LINES;
}

static void kinds_enable(uint32_t wanted)
{
    for (uint32_t i = 0; wanted_rows[i].word; i++) {
        subscription.lines |= (wanted >> i & 1) && is_lines(&wanted_rows[i]);
        subscription.whole |= (wanted >> i & 1) && windows_turn(wanted_rows[i].kind);
    }
    for (uint32_t i = 0; wanted_rows[i].word; i++)
        if (wanted >> i & 1)
            kind_enable(&wanted_rows[i]);
    lines_unasked();
}

/* Threads go by the numbers that the system shows: what a program logs does, too. */
static void threads_name(void)
{
    if (subscription.api->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) !=
        CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART,
                    "CUPTI numbers threads in its own way: calls and ranges stand apart");
}

/* A program that polls a stream or an event would have a record of each look that found
 * nothing, millions a second, and none of them waited. */
static void polls_hide(void)
{
    if (subscription.api->cuptiActivityEnableAllSyncRecords(0) != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI records each look at an event as a wait");
}

static void refusal_tell(CUptiResult result)
{
    trouble_say(TROUBLE_WHOLE, "no records of kernels: CUPTI says %s",
                cupti_api_text(subscription.api, result));
}

/* Who subscribes has a name to show to who finds CUPTI taken. Where CUPTI knows of no names, or
 * not in this way, it goes without. */
static CUptiResult subscribe(char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN])
{
    const cupti_api_t *api = subscription.api;
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                     .subscriberName = "gpurt",
                                     .oldSubscriberName = holder,
                                     .oldSubscriberSize =
                                         CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN};
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;

    if (api->cuptiSubscribe_v2)
        result = api->cuptiSubscribe_v2(&subscription.subscriber, told, NULL, &params);
    if (result == CUPTI_SUCCESS || result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return result;
    return api->cuptiSubscribe(&subscription.subscriber, told, NULL);
}

/* Returns: whether CUPTI is ours. */
static bool cupti_take(cupti_api_t *api)
{
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    gpurt_error_t err;
    CUptiResult result;

    if (subscription.holder[0]) {
        trouble_say(TROUBLE_WHOLE,
                    "no records of kernels: CUPTI serves one tool, and %s, "
                    "which CUDA_INJECTION64_PATH named, has it",
                    subscription.holder);
        return false;
    }
    if (cupti_api_open(api, &err) != GPURT_OK) {
        trouble_say(TROUBLE_WHOLE, "no records of kernels: %s", err.text);
        return false;
    }
    subscription.api = api;
    result = subscribe(holder);
    holder[sizeof holder - 1] = '\0';
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        trouble_say(TROUBLE_WHOLE,
                    "no records of kernels: another profiler holds CUPTI%s%s",
                    holder[0] ? ": " : "", holder);
    else if (result != CUPTI_SUCCESS)
        refusal_tell(result);
    return result == CUPTI_SUCCESS;
}

/* The time source is registered once, and before any kind is enabled: each registration
 * damages a record. */
static bool buffers_route(CUpti_BuffersCallbackRequestFunc asked,
                          CUpti_BuffersCallbackCompleteFunc done)
{
    const cupti_api_t *api = subscription.api;
    CUptiResult result = api->cuptiActivityRegisterTimestampCallback(time_now);

    if (result == CUPTI_SUCCESS)
        result = api->cuptiActivityRegisterCallbacks(asked, done);
    if (result != CUPTI_SUCCESS)
        refusal_tell(result);
    return result == CUPTI_SUCCESS;
}

bool subscription_begin(cupti_api_t *api, uint32_t wanted,
                        CUpti_BuffersCallbackRequestFunc asked,
                        CUpti_BuffersCallbackCompleteFunc done)
{
    if (!cupti_take(api) || !buffers_route(asked, done))
        return false;
    threads_name();
    polls_hide();
    kinds_enable(wanted);
    servewait_start(api, subscription.subscriber);
    return true;
}
