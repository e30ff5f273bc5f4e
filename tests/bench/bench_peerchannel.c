/* SPDX-License-Identifier: Apache-2.0 */
/* bench_peerchannel [home] - a message from one GPU to another and back, beside a bare word; messages
 * and bytes a second, beside a copy of the driver's and one by stores. home: both ends on GPU 0. What
 * came is checked. */
#include "bench_peerchannel.h"
#include "rows.h"

#include <gpurt/gpurt.h>
#include <gpurt/peerchannels.h>

#include <string.h>

enum {
    WARM = 200,
    PAGE_THREADS = 64,
    COPIES = 20
};
static gpurt_error_t err;
static gpurt_info_t info;
static const char *prefix = "";
static double samples[BENCH_PEER_ROUNDS];

/* A GPU and its half. */
typedef struct half {
    gpurt_t *rt;
    gpurt_stream_t stream;
    struct bench_peer_args args;
    struct bench_page_args pages;
} half_t;
static half_t one, two;

static bool launched(half_t *h, const gpurt_kernel_t *kernel, uint32_t blocks,
                     uint32_t threads, bool pages)
{
    const gpurt_launch_t launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = h->stream};

    return gpurt_launch_kernel(h->rt, &launch, kernel,
                               pages ? (void *)&h->pages : (void *)&h->args,
                               pages ? sizeof h->pages : sizeof h->args, &err) == GPURT_OK;
}

static bool synced(half_t *h)
{
    return gpurt_stream_sync(h->rt, h->stream, &err) == GPURT_OK;
}

static bool fetched(half_t *h, void *to, const void *from, size_t bytes)
{
    return gpurt_copy(h->rt, h->stream, to, from, bytes, &err) == GPURT_OK && synced(h);
}

static void add(const char *name, double value, const char *unit, const char *peer,
                double beside)
{
    char row[64];

    snprintf(row, sizeof row, "%s%s", prefix, name);
    fprintf(stderr, "%s: %.1f %s\n", row, value, unit);
    rows_add("bench_peerchannel", row, value, unit, peer, beside);
}

/* ---- life of channels ---------------------------------------------------------------------- */

static bool numbers_make(uint32_t channels)
{
    one.args.channels = two.args.channels = channels;
    for (uint32_t i = 0; i < channels; i++)
        if (gpurt_make_peerchannel(one.rt, &one.args.numbers_out[i], two.rt,
                                   &two.args.numbers_in[i], NULL, &err) != GPURT_OK ||
            gpurt_make_peerchannel(two.rt, &two.args.numbers_out[i], one.rt,
                                   &one.args.numbers_in[i], NULL, &err) != GPURT_OK)
            return false;
    return gpurt_make_peerchannel(one.rt, &one.args.lines_out, two.rt, &two.args.lines_in,
                                  NULL, &err) == GPURT_OK &&
           gpurt_make_peerchannel(two.rt, &two.args.lines_out, one.rt, &one.args.lines_in,
                                  NULL, &err) == GPURT_OK &&
           gpurt_fill(two.rt, two.stream, two.args.sums, 0, 64, &err) == GPURT_OK &&
           gpurt_fill(one.rt, one.stream, one.args.sums, 0, 64, &err) == GPURT_OK &&
           synced(&one) && synced(&two);
}

static bool numbers_end(void)
{
    for (uint32_t i = 0; i < one.args.channels; i++)
        if (gpurt_peerchannel_destroy(one.rt, &one.args.numbers_out[i].channel, two.rt,
                                      &two.args.numbers_in[i].channel, &err) != GPURT_OK ||
            gpurt_peerchannel_destroy(two.rt, &two.args.numbers_out[i].channel, one.rt,
                                      &one.args.numbers_in[i].channel, &err) != GPURT_OK)
            return false;
    return gpurt_peerchannel_destroy(one.rt, &one.args.lines_out.channel, two.rt,
                                     &two.args.lines_in.channel, &err) == GPURT_OK &&
           gpurt_peerchannel_destroy(two.rt, &two.args.lines_out.channel, one.rt,
                                     &one.args.lines_in.channel, &err) == GPURT_OK;
}

/* ---- one way ------------------------------------------------------------------------------- */

/* Half of a trip there and back: its median, and what one in a hundred exceeds. *half_ns: the
 * former. */
