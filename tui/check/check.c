/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-check: runs a program once per seed and prints the smallest seed that breaks it. */
#include "check_print.h"
#include "option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OWN_ERROR = 125,
    ALL_SKIPPED = 77
};

typedef struct check_options {
    uint64_t seeds, first, seed, jobs, timeout_ns;
    uint32_t tool, schedule; /* target_tool_t, trial_schedule_t */
    bool strict, trust_exit, allow_panics, keep_going, json;
} check_options_t;

static const uint64_t no_seed = UINT64_MAX;

/* Bits of use_names. */
enum {
    SEARCH = 1 << 0,
    ONE_SEED = 1 << 1
};
static const char *const use_names[] = {"several seeds (not --seed)", "--seed"};

#define FLAG(member) .kind = GPURT_OPTION_FLAG, .offset = offsetof(check_options_t, member)
#define NUMBER(member) \
    .kind = GPURT_OPTION_NUMBER, .offset = offsetof(check_options_t, member)
#define PICK(member, value) \
    .kind = GPURT_OPTION_PICK, .offset = offsetof(check_options_t, member), .pick = value

static const gpurt_option_t rows[] = {
    {.section = "Seeds",
     .letter = 'n',
     .name = "seeds",
     .arg = "N",
     NUMBER(seeds),
     .uses = SEARCH,
     .min = 1,
     .max = 1000000000,
     .help = "how many seeds to run (default 200)"},
    {.name = "first",
     .arg = "SEED",
     NUMBER(first),
     .uses = SEARCH,
     .help = "the first seed (default 1)"},
    {.name = "seed",
     .arg = "SEED",
     NUMBER(seed),
     .max = UINT64_MAX - 1,
     .help = "run this seed only"},
    {.name = "random",
     PICK(schedule, TRIAL_SCHEDULE_RANDOM),
     .help = "switch lanes at random points, at a rate that the seed picks (default: four "
             "seeds of five)"},
    {.name = "pct",
     PICK(schedule, TRIAL_SCHEDULE_PCT),
     .help = "random priorities with few change points (default: every fifth seed)"},
    {.name = "strict",
     FLAG(strict),
     .help = "also fail on legal but suspicious synchronisation"},

    {.section = "Build",
     .name = "race",
     PICK(tool, TARGET_RACE),
     .help = "find data races: needs a ThreadSanitizer build"},
    {.name = "asan",
     PICK(tool, TARGET_ASAN),
     .help = "find bad memory accesses: needs an AddressSanitizer build"},
    {.name = "schedule",
     PICK(tool, TARGET_SCHEDULE),
     .help = "switch lanes at plain accesses too: needs a schedule build"},

    {.section = "Running",
     .letter = 'j',
     .name = "jobs",
     .arg = "N",
     NUMBER(jobs),
     .uses = SEARCH,
     .max = HUNT_JOBS_MAX,
     .help = "seeds at once; 0: one per processor (default 1, because programs may share "
             "files)"},
    {.letter = 't',
     .name = "timeout",
     .arg = "S",
     .kind = GPURT_OPTION_SECONDS,
     .offset = offsetof(check_options_t, timeout_ns),
     .help = "a run that takes longer fails; 0: no limit (default 60 seconds)"},
    {.letter = 'k',
     .name = "keep-going",
     FLAG(keep_going),
     .uses = SEARCH,
     .help = "run all seeds, even after one has failed"},
    {.name = "trust-exit",
     FLAG(trust_exit),
     .help =
         "accept exit status 0 although a launch failed: for programs that fail launches "
         "on purpose"},
    {.name = "allow-panics",
     FLAG(allow_panics),
     .help = "do not count a panic as a failure: for programs that panic on purpose"},
    {.name = "json", FLAG(json), .help = "print one JSON object instead of text"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS", "0 no seed failed, 1 one did, 77 the program skipped every run, 125 "
                    "gpurt-check itself "
                    "failed, 126 the program cannot be executed, 127 there is no such "
                    "program. Stopped by a "
                    "signal, it prints what it knows and ends by that signal."},
    {"WHAT FAILS",
     "A run fails when the program ends with a status other than 0 and 77, is killed by a "
     "signal, takes too long, or ends with 0 although a launch failed in it, a kernel "
     "panicked or a sanitizer reported. With --allow-panics a panic alone is none; also "
     "one "
     "that a guarded launch recovers from counts without it. The smallest seed that failed "
     "is run once more, to see whether it "
     "replays."},
    {"BUILDS",
     "A seed decides where the CPU back end switches from lane to lane: at atomics, warp "
     "operations and barriers, and in a schedule build at every access to memory. If "
     "PROGRAM "
     "is a plain build, --race, --asan and --schedule run PROGRAM-race, PROGRAM-asan and "
     "PROGRAM-schedule beside it, which gpurt_add_check_program of gpurt's CMake package "
     "makes."},
    {"ENVIRONMENT", "PROGRAM is started with GPURT_BACKEND=cpu, GPURT_SEED, "
                    "GPURT_SCHEDULE, GPURT_CHECK and "
                    "GPURT_CHECK_REPORT set; with TSAN_OPTIONS completed by "
                    "halt_on_error=1 and exitcode=66 "
                    "in a ThreadSanitizer build. Its standard input is empty."},
    {"EXAMPLES", "  gpurt-check ./queue_test\n"
                 "  gpurt-check --race --seeds 1000 --jobs 0 -- ./queue_test --size 64\n"
                 "  gpurt-check --seed 57 --schedule -- ./queue_test"},
    {0},
};

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    (void)operands;
    (void)count;
    return ((const check_options_t *)values)->seed == no_seed ? SEARCH : ONE_SEED;
}

