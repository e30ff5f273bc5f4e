/* SPDX-License-Identifier: Apache-2.0 */
/* A collector that sleeps, and children of its program: whether or not anybody told them of the
 * fork, what they do as they end is no matter of their parent's. Nor is it held up by who connects
 * and says nothing. */
#include "dormant.h"

#include "duty.h"

#include "check.h"
#include "later_raw.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint32_t woken;

static void wake(const gpurt_later_t *ask)
{
    (void)ask;
    woken++;
}

/* A child that ends as any program does. */
static void child_ends(bool told)
{
    pid_t child = told ? fork() : (pid_t)syscall(SYS_fork);
    int status;

    if (child == 0) {
        if (told)
            dormant_leave();
        _exit(dormant_stop() ? 1 : 0);
    }
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_MSG(status == 0, "a child that was %stold: %x", told ? "" : "not ", status);
}

/* A thread of the parent's was waited for at the exit of its children, seconds for each. */
static duty_t duty;

static void rest(duty_t *w)
{
    while (duty_wait(w, 1000))
        ;
}

static void duties_are_the_parents(void)
{
    int status;
    pid_t child;

    CHECK(duty_start(&duty, "rest", rest, NULL));
    child = fork();
    if (child == 0) {
        alarm(5);
        _exit(duty_stop(&duty, 60000) ? 0 : 1);
    }
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_MSG(status == 0, "%x", status);
    CHECK(duty_stop(&duty, 60000));
}

/* One that works after its stop: it ends when its work was looked at WORK_LOOKS times. */
enum {
    WORK_LOOKS = 3
};

static sem_t work_over;
static uint64_t work_looks;

static void works_on(duty_t *w)
{
    (void)w;
    while (sem_wait(&work_over) != 0)
        ;
}

static uint64_t work_done(void)
{
    if (++work_looks == WORK_LOOKS)
        sem_post(&work_over);
    return work_looks;
}

static uint64_t work_stands(void)
{
    return 0;
}

static void work_is_waited_for(void)
{
    static duty_t working, stuck;

    CHECK_EQ(sem_init(&work_over, 0, 0), 0);
    CHECK(duty_start(&working, "works", works_on, NULL));
    CHECK(duty_finish(&working, 1, 60000, work_done));
    CHECK(work_looks >= WORK_LOOKS);
    CHECK(duty_start(&stuck, "stuck", works_on, NULL));
    CHECK(!duty_finish(&stuck, 1, 60000, work_stands));
}

static bool never(void)
{
    return false;
}

static void still_heard(void)
{
    gpurt_error_t err;
    int held;

    CHECK_MSG(gpurt_later_wake((uint32_t)getpid(), "nobody", "", never, &held, &err) ==
                  GPURT_OK,
              "%s", err.text);
    close(held);
}

/* As many as may wait. */
static void end_among_silent_ones(void)
{
    int silent[16], count = 0;

    while (count < 16 && (silent[count] = later_raw_connect(getpid(), SOCK_NONBLOCK)) >= 0)
        count++;
    CHECK(count > 4);
    CHECK(dormant_stop());
    while (count > 0)
        close(silent[--count]);
}

int main(void)
{
    CHECK(dormant_stop()); /* of one that was never started */
    CHECK(dormant_start(wake));
    CHECK(dormant_sleeps());
    child_ends(false);
    child_ends(true);
    duties_are_the_parents();
    work_is_waited_for();
    still_heard();
    end_among_silent_ones();
    CHECK_EQ(woken, 1);
    return 0;
}
