/* SPDX-License-Identifier: Apache-2.0 */
/* What gpurt-check learns of panics: how many, and the report of the first. It is in the file at
 * once, because a program may end without closing gpurt; the count of all comes with what closes
 * or fails. */
#include "simt.h"

#include <gpurt/atomic.h>

/* Of the process. */
static uint64_t xcount; /* written by: any lane that panics */
static char *first; /* written once, by the main fiber that counted it; then published */
static uint32_t xkept;

void gpurt_simt_panic(const gpurt_simt_panic_t *panic)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me = k ? k->current : NULL;

    if (!me || !k->device->config.report_path)
        return;
    if (gpurt_add_relaxed_sys_u64(&xcount, 1) != 0) /* relaxed: a count */
        return;
    k->panic = panic;
    k->fault = (simt_fault_t){.status = GPURT_E_PANIC};
    simt_lane_trace(k);
    simt_lane_errand(me, SIMT_ERRAND_PANIC);
}

void simt_panic_keep(simt_worker_t *k, simt_lane_t *lane)
{
    simt_device_t *d = k->device;

    first = simt_report_panic(k, lane, k->panic);
    k->panic = NULL;
    k->subject = NULL;
    gpurt_store_release_sys_u32(&xkept, 1); /* PN1.rel */
    pthread_mutex_lock(&d->mutex);
    simt_report_save(d, GPURT_OK, NULL);
    pthread_mutex_unlock(&d->mutex);
}

void simt_panics_write(FILE *f)
{
    /* relaxed: a count */
    fprintf(f, "panics %llu\n", (unsigned long long)gpurt_load_relaxed_sys_u64(&xcount));
}

const char *simt_panics_first(void)
{
    return gpurt_load_acquire_sys_u32(&xkept) ? first : NULL; /* PN1.acq */
}