static bool trips(const char *name, const gpurt_kernel_t *kernel, const char *peer,
                  double beside, double *half_ns)
{
    static uint64_t cycles[BENCH_PEER_ROUNDS];
    uint64_t took, good = BENCH_PEER_ROUNDS, all = 0;
    char row[64];

    one.args.first = 1;
    two.args.first = 0;
    one.args.rounds = two.args.rounds = BENCH_PEER_ROUNDS;
    if (!launched(&two, kernel, 1, 1, false) || !launched(&one, kernel, 1, 1, false) ||
        !synced(&one) || !synced(&two) ||
        !fetched(&one, cycles, one.args.cycles, sizeof cycles) ||
        !fetched(&one, &took, one.args.took_ns, sizeof took) ||
        (beside > 0 && !fetched(&one, &good, one.args.sums, sizeof good)))
        return false;
    if (good != BENCH_PEER_ROUNDS)
        return false;
    for (uint32_t i = 0; i < BENCH_PEER_ROUNDS; i++)
        all += cycles[i];
    for (uint32_t i = 0; i < BENCH_PEER_ROUNDS; i++)
        samples[i] = (double)cycles[i] * (double)took / (double)all / 2;
    *half_ns = rows_percentile(samples + WARM, BENCH_PEER_ROUNDS - WARM, 50);
    snprintf(row, sizeof row, "%s_p50", name);
    add(row, *half_ns, "ns", peer, beside);
    snprintf(row, sizeof row, "%s_p99", name);
    add(row, rows_percentile(samples + WARM, BENCH_PEER_ROUNDS - WARM, 99), "ns", peer,
        beside);
    return true;
}

static bool bare(const char *name, uint32_t ordered, double *half_ns)
{
    one.args.ordered = two.args.ordered = ordered;
    return gpurt_fill(one.rt, one.stream, one.args.xmine, 0, 4, &err) == GPURT_OK &&
           gpurt_fill(two.rt, two.stream, two.args.xmine, 0, 4, &err) == GPURT_OK &&
           synced(&one) && synced(&two) &&
           trips(name, &gpurt_kernel_bench_peer_bare, NULL, 0, half_ns);
}

static bool one_way(void)
{
    double word, ordered, ns;

    return bare("bare_word", 0, &word) && bare("bare_word_ordered", 1, &ordered) &&
           numbers_make(1) &&
           trips("message_8", &gpurt_kernel_bench_peer_trip, "bare-word-ordered", ordered,
                 &ns) &&
           trips("message_48", &gpurt_kernel_bench_peer_trip_line, "bare-word-ordered",
                 ordered, &ns) &&
           numbers_end();
}

/* ---- rates --------------------------------------------------------------------------------- */

static bool messages(const char *name, uint32_t channels, uint32_t blocks, uint32_t threads,
                     uint32_t rounds)
{
    const uint64_t all = (uint64_t)blocks * threads * rounds;
    uint64_t sums[2] = {0};
    double begin, took;

    if (!numbers_make(channels))
        return false;
    one.args.rounds = rounds;
    begin = rows_now_ns();
    if (!launched(&two, &gpurt_kernel_bench_peer_take, blocks, threads, false) ||
        !launched(&one, &gpurt_kernel_bench_peer_send, blocks, threads, false) ||
        !synced(&one))
        return false;
    for (uint32_t i = 0; i < channels; i++)
        if (gpurt_peerchannel_close(one.rt, &one.args.numbers_out[i].channel, &err) !=
            GPURT_OK)
            return false;
    took = rows_now_ns() - begin;
    if (!synced(&two) || !fetched(&two, sums, two.args.sums, sizeof sums) ||
        sums[0] != all * (all - 1) / 2 || sums[1] != all)
        return false;
    add(name, (double)all * 1e3 / took, "M messages/s", NULL, 0);
    return numbers_end();
}

static bool pages(const char *name, uint32_t channels, uint32_t rounds, double bare_rate)
{
    const uint32_t blocks = info.sm_count, threads = blocks * PAGE_THREADS;
    const uint64_t all = (uint64_t)threads * rounds;
    uint64_t sums[2] = {0};
    double begin, took;

    one.pages.channels = two.pages.channels = channels;
    one.pages.rounds = rounds;
    for (uint32_t i = 0; i < channels; i++)
        if (gpurt_make_peerchannel(one.rt, &one.pages.out[i], two.rt, &two.pages.in[i],
                                   NULL, &err) != GPURT_OK)
            return false;
    if (gpurt_fill(two.rt, two.stream, two.pages.sums, 0, 64, &err) != GPURT_OK ||
        !synced(&two))
        return false;
    begin = rows_now_ns();
    if (!launched(&two, &gpurt_kernel_bench_page_take, blocks, PAGE_THREADS, true) ||
        !launched(&one, &gpurt_kernel_bench_page_send, blocks, PAGE_THREADS, true) ||
        !synced(&one))
        return false;
    took = rows_now_ns() - begin;
    for (uint32_t i = 0; i < channels; i++)
        if (gpurt_peerchannel_close(one.rt, &one.pages.out[i].channel, &err) != GPURT_OK)
            return false;
    if (!synced(&two) || !fetched(&two, sums, two.pages.sums, sizeof sums) ||
        sums[0] != (uint64_t)threads * rounds * (rounds - 1) / 2 || sums[1] != all)
        return false;
    add(name, (double)all * BENCH_PEER_PAGE / took, "GB/s", "store-copy", bare_rate);
    for (uint32_t i = 0; i < channels; i++)
        if (gpurt_peerchannel_destroy(one.rt, &one.pages.out[i].channel, two.rt,
                                      &two.pages.in[i].channel, &err) != GPURT_OK)
            return false;
    return true;
}