static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_program_t program = {
    .name = "gpurt-check",
    .summary = "find the schedule of lanes that breaks a program",
    .synopsis = "[OPTION...] [--] PROGRAM [ARG...]",
    .description =
        "Runs PROGRAM, which uses gpurt, once per seed on the CPU back end. Each "
        "seed makes another schedule of lanes; the same seed makes the same one. "
        "Prints the smallest seed that fails, why, and the command that replays it.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .operand_ends = true,
    .bad_status = OWN_ERROR,
};

/* Returns: 0, or the status to exit with. */
static int settle_options(check_options_t *options)
{
    if (options->seed != no_seed) {
        options->first = options->seed;
        options->seeds = 1;
    }
    if (options->seeds - 1 > UINT64_MAX - options->first)
        return gpurt_option_refuse(&program, "seeds end at %llu: --first is too large",
                                   (unsigned long long)UINT64_MAX);
    if (options->jobs == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        options->jobs = processors < 1               ? 1
                        : processors > HUNT_JOBS_MAX ? HUNT_JOBS_MAX
                                                     : (uint64_t)processors;
    }
    return 0;
}

static int refuse_start(const target_t *target, const char *path, int refusal)
{
    bool unread = refusal == ENOENT && access(path, X_OK) == 0;

    if (path != target->path)
        return gpurt_option_refuse(&program, "no place for reports in %s: %s",
                                   path ? path : "memory", strerror(refusal));
    gpurt_option_refuse(&program, "%s: %s", path,
                        unread ? "the interpreter or loader that it names does not exist"
                               : strerror(refusal));
    if (refusal == ENOENT || refusal == ENOTDIR)
        return 127;
    return refusal == EACCES || refusal == ENOEXEC || refusal == EISDIR ? 126 : OWN_ERROR;
}

/* Ends as the signal would have ended us, so that a shell's loop ends too. */
static void end_by_signal(int number)
{
    fflush(stdout);
    signal(number, SIG_DFL);
    raise(number);
}

static int hunt_and_print(const check_options_t *options, const target_t *target,
                          char **argv)
{
    static hunt_t hunt; /* large; all of it starts as zero */
    const char *terminal = getenv("TERM");
    int refusal, status;

    hunt.plan = (trial_plan_t){
        .target = target,
        .argv = argv,
        .timeout_ns = options->timeout_ns,
        .schedule = options->schedule,
        .strict = options->strict,
        .trust_exit = options->trust_exit,
        .allow_panics = options->allow_panics,
    };
    hunt.first = options->first;
    hunt.count = options->seeds;
    hunt.jobs = (unsigned)options->jobs;
    hunt.keep_going = options->keep_going;
    hunt.show_progress = isatty(STDERR_FILENO) && terminal &&
                         strcmp(terminal, "dumb") != 0 && !options->json;
    refusal = hunt_run(&hunt);
    if (options->json && (!refusal || hunt.ran))
        check_print_json(&hunt, (target_tool_t)options->tool, stdout);
    else if (!refusal || hunt.ran)
        check_print_text(&hunt, stdout);
    status = hunt.found ? 1 : hunt.ran && hunt.skipped == hunt.ran ? ALL_SKIPPED : 0;
    if (refusal)
        status = refuse_start(target, hunt.refused, refusal);
    status = gpurt_option_end(&program, status, OWN_ERROR);
    hunt_fini(&hunt);
    if (hunt.stop_signal)
        end_by_signal(hunt.stop_signal);
    return status;
}

int main(int argc, char **argv)
{
    static target_t target;
    static char why[TARGET_TEXT];
    check_options_t options = {
        .seeds = 200,
        .first = 1,
        .seed = no_seed,
        .jobs = 1,
        .timeout_ns = 60000000000,
    };
    int words, status = gpurt_option_parse(&program, argc, argv, &options, &words);

    if (status >= 0)
        return status;
    if (words == 0)
        return gpurt_option_refuse(&program,
                                   "no program given; say gpurt-check -- ./PROGRAM");
    status = settle_options(&options);
    if (status)
        return status;
    status = target_find(argv[1], (target_tool_t)options.tool, &target, why);
    if (status) {
        gpurt_option_refuse(&program, "%s", why);
        return status;
    }
    if (target.note[0] && !options.json)
        gpurt_option_refuse(&program, "%s",
                            target.note); /* its name must not steer a terminal */
    argv[1] = target.path;
    return hunt_and_print(&options, &target, argv + 1);
}
