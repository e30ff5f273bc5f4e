/* SPDX-License-Identifier: Apache-2.0 */
#include "record_attach.h"

#include "boxes.h"
#include "hosttime.h"
#include "later.h"
#include "procfs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_NS = 5000000 /* while there is no box to read */
};
#define LOOK_NS 100000000ull

/* Who is recorded. Owner: record_attach. */
typedef struct recorded {
    uint32_t pid;
    uint64_t start_ticks;
    int *held;
    uint64_t looked_ns; /* at whether its collector is there */
} recorded_t;

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static bool is_stopped(void)
{
    return stopped;
}

/* A terminal that goes away ends us, but not who was told to ignore that (nohup). */
static void signals_take(void)
{
    const struct sigaction action = {.sa_handler = stop};
    struct sigaction before;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

/* What the environment says may be meant for the program: to sleep until now. */
static const char *words_to_ask(void)
{
    const char *words = getenv("GPURT_CUPTI");

    return words && strcmp(words, "later") != 0 ? words : "";
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

/* A program that becomes another one by exec loses its collector; that of the other one sleeps until
 * it is asked. */
static void other_wake(recorded_t *p, const record_boxes_t *boxes)
{
    const uint64_t now = gpurt_steady_ns();
    gpurt_error_t err;
    int held;

    if (*p->held < 0 || now - p->looked_ns < LOOK_NS)
        return;
    p->looked_ns = now;
    if (gpurt_later_is_there(*p->held) ||
        gpurt_later_wake(p->pid, boxes->lobby.name, words_to_ask(), is_stopped, &held,
                         &err) != GPURT_OK)
        return;
    close(*p->held);
    *p->held = held;
}

/* Until it has ended, and is no zombie either, whose parent may never ask for it. */
static void boxes_read(recorded_t *p, record_boxes_t *boxes)
{
    while (!stopped &&
           (gpurt_process_alive(p->pid, p->start_ticks) || record_boxes_count(boxes) > 0)) {
        round_one(boxes);
        other_wake(p, boxes);
    }
    record_boxes_accept(boxes); /* handed over with its last breath */
    while (!stopped && record_boxes_pending(boxes))
        round_one(boxes);
}

gpurt_status_t record_attach(record_boxes_t *boxes, uint32_t pid, int *held,
                             gpurt_error_t *err)
{
    recorded_t p = {.pid = pid, .start_ticks = gpurt_process_start(pid), .held = held};
    gpurt_status_t st;

    signals_take();
    st = gpurt_later_wake(pid, boxes->lobby.name, words_to_ask(), is_stopped, held, err);
    if (st == GPURT_E_BUSY || st == GPURT_E_CANCELLED)
        return st;
    st = boxes_adopt(boxes, pid, st, err);
    if (st == GPURT_OK)
        boxes_read(&p, boxes);
    return st;
}
