/* SPDX-License-Identifier: Apache-2.0 */
/* hailstones - a kernel writes the sequence of each number, n/2 or 3n+1 until 1, as one segment of a
 * ring: each has another length. A second kernel reads them while they come, and keeps the longest.
 *
 *     gpurt-top -- hailstones 100000       key 8: how full the ring is, and who waits */
#include <gpurt/device.h>
#include <gpurt/segring.h>

enum {
    THREADS = 64,
    STEPS_MOST = 512 /* of a number below 2^20 */
};

/* Written by: any lane that reads. */
struct hail_best {
    uint64_t xlongest; /* steps << 32 | number */
    uint64_t xsteps;
};

struct hail {
    gpurt_segring_t ring;
    struct hail_best *best;
    uint32_t count;
};

GPURT_KERNEL(climb, struct hail, p)
{
    for (uint32_t n = gpurt_global_id() + 1; n <= p->count; n += THREADS) {
        gpurt_segment_t s;

        if (gpurt_segring_reserve(&p->ring, STEPS_MOST * sizeof(uint64_t), &s) != GPURT_OK)
            return;
        for (uint64_t at = n; at > 1; at = at % 2 ? 3 * at + 1 : at / 2)
            (void)gpurt_segment_put(&s, &at, sizeof at);
        (void)gpurt_segment_commit(&s); /* with as many steps as it took */
    }
}

GPURT_KERNEL(watch, struct hail, p)
{
    uint64_t steps[STEPS_MOST], bytes;

    while (gpurt_lane() == 0 &&
           gpurt_segring_read(&p->ring, steps, sizeof steps, &bytes) == GPURT_OK) {
        if (bytes == 0)
            continue;
        /* relaxed: the end of the kernel orders both */
        gpurt_red_max_relaxed_dev_u64(&p->best->xlongest,
                                      bytes / sizeof *steps << 32 | steps[0]);
        gpurt_red_add_relaxed_dev_u64(&p->best->xsteps, bytes / sizeof *steps);
    }
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/gpurt.h>
#    include <gpurt/segrings.h>
#    include <stdio.h>
#    include <stdlib.h>

static gpurt_status_t hail_run(gpurt_t *rt, struct hail *h, gpurt_error_t *err)
{
    gpurt_launch_t up = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    gpurt_launch_t down = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    gpurt_status_t st;

    if ((st = gpurt_stream_create(rt, &up.stream, err)) != GPURT_OK ||
        (st = gpurt_stream_create(rt, &down.stream, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &down, watch, h, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &up, climb, h, err)) != GPURT_OK ||
        (st = gpurt_stream_sync(rt, up.stream, err)) != GPURT_OK ||
        (st = gpurt_segring_end(rt, &h->ring, err)) != GPURT_OK)
        return st;
    return gpurt_stream_sync(rt, down.stream, err);
}

int main(int argc, char **argv)
{
    const gpurt_segring_options_t options = {.bytes = 1 << 20, .name = "hail"};
    struct hail h = {.count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 2000};
    struct hail_best best = {0};
    gpurt_error_t err = {0};
    void *memory = NULL;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) || gpurt_mem_create(rt, sizeof best, &memory, &err) ||
        gpurt_fill(rt, 0, memory, 0, sizeof best, &err) || gpurt_stream_sync(rt, 0, &err) ||
        gpurt_segring_create(rt, &options, &h.ring, &err) ||
        (h.best = (struct hail_best *)memory, hail_run(rt, &h, &err)) ||
        gpurt_copy(rt, 0, &best, memory, sizeof best, &err) || gpurt_sync(rt, &err) ||
        gpurt_segring_destroy(rt, &h.ring, &err))
        return fprintf(stderr, "hailstones: %s\n", err.text), 1;
    gpurt_mem_destroy(rt, memory);
    printf("hailstones: %llu steps in all; %llu takes the most, %llu\n",
           (unsigned long long)best.xsteps,
           (unsigned long long)(best.xlongest & 0xffffffff),
           (unsigned long long)(best.xlongest >> 32));
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;
}
#endif
