/* SPDX-License-Identifier: Apache-2.0 */
/* bench_atomic: what an atomic costs. Latency in shared memory, in the L2 and in memory of the host;
 * what a red keeps its warp for; what an addition costs a lane when the lanes of a warp share one; k
 * words as one; vectors of floats. Beside each stands CUDA's own, or what it saves.
 *
 * Rows of the L2: `near` is the nearest of 64 words, `any` their median, `far` the farthest. Each sum
 * is checked. On the CPU back end, GPURT_BACKEND=cpu, it shows that the kernels are right; its
 * figures mean nothing. */
#include "bench_atomic.h"

#include "rows.h"

#include <gpurt/gpurt.h>

#include <string.h>

enum {
    REPEATS = 21,
    LINE = 16, /* words of 64 bits */
    MEMORY = 1 << 26
};

typedef const gpurt_kernel_t *kernel_t;

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static uint64_t *memory, *host;
static struct bench_atomic_args args;
static bool small; /* the CPU: less of all */

static void need(gpurt_status_t st, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_atomic: %s: %s\n", what, err.text);
    exit(1);
}

static void need_sum(double found, double wanted, const char *what)
{
    if (found == wanted)
        return;
    fprintf(stderr, "bench_atomic: %s: %.0f in the words, not %.0f\n", what, found, wanted);
    exit(1);
}

static void zero(size_t bytes)
{
    need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, bytes, &err), "fill");
}

static void run(kernel_t kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};

    need(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err), "launch");
}

static void fetch(void *to, const void *from, size_t bytes)
{
    need(gpurt_copy(rt, GPURT_STREAM_DEFAULT, to, from, bytes, &err), "copy");
    need(gpurt_sync(rt, &err), "sync");
}

/* ---- latency --------------------------------------------------------------------------- */
typedef struct latency {
    double nearest, any, farthest;
} latency_t;

static latency_t latency(kernel_t kernel, uint64_t *words, uint32_t count)
{
    uint64_t cycles[BENCH_ATOMIC_WORDS];
    double nearest[REPEATS], any[REPEATS], farthest[REPEATS], each[BENCH_ATOMIC_WORDS];
    latency_t l;

    args.words = words;
    args.count = count;
    args.apart = BENCH_ATOMIC_APART * LINE;
    args.rounds = small ? 8 : words == host ? 32 : 256;
    for (uint32_t r = 0; r < REPEATS; r++) {
        run(kernel, 1, 32);
        fetch(cycles, args.cycles, count * sizeof *cycles);
        for (uint32_t w = 0; w < count; w++)
            each[w] = (double)cycles[w] / args.rounds;
        any[r] = rows_median(each, count); /* sorts */
        nearest[r] = each[0];
        farthest[r] = each[count - 1];
    }
    l.nearest = rows_median(nearest, REPEATS);
    l.any = rows_median(any, REPEATS);
    l.farthest = rows_median(farthest, REPEATS);
    return l;
}

static void latency_row(const char *name, kernel_t ours, kernel_t bare)
{
    bool is_host = strstr(name, "host"), is_own = strstr(name, "shared");
    uint64_t *words = is_host ? host : memory;
    uint32_t count = is_host || is_own ? 1 : BENCH_ATOMIC_WORDS;
    latency_t a = latency(ours, words, count), b = latency(bare, words, count);
    char row[64];

    if (count == 1) {
        rows_add("bench_atomic", name, a.any, "cycles", "cuda", b.any);
        return;
    }
    snprintf(row, sizeof row, "%s_near", name);
    rows_add("bench_atomic", row, a.nearest, "cycles", "cuda", b.nearest);
    rows_add("bench_atomic", name, a.any, "cycles", "cuda", b.any);
    snprintf(row, sizeof row, "%s_far", name);
    rows_add("bench_atomic", row, a.farthest, "cycles", "cuda", b.farthest);
}

