/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_api.h"

#include "environ.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Structs of records are those of the header that we were built with; those of another
 * major version may differ. */
#define MAJOR_OF(version) ((version) / 10000)

enum {
    WHY = GPURT_ERROR_TEXT - 32 /* beside our own words */
};

/* ---- which library ------------------------------------------------------------------- */

static int name_look(struct dl_phdr_info *info, size_t bytes, void *context)
{
    static const char name[] = "libcupti.so";
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    char *path = context;

    (void)bytes;
    if (strncmp(file, name, sizeof name - 1) != 0)
        return 0;
    snprintf(path, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

/* The one that the process holds, whatever its version. *path stays empty without one. */
static void *open_loaded(char path[PATH_MAX])
{
    path[0] = '\0';
    return dl_iterate_phdr(name_look, path)
               ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)
               : NULL;
}

static const char *chosen(void)
{
    return gpurt_env_get("GPURT_CUPTI_LIBRARY");
}

bool cupti_api_is_loaded(void)
{
    char path[PATH_MAX];
    void *library = open_loaded(path);

    if (!library && chosen())
        library = dlopen(chosen(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

/* Whether that is why: the linker says so of a library that it needs, too, and gives other reasons for
 * one that is there. */
static bool is_missing(const char *path, const char *error)
{
    char text[64];
    const char *reason = strerror_r(ENOENT, text, sizeof text);
    const size_t head = strlen(path), bytes = strlen(error), tail = strlen(reason);

    return strncmp(error, path, head) == 0 && error[head] == ':' && bytes >= tail &&
           strcmp(error + bytes - tail, reason) == 0;
}

/* why: what is wrong with the first that is there, or may be. */
static void *open_one(const char *path, char why[WHY])
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();

    if (error && !why[0] && !is_missing(path, error))
        snprintf(why, WHY, "%s", error);
    return library;
}

static void *open_named(char why[WHY])
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = open_one(names[i], why);
    return library;
}

static void *open_below(const char *home, char why[WHY])
{
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    char path[PATH_MAX];
    void *library = NULL;

    for (size_t i = 0; home && i < sizeof folders / sizeof folders[0] && !library; i++) {
        snprintf(path, sizeof path, "%s/%s/libcupti.so.13", home, folders[i]);
        library = open_one(path, why);
    }
    return library;
}

static void *library_open(char loaded[PATH_MAX], char why[WHY])
{
    void *library = open_loaded(loaded);

    why[0] = '\0';
    if (library)
        return library;
    if (chosen())
        return open_one(chosen(), why);
    library = open_named(why);
    if (!library)
        library = open_below(gpurt_env_get("CUDA_HOME"), why);
    if (!library)
        library = open_below("/usr/local/cuda", why);
    return library;
}

/* ---- what it has --------------------------------------------------------------------- */

static void entry_find(void *library, const char *name, void *to)
{
    void *entry = dlsym(library, name);

    memcpy(to, &entry, sizeof entry);
}

const char *cupti_entries_find(const cupti_api_t *api, const cupti_entry_t *entries,
                               size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *entry = dlsym(api->library, entries[i].name);

        if (!entry)
            return entries[i].name;
        memcpy((char *)table + entries[i].offset, &entry, sizeof entry);
    }
    return NULL;
}

static gpurt_status_t version_check(cupti_api_t *api, const char *loaded,
                                    gpurt_error_t *err)
{
    entry_find(api->library, "cuptiGetVersion", &api->cuptiGetVersion);
    if (api->cuptiGetVersion && api->cuptiGetVersion(&api->version) == CUPTI_SUCCESS &&
        MAJOR_OF(api->version) == MAJOR_OF(CUPTI_API_VERSION))
        return GPURT_OK;
    if (loaded[0])
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "the program has loaded CUPTI %u, of another CUDA than 13, and "
                          "one program can have but one: %s",
                          api->version, loaded);
    return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                      "CUPTI %u found, %d was built for: their records differ",
                      api->version, CUPTI_API_VERSION);
}

static gpurt_status_t no_library(const char *why, gpurt_error_t *err)
{
    if (why[0])
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "CUPTI cannot be loaded: %s", why);
    return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                      "no libcupti.so.13 found; it is in the CUDA toolkit "
                      "(GPURT_CUPTI_LIBRARY names another place)");
}

gpurt_status_t cupti_api_open(cupti_api_t *api, gpurt_error_t *err)
{
#define ENTRY(name_) CUPTI_ENTRY_OF(cupti_api_t, name_)
    static const cupti_entry_t entries[] = {
        ENTRY(cuptiSubscribe),
        ENTRY(cuptiEnableCallback),
        ENTRY(cuptiGetResultString),
        ENTRY(cuptiGetCallbackName),
        ENTRY(cuptiGetDeviceId),
        ENTRY(cuptiGetGraphExecId),
        ENTRY(cuptiSetThreadIdType),
        ENTRY(cuptiActivityEnable),
        ENTRY(cuptiActivityDisable),
        ENTRY(cuptiActivityConfigureUnifiedMemoryCounter),
        ENTRY(cuptiActivityEnableAllSyncRecords),
        ENTRY(cuptiActivityEnableDeviceGraph),
        ENTRY(cuptiActivityFlushAll),
        ENTRY(cuptiActivityGetNextRecord),
        ENTRY(cuptiActivityGetNumDroppedRecords),
        ENTRY(cuptiActivityRegisterCallbacks),
        ENTRY(cuptiActivityRegisterTimestampCallback),
    };
    char loaded[PATH_MAX], why[WHY];
    const char *missing;

    memset(api, 0, sizeof *api);
    api->library = library_open(loaded, why);
    if (!api->library)
        return no_library(why, err);
    if (version_check(api, loaded, err) != GPURT_OK)
        return GPURT_E_UNSUPPORTED;
    entry_find(api->library, "cuptiSubscribe_v2", &api->cuptiSubscribe_v2);
    missing = cupti_entries_find(api, entries, sizeof entries / sizeof entries[0], api);
    if (missing)
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "this CUPTI has no %s; 13.0 or later is needed", missing);
    return GPURT_OK;
}

const char *cupti_api_text(const cupti_api_t *api, CUptiResult result)
{
    const char *text = NULL;

    if (api->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        text = "an error without a name";
    return text;
}
