/* SPDX-License-Identifier: Apache-2.0 */
#include "check_print.h"

#include "json.h"
#include "plural.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAIL_LINES = 20,    /* of what the program printed */
    REPORT_LINES = 400, /* of a report of the runtime or of a sanitizer */
    SEEDS_SHOWN = 16,
};

/* ---- to people ----------------------------------------------------------------------- */
static void print_block(FILE *out, const char *title, const char *text, size_t bytes,
                        size_t max_lines)
{
    while (bytes && (text[bytes - 1] == '\n' || text[bytes - 1] == ' '))
        bytes--;
    if (bytes == 0)
        return;
    fprintf(out, "\n%s:\n", title);
    text_put_lines(out, "  ", text, bytes, max_lines);
}

static void print_counts(const hunt_t *hunt, FILE *out)
{
    fprintf(out, "%" PRIu64 " of %" PRIu64 " seed%s ran in %.1f s", hunt->ran, hunt->count,
            gpurt_plural(hunt->count, "s"), (double)hunt->wall_ns / 1e9);
    if (hunt->failing.count)
        fprintf(out, ", %zu failed", hunt->failing.count);
    if (hunt->skipped)
        fprintf(out, ", %" PRIu64 " skipped (exit status 77)", hunt->skipped);
    if (hunt->told)
        fprintf(out, ", %" PRIu64 " different schedule%s", hunt->schedules,
                gpurt_plural(hunt->schedules, "s"));
    fputs(".\n", out);
}

/* What makes the answer worth less than it seems. */
static void print_doubts(const hunt_t *hunt, FILE *out)
{
    if (hunt->passed > 0 && hunt->unreported == hunt->passed)
        fputs("The runtime reported nothing: did the program open gpurt, and close it?\n",
              out);
    else if (hunt->told > 1 && hunt->schedules == 1)
        fputs("All seeds ran the same schedule: the program has no point at which lanes "
              "could "
              "be switched.\n",
              out);
    if (hunt->not_replayable)
        fputs("The runtime says that a seed does not fix this program's schedule.\n", out);
}

/* Older sanitizers do not start where the kernel scatters addresses more widely than they
 * know. */
static void print_remedy(const trial_t *t, FILE *out)
{
    static const char sign[] = "unexpected memory mapping";

    if (memmem(t->child.err.bytes, t->child.err.used, sign, sizeof sign - 1))
        fputs("The sanitizer cannot start under this kernel's address randomisation: say "
              "`setarch -R gpurt-check ...`.\n",
              out);
    if (t->end == TRIAL_SWALLOWED)
        fputs("A program that fails on purpose can be judged by its exit status alone: "
              "--trust-exit.\n",
              out);
    if (t->end == TRIAL_PANICKED)
        fputs("A program that panics on purpose: --allow-panics.\n", out);
}

static void print_replay(const hunt_t *hunt, FILE *out)
{
    const trial_t *a = &hunt->best, *b = &hunt->replay;
    char text[256];

    if (hunt->replayed == HUNT_REPLAY_SAME && a->report.has_hash)
        fputs("\nIt replays: a second run had the same end and the same schedule.\n", out);
    else if (hunt->replayed == HUNT_REPLAY_SAME)
        fputs("\nIt replays: a second run had the same end (no schedule was told).\n", out);
    else if (hunt->replayed == HUNT_REPLAY_OTHER) {
        trial_describe(b, text, sizeof text);
        fprintf(out, "\nIt does not replay: the second run: %s%s.\n", text,
                a->report.has_hash && b->report.has_hash && a->report.hash != b->report.hash
                    ? ", another schedule"
                    : "");
        fputs(
            "Something besides the seed decides: time, other threads, addresses, files.\n",
            out);
    }
    fputs("Run it again:\n  ", out);
    trial_put_command(a, false, out);
    fputs("\nIn the debugger:\n  ", out);
    trial_put_command(a, true, out);
    fputs("\n", out);
}

static void print_failure(const hunt_t *hunt, FILE *out)
{
    const trial_t *t = &hunt->best;
    const child_tail_t *err = &t->child.err;
    char text[256];

    trial_describe(t, text, sizeof text);
    fprintf(out, "gpurt-check: seed %" PRIu64 " fails: %s\n", t->seed, text);
    fprintf(out, "Schedule %s", trial_schedule_name(t->plan, t->seed));
    if (t->report.has_hash)
        fprintf(out, ", %" PRIu64 " switch%s, hash %016" PRIx64, t->report.switches,
                gpurt_plural(t->report.switches, "es"), t->report.hash);
    fputs(". ", out);
    print_counts(hunt, out);
    print_doubts(hunt, out);
    if (hunt->failing.count > 1) {
        fputs("Failing seeds:", out);
        for (size_t i = 0; i < hunt->failing.count && i < SEEDS_SHOWN; i++)
            fprintf(out, " %" PRIu64, hunt->failing.items[i]);
        fputs(hunt->failing.count > SEEDS_SHOWN ? " ...\n" : "\n", out);
    }
    print_remedy(t, out);
    if (t->report.text)
        print_block(out, "The runtime's report", t->report.text, strlen(t->report.text),
                    REPORT_LINES);
    if (t->sanitizer)
        print_block(out, t->sanitizer, err->bytes + t->sanitizer_at,
                    err->used - t->sanitizer_at, REPORT_LINES);
    print_block(out, "Standard error", err->bytes, t->sanitizer_at, TAIL_LINES);
    print_block(out, "Standard output", t->child.out.bytes, t->child.out.used, TAIL_LINES);
    print_replay(hunt, out);
}

