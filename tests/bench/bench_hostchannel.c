/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostchannel - the host sends a command and a kernel acknowledges it, beside a bare word that
 * goes there and back, with idle and with busy multiprocessors; a question with its answer; messages
 * a second each way; how late a host is that sleeps. What came is checked. */
#include "bench_hostchannel.h"
#include "rows.h"

#include <gpurt/gpurt.h>
#include <gpurt/hostchannels.h>

#include <string.h>
#include <time.h>

enum {
    ROUNDS = 20000,
    WARM = 500,
    BATCH = 256,
    STREAM = 1 << 20, /* messages of a stream */
    NAPS = 64,
    WARPS = 4 /* of a busy block */
};
#define NAP_NS    UINT64_C(100000000)
#define APART_NS  UINT64_C(137000) /* so that answers come at any moment of a nap */
#define ASLEEP_NS UINT64_C(2000000000)

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static struct bench_hostchannel_args args;
static double samples[ROUNDS];
static gpurt_stream_t stream;

static bool launched(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    const gpurt_launch_t launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = stream};

    return gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err) == GPURT_OK;
}

static bool channels_make(void)
{
    return gpurt_make_hostchannel(rt, &args.commands, NULL, &err) == GPURT_OK &&
           gpurt_make_hostchannel(rt, &args.larges, NULL, &err) == GPURT_OK &&
           gpurt_make_hostchannel(rt, &args.answers, NULL, &err) == GPURT_OK &&
           gpurt_fill(rt, stream, args.sums, 0, 256, &err) == GPURT_OK; /* xstop, too */
}

static bool channels_end(uint64_t want)
{
    uint64_t sum = want + 1;

    if (gpurt_stream_sync(rt, stream, &err) != GPURT_OK ||
        gpurt_copy(rt, stream, &sum, args.sums, 8, &err) != GPURT_OK ||
        gpurt_stream_sync(rt, stream, &err) != GPURT_OK || sum != want)
        return false;
    return gpurt_hostchannel_destroy(rt, &args.commands.channel, &err) == GPURT_OK &&
           gpurt_hostchannel_destroy(rt, &args.larges.channel, &err) == GPURT_OK &&
           gpurt_hostchannel_destroy(rt, &args.answers.channel, &err) == GPURT_OK;
}

static void tell(const char *name, const char *peer, double *p50, double *p99,
                 double peer50, double peer99)
{
    char row[64];

    *p50 = rows_percentile(samples + WARM, ROUNDS - WARM, 50);
    *p99 = rows_percentile(samples + WARM, ROUNDS - WARM, 99);
    fprintf(stderr, "%s: p50 %.0f ns, p99 %.0f ns\n", name, *p50, *p99);
    snprintf(row, sizeof row, "%s_p50", name);
    rows_add("bench_hostchannel", row, *p50, "ns", peer, peer50);
    snprintf(row, sizeof row, "%s_p99", name);
    rows_add("bench_hostchannel", row, *p99, "ns", peer, peer99);
}

/* ---- round trips ------------------------------------------------------------------------ */

static bool bare(const char *name, double *p50, double *p99)
{
    *args.ask = *args.answer = 0;
    args.rounds = ROUNDS;
    if (gpurt_fill(rt, stream, args.xstop, 0, 4, &err) != GPURT_OK)
        return false;
    if (!launched(&gpurt_kernel_bench_hostchannel_bare, args.busy ? info.sm_count : 1,
                  args.busy ? 32 * WARPS : 1))
        return false;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        double begin = rows_now_ns();

        gpurt_store_release_sys_u32(args.ask, i);
        while (gpurt_load_acquire_sys_u32(args.answer) != i)
            ;
        samples[i - 1] = rows_now_ns() - begin;
    }
    tell(name, NULL, p50, p99, 0, 0);
    return gpurt_stream_sync(rt, stream, &err) == GPURT_OK;
}

