/* SPDX-License-Identifier: Apache-2.0 */
/* pcsampling_api.h - CUPTI's entry points for samples of warps, out of the library that the
 * collector has open. They are not needed for anything else, so they may be missing. */
#ifndef GPURT_CUPTI_PCSAMPLING_API_H
#define GPURT_CUPTI_PCSAMPLING_API_H

#include "cupti_api.h"

#include <cupti_pcsampling.h>

typedef struct pcsampling_api {
    CUPTI_ENTRY(cuptiPCSamplingEnable);
    CUPTI_ENTRY(cuptiPCSamplingDisable);
    CUPTI_ENTRY(cuptiPCSamplingGetData);
    CUPTI_ENTRY(cuptiPCSamplingSetConfigurationAttribute);
    CUPTI_ENTRY(cuptiPCSamplingGetNumStallReasons);
    CUPTI_ENTRY(cuptiPCSamplingGetStallReasons);
    CUPTI_ENTRY(cuptiGetCubinCrc);
} pcsampling_api_t;

/* Returns: the name of an entry that this CUPTI lacks, or NULL: all are there. */
const char *pcsampling_api_find(const cupti_api_t *cupti, pcsampling_api_t *api);

#endif
