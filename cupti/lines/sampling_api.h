/* SPDX-License-Identifier: Apache-2.0 */
/* sampling_api.h - CUPTI's entry points for PM sampling, out of the library that the
 * collector has open. They are not needed for anything else, so they may be missing. */
#ifndef GPURT_CUPTI_SAMPLING_API_H
#define GPURT_CUPTI_SAMPLING_API_H

#include "cupti_api.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

typedef struct sampling_api {
    CUPTI_ENTRY(cuptiProfilerInitialize);
    CUPTI_ENTRY(cuptiDeviceGetChipName);
    CUPTI_ENTRY(cuptiProfilerHostInitialize);
    CUPTI_ENTRY(cuptiProfilerHostDeinitialize);
    CUPTI_ENTRY(cuptiProfilerHostConfigAddMetrics);
    CUPTI_ENTRY(cuptiProfilerHostGetConfigImageSize);
    CUPTI_ENTRY(cuptiProfilerHostGetConfigImage);
    CUPTI_ENTRY(cuptiProfilerHostGetNumOfPasses);
    CUPTI_ENTRY(cuptiProfilerHostEvaluateToGpuValues);
    CUPTI_ENTRY(cuptiPmSamplingGetCounterAvailability);
    CUPTI_ENTRY(cuptiPmSamplingEnable);
    CUPTI_ENTRY(cuptiPmSamplingDisable);
    CUPTI_ENTRY(cuptiPmSamplingSetConfig);
    CUPTI_ENTRY(cuptiPmSamplingStart);
    CUPTI_ENTRY(cuptiPmSamplingStop);
    CUPTI_ENTRY(cuptiPmSamplingGetCounterDataSize);
    CUPTI_ENTRY(cuptiPmSamplingCounterDataImageInitialize);
    CUPTI_ENTRY(cuptiPmSamplingDecodeData);
    CUPTI_ENTRY(cuptiPmSamplingGetCounterDataInfo);
    CUPTI_ENTRY(cuptiPmSamplingCounterDataGetSampleInfo);
} sampling_api_t;

/* Returns: the name of an entry that this CUPTI lacks, or NULL: all are there. */
const char *sampling_api_find(const cupti_api_t *cupti, sampling_api_t *api);

#endif
