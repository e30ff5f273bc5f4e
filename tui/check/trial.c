/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include "exittext.h"
#include "plural.h"
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SKIP_STATUS = 77,
    REPORT_MAX = 1 << 20, /* bytes of a report file that are read */
    PAIR_BYTES = PATH_MAX + 256,
};

/* ---- environment --------------------------------------------------------------------- */
/* Owner: the caller, on its stack. */
typedef struct pairs {
    char text[8][PAIR_BYTES];
    char *list[9]; /* NAME=VALUE, ends with NULL */
    size_t count;
} pairs_t;

static void GPURT_PRINTF(2, 3) pairs_add(pairs_t *pairs, const char *fmt, ...)
{
    char *pair = pairs->text[pairs->count];
    va_list args;

    va_start(args, fmt);
    vsnprintf(pair, PAIR_BYTES, fmt, args);
    va_end(args);
    pairs->list[pairs->count++] = pair;
    pairs->list[pairs->count] = NULL;
}

const char *trial_schedule_name(const trial_plan_t *plan, uint64_t seed)
{
    /* The runtime takes its rate of switches from seed % 4: five and four have no common
     * divisor, so each rate keeps its share. */
    if (plan->schedule == TRIAL_SCHEDULE_MIXED)
        return seed % 5 == 0 ? "pct" : "random";
    return plan->schedule == TRIAL_SCHEDULE_PCT ? "pct" : "random";
}

/* The first race ends the run, as a report and a status of its own; the user's word
 * stands. */
static void add_tsan_options(pairs_t *pairs)
{
    const char *user = getenv("TSAN_OPTIONS");

    if (!user || strlen(user) > PATH_MAX) /* that long, it is not ours to complete */
        user = "";
    pairs_add(pairs, "TSAN_OPTIONS=%s%s%s%s", user, *user ? ":" : "",
              strstr(user, "halt_on_error=") ? "" : "halt_on_error=1:",
              strstr(user, "exitcode=") ? "" : "exitcode=66");
}

/* All that makes a run what it is, but for what the user's own environment adds. */
static void pairs_fill(pairs_t *pairs, const trial_plan_t *plan, uint64_t seed)
{
    pairs->count = 0;
    pairs_add(pairs, "GPURT_BACKEND=cpu");
    pairs_add(pairs, "GPURT_CHECK=scope%s", plan->strict ? ",strict" : "");
    pairs_add(pairs, "GPURT_SCHEDULE=%s", trial_schedule_name(plan, seed));
    pairs_add(pairs, "GPURT_SEED=%llu", (unsigned long long)seed);
    if (plan->target->kind == ELF_KIND_RACE)
        add_tsan_options(pairs);
    if (plan->target->kind == ELF_KIND_ASAN && !getenv("UBSAN_OPTIONS"))
        pairs_add(pairs, "UBSAN_OPTIONS=print_stacktrace=1");
}

static bool pairs_have(const pairs_t *pairs, const char *pair)
{
    size_t length = strcspn(pair, "=") + 1;

    for (size_t i = 0; i < pairs->count; i++)
        if (strncmp(pairs->list[i], pair, length) == 0)
            return true;
    return false;
}

/* The gdb commands lie beside the program: installed, or in the sources it was built
 * from. */
static bool find_gdb_commands(char *path, size_t bytes)
{
    static const char *const places[] = {"../share/gpurt/gpurt_gdb.py",
                                         "../../../tools/gdb/gpurt_gdb.py"};
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);

    if (length <= 0)
        return false;
    here[length] = '\0';
    *strrchr(here, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char guess[2 * PATH_MAX], *found;

        snprintf(guess, sizeof guess, "%s/%s", here, places[i]);
        found = realpath(guess, NULL);
        if (found) {
            snprintf(path, bytes, "%s", found);
            free(found);
            return true;
        }
    }
    return false;
}

