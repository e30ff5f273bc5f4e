/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling_api.h"

#include <dlfcn.h>
#include <string.h>

const char *sampling_api_find(const cupti_api_t *cupti, sampling_api_t *api)
{
#define ENTRY(name_)                            \
    {                                           \
#        name_, offsetof(sampling_api_t, name_) \
    }
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
        ENTRY(cuptiProfilerInitialize),
        ENTRY(cuptiDeviceGetChipName),
        ENTRY(cuptiProfilerHostInitialize),
        ENTRY(cuptiProfilerHostDeinitialize),
        ENTRY(cuptiProfilerHostConfigAddMetrics),
        ENTRY(cuptiProfilerHostGetConfigImageSize),
        ENTRY(cuptiProfilerHostGetConfigImage),
        ENTRY(cuptiProfilerHostGetNumOfPasses),
        ENTRY(cuptiProfilerHostEvaluateToGpuValues),
        ENTRY(cuptiPmSamplingGetCounterAvailability),
        ENTRY(cuptiPmSamplingEnable),
        ENTRY(cuptiPmSamplingDisable),
        ENTRY(cuptiPmSamplingSetConfig),
        ENTRY(cuptiPmSamplingStart),
        ENTRY(cuptiPmSamplingStop),
        ENTRY(cuptiPmSamplingGetCounterDataSize),
        ENTRY(cuptiPmSamplingCounterDataImageInitialize),
        ENTRY(cuptiPmSamplingDecodeData),
        ENTRY(cuptiPmSamplingGetCounterDataInfo),
        ENTRY(cuptiPmSamplingCounterDataGetSampleInfo),
    };

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(cupti->library, entries[i].name);

        if (!entry)
            return entries[i].name;
        memcpy((char *)api + entries[i].offset, &entry, sizeof entry);
    }
    return NULL;
}