/* blocks: lanes that wait for the one command. */
static bool commands(const char *name, uint32_t blocks, double bare50, double bare99)
{
    uint64_t sum = 0, ticket;
    double p50, p99;

    if (!channels_make() || !launched(&gpurt_kernel_bench_hostchannel_receive, blocks,
                                      args.busy ? 32 * WARPS : 1))
        return false;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        double begin = rows_now_ns();

        if (gpurt_device_send(rt, &args.commands, &i, GPURT_FOREVER, &ticket, &err) !=
                GPURT_OK ||
            gpurt_device_await(rt, &args.commands, ticket, GPURT_FOREVER, &err) != GPURT_OK)
            return false;
        samples[i] = rows_now_ns() - begin;
        sum += i;
    }
    tell(name, "bare-word", &p50, &p99, bare50, bare99);
    return gpurt_hostchannel_close(rt, &args.commands.channel, &err) == GPURT_OK &&
           channels_end(sum);
}

static bool large(double bare50, double bare99)
{
    struct bench_hostchannel_large m;
    uint64_t sum = 0, ticket;
    double p50, p99;

    if (!channels_make() || !launched(&gpurt_kernel_bench_hostchannel_receive_large, 1, 1))
        return false;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        double begin = rows_now_ns();

        m.words[0] = m.words[15] = i;
        if (gpurt_device_send(rt, &args.larges, &m, GPURT_FOREVER, &ticket, &err) !=
                GPURT_OK ||
            gpurt_device_await(rt, &args.larges, ticket, GPURT_FOREVER, &err) != GPURT_OK)
            return false;
        samples[i] = rows_now_ns() - begin;
        sum += i;
    }
    tell("command_64_bytes", "bare-word", &p50, &p99, bare50, bare99);
    return gpurt_hostchannel_close(rt, &args.larges.channel, &err) == GPURT_OK &&
           channels_end(sum);
}

static bool question(uint64_t i, double *ns)
{
    double begin = rows_now_ns();
    uint64_t back = 0;

    if (gpurt_device_send(rt, &args.commands, &i, GPURT_FOREVER, NULL, &err) != GPURT_OK ||
        gpurt_device_receive(rt, &args.answers, &back, GPURT_FOREVER, &err) != GPURT_OK)
        return false;
    *ns = rows_now_ns() - begin;
    return back == i;
}

static bool questions(double bare50, double bare99)
{
    double p50, p99;

    args.delay_ns = 0;
    if (!channels_make() || !launched(&gpurt_kernel_bench_hostchannel_answer, 1, 1))
        return false;
    for (uint64_t i = 0; i < ROUNDS; i++)
        if (!question(i, &samples[i]))
            return false;
    tell("question", "bare-word", &p50, &p99, bare50, bare99);
    return gpurt_hostchannel_close(rt, &args.commands.channel, &err) == GPURT_OK &&
           channels_end(0);
}

static uint64_t used_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of a core, by this thread, while nothing comes. */
static bool asleep(void)
{
    uint64_t begin = used_ns(), back;

    if (gpurt_device_receive(rt, &args.answers, &back, ASLEEP_NS, NULL) != GPURT_E_TIMEOUT)
        return false;
    rows_add("bench_hostchannel", "asleep",
             (double)(used_ns() - begin) * 100 / (double)ASLEEP_NS, "% of a core", NULL, 0);
    return true;
}

/* The answer comes after 100 ms or some more: the host sleeps by then. */
static bool naps(void)
{
    double late[NAPS];

    for (uint64_t i = 0; i < NAPS; i++) {
        args.delay_ns = NAP_NS + i * APART_NS;
        if (!channels_make() || !launched(&gpurt_kernel_bench_hostchannel_answer, 1, 1) ||
            !question(i, &late[i]) || (i == 0 && !asleep()) ||
            gpurt_hostchannel_close(rt, &args.commands.channel, &err) != GPURT_OK ||
            !channels_end(0))
            return false;
        late[i] = (late[i] - (double)args.delay_ns) * 1e-3;
    }
    rows_add("bench_hostchannel", "asleep_late_p50", rows_percentile(late, NAPS, 50), "us",
             NULL, 0);
    rows_add("bench_hostchannel", "asleep_late_p90", rows_percentile(late, NAPS, 90), "us",
             NULL, 0);
    rows_add("bench_hostchannel", "asleep_late_most", rows_percentile(late, NAPS, 100),
             "us", NULL, 0);
    return true;
}