void trial_put_command(const trial_t *trial, bool gdb, FILE *out)
{
    const trial_plan_t *plan = trial->plan;
    char commands[PATH_MAX];
    pairs_t pairs;

    pairs_fill(&pairs, plan, trial->seed);
    fputs("env", out);
    for (size_t i = 0; i < pairs.count; i++) {
        fputc(' ', out);
        text_put_shell(out, pairs.list[i]);
    }
    for (char **pair = environ; *pair; pair++) {
        if (strncmp(*pair, "GPURT_", 6) != 0 || pairs_have(&pairs, *pair))
            continue;
        fputc(' ', out);
        text_put_shell(out, *pair);
    }
    if (gdb)
        fputs(" gdb -q", out);
    if (gdb && find_gdb_commands(commands, sizeof commands)) {
        fputs(" -x ", out);
        text_put_shell(out, commands);
    }
    fputs(gdb ? " --args " : " ", out);
    text_put_shell(out, plan->target->path);
    for (char **word = plan->argv + 1; *word; word++) {
        fputc(' ', out);
        text_put_shell(out, *word);
    }
}

int trial_start(trial_t *trial, const trial_plan_t *plan, uint64_t seed, unsigned number,
                const child_watch_t *watch)
{
    child_command_t command = {
        .path = plan->target->path,
        .argv = plan->argv,
        .timeout_ns = plan->timeout_ns,
    };
    pairs_t pairs;

    trial->plan = plan;
    trial->seed = seed;
    snprintf(trial->file, sizeof trial->file, "%s/%u", plan->directory, number);
    unlink(trial->file);
    pairs_fill(&pairs, plan, seed);
    pairs_add(&pairs, "GPURT_CHECK_REPORT=%s", trial->file);
    command.environment = pairs.list;
    return child_start(&trial->child, &command, watch);
}

/* ---- what it left behind ------------------------------------------------------------- */
static void read_key(trial_report_t *report, const char *key, const char *value)
{
    if (strcmp(key, "status") == 0)
        snprintf(report->status, sizeof report->status, "%s", value);
    else if (strcmp(key, "replayable") == 0)
        snprintf(report->replayable, sizeof report->replayable, "%s", value);
    else if (strcmp(key, "switches") == 0)
        report->switches = strtoull(value, NULL, 10);
    else if (strcmp(key, "panics") == 0)
        report->panics = strtoull(value, NULL, 10);
    else if (strcmp(key, "hash") == 0) {
        report->hash = strtoull(value, NULL, 16);
        report->has_hash = true;
    }
}

/* Keys that are not known are passed over: a later runtime may say more. */
static void read_report(trial_report_t *report, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];

    free(report->text);
    memset(report, 0, sizeof *report);
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' ');

        report->written = true;
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "report") == 0)
            break;
        if (value) {
            *value = '\0';
            read_key(report, line, value + 1);
        }
    }
    report->text = malloc(REPORT_MAX);
    if (report->text) {
        size_t got = fread(report->text, 1, REPORT_MAX - 1, file);

        report->text[got] = '\0';
    }
    fclose(file);
    unlink(path);
}

static bool status_is_good(const char *status)
{
    return status[0] == '\0' || strcmp(status, "GPURT_OK") == 0 ||
           strcmp(status, "OK") == 0;
}

static bool status_is_panic(const char *status)
{
    return strcmp(status, "GPURT_E_PANIC") == 0;
}

