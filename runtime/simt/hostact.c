/* SPDX-License-Identifier: Apache-2.0 */
#include "hostact.h"

#include "environ.h"
#include "hosttime.h"
#include "hostwait.h"
#include "outfile.h"
#include "plural.h"
#include "process.h"
#include "tell.h"

#include <gpurt/atomic.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 4096, /* that have a number */
    OP = UINT32_MAX
};
#define PATIENCE_NS 10000000000ull /* of a replay, for the host's next act */
#define REFUSE(err, ...) \
    gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "GPURT_HOST_WORDS: " __VA_ARGS__)

typedef struct event {
    uint64_t place; /* twice the passes that were over; one more: the worker was idle */
    uint32_t word;  /* or OP */
    uint32_t value;
} event_t;

/* Owner: the device. */
struct simt_acts {
    char path[PATH_MAX];
    FILE *to;        /* records; NULL: replays */
    event_t *events; /* of the file */
    uint64_t count, next;
    bool astray;       /* the replay came to something else */
    bool due;          /* the worker's */
    uint32_t xwaiting; /* acts that wait; written under the mutex */
    /* below: under the mutex */
    pthread_mutex_t mutex;
    pthread_cond_t news; /* an act waits, may be done, is done */
    simt_act_t *first, *last;
    bool acts; /* one is being done */
    const uint32_t *words[WORDS];
    uint32_t word_count;
};

/* ---- the file ------------------------------------------------------------------------- */

static bool event_read(const char *line, event_t *e)
{
    unsigned long long place;
    int end = 0;

    if (sscanf(line, "%llu op%n", &place, &end) == 1 && end && line[end] == '\n')
        e->word = OP;
    else if (sscanf(line, "%llu word %u %u%n", &place, &e->word, &e->value, &end) != 3 ||
             line[end] != '\n')
        return false;
    e->place = place;
    return true;
}

static gpurt_status_t events_read(struct simt_acts *a, FILE *from, gpurt_error_t *err)
{
    uint64_t room = 0;
    char line[96];

    while (fgets(line, sizeof line, from)) {
        if (a->count == room) {
            event_t *more = realloc(a->events, (room = room * 2 + 256) * sizeof *more);

            if (!more)
                return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%s",
                                  a->path);
            a->events = more;
        }
        if (!event_read(line, &a->events[a->count]) ||
            (a->count && a->events[a->count].place < a->events[a->count - 1].place))
            return REFUSE(err, "%s, line %llu: not a line of such a file: record it anew",
                          a->path, (unsigned long long)a->count + 2);
        a->count++;
    }
    return GPURT_OK;
}

static gpurt_status_t replay_open(struct simt_acts *a, uint64_t seed, gpurt_error_t *err)
{
    FILE *from = fopen(a->path, "re");
    unsigned long long recorded;
    gpurt_status_t st;

    if (!from)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "GPURT_HOST_WORDS: open %s", a->path);
    if (fscanf(from, "gpurt host words 1, seed %llu\n", &recorded) != 1)
        st = REFUSE(err, "%s is no file of host words: record one with record:FILE",
                    a->path);
    else if (recorded != seed)
        st = REFUSE(err, "%s was recorded under GPURT_SEED=%llu, this run has %llu",
                    a->path, recorded, (unsigned long long)seed);
    else
        st = events_read(a, from, err);
    fclose(from);
    return st;
}

static gpurt_status_t record_open(struct simt_acts *a, uint64_t seed, gpurt_error_t *err)
{
    a->to = gpurt_outfile_stream(a->path, GPURT_OUTFILE_REPLACE, GPURT_OUTFILE_OWN, err);
    if (!a->to)
        return GPURT_E_OS;
    fprintf(a->to, "gpurt host words 1, seed %llu\n", (unsigned long long)seed);
    fflush(a->to);
    return GPURT_OK;
}