/* The driver's copy, and one by stores of all multiprocessors. */
static bool copies(double *rate)
{
    const size_t bytes = (size_t)info.sm_count * PAGE_THREADS * BENCH_PEER_PAGE;
    double begin;

    one.pages.rounds = COPIES;
    one.pages.count = info.sm_count * PAGE_THREADS;
    begin = rows_now_ns();
    for (uint32_t i = 0; i < COPIES; i++)
        if (gpurt_copy(one.rt, one.stream, one.pages.there, one.pages.pages, bytes, &err) !=
            GPURT_OK)
            return false;
    if (!synced(&one))
        return false;
    add("driver_copy", (double)bytes * COPIES / (rows_now_ns() - begin), "GB/s", NULL, 0);
    begin = rows_now_ns();
    if (!launched(&one, &gpurt_kernel_bench_page_copy, info.sm_count * 2, 512, true) ||
        !synced(&one))
        return false;
    *rate = (double)bytes * COPIES / (rows_now_ns() - begin);
    add("store_copy", *rate, "GB/s", NULL, 0);
    return true;
}

/* ---- all ----------------------------------------------------------------------------------- */

static bool half_make(half_t *h)
{
    const size_t bytes = (size_t)info.sm_count * PAGE_THREADS * BENCH_PEER_PAGE;
    void *small = NULL, *large = NULL, *cycles = NULL;

    if (gpurt_stream_create(h->rt, &h->stream, &err) != GPURT_OK ||
        gpurt_mem_create(h->rt, 1024, &small, &err) != GPURT_OK ||
        gpurt_mem_create(h->rt, BENCH_PEER_ROUNDS * 8, &cycles, &err) != GPURT_OK ||
        gpurt_mem_create(h->rt, bytes, &large, &err) != GPURT_OK ||
        gpurt_fill(h->rt, h->stream, large, 0, bytes, &err) != GPURT_OK ||
        gpurt_fill(h->rt, h->stream, small, 0, 1024, &err) != GPURT_OK)
        return false;
    h->args.xmine = (uint32_t *)small;
    h->args.sums = h->pages.sums = (uint64_t *)small + 32;
    h->args.took_ns = (uint64_t *)small + 64;
    h->args.cycles = (uint64_t *)cycles;
    h->pages.pages = (struct bench_peer_page *)large;
    return synced(h);
}

static bool all(void)
{
    const uint32_t sms = info.sm_count;
    double rate;

    if (!half_make(&one) || !half_make(&two))
        return false;
    one.args.xtheirs = two.args.xmine;
    two.args.xtheirs = one.args.xmine;
    one.pages.there = two.pages.pages;
    if (!numbers_make(1) || !numbers_end()) /* from here on each GPU reaches the other */
        return false;
    return one_way() && messages("numbers_1_lane", 1, 1, 1, 100000) &&
           messages("numbers_1_warp", 1, 1, 32, 20000) &&
           messages("numbers_all_1_channel", 1, sms, 32, 200) &&
           messages("numbers_all_16_channels", 16, sms, 32, 2000) && copies(&rate) &&
           pages("pages_1_channel", 1, 32, rate) &&
           pages("pages_4_channels", 4, 64, rate) &&
           pages("pages_16_channels", 16, 128, rate);
}

int main(int argc, char **argv)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    const bool home = argc > 1 && strcmp(argv[1], "home") == 0;
    bool done;

    if (gpurt_open(&options, &one.rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_peerchannel: %s\n", err.text);
        return 77;
    }
    options.device = 1;
    two.rt = one.rt;
    if (home) {
        prefix = "home_";
    } else if (gpurt_open(&options, &two.rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_peerchannel: %s; `home` needs no second GPU\n", err.text);
        return 77;
    }
    rows_head();
    done = gpurt_info(one.rt, &info) == GPURT_OK && all();
    if (!done) {
        fprintf(stderr, "bench_peerchannel: %s\n",
                err.text[0] ? err.text : "a wrong answer");
        return 1; /* kernels may run still */
    }
    if (!home)
        gpurt_close(two.rt, NULL);
    gpurt_close(one.rt, NULL);
    return 0;
}
