/* SPDX-License-Identifier: Apache-2.0 */
/* level_app [BLOCKS] - one kernel that logs: from one place more after a line on standard
 * input, until the second line or the end of the input. */
#include "level_app.h"

#include <gpurt/atomic.h>
#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAUSE_NS = 1000000
};

int main(int argc, char **argv)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct level_app_args args = {NULL, PAUSE_NS};
    gpurt_error_t err = {0};
    void *stop = NULL;
    gpurt_t *rt;

    if (argc > 1)
        launch.grid.x = (uint32_t)strtoul(argv[1], NULL, 10);
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        gpurt_host_create(rt, sizeof(uint32_t), &stop, &err) != GPURT_OK)
        goto fail;
    gpurt_store_relaxed_sys_u32((uint32_t *)stop, 0); /* the launch hands it over */
    args.xstop = (const uint32_t *)stop;
    if (gpurt_launch(rt, &launch, level_app, &args, &err) != GPURT_OK)
        goto fail;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (getchar() != EOF)
        gpurt_store_release_sys_u32((uint32_t *)stop, LEVEL_APP_LATE);
    (void)getchar();
    gpurt_store_release_sys_u32((uint32_t *)stop, LEVEL_APP_STOP);
    if (gpurt_sync(rt, &err) != GPURT_OK)
        goto fail;
    gpurt_host_destroy(rt, stop);
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;

fail:
    fprintf(stderr, "level_app: %s\n", err.text);
    return 1;
}
