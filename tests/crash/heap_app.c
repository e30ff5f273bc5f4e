/* SPDX-License-Identifier: Apache-2.0 */
/* heap_app wrong|damage|storm|hold|leave - a program that uses a heap.
 *   wrong  misuses it, and says on which lines: "alloc 17", "free 28" and so on
 *   damage overwrites what no call looks at: the end of an object that it keeps
 *   storm  rounds of requests and frees, all of them right
 *   leave  takes some objects, and lets gpurt_close find them
 *   hold   takes some objects, says its process number, and waits for the end of its input */
#include "heap_checks_kernels.h"

#include <gpurt/heap.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

GPURT_KERNEL_DECLARE(checks_alloc, struct checks_args);
GPURT_KERNEL_DECLARE(checks_write, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_again, struct checks_args);
GPURT_KERNEL_DECLARE(checks_leak, struct checks_args);
GPURT_KERNEL_DECLARE(checks_unchecked, struct checks_args);
GPURT_KERNEL_DECLARE(checks_storm, struct checks_args);

enum {
    LANES = 64,
    STORM_ROUNDS = 30
};

static gpurt_t *rt;
static gpurt_error_t err;

static void end(void)
{
    fprintf(stderr, "heap_app: %s\n", err.text);
    exit(1);
}
#define OK(call)                \
    do {                        \
        if ((call) != GPURT_OK) \
            end();              \
    } while (0)
#define RUN(kernel)                                            \
    do {                                                       \
        OK(gpurt_launch(rt, &launch, kernel, args, &err));     \
        OK(gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err)); \
    } while (0)

static const gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {LANES / 2, 1, 1}};

static void wrong(struct checks_args *args)
{
    static const char *const names[LINES] = {"alloc", "free", "again", "leak", "other"};
    uint32_t lines[LINES];

    RUN(checks_alloc); /* written past its end */
    args->at = (int64_t)args->size;
    args->mode = 1;
    RUN(checks_write);
    args->at = 0;
    args->mode = 33;
    RUN(checks_free); /* by block 1, thread 1 */
    args->mode = 2;
    RUN(checks_free_again);
    RUN(checks_leak);
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, lines, args->lines, sizeof lines, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < LINES; i++)
        printf("%s %u\n", names[i], lines[i]);
}

static void damage(struct checks_args *args)
{
    RUN(checks_alloc);
    args->at = (int64_t)args->size;
    args->mode = 1;
    RUN(checks_write);
    args->count = LANES;
    RUN(checks_unchecked);
}

static void hold(struct checks_args *args)
{
    RUN(checks_leak);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "storm";
    gpurt_heap_options_t options = {.bytes = 12 << 20, .make_default = true};
    struct checks_args set = {.size = 100, .align = 16, .count = STORM_ROUNDS};
    struct checks_args *args = &set;

    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_heap_create(rt, &options, &set.heap, &err));
    OK(gpurt_mem_create(rt, LANES * sizeof(uint64_t), (void **)&set.cells, &err));
    OK(gpurt_mem_create(rt, LINES * sizeof(uint32_t), (void **)&set.lines, &err));
    if (strcmp(what, "wrong") == 0)
        wrong(args);
    else if (strcmp(what, "damage") == 0)
        damage(args);
    else if (strcmp(what, "hold") == 0)
        hold(args);
    else if (strcmp(what, "leave") == 0)
        RUN(checks_leak);
    else
        RUN(checks_storm);
    OK(gpurt_mem_destroy(rt, set.cells));
    OK(gpurt_mem_destroy(rt, set.lines));
    if (strcmp(what, "leave") != 0) /* leave: what gpurt_close finds */
        OK(gpurt_heap_destroy(rt, &set.heap, &err));
    OK(gpurt_close(rt, &err));
    return 0;
}
