/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_later.h"

#include "environ.h"

#include <stdlib.h>
#include <string.h>

/* ---- frees ----------------------------------------------------------------------------- */

static void free_now(gpurt_cuda_device_t *d, const gpurt_cuda_freed_t *freed)
{
    gpurt_cuda_visit_t visit;

    if (gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return; /* the memory went with its context */
    (void)gpurt_cuda_leave(d, visit,
                           freed->host ? gpurt_cuda_api->free_host(freed->memory)
                                       : gpurt_cuda_api->free(freed->memory),
                           NULL, "free memory that a service kept");
}

static uint32_t xserving; /* services of all devices; written by: any thread */

void gpurt_cuda_later_begin(void *self, void *stream)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;

    (void)stream;
    gpurt_add_relaxed_sys_u32(&xserving,
                              1); /* relaxed: who looks finds a mistake, or not */
    pthread_mutex_lock(&d->later.lock);
    d->later.serving++;
    pthread_mutex_unlock(&d->later.lock);
}

/* Frees outside of the lock: they may wait for kernels that end. */
void gpurt_cuda_later_end(void *self)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_freed_t *freed = NULL;
    size_t count = 0;

    gpurt_add_relaxed_sys_u32(&xserving, UINT32_MAX); /* relaxed: as above */
    pthread_mutex_lock(&d->later.lock);
    if (--d->later.serving == 0) {
        freed = d->later.freed;
        count = d->later.count;
        d->later.freed = NULL;
        d->later.count = d->later.room = 0;
    }
    pthread_mutex_unlock(&d->later.lock);
    for (size_t i = 0; i < count; i++)
        free_now(d, &freed[i]);
    free(freed);
}

bool gpurt_cuda_later_serves(gpurt_cuda_device_t *d)
{
    bool serves;

    pthread_mutex_lock(&d->later.lock);
    serves = d->later.serving != 0;
    pthread_mutex_unlock(&d->later.lock);
    return serves;
}

/* Under the lock. */
static bool note(gpurt_cuda_device_t *d, void *memory, bool host)
{
    if (d->later.count == d->later.room) {
        size_t room = d->later.room ? d->later.room * 2 : 64;
        void *more = realloc(d->later.freed, room * sizeof *d->later.freed);

        if (!more)
            return false;
        d->later.freed = more;
        d->later.room = room;
    }
    d->later.freed[d->later.count++] = (gpurt_cuda_freed_t){memory, host};
    return true;
}

bool gpurt_cuda_later_free(gpurt_cuda_device_t *d, void *memory, bool host)
{
    bool later;

    pthread_mutex_lock(&d->later.lock);
    later = d->later.serving && note(d, memory, host);
    pthread_mutex_unlock(&d->later.lock);
    return later;
}

void gpurt_cuda_later_fini(gpurt_cuda_device_t *d)
{
    pthread_mutex_destroy(&d->later.lock);
    free(d->later.freed);
}

/* ---- calls that wait ------------------------------------------------------------------- */

static const gpurt_cuda_api_t *under; /* the table that is watched */
static gpurt_cuda_api_t watched;

/* relaxed: tests launch their services before */
static cudaError_t verdict(void)
{
    return gpurt_load_relaxed_sys_u32(&xserving) ? cudaErrorNotPermitted : cudaSuccess;
}

static cudaError_t watched_synchronize(void)
{
    cudaError_t e = verdict();

    return e == cudaSuccess ? under->device_synchronize() : e;
}

static cudaError_t watched_free(void *memory)
{
    cudaError_t e = verdict();

    return e == cudaSuccess ? under->free(memory) : e;
}

static cudaError_t watched_free_host(void *memory)
{
    cudaError_t e = verdict();

    return e == cudaSuccess ? under->free_host(memory) : e;
}

static cudaError_t watched_unregister(void *memory)
{
    cudaError_t e = verdict();

    return e == cudaSuccess ? under->host_unregister(memory) : e;
}

static cudaError_t watched_set_limit(enum cudaLimit limit, size_t value)
{
    cudaError_t e = verdict();

    return e == cudaSuccess ? under->device_set_limit(limit, value) : e;
}

void gpurt_cuda_later_watch(void)
{
    const char *value = gpurt_env_get("GPURT_CUDA_WAITS");

    if (!value || strcmp(value, "1") != 0 || gpurt_cuda_api == &watched)
        return;
    under = gpurt_cuda_api;
    watched = *under;
    watched.device_synchronize = watched_synchronize;
    watched.free = watched_free;
    watched.free_host = watched_free_host;
    watched.host_unregister = watched_unregister;
    watched.device_set_limit = watched_set_limit;
    gpurt_cuda_api = &watched;
}
