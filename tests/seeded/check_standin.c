/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for a program under gpurt-check: takes a seed and leaves a report as the
 * runtime does, and fails in the way and from the seed on that its arguments say.
 *
 *     check_standin WAY [FROM]     WAY: pass skip silent exit signal pipe hang swallow panic
 *                                       flaky drift race orphan noise slow
 * STANDIN_MARK, given when it is compiled, makes it look like a build for one of the
 * tools. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef STANDIN_MARK
extern const char STANDIN_MARK[];
const char STANDIN_MARK[] = "a mark that tools look for";
#endif

static void nap(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static void leave_report_of(unsigned long long seed, const char *status, unsigned panics,
                            const char *text)
{
    const char *path = getenv("GPURT_CHECK_REPORT"), *schedule = getenv("GPURT_SCHEDULE");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "seed %llu\nschedule %s\nstatus %s\n", seed, schedule, status);
    fprintf(file, "hash %016llx\nswitches %llu\nreplayable yes\n", 0xabc000 + seed,
            seed * 10);
    fprintf(file, "panics %u\n", panics);
    fprintf(file, "report\n%s", text);
    fclose(file);
}

static void leave_report(unsigned long long seed, const char *status, const char *text)
{
    leave_report_of(seed, status, 0, text);
}

/* Counts processes in a file, for what differs between two runs of one seed. */
static unsigned count_runs(void)
{
    const char *path = getenv("STANDIN_STATE");
    FILE *file = path ? fopen(path, "a+") : NULL;
    unsigned runs = 0;

    if (!file)
        return 0;
    fseek(file, 0, SEEK_END);
    fputc('.', file);
    runs = (unsigned)ftell(file);
    fclose(file);
    return runs;
}

static void write_to_nobody(void)
{
    int ends[2];

    if (pipe(ends) == 0 && close(ends[0]) == 0 && write(ends[1], "x", 1) != 1)
        fprintf(stderr, "the write failed and nobody was killed\n");
}

/* A process that outlives us, in our group, and holds our output open. */
static void leave_orphan(void)
{
    const char *path = getenv("STANDIN_STATE");
    pid_t child = fork();
    FILE *file;

    if (child == 0) {
        nap(120000);
        _exit(0);
    }
    file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%d\n", (int)child);
        fclose(file);
    }
}

static int fail(const char *way)
{
    if (strcmp(way, "signal") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "pipe") == 0)
        write_to_nobody();
    if (strcmp(way, "hang") == 0)
        nap(30000);
    if (strcmp(way, "race") == 0) {
        fprintf(stderr,
                "before\n==9==WARNING: ThreadSanitizer: data race (pid=9)\n  #0 lane\n");
        return 0;
    }
    if (strcmp(way, "orphan") == 0)
        leave_orphan();
    if (strcmp(way, "noise") == 0)
        fputs("\033[31mred\xff \"quoted\"\n", stderr);
    fprintf(stderr, "standin: %s\n", way);
    return strcmp(way, "flaky") == 0 ? count_runs() != 2 : 3;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "pass", *text = getenv("GPURT_SEED");
    unsigned long long seed = text ? strtoull(text, NULL, 10) : 0;
    unsigned long long from = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    printf("standin runs seed %llu\n", seed);
    if (strcmp(way, "slow") == 0) { /* small seeds end last */
        nap(seed < 4 ? 300 : 10);
        way = "exit";
    }
    if (strcmp(way, "silent") == 0)
        return 0;
    if (strcmp(way, "skip") == 0)
        return 77;
    if (strcmp(way, "pass") == 0 || seed < from) {
        leave_report(seed, "GPURT_OK", "");
        return 0;
    }
    if (strcmp(way, "panic") == 0) {
        leave_report_of(seed, "GPURT_OK", 2, "panic in kernel standin\n");
        return 0;
    }
    if (strcmp(way, "swallow") == 0) {
        leave_report(seed, "GPURT_E_DEADLOCK", "block 0 thread 1 waits for thread 2\n");
        return 0;
    }
    if (strcmp(way, "flaky") == 0)
        leave_report(seed, "GPURT_OK", "");
    else if (strcmp(way, "drift") == 0) /* the hash changes */
        leave_report(seed + 1000 * count_runs(), "GPURT_OK", "");
    else if (strcmp(way, "signal") != 0 && strcmp(way, "hang") != 0)
        leave_report(seed, "GPURT_E_TRAP", "a lane trapped\n");
    return fail(way);
}
