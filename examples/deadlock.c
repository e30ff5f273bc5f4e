/* SPDX-License-Identifier: Apache-2.0 */
/* deadlock - two blocks take two mutexes in opposite order, and the runtime says who holds what, since
 * which line, and who waits for it.
 *
 *     deadlock                             the CPU back end finds the circle when it closes
 *     gpurt-record --hang-after 0.2 deadlock 1000
 *                                          waits of 1000 ms: told from outside, while it stands */
#include "deadlock.h"

#include <gpurt/gpurt.h>
#include <gpurt/locks.h>

#include <stdio.h>
#include <stdlib.h>

static int told(gpurt_t *rt, gpurt_status_t st)
{
    static char report[16384];

    gpurt_report(rt, report, sizeof report);
    printf("%s: %s\n\n%s", gpurt_status_name(st), gpurt_status_text(st), report);
    return st != GPURT_E_DEADLOCK; /* the report is what this example is for */
}

int main(int argc, char **argv)
{
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}};
    uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    struct deadlock_args args = {.patience_ns = ms ? ms * 1000000u : GPURT_FOREVER};
    gpurt_lock_watch_t accounts, journal;
    void *memory = NULL;
    gpurt_error_t err;
    gpurt_status_t st;
    gpurt_t *rt;

    if (!ms)
        setenv("GPURT_BACKEND", "cpu", 1); /* never on a GPU, where it would hang */
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof(desk_t), &memory, &err) != GPURT_OK ||
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, sizeof(desk_t), &err) != GPURT_OK) {
        fprintf(stderr, "deadlock: %s\n", err.text);
        return 1;
    }
    args.desk = (desk_t *)memory;
    (void)gpurt_lock_watch(rt, GPURT_LOCK_MUTEX, &args.desk->accounts, "accounts",
                           &accounts, &err);
    (void)gpurt_lock_watch(rt, GPURT_LOCK_MUTEX, &args.desk->journal, "journal", &journal,
                           &err);
    st = gpurt_launch(rt, &launch, transfers, &args, &err);
    if (st == GPURT_OK)
        st = gpurt_sync(rt, &err);
    gpurt_lock_unwatch(rt, &accounts, NULL);
    gpurt_lock_unwatch(rt, &journal, NULL);
    gpurt_mem_destroy(rt, memory);
    ms = ms ? st != GPURT_OK : (uint64_t)told(rt, st);
    gpurt_close(rt, NULL);
    return (int)ms;
}
