/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks a collector that sleeps: one is heard at a time, for as long as he is there, and whoever
 * comes meanwhile is told by whom; want of descriptors ends nothing. */
#include "later.h"

#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 20
};
#define STEP_NS 5000000

/* What the program's thread has heard. Owner: the program's process. */
typedef struct heard {
    int listener, holder;
    char words[4][GPURT_LATER_WORDS];
    uint32_t count;
} heard_t;

static void *hear(void *context)
{
    heard_t *h = context;
    gpurt_later_t ask;

    while (h->count < 4 && gpurt_later_wait(h->listener, &h->holder, &ask)) {
        CHECK_STR(ask.drainer, "somewhere");
        memcpy(h->words[h->count++], ask.words, sizeof ask.words);
    }
    return NULL;
}

static gpurt_status_t ask(pid_t pid, const char *words, int *held, gpurt_error_t *err)
{
    return gpurt_later_wake((uint32_t)pid, "somewhere", words, held, err);
}

/* Who went is not there any more as soon as the other end knows; nobody waits for that. */
static int ask_until_heard(pid_t pid, const char *words)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    const time_t until = time(NULL) + PATIENCE_S;
    gpurt_error_t err;
    int held;

    while (time(NULL) < until) {
        if (ask(pid, words, &held, &err) == GPURT_OK)
            return held;
        CHECK_EQ(held, -1);
        nanosleep(&step, NULL);
    }
    CHECK_MSG(false, "%s", err.text);
    return -1;
}

/* Asks, and is killed when it was heard. */
static void ask_and_die(pid_t pid)
{
    pid_t asker = fork();
    int status;

    if (asker == 0) {
        ask_until_heard(pid, "second");
        raise(SIGKILL);
    }
    CHECK(asker > 0);
    CHECK_EQ(waitpid(asker, &status, 0), asker);
    CHECK(WIFSIGNALED(status));
}

static void check_one_at_a_time(void)
{
    static heard_t h = {.holder = -1};
    gpurt_error_t err;
    pthread_t thread;
    char who[64];
    int first, other;

    CHECK_EQ(ask(getpid(), "nobody", &first, &err), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "no collector sleeps");
    CHECK_EQ(first, -1);
    h.listener = gpurt_later_listen();
    CHECK(h.listener >= 0);
    CHECK_EQ(gpurt_later_listen(), -1);
    CHECK_EQ(pthread_create(&thread, NULL, hear, &h), 0);
    first = ask_until_heard(getpid(), "first");
    snprintf(who, sizeof who, "process %d is recorded by process %d;", (int)getpid(),
             (int)getpid());
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(ask(getpid(), "while another is there", &other, &err), GPURT_E_BUSY);
        CHECK_EQ(other, -1);
        CHECK_CONTAINS(err.text, who);
    }
    close(first);
    ask_and_die(getpid());
    first = ask_until_heard(getpid(), "third");
    shutdown(h.listener, SHUT_RDWR);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(h.count, 3);
    CHECK_STR(h.words[0], "first");
    CHECK_STR(h.words[1], "second");
    CHECK_STR(h.words[2], "third");
    CHECK_EQ(ask(getpid(), "nobody hears", &other, &err), GPURT_E_HANDLE);
    close(first);
    close(h.holder);
    close(h.listener);
}

static void say(int pipe_end)
{
    CHECK_EQ(write(pipe_end, "x", 1), 1);
}

static void wait_for_word(int pipe_end)
{
    char word;

    CHECK_EQ(read(pipe_end, &word, 1), 1);
}

/* A program that has no descriptor left, until it is told to make room. */
static void starved_program(int says, int hears)
{
    heard_t h = {.listener = gpurt_later_listen(), .holder = -1};
    struct rlimit limit, none;
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also of a test that fails */
    CHECK(h.listener >= 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(pthread_create(&thread, NULL, hear, &h), 0);
    say(says);
    wait_for_word(hears);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    say(says);
    wait_for_word(hears);
    _exit(0);
}

static void check_shortage(void)
{
    int to[2], from[2], status, held;
    gpurt_error_t err;
    pid_t program;

    CHECK_EQ(pipe(to), 0);
    CHECK_EQ(pipe(from), 0);
    program = fork();
    if (program == 0)
        starved_program(from[1], to[0]);
    CHECK(program > 0);
    wait_for_word(from[0]);
    CHECK_EQ(ask(program, "too early", &held, &err), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "does not answer");
    say(to[1]);
    wait_for_word(from[0]);
    held = ask_until_heard(program, "in time");
    say(to[1]);
    CHECK_EQ(waitpid(program, &status, 0), program);
    CHECK_EQ(status, 0);
    close(held);
}

int main(void)
{
    check_one_at_a_time();
    check_shortage();
    return 0;
}
