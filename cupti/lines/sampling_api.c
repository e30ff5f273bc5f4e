/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling_api.h"

const char *sampling_api_find(const cupti_api_t *cupti, sampling_api_t *api)
{
#define ENTRY(name_) CUPTI_ENTRY_OF(sampling_api_t, name_)
    static const cupti_entry_t entries[] = {
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

    return cupti_entries_find(cupti, entries, sizeof entries / sizeof entries[0], api);
}