void check_print_text(const hunt_t *hunt, FILE *out)
{
    if (hunt->stop_signal)
        fprintf(out, "gpurt-check: stopped by signal %d; so far:\n", hunt->stop_signal);
    if (hunt->found) {
        print_failure(hunt, out);
        return;
    }
    if (hunt->ran && hunt->skipped == hunt->ran)
        fputs("gpurt-check: every run was skipped by the program. ", out);
    else
        fprintf(out, "gpurt-check: no seed from %" PRIu64 " to %" PRIu64 " fails. ",
                hunt->first, hunt->first + (hunt->ran ? hunt->ran - 1 : 0));
    print_counts(hunt, out);
    print_doubts(hunt, out);
}

/* ---- as JSON ------------------------------------------------------------------------- */
/* null where nothing is known of it. */
static void json_bytes(gpurt_json_t *j, const char *key, const char *text, size_t bytes)
{
    if (text && bytes)
        gpurt_json_bytes(j, key, text, bytes);
    else
        gpurt_json_null(j, key);
}

static void json_string(gpurt_json_t *j, const char *key, const char *text)
{
    gpurt_json_text_known(j, key, text && *text ? text : NULL);
}

static void json_command(gpurt_json_t *j, const char *key, const trial_t *trial, bool gdb)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory) {
        trial_put_command(trial, gdb, memory);
        fclose(memory);
    }
    json_bytes(j, key, text, bytes);
    free(text);
}

/* A hash is a string: a reader that keeps numbers as doubles would round it. */
static void json_schedule(gpurt_json_t *j, const trial_report_t *r)
{
    char text[32];

    json_string(j, "status", r->status);
    gpurt_json_known(j, "panics", r->written, r->panics);
    snprintf(text, sizeof text, "%016" PRIx64, r->hash);
    json_string(j, "hash", r->has_hash ? text : NULL);
    gpurt_json_known(j, "switches", r->has_hash, r->switches);
}

static void json_failure(gpurt_json_t *j, const hunt_t *hunt)
{
    static const char *const ends[] = {"passed",  "skipped",   "exit",    "signal",
                                       "timeout", "swallowed", "panicked"};
    const trial_t *t = &hunt->best;
    const child_tail_t *err = &t->child.err;
    const bool exited =
        t->end == TRIAL_EXIT || t->end == TRIAL_SWALLOWED || t->end == TRIAL_PANICKED;
    char text[256];

    trial_describe(t, text, sizeof text);
    gpurt_json_object(j, "failure");
    gpurt_json_number(j, "seed", t->seed);
    gpurt_json_text(j, "end", ends[t->end]);
    json_string(j, "what", text);
    json_string(j, "schedule", trial_schedule_name(t->plan, t->seed));
    gpurt_json_known(j, "exit_status", exited, (uint64_t)t->code);
    gpurt_json_known(j, "signal", t->end == TRIAL_SIGNAL, (uint64_t)t->code);
    json_schedule(j, &t->report);
    if (hunt->replayed == HUNT_REPLAY_NONE)
        gpurt_json_null(j, "replays");
    else
        gpurt_json_bool(j, "replays", hunt->replayed == HUNT_REPLAY_SAME);
    json_string(j, "report", t->report.text);
    json_string(j, "sanitizer", t->sanitizer);
    json_bytes(j, "stderr", err->bytes, err->used);
    json_bytes(j, "stdout", t->child.out.bytes, t->child.out.used);
    json_command(j, "replay", t, false);
    json_command(j, "gdb", t, true);
    gpurt_json_object_end(j);
}

static void json_counts(gpurt_json_t *j, const hunt_t *hunt)
{
    gpurt_json_number(j, "first", hunt->first);
    gpurt_json_number(j, "seeds", hunt->count);
    gpurt_json_number(j, "ran", hunt->ran);
    gpurt_json_number(j, "passed", hunt->passed);
    gpurt_json_number(j, "skipped", hunt->skipped);
    gpurt_json_number(j, "failed", hunt->failing.count);
    gpurt_json_number(j, "without_report", hunt->unreported);
    gpurt_json_known(j, "schedules", hunt->told > 0, hunt->schedules);
    gpurt_json_known(j, "stopped_by_signal", hunt->stop_signal != 0,
                     (uint64_t)hunt->stop_signal);
    gpurt_json_decimal(j, "wall_s", (double)hunt->wall_ns / 1e9, 3);
    gpurt_json_array(j, "failing_seeds");
    for (size_t i = 0; i < hunt->failing.count; i++)
        gpurt_json_number(j, NULL, hunt->failing.items[i]);
    gpurt_json_array_end(j);
}

void check_print_json(const hunt_t *hunt, target_tool_t tool, FILE *out)
{
    const target_t *target = hunt->plan.target;
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    j.spaced = true;
    gpurt_json_object(&j, NULL);
    gpurt_json_text(&j, "tool", target_tool_name(tool));
    json_string(&j, "program", target->path);
    json_string(&j, "note", target->note);
    json_counts(&j, hunt);
    if (hunt->found)
        json_failure(&j, hunt);
    else
        gpurt_json_null(&j, "failure");
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}
