/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks a collector that sleeps: one is heard at a time, for as long as he is there, and whoever
 * comes meanwhile is told by whom; want of descriptors ends nothing, nor does what is no question.
 * Who is no user of the program's is not heard, and who is not that process is not asked. */
#include "later.h"

#include "check.h"
#include "later_raw.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 20,
    SILENT = 3,
    NOBODY = 65534, /* a user that is not us */
    TRIES = 20
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

/* Any signal is the end of it. */
static bool always(void)
{
    return true;
}

static gpurt_status_t ask(pid_t pid, const char *words, int *held, gpurt_error_t *err)
{
    return gpurt_later_wake((uint32_t)pid, "somewhere", words, always, held, err);
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

/* Hears until it is told to end. Owner: the test. */
typedef struct hearing {
    heard_t h;
    pthread_t thread;
} hearing_t;

static void hearing_begin(hearing_t *l)
{
    *l = (hearing_t){.h = {.listener = gpurt_later_listen(), .holder = -1}};
    CHECK(l->h.listener >= 0);
    CHECK_EQ(pthread_create(&l->thread, NULL, hear, &l->h), 0);
}

static void hearing_end(hearing_t *l, uint32_t heard)
{
    shutdown(l->h.listener, SHUT_RDWR);
    CHECK_EQ(pthread_join(l->thread, NULL), 0);
    CHECK_EQ(l->h.count, heard);
    if (l->h.holder >= 0)
        close(l->h.holder);
    close(l->h.listener);
}

/* Those who connect and say nothing hold up who asks, and not for longer than he waits. */
static void check_silence(void)
{
    int silent[SILENT], held;
    hearing_t l;
    gpurt_error_t err;

    hearing_begin(&l);
    for (int i = 0; i < SILENT; i++)
        silent[i] = later_raw_connect(getpid(), 0);
    CHECK_MSG(ask(getpid(), "behind them", &held, &err) == GPURT_OK, "%s", err.text);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    close(held);
    hearing_end(&l, 1);
}

static const gpurt_later_t question = {"GPRTWAK", "somewhere", "raw"};

/* Returns: whether there is an answer to such a message. */
static bool is_answered(const void *message, size_t bytes)
{
    int fd = later_raw_connect(getpid(), 0);
    char answer[8];
    ssize_t got;

    CHECK_EQ(send(fd, message, bytes, MSG_NOSIGNAL), bytes);
    got = recv(fd, answer, sizeof answer, 0);
    close(fd);
    return got > 0;
}

static void check_garbage(void)
{
    struct {
        gpurt_later_t question;
        char more[2];
    } out = {.question = question};
    char words[GPURT_LATER_WORDS + 1] = "";
    gpurt_error_t err;
    hearing_t l;
    int held;

    hearing_begin(&l);
    memset(words, 'w', sizeof words - 1);
    CHECK_EQ(ask(getpid(), words, &held, &err), GPURT_E_INVALID);
    CHECK_EQ(held, -1);
    CHECK(!is_answered(&out, 0));
    CHECK(!is_answered(&out, sizeof out.question.magic));
    CHECK(!is_answered(&out, sizeof out.question - 1));
    CHECK(!is_answered(&out, sizeof out));
    out.question.magic[0] = 'g';
    CHECK(!is_answered(&out, sizeof out.question));
    CHECK(is_answered(&question, sizeof question));
    hearing_end(&l, 1);
}

static void nothing(int number)
{
    (void)number;
}

/* As when the program is stopped and goes on between the connection and the question: its wait ends,
 * and begins again. It may have waited for too long here, so it is tried more often. */
static void check_interrupted(void)
{
    const struct timespec step = {.tv_nsec = 10 * STEP_NS};
    const struct sigaction action = {.sa_handler = nothing};
    char answer[8];
    ssize_t got = 0;
    hearing_t l;

    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    hearing_begin(&l);
    for (int i = 0; i < TRIES && got <= 0; i++) {
        int fd = later_raw_connect(getpid(), 0);

        nanosleep(&step, NULL);
        CHECK_EQ(pthread_kill(l.thread, SIGUSR1), 0);
        nanosleep(&step, NULL);
        send(fd, &question, sizeof question, MSG_NOSIGNAL);
        got = recv(fd, answer, sizeof answer, 0);
        close(fd);
    }
    CHECK_EQ(got, sizeof answer);
    hearing_end(&l, 1);
}

static heard_t *just_heard;

/* ... but it is heard at that very moment. */
static bool heard_and_given_up(void)
{
    gpurt_later_t ask;

    CHECK(gpurt_later_wait(just_heard->listener, &just_heard->holder, &ask));
    return true;
}

/* Who gives up when the answer has just come has woken the program, and is told so. */
static void check_given_up_too_late(void)
{
    const struct sigaction action = {.sa_handler = nothing};
    const struct itimerval often = {{.tv_usec = 100000}, {.tv_usec = 100000}}, never = {0};
    heard_t h = {.listener = gpurt_later_listen(), .holder = -1};
    gpurt_error_t err;
    int held;

    just_heard = &h;
    CHECK(h.listener >= 0);
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    CHECK_MSG(gpurt_later_wake((uint32_t)getpid(), "somewhere", "in time",
                               heard_and_given_up, &held, &err) == GPURT_OK,
              "%s", err.text);
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
    CHECK(held >= 0 && gpurt_later_is_there(held));
    close(held);
    close(h.holder);
    close(h.listener);
}

/* In a process of its own. */
static void stranger_asks(pid_t pid)
{
    gpurt_error_t err;
    int held;

    CHECK_EQ(setresgid(NOBODY, NOBODY, NOBODY), 0);
    CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
    CHECK_EQ(ask(pid, "not for you", &held, &err), GPURT_E_HANDLE);
    CHECK_EQ(held, -1);
    CHECK_CONTAINS(err.text, "is of user 0: only that user and root");
    _exit(0);
}

static void check_root_alone(void)
{
    hearing_t l;
    pid_t other;
    int status;

    if (getuid() != 0)
        return; /* only root can be two users */
    hearing_begin(&l);
    other = fork();
    if (other == 0)
        stranger_asks(getppid());
    CHECK(other > 0);
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK_EQ(status, 0);
    hearing_end(&l, 0);
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

static void impostor(pid_t pid, int says)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    later_raw_listen(pid);
    say(says);
    pause();
    _exit(1);
}

/* Another process listens in the place of one that sleeps; then there is none at all. */
static void check_impostor(void)
{
    int from[2], status, held;
    gpurt_error_t err;
    char who[96];
    pid_t other;

    CHECK_EQ(pipe(from), 0);
    other = fork();
    if (other == 0)
        impostor(getppid(), from[1]);
    CHECK(other > 0);
    wait_for_word(from[0]);
    CHECK_EQ(ask(getpid(), "to another", &held, &err), GPURT_E_HANDLE);
    snprintf(who, sizeof who, "in process %d: process %d listens in its place",
             (int)getpid(), (int)other);
    CHECK_CONTAINS(err.text, who);
    CHECK_EQ(kill(other, SIGKILL), 0);
    CHECK_EQ(waitid(P_PID, (id_t)other, NULL, WEXITED | WNOWAIT), 0);
    for (int zombie = 1; zombie >= 0; zombie--) {
        CHECK_EQ(ask(other, "to none", &held, &err), GPURT_E_HANDLE);
        CHECK_CONTAINS(err.text, "there is no process ");
        CHECK_EQ(waitpid(other, &status, 0), zombie ? other : -1);
    }
    close(from[0]);
    close(from[1]);
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

/* Who is interrupted is told so, who waits for nothing that, however many wait already. */
static void ask_in_vain(pid_t program)
{
    const struct sigaction action = {.sa_handler = nothing};
    const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
    int queue[16], held, waiting = 0;
    gpurt_error_t err;

    CHECK_EQ(ask(program, "too early", &held, &err), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "does not answer");
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
    CHECK_EQ(ask(program, "interrupted", &held, &err), GPURT_E_CANCELLED);
    CHECK_EQ(held, -1);
    while (waiting < 16 &&
           (queue[waiting] = later_raw_connect(program, SOCK_NONBLOCK)) >= 0)
        waiting++;
    CHECK(waiting < 16);
    CHECK_EQ(ask(program, "no place", &held, &err), GPURT_E_HANDLE);
    CHECK_CONTAINS(err.text, "does not answer");
    while (waiting > 0)
        close(queue[--waiting]);
}

static void check_shortage(void)
{
    int to[2], from[2], status, held;
    pid_t program;

    CHECK_EQ(pipe(to), 0);
    CHECK_EQ(pipe(from), 0);
    program = fork();
    if (program == 0)
        starved_program(from[1], to[0]);
    CHECK(program > 0);
    wait_for_word(from[0]);
    ask_in_vain(program);
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
    check_silence();
    check_garbage();
    check_interrupted();
    check_given_up_too_late();
    check_root_alone();
    check_impostor();
    check_shortage();
    return 0;
}
