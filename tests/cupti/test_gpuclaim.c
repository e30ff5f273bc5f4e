/* SPDX-License-Identifier: Apache-2.0 */
/* One program of a GPU is sampled: who has it is told to others, another GPU is another matter, and what a
 * dead process had is free. */
#include "check.h"
#include "gpuclaim.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ASKERS = 80 /* more than wait at a time */
};

static uint8_t uuid[GPUCLAIM_UUID], other[GPUCLAIM_UUID];

/* In a process of its own. Returns: its exit status. */
static int in_child(int (*what)(void))
{
    const pid_t pid = fork();
    int status;

    CHECK(pid >= 0);
    if (pid == 0)
        _exit(what());
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int child_takes(void)
{
    gpuclaim_t c = {-1};
    uint32_t holder;

    return gpuclaim_take(&c, uuid, &holder) ? 1 : holder == (uint32_t)getppid() ? 2 : 3;
}

static int child_takes_other(void)
{
    gpuclaim_t c = {-1};
    uint32_t holder;

    return gpuclaim_take(&c, other, &holder) ? 1 : 2;
}

/* A child that has it and waits to be killed. */
static pid_t holder_start(void)
{
    int ready[2];
    char byte;
    pid_t pid;

    CHECK_EQ(pipe(ready), 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        gpuclaim_t c = {-1};
        uint32_t holder;

        if (gpuclaim_take(&c, uuid, &holder) && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

int main(void)
{
    gpuclaim_t c = {-1};
    uint32_t holder = 1;
    pid_t pid = getpid();
    int status;

    memcpy(uuid, &pid, sizeof pid); /* of this run */
    memcpy(other, &pid, sizeof pid);
    other[GPUCLAIM_UUID - 1] = 1;
    CHECK(gpuclaim_take(&c, uuid, &holder) && c.fd >= 0);
    CHECK_EQ(holder, 0);
    CHECK(gpuclaim_take(&c, uuid, &holder)); /* the next context of this program */
    for (int i = 0; i < ASKERS; i++, gpuclaim_answer(&c))
        CHECK_EQ(in_child(child_takes), 2);
    gpuclaim_drop(&c);
    CHECK_EQ(c.fd, -1);
    CHECK(gpuclaim_take(&c, uuid, &holder));
    CHECK_EQ(in_child(child_takes), 2);
    CHECK_EQ(in_child(child_takes_other), 1);
    gpuclaim_drop(&c);
    CHECK_EQ(in_child(child_takes), 1);

    pid = holder_start();
    CHECK(!gpuclaim_take(&c, uuid, &holder));
    CHECK_EQ(holder, (uint32_t)pid);
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    CHECK(gpuclaim_take(&c, uuid, &holder));
    gpuclaim_drop(&c);
    gpuclaim_drop(&c);
    return 0;
}
