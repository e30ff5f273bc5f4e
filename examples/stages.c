/* SPDX-License-Identifier: Apache-2.0 */
/* stages - three kernels that run at once, with channels between them: one draws numbers, one
 * squares them, one sums them up. No kernel waits for another to end.
 *
 *     gpurt-top -- stages 4000000       key 8: how deep the channels are, and who waits */
#include <gpurt/channel.h>
#include <gpurt/device.h>

enum {
    THREADS = 128
};

GPURT_CHANNEL(numbers, uint32_t, 1024);
GPURT_CHANNEL(squares, uint64_t, 256);

struct stages {
    numbers_t numbers;
    squares_t squares;
    uint64_t *sum;
    uint32_t count;
};

GPURT_KERNEL(draw, struct stages, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->count; i += THREADS)
        (void)gpurt_send(&p->numbers, &i); /* waits while there is no room */
}

GPURT_KERNEL(square, struct stages, p)
{
    uint64_t squared;
    uint32_t number;

    while (gpurt_receive(&p->numbers, &number) ==
           GPURT_OK) { /* until it is closed and empty */
        squared = (uint64_t)number * number;
        (void)gpurt_send(&p->squares, &squared);
    }
}

GPURT_KERNEL(add, struct stages, p)
{
    uint64_t squared, mine = 0;

    while (gpurt_receive(&p->squares, &squared) == GPURT_OK)
        mine += squared;
    gpurt_red_add_relaxed_dev_u64(p->sum, mine); /* relaxed: only the total matters */
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/channels.h>
#    include <gpurt/gpurt.h>
#    include <stdio.h>
#    include <stdlib.h>

static gpurt_status_t stages_run(gpurt_t *rt, struct stages *s, gpurt_error_t *err)
{
    gpurt_launch_t launch[3];
    gpurt_status_t st = GPURT_OK;

    for (int i = 0; i < 3 && st == GPURT_OK; i++) {
        launch[i] = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
        st =
            gpurt_stream_create(rt, &launch[i].stream, err); /* or they would run in turn */
    }
    if (st != GPURT_OK || (st = gpurt_launch(rt, &launch[0], draw, s, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &launch[1], square, s, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &launch[2], add, s, err)) != GPURT_OK ||
        (st = gpurt_stream_sync(rt, launch[0].stream, err)) != GPURT_OK ||
        (st = gpurt_channel_end(rt, &s->numbers.channel, err)) != GPURT_OK ||
        (st = gpurt_stream_sync(rt, launch[1].stream, err)) != GPURT_OK ||
        (st = gpurt_channel_end(rt, &s->squares.channel, err)) != GPURT_OK)
        return st;
    return gpurt_stream_sync(rt, launch[2].stream, err);
}

int main(int argc, char **argv)
{
    struct stages s = {.count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 20000};
    uint64_t n = s.count, sum = 0;
    gpurt_error_t err = {0};
    void *word = NULL;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) || gpurt_mem_create(rt, sizeof sum, &word, &err) ||
        gpurt_fill(rt, 0, word, 0, sizeof sum, &err) || gpurt_stream_sync(rt, 0, &err) ||
        gpurt_make_channel(rt, &s.numbers, NULL, &err) ||
        gpurt_make_channel(rt, &s.squares, NULL, &err) ||
        (s.sum = (uint64_t *)word, stages_run(rt, &s, &err)) ||
        gpurt_copy(rt, 0, &sum, word, sizeof sum, &err) || gpurt_sync(rt, &err) ||
        gpurt_channel_destroy(rt, &s.numbers.channel, &err) ||
        gpurt_channel_destroy(rt, &s.squares.channel, &err))
        return fprintf(stderr, "stages: %s\n", err.text), 1;
    gpurt_mem_destroy(rt, word);
    printf("stages: the squares below %llu are %llu\n", (unsigned long long)n,
           (unsigned long long)sum);
    return gpurt_close(rt, &err) == GPURT_OK && sum == (n - 1) * n * (2 * n - 1) / 6 ? 0
                                                                                     : 1;
}
#endif
