/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Structs of records are those of the header that we were built with; those of another
 * major version may differ. */
#define MAJOR_OF(version) ((version) / 10000)

static void *open_named(int more)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | more);
    return library;
}

static void *open_below(const char *home)
{
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    char path[PATH_MAX];
    void *library = NULL;

    for (size_t i = 0; home && i < sizeof folders / sizeof folders[0] && !library; i++) {
        snprintf(path, sizeof path, "%s/%s/libcupti.so.13", home, folders[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static void *library_open(void)
{
    const char *chosen = secure_getenv("GPURT_CUPTI_LIBRARY");
    void *library;

    if (chosen && *chosen)
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    /* The program's own first: two copies in one process know nothing of each other. */
    library = open_named(RTLD_NOLOAD);
    if (!library)
        library = open_named(0);
    if (!library)
        library = open_below(secure_getenv("CUDA_HOME"));
    if (!library)
        library = open_below("/usr/local/cuda");
    return library;
}

gpurt_status_t cupti_api_open(cupti_api_t *api, gpurt_error_t *err)
{
#define ENTRY(name_)                         \
    {                                        \
#        name_, offsetof(cupti_api_t, name_) \
    }
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
        ENTRY(cuptiGetVersion),
        ENTRY(cuptiSubscribe),
        ENTRY(cuptiEnableCallback),
        ENTRY(cuptiGetResultString),
        ENTRY(cuptiGetCallbackName),
        ENTRY(cuptiGetDeviceId),
        ENTRY(cuptiGetGraphExecId),
        ENTRY(cuptiSetThreadIdType),
        ENTRY(cuptiActivityEnable),
        ENTRY(cuptiActivityConfigureUnifiedMemoryCounter),
        ENTRY(cuptiActivityEnableAllSyncRecords),
        ENTRY(cuptiActivityEnableDeviceGraph),
        ENTRY(cuptiActivityFlushAll),
        ENTRY(cuptiActivityGetNextRecord),
        ENTRY(cuptiActivityGetNumDroppedRecords),
        ENTRY(cuptiActivityRegisterCallbacks),
        ENTRY(cuptiActivityRegisterTimestampCallback),
    };

    memset(api, 0, sizeof *api);
    api->library = library_open();
    if (!api->library)
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "no libcupti.so.13 found; it is in the CUDA toolkit "
                          "(GPURT_CUPTI_LIBRARY names another place)");
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(api->library, entries[i].name);

        if (!entry)
            return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                              "this CUPTI has no %s; 13.0 or later is needed",
                              entries[i].name);
        memcpy((char *)api + entries[i].offset, &entry, sizeof entry);
    }
    if (api->cuptiGetVersion(&api->version) != CUPTI_SUCCESS ||
        MAJOR_OF(api->version) != MAJOR_OF(CUPTI_API_VERSION))
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "CUPTI %u found, %d was built for: their records differ",
                          api->version, CUPTI_API_VERSION);
    return GPURT_OK;
}

const char *cupti_api_text(const cupti_api_t *api, CUptiResult result)
{
    const char *text = NULL;

    if (api->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        text = "an error without a name";
    return text;
}
