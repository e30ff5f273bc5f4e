/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-replay - makes the calls of a traced heap again, with another heap, or by another
 * policy. */
#include "option.h"
#include "replay_print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    BAD_USE = 2,
    FAILED = 1,
    ROUNDS = 5,
    ROUNDS_MOST = 1000,
    PIECE = 1024 /* of an arena: there is one a lane, and each takes one */
};

typedef struct replay_options {
    bool json;
    uint64_t heap, pid, bytes, shards, spread, run_chunks, rounds, granule, piece;
    const char *backend, *policy;
} replay_options_t;

/* Bits of the policies, as they stand in replay_policies. */
enum {
    REGIONS = 1 << 3 | 1 << 4 | 1 << 5,
    ARENA = 1 << 7,
    HEAPS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | ARENA /* also what stands on one */
};
static const char *const use_names[] = {"heap", "cheap", "full",  "first",
                                        "best", "worst", "pools", "arena"};
GPURT_STATIC_ASSERT(sizeof use_names / sizeof use_names[0] == REPLAY_POLICIES, "each");

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(replay_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Trace",
     .name = "heap",
     .arg = "ID",
     FIELD(NUMBER, heap),
     .max = UINT32_MAX,
     .help = "replay the calls of heap ID (default: the heap with most calls)"},
    {.name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = UINT32_MAX,
     .help = "the process of that heap, in a log of several processes"},
    {.section = "Memory",
     .letter = 'p',
     .name = "policy",
     .arg = "LIST",
     FIELD(STRING, policy),
     .help =
         "allocators to try: heap, cheap, full, first, best, worst, pools, arena; several "
         "with commas, or all (default heap)"},
    {.letter = 'b',
     .name = "bytes",
     .arg = "N",
     FIELD(NUMBER, bytes),
     .help = "device memory to use, tables included (default 268435456)"},
    {.name = "shards",
     .arg = "N",
     FIELD(NUMBER, shards),
     .uses = HEAPS,
     .max = 65536,
     .help = "parts of a heap that multiprocessors allocate from (default: one each)"},
    {.name = "spread",
     .arg = "N",
     FIELD(NUMBER, spread),
     .uses = HEAPS,
     .max = 6,
     .help = "log2 of the shards of one multiprocessor"},
    {.name = "run-chunks",
     .arg = "N",
     FIELD(NUMBER, run_chunks),
     .uses = HEAPS,
     .max = 64,
     .help = "most chunks in a run, a power of two (default by size)"},
    {.name = "granule",
     .arg = "N",
     FIELD(NUMBER, granule),
     .uses = REGIONS,
     .max = 1u << 30,
     .help = "unit of a region, a power of two from 16 on (default at least 256, by size)"},
    {.name = "piece",
     .arg = "N",
     FIELD(NUMBER, piece),
     .uses = ARENA,
     .max = 1u << 30,
     .help = "bytes that an arena grows by (default 1024)"},
    {.section = "Running",
     .name = "backend",
     .arg = "NAME",
     FIELD(STRING, backend),
     .help = "cpu, cuda or auto (default auto; GPURT_BACKEND wins)"},
    {.letter = 'n',
     .name = "rounds",
     .arg = "N",
     FIELD(NUMBER, rounds),
     .min = 1,
     .max = ROUNDS_MOST,
     .help = "timed rounds; the median counts (default 5)"},
    {.section = "Output",
     .letter = 'j',
     .name = "json",
     FIELD(FLAG, json),
     .help = "one JSON object"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"TRACE",
     "A log holds a heap's calls when its heap traces (GPURT_HEAP_TRACE=1, or `trace` "
     "of its options) and its kernels were compiled with -DGPURT_HEAP_CHECKS=1 or 2. "
     "With GPURT_POLICY=block no call is lost; otherwise log and gpurt-replay print "
     "how many were. A trace is of one heap of one process; gpurt-replay also lists "
     "the others. Each process numbers its heaps itself. A number that several "
     "processes use is refused unless --pid names one."},
    {"ORDER",
     "Calls run in the order of their times, in batches of up to 4,096 that run at the "
     "same time. An object's free comes in a later batch than its request. A trace may "
     "lack calls: `odd` counts the calls that do not fit."},
    {"POLICIES",
     "heap: a heap, as gpurt_alloc. cheap, full: a heap with cheap or full checks.\n\n"
     "first, best, worst: a region that places blocks by that fit. Without --granule it "
     "has the granules of a region of that size.\n\n"
     "pools: pockets of threads, magazines of warps, racks of blocks above a heap. A lane "
     "makes up to eight calls one after the other, so that pools have something to keep. "
     "They return it after each batch.\n\n"
     "arena: an arena for each lane of a batch, which grows from a heap. A free does "
     "nothing. Each batch begins with a mark, up to 32 of them nested. Arenas go back to a "
     "mark once nothing younger lives, which no program could know. So `waste` is the "
     "least that frees without effect cost."},
    {"CHECKED",
     "One round is not timed. It writes every byte of each object, and reads it before "
     "the free or at the end. gpurt-replay fails if objects share a byte, are not "
     "aligned or cannot be freed."},
    {"FIGURES",
     "bytes: requested, of served requests. peak used: most bytes of chunks or "
     "granules in use, sampled after every 64th part of the batches. waste: the part "
     "of that which nobody requested. fragmented: the part of free memory outside the "
     "longest row, at the end. time: all batches with their launches, median of the "
     "rounds; policies take turns. of heap: time over the heap's, if it is among them."},
    {"EXIT STATUS",
     "0 all calls ran; 1 the log cannot be read, holds no such trace or several, or a "
     "kernel or a check failed; 2 wrong use."},
    {"FIELDS",
     "--json: heap, pid (null: not known), allocs, alloc_bytes, frees, left, refused_then, "
     "odd, lost, "
     "peak_live_bytes, trace_ns, heaps (all to choose from: heap, pid, calls), back_end, "
     "bytes, batches, rounds, and for each of "
     "policies: "
     "policy, served, served_bytes, refused, looked_at, peak_used_bytes, peak_asked_bytes, "
     "waste_percent, free_bytes, longest_free_bytes, fragmented_percent, got (by thread, "
     "warp, block, heap; of pools), time_ns, call_ns, of_heap (null: no heap)."},
    {"EXAMPLES", "  GPURT_HEAP_TRACE=1 GPURT_POLICY=block gpurt-record -o run.gplog ./app\n"
                 "  gpurt-replay run.gplog\n"
                 "  gpurt-replay --policy heap,best,arena run.gplog\n"
                 "  gpurt-replay --bytes 67108864 --shards 8 --json run.gplog"},
    {0},
};

