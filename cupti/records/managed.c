/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "managed.h"

#include "trouble.h"

enum {
    LOOKS = 600 /* a minute, at ten a second */
};

/* Owner: whoever looks. */
static struct {
    const cupti_api_t *api; /* NULL: nothing is left to do */
    uint32_t looks;
} managed;

/* One by one: what one device or driver does not count is no reason to go without the others.
 * Returns: CUPTI_SUCCESS for any that it takes, else why it took none. */
static CUptiResult counters_choose(const cupti_api_t *api)
{
    static const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP};
    CUptiResult first = CUPTI_SUCCESS;
    uint32_t taken = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CUpti_ActivityUnifiedMemoryCounterConfig config = {
            .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
            .kind = kinds[i],
            .enable = 1};
        CUptiResult result = api->cuptiActivityConfigureUnifiedMemoryCounter(&config, 1);

        taken += result == CUPTI_SUCCESS;
        first = first == CUPTI_SUCCESS ? result : first;
    }
    return taken ? CUPTI_SUCCESS : first;
}

/* The driver is not there yet, or is just starting. */
static bool is_early(CUptiResult result)
{
    return result == CUPTI_ERROR_NOT_INITIALIZED || result == CUPTI_ERROR_NOT_READY;
}

static void ask(bool last)
{
    const cupti_api_t *api = managed.api;
    CUptiResult result = counters_choose(api);

    if (result == CUPTI_SUCCESS)
        result = api->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    if (is_early(result) && !last && ++managed.looks < LOOKS)
        return;
    if (result != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI refuses records of managed memory: %s",
                    cupti_api_text(api, result));
    managed.api = NULL;
}

void managed_want(const cupti_api_t *api)
{
    managed.api = api;
    ask(false);
}

void managed_look(bool last)
{
    if (managed.api)
        ask(last);
}
