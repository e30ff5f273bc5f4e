/* SPDX-License-Identifier: Apache-2.0 */
/* The device: its settings, its workers, and the two ways they are told that something changed.
 */
#include <gpurt/atomic.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environ.h"
#include "hostact.h"
#include "hostthread.h"
#include "hostwait.h"
#include "number.h"
#include "peers.h"
#include "process.h"
#include "sanitizer.h"
#include "stream.h"

enum {
    STACK_BYTES = 64 * 1024,
    STACK_BYTES_ASAN = 256 * 1024, /* red zones around every local */
    STACK_BYTES_MIN = 16 * 1024,
    SPIN_ROUNDS_SEEDED = 20000,
    SPIN_LIMIT_MS = 10000,
    PCT_DEPTH = 3
};

static uint32_t xopen; /* devices; written by: who opens and closes them */

/* Of a forked child: its parent's devices that were in use at the fork. Never freed. */
static simt_device_t *left;

bool simt_device_is_alone(void)
{
    return gpurt_load_relaxed_dev_u32(&xopen) < 2; /* relaxed: for a report's words */
}

void simt_device_changed(simt_device_t *d)
{
    gpurt_add_relaxed_dev_u32(&d->xchanges, 1); /* what changed is read under the mutex */
    pthread_cond_broadcast(&d->work);
    simt_host_news(d);
}

void simt_device_release(simt_device_t *d)
{
    if (!d->held || !d->pending)
        return;
    d->held = false;
    simt_streams_advance(d);
    simt_device_changed(d);
}

/* ---- settings: options, then the environment -------------------------------------------------- */
static gpurt_status_t env_number(const char *name, uint64_t max, uint64_t *out,
                                 gpurt_error_t *err)
{
    const char *text = gpurt_env_get(name);
    uint64_t v;

    if (!text)
        return GPURT_OK;
    if (!gpurt_number_read(text, &v) || v > max)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s=%s: expected a number from 0 to %llu", name, text,
                          (unsigned long long)max);
    *out = v;
    return GPURT_OK;
}

static gpurt_status_t env_u32(const char *name, uint32_t *out, gpurt_error_t *err)
{
    uint64_t v = *out;
    gpurt_status_t st = env_number(name, UINT32_MAX, &v, err);

    *out = (uint32_t)v;
    return st;
}

/* "random", "random:16", "pct", "pct:4", "default". */
static gpurt_status_t env_schedule(gpurt_cpu_options_t *c, gpurt_error_t *err)
{
    const char *text = gpurt_env_get("GPURT_SCHEDULE"), *colon;
    uint64_t number = 0;
    size_t n;

    if (!text)
        return GPURT_OK;
    colon = strchr(text, ':');
    n = colon ? (size_t)(colon - text) : strlen(text);
    if (colon && !gpurt_number_read(colon + 1, &number))
        n = 0; /* no word, so it is refused below */
    if (n == 7 && !strncmp(text, "default", n)) {
        c->schedule = GPURT_SCHEDULE_DEFAULT;
    } else if (n == 6 && !strncmp(text, "random", n) && number <= 256) {
        c->schedule = GPURT_SCHEDULE_RANDOM;
        c->rate = (uint32_t)number;
    } else if (n == 3 && !strncmp(text, "pct", n) && number <= 16) {
        c->schedule = GPURT_SCHEDULE_PCT;
        c->depth = (uint32_t)number;
    } else {
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "GPURT_SCHEDULE=%s: expected default, random[:RATE up to 256] or "
                          "pct[:DEPTH up to 16]",
                          text);
    }
    return GPURT_OK;
}

static gpurt_status_t env_checks(gpurt_cpu_options_t *c, gpurt_error_t *err)
{
    const char *text = gpurt_env_get("GPURT_CHECK");

    while (text && *text) {
        size_t n = strcspn(text, ",");

        if (n == 5 && !strncmp(text, "scope", n))
            c->check_scope = true;
        else if (n == 6 && !strncmp(text, "strict", n))
            c->strict = true;
        else
            return gpurt_fail(
                err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                "GPURT_CHECK: unknown check \"%.*s\"; known are scope and strict", (int)n,
                text);
        text += n + (text[n] == ',');
    }
    return GPURT_OK;
}

static gpurt_status_t env_read(gpurt_cpu_options_t *c, gpurt_error_t *err)
{
    bool seed_given = gpurt_env_get("GPURT_SEED") && !gpurt_env_get("GPURT_SCHEDULE");
    gpurt_status_t st;

    if ((st = env_u32("GPURT_WORKERS", &c->workers, err)) != GPURT_OK ||
        (st = env_u32("GPURT_MAX_RESIDENT", &c->max_resident, err)) != GPURT_OK ||
        (st = env_u32("GPURT_STACK_BYTES", &c->stack_bytes, err)) != GPURT_OK ||
        (st = env_u32("GPURT_SPIN_LIMIT_MS", &c->spin_limit_ms, err)) != GPURT_OK ||
        (st = env_number("GPURT_SPIN_LIMIT", UINT64_MAX, &c->spin_limit, err)) !=
            GPURT_OK ||
        (st = env_number("GPURT_SEED", UINT64_MAX, &c->seed, err)) != GPURT_OK ||
        (st = env_checks(c, err)) != GPURT_OK)
        return st;
    if (seed_given && c->schedule == GPURT_SCHEDULE_DEFAULT)
        c->schedule = GPURT_SCHEDULE_RANDOM;
    return env_schedule(c, err);
}