/* ---- policies ------------------------------------------------------------------------ */

/* "heap,best" or "all". Returns: false when that is not a list of policies, each once. */
static bool policies_take(replay_report_t *r, const char *list)
{
    bool all = strcmp(list, "all") == 0;

    for (uint32_t i = 0; all && i < REPLAY_POLICIES; i++)
        r->lines[r->count++].policy = &replay_policies[i];
    while (!all) {
        size_t length = strcspn(list, ",");
        const replay_policy_t *policy = replay_policy_find(list, length);

        for (uint32_t i = 0; i < r->count; i++)
            policy = r->lines[i].policy == policy ? NULL : policy;
        if (!policy)
            return false;
        r->lines[r->count++].policy = policy;
        if (!list[length])
            break;
        list += length + 1;
    }
    return true;
}

static const char *policies_asked(const replay_options_t *o)
{
    return o->policy ? o->policy : "heap";
}

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    replay_report_t r = {.count = 0};
    uint32_t bits = 0;

    (void)operands;
    (void)count;
    if (!policies_take(&r, policies_asked(values)))
        return 0;
    for (uint32_t i = 0; i < r.count; i++)
        bits |= 1u << (r.lines[i].policy - replay_policies);
    return bits;
}

static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_program_t program = {
    .name = "gpurt-replay",
    .summary = "make the calls of a traced heap again, by another policy",
    .synopsis = "[OPTION...] FILE",
    .description =
        "Reads the requests and frees of a heap from a log and makes them again: on a heap "
        "of any size and shape, in a region, from pools or in arenas, on a GPU or on the "
        "CPU. Prints what was served, the memory used and the time.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .bad_status = BAD_USE,
};

/* ---- rounds -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* A round that looks, which warms up, too; then policies take turns. */
static gpurt_status_t rounds_run(replay_run_t *run, replay_report_t *r, gpurt_error_t *err)
{
    static uint64_t times[REPLAY_POLICIES][ROUNDS_MOST];
    gpurt_status_t st = GPURT_OK;

    for (uint32_t k = 0; k < r->count && st == GPURT_OK; k++)
        st = replay_round_looked(run, r->lines[k].policy, NULL, &r->lines[k].looked, err);
    for (uint32_t i = 0; i < r->rounds; i++)
        for (uint32_t k = 0; k < r->count && st == GPURT_OK; k++) {
            replay_outcome_t out = {0};

            st = replay_round(run, r->lines[k].policy, &out, err);
            times[k][i] = out.time_ns;
        }
    for (uint32_t k = 0; k < r->count && st == GPURT_OK; k++) {
        qsort(times[k], r->rounds, sizeof times[k][0], by_value);
        r->lines[k].time_ns = times[k][r->rounds / 2];
    }
    return st;
}

