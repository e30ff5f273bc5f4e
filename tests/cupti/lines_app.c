/* SPDX-License-Identifier: Apache-2.0 */
#include "lines_app.h"

#include "check.h"
#include "cupti_app.h"
#include "fake_cubin.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BARRIER = 0, /* reasons, as the stand-in numbers them */
    LONG_SCOREBOARD = 3,
    SELECTED = 6,
    SLEEPING = 7,
    NEW = 9,
    INSTRUCTIONS = 32,
    LONG_NAME = 2000
};

/* ---- machine code -------------------------------------------------------------------- */

/* As the stand-in has it. */
static uint64_t crc_of(const fake_cubin_t *cubin)
{
    uint64_t crc = 0;

    for (uint64_t i = 0; i < cubin->bytes; i++)
        crc = crc * 31 + cubin->at[i];
    return crc;
}

static uint64_t function_load(uint32_t context, const fake_function_t *f, bool lines)
{
    fake_cubin_t cubin;
    uint64_t crc;

    fake_cubin_make(&cubin, f, lines, false);
    crc = crc_of(&cubin);
    fake->module(context, cubin.at, cubin.bytes);
    memset(&cubin, 0xff, sizeof cubin); /* it was the call's alone */
    return crc;
}

/* Of one function, from line 10 on, or without lines. */
static uint64_t module_load(uint32_t context, const char *function, bool lines)
{
    const fake_function_t f = {.name = function, .line = 10, .count = INSTRUCTIONS};

    return function_load(context, &f, lines);
}

/* ---- kernels ------------------------------------------------------------------------- */

/* Shares of weight: 90 of 100 spin's, 80 of them on line 12. The last is of code that CUPTI knows
 * nothing of, a reason that nobody knew when this was written. */
void lines_spin(uint32_t context)
{
    static fake_line_t of[6];
    uint64_t lined = module_load(context, "_Z4spinPj", true),
             plain = module_load(context, "copy_plain", false);

    of[0] = (fake_line_t){"_Z4spinPj", lined, 0x20, LONG_SCOREBOARD, 60};
    of[1] = (fake_line_t){"_Z4spinPj", lined, 0x28, LONG_SCOREBOARD, 20};
    of[2] = (fake_line_t){"_Z4spinPj", lined, 0x30, BARRIER, 7};
    of[3] = (fake_line_t){"_Z4spinPj", lined, 0x30, SELECTED, 3};
    of[4] = (fake_line_t){"copy_plain", plain, 0x100, SLEEPING, 8};
    of[5] = (fake_line_t){"copy_plain", 4711, 0x110, NEW, 2};
    fake->lines(context, of, 6);
}

static void beside(void)
{
    uint64_t now = fake->time();

    fake->kernel(0, "beside", now - 2000, now - 1000);
}

void lines_run(long ms)
{
    fake->context(1, 1);
    beside();
    lines_spin(1);
    rest(ms);
    fake->lines(1, NULL, 0);
    fake->context(1, 0);
}

void lines_hang(long ms)
{
    fake->context(1, 1);
    beside();
    lines_spin(1);
    rest(ms);
}

/* Something else runs, and then that. */
void lines_turns(long ms)
{
    static const fake_line_t before = {"_Z4pastPj", 4711, 0x40, SELECTED, 1};

    fake->context(1, 1);
    beside();
    fake->lines(1, &before, 1);
    rest(ms);
    fake->lines(1, NULL, 0);
    rest(1500);
    lines_spin(1);
    rest(ms);
}

void lines_stopped(long ms)
{
    int status;
    pid_t pid;

    lines_hang(ms);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK_EQ(kill(getppid(), SIGSTOP), 0);
        rest(3000);
        CHECK_EQ(kill(getppid(), SIGCONT), 0);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    rest(ms);
}

void lines_leave(long ms)
{
    lines_hang(ms);
    fake->context(1, 0);
    fake->lines(1, NULL, 0);
    fake->context(17, 1); /* of the same GPU */
    lines_spin(17);
    rest(ms);
    fake->lines(17, NULL, 0);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 2);
}

void lines_contexts(void)
{
    fake->context(1, 1);
    fake->context(17, 1);
    fake->context(2, 1);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 2);
    lines_spin(17); /* which is not sampled */
    rest(300);
    fake->lines(17, NULL, 0);
    lines_spin(2);
    rest(300);
    fake->lines(2, NULL, 0);
    rest(300);
    fake->context(1, 0);
    CHECK_EQ(fake->pc_count(FAKE_PC_DISARMS), 1);
    fake->context(33, 1);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 3);
    beside();
    lines_spin(33);
    rest(300);
    fake->lines(33, NULL, 0);
}

