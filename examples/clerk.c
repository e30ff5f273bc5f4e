/* SPDX-License-Identifier: Apache-2.0 */
/* clerk - a kernel that answers requests of the host while it runs: how many primes lie in a range.
 *     gpurt-top -- clerk 100000     key 8: how full both channels are, who waits */
#include <gpurt/device.h>
#include <gpurt/hostchannel.h>
enum {
    CLERKS = 8, /* blocks of one thread: each takes a request of its own */
    STEP = 250
};

struct request {
    uint32_t from, to;
};
GPURT_TO_DEVICE(requests, struct request, 64);
GPURT_TO_HOST(replies, uint64_t, 64); /* primes */

struct clerk {
    requests_t requests;
    replies_t replies;
    uint32_t *xdone; /* clerks that are through */
};

GPURT_DEV bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

GPURT_KERNEL(answer, struct clerk, p)
{
    struct request ask = {0, 0};

    while (gpurt_host_receive(&p->requests, &ask) == GPURT_OK) { /* until it is closed */
        uint64_t primes = 0;

        for (uint32_t n = ask.from; n < ask.to; n++)
            primes += is_prime(n);
        (void)gpurt_host_send(&p->replies, &primes);
    }
    if (gpurt_add_relaxed_dev_u32(p->xdone, 1) + 1 == CLERKS) /* relaxed: a count */
        (void)gpurt_host_close(&p->replies);
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/hostchannels.h>
#    include <stdio.h>
#    include <stdlib.h>
/* While the requests are full there will be a reply. */
static gpurt_status_t ask_all(gpurt_t *rt, struct clerk *f, uint32_t count,
                              uint64_t *primes, gpurt_error_t *err)
{
    struct request ask = {0, STEP};
    gpurt_status_t st = GPURT_OK;
    uint64_t reply = 0;

    for (uint32_t sent = 0; sent < count;) {
        st = gpurt_device_send(rt, &f->requests, &ask, 0, NULL, err);
        if (st == GPURT_OK) {
            ask = (struct request){ask.to, ask.to + STEP};
            sent++;
        } else if (st != GPURT_E_FULL ||
                   (st = gpurt_device_receive(rt, &f->replies, &reply, GPURT_FOREVER,
                                              err)) != GPURT_OK) {
            return st;
        } else {
            *primes += reply;
        }
    }
    st = gpurt_hostchannel_close(rt, &f->requests.channel, err);
    while (st == GPURT_OK) {
        st = gpurt_device_receive(rt, &f->replies, &reply, GPURT_FOREVER, err);
        *primes += st == GPURT_OK ? reply : 0;
    }
    return st == GPURT_E_CHANNEL_CLOSED ? GPURT_OK : st;
}

int main(int argc, char **argv)
{
    const gpurt_launch_t launch = {.grid = {CLERKS, 1, 1}, .block = {1, 1, 1}};
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 400;
    struct clerk f = {0};
    gpurt_error_t err = {0};
    uint64_t primes = 0;
    gpurt_t *rt;
    if (gpurt_open(NULL, &rt, &err) || gpurt_mem_create(rt, 4, (void **)&f.xdone, &err) ||
        gpurt_fill(rt, 0, f.xdone, 0, 4, &err) ||
        gpurt_make_hostchannel(rt, &f.requests, NULL, &err) ||
        gpurt_make_hostchannel(rt, &f.replies, NULL, &err) ||
        gpurt_launch(rt, &launch, answer, &f, &err) ||
        ask_all(rt, &f, count, &primes, &err) || gpurt_sync(rt, &err) ||
        gpurt_hostchannel_destroy(rt, &f.requests.channel, &err) ||
        gpurt_hostchannel_destroy(rt, &f.replies.channel, &err) ||
        gpurt_mem_destroy(rt, f.xdone) || gpurt_close(rt, &err))
        return fprintf(stderr, "clerk: %s\n", err.text), 1;
    printf("clerk: %llu primes below %u\n", (unsigned long long)primes, count * STEP);
    return 0;
}
#endif
