/* SPDX-License-Identifier: Apache-2.0 */
/* hang_app WAY - hangs in one way, or does not; prints its number first. */
#include "hang_app.h"

#include <gpurt/channels.h>
#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct way {
    const char *name;
    uint32_t way, blocks, threads;
} way_t;

static const way_t ways[] = {
    {"ring", HANG_RING, 3, 1},   {"self", HANG_SELF, 1, 1},
    {"queue", HANG_QUEUE, 2, 1}, {"barrier", HANG_BARRIER, 2, 32},
    {"gone", HANG_GONE, 2, 1},   {"busy", HANG_BUSY, 2, 1},
    {"went", HANG_WENT, 2, 1},   {"open", HANG_OPEN, 2, 1},
    {"late", HANG_LATE, 3, 1},   {"noise", HANG_NOISE, 4, 1},
    {"named", HANG_NAMED, 4, 1}, {"channels", HANG_CHANNELS, 2, 1},
    {"full", HANG_FULL, 2, 1},   {"not", HANG_NOT, 4, 1},
};

static const way_t *way_of(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}

/* Objects that had no number behind the call that names them: none, where a box is. */
static int nameless(gpurt_t *rt, const struct hang_state *state)
{
    uint32_t count;

    if (gpurt_copy(rt, GPURT_STREAM_DEFAULT, &count, &state->xnameless, sizeof count,
                   NULL) != GPURT_OK ||
        gpurt_sync(rt, NULL) != GPURT_OK || count == 0)
        return 0;
    fprintf(stderr, "hang_app: %u times an object had no number\n", count);
    return 1;
}

int main(int argc, char **argv)
{
    const way_t *way = argc > 1 ? way_of(argv[1]) : NULL;
    gpurt_launch_t launch = {.block = {1, 1, 1}};
    struct hang_app_args args = {.rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000};
    gpurt_error_t err = {0};
    void *state;
    gpurt_t *rt;
    int status;

    if (!way) {
        fputs("hang_app: which way?\n", stderr);
        return 2;
    }
    launch.grid = (gpurt_dim3_t){way->blocks, 1, 1};
    launch.block.x = way->threads;
    launch.cooperative = way->way == HANG_BARRIER;
    args.way = way->way;
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof *args.state, &state, &err) != GPURT_OK ||
        gpurt_make_channel(rt, &args.left, NULL, &err) != GPURT_OK ||
        gpurt_make_channel(rt, &args.right, NULL, &err) != GPURT_OK ||
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, state, 0, sizeof *args.state, &err) !=
            GPURT_OK)
        goto fail;
    args.state = (struct hang_state *)state;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (gpurt_launch(rt, &launch, hang_app, &args, &err) != GPURT_OK ||
        gpurt_sync(rt, &err) != GPURT_OK)
        goto fail;
    status = nameless(rt, args.state);
    gpurt_mem_destroy(rt, state);
    return gpurt_close(rt, &err) == GPURT_OK ? status : 1;

fail:
    fprintf(stderr, "hang_app: %s\n", err.text);
    return 1;
}
