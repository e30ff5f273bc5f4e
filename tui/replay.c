/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-replay - makes the calls of a traced heap again, with another heap. */
#include "activity_text.h"
#include "option.h"
#include "replay_trace.h"

#include <gpurt/heap.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    BAD_USE = 2,
    FAILED = 1,
    THREADS = 128,
    LOOKS = 64, /* at the heap, in the round that is not timed */
    ROUNDS = 5
};

typedef struct replay_options {
    bool json;
    uint64_t heap, bytes, shards, spread, run_chunks, rounds;
    const char *backend;
} replay_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(replay_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Trace",
     .name = "heap",
     .arg = "ID",
     FIELD(NUMBER, heap),
     .max = UINT32_MAX,
     .help = "whose calls (default: of the heap with most)"},
    {.section = "Heap",
     .letter = 'b',
     .name = "bytes",
     .arg = "N",
     FIELD(NUMBER, bytes),
     .help = "of device memory, tables included (default 268435456)"},
    {.name = "shards",
     .arg = "N",
     FIELD(NUMBER, shards),
     .max = 65536,
     .help = "parts that multiprocessors allocate from (default: one each)"},
    {.name = "spread",
     .arg = "N",
     FIELD(NUMBER, spread),
     .max = 6,
     .help = "log2 of the shards of one multiprocessor"},
    {.name = "run-chunks",
     .arg = "N",
     FIELD(NUMBER, run_chunks),
     .max = 64,
     .help = "longest run, a power of two (default by size)"},
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
     .max = 1000,
     .help = "timed ones, of which the median counts (default 5)"},
    {.section = "Output",
     .letter = 'j',
     .name = "json",
     FIELD(FLAG, json),
     .help = "one JSON object"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"TRACE",
     "A program's calls are in its log when its heap traces (GPURT_HEAP_TRACE=1, or "
     "`trace` "
     "of its options) and its kernels were compiled with -DGPURT_HEAP_CHECKS=1 or 2. With "
     "GPURT_POLICY=block none is lost; otherwise the log says how many were, and so does "
     "gpurt-replay."},
    {"ORDER",
     "Calls are made again in the order of their times, in batches of up to 4,096 that run "
     "at "
     "the same time; an object's free comes in a later batch than its request. A trace "
     "that "
     "lacks calls is made again without them: `odd` counts those that do not fit."},
    {"FIGURES",
     "peak: most bytes that were live at a time, as asked for, and most bytes of chunks "
     "that "
     "the heap had in use, looked at after every 64th part of the batches. fragmented: how "
     "much of the free chunks was not in the longest row, at the end. time: of all batches "
     "with their launches, median of the rounds."},
    {"EXIT STATUS",
     "0 all calls were made; 1 the log cannot be read or holds no trace, or a "
     "kernel failed; 2 wrong use."},
    {"FIELDS",
     "--json: heap, allocs, frees, left, refused_then, odd, lost, peak_live_bytes, "
     "trace_ns, back_end, heap_bytes, served, served_bytes, refused, "
     "peak_chunk_bytes, free_chunks, largest_row, fragmented_percent, batches, "
     "rounds, time_ns, call_ns."},
    {"EXAMPLES",
     "  GPURT_HEAP_TRACE=1 GPURT_POLICY=block gpurt-record -o run.gplog -- ./app\n"
     "  gpurt-replay run.gplog\n"
     "  gpurt-replay --bytes 67108864 --shards 8 --json run.gplog"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-replay",
    .summary = "make the calls of a traced heap again, with another heap",
    .synopsis = "[OPTION...] FILE",
    .description =
        "Reads the requests and frees of a heap out of a log, makes them again on a heap "
        "of "
        "the size and shape that is asked for, on a GPU or on the CPU, and says what was "
        "served, how much memory that took, and how long.",
    .options = rows,
    .texts = texts,
    .bad_status = BAD_USE,
};

/* What came of it. */
typedef struct result {
    replay_sums_t sums; /* of one round */
    gpurt_heap_stats_t end;
    uint64_t peak_chunks, time_ns;
    uint32_t rounds;
    gpurt_info_t info;
} result_t;

/* Owner: main. */
typedef struct replay {
    replay_trace_t trace;
    gpurt_t *rt;
    gpurt_heap_options_t options;
    struct replay_args args;
} replay_t;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- rounds -------------------------------------------------------------------------- */

static gpurt_status_t batch_run(replay_t *r, uint32_t batch, gpurt_error_t *err)
{
    gpurt_launch_t launch = {.block = {THREADS, 1, 1}};

    r->args.begin = r->trace.batches[batch];
    r->args.end = r->trace.batches[batch + 1];
    launch.grid.x = (r->args.end - r->args.begin + THREADS - 1) / THREADS;
    if (r->args.end == r->args.begin)
        return GPURT_OK;
    return gpurt_launch(r->rt, &launch, replay_step, &r->args, err);
}

static gpurt_status_t look(replay_t *r, result_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_sync(r->rt, err);
    uint64_t used;

    if (st == GPURT_OK)
        st = gpurt_heap_stats(r->rt, &r->args.heap, &out->end, err);
    used = out->end.chunks - out->end.free_chunks;
    out->peak_chunks = used > out->peak_chunks ? used : out->peak_chunks;
    return st;
}

