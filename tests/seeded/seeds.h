/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.h - a test that runs once a seed, each under a schedule of its own:
 *
 *     TEST [SEEDS [FIRST [...]]]
 *     for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) run(s.seed);
 *
 * The runtime is open in the loop's body, and closed behind it. */
#ifndef GPURT_TESTS_SEEDS_H
#define GPURT_TESTS_SEEDS_H

#include "stage.h"

#include <signal.h>
#include <unistd.h>

enum {
    SEEDS_PATIENCE_S = 60 /* for one seed */
};

typedef struct seeds {
    uint32_t seed, first, count;
    bool begun;
} seeds_t;

/* Behind the seed's number. */
static inline void seeds_hang(int signal)
{
    static const char text[] = "hangs: this seed has taken 60 s\n";

    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CHECK_FAILED);
}

static inline void seeds_begin(seeds_t *s, int argc, char **argv, uint32_t count)
{
    s->count = argc > 1 ? (uint32_t)atoi(argv[1]) : count;
    s->first = s->seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    s->begun = false;
    (void)signal(SIGALRM, seeds_hang);
}

/* Every pct-th seed takes priorities instead of coins. */
static inline bool seeds_next(seeds_t *s, uint32_t pct)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};

    if (s->begun) {
        OK(gpurt_close(rt, &err));
        s->seed++;
    }
    s->begun = true;
    alarm(0);
    if (s->seed - s->first >= s->count)
        return false;
    options.cpu.seed = s->seed;
    options.cpu.schedule = s->seed % pct ? GPURT_SCHEDULE_RANDOM : GPURT_SCHEDULE_PCT;
    fprintf(stderr, "\r%u ", s->seed); /* which one it was, when it fails */
    alarm(SEEDS_PATIENCE_S);
    OK(gpurt_open(&options, &rt, &err));
    return true;
}

#endif
