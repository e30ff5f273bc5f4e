/* SPDX-License-Identifier: Apache-2.0 */
#include "injection.h"

#include "environ.h"
#include "tell.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the build installs it: the folder, and the way there from the programs'. A build by
 * hand says nothing. */
#ifndef GPURT_INJECTION_FOLDER
#    define GPURT_INJECTION_FOLDER "/usr/local/lib"
#    define GPURT_INJECTION_NEAR   "lib"
#endif

static bool is_there(char *path, size_t room, const char *folder, const char *more)
{
    int bytes = snprintf(path, room, "%s%s/" GPURT_INJECTION_LIB, folder, more);

    return bytes > 0 && (size_t)bytes < room && access(path, R_OK) == 0;
}

bool gpurt_injection_find(char *path, size_t room)
{
    static const char *const near[] = {"/../lib", ("/../" GPURT_INJECTION_NEAR), ""};
    const char *chosen = gpurt_env_get("GPURT_INJECTION_LIBRARY");
    char folder[PATH_MAX];
    ssize_t bytes;
    char *slash;

    if (chosen) {
        snprintf(path, room, "%s", chosen);
        if (access(path, R_OK) == 0)
            return true;
        gpurt_tell("GPURT_INJECTION_LIBRARY=%s: no records of the driver's work: %s", path,
                   strerror(errno));
        return false;
    }
    bytes = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[bytes > 0 ? bytes : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof near / sizeof near[0]; i++)
        if (is_there(path, room, folder, near[i]))
            return true;
    return is_there(path, room, GPURT_INJECTION_FOLDER, "");
}

/* Of words that need launches or waits as they are made. */
static bool wants_launches(const char *words)
{
    static const char *const those[] = {"sampled", "budget", "counted", "running",
                                        "host-waits"};

    for (; words && *words; words += strcspn(words, ","), words += *words == ',')
        for (size_t i = 0; i < sizeof those / sizeof those[0]; i++)
            if (strcspn(words, ",") == strlen(those[i]) &&
                memcmp(words, those[i], strlen(those[i])) == 0)
                return true;
    return false;
}

/* A program with gcc's AddressSanitizer refuses to start behind a library that is preloaded, unless it is
 * told that this is meant. */
static void asan_allow(void)
{
    const char *before = gpurt_env_get("ASAN_OPTIONS");
    char options[1024];
    int bytes = snprintf(options, sizeof options, "%s%sverify_asan_link_order=0",
                         before ? before : "", before && *before ? ":" : "");

    if (bytes > 0 && (size_t)bytes < sizeof options)
        setenv("ASAN_OPTIONS", options, 1);
}

/* Has what is started load the library that stands before its launches. The loader takes spaces and
 * colons for the ends of names, so a folder with any in its name has to do without: the collector
 * says what that costs. */
static void hook_name(const char *injection)
{
    const char *before = gpurt_env_get("LD_PRELOAD"), *slash = strrchr(injection, '/');
    char path[PATH_MAX], both[2 * PATH_MAX];

    snprintf(path, sizeof path, "%.*s" GPURT_LAUNCHHOOK_LIB,
             slash ? (int)(slash + 1 - injection) : 0, injection);
    if (strpbrk(path, " :") || access(path, R_OK) != 0 || (before && strstr(before, path)))
        return;
    snprintf(both, sizeof both, "%s%s%s", path, before ? ":" : "", before ? before : "");
    setenv("LD_PRELOAD", both, 1);
    asan_allow();
}

static bool is_word(const char *word, size_t bytes)
{
    for (const char *one = GPURT_CUPTI_WORDS; one; one = strchr(one, ',')) {
        one += strspn(one, ", ");
        if (strcspn(one, ",") == bytes && memcmp(one, word, bytes) == 0)
            return true;
    }
    return false;
}

bool gpurt_injection_contradicts(const char *words)
{
    const size_t off = strlen("off");
    bool none = false, some = false;

    for (size_t bytes; *words; words += bytes + (words[bytes] == ',')) {
        bytes = strcspn(words, ",");
        if (bytes == off && strncmp(words, "off", off) == 0)
            none = true;
        else if (bytes)
            some = true;
    }
    return none && some;
}

const char *gpurt_injection_unknown(const char *words, size_t *bytes)
{
    for (; *words; words += *bytes + (words[*bytes] == ',')) {
        *bytes = strcspn(words, ",");
        if (*bytes && !is_word(words, *bytes))
            return words;
    }
    return NULL;
}

bool gpurt_injection_name(void)
{
    const char *choice = gpurt_env_get("GPURT_CUPTI"), *before;
    char path[PATH_MAX];

    if (gpurt_env_privileged() || (choice && strcmp(choice, "off") == 0) ||
        !gpurt_injection_find(path, sizeof path))
        return false;
    if (wants_launches(choice))
        hook_name(path);
    before = gpurt_env_get(GPURT_INJECTION_ENV);
    if (before && strcmp(before, path) != 0 && setenv(GPURT_INJECTION_NEXT, before, 1) != 0)
        return false;
    return setenv(GPURT_INJECTION_ENV, path, 1) == 0;
}

/* The collector's library, if it is loaded, and a function of it. To be closed. */
static void *collector_open(const char *name, void **entry)
{
    const char *path = gpurt_env_get(GPURT_INJECTION_ENV);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

    *entry = library ? dlsym(library, name) : NULL;
    return library;
}

void gpurt_injection_sync(void)
{
    void *entry, *library = collector_open("gpurt_collector_sync", &entry);
    void (*sync)(void);

    if (entry) {
        memcpy(&sync, &entry, sizeof sync);
        sync();
    }
    if (library)
        dlclose(library); /* our reference; the driver has its own */
}

void gpurt_injection_serve(uint32_t device, const char *name, bool begins)
{
    void *entry, *library = collector_open("gpurt_collector_serve", &entry);
    void (*serve)(uint32_t number, const char *service, int on);

    if (entry) {
        memcpy(&serve, &entry, sizeof serve);
        serve(device, name, begins);
    }
    if (library)
        dlclose(library); /* as above */
}
