/* SPDX-License-Identifier: Apache-2.0 */
/* bench_channel: messages a second through one channel and through one a block, their bytes, and
 * how long one takes from one multiprocessor to another. Beside each its floor: bare tickets with
 * a slot each, a copy of as many bytes, a flag each way.
 *
 * `call_*`: one lane's calls that wait for nobody, beside an addition and a load whose answer is
 * waited for. `bench_channel apart`: bare tickets, with the two words so many bytes apart.
 *
 * The sum of all that was received is checked in each run. Half of the warps send, the others
 * receive. `_1lane`: one lane of each warp. On the CPU back end, GPURT_BACKEND=cpu, it shows that
 * the kernels are right; its figures mean nothing. */
#include "bench_channel.h"

#include "rows.h"

#include <gpurt/channels.h>

#include <string.h>

enum {
    REPEATS = 21,
    CAPACITY = 1 << 16, /* of one channel for all */
    SMALL = 1 << 11,    /* of one a block */
    PAGES = 1 << 13,    /* of one of 4 KiB messages: what the cache holds */
    TILES = 1 << 11,    /* of whole warps: two a sender */
    TILE_THREADS = 640  /* for its registers */
};

GPURT_KERNEL_DECLARE(bench_channel_words, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_words_by_block, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_messages, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_each, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_many, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_pages, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_tiles, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_fill, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_tickets_each, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_ping_lines, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_tickets, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_copy, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_ping_word, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_ping_note, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_pair_word, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_pair_note, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_ping_flag, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_call_word, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_call_pair, struct bench_channel_args);
GPURT_KERNEL_DECLARE(bench_channel_call_bare, struct bench_channel_args);

typedef struct bench {
    gpurt_t *rt;
    struct bench_channel_args args;
    gpurt_channel_t made[BENCH_CHANNELS_MOST];
    uint32_t blocks, threads, each, repeats;
} bench_t;

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_channel: %s: %s\n", what, err->text);
    exit(1);
}

static void *memory(bench_t *b, size_t bytes)
{
    gpurt_error_t err = {0};
    void *p = NULL;

    need(gpurt_mem_create(b->rt, bytes, &p, &err), &err, "memory");
    need(gpurt_fill(b->rt, 0, p, 0, bytes, &err), &err, "memory");
    return p;
}

