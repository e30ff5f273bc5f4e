/* SPDX-License-Identifier: Apache-2.0 */
#include "pcsampling_api.h"

const char *pcsampling_api_find(const cupti_api_t *cupti, pcsampling_api_t *api)
{
#define ENTRY(name_) CUPTI_ENTRY_OF(pcsampling_api_t, name_)
    static const cupti_entry_t entries[] = {
        ENTRY(cuptiPCSamplingEnable),
        ENTRY(cuptiPCSamplingDisable),
        ENTRY(cuptiPCSamplingGetData),
        ENTRY(cuptiPCSamplingSetConfigurationAttribute),
        ENTRY(cuptiPCSamplingGetNumStallReasons),
        ENTRY(cuptiPCSamplingGetStallReasons),
        ENTRY(cuptiGetCubinCrc),
    };

    return cupti_entries_find(cupti, entries, sizeof entries / sizeof entries[0], api);
}
