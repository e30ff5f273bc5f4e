/* SPDX-License-Identifier: Apache-2.0 */
/* fib [N] - the Nth Fibonacci number by tasks that spawn tasks and wait for them; N is 20. */
#include "fib.h"

#include <gpurt/executors.h>

#include <stdio.h>
#include <stdlib.h>

static gpurt_status_t compute(gpurt_t *rt, uint32_t n, uint64_t *out,
                              gpurt_executor_status_t *did, gpurt_error_t *err)
{
    struct fib first = {.n = n};
    gpurt_submitted_t task;
    gpurt_executor_t x;
    gpurt_status_t st = gpurt_executor_open(rt, fib_tasks, NULL, &x, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_executor_submit(rt, x, fib, &first, 1, 0, &task, err);
    if (st == GPURT_OK)
        st = gpurt_executor_wait(rt, x, task, UINT64_MAX, out, err);
    if (st == GPURT_OK)
        st = gpurt_executor_drain(rt, x, UINT64_MAX, err);
    if (st == GPURT_OK)
        st = gpurt_executor_status(rt, x, did, err);
    (void)gpurt_executor_close(rt, x, NULL, st == GPURT_OK ? err : NULL);
    return st;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 20;
    uint64_t got = 0, a = 0, b = 1;
    gpurt_executor_status_t did = {.live = 0};
    gpurt_error_t err = {0};
    gpurt_t *rt;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK) {
        st = compute(rt, n, &got, &did, &err);
        (void)gpurt_close(rt, NULL);
    }
    if (st != GPURT_OK) {
        fprintf(stderr, "fib: %s: %s\n", gpurt_status_name(st), err.text);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        b += a;
        a = b - a;
    }
    printf("fib: fib(%u) is %llu, by %llu tasks\n", n, (unsigned long long)got,
           (unsigned long long)did.ended);
    return got != a;
}
