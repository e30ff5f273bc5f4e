/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "nativecalls.h"

#include "launchhook.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    KEPT = 6 /* of the program's, innermost first */
};

/* One process; fixed by begin. */
static struct {
    const void *ours, *cupti; /* modules whose calls are not the program's */
    char program[PATH_MAX];
} nativecalls;

/* The module that holds an address. Takes the loader's lock. */
static struct link_map *module_of(const void *at)
{
    struct link_map *map = NULL;
    Dl_info info;

    return dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Ours, CUPTI's, the driver's, the runtime's where it is a library of its own. */
static bool is_between(const struct link_map *map)
{
    const char *base = base_of(map->l_name);

    return map == nativecalls.ours || map == nativecalls.cupti ||
           strcmp(base, LAUNCHHOOK_LIB) == 0 || strncmp(base, "libcuda.so", 10) == 0 ||
           strncmp(base, "libcudart.so", 12) == 0;
}

/* " < /usr/lib/libfoo.so+0x1f2a": a return address, from the module's beginning on. */
static size_t frame_add(char *text, size_t used, const struct link_map *map, const void *pc)
{
    const char *path = map && map->l_name[0] ? map->l_name : nativecalls.program;
    uintptr_t base = map ? (uintptr_t)map->l_addr : 0;
    int written =
        snprintf(text + used, NATIVECALLS_TEXT - used, "%s%s+0x%llx", used ? " < " : "",
                 map ? path : "?", (unsigned long long)((uintptr_t)pc - base));

    if (written < 0 || used + (size_t)written >= NATIVECALLS_TEXT) {
        text[used] = '\0'; /* a frame is there whole or not at all */
        return used;
    }
    return used + (size_t)written;
}

/* Where we are on the stack: a sanitizer's backtrace puts itself before. */
static int own_frame(void *const *frames, int count)
{
    int i = 0;

    while (i < count && module_of((const char *)frames[i] - 1) != nativecalls.ours)
        i++;
    return i < count ? i : 0;
}

void nativecalls_write(const nativecalls_t *calls, char text[NATIVECALLS_TEXT])
{
    size_t used = 0;
    int kept = 0;

    text[0] = '\0';
    for (int i = own_frame(calls->frames, calls->count); i < calls->count && kept < KEPT;
         i++) {
        const struct link_map *map = module_of((const char *)calls->frames[i] - 1);

        if (kept == 0 && map && is_between(map))
            continue;
        used = frame_add(text, used, map, calls->frames[i]);
        kept++;
    }
    if (used == 0)
        snprintf(text, NATIVECALLS_TEXT, "(not known)");
}

uint64_t nativecalls_hash(const nativecalls_t *calls)
{
    uint64_t h = 0x9e3779b97f4a7c15ull;

    for (int i = 0; i < calls->count; i++)
        h = (h ^ (uint64_t)(uintptr_t)calls->frames[i]) * 0xff51afd7ed558ccdull ^ h >> 31;
    return h ? h : 1;
}

void nativecalls_take(nativecalls_t *out)
{
    out->count = backtrace(out->frames, NATIVECALLS_FRAMES);
}

void nativecalls_begin(const cupti_api_t *api)
{
    const ssize_t bytes = readlink("/proc/self/exe", nativecalls.program, PATH_MAX - 1);
    void *frames[1], *entry;

    nativecalls.program[bytes > 0 ? bytes : 0] = '\0';
    nativecalls.ours = module_of(&nativecalls);
    if (api) {
        memcpy(&entry, &api->cuptiGetVersion, sizeof entry);
        nativecalls.cupti = module_of(entry);
    }
    backtrace(frames, 1); /* the first one loads what it needs */
}
