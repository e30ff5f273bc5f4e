/* SPDX-License-Identifier: Apache-2.0 */
/* libgpurt-inject.so: the driver loads the library that CUDA_INJECTION64_PATH names as it
 * is initialised, and calls InitializeInjection. So any CUDA program can be watched, with
 * no rebuild; the programs that it starts are, too. */
#include "collector.h"
#include "cupti_api.h"
#include "environ.h"
#include "injection.h"
#include "servewait.h"
#include "subscription.h"
#include "trouble.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int InitializeInjection(void);
__attribute__((visibility("default"))) void gpurt_collector_sync(void);
__attribute__((visibility("default"))) void
gpurt_collector_serve(uint32_t device, const char *name, int begins);

/* The library that CUDA_INJECTION64_PATH named before us. It goes first: what the user chose
 * by hand gets CUPTI, and we say so. It need not subscribe for that: who is second to register
 * for CUPTI's buffers takes them from the first. */
static void next_run(void)
{
    const bool before = cupti_api_is_loaded();
    const char *path = gpurt_env_get(GPURT_INJECTION_NEXT);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *entry = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialise)(void);

    if (entry) {
        memcpy(&initialise, &entry, sizeof initialise);
        initialise();
        if (!before && cupti_api_is_loaded())
            subscription_yield(path);
    } else if (path)
        trouble_say(TROUBLE_NOTE, "the library that %s named is not run: %s",
                    GPURT_INJECTION_ENV, dlerror());
}

/* Returns: 1, always: the program goes on. */
int InitializeInjection(void)
{
    static bool done; /* the driver calls once, from one thread; two drivers do not exist */

    if (done)
        return 1;
    done = true;
    next_run();
    collector_start();
    pthread_atfork(NULL, NULL, collector_forked);
    atexit(collector_stop);
    return 1;
}

/* Found by name: gpurt_injection_sync. */
void gpurt_collector_sync(void)
{
    collector_sync();
}

/* Found by name: gpurt_injection_serve. */
void gpurt_collector_serve(uint32_t device, const char *name, int begins)
{
    servewait_serve(device, name, begins != 0);
}