static void settings_complete(simt_config_t *config)
{
    static const uint32_t rates[] = {2, 16, 64, 128};
    gpurt_cpu_options_t *c = &config->cpu;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    config->seeded = c->schedule != GPURT_SCHEDULE_DEFAULT;
    if (!c->workers)
        c->workers = cores > 0 ? (uint32_t)cores : 1;
    if (c->workers > SIMT_MAX_WORKERS)
        c->workers = SIMT_MAX_WORKERS;
    if (config->seeded)
        c->workers = 1; /* one thread, one order */
    if (!c->stack_bytes)
        c->stack_bytes = simt_sanitizers.asan ? STACK_BYTES_ASAN : STACK_BYTES;
    if (c->stack_bytes < STACK_BYTES_MIN)
        c->stack_bytes = STACK_BYTES_MIN;
    if (!c->rate)
        c->rate = rates[c->seed % 4];
    if (!c->depth)
        c->depth = PCT_DEPTH;
    if (!c->spin_limit && config->seeded)
        c->spin_limit = SPIN_ROUNDS_SEEDED;
    if (!c->spin_limit_ms)
        c->spin_limit_ms = SPIN_LIMIT_MS;
    /* The verdict is the first process's: a forked child would write over it. */
    if (!gpurt_process_is_forked())
        config->report_path = gpurt_env_get("GPURT_CHECK_REPORT");
}

/* ---- life ---------------------------------------------------------------------------------------- */
static bool workers_start(simt_device_t *d)
{
    for (uint32_t i = 0; i < d->config.cpu.workers; i++) {
        simt_worker_t *k = &d->workers[i];

        k->device = d;
        k->index = i;
        k->xidle_since = UINT64_MAX;
        if (gpurt_thread_start_lanes(&k->thread, simt_worker_main, k))
            return false;
        d->worker_count++;
    }
    return true;
}

static bool device_init(simt_device_t *d)
{
    size_t bytes = d->config.cpu.workers * sizeof *d->workers;

    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->work, NULL);
    pthread_cond_init(&d->done, NULL);
    d->held = d->config.seeded;
    d->replayable = true;
    d->workers = (simt_worker_t *)aligned_alloc(GPURT_ALIGNOF(simt_worker_t), bytes);
    if (d->workers)
        memset(d->workers, 0, bytes);
    d->default_stream = simt_stream_create(d);
    if (d->config.cpu.check_scope)
        d->scope = simt_scope_create();
    return d->workers && d->default_stream && (!d->config.cpu.check_scope || d->scope);
}

gpurt_status_t simt_device_create(const gpurt_options_t *options, uint32_t index,
                                  simt_device_t **out, gpurt_error_t *err)
{
    simt_device_t *d = (simt_device_t *)calloc(1, sizeof *d);
    gpurt_status_t st;

    *out = NULL;
    if (!d)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                          "CPU back end: no memory");
    d->index = index;
    d->number = options->device;
    simt_sanitizers_find();
    d->config.cpu = options->cpu;
    st = env_read(&d->config.cpu, err);
    if (st != GPURT_OK) {
        free(d);
        return st;
    }
    settings_complete(&d->config);
    st = simt_acts_open(d, err);
    if (st != GPURT_OK) {
        simt_acts_close(d);
        free(d);
        return st;
    }
    d->watching = device_init(d) && simt_fault_install();
    if (!d->watching) {
        simt_device_destroy(d);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                          "CPU back end: no memory");
    }
    simt_schedule_install();
    if (!workers_start(d)) {
        simt_device_destroy(d);
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_GPURT, 0,
                          "CPU back end: no thread could be started; raise ulimit -u");
    }
    d->counted = true;
    gpurt_add_relaxed_dev_u32(&xopen, 1); /* relaxed: for a report's words */
    simt_peers_add(d);
    *out = d;
    return GPURT_OK;
}

void simt_device_destroy(simt_device_t *d)
{
    if (!d)
        return;
    if (d->counted)
        gpurt_add_relaxed_dev_u32(&xopen, UINT32_MAX); /* relaxed, as above */
    simt_peers_remove(d);
    pthread_mutex_lock(&d->mutex);
    d->stopping = true;
    simt_device_changed(d);
    pthread_mutex_unlock(&d->mutex);
    for (uint32_t i = 0; i < d->worker_count; i++)
        pthread_join(d->workers[i].thread, NULL);
    if (d->watching)
        simt_fault_remove();
    while (d->streams) /* the default one is the first, and the others leave it things */
        simt_stream_destroy(d->streams->next ? d->streams->next : d->streams);
    simt_scope_destroy(d->scope);
    simt_acts_close(d);
    pthread_mutex_destroy(&d->mutex);
    pthread_cond_destroy(&d->work);
    pthread_cond_destroy(&d->done);
    free(d->last_report);
    free(d->workers);
    free(d);
}

/* ---- after a fork -------------------------------------------------------------------------------- */
/* Blocks and stacks of a worker that had work were in use in the middle of anything: they stay. */
static bool worker_rests(const simt_worker_t *k)
{
    return k->xidle_since == UINT64_MAX && !k->block_count;
}

void simt_device_abandon(simt_device_t *d)
{
    bool whole = pthread_mutex_trylock(&d->mutex) == 0, rest = true;

    if (d->counted)
        gpurt_add_relaxed_dev_u32(&xopen, UINT32_MAX); /* relaxed: for a report's words */
    simt_fault_forked();
    simt_fibers_forked();
    for (uint32_t i = 0; i < d->worker_count; i++)
        rest = rest && worker_rests(&d->workers[i]);
    if (!whole || !rest || d->active) {
        d->next_left = left;
        left = d;
        return;
    }
    for (uint32_t i = 0; i < d->worker_count; i++)
        simt_worker_abandon(&d->workers[i]);
    while (d->streams) {
        simt_stream_t *s = d->streams;

        d->streams = s->next;
        simt_stream_abandon(s);
    }
    simt_scope_destroy(d->scope);
    free(d->last_report);
    free(d->workers);
    free(d);
}