static void channels_make(bench_t *b, uint32_t count, uint32_t capacity, uint32_t bytes,
                          uint32_t flags)
{
    const gpurt_channel_options_t o = {
        .capacity = capacity, .bytes = bytes, .flags = flags};
    gpurt_error_t err = {0};

    b->args.count = count;
    b->args.slots = capacity;
    for (uint32_t i = 0; i < count; i++)
        need(gpurt_channel_create(b->rt, &o, &b->made[i], &err), &err, "channel");
    b->args.one = b->made[0];
    b->args.back = b->made[count > 1];
    b->args.word.channel = b->args.note.channel = b->args.one;
    b->args.word_back.channel = b->args.note_back.channel = b->args.back;
    b->args.apart = offsetof(bench_tickets_t, xout) / sizeof(uint64_t);
    b->args.channels = (gpurt_channel_t *)memory(b, count * sizeof *b->made);
    b->args.tickets = (bench_tickets_t *)memory(b, count * sizeof(bench_tickets_t));
    b->args.ring = (uint64_t *)memory(b, (size_t)count * capacity * 16 + 4096);
    need(gpurt_copy(b->rt, 0, b->args.channels, b->made, count * sizeof *b->made, &err),
         &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
}

static void channels_free(bench_t *b)
{
    gpurt_error_t err = {0};

    for (uint32_t i = 0; i < b->args.count; i++)
        need(gpurt_channel_destroy(b->rt, &b->made[i], &err), &err, "channel");
    gpurt_mem_destroy(b->rt, b->args.channels);
    gpurt_mem_destroy(b->rt, b->args.tickets);
    gpurt_mem_destroy(b->rt, b->args.ring);
}

static uint64_t sum_take(bench_t *b)
{
    gpurt_error_t err = {0};
    uint64_t sum = 0;

    need(gpurt_copy(b->rt, 0, &sum, b->args.sum, sizeof sum, &err), &err, "copy");
    need(gpurt_fill(b->rt, 0, b->args.sum, 0, sizeof sum, &err), &err, "fill");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    return sum;
}

/* Returns: nanoseconds of the kernel, the median. sum: what it must have added up. */
static double run_ns(bench_t *b, const gpurt_kernel_t *kernel, uint64_t sum)
{
    gpurt_launch_t l = {.grid = {b->blocks, 1, 1}, .block = {b->threads, 1, 1}};
    double ns[REPEATS];
    gpurt_error_t err = {0};
    gpurt_event_t from, to;

    need(gpurt_event_create(b->rt, &from, &err), &err, "event");
    need(gpurt_event_create(b->rt, &to, &err), &err, "event");
    for (uint32_t i = 0; i <= b->repeats; i++) { /* the first one warms up */
        uint64_t took = 0, got;

        gpurt_event_record(b->rt, from, 0);
        need(gpurt_launch_kernel(b->rt, &l, kernel, &b->args, sizeof b->args, &err), &err,
             kernel->name);
        gpurt_event_record(b->rt, to, 0);
        need(gpurt_sync(b->rt, &err), &err, kernel->name);
        need(gpurt_event_elapsed_ns(b->rt, from, to, &took, &err), &err, "time");
        ns[i ? i - 1 : 0] = (double)took;
        got = sum_take(b);
        if (got != sum) {
            fprintf(stderr, "bench_channel: %s: %llu was received, not %llu\n",
                    kernel->name, (unsigned long long)got, (unsigned long long)sum);
            exit(1);
        }
    }
    gpurt_event_destroy(b->rt, from);
    gpurt_event_destroy(b->rt, to);
    return b->repeats ? rows_median(ns, b->repeats) : ns[0];
}

static uint64_t senders(const bench_t *b)
{
    return (uint64_t)b->blocks * (b->threads / 32 / 2) * b->args.lanes;
}

static double messages(const bench_t *b)
{
    return (double)(senders(b) * b->args.each);
}

static uint64_t sum_of(const bench_t *b)
{
    return senders(b) * b->args.each * (b->args.each + 1ull) / 2;
}

/* G messages a second, beside bare tickets of the same shape. */
static void rate(bench_t *b, const char *name, uint32_t count, uint32_t capacity,
                 uint32_t flags, uint32_t lanes)
{
    double ns, bare;

    b->args.lanes = lanes;
    b->args.each = b->each;
    channels_make(b, count, capacity, sizeof(bench_word_t), flags);
    ns = run_ns(b,
                count > 1 ? &gpurt_kernel_bench_channel_words_by_block
                          : &gpurt_kernel_bench_channel_words,
                sum_of(b));
    bare = run_ns(b, &gpurt_kernel_bench_channel_tickets, 0);
    rows_add("channel", name, messages(b) / ns, "Gmsg/s", "bare-tickets",
             messages(b) / bare);
    channels_free(b);
}

/* Each lane of a warp for itself. */
static void rate_each(bench_t *b)
{
    double ns, bare;

    b->args.lanes = 32;
    b->args.each = b->each / 20;
    channels_make(b, 1, CAPACITY, sizeof(bench_word_t), GPURT_CHANNEL_ALONE);
    ns = run_ns(b, &gpurt_kernel_bench_channel_each, sum_of(b));
    bare = run_ns(b, &gpurt_kernel_bench_channel_tickets_each, 0);
    rows_add("channel", "one_8_each_lane", messages(b) / ns, "Gmsg/s", "bare-tickets",
             messages(b) / bare);
    channels_free(b);
}

/* GB a second, beside a copy of as many from memory to memory. */
static void bytes_rate(bench_t *b, const char *name, const gpurt_kernel_t *kernel,
                       uint32_t bytes, uint32_t each)
{
    uint32_t capacity = bytes > 1024 ? PAGES : CAPACITY, threads = b->threads;
    double ns, copy;

    if (bytes > 1024 && threads > 512) /* for its registers */
        b->threads = 512;

    b->args.lanes = 32;
    b->args.each = each;
    b->args.bytes = (uint64_t)messages(b) * bytes;
    b->args.from = (bench_page_t *)memory(b, b->args.bytes);
    b->args.to = (bench_page_t *)memory(b, b->args.bytes);
    channels_make(b, 1, capacity, bytes, 0);
    if (bytes == sizeof(bench_page_t))
        (void)run_ns(b, &gpurt_kernel_bench_channel_fill, 0);
    ns = run_ns(b, kernel, sum_of(b));
    copy = run_ns(b, &gpurt_kernel_bench_channel_copy, 0);
    rows_add("channel", name, (double)b->args.bytes / ns, "GB/s", "copy",
             (double)b->args.bytes / copy);
    channels_free(b);
    b->threads = threads;
    gpurt_mem_destroy(b->rt, b->args.from);
    gpurt_mem_destroy(b->rt, b->args.to);
}

/* The same of pages that warps have in registers. */
static void tiles_rate(bench_t *b)
{
    uint32_t threads = b->threads;
    double ns, copy;

    b->threads = threads > TILE_THREADS ? (uint32_t)TILE_THREADS : threads;
    b->args.lanes = 32;
    b->args.each = b->each / 16;
    b->args.bytes = (uint64_t)messages(b) * sizeof(bench_part_t);
    b->args.from = (bench_page_t *)memory(b, b->args.bytes);
    b->args.to = (bench_page_t *)memory(b, b->args.bytes);
    channels_make(b, 1, TILES, sizeof(bench_page_t), 0);
    ns = run_ns(b, &gpurt_kernel_bench_channel_tiles, sum_of(b));
    copy = run_ns(b, &gpurt_kernel_bench_channel_copy, 0);
    rows_add("channel", "bytes_4096_warp", (double)b->args.bytes / ns, "GB/s", "copy",
             (double)b->args.bytes / copy);
    channels_free(b);
    b->threads = threads;
    gpurt_mem_destroy(b->rt, b->args.from);
    gpurt_mem_destroy(b->rt, b->args.to);
}

/* Half of a round trip, in cycles of the first block's clock. */
static double ping(bench_t *b, const gpurt_kernel_t *kernel, uint32_t percent)
{
    static uint64_t seen[BENCH_PINGS];
    double half[BENCH_PINGS];
    uint32_t threads = b->threads;
    gpurt_error_t err = {0};

    need(gpurt_fill(b->rt, 0, b->args.tickets, 0, sizeof(bench_tickets_t), &err), &err,
         "fill");
    need(gpurt_fill(b->rt, 0, b->args.ring, 0, 4096, &err), &err, "fill");
    b->threads = 32;
    b->repeats = 1;
    if (kernel == &gpurt_kernel_bench_channel_ping_flag ||
        kernel == &gpurt_kernel_bench_channel_ping_lines)
        b->repeats = 0; /* its flags count from 1 */
    (void)run_ns(b, kernel, 0);
    b->threads = threads;
    b->repeats = REPEATS;
    need(gpurt_copy(b->rt, 0, seen, b->args.cycles, sizeof seen, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    for (uint32_t i = 0; i < BENCH_PINGS; i++)
        half[i] = (double)seen[i] / 2;
    return rows_percentile(half, BENCH_PINGS, percent);
}

static void pings(bench_t *b, const char *name, const gpurt_kernel_t *kernel,
                  const gpurt_kernel_t *floor, uint32_t bytes, uint32_t flags)
{
    static const uint32_t percents[] = {50, 99};
    char text[64];

    channels_make(b, 2, 64, bytes, flags);
    for (uint32_t i = 0; i < 2; i++) {
        double cycles = ping(b, kernel, percents[i]);
        double flag = ping(b, floor, percents[i]);

        snprintf(text, sizeof text, "%s_p%u", name, percents[i]);
        rows_add("channel", text, cycles, "cycles", "bare-flag", flag);
    }
    channels_free(b);
}

static void hops(bench_t *b)
{
    const gpurt_kernel_t *word = &gpurt_kernel_bench_channel_ping_word;
    const gpurt_kernel_t *note = &gpurt_kernel_bench_channel_ping_note;
    const gpurt_kernel_t *pair_word = &gpurt_kernel_bench_channel_pair_word;
    const gpurt_kernel_t *pair_note = &gpurt_kernel_bench_channel_pair_note;
    const gpurt_kernel_t *flag = &gpurt_kernel_bench_channel_ping_flag;
    const gpurt_kernel_t *lines = &gpurt_kernel_bench_channel_ping_lines;
    const uint32_t alone = GPURT_CHANNEL_ALONE, pair = GPURT_CHANNEL_PAIR;

    pings(b, "one_way_8", word, flag, 8, alone);
    pings(b, "one_way_48", note, lines, 48, alone);
    pings(b, "one_way_8_ordered", word, flag, 8, 0);
    pings(b, "one_way_8_pair", pair_word, flag, 8, alone | pair);
    pings(b, "one_way_48_pair", pair_note, lines, 48, alone | pair);
    pings(b, "one_way_48_pair_ordered", pair_note, lines, 48, pair);
}

/* Cycles of a call, the median. at: 0 of sends, or of bare additions; BENCH_CALLS of receives, or
 * of bare loads. */
static double call(bench_t *b, const gpurt_kernel_t *kernel, uint32_t at)
{
    static uint64_t seen[2 * BENCH_CALLS];
    double cycles[BENCH_CALLS];
    uint32_t threads = b->threads;
    gpurt_error_t err = {0};

    b->threads = 32;
    (void)run_ns(b, kernel, 0);
    b->threads = threads;
    need(gpurt_copy(b->rt, 0, seen, b->args.cycles, sizeof seen, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    for (uint32_t i = 0; i < BENCH_CALLS; i++)
        cycles[i] = (double)seen[at + i];
    return rows_median(cycles, BENCH_CALLS);
}

static void calls_of(bench_t *b, const char *name, const gpurt_kernel_t *kernel,
                     uint32_t flags)
{
    static const char *const ends[] = {"send", "receive"}, *const floors[] = {"add",
                                                                              "load"};
    char text[64];

    channels_make(b, 1, BENCH_CALLS, 8, flags);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "call_%s_8%s", ends[i], name);
        rows_add("channel", text, call(b, kernel, i * BENCH_CALLS), "cycles", floors[i],
                 call(b, &gpurt_kernel_bench_channel_call_bare, i * BENCH_CALLS));
    }
    channels_free(b);
}

static void calls(bench_t *b)
{
    const gpurt_kernel_t *word = &gpurt_kernel_bench_channel_call_word;
    const gpurt_kernel_t *pair = &gpurt_kernel_bench_channel_call_pair;

    calls_of(b, "", word, GPURT_CHANNEL_ALONE);
    calls_of(b, "_ordered", word, 0);
    calls_of(b, "_pair", pair, GPURT_CHANNEL_ALONE | GPURT_CHANNEL_PAIR);
}

static void cases(bench_t *b)
{
    rate(b, "one_8", 1, CAPACITY, 0, 32);
    rate(b, "one_8_alone", 1, CAPACITY, GPURT_CHANNEL_ALONE, 32);
    rate(b, "one_8_1lane", 1, CAPACITY, GPURT_CHANNEL_ALONE, 1);
    rate_each(b);
    rate(b, "block_8_alone", b->blocks, SMALL, GPURT_CHANNEL_ALONE, 32);
    bytes_rate(b, "bytes_64", &gpurt_kernel_bench_channel_messages, 64, b->each / 4);
    bytes_rate(b, "bytes_64_many", &gpurt_kernel_bench_channel_many, 64,
               (b->each / 4 + 7) / 8 * 8);
    bytes_rate(b, "bytes_4096", &gpurt_kernel_bench_channel_pages, 4096, 8);
    tiles_rate(b);
    hops(b);
    calls(b);
}

/* How far apart the two words lie. */
static void apart(bench_t *b)
{
    char name[64];

    b->args.lanes = 32;
    b->args.each = b->each;
    channels_make(b, 1, CAPACITY, 8, 0);
    gpurt_mem_destroy(b->rt, b->args.tickets);
    b->args.tickets = (bench_tickets_t *)memory(b, 1 << 13);
    for (uint32_t bytes = 0; bytes <= 1 << 12; bytes = bytes ? bytes * 2 : 32) {
        b->args.apart = bytes / 8;
        snprintf(name, sizeof name, "apart_%u", bytes);
        rows_add("channel", name,
                 messages(b) / run_ns(b, &gpurt_kernel_bench_channel_tickets, 0), "Gmsg/s",
                 NULL, 0);
    }
    channels_free(b);
}

int main(int argc, char **argv)
{
    static bench_t b;
    gpurt_launch_t shape = {.block = {1024, 1, 1}};
    gpurt_error_t err = {0};
    uint32_t fits = 0;
    gpurt_info_t info;

    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_channel: %s\n", err.text);
        return 77;
    }
    b.threads = info.backend == GPURT_BACKEND_CUDA ? 1024 : 64;
    b.each = info.backend == GPURT_BACKEND_CUDA ? 2000 : 20;
    shape.block.x = b.threads;
    need(gpurt_occupancy(b.rt, &shape, &gpurt_kernel_bench_channel_messages, &fits, &err),
         &err, "occupancy");
    b.blocks = info.sm_count < fits ? info.sm_count : fits; /* all are resident at once */
    b.blocks = b.blocks < BENCH_CHANNELS_MOST ? b.blocks : BENCH_CHANNELS_MOST;
    b.blocks = b.blocks < 2 ? 2 : b.blocks;
    b.args.sum = (uint64_t *)memory(&b, sizeof(uint64_t));
    b.args.cycles = (uint64_t *)memory(&b, BENCH_PINGS * sizeof(uint64_t));
    b.repeats = REPEATS;
    rows_head();
    if (argc > 1 && !strcmp(argv[1], "apart"))
        apart(&b);
    else
        cases(&b);
    gpurt_mem_destroy(b.rt, b.args.sum);
    gpurt_mem_destroy(b.rt, b.args.cycles);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
