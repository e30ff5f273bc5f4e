/* SPDX-License-Identifier: Apache-2.0 */
#include "record_attach.h"

#include "boxes.h"
#include "later.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum {
    IDLE_NS = 5000000 /* while there is no box to read */
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static bool lives(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static void round_one(record_boxes_t *boxes)
{
    const struct timespec step = {.tv_nsec = IDLE_NS};

    record_boxes_accept(boxes);
    if (record_boxes_count(boxes) == 0)
        nanosleep(&step, NULL);
    else if (record_boxes_round(boxes) == 0)
        record_boxes_rest(boxes);
}

/* A collector that is awake may have a box, and so may a program of gpurt: those that nobody reads
 * are ours. Returns: where there is none, st; where others have them, that, and *err says who. */
static gpurt_status_t boxes_adopt(record_boxes_t *boxes, uint32_t pid, gpurt_status_t st,
                                  gpurt_error_t *err)
{
    static gpurt_boxes_t found; /* too large for a stack */
    gpurt_error_t none;

    if (gpurt_boxes_of_pid(pid, true, &found, &none) != GPURT_OK)
        return st;
    while (found.count) {
        st = record_boxes_add(boxes, gpurt_boxes_take(&found, 0));
        if (st != GPURT_OK)
            *err = boxes->err;
    }
    return record_boxes_count(boxes) > 0 ? GPURT_OK : st;
}

gpurt_status_t record_attach(record_boxes_t *boxes, uint32_t pid, gpurt_error_t *err)
{
    const struct sigaction action = {.sa_handler = stop};
    const char *words = getenv("GPURT_CUPTI");
    gpurt_status_t st;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    st = gpurt_later_wake(pid, boxes->name, words ? words : "", err);
    st = boxes_adopt(boxes, pid, st, err);
    if (st != GPURT_OK)
        return st;
    while (!stopped && (lives(pid) || record_boxes_count(boxes) > 0))
        round_one(boxes);
    record_boxes_accept(boxes); /* handed over with its last breath */
    while (!stopped && record_boxes_count(boxes) > 0)
        round_one(boxes);
    return GPURT_OK;
}
