/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clock is set back by an hour while somebody waits: seeded work begins all the same
 * though no host thread waits for it. */
#include "test_clock_back.h"
#include "stage.h"

#include <gpurt/device.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* This program believes that it is an hour later than the kernel does, which is what a moment to
 * wait for looks like when the clock was set back right behind it. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    int code = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_REALTIME)
        t->tv_sec += 3600;
    return code;
}

int main(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct clock_back_args args;

    setenv("GPURT_SEED", "1", 1);
    alarm(60);
    OK(gpurt_open(NULL, &rt, &err));
    args.flag = stage_zeros(sizeof *args.flag);
    OK(gpurt_sync(rt, &err));
    OK(gpurt_launch(rt, &launch, clock_back_mark, &args, &err));
    while (!gpurt_load_relaxed_sys_u32(args.flag)) /* and ends by the alarm, if never */
        usleep(1000);
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, args.flag), GPURT_OK);
    OK(gpurt_close(rt, &err));
    return 0;
}