static gpurt_status_t file_open(simt_device_t *d, const char *what, gpurt_error_t *err)
{
    bool records = strncmp(what, "record:", 7) == 0;
    struct simt_acts *a;

    if ((!records && strncmp(what, "replay:", 7) != 0) || !what[7] ||
        strlen(what) >= PATH_MAX - 16)
        return REFUSE(err, "'%.80s': say record:FILE or replay:FILE", what);
    if (!d->config.seeded)
        return REFUSE(err, "a run without a seed does not replay: set GPURT_SEED, too");
    a = d->acts = calloc(1, sizeof *a);
    if (!a)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "host words");
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->news, NULL);
    if (d->index)
        snprintf(a->path, sizeof a->path, "%s.%u", what + 7, d->index);
    else
        snprintf(a->path, sizeof a->path, "%s", what + 7);
    return records ? record_open(a, d->config.cpu.seed, err)
                   : replay_open(a, d->config.cpu.seed, err);
}

gpurt_status_t simt_acts_open(simt_device_t *d, gpurt_error_t *err)
{
    const char *what = gpurt_env_get("GPURT_HOST_WORDS");

    /* The file is the first process's: a forked child would write over it. */
    return what && *what && !gpurt_process_is_forked() ? file_open(d, what, err) : GPURT_OK;
}

void simt_acts_close(simt_device_t *d)
{
    struct simt_acts *a = d->acts;

    if (!a)
        return;
    if (!a->to && !a->astray && a->next < a->count)
        gpurt_tell("GPURT_HOST_WORDS: the host has ended before %llu of %llu act%s in %s: "
                   "this was another run",
                   (unsigned long long)(a->count - a->next), (unsigned long long)a->count,
                   gpurt_plural(a->count, "s"), a->path);
    if (a->to)
        fclose(a->to);
    pthread_mutex_destroy(&a->mutex);
    pthread_cond_destroy(&a->news);
    free(a->events);
    free(a);
    d->acts = NULL;
}

bool simt_acts_replay(const simt_device_t *d)
{
    return d->acts && !d->acts->astray;
}

/* ---- the host ------------------------------------------------------------------------- */

void simt_act_begin(simt_device_t *d, simt_act_t *act)
{
    struct simt_acts *a = d->acts;

    if (!a)
        return;
    act->may = false;
    act->next = NULL;
    pthread_mutex_lock(&a->mutex);
    if (a->first)
        a->last->next = act;
    else
        a->first = act;
    a->last = act;
    gpurt_add_relaxed_dev_u32(&a->xwaiting, 1); /* relaxed: the bell for a mutex */
    pthread_cond_broadcast(&a->news);
    pthread_mutex_unlock(&a->mutex);
    simt_host_news(d); /* it may be asleep */
    pthread_mutex_lock(&d->mutex);
    pthread_cond_broadcast(&d->work);
    pthread_mutex_unlock(&d->mutex);
    pthread_mutex_lock(&a->mutex);
    while (!act->may)
        pthread_cond_wait(&a->news, &a->mutex);
    pthread_mutex_unlock(&a->mutex);
}

void simt_act_end(simt_device_t *d)
{
    struct simt_acts *a = d->acts;

    if (!a)
        return;
    pthread_mutex_lock(&a->mutex);
    a->acts = false;
    pthread_cond_broadcast(&a->news);
    pthread_mutex_unlock(&a->mutex);
}

/* ---- the worker, under the mutex of acts ----------------------------------------------- */

/* relaxed: the mutex orders all but a look that comes too soon */
static bool waits(const struct simt_acts *a)
{
    return gpurt_load_relaxed_dev_u32(&a->xwaiting) != 0;
}

/* The word's number; OP of an op. WORDS: it has none yet. */
static uint32_t word_number(const struct simt_acts *a, const simt_act_t *act)
{
    uint32_t i = 0;

    if (!act->word)
        return OP;
    while (i < a->word_count && a->words[i] != act->word)
        i++;
    return i < a->word_count ? i : WORDS;
}

/* The device's mutex is free: the act may take it. */
static void act_let(struct simt_acts *a, simt_act_t *act)
{
    simt_act_t **at = &a->first;

    if (word_number(a, act) == WORDS && a->word_count < WORDS)
        a->words[a->word_count++] = act->word;
    while (*at != act)
        at = &(*at)->next;
    *at = act->next;
    a->last = NULL;
    for (simt_act_t *i = a->first; i; i = i->next)
        a->last = i;
    gpurt_add_relaxed_dev_u32(&a->xwaiting, UINT32_MAX); /* relaxed: under the mutex */
    a->acts = true;
    act->may = true;
    pthread_cond_broadcast(&a->news);
    while (a->acts)
        pthread_cond_wait(&a->news, &a->mutex);
}