static gpurt_status_t replay_all(replay_report_t *r, const char *backend,
                                 gpurt_error_t *err)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    replay_run_t run = {0};
    gpurt_t *rt = NULL;
    gpurt_status_t st;

    if (backend && strcasecmp(backend, "auto") != 0)
        options.backend =
            strcasecmp(backend, "cpu") == 0 ? GPURT_BACKEND_CPU : GPURT_BACKEND_CUDA;
    st = gpurt_open(&options, &rt, err);
    if (st == GPURT_OK)
        st = replay_run_open(&run, rt, r->trace, &r->shape, err);
    r->info = run.info;
    if (st == GPURT_OK)
        st = rounds_run(&run, r, err);
    replay_run_close(&run);
    gpurt_close(rt, NULL);
    return st;
}

/* ---- the program --------------------------------------------------------------------- */

static int complain(const gpurt_error_t *err)
{
    gpurt_option_refuse(&program, "%s", err->text);
    return FAILED;
}

/* Calls that are not here make another trace. Returns: FAILED where some may be missing. */
static int damage_status(const gpurt_log_t *log, const char *path)
{
    char text[GPURT_DAMAGE_TEXT];
    gpurt_log_summary_t sum;

    gpurt_log_summary(log, &sum);
    if (!gpurt_log_damage_text(&sum, text))
        return 0;
    gpurt_option_refuse(&program, "%s: %s", path, text);
    return FAILED;
}

static int run(const char *path, const replay_options_t *o, replay_report_t *r,
               replay_trace_t *trace)
{
    gpurt_error_t err = {0};
    const replay_wish_t wish = {(uint32_t)o->heap, (uint32_t)o->pid};
    static replay_heaps_t heaps;
    replay_heap_t heap;
    gpurt_log_t *log;
    gpurt_status_t st;
    int status;

    if (gpurt_log_open_walked(path, &log, &err) != GPURT_OK)
        return complain(&err);
    replay_heaps_read(log, &wish, &heaps);
    r->heaps = &heaps;
    st = replay_heaps_choose(&heaps, &wish, &heap, &err);
    if (st == GPURT_OK)
        st = replay_trace_read(log, &heap, trace, &err);
    status = damage_status(log, path);
    gpurt_log_close(log);
    if (st == GPURT_OK)
        st = replay_all(r, o->backend, &err);
    if (st == GPURT_OK)
        (o->json ? replay_print_json : replay_print_text)(r);
    replay_trace_free(trace);
    if (st != GPURT_OK)
        return complain(&err);
    return gpurt_option_end(&program, status, FAILED);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"auto", "cpu", "cuda"};
    replay_options_t o = {0};
    replay_trace_t trace = {.calls = NULL};
    replay_report_t report = {.trace = &trace};
    int operands, status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    bool known = !o.backend;

    if (status >= 0)
        return status;
    for (size_t i = 0; !known && i < 3; i++)
        known = strcasecmp(o.backend, words[i]) == 0;
    if (operands != 1 || !known)
        return gpurt_option_refuse(&program, known ? "say one log file"
                                                   : "--backend: say auto, cpu or cuda");
    if (!policies_take(&report, policies_asked(&o)))
        return gpurt_option_refuse(&program,
                                   "--policy: say heap, cheap, full, first, best, worst, "
                                   "pools or arena, each once, or all");
    report.shape = (replay_shape_t){.bytes = o.bytes ? o.bytes : 256u << 20,
                                    .shards = (uint32_t)o.shards,
                                    .spread = (uint32_t)o.spread,
                                    .run_chunks = (uint32_t)o.run_chunks,
                                    .granule = o.granule,
                                    .piece_bytes = o.piece ? (uint32_t)o.piece : PIECE};
    report.rounds = o.rounds ? (uint32_t)o.rounds : ROUNDS;
    /* The memory is measured, not watched. */
    unsetenv("GPURT_HEAP_CHECKS");
    unsetenv("GPURT_HEAP_TRACE");
    return run(argv[1], &o, &report, &trace);
}