/* All calls on a fresh heap. looks: it is looked at so often, and not timed then. */
static gpurt_status_t round_run(replay_t *r, uint32_t looks, result_t *out,
                                uint64_t *time_ns, gpurt_error_t *err)
{
    uint32_t every = looks ? r->trace.batch_count / looks + 1 : UINT32_MAX;
    gpurt_status_t st = gpurt_heap_create(r->rt, &r->options, &r->args.heap, err), last;
    uint64_t begin;

    if (st != GPURT_OK)
        return st;
    st = gpurt_fill(r->rt, GPURT_STREAM_DEFAULT, r->args.objects, 0,
                    sizeof(uint64_t) * (size_t)r->trace.handles, err);
    if (st == GPURT_OK)
        st = gpurt_fill(r->rt, GPURT_STREAM_DEFAULT, r->args.sums, 0, sizeof *r->args.sums,
                        err);
    if (st == GPURT_OK)
        st = gpurt_sync(r->rt, err);
    begin = now_ns();
    for (uint32_t i = 0; i < r->trace.batch_count && st == GPURT_OK; i++) {
        st = batch_run(r, i, err);
        if (st == GPURT_OK && looks && i % every == 0)
            st = look(r, out, err);
    }
    if (st == GPURT_OK)
        st = gpurt_sync(r->rt, err);
    *time_ns = now_ns() - begin;
    if (st == GPURT_OK && looks)
        st = look(r, out, err);
    if (st == GPURT_OK)
        st = gpurt_copy(r->rt, GPURT_STREAM_DEFAULT, &out->sums, r->args.sums,
                        sizeof out->sums, err);
    if (st == GPURT_OK)
        st = gpurt_sync(r->rt, err);
    if (st == GPURT_OK)
        st = gpurt_heap_check(r->rt, &r->args.heap, err);
    last = gpurt_heap_destroy(r->rt, &r->args.heap, st == GPURT_OK ? err : NULL);
    return st == GPURT_OK ? last : st;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static gpurt_status_t rounds_run(replay_t *r, uint32_t rounds, result_t *out,
                                 gpurt_error_t *err)
{
    uint64_t times[1000], unused;
    gpurt_status_t st = round_run(r, LOOKS, out, &unused, err); /* warms up, too */

    out->rounds = rounds;
    for (uint32_t i = 0; i < rounds && st == GPURT_OK; i++)
        st = round_run(r, 0, out, &times[i], err);
    if (st != GPURT_OK)
        return st;
    qsort(times, rounds, sizeof times[0], by_value);
    out->time_ns = times[rounds / 2];
    return st;
}

static gpurt_status_t memory_make(replay_t *r, gpurt_error_t *err)
{
    size_t calls = sizeof *r->trace.calls * (size_t)r->trace.call_count;
    void *at = NULL;
    gpurt_status_t st = gpurt_mem_create(r->rt, calls, &at, err);

    r->args.calls = (const replay_call_t *)at;
    if (st == GPURT_OK)
        st = gpurt_copy(r->rt, GPURT_STREAM_DEFAULT, at, r->trace.calls, calls, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(r->rt, sizeof(uint64_t) * (size_t)r->trace.handles,
                              (void **)&r->args.objects, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(r->rt, sizeof *r->args.sums, (void **)&r->args.sums, err);
    return st;
}

static gpurt_status_t replay_run(replay_t *r, const replay_options_t *o, result_t *out,
                                 gpurt_error_t *err)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_status_t st;

    if (o->backend && strcasecmp(o->backend, "auto") != 0)
        options.backend =
            strcasecmp(o->backend, "cpu") == 0 ? GPURT_BACKEND_CPU : GPURT_BACKEND_CUDA;
    st = gpurt_open(&options, &r->rt, err);
    if (st == GPURT_OK)
        st = gpurt_info(r->rt, &out->info);
    if (st == GPURT_OK)
        st = memory_make(r, err);
    if (st == GPURT_OK)
        st = rounds_run(r, o->rounds ? (uint32_t)o->rounds : ROUNDS, out, err);
    gpurt_mem_destroy(r->rt, (void *)(uintptr_t)r->args.calls);
    gpurt_mem_destroy(r->rt, r->args.objects);
    gpurt_mem_destroy(r->rt, r->args.sums);
    gpurt_close(r->rt, NULL);
    return st;
}

/* ---- telling ------------------------------------------------------------------------- */

static int fragmented(const gpurt_heap_stats_t *s)
{
    return s->free_chunks ? 100 - (int)((uint64_t)s->largest_row * 100 / s->free_chunks)
                          : 0;
}

static double call_ns(const replay_t *r, const result_t *out)
{
    return r->trace.call_count ? (double)out->time_ns / r->trace.call_count : 0;
}

static void print_plain(const replay_t *r, const result_t *out)
{
    const replay_trace_t *t = &r->trace;
    char a[24], b[24];

    printf("trace      heap %u: %llu requests of %s, %llu frees, %llu left, in %s\n",
           t->heap, (unsigned long long)t->allocs, activity_bytes(t->bytes, a),
           (unsigned long long)t->frees, (unsigned long long)t->left,
           activity_time(t->span_ns, b));
    if (t->odd || t->lost)
        printf(
            "           %llu calls do not fit; the log lost %llu messages: the trace has "
            "holes\n",
            (unsigned long long)t->odd, (unsigned long long)t->lost);
    printf("heap       %s, %s\n", activity_bytes(r->options.bytes, a), out->info.name);
    printf("served     %llu of %llu requests, %s; refused %llu, then %llu\n",
           (unsigned long long)out->sums.xserved, (unsigned long long)t->allocs,
           activity_bytes(out->sums.xbytes, a), (unsigned long long)out->sums.xrefused,
           (unsigned long long)t->refused);
    printf("peak       %s asked for, %s of chunks\n", activity_bytes(t->peak_bytes, a),
           activity_bytes(out->peak_chunks * GPURT_CHUNK_BYTES, b));
    printf("at end     %u chunks free, %u in a row, fragmented %d%%\n",
           out->end.free_chunks, out->end.largest_row, fragmented(&out->end));
    printf("time       %s in %u batches, %.1f ns a call, median of %u rounds\n",
           activity_time(out->time_ns, a), t->batch_count, call_ns(r, out), out->rounds);
}

static void print_json(const replay_t *r, const result_t *out)
{
    const replay_trace_t *t = &r->trace;

    printf("{\"heap\":%u,\"allocs\":%llu,\"alloc_bytes\":%llu,\"frees\":%llu,\"left\":%llu,"
           "\"refused_then\":%llu,\"odd\":%llu,\"lost\":%llu,\"peak_live_bytes\":%llu,"
           "\"trace_ns\":%llu",
           t->heap, (unsigned long long)t->allocs, (unsigned long long)t->bytes,
           (unsigned long long)t->frees, (unsigned long long)t->left,
           (unsigned long long)t->refused, (unsigned long long)t->odd,
           (unsigned long long)t->lost, (unsigned long long)t->peak_bytes,
           (unsigned long long)t->span_ns);
    printf(",\"back_end\":\"%s\",\"heap_bytes\":%llu,\"served\":%llu,\"served_bytes\":%llu,"
           "\"refused\":%llu,\"peak_chunk_bytes\":%llu,\"free_chunks\":%u,"
           "\"largest_row\":%u,\"fragmented_percent\":%d",
           out->info.backend == GPURT_BACKEND_CUDA ? "cuda" : "cpu",
           (unsigned long long)r->options.bytes, (unsigned long long)out->sums.xserved,
           (unsigned long long)out->sums.xbytes, (unsigned long long)out->sums.xrefused,
           (unsigned long long)out->peak_chunks * GPURT_CHUNK_BYTES, out->end.free_chunks,
           out->end.largest_row, fragmented(&out->end));
    printf(",\"batches\":%u,\"rounds\":%u,\"time_ns\":%llu,\"call_ns\":%.2f}\n",
           t->batch_count, out->rounds, (unsigned long long)out->time_ns, call_ns(r, out));
}

/* ---- the program --------------------------------------------------------------------- */

static int complain(const gpurt_error_t *err)
{
    gpurt_option_refuse(&program, "%s", err->text);
    return FAILED;
}

static int run(const char *path, const replay_options_t *o)
{
    replay_t r = {.options = {.struct_size = sizeof r.options,
                              .bytes = o->bytes ? o->bytes : 256u << 20,
                              .shards = (uint32_t)o->shards,
                              .spread = (uint32_t)o->spread,
                              .run_chunks = (uint32_t)o->run_chunks}};
    gpurt_error_t err = {0};
    result_t out = {0};
    gpurt_log_t *log;
    gpurt_status_t st;

    if (gpurt_log_open(path, &log, &err) != GPURT_OK)
        return complain(&err);
    st = replay_trace_read(log, (uint32_t)o->heap, &r.trace, &err);
    gpurt_log_close(log);
    if (st == GPURT_OK)
        st = replay_run(&r, o, &out, &err);
    if (st == GPURT_OK)
        (o->json ? print_json : print_plain)(&r, &out);
    replay_trace_free(&r.trace);
    if (st != GPURT_OK)
        return complain(&err);
    return fflush(stdout) == 0 ? 0 : FAILED;
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"auto", "cpu", "cuda"};
    replay_options_t options = {0};
    int operands, status = gpurt_option_parse(&program, argc, argv, &options, &operands);
    bool known = !options.backend;

    if (status >= 0)
        return status;
    for (size_t i = 0; !known && i < 3; i++)
        known = strcasecmp(options.backend, words[i]) == 0;
    if (operands != 1 || !known)
        return gpurt_option_refuse(&program, known ? "say one log file"
                                                   : "--backend: say auto, cpu or cuda");
    /* The heap is measured, not watched. */
    unsetenv("GPURT_HEAP_CHECKS");
    unsetenv("GPURT_HEAP_TRACE");
    return run(argv[1], &options);
}
