/* SPDX-License-Identifier: Apache-2.0 */
#include "logunit.h"

#include "environ.h"
#include "process.h"
#include "tell.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static gpurt_log_unit_t *first; /* under lock */
static uint32_t xadded;         /* written by: whoever loads code, under lock */
static uint32_t xopened;        /* gpurt_open was called; written by: who calls it */

/* ---- a program that never opened gpurt ------------------------------------------------- */

static bool is_recorded(void)
{
    const char *drainer = gpurt_env_get("GPURT_DRAIN"), *file = gpurt_env_get("GPURT_LOG");
    const char *off = gpurt_env_get("GPURT_OFF");

    return (drainer || file) && (!off || strcmp(off, "0") == 0);
}

/* The driver is loaded when a program first asks for a GPU. */
static bool gpu_is_used(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

    if (driver)
        dlclose(driver);
    return driver != NULL;
}

/* A forked child leaves it to its parent. */
static void tell_at_exit(void)
{
    if (gpurt_process_is_forked() || gpurt_load_relaxed_sys_u32(&xopened) ||
        !is_recorded() || !gpu_is_used())
        return; /* relaxed: of this thread, or too late for it */
    gpurt_tell("gpurt_open was never called: log calls in kernels of this program (not "
               "counted) and their panics went nowhere; call gpurt_open(NULL, &rt, NULL) "
               "before the first launch");
}

static void exit_await(void)
{
    (void)atexit(tell_at_exit); /* refused: nothing is said */
}

void gpurt_log_unit_opened(void)
{
    gpurt_store_relaxed_sys_u32(&xopened, 1); /* relaxed: a fact, no more */
}

/* ---- the list -------------------------------------------------------------------------- */

void gpurt_log_unit_add(gpurt_log_unit_t *unit)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, exit_await);
    gpurt_lock_take(&lock);
    unit->next = first;
    first = unit;
    gpurt_store_relaxed_sys_u32(&xadded, xadded + 1); /* relaxed: a hint to look */
    gpurt_lock_give(&lock);
}

void gpurt_log_unit_remove(gpurt_log_unit_t *unit)
{
    gpurt_log_unit_t **at;

    gpurt_lock_take(&lock);
    for (at = &first; *at && *at != unit; at = &(*at)->next)
        ;
    if (*at)
        *at = unit->next;
    gpurt_lock_give(&lock);
}

uint32_t gpurt_log_unit_count(void)
{
    return gpurt_load_relaxed_sys_u32(&xadded); /* relaxed: a hint to look */
}

void gpurt_log_unit_each(bool (*visit)(void *context, const gpurt_log_unit_t *unit),
                         void *context)
{
    gpurt_lock_take(&lock);
    for (const gpurt_log_unit_t *unit = first; unit; unit = unit->next)
        if (!visit(context, unit))
            break;
    gpurt_lock_give(&lock);
}