static void latencies(void)
{
    zero(MEMORY);
    memset(host, 0, 4096);
#define LATENCY_ROW(name) \
    latency_row(#name, &gpurt_kernel_bench_##name, &gpurt_kernel_bench_bare_##name);
    if (small || info.compute_major >= 9) {
        BENCH_LATENCIES(LATENCY_ROW)
    }
    latency_row("add_memory_any_space", &gpurt_kernel_bench_add_generic,
                &gpurt_kernel_bench_bare_add_memory);
}

/* ---- without an answer ----------------------------------------------------------------- */
typedef struct issue {
    double burst, stretch; /* cycles a red */
} issue_t;

/* Of one warp. apart: elements from lane to lane; 0: all at one word. */
static issue_t issue(kernel_t kernel, uint32_t apart)
{
    double burst[REPEATS], stretch[REPEATS];
    uint64_t cycles[2];
    issue_t i;

    args.words = memory;
    args.apart = apart;
    args.rounds = small ? 4 : 512;
    for (uint32_t r = 0; r < REPEATS; r++) {
        zero(4096);
        run(kernel, 1, 32);
        fetch(cycles, args.cycles, sizeof cycles);
        burst[r] = (double)cycles[0] / args.rounds / BENCH_ATOMIC_BURST;
        stretch[r] = (double)cycles[1] / args.rounds;
    }
    i.burst = rows_median(burst, REPEATS);
    i.stretch = rows_median(stretch, REPEATS);
    return i;
}

static void issue_row(const char *name, issue_t ours, const char *peer, issue_t theirs)
{
    char row[64];

    snprintf(row, sizeof row, "%s_issue", name);
    rows_add("bench_atomic", row, ours.burst, "cycles", peer, theirs.burst);
    snprintf(row, sizeof row, "%s_stretch", name);
    rows_add("bench_atomic", row, ours.stretch, "cycles", peer, theirs.stretch);
}

static void issues(void)
{
    uint32_t word, each;
    issue_t one = issue(&gpurt_kernel_bench_red_u32, 0), own, f32;

    fetch(&word, memory, sizeof word);
    each = args.rounds * (BENCH_ATOMIC_BURST + 1) * 32;
    need_sum(word, each, "red_u32");
    issue_row("red_one_word", one, "cuda", issue(&gpurt_kernel_bench_bare_red_u32, 0));
    own = issue(&gpurt_kernel_bench_red_u32, 1);
    issue_row("red_own_words", own, "cuda", issue(&gpurt_kernel_bench_bare_red_u32, 1));
    f32 = issue(&gpurt_kernel_bench_red_f32, 1);
    issue_row("red_f32", f32, "red_u32", own);
    issue_row("red_f32x4", issue(&gpurt_kernel_bench_red_f32x4, 1), "red_f32", f32);
    issue_row("red_f16x2", issue(&gpurt_kernel_bench_red_f16x2, 1), "red_f32", f32);
}

/* ---- shared among the lanes of a warp --------------------------------------------------- */
/* Cycles of a multiprocessor an addition of one lane. apart: 0, one word for all blocks; else one a
 * block. word_bytes: of the counter. */
static double many(const char *what, kernel_t kernel, uint32_t blocks, uint32_t threads,
                   uint32_t apart, uint32_t word_bytes)
{
    double samples[REPEATS], sum;
    uint64_t cycles, word = 0;

    args.words = memory;
    args.apart = apart;
    args.rounds = small ? 4 : 64;
    for (uint32_t r = 0; r < REPEATS; r++) {
        zero((size_t)(blocks * apart + LINE) * 8);
        run(kernel, blocks, threads);
        fetch(&cycles, args.cycles, sizeof cycles);
        fetch(&word, memory, word_bytes);
        sum = (double)args.rounds * threads * (apart ? 1 : blocks);
        need_sum((double)word, sum, what);
        samples[r] = (double)cycles / args.rounds / threads;
    }
    return rows_median(samples, REPEATS);
}

/* One warp alone; a full multiprocessor; all of them on a word each; all of them on one word. */
static void many_rows(const char *name, kernel_t kernel, uint32_t word_bytes,
                      const char *peer, kernel_t theirs, uint32_t their_bytes)
{
    const struct {
        const char *name;
        uint32_t blocks, threads, apart;
    } shapes[] = {{"warp", 1, 32, LINE},
                  {"block", 1, 1024, LINE},
                  {"grid", info.sm_count, 1024, LINE * 2},
                  {"grid_one_word", info.sm_count, 1024, 0}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char row[64];

        snprintf(row, sizeof row, "%s_%s", name, shapes[i].name);
        rows_add("bench_atomic", row,
                 many(name, kernel, shapes[i].blocks, shapes[i].threads, shapes[i].apart,
                      word_bytes),
                 "cycles", peer,
                 many(peer, theirs, shapes[i].blocks, shapes[i].threads, shapes[i].apart,
                      their_bytes));
    }
}

static void aggregated(void)
{
    many_rows("lanes_red", &gpurt_kernel_bench_lanes_red, 4, "cuda",
              &gpurt_kernel_bench_bare_lanes_red, 4);
    many_rows("lanes_add", &gpurt_kernel_bench_lanes_add, 4, "cuda",
              &gpurt_kernel_bench_bare_lanes_add, 4);
    many_rows("uniform_red", &gpurt_kernel_bench_uniform_red, 4, "cuda",
              &gpurt_kernel_bench_bare_uniform_red, 4);
    many_rows("uniform_add", &gpurt_kernel_bench_uniform_add, 4, "cuda",
              &gpurt_kernel_bench_bare_uniform_add, 4);
    many_rows("warps_red", &gpurt_kernel_bench_warps_red, 4, "lanes_red",
              &gpurt_kernel_bench_lanes_red, 4);
    many_rows("warps_ticket", &gpurt_kernel_bench_warps_ticket, 4, "lanes_add",
              &gpurt_kernel_bench_lanes_add, 4);
    many_rows("tally_red", &gpurt_kernel_bench_tally_red, 8, "warps_red",
              &gpurt_kernel_bench_warps_red, 4);
    many_rows("tally_ticket", &gpurt_kernel_bench_tally_ticket, 8, "warps_ticket",
              &gpurt_kernel_bench_warps_ticket, 4);
}

/* ---- several words as one -------------------------------------------------------------- */
static double kcas_alone(kernel_t kernel, uint32_t words)
{
    double samples[REPEATS];
    uint64_t cycles, word;

    args.words = memory;
    args.count = words;
    args.apart = 2 * LINE;
    args.rounds = small ? 4 : 64;
    for (uint32_t r = 0; r < REPEATS; r++) {
        zero(4096);
        run(kernel, 1, 32);
        fetch(&cycles, args.cycles, sizeof cycles);
        fetch(&word, memory + (size_t)(words - 1) * args.apart, sizeof word);
        need_sum((double)word, args.rounds, "k-CAS");
        samples[r] = (double)cycles / args.rounds;
    }
    return rows_median(samples, REPEATS);
}

/* One lane of each multiprocessor wants the same words. Returns: M done a second. */
static double kcas_contended(kernel_t kernel, uint32_t words)
{
    double samples[REPEATS];
    gpurt_event_t begin, end;
    uint64_t word, ns;

    args.words = memory;
    args.count = words;
    args.apart = 2 * LINE;
    args.rounds = small ? 2 : 4;
    need(gpurt_event_create(rt, &begin, &err), "event");
    need(gpurt_event_create(rt, &end, &err), "event");
    for (uint32_t r = 0; r < REPEATS; r++) {
        zero(4096);
        need(gpurt_event_record(rt, begin, GPURT_STREAM_DEFAULT), "event");
        run(kernel, info.sm_count, 32);
        need(gpurt_event_record(rt, end, GPURT_STREAM_DEFAULT), "event");
        fetch(&word, memory + (size_t)(words - 1) * args.apart, sizeof word);
        need(gpurt_event_elapsed_ns(rt, begin, end, &ns, &err), "event");
        need_sum((double)word, (double)args.rounds * info.sm_count, "k-CAS, contended");
        samples[r] = (double)args.rounds * info.sm_count * 1000.0 / (double)(ns ? ns : 1);
    }
    gpurt_event_destroy(rt, begin);
    gpurt_event_destroy(rt, end);
    return rows_median(samples, REPEATS);
}

static void several(void)
{
    double one = kcas_contended(&gpurt_kernel_bench_cas_contended, 1);

    for (uint32_t words = 2; words <= GPURT_KCAS_WORDS; words *= 2) {
        char row[64];

        snprintf(row, sizeof row, "kcas_%u", words);
        rows_add("bench_atomic", row, kcas_alone(&gpurt_kernel_bench_kcas, words), "cycles",
                 "cas_in_turn", kcas_alone(&gpurt_kernel_bench_cas_in_turn, words));
    }
    for (uint32_t words = 2; words <= GPURT_KCAS_WORDS; words *= 2) {
        char row[64];

        snprintf(row, sizeof row, "kcas_%u_contended", words);
        rows_add("bench_atomic", row,
                 kcas_contended(&gpurt_kernel_bench_kcas_contended, words), "M/s",
                 "cas_one_word", one);
    }
}

/* ---- through memory -------------------------------------------------------------------- */
/* Returns: G elements a second; of an element `bytes`, `per` of them an addition. */
static double array(kernel_t kernel, uint32_t bytes, uint32_t per)
{
    const uint32_t blocks = info.sm_count * (small ? 1 : 2), threads = small ? 32 : 1024;
    double samples[REPEATS];
    gpurt_event_t begin, end;
    uint64_t ns, adds;

    args.words = memory;
    args.rounds = small ? 2 : (1u << 25) / (blocks * threads * bytes * per); /* in the L2 */
    adds = (uint64_t)args.rounds * blocks * threads;
    need(gpurt_event_create(rt, &begin, &err), "event");
    need(gpurt_event_create(rt, &end, &err), "event");
    zero(MEMORY);
    for (uint32_t r = 0; r < REPEATS; r++) {
        need(gpurt_event_record(rt, begin, GPURT_STREAM_DEFAULT), "event");
        run(kernel, blocks, threads);
        need(gpurt_event_record(rt, end, GPURT_STREAM_DEFAULT), "event");
        need(gpurt_sync(rt, &err), "sync");
        need(gpurt_event_elapsed_ns(rt, begin, end, &ns, &err), "event");
        samples[r] = (double)adds * per / (double)(ns ? ns : 1);
    }
    gpurt_event_destroy(rt, begin);
    gpurt_event_destroy(rt, end);
    return rows_median(samples, REPEATS);
}

/* The same of rows of four floats that lie anywhere. */
static double scattered(kernel_t kernel, const char *what)
{
    const size_t count = (size_t)4 << 20;
    const uint32_t blocks = info.sm_count, threads = small ? 32 : 1024;
    float *rows = (float *)calloc(count, sizeof *rows);
    double sum = 0, speed = array(kernel, 16, 4);

    if (!rows)
        exit(1);
    fetch(rows, memory, count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        sum += (double)rows[i];
    free(rows);
    need_sum(sum, 4.0 * REPEATS * args.rounds * blocks * threads * (small ? 1 : 2), what);
    return speed;
}

/* Each element was added to once a repeat. */
static void array_check_f32(const char *what)
{
    float last;

    fetch(&last, memory, sizeof last);
    need_sum((double)last, REPEATS, what);
}
static void array_check_f16(const char *what)
{
    uint16_t first;

    fetch(&first, memory, sizeof first);
    need_sum(first, 0x4d40, what); /* 21 */
}

static void arrays(void)
{
    double f32 = array(&gpurt_kernel_bench_array_f32, 4, 1), f32x4, f16, f16x2, padded;

    array_check_f32("array_f32");
    f32x4 = array(&gpurt_kernel_bench_array_f32x4, 4, 4);
    array_check_f32("array_f32x4");
    f16 = array(&gpurt_kernel_bench_array_f16, 2, 1);
    array_check_f16("array_f16");
    f16x2 = array(&gpurt_kernel_bench_array_f16x2, 2, 2);
    array_check_f16("array_f16x2");
    padded = array(&gpurt_kernel_bench_array_f16_padded, 4, 1);
    array_check_f16("array_f16_padded");
    rows_add("bench_atomic", "scatter_f32x4",
             scattered(&gpurt_kernel_bench_scatter_f32x4, "scatter_f32x4"), "G elements/s",
             "f32", scattered(&gpurt_kernel_bench_scatter_f32, "scatter_f32"));
    rows_add("bench_atomic", "array_f32x4", f32x4, "G elements/s", "f32", f32);
    rows_add("bench_atomic", "array_f16x2", f16x2, "G elements/s", "f16", f16);
    rows_add("bench_atomic", "array_f16_padded", padded, "G elements/s", "f16", f16);
}

static void make(void)
{
    const uint32_t lanes = 1024;
    void *p;

    need(gpurt_mem_create(rt, MEMORY, &p, &err), "memory");
    memory = (uint64_t *)p;
    need(gpurt_host_create(rt, 4096, &p, &err), "host memory");
    host = (uint64_t *)p;
    need(gpurt_mem_create(rt, 8192, &p, &err), "memory");
    need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, p, 0, 8192, &err), "fill");
    args.cycles = (uint64_t *)p;
    args.sink = args.cycles + 512;
    need(gpurt_mem_create(rt, lanes * sizeof(gpurt_kcas_slot_t), &p, &err), "memory");
    need(
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, p, 0, lanes * sizeof(gpurt_kcas_slot_t), &err),
        "fill");
    args.kcas.slots = (gpurt_kcas_slot_t *)p;
    args.kcas.slot_count = lanes;
}

int main(void)
{
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_atomic: %s\n", err.text);
        return 77;
    }
    need(gpurt_info(rt, &info), "info");
    small = info.backend == GPURT_BACKEND_CPU;
    make();
    rows_head();
    latencies();
    issues();
    aggregated();
    arrays();
    several();
    gpurt_mem_destroy(rt, args.kcas.slots);
    gpurt_mem_destroy(rt, args.cycles);
    gpurt_host_destroy(rt, host);
    gpurt_mem_destroy(rt, memory);
    gpurt_close(rt, NULL);
    return 0;
}
