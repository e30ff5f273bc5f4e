/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_hang.h"

#include "cuda_end_kernel.h"

#include <string.h>

/* The driver is not linked: each function is asked for by its name. */
static void *function_of(const char *name)
{
    void *found = NULL;

    if (gpurt_cuda_api->get_entry_point(name, &found) == cudaSuccess)
        return found;
    (void)gpurt_cuda_api->get_last_error();
    return NULL;
}

/* All that is asked for while a kernel hangs is made before one does: the driver loads no code
 * then, and may not allocate. */
void gpurt_cuda_hang_init(gpurt_cuda_device_t *d)
{
    void *record = function_of("cuCtxRecordEvent"); /* CUDA 12.5 */
    void *current = function_of("cuCtxGetCurrent");
    int (*context_get)(void **context);

    memcpy(&d->hang.record, &record, sizeof record); /* C knows no cast from data to code */
    memcpy(&context_get, &current, sizeof current);
    if (record && current && context_get(&d->hang.context) == 0 &&
        gpurt_cuda_api->event_create(&d->hang.event, cudaEventDisableTiming) == cudaSuccess)
        return;
    (void)gpurt_cuda_api->get_last_error();
    d->hang.event = NULL;
}

void gpurt_cuda_hang_fini(gpurt_cuda_device_t *d)
{
    if (gpurt_cuda_is_lost(d))
        return;
    if ((d->hang.event && gpurt_cuda_api->event_destroy(d->hang.event) != cudaSuccess) ||
        (d->hang.stream && gpurt_cuda_api->stream_destroy(d->hang.stream) != cudaSuccess))
        (void)gpurt_cuda_api->get_last_error();
}

static cudaError_t end_launch(gpurt_cuda_device_t *d, bool ends)
{
    struct gpurt_end_args args = {ends};
    void *params[1] = {&args};

    return gpurt_cuda_api->launch_kernel(*gpurt_kernel_gpurt_end_kernel.cuda,
                                         (dim3){1, 1, 1}, (dim3){1, 1, 1}, params, 0,
                                         d->hang.stream);
}

/* Code is loaded at its first launch. */
bool gpurt_cuda_hang_prepare(void *self)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    cudaError_t e;

    if (gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return false;
    e = gpurt_cuda_api->stream_create(&d->hang.stream, cudaStreamNonBlocking);
    if (e == cudaSuccess)
        e = end_launch(d, false);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->stream_synchronize(d->hang.stream);
    return gpurt_cuda_leave(d, visit, e, NULL, "prepare to end a kernel") == GPURT_OK;
}

bool gpurt_cuda_hang_mark(void *self)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;

    return d->hang.event && !gpurt_cuda_is_lost(d) &&
           d->hang.record(d->hang.context, d->hang.event) == 0;
}

/* A context that died is not busy; whoever waits for it says why. */
bool gpurt_cuda_hang_busy(void *self)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    cudaError_t e;

    if (gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return false;
    e = gpurt_cuda_api->event_query(d->hang.event);
    if (e != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
    return e == cudaErrorNotReady;
}

void gpurt_cuda_hang_end(void *self)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;

    if (!d->hang.stream || gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return;
    if (end_launch(d, true) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
}
