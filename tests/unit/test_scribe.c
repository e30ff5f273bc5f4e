/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a scribe: each is done once and in order, one that fails is overtaken by nobody and
 * done when it is tried again, and what is forgotten is not done. */
#include "check.h"
#include "scribe.h"

#include <gpurt/atomic.h>

#include <unistd.h>

enum {
    JOBS = 64,
    TURNS = 200
};

typedef struct work {
    gpurt_scribe_job_t job;
    uint32_t number;
    uint32_t xdone; /* turns; written by: the scribe */
} work_t;

static work_t works[JOBS];
static uint32_t order[JOBS * TURNS], xorder_count;
static uint32_t xrefuse; /* so many calls fail; written by: both */
static uint32_t xgate;   /* 1: jobs wait; written by: the test */

static bool work_run(gpurt_scribe_job_t *job)
{
    work_t *w = (work_t *)job;
    uint32_t left =
        gpurt_load_relaxed_sys_u32(&xrefuse); /* relaxed: a figure of the test */

    while (gpurt_load_relaxed_sys_u32(&xgate)) /* relaxed: as above */
        usleep(100);
    if (left) {
        gpurt_store_relaxed_sys_u32(&xrefuse, left - 1); /* relaxed: as above */
        return false;
    }
    order[gpurt_add_relaxed_sys_u32(&xorder_count, 1)] = w->number; /* relaxed: as above */
    gpurt_store_release_sys_u32(&w->xdone, w->xdone + 1);           /* SC1.rel */
    return true;
}

static void submit(gpurt_scribe_t *s, uint32_t i, const void *owner)
{
    works[i].number = i;
    works[i].job.run = work_run;
    works[i].job.owner = owner;
    gpurt_scribe_submit(s, &works[i].job);
}

/* The same jobs again and again, as fast as they come back. */
static void in_order(gpurt_scribe_t *s)
{
    xorder_count = 0;
    for (uint32_t turn = 0; turn < TURNS; turn++)
        for (uint32_t i = 0; i < JOBS; i++) {
            while (gpurt_load_acquire_sys_u32(&works[i].xdone) != turn) /* SC1.acq */
                gpurt_scribe_wait(s, 1000000);
            submit(s, i, s);
        }
    CHECK_MSG(gpurt_scribe_settle(s), "all is done");
    CHECK_EQ(xorder_count, JOBS * TURNS);
    for (uint32_t i = 0; i < JOBS * TURNS; i++)
        CHECK_EQ(order[i], i % JOBS);
}

static void failing(gpurt_scribe_t *s)
{
    xorder_count = 0;
    xrefuse = 3;
    for (uint32_t i = 0; i < 4; i++)
        submit(s, i, s);
    CHECK_MSG(!gpurt_scribe_settle(s) && xorder_count == 0, "nobody overtakes");
    CHECK_MSG(!gpurt_scribe_settle(s) && xorder_count == 0, "tried again, in vain");
    for (int tries = 0; xrefuse && tries < 10; tries++)
        CHECK_MSG(!gpurt_scribe_settle(s) || xrefuse == 0, "again");
    gpurt_scribe_retry(s);
    CHECK_MSG(gpurt_scribe_settle(s), "at last");
    CHECK_EQ(xorder_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(order[i], i);
}

/* Of two owners one goes: its job that runs is waited for, the others are dropped, and the
 * other owner's come. */
static void forgetting(gpurt_scribe_t *s)
{
    uint32_t done;
    int mine, other;

    xorder_count = 0;
    gpurt_store_relaxed_sys_u32(&xgate, 1); /* relaxed: a figure of the test */
    for (uint32_t i = 0; i < 6; i++)
        submit(s, i, i % 2 ? &other : &mine);
    gpurt_scribe_wait(s, 1000000);
    gpurt_store_relaxed_sys_u32(&xgate, 0); /* relaxed: as above */
    gpurt_scribe_forget(s, &mine);
    CHECK_MSG(gpurt_scribe_settle(s), "the other's are done");
    for (uint32_t i = 0, others = 0; i < xorder_count; i++) {
        others += order[i] % 2;
        CHECK_MSG(i + 1 < xorder_count || others == 3, "%u of the other's", others);
    }
    done = xorder_count;
    xrefuse = 2; /* settle may be its second try */
    submit(s, 0, &mine);
    CHECK_MSG(!gpurt_scribe_settle(s), "refused");
    gpurt_store_relaxed_sys_u32(&xrefuse, 0); /* relaxed: a figure of the test */
    submit(s, 1, &other);
    gpurt_scribe_forget(s, &mine);
    CHECK_MSG(gpurt_scribe_settle(s), "the other's is done");
    CHECK_MSG(xorder_count == done + 1 && order[done] == 1,
              "and what was forgotten is not");
}

int main(void)
{
    gpurt_scribe_t *s = gpurt_scribe_open();

    CHECK_MSG(s, "a thread");
    in_order(s);
    failing(s);
    forgetting(s);
    CHECK_MSG(gpurt_scribe_settle(NULL), "none is at rest");
    gpurt_scribe_close(s);
    gpurt_scribe_close(NULL);
    return 0;
}
