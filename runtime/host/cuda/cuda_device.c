/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_device.h"

#include "cuda_error.h"

#include <gpurt/panic.h>
#include <stdio.h>
#include <string.h>

enum {
    STACK_LIMIT = 1024, /* CUDA's own default */
    DRIVER_LOG_BYTES = 1536
};

gpurt_status_t gpurt_cuda_refuse_lost(const gpurt_cuda_device_t *d, gpurt_error_t *err)
{
    /* relaxed: the word alone is the message */
    cudaError_t cause = (cudaError_t)gpurt_load_relaxed_sys_u32(&d->xlost);

    return gpurt_fail(
        err, GPURT_E_DEVICE_LOST, GPURT_FROM_CUDA, cause,
        "the GPU's context died earlier (%s): restart the process, no GPU can be "
        "used in this one any more",
        gpurt_cuda_api->get_error_name(cause));
}

/* Names of the kernels launched last, newest first. CUDA does not say which of those in
 * flight it was. A launch that is being noted right now may be missing. */
static int recent_print(const gpurt_cuda_device_t *d, char *text, size_t bytes)
{
    uint64_t launches =
        gpurt_load_relaxed_sys_u64(&d->xlaunches); /* relaxed: a hint only */
    int length = 0;

    for (uint64_t i = 1; i <= GPURT_CUDA_RECENT && i <= launches; i++) {
        uint64_t slot = (launches - i) & (GPURT_CUDA_RECENT - 1);
        uint64_t word =
            gpurt_load_relaxed_sys_u64(&d->xrecent[slot]); /* relaxed: constants */
        const gpurt_kernel_t *kernel = (const gpurt_kernel_t *)(uintptr_t)word;

        if (kernel && (size_t)length < bytes)
            length += snprintf(text + length, bytes - (size_t)length, "%s%s",
                               length ? ", " : "", kernel->name);
    }
    return length;
}

/* What the driver wrote of errors itself, each line indented: drivers from CUDA 12.9 on keep it. */
static void driver_log_print(const gpurt_cuda_device_t *d, char *text, size_t bytes)
{
    char log[DRIVER_LOG_BYTES], *line, *rest = log;
    size_t size = sizeof log - 1, used;

    used = (size_t)snprintf(text, bytes, "  the driver's own log:\n");
    if (!d->logs_dump || d->logs_dump(NULL, log, &size, 0) != 0 || size == 0 ||
        size >= sizeof log) {
        text[0] = 0;
        return;
    }
    log[size] = 0;
    while ((line = strsep(&rest, "\n")) != NULL && used < bytes)
        if (line[0])
            used += (size_t)snprintf(text + used, bytes - used, "    %s\n", line);
}

static void report_write(gpurt_cuda_device_t *d, const gpurt_cuda_error_t *row,
                         const char *doing)
{
    char recent[512] = "", log[DRIVER_LOG_BYTES + 256];

    recent_print(d, recent, sizeof recent);
    driver_log_print(d, log, sizeof log);
    pthread_mutex_lock(&d->report_lock);
    snprintf(d->report, sizeof d->report,
             "%s on GPU %d, %s\n"
             "  CUDA: %s (%s, %d)\n"
             "  noticed by: %s\n"
             "  kernels launched last, newest first: %s\n"
             "  what to do: %s\n"
             "%s",
             gpurt_status_text(row->status), d->number, d->name,
             gpurt_cuda_api->get_error_string(row->error),
             gpurt_cuda_api->get_error_name(row->error), (int)row->error, doing,
             recent[0] ? recent : "none by gpurt", row->remedy, log);
    pthread_mutex_unlock(&d->report_lock);
}

gpurt_status_t gpurt_cuda_failed(gpurt_cuda_device_t *d, cudaError_t error,
                                 gpurt_error_t *err, const char *doing)
{
    const gpurt_cuda_error_t *row = gpurt_cuda_error_find(error);
    uint32_t alive = 0;

    if (error == cudaErrorNotReady) { /* an answer, polled for: no words */
        (void)gpurt_cuda_api->get_last_error();
        return GPURT_E_NOT_READY;
    }
    if (row->kills) {
        if (!gpurt_cas_relaxed_sys_u32(&d->xlost, &alive, (uint32_t)error)) {
            (void)gpurt_cuda_api->get_last_error();
            return gpurt_cuda_refuse_lost(d, err);
        }
        report_write(d, row, doing);
    }
    return gpurt_cuda_fail(err, error, doing);
}

/* The driver cannot know how deep a kernel goes that recurses or calls by address; such a kernel
 * has what this limit says. A panic must not end the context because its lane is deep. */
static void stack_make_room(void)
{
    const size_t want = STACK_LIMIT + GPURT_PANIC_STACK_BYTES;
    size_t now = want;
    cudaError_t e = gpurt_cuda_api->device_get_limit(&now, cudaLimitStackSize);

    if (e == cudaSuccess && now < want)
        e = gpurt_cuda_api->device_set_limit(cudaLimitStackSize, want);
    if (e != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error(); /* as it would be without gpurt */
}

void gpurt_cuda_context_prepare(gpurt_cuda_device_t *d)
{
    void *found = NULL;

    stack_make_room();
    if (gpurt_cuda_api->get_entry_point("cuLogsDumpToMemory", &found) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    memcpy(&d->logs_dump, &found, sizeof found); /* C knows no cast from data to code */
}

gpurt_status_t gpurt_cuda_visit(gpurt_cuda_device_t *d, gpurt_cuda_visit_t *visit,
                                gpurt_error_t *err)
{
    int current = -1;
    cudaError_t e = gpurt_cuda_api->get_device(&current);

    if (e == cudaSuccess && current == d->number)
        return GPURT_OK;
    if (e == cudaSuccess)
        e = gpurt_cuda_api->set_device(d->number);
    if (e != cudaSuccess)
        return gpurt_cuda_failed(d, e, err, "make the GPU current");
    *visit = current;
    return GPURT_OK;
}
