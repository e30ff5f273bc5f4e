/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "vigil.h"

#include "launches.h"
#include "runninglook.h"

#include <gpurt/atomic.h>

#define QUIET_NS    2000000000ull /* without a buffer, before launches are counted */
#define PATIENCE_NS 3000000000ull /* from the first such launch until it is told */

enum {
    /* A buffer that CUPTI holds takes so many more, in no need of another. */
    LAUNCHES_A_BUFFER = 2000
};

static struct {
    const cupti_api_t *api; /* NULL: nothing to look at */
    CUpti_SubscriberHandle subscriber;
    uint32_t xlaunches; /* since it counts; written by: any thread (adds), the flusher */
    bool counts, stray; /* the flusher's, as all below */
    uint64_t began_ns;  /* when it began to count, or had counted nothing yet */
    uint64_t taken_ns;  /* the pool's, as that was */
} vigil;

/* The ways to launch a kernel; of graphs nobody is sure what they record. */
static const CUpti_CallbackId ids[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz};

static bool is_launch(CUpti_CallbackId id)
{
    size_t i = 0;

    while (i < sizeof ids / sizeof ids[0] && ids[i] != id)
        i++;
    return i < sizeof ids / sizeof ids[0];
}

void vigil_start(const cupti_api_t *api, CUpti_SubscriberHandle subscriber)
{
    vigil.api = api;
    vigil.subscriber = subscriber;
}

void vigil_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (call->callbackSite == CUPTI_API_EXIT && is_launch(id))
        gpurt_add_relaxed_dev_u32(&vigil.xlaunches, 1); /* relaxed: a count */
}

/* Where launches are told of anyway, their callbacks stay on. */
static void count(bool on, uint64_t now_ns)
{
    const bool anyway = launches_are_watched() || runninglook_is_on();

    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && !anyway; i++)
        vigil.api->cuptiEnableCallback(on, vigil.subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                       ids[i]);
    gpurt_store_relaxed_dev_u32(&vigil.xlaunches, 0); /* relaxed: a count */
    vigil.counts = on;
    vigil.began_ns = now_ns;
}

/* Returns: whether a buffer was asked for since the last look. */
static bool taken_since(const pool_t *pool, uint64_t now_ns)
{
    uint64_t taken = gpurt_load_relaxed_dev_u64(&pool->xtaken_ns); /* relaxed: a hint */

    if (taken == vigil.taken_ns && vigil.began_ns)
        return false;
    vigil.taken_ns = taken;
    vigil.began_ns = now_ns;
    return true;
}

bool vigil_counts(void)
{
    return vigil.counts;
}

bool vigil_look(const pool_t *pool, uint64_t now_ns)
{
    uint32_t launches, most;

    if (!vigil.api)
        return false;
    if (taken_since(pool, now_ns)) {
        if (vigil.counts)
            count(false, now_ns);
        vigil.stray = false;
    } else if (!vigil.counts && now_ns - vigil.began_ns >= QUIET_NS)
        count(true, now_ns);
    if (!vigil.counts || vigil.stray)
        return vigil.stray;
    launches = gpurt_load_relaxed_dev_u32(&vigil.xlaunches); /* relaxed: a count */
    most = LAUNCHES_A_BUFFER * pool_out(pool);
    if (launches == 0)
        vigil.began_ns = now_ns;
    vigil.stray = launches > most && now_ns - vigil.began_ns >= PATIENCE_NS;
    return vigil.stray;
}
