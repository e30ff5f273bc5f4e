/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostwake - how a host thread that sleeps learns that a kernel has sent: by its own looks, or
 * woken by a stream that waits for the slot's turn and a host function behind it. How late each is,
 * what it costs while nothing comes, and how many streams of the program's stand still meanwhile. What
 * came is checked. */
#include "bench_hostchannel.h"
#include "rows.h"

#include <gpurt/gpurt.h>
#include <gpurt/hostchannels.h>

#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    NAPS = 64,
    WAITERS = 16,     /* streams that wait */
    OTHERS = 32,      /* streams of the program's */
    WAIT_EQUAL = 1,   /* CU_STREAM_WAIT_VALUE_EQ */
    NON_BLOCKING = 1, /* CU_STREAM_NON_BLOCKING */
    QUICK_MS = 200    /* a word has been set by then */
};
#define NAP_NS    UINT64_C(100000000)
#define APART_NS  UINT64_C(137000) /* so that answers come at any moment of a nap */
#define ASLEEP_NS UINT64_C(2000000000)

/* The driver's, by their names there. Owner: the driver. */
static struct driver {
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*context_retain)(void **, int);
    int (*context_set)(void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_wait)(void *, uint64_t, uint32_t, unsigned);
    int (*host_function)(void *, void (*)(void *), void *);
    int (*stream_query)(void *);
    int (*set)(uint64_t, unsigned, size_t, void *);
} driver;

static gpurt_t *rt;
static gpurt_error_t err;
static struct bench_hostchannel_args args;
static gpurt_stream_t stream;
static void *streams[WAITERS], *others[OTHERS];
static uint32_t *words; /* in device memory */
static sem_t woken;

static bool symbol(void *library, const char *name, void *to)
{
    void *at = dlsym(library, name);

    memcpy(to, &at, sizeof at);
    return at != NULL;
}

static bool driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *context;
    int device;

    return library && symbol(library, "cuInit", &driver.init) &&
           symbol(library, "cuDeviceGet", &driver.device_get) &&
           symbol(library, "cuDevicePrimaryCtxRetain", &driver.context_retain) &&
           symbol(library, "cuCtxSetCurrent", &driver.context_set) &&
           symbol(library, "cuStreamCreate", &driver.stream_create) &&
           symbol(library, "cuStreamWaitValue32_v2", &driver.stream_wait) &&
           symbol(library, "cuLaunchHostFunc", &driver.host_function) &&
           symbol(library, "cuStreamQuery", &driver.stream_query) &&
           symbol(library, "cuMemsetD32Async", &driver.set) && driver.init(0) == 0 &&
           driver.device_get(&device, 0) == 0 &&
           driver.context_retain(&context, device) == 0 && driver.context_set(context) == 0;
}

static uint64_t used_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- one answer ------------------------------------------------------------------------- */

static void wake(void *context)
{
    (void)context;
    sem_post(&woken);
}

/* `in` goes on when the next answer has its turn. */
static bool armed(void *in)
{
    const gpurt_hostchannel_t *c = &args.answers.channel;
    const uint64_t next = gpurt_hostchannel_first(c->capacity);

    return driver.stream_wait(in, (uint64_t)(uintptr_t)gpurt_hostchannel_slot(c, next),
                              (uint32_t)next + 1, WAIT_EQUAL) == 0 &&
           driver.host_function(in, wake, NULL) == 0;
}

static bool channels_make(void)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream};

    return gpurt_make_hostchannel(rt, &args.commands, NULL, &err) == GPURT_OK &&
           gpurt_make_hostchannel(rt, &args.answers, NULL, &err) == GPURT_OK &&
           gpurt_launch_kernel(rt, &launch, &gpurt_kernel_bench_hostchannel_answer, &args,
                               sizeof args, &err) == GPURT_OK;
}

static bool channels_end(void)
{
    return gpurt_hostchannel_close(rt, &args.commands.channel, &err) == GPURT_OK &&
           gpurt_stream_sync(rt, stream, &err) == GPURT_OK &&
           gpurt_hostchannel_destroy(rt, &args.commands.channel, &err) == GPURT_OK &&
           gpurt_hostchannel_destroy(rt, &args.answers.channel, &err) == GPURT_OK;
}

