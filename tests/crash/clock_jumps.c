/* SPDX-License-Identifier: Apache-2.0 */
/* clock_jumps - a library to load before others (LD_PRELOAD): whoever asks what time it is, is told
 * of a clock that was set an hour forward since it was asked last. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    HOUR_S = 3600
};

int clock_gettime(clockid_t id, struct timespec *t)
{
    static __thread time_t forward; /* of each thread: none waits for another's */
    int code = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_REALTIME)
        t->tv_sec += forward += HOUR_S;
    return code;
}