static void act_record(struct simt_acts *a, simt_act_t *act, uint64_t place)
{
    uint32_t word = word_number(a, act);

    word = word == WORDS ? a->word_count : word;
    if (word == OP)
        fprintf(a->to, "%llu op\n", (unsigned long long)place);
    else
        fprintf(a->to, "%llu word %u %u\n", (unsigned long long)place, word, act->value);
    fflush(a->to); /* a forked child has nothing to write, and a killed run is whole */
    act_let(a, act);
}

/* The one that the file has next. NULL: it does not wait yet. */
static simt_act_t *act_find(const struct simt_acts *a, const event_t *e)
{
    for (simt_act_t *act = a->first; act; act = act->next) {
        uint32_t word = word_number(a, act);

        if (word == WORDS)
            word = a->word_count;
        if (word == e->word && (word == OP || act->value == e->value))
            return act;
    }
    return NULL;
}

static void stray(simt_device_t *d, const char *why)
{
    struct simt_acts *a = d->acts;

    a->astray = true;
    gpurt_tell("GPURT_HOST_WORDS: after %llu of %llu act%s in %s the host %s: from here on "
               "this is another run",
               (unsigned long long)a->next, (unsigned long long)a->count,
               gpurt_plural(a->count, "s"), a->path, why);
    pthread_mutex_unlock(&a->mutex);
    pthread_mutex_lock(&d->mutex);
    d->replayable = false;
    pthread_mutex_unlock(&d->mutex);
    pthread_mutex_lock(&a->mutex);
}

/* Waits for the host's next act, which the file has here. */
static void act_replay(simt_device_t *d)
{
    struct simt_acts *a = d->acts;
    simt_act_t *act;

    while (!(act = act_find(a, &a->events[a->next])))
        if (a->first || !gpurt_steady_wait(&a->news, &a->mutex, PATIENCE_NS)) {
            stray(d, a->first ? "does something else" : "does not do the next one");
            return;
        }
    a->next++;
    act_let(a, act);
}

static bool has_next(const struct simt_acts *a, uint64_t place)
{
    return a->next < a->count && a->events[a->next].place == place;
}

/* Acts of this place. one: no more than one of them. */
static void acts_do(simt_device_t *d, uint64_t place, bool one)
{
    struct simt_acts *a = d->acts;
    bool more = true;

    pthread_mutex_lock(&a->mutex);
    while (more) {
        if (!a->to && !a->astray && has_next(a, place))
            act_replay(d);
        else if (a->first && a->to)
            act_record(a, a->first, place);
        else if (a->first && a->astray)
            act_let(a, a->first);
        else if (a->first && a->next == a->count)
            stray(d, "does one more");
        else
            break;
        more = !one;
    }
    pthread_mutex_unlock(&a->mutex);
}

bool simt_acts_due(simt_worker_t *k)
{
    struct simt_acts *a = k->device->acts;

    k->passes++;
    if (!a)
        return false;
    a->due =
        a->to || a->astray || a->next == a->count ? waits(a) : has_next(a, 2 * k->passes);
    return a->due;
}

void simt_acts_do(simt_worker_t *k)
{
    struct simt_acts *a = k->device->acts;

    if (!a || !a->due)
        return;
    a->due = false;
    acts_do(k->device, 2 * k->passes, false);
}

bool simt_acts_wait(const simt_device_t *d)
{
    return d->acts && waits(d->acts);
}

/* What the file has for later, or not at all, will not come: nothing runs. */
void simt_acts_do_idle(simt_worker_t *k)
{
    simt_device_t *d = k->device;
    struct simt_acts *a = d->acts;
    uint64_t place = 2 * k->passes + 1;

    pthread_mutex_lock(&a->mutex);
    if (a->first && !a->to && !a->astray && a->next < a->count && !has_next(a, place))
        stray(d, "does the next one too soon");
    pthread_mutex_unlock(&a->mutex);
    acts_do(d, place, true);
}

bool simt_acts_ahead(const simt_device_t *d)
{
    const struct simt_acts *a = d->acts;

    return a && !a->to && !a->astray && a->next < a->count;
}
