/* SPDX-License-Identifier: Apache-2.0 */
#include "hunt.h"

#include "hosttime.h"
#include "plural.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HASHES_MAX = 4 << 20
}; /* schedules remembered to count the different ones */
static const uint64_t show_ns = 100000000; /* between two looks of the progress line */

/* ---- lists --------------------------------------------------------------------------- */
static bool list_add(hunt_list_t *list, uint64_t item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        uint64_t *items = realloc(list->items, capacity * sizeof *items);

        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void list_sort(hunt_list_t *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_numbers);
}

static uint64_t list_count_different(hunt_list_t *list)
{
    uint64_t different = list->count > 0;

    list_sort(list);
    for (size_t i = 1; i < list->count; i++)
        different += list->items[i] != list->items[i - 1];
    return different;
}

/* ---- progress ------------------------------------------------------------------------ */
static void hide_progress(hunt_t *hunt)
{
    if (hunt->show_progress && hunt->shown_ns)
        fputs("\r\033[K", stderr);
    hunt->shown_ns = 0;
}

static void show_progress(hunt_t *hunt)
{
    uint64_t now_ns = gpurt_steady_ns();
    double s;

    if (!hunt->show_progress || now_ns - hunt->shown_ns < show_ns)
        return;
    hunt->shown_ns = now_ns;
    s = (double)(now_ns - hunt->wall_ns) / 1e9;
    fprintf(stderr, "\r\033[K%llu of %llu seed%s, %zu failed, %.0f a second",
            (unsigned long long)hunt->ran, (unsigned long long)hunt->count,
            gpurt_plural(hunt->count, "s"), hunt->failing.count, (double)hunt->ran / s);
    fflush(stderr);
}

/* ---- the hunt ------------------------------------------------------------------------ */
static void note_report(hunt_t *hunt, const trial_t *trial)
{
    const trial_report_t *report = &trial->report;

    hunt->unreported += !report->written && trial->end == TRIAL_PASSED;
    if (strcmp(report->replayable, "no") == 0)
        hunt->not_replayable = true;
    if (report->has_hash && hunt->told < HASHES_MAX &&
        list_add(&hunt->hashes, report->hash))
        hunt->told++;
}

/* Trials with larger seeds than one that failed can change nothing any more. */
static void drop_larger(hunt_t *hunt)
{
    for (unsigned i = 0; i < hunt->jobs && !hunt->keep_going; i++)
        if (hunt->slots[i].child.pid && hunt->slots[i].seed > hunt->best.seed)
            child_fini(&hunt->slots[i].child);
}

static void take_result(hunt_t *hunt, trial_t *trial)
{
    trial->child.ended = false;
    trial_judge(trial);
    hunt->ran++;
    note_report(hunt, trial);
    if (trial->end == TRIAL_PASSED)
        hunt->passed++;
    if (trial->end == TRIAL_SKIPPED)
        hunt->skipped++;
    if (!trial_failed(trial))
        return;
    list_add(&hunt->failing, trial->seed);
    if (hunt->found && hunt->best.seed < trial->seed)
        return;
    trial_fini(&hunt->best);
    hunt->best = *trial;
    memset(trial, 0, sizeof *trial); /* what it owned moved */
    hunt->found = true;
    drop_larger(hunt);
}

/* Returns: 0 or errno. */
static int start_more(hunt_t *hunt)
{
    for (unsigned i = 0; i < hunt->jobs; i++) {
        bool wanted = hunt->next < hunt->count && !hunt->stop_signal &&
                      (hunt->keep_going || !hunt->found);
        int refusal;

        if (!wanted || hunt->slots[i].child.pid)
            continue;
        refusal = trial_start(&hunt->slots[i], &hunt->plan, hunt->first + hunt->next, i,
                              &hunt->watch);
        if (refusal)
            return refusal;
        hunt->next++;
    }
    return 0;
}

