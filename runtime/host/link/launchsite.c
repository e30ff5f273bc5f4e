/* SPDX-License-Identifier: Apache-2.0 */
#include "launchsite.h"

#include "environ.h"
#include "process.h"

#include <gpurt/hostlog.h>

#include <execinfo.h>
#include <gpurt/atomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 16,
    OWN_FRAMES = 6, /* at most */
    SEEN = 256,     /* ways to a launch; more are not told */
    TEXT = 1024
};

static struct {
    uint32_t xon;        /* written by: connect and disconnect */
    gpurt_lock_t lock;   /* guards what is below */
    uint64_t seen[SEEN]; /* 0: free */
    uint32_t count;
} sites = {.lock = GPURT_LOCK_INIT};

void gpurt_launchsite_connect(void)
{
    const char *value = gpurt_env_get("GPURT_LAUNCH_SITES");

    gpurt_lock_take(&sites.lock);
    memset(sites.seen, 0, sizeof sites.seen);
    sites.count = 0;
    gpurt_lock_give(&sites.lock);
    /* relaxed, here and below: a wish alone */
    gpurt_store_relaxed_sys_u32(&sites.xon, value && strcmp(value, "0") != 0);
}

void gpurt_launchsite_disconnect(void)
{
    gpurt_store_relaxed_sys_u32(&sites.xon, 0);
}

static uint64_t hash_of(const char *kernel, void *const *frames, int count)
{
    uint64_t h = (uint64_t)(uintptr_t)kernel;

    for (int i = 0; i < count; i++)
        h = (h ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ull ^ h >> 31;
    return h ? h : 1;
}

/* Returns: whether it was not there yet, and is now. */
static bool is_new(uint64_t hash)
{
    bool added = false;
    uint32_t i = (uint32_t)(hash % SEEN);

    gpurt_lock_take(&sites.lock);
    while (sites.seen[i] && sites.seen[i] != hash && sites.count < SEEN)
        i = (i + 1) % SEEN;
    if (!sites.seen[i] && sites.count < SEEN - 1) {
        sites.seen[i] = hash;
        sites.count++;
        added = true;
    }
    gpurt_lock_give(&sites.lock);
    return added;
}

/* "app(main+0x1f) [0x55..]" as "main+0x1f", and as "app+0x.." where there is no name. */
static size_t frame_add(char *text, size_t used, const char *symbol)
{
    const char *open = strchr(symbol, '('), *close = open ? strchr(open, ')') : NULL;
    const char *slash = open ? memrchr(symbol, '/', (size_t)(open - symbol)) : NULL;
    const char *file = slash ? slash + 1 : symbol;
    int written;

    if (!open || !close)
        written = snprintf(text + used, TEXT - used, "%s%.80s", used ? " < " : "", symbol);
    else
        written = snprintf(text + used, TEXT - used, "%s%.*s%.*s", used ? " < " : "",
                           open[1] == '+' ? (int)(open - file) : 0, file,
                           (int)(close - open - 1), open + 1);
    return written < 0 || used + (size_t)written >= TEXT ? TEXT - 1
                                                         : used + (size_t)written;
}

void gpurt_launchsite_note(const char *kernel, const char *file, uint32_t line,
                           const void *caller)
{
    void *frames[FRAMES + OWN_FRAMES];
    char text[TEXT] = "", **symbols;
    int count, first = 0;
    size_t used = 0;

    if (GPURT_LIKELY(!gpurt_load_relaxed_sys_u32(&sites.xon)))
        return;
    count = backtrace(frames, FRAMES + OWN_FRAMES);
    if (!is_new(hash_of(kernel, frames, count)))
        return;
    while (first < count && frames[first] != caller)
        first++;
    first = first == count ? 0 : first; /* a stack that cannot be walked so: all of it */
    symbols = backtrace_symbols(frames + first, count - first);
    for (int i = 0; symbols && i < count - first; i++)
        used = frame_add(text, used, symbols[i]);
    free(symbols);
    gpurt_log(GPURT_LEVEL_INFO, "launch of %s at %s:%u, called by %s", kernel,
              file ? file : "(not by gpurt_launch)", line, text);
}