/* An answer after delay_ns. Returns: whether it was the right one. */
static bool answered(bool by_stream, uint64_t number, double *late_us)
{
    uint64_t back = number + 1;
    double begin, end;

    if (by_stream && !armed(streams[0]))
        return false;
    begin = rows_now_ns();
    if (gpurt_device_send(rt, &args.commands, &number, GPURT_FOREVER, NULL, &err) !=
        GPURT_OK)
        return false;
    if (by_stream)
        while (sem_wait(&woken) != 0)
            ;
    if (gpurt_device_receive(rt, &args.answers, &back, by_stream ? 0 : GPURT_FOREVER,
                             &err) != GPURT_OK)
        return false;
    end = rows_now_ns();
    *late_us = (end - begin - (double)args.delay_ns) * 1e-3;
    return back == number;
}

static bool late(const char *name, bool by_stream)
{
    double samples[NAPS];
    char row[64];

    for (uint64_t i = 0; i < NAPS; i++) {
        args.delay_ns = NAP_NS + i * APART_NS;
        if (!channels_make() || !answered(by_stream, i, &samples[i]) || !channels_end())
            return false;
    }
    snprintf(row, sizeof row, "%s_late_p50", name);
    rows_add("bench_hostwake", row, rows_percentile(samples, NAPS, 50), "us", NULL, 0);
    snprintf(row, sizeof row, "%s_late_p90", name);
    rows_add("bench_hostwake", row, rows_percentile(samples, NAPS, 90), "us", NULL, 0);
    snprintf(row, sizeof row, "%s_late_most", name);
    rows_add("bench_hostwake", row, rows_percentile(samples, NAPS, 100), "us", NULL, 0);
    return true;
}

/* All threads of the process count, the driver's too. */
static bool asleep(const char *name, bool by_stream)
{
    uint64_t begin;
    double unused;

    args.delay_ns = ASLEEP_NS;
    begin = used_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!channels_make() || !answered(by_stream, 7, &unused) || !channels_end())
        return false;
    rows_add("bench_hostwake", name,
             (double)(used_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) * 100 / (double)ASLEEP_NS,
             "% of a core", NULL, 0);
    return true;
}

/* ---- others ----------------------------------------------------------------------------- */

/* Of the program's streams, those in which a word is not set while so many streams wait. */
static bool blocked(uint32_t waiting, uint32_t armed_before, uint32_t *count)
{
    char row[64];

    for (uint32_t i = armed_before; i < waiting; i++)
        if (!armed(streams[i]))
            return false;
    for (uint32_t i = 0; i < OTHERS; i++)
        if (driver.set((uint64_t)(uintptr_t)(words + i), i, 1, others[i]) != 0)
            return false;
    usleep(QUICK_MS * 1000);
    *count = 0;
    for (uint32_t i = 0; i < OTHERS; i++)
        *count += driver.stream_query(others[i]) != 0;
    snprintf(row, sizeof row, "blocked_of_%u_by_%u", (unsigned)OTHERS, (unsigned)waiting);
    rows_add("bench_hostwake", row, *count, "streams", NULL, 0);
    return true;
}

static bool others_run(void)
{
    uint64_t number = 1;
    uint32_t before = 0, count = 0;
    bool done = true;

    args.delay_ns = 0;
    if (!channels_make())
        return false;
    for (uint32_t n = 1; done && count == 0 && n <= WAITERS; before = n, n *= 2)
        done = blocked(n, before, &count);
    /* The answer ends all waits. */
    return gpurt_device_send(rt, &args.commands, &number, GPURT_FOREVER, NULL, &err) ==
               GPURT_OK &&
           channels_end() && done;
}

static bool all(void)
{
    void *memory;

    for (uint32_t i = 0; i < WAITERS; i++)
        if (driver.stream_create(&streams[i], NON_BLOCKING) != 0)
            return false;
    for (uint32_t i = 0; i < OTHERS; i++)
        if (driver.stream_create(&others[i], NON_BLOCKING) != 0)
            return false;
    if (gpurt_mem_create(rt, OTHERS * sizeof *words, &memory, &err) != GPURT_OK)
        return false;
    words = (uint32_t *)memory;
    return gpurt_stream_create(rt, &stream, &err) == GPURT_OK && late("looks", false) &&
           asleep("looks_asleep", false) && late("stream", true) &&
           asleep("stream_asleep", true) && others_run();
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};

    if (gpurt_open(&options, &rt, &err) != GPURT_OK || !driver_open()) {
        fprintf(stderr, "bench_hostwake: %s\n", err.text[0] ? err.text : "no driver");
        return 77;
    }
    sem_init(&woken, 0, 0);
    rows_head();
    if (!all()) {
        fprintf(stderr, "bench_hostwake: %s\n",
                err.text[0] ? err.text
                            : "a wrong answer, or a call that the driver refused");
        return 1; /* kernels may run still */
    }
    gpurt_close(rt, NULL);
    return 0;
}