/* Instructions 4 to 7 stand in 0 to 3 calls; they are of one line. */
void lines_inlined(long ms)
{
    static const fake_function_t f = {"_Z6nestedPjj", 0, 0, 10, 8, 3};
    static fake_line_t of[4];
    uint64_t cubin;

    fake->context(1, 1);
    beside();
    cubin = function_load(1, &f, true);
    of[0] = (fake_line_t){f.name, cubin, 0x40, SELECTED, 1};
    of[1] = (fake_line_t){f.name, cubin, 0x50, SELECTED, 2};
    of[2] = (fake_line_t){f.name, cubin, 0x60, LONG_SCOREBOARD, 3};
    of[3] = (fake_line_t){f.name, cubin, 0x70, BARRIER, 4};
    fake->lines(1, of, 4);
    rest(ms);
    fake->lines(1, NULL, 0);
    fake->context(1, 0);
}

/* While one batch runs, the next is made. */
void lines_modules(long count)
{
    static char of_jit[2][16][32];
    static fake_line_t of[2][16];

    fake->context(1, 1);
    beside();
    for (long i = 0; i < count; i++) {
        uint32_t k = (uint32_t)(i % 16), batch = (uint32_t)(i / 16 % 2);

        snprintf(of_jit[batch][k], sizeof of_jit[batch][k], "jit_%ld", i);
        of[batch][k] =
            (fake_line_t){of_jit[batch][k], module_load(1, of_jit[batch][k], true),
                          16 * (uint64_t)(i % INSTRUCTIONS), SELECTED, 1};
        if (k == 15) {
            fake->lines(1, of[batch], 16);
            rest(20);
        }
    }
    rest(300);
    fake->lines(1, NULL, 0);
}

/* Each look has all of them. */
void lines_many(long count)
{
    fake_line_t *of = calloc((size_t)count, sizeof *of);
    char *text = calloc(64, LONG_NAME);

    CHECK(of && text);
    fake->context(1, 1);
    beside();
    for (long i = 0; i < count; i++) {
        char *name = text + i % 64 * LONG_NAME;

        memset(name, 'a' + (int)(i % 26), LONG_NAME - 1);
        snprintf(name, 16, "_Z4many%06ld", i % 64);
        name[strlen(name)] = 'x';
        of[i] = (fake_line_t){name, 1, 16 * (uint64_t)i, SELECTED, i == 0 ? 50 : 1};
    }
    fake->lines(1, of, (uint32_t)count);
    rest(1300);
    fake->lines(1, NULL, 0);
    rest(400);
    printf("%d\n", fake->pc_count(FAKE_PC_LOOKS));
    fflush(stdout);
}

/* ---- which program has a GPU's lines ------------------------------------------------- */

/* As gpuclaim.c has it, of the stand-in's GPU 0. Returns: -1: somebody has it. */
static int claim_take(void)
{
    static const char uuid[] = "gpurt stand-in 0";
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t used = 1 + (size_t)sprintf(name.sun_path + 1, "gpurt-lines-");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    for (size_t i = 0; i < sizeof uuid - 1; i++)
        used += (size_t)sprintf(name.sun_path + used, "%02x", (unsigned char)uuid[i]);
    if (bind(fd, (struct sockaddr *)&name, (socklen_t)(sizeof name.sun_family + used)) ==
        0) {
        CHECK_EQ(listen(fd, 1), 0);
        return fd;
    }
    close(fd);
    return -1;
}

static void claim_check(bool theirs)
{
    const int fd = claim_take();

    CHECK_EQ(fd < 0, theirs);
    if (fd >= 0)
        close(fd);
}

void lines_taken(long ms)
{
    const int fd = claim_take();

    CHECK(fd >= 0);
    fake->context(1, 1);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 0);
    beside();
    rest(ms);
    close(fd);
    fake->context(17, 1);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 1);
    claim_check(true);
    lines_spin(17);
    rest(ms);
    fake->lines(17, NULL, 0);
}

void lines_refused(long ms)
{
    setenv("FAKE_PC", "busy", 1);
    fake->context(33, 1);
    claim_check(false);
    unsetenv("FAKE_PC");
    lines_hang(ms);
    fake->context(1, 0);
    setenv("FAKE_PC", "busy", 1);
    fake->context(17, 1);
    CHECK_EQ(fake->pc_count(FAKE_PC_ARMS), 1);
    claim_check(true);
}

void lines_forked(long ms)
{
    int ready[2];
    FILE *file;
    pid_t pid;
    char byte;

    fake->context(1, 1);
    claim_check(true);
    CHECK_EQ(pipe(ready), 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    file = fopen("child", "w");
    CHECK(file && fprintf(file, "%d\n", (int)pid) > 0 && fclose(file) == 0);
    beside();
    lines_spin(1);
    rest(ms);
    fake->lines(1, NULL, 0);
}

void lines_none(void)
{
    fake->context(1, 1);
    beside();
    rest(300);
    printf("%d\n", fake->pc_count(FAKE_PC_ARMS));
}