/* Looks for a sanitizer's report in what the program wrote to standard error. */
static void find_sanitizer(trial_t *trial)
{
    static const struct {
        const char *words, *name;
    } signs[] = {
        {"WARNING: ThreadSanitizer", "ThreadSanitizer"},
        {"FATAL: ThreadSanitizer", "ThreadSanitizer"},
        {"ERROR: ThreadSanitizer", "ThreadSanitizer"},
        {"ERROR: AddressSanitizer", "AddressSanitizer"},
        {"AddressSanitizer:DEADLYSIGNAL", "AddressSanitizer"},
        {"ERROR: LeakSanitizer", "LeakSanitizer"},
        {": runtime error: ", "UndefinedBehaviorSanitizer"},
    };
    const child_tail_t *err = &trial->child.err;

    trial->sanitizer = NULL;
    trial->sanitizer_at = err->used;
    if (trial->plan->target->kind == ELF_KIND_PLAIN)
        return;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const char *at =
            memmem(err->bytes, err->used, signs[i].words, strlen(signs[i].words));

        if (at && (size_t)(at - err->bytes) < trial->sanitizer_at) {
            trial->sanitizer = signs[i].name;
            trial->sanitizer_at = (size_t)(at - err->bytes);
        }
    }
    while (trial->sanitizer_at > 0 && err->bytes[trial->sanitizer_at - 1] != '\n')
        trial->sanitizer_at--;
    while (trial->sanitizer && trial->sanitizer_at > 0 &&
           memchr("=\n", err->bytes[trial->sanitizer_at - 1], 2))
        trial->sanitizer_at--; /* the rule above it */
}

/* Of a run that ended with 0. */
static trial_end_t judge_success(const trial_t *trial)
{
    const trial_report_t *r = &trial->report;
    bool panicked = r->panics || status_is_panic(r->status);

    if (trial->plan->trust_exit)
        return TRIAL_PASSED;
    if (trial->sanitizer || (!status_is_good(r->status) && !status_is_panic(r->status)))
        return TRIAL_SWALLOWED;
    return panicked && !trial->plan->allow_panics ? TRIAL_PANICKED : TRIAL_PASSED;
}

void trial_judge(trial_t *trial)
{
    int status = trial->child.wait_status;

    read_report(&trial->report, trial->file);
    find_sanitizer(trial);
    trial->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (trial->child.late)
        trial->end = TRIAL_LATE;
    else if (WIFSIGNALED(status))
        trial->end = TRIAL_SIGNAL;
    else if (trial->code == SKIP_STATUS)
        trial->end = TRIAL_SKIPPED;
    else if (trial->code != 0)
        trial->end = TRIAL_EXIT;
    else
        trial->end = judge_success(trial);
}

bool trial_same(const trial_t *a, const trial_t *b)
{
    return a->end == b->end && (a->code == b->code || a->end == TRIAL_LATE) &&
           strcmp(a->report.status, b->report.status) == 0 &&
           a->report.has_hash == b->report.has_hash && a->report.hash == b->report.hash &&
           !a->report.panics == !b->report.panics;
}

void trial_describe(const trial_t *trial, char *text, size_t bytes)
{
    const char *status = trial->report.status;
    char panics[32];
    const char *cause = !status_is_good(status) ? status
                        : trial->sanitizer      ? trial->sanitizer
                        : trial->report.panics  ? panics
                                                : NULL;
    double limit_s = (double)trial->plan->timeout_ns / 1e9;
    int used = 0;

    snprintf(panics, sizeof panics, "%llu panic%s",
             (unsigned long long)trial->report.panics,
             gpurt_plural(trial->report.panics, "s"));
    switch (trial->end) {
    case TRIAL_PASSED:
        snprintf(text, bytes, "passed");
        return;
    case TRIAL_SKIPPED:
        snprintf(text, bytes, "skipped (exit status %d)", trial->code);
        return;
    case TRIAL_SWALLOWED:
    case TRIAL_PANICKED:
        snprintf(text, bytes, "%s, yet the program ended with exit status 0",
                 cause ? cause : "?");
        return;
    case TRIAL_EXIT:
        used = snprintf(text, bytes, "exit status %d", trial->code);
        break;
    case TRIAL_SIGNAL:
        gpurt_exit_text(trial->child.wait_status, text, bytes);
        used = (int)strlen(text);
        break;
    case TRIAL_LATE:
        used = snprintf(text, bytes, "no end within %g s", limit_s);
        break;
    }
    if (cause && used > 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, ", %s", cause);
}

void trial_fini(trial_t *trial)
{
    child_fini(&trial->child);
    free(trial->report.text);
    trial->report.text = NULL;
}
