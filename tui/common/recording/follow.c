/* SPDX-License-Identifier: Apache-2.0 */
#include "follow.h"

#include "hosttime.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ASK_NS   250000000ull
#define GRACE_NS 2000000000ull /* for one who has the box by now, and not yet the file */

__attribute__((format(printf, 2, 3))) static void say(const follow_t *f, const char *fmt,
                                                      ...)
{
    char line[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "%s: ", f->program);
    text_put_line(stderr, line, strlen(line));
}

static void left_tell(follow_t *f, uint32_t pid)
{
    if (!f->told)
        say(f,
            "%s: its writer is gone; process %u runs on, so another may come (gpurt-drain "
            "-p %u -o %s)",
            f->path, pid, pid, f->path);
    f->told = true;
}

static bool is_over(follow_t *f, uint64_t now)
{
    if (f->dead_ns == 0)
        f->dead_ns = now;
    if (now - f->dead_ns < GRACE_NS)
        return false;
    say(f, "%s: its writer is gone, and it ends without its closing frame", f->path);
    return true;
}

bool follow_goes_on(follow_t *f, const gpurt_log_t *log)
{
    uint64_t now = gpurt_steady_ns();
    gplog_pulse_state_t state;
    uint32_t pid;

    if (now - f->asked_ns < ASK_NS)
        return true;
    f->asked_ns = now;
    state = gpurt_log_pulse(log, &pid);
    if (state == GPLOG_PULSE_DEAD)
        return !is_over(f, now);
    f->dead_ns = 0;
    if (state == GPLOG_PULSE_LEFT)
        left_tell(f, pid);
    else
        f->told = false;
    return true;
}

void follow_cut_tell(const char *program, const char *path, const gpurt_log_t *log)
{
    const follow_t f = {.program = program, .path = path};
    gpurt_log_summary_t sum;
    uint32_t pid;

    gpurt_log_summary(log, &sum);
    if (!sum.closed && gpurt_log_pulse(log, &pid) == GPLOG_PULSE_DEAD)
        say(&f,
            "%s: its writer is gone, and did not close it: what came last may be missing",
            path);
}