/* Waits for some of them. Returns: how many are still running or just ended. */
static unsigned wait_some(hunt_t *hunt)
{
    child_t *running[HUNT_JOBS_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i < hunt->jobs; i++)
        if (hunt->slots[i].child.pid)
            running[count++] = &hunt->slots[i].child;
    if (count == 0)
        return 0;
    child_watch_wait(&hunt->watch, running, count,
                     hunt->show_progress ? gpurt_steady_ns() + show_ns : UINT64_MAX);
    if (hunt->watch.stop_signal && !hunt->stop_signal) {
        hunt->stop_signal = hunt->watch.stop_signal;
        for (unsigned i = 0; i < count; i++)
            child_stop(running[i]);
    }
    return count;
}

static int hunt_seeds(hunt_t *hunt)
{
    for (;;) {
        int refusal = start_more(hunt);

        if (refusal)
            return refusal;
        if (wait_some(hunt) == 0)
            return 0;
        for (unsigned i = 0; i < hunt->jobs; i++) {
            trial_t *trial = &hunt->slots[i];

            if (trial->child.ended && !hunt->stop_signal)
                take_result(hunt, trial);
        }
        show_progress(hunt);
    }
}

/* The same seed once more: does it go the same way? */
static int replay_best(hunt_t *hunt)
{
    child_t *child = &hunt->replay.child;
    int refusal = trial_start(&hunt->replay, &hunt->plan, hunt->best.seed, 0, &hunt->watch);

    while (!refusal && child->pid && !child->ended) {
        child_watch_wait(&hunt->watch, &child, 1, UINT64_MAX);
        hunt->stop_signal = hunt->watch.stop_signal;
        if (hunt->stop_signal)
            child_stop(child);
    }
    if (refusal || hunt->stop_signal)
        return refusal;
    trial_judge(&hunt->replay);
    hunt->replayed =
        trial_same(&hunt->best, &hunt->replay) ? HUNT_REPLAY_SAME : HUNT_REPLAY_OTHER;
    return 0;
}

/* ---- the place of report files ------------------------------------------------------- */
/* Its name must be absolute: the program may change its directory. Returns: 0 or errno. */
static int open_directory(hunt_t *hunt)
{
    const char *parent = getenv("TMPDIR");

    if (!parent || parent[0] != '/' || strlen(parent) > PATH_MAX / 2)
        parent = "/tmp";
    snprintf(hunt->directory, sizeof hunt->directory, "%s/gpurt-check-XXXXXX", parent);
    hunt->plan.directory = hunt->directory;
    hunt->refused = parent;
    if (!mkdtemp(hunt->directory))
        return errno;
    hunt->refused = hunt->plan.target->path; /* by whom the rest could be */
    return 0;
}

static void close_directory(hunt_t *hunt)
{
    char file[PATH_MAX + 16];

    for (unsigned i = 0; i < hunt->jobs; i++) { /* of runs that were given up */
        snprintf(file, sizeof file, "%s/%u", hunt->directory, i);
        unlink(file);
    }
    rmdir(hunt->directory);
}

int hunt_run(hunt_t *hunt)
{
    uint64_t started_ns = gpurt_steady_ns();
    int refusal = child_watch_open(&hunt->watch);

    hunt->wall_ns = started_ns;
    hunt->slots = calloc(hunt->jobs, sizeof *hunt->slots);
    if (!refusal)
        refusal = hunt->slots ? open_directory(hunt) : ENOMEM;
    if (!refusal)
        refusal = hunt_seeds(hunt);
    if (!refusal && hunt->found && !hunt->stop_signal)
        refusal = replay_best(hunt);
    hide_progress(hunt);
    for (unsigned i = 0; hunt->slots && i < hunt->jobs; i++)
        trial_fini(&hunt->slots[i]);
    close_directory(hunt);
    child_watch_close(&hunt->watch);
    list_sort(&hunt->failing);
    hunt->schedules = list_count_different(&hunt->hashes);
    hunt->wall_ns = gpurt_steady_ns() - started_ns;
    return refusal;
}

void hunt_fini(hunt_t *hunt)
{
    trial_fini(&hunt->best);
    trial_fini(&hunt->replay);
    free(hunt->slots);
    free(hunt->failing.items);
    free(hunt->hashes.items);
}
