/* SPDX-License-Identifier: Apache-2.0 */
/* hello_log - log messages out of host code and a kernel: two blocks, four messages.
 *
 *   gpurt-record -o hello.gplog -- hello_log && gpurt-log cat hello.gplog */
#include "hello_log.h"

#include <gpurt/gpurt.h>
#include <gpurt/hostlog.h>

#include <stdio.h>

int main(void)
{
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    struct hello_log_args args = {7 * 6};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK || gpurt_info(rt, &info) != GPURT_OK)
        goto fail;
    gpurt_log(GPURT_LEVEL_INFO, "hello from the host, %u blocks ahead", launch.grid.x);
    if (gpurt_launch(rt, &launch, hello_log, &args, &err) != GPURT_OK ||
        gpurt_sync(rt, &err) != GPURT_OK)
        goto fail;
    printf("hello_log: ran on %s (%s)\n", info.name, info.why);
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;

fail:
    fprintf(stderr, "hello_log: %s\n", err.text);
    return 1;
}
