/* SPDX-License-Identifier: Apache-2.0 */
/* relay - a kernel on one device sends numbers to a kernel on another, which adds their squares.
 *     gpurt-top -- relay 1000000     key 8: how full the channel is, at both ends
 * On one GPU both kernels run there. */
#include <gpurt/device.h>
#include <gpurt/peerchannel.h>

enum {
    BLOCKS = 2,
    THREADS = 32
};
GPURT_PEERS(numbers, uint32_t, 256);

struct sender {
    numbers_out_t out;
    uint32_t *xdone; /* threads that are through */
    uint32_t count;
};
struct taker {
    numbers_in_t in;
    uint64_t *sum;
};

GPURT_KERNEL(send, struct sender, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->count; i += BLOCKS * THREADS)
        (void)gpurt_peer_send(&p->out, &i);
    if (gpurt_add_relaxed_dev_u32(p->xdone, 1) + 1 ==
        BLOCKS * THREADS) /* relaxed: a count */
        (void)gpurt_peer_close(&p->out);
}

GPURT_KERNEL(take, struct taker, p)
{
    uint64_t sum = 0;
    uint32_t number = 0;

    while (gpurt_peer_receive(&p->in, &number) == GPURT_OK) /* until it is closed */
        sum += (uint64_t)number * number;
    gpurt_red_add_relaxed_dev_u64(p->sum, sum); /* relaxed: a sum */
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/peerchannels.h>
#    include <stdio.h>
#    include <stdlib.h>

static gpurt_status_t run(gpurt_t *a, gpurt_t *b, struct sender *s, struct taker *t,
                          uint64_t *sum, gpurt_error_t *err)
{
    gpurt_launch_t sends = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}},
                   takes = sends;
    gpurt_status_t st = gpurt_make_peerchannel(a, &s->out, b, &t->in, NULL, err);

    if (st || (st = gpurt_stream_create(a, &sends.stream, err)) ||
        (st = gpurt_stream_create(b, &takes.stream, err)) ||
        (st = gpurt_mem_create(a, 4, (void **)&s->xdone, err)) ||
        (st = gpurt_mem_create(b, 8, (void **)&t->sum, err)) ||
        (st = gpurt_fill(a, sends.stream, s->xdone, 0, 4, err)) ||
        (st = gpurt_fill(b, takes.stream, t->sum, 0, 8, err)) ||
        (st = gpurt_launch(b, &takes, take, t, err)) ||
        (st = gpurt_launch(a, &sends, send, s, err)) ||
        (st = gpurt_stream_sync(a, sends.stream, err)) ||
        (st = gpurt_copy(b, takes.stream, sum, t->sum, 8, err)) ||
        (st = gpurt_stream_sync(b, takes.stream, err)))
        return st;
    gpurt_mem_destroy(a, s->xdone);
    gpurt_mem_destroy(b, t->sum);
    return gpurt_peerchannel_destroy(a, &s->out.channel, b, &t->in.channel, err);
}

int main(int argc, char **argv)
{
    gpurt_options_t second = {.struct_size = sizeof second, .device = 1};
    struct sender s = {.count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 10000};
    struct taker t = {0};
    gpurt_error_t err = {0};
    uint64_t sum = 0;
    gpurt_t *a, *b;

    if (gpurt_open(NULL, &a, &err))
        return fprintf(stderr, "relay: %s\n", err.text), 1;
    if (gpurt_open(&second, &b, &err)) {
        fprintf(stderr, "relay: %s; both ends are on device 0\n", err.text);
        b = a;
    }
    if (run(a, b, &s, &t, &sum, &err) || (b != a && gpurt_close(b, &err)) ||
        gpurt_close(a, &err))
        return fprintf(stderr, "relay: %s\n", err.text), 1;
    printf("relay: the squares of %u numbers are %llu\n", s.count, (unsigned long long)sum);
    return 0;
}
#endif
