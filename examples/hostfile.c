/* SPDX-License-Identifier: Apache-2.0 */
/* hostfile - a kernel that writes a file: its lanes ask the host for ranges, until there is none, and
 * write what they found.
 *     hostfile primes.txt        lines of: from, to, primes
 *     gpurt-top -- hostfile      key 8: calls, those on their way, how long answers took */
#include "hostfile.h"

#include <gpurt/hostcalls.h>
#include <stdio.h>

enum {
    STEP = 500,
    END = 100000
};

GPURT_HOST_FUNCTION(next_range, context, who, range)
{
    uint32_t *next = (uint32_t *)context;

    (void)who;
    if (*next == END)
        return GPURT_E_EMPTY;
    range->from = *next;
    range->to = *next += STEP;
    return GPURT_OK;
}

int main(int argc, char **argv)
{
    const gpurt_launch_t launch = {.grid = {4, 1, 1}, .block = {64, 1, 1}};
    const char *path = argc > 1 ? argv[1] : "primes.txt";
    uint32_t next = 0;
    struct hostfile p = {0};
    gpurt_error_t err = {0};
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) || gpurt_hostcalls_create(rt, NULL, &p.calls, &err) ||
        gpurt_hostcalls_add(rt, &p.calls, next_range, &next, &err) ||
        gpurt_hostcalls_file(rt, &p.calls, path, &p.file, &err) ||
        gpurt_launch(rt, &launch, count_primes, &p, &err) || gpurt_sync(rt, &err) ||
        gpurt_hostcalls_destroy(rt, &p.calls, &err) || gpurt_close(rt, &err))
        return fprintf(stderr, "hostfile: %s\n", err.text), 1;
    printf("hostfile: %d lines in %s\n", END / STEP, path);
    return 0;
}
