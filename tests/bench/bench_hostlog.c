/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostlog - what a gpurt_log call costs a host thread: before gpurt_open, below its
 * level, recorded as words and as text, with several threads at once; beside snprintf of the
 * same message. The drainer writes a log meanwhile; bursts are shorter than the ring, so that
 * nothing waits and nothing is dropped. */
#include "rows.h"

#include <gpurt/gpurt.h>
#include <gpurt/hostlog.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    OFF_CALLS = 1000000,
    BURST = 2000,
    REPEATS = 21,
    THREADS = 4,
    REST_US = 120000 /* until the drainer has written a burst */
};

static double off_ns(void)
{
    double samples[REPEATS];

    for (int r = 0; r < REPEATS; r++) {
        double from = rows_now_ns();

        for (uint32_t i = 0; i < OFF_CALLS; i++)
            gpurt_log(GPURT_LEVEL_DEBUG, "call %u of %u", i, OFF_CALLS);
        samples[r] = (rows_now_ns() - from) / OFF_CALLS;
    }
    return rows_median(samples, REPEATS);
}

static void *burst_words(void *ns)
{
    double from = rows_now_ns();

    for (uint32_t i = 0; i < BURST; i++)
        gpurt_log(GPURT_LEVEL_INFO, "call %u of %u", i, (uint32_t)BURST);
    *(double *)ns = (rows_now_ns() - from) / BURST;
    return NULL;
}

static void *burst_text(void *ns)
{
    double from = rows_now_ns();

    for (uint32_t i = 0; i < BURST; i++)
        gpurt_log(GPURT_LEVEL_INFO, "call %u of %s", i, "many");
    *(double *)ns = (rows_now_ns() - from) / BURST;
    return NULL;
}

static void *burst_peer(void *ns)
{
    double from = rows_now_ns();
    char text[64];
    uint32_t sum = 0;

    for (uint32_t i = 0; i < BURST; i++) {
        snprintf(text, sizeof text, "call %u of %u", i, (uint32_t)BURST);
        sum += (uint32_t)text[5];
    }
    *(double *)ns = sum ? (rows_now_ns() - from) / BURST : 0;
    return NULL;
}

static double bursts(void *(*burst)(void *), uint32_t threads)
{
    double samples[REPEATS];
    pthread_t id[THREADS];

    for (int r = -2; r < REPEATS; r++) {
        double each[THREADS], sum = 0;

        for (uint32_t t = 0; t < threads; t++)
            if (pthread_create(&id[t], NULL, burst, &each[t]) != 0)
                exit(1);
        for (uint32_t t = 0; t < threads; t++) {
            pthread_join(id[t], NULL);
            sum += each[t];
        }
        samples[r < 0 ? 0 : r] = sum / threads;
        usleep(REST_US);
    }
    return rows_median(samples, REPEATS);
}

int main(void)
{
    char path[] = "/tmp/bench_hostlog.XXXXXX";
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    double unopened = off_ns(), peer;
    gpurt_t *rt;

    close(mkstemp(path));
    setenv("GPURT_LOG", path, 1);
    if (gpurt_open(&options, &rt, &err) != GPURT_OK || gpurt_info(rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_hostlog: %s\n", err.text);
        return 1;
    }
    if (strstr(info.why, "no log")) {
        fprintf(stderr, "bench_hostlog: %s\n", info.why);
        unlink(path);
        return 77;
    }
    rows_head();
    rows_add("bench_hostlog", "before_open", unopened, "ns/call", NULL, 0);
    rows_add("bench_hostlog", "below_level", off_ns(), "ns/call", NULL, 0);
    peer = bursts(burst_peer, 1);
    rows_add("bench_hostlog", "two_words", bursts(burst_words, 1), "ns/call", "snprintf",
             peer);
    rows_add("bench_hostlog", "text", bursts(burst_text, 1), "ns/call", "snprintf", peer);
    rows_add("bench_hostlog", "two_words_4_threads", bursts(burst_words, THREADS),
             "ns/call", "snprintf", peer);
    gpurt_close(rt, NULL);
    unlink(path);
    return 0;
}
