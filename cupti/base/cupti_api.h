/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_api.h - the entry points of CUPTI that the collector uses, found at run time: a
 * program is never linked against it, and runs where it is missing. Tests put a stand-in
 * behind the same table by GPURT_CUPTI_LIBRARY. */
#ifndef GPURT_CUPTI_API_H
#define GPURT_CUPTI_API_H

#include <cupti.h>
#include <gpurt/status.h>

#include <stddef.h>

#define CUPTI_ENTRY(name_) __typeof__(name_) *name_

/* Filled once, never changed after. The names are CUPTI's, so that they can be looked up. */
typedef struct cupti_api {
    void *library;
    uint32_t version; /* as cuptiGetVersion says */
    CUPTI_ENTRY(cuptiGetVersion);
    CUPTI_ENTRY(cuptiSubscribe);
    CUPTI_ENTRY(cuptiSubscribe_v2); /* NULL: it has none */
    CUPTI_ENTRY(cuptiEnableCallback);
    CUPTI_ENTRY(cuptiGetResultString);
    CUPTI_ENTRY(cuptiGetCallbackName);
    CUPTI_ENTRY(cuptiGetDeviceId);
    CUPTI_ENTRY(cuptiGetGraphExecId);
    CUPTI_ENTRY(cuptiSetThreadIdType);
    CUPTI_ENTRY(cuptiActivityEnable);
    CUPTI_ENTRY(cuptiActivityDisable);
    CUPTI_ENTRY(cuptiActivityConfigureUnifiedMemoryCounter);
    CUPTI_ENTRY(cuptiActivityEnableAllSyncRecords);
    CUPTI_ENTRY(cuptiActivityEnableDeviceGraph);
    CUPTI_ENTRY(cuptiActivityFlushAll);
    CUPTI_ENTRY(cuptiActivityGetNextRecord);
    CUPTI_ENTRY(cuptiActivityGetNumDroppedRecords);
    CUPTI_ENTRY(cuptiActivityRegisterCallbacks);
    CUPTI_ENTRY(cuptiActivityRegisterTimestampCallback);
} cupti_api_t;

/* The library: one that the process holds already, of whatever version, because two in one
 * process know nothing of each other; else GPURT_CUPTI_LIBRARY, the dynamic linker's choice,
 * the toolkits that CUDA_HOME and /usr/local/cuda name. *err says in one line what is
 * missing. */
gpurt_status_t cupti_api_open(cupti_api_t *api, gpurt_error_t *err);

/* An entry point, and where its address goes in a table of such. */
typedef struct cupti_entry {
    const char *name;
    size_t offset;
} cupti_entry_t;
#define CUPTI_ENTRY_OF(table_, name_)   \
    {                                   \
#        name_, offsetof(table_, name_) \
    }

/* Returns: the first name that this CUPTI lacks, or NULL: all are there. */
const char *cupti_entries_find(const cupti_api_t *api, const cupti_entry_t *entries,
                               size_t count, void *table);

/* Whether the process holds one already, as a shared library. */
bool cupti_api_is_loaded(void);

/* What a result means. */
const char *cupti_api_text(const cupti_api_t *api, CUptiResult result);

#endif