/* ---- rates ------------------------------------------------------------------------------ */

static bool stream_to_device(uint32_t blocks, uint32_t threads, const char *name)
{
    static uint64_t batch[BATCH];
    uint64_t sum = 0;
    double begin;

    if (!channels_make() ||
        !launched(&gpurt_kernel_bench_hostchannel_receive, blocks, threads))
        return false;
    begin = rows_now_ns();
    for (uint64_t i = 0; i < STREAM; i += BATCH) {
        for (uint64_t k = 0; k < BATCH; k++)
            sum += batch[k] = i + k;
        if (gpurt_device_send_many(rt, &args.commands, batch, BATCH, GPURT_FOREVER, NULL,
                                   NULL, &err) != GPURT_OK)
            return false;
    }
    if (gpurt_hostchannel_close(rt, &args.commands.channel, &err) != GPURT_OK ||
        gpurt_stream_sync(rt, stream, &err) != GPURT_OK)
        return false;
    rows_add("bench_hostchannel", name, STREAM * 1e3 / (rows_now_ns() - begin),
             "M messages/s", NULL, 0);
    return channels_end(sum);
}

static bool stream_to_host(uint32_t warps, const char *name)
{
    static uint64_t batch[BATCH];
    uint64_t sum = 0, all = (uint64_t)info.sm_count * warps * 32, got = 0, want;
    double begin;
    uint32_t n;

    args.rounds = (uint32_t)(STREAM / all + 1);
    all *= args.rounds;
    want = all * (all - 1) / 2;
    if (!channels_make())
        return false;
    begin = rows_now_ns();
    if (!launched(&gpurt_kernel_bench_hostchannel_send, info.sm_count, 32 * warps))
        return false;
    for (; got < all; got += n) {
        if (gpurt_device_receive_many(rt, &args.answers, batch, BATCH, GPURT_FOREVER, &n,
                                      &err) != GPURT_OK)
            return false;
        for (uint32_t k = 0; k < n; k++)
            sum += batch[k];
    }
    rows_add("bench_hostchannel", name, (double)all * 1e3 / (rows_now_ns() - begin),
             "M messages/s", NULL, 0);
    return sum == want && channels_end(0);
}

/* ---- all ------------------------------------------------------------------------------- */

static bool made(void)
{
    void *words = NULL, *memory = NULL;

    if (gpurt_host_create(rt, 256, &words, &err) != GPURT_OK ||
        gpurt_mem_create(rt, 256, &memory, &err) != GPURT_OK ||
        gpurt_stream_create(rt, &stream, &err) != GPURT_OK)
        return false;
    args.ask = (uint32_t *)words;
    args.answer = (uint32_t *)words + 32; /* a line of its own */
    args.sums = (uint64_t *)memory;
    args.xstop = (uint32_t *)memory + 32;
    return gpurt_fill(rt, stream, memory, 0, 256, &err) == GPURT_OK &&
           gpurt_sync(rt, &err) == GPURT_OK;
}

static bool all(void)
{
    double p50, p99;

    if (!bare("bare_word", &p50, &p99) || !commands("command", 1, p50, p99) ||
        !commands("command_132_wait", 132, p50, p99) || !large(p50, p99) ||
        !questions(p50, p99) || !naps() || !stream_to_device(1, 32, "to_device_1_warp") ||
        !stream_to_device(info.sm_count, 32, "to_device_all") ||
        !stream_to_host(1, "to_host_1_warp") || !stream_to_host(8, "to_host_8_warps"))
        return false;
    args.busy = 1;
    return bare("busy_bare_word", &p50, &p99) &&
           commands("busy_command", info.sm_count, p50, p99);
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    bool done;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_hostchannel: %s\n", err.text);
        return 77;
    }
    rows_head();
    done = gpurt_info(rt, &info) == GPURT_OK && made() && all();
    if (!done) {
        fprintf(stderr, "bench_hostchannel: %s\n",
                err.text[0] ? err.text : "a wrong answer");
        return 1; /* kernels may run still */
    }
    gpurt_close(rt, NULL);
    return 0;
}
