/* SPDX-License-Identifier: Apache-2.0 */
#include "pcsampling_api.h"

#include <dlfcn.h>
#include <string.h>

const char *pcsampling_api_find(const cupti_api_t *cupti, pcsampling_api_t *api)
{
#define ENTRY(name_)                              \
    {                                             \
#        name_, offsetof(pcsampling_api_t, name_) \
    }
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
        ENTRY(cuptiPCSamplingEnable),
        ENTRY(cuptiPCSamplingDisable),
        ENTRY(cuptiPCSamplingGetData),
        ENTRY(cuptiPCSamplingSetConfigurationAttribute),
        ENTRY(cuptiPCSamplingGetNumStallReasons),
        ENTRY(cuptiPCSamplingGetStallReasons),
        ENTRY(cuptiGetSassToSourceCorrelation),
        ENTRY(cuptiGetCubinCrc),
    };

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(cupti->library, entries[i].name);

        if (!entry)
            return entries[i].name;
        memcpy((char *)api + entries[i].offset, &entry, sizeof entry);
    }
    return NULL;
}
