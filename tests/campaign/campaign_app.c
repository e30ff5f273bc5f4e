/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_app WAY FAILING MESSAGES DONE - blocks log MESSAGES each, FAILING of them fail half
 * way; then a second launch logs as many without failing: the context must be healthy.
 *
 * DONE is a file that says, for each launch and block, how many messages were logged for sure, whatever
 * becomes of this process. Standard output: the number of the process; what became of the
 * first launch and its report; "healthy", or "lost" where the first launch took the context
 * with it. Before it closes gpurt it waits for the end of its standard input.
 *
 * WAY "heir" fails nowhere, but a process that it has forked holds all that it holds, for a while
 * after the end of standard input. */
#include "campaign_app.h"

#include <gpurt/gpurt.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const ways[] = {"none",   "trap",        "address", "misaligned",
                                   "assert", "panic",       "defer",   "lock",
                                   "shared", "cuda-assert", "heir"};

static uint32_t way_of(const char *name)
{
    uint32_t i = 0;

    while (i < sizeof ways / sizeof ways[0] && strcmp(ways[i], name) != 0)
        i++;
    return i;
}

/* On the CPU a file in shared memory is device memory like any other. */
static void *done_map(const char *path, gpurt_backend_t backend)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *at;

    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return NULL;
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    return backend == GPURT_BACKEND_CUDA ? campaign_gpu_map(at, 4096) : at;
}

/* What the first launch left. Returns: a word for standard output, NULL when it should not be so. */
static const char *second_launch(gpurt_t *rt, const gpurt_launch_t *launch,
                                 struct campaign_args *args, gpurt_error_t *err)
{
    gpurt_status_t st;

    args->way = CAMPAIGN_NONE;
    args->first = args->messages;
    args->xdone += CAMPAIGN_BLOCKS;
    st = gpurt_launch(rt, launch, campaign, args, err);
    if (st == GPURT_OK)
        st = gpurt_sync(rt, err);
    return st == GPURT_OK ? "healthy" : st == GPURT_E_DEVICE_LOST ? "lost" : NULL;
}

static bool memory_take(gpurt_t *rt, const char *path, struct campaign_args *args,
                        gpurt_error_t *err)
{
    gpurt_info_t info;

    args->wrong =
        (uint32_t *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gpurt_info(rt, &info) != GPURT_OK)
        return false;
    args->xdone = (uint64_t *)done_map(path, info.backend);
    return args->xdone &&
           gpurt_mem_create(rt, sizeof *args->xlock, (void **)&args->xlock, err) ==
               GPURT_OK &&
           gpurt_fill(rt, GPURT_STREAM_DEFAULT, args->xlock, 0, sizeof *args->xlock, err) ==
               GPURT_OK;
}

static void heir_leave(void)
{
    enum {
        STAYS_US = 300000
    };
    char c;

    if (fork() != 0)
        return;
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    usleep(STAYS_US);
    _exit(0);
}

int main(int argc, char **argv)
{
    const gpurt_launch_t launch = {.grid = {CAMPAIGN_BLOCKS, 1, 1}, .block = {32, 1, 1}};
    struct campaign_args args = {0};
    static char report[16384];
    gpurt_error_t err = {0};
    const char *end;
    gpurt_status_t st;
    gpurt_t *rt;

    if (argc != 5)
        return 2;
    args.way = way_of(argv[1]);
    args.failing = (uint32_t)strtoul(argv[2], NULL, 10);
    args.messages = (uint32_t)strtoul(argv[3], NULL, 10);
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK || !memory_take(rt, argv[4], &args, &err))
        goto fail;
    if (args.way == CAMPAIGN_HEIR)
        heir_leave();
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (gpurt_launch(rt, &launch, campaign, &args, &err) != GPURT_OK)
        goto fail;
    st = gpurt_sync(rt, &err);
    gpurt_report(rt, report, sizeof report);
    printf("%s\n%s\n---\n", gpurt_status_name(st), report);
    end = second_launch(rt, &launch, &args, &err);
    if (!end)
        goto fail;
    puts(end);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    gpurt_mem_destroy(rt, args.xlock);
    st = gpurt_close(rt, &err);
    return st == GPURT_OK || st == GPURT_E_DEVICE_LOST ? 0 : 1;

fail:
    fprintf(stderr, "campaign_app: %s\n", err.text);
    return 1;
}
