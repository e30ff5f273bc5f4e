/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_clock.h"

#include "cuda_clock_mail.h"
#include "hosttime.h"

#include <string.h>

enum {
    RATE_AFTER_NS = 500000000
};

/* real - device lies between them. */
typedef struct bounds {
    int64_t low, high;
    uint64_t device_ns; /* of the last trip */
    uint64_t step_ns;   /* all times seen are this far apart, or a multiple of it */
} bounds_t;

/* %globaltimer moves in steps: 32 ns on Hopper, 1 us on some older GPUs. */
static uint64_t step_between(uint64_t step, uint64_t difference)
{
    while (difference) {
        uint64_t rest = step % difference;

        step = difference;
        difference = rest;
    }
    return step;
}

cudaError_t gpurt_cuda_clock_init(gpurt_cuda_clock_t *clock)
{
    void *mail = NULL;
    cudaError_t e;

    memset(clock, 0, sizeof *clock);
    e = gpurt_cuda_api->host_alloc(&mail, sizeof *clock->mail,
                                   cudaHostAllocMapped | cudaHostAllocPortable);
    if (e != cudaSuccess)
        return e;
    clock->next = 1;
    clock->mail = (gpurt_cuda_mail_t *)mail;
    memset(clock->mail, 0, sizeof *clock->mail);
    return gpurt_cuda_api->stream_create(&clock->stream, cudaStreamNonBlocking);
}

void gpurt_cuda_clock_fini(gpurt_cuda_clock_t *clock, bool alive)
{
    if (alive && clock->stream) /* waits for a kernel that came late */
        (void)gpurt_cuda_api->stream_synchronize(clock->stream);
    if (alive && clock->stream)
        (void)gpurt_cuda_api->stream_destroy(clock->stream);
    if (alive && clock->mail)
        (void)gpurt_cuda_api->free_host(clock->mail);
    memset(clock, 0, sizeof *clock);
}

/* Returns: false when no answer came in time. */
static bool trip_make(gpurt_cuda_mail_t *mail, uint32_t trip, bounds_t *b)
{
    uint64_t asked = gpurt_real_ns(), answered;
    gpurt_group_t group;
    uint64_t device;

    gpurt_store_relaxed_sys_u32(&mail->xasked, trip); /* relaxed: it is the message */
    do {
        group = gpurt_group_load(&mail->xanswer);
        answered = gpurt_real_ns();
        if (answered - asked > GPURT_CLOCK_LIMIT_NS)
            return false;
    } while (group.tag != trip);
    device = group.word[0] | (uint64_t)group.word[1] << 32;
    if ((int64_t)(asked - device) > b->low)
        b->low = (int64_t)(asked - device);
    if ((int64_t)(answered - device) < b->high)
        b->high = (int64_t)(answered - device);
    if (b->device_ns)
        b->step_ns = step_between(b->step_ns, device - b->device_ns);
    b->device_ns = device;
    return true;
}

/* Of a fit before, when it is long enough ago for the error to be small against it. Half of what
 * lies between two fits: on a clock that is slow they are less than that apart. */
static int64_t rate_between(const gpurt_clock_fit_t *then, const gpurt_clock_fit_t *now)
{
    int64_t device = (int64_t)(now->device_ns - then->device_ns);
    int64_t real = (int64_t)(now->real_ns - then->real_ns);

    if (then->device_ns == 0 || device < RATE_AFTER_NS)
        return then->rate_ppb;
    return (int64_t)((double)(real - device) / (double)device * 1e9);
}

/* What the line so far says is kept where the new bounds allow it: a clock that moves by its
 * own error with each measurement would turn neighbours round. */
static void continue_line(const gpurt_clock_fit_t *then, gpurt_clock_fit_t *now)
{
    uint64_t elapsed = now->device_ns - then->device_ns;
    int64_t drift = (int64_t)((double)elapsed * (double)then->rate_ppb / 1e9);
    uint64_t told = then->real_ns + elapsed + (uint64_t)drift;
    int64_t off = (int64_t)(told - now->real_ns);

    if (then->device_ns != 0 && (uint64_t)(off < 0 ? -off : off) <= now->error_ns)
        now->real_ns = told;
}

bool gpurt_cuda_clock_fit(gpurt_cuda_clock_t *clock)
{
    gpurt_cuda_mail_t *mail = clock->mail;
    struct gpurt_clock_args args = {mail, clock->next};
    void *params[1] = {&args};
    bounds_t b = {INT64_MIN, INT64_MAX, 0, 0};
    gpurt_clock_fit_t fit = {0, 0, 0, 0, 0};
    uint32_t made = 0;

    clock->next += GPURT_CLOCK_TRIPS;
    if (gpurt_cuda_api->launch_kernel(*gpurt_kernel_gpurt_clock_kernel.cuda,
                                      (dim3){1, 1, 1}, (dim3){1, 1, 1}, params, 0,
                                      clock->stream) != cudaSuccess) {
        (void)gpurt_cuda_api->get_last_error();
        return false;
    }
    while (made < GPURT_CLOCK_TRIPS && trip_make(mail, args.first + made, &b))
        made++;
    if (made < GPURT_CLOCK_TRIPS) /* it ends when it comes */
        gpurt_store_relaxed_sys_u32(&mail->xasked, GPURT_CLOCK_STOP);
    if (made == 0)
        return false;
    /* Crossed bounds: somebody set the real clock meanwhile. */
    fit.error_ns = b.high >= b.low ? (uint32_t)((b.high - b.low) / 2) + (uint32_t)b.step_ns
                                   : GPURT_CLOCK_LIMIT_NS;
    fit.device_ns = b.device_ns;
    fit.real_ns = b.device_ns + (uint64_t)(b.low + (b.high - b.low) / 2);
    fit.rate_ppb = rate_between(&clock->last, &fit);
    continue_line(&clock->last, &fit);
    clock->last = fit;
    return true;
}
