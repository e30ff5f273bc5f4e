/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of gpurt's in a program that blocks a signal in its own to wait for it: the signal comes to who
 * waits, though a thread that does not block it would have ended the program. Faults of a thread's own
 * stay signalled. */
#include "stage.h"

#include <gpurt/recover.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum {
    TIMES = 50
};

static void nothing(void *context, const gpurt_panic_news_t *news)
{
    (void)context;
    (void)news;
}

/* Everything that has a thread: workers; under a recorder a look at heaps, at panics, at levels. */
static gpurt_heap_t all_open(void)
{
    gpurt_heap_options_t options = {.bytes = 1 << 20};
    gpurt_heap_t heap;

    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_on_panic(rt, nothing, NULL, &err));
    OK(gpurt_heap_create(rt, &options, &heap, &err));
    return heap;
}

static uint64_t blocked_by(const char *task)
{
    unsigned long long blocked = 0;
    char path[300], line[256];
    FILE *status;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            break;
    if (status)
        fclose(status);
    return blocked;
}

#define BIT(signal) (1ull << ((signal)-1))

static uint32_t lanes; /* threads that ran them when we looked last */

/* Returns: how many there are beside this one. */
static uint32_t others_look(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *one;
    uint32_t count = 0;

    lanes = 0;
    CHECK(tasks != NULL);
    while ((one = readdir(tasks)) != NULL) {
        uint64_t blocked = blocked_by(one->d_name);

        if (one->d_name[0] == '.' || atoi(one->d_name) == getpid())
            continue;
        CHECK_MSG(blocked & BIT(SIGUSR1), "thread %s takes SIGUSR1", one->d_name);
        if (blocked & BIT(SIGPROF))
            continue; /* not ours: a sanitizer's own */
        CHECK(!(blocked & (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL))));
        CHECK_EQ(!(blocked & BIT(SIGPIPE)), !(blocked & BIT(SIGXFSZ)));
        lanes += !(blocked & BIT(SIGPIPE)); /* what a lane writes is the program's */
        count++;
    }
    closedir(tasks);
    return count;
}

int main(void)
{
    struct timespec limit = {.tv_sec = 20};
    gpurt_heap_t heap;
    sigset_t mine;
    uint32_t others;

    heap = all_open();
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
    CHECK_MSG(!sigismember(&mine, SIGUSR2), "the program's own thread is as it was");
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &mine, NULL), 0);
    alarm(20);
    do { /* one that begins blocks all; both kinds are there, or the alarm ends this */
        usleep(1000);
        others = others_look();
    } while (others < (getenv("GPURT_DRAIN") ? 4 : 2) || lanes == 0 || lanes == others);
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        CHECK_EQ(sigtimedwait(&mine, NULL, &limit), SIGUSR1);
    }
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_close(rt, &err));
    return 0;
}
