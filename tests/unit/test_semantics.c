/* SPDX-License-Identifier: Apache-2.0 */
/* test_semantics [CASE...] - ids, warp operations, barriers, shared memory, atomics and
 * order on whichever back end gpurt_open takes, against references in plain C.
 *
 * The same rows hold on a GPU and on the CPU, so the back ends agree. A CASE is the
 * beginning of names: `test_semantics shfl_up` runs all shuffles up. --list prints the
 * names. */
#include "semantics_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_A_CASE = 5,
    EXIT_SKIPPED = 77
};

static const probe_table_t *const tables[] = {&semantics_warp_table, &semantics_block_table,
                                              &semantics_atomic_table};

static uint32_t volume(gpurt_dim3_t d)
{
    return d.x * d.y * d.z;
}

void probe_place(const probe_case_t *row, uint64_t id, probe_lane_t *lane)
{
    lane->row = row;
    lane->id = id;
    lane->threads = volume(row->launch.block);
    lane->blocks = volume(row->launch.grid);
    lane->block = (uint32_t)(id / lane->threads);
    lane->rank = (uint32_t)(id % lane->threads);
    lane->warp = lane->rank / 32;
    lane->lane = lane->rank % 32;
    lane->warp_first = id - lane->lane;
    lane->live = probe_live(lane->threads, lane->warp);
}

const char *probe_wrong(const char *fmt, ...)
{
    static char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return text;
}

/* Owner: run_case. Device buffers and their host copies. */
struct buffers {
    void *out, *mem;
    uint64_t *host_out, *host_mem;
    size_t out_bytes, mem_bytes;
};

static void buffers_destroy(gpurt_t *rt, struct buffers *b)
{
    gpurt_mem_destroy(rt, b->out);
    gpurt_mem_destroy(rt, b->mem);
    free(b->host_out);
    free(b->host_mem);
}

static gpurt_status_t buffers_create(gpurt_t *rt, const probe_case_t *row,
                                     struct buffers *b, gpurt_error_t *err)
{
    size_t lanes = (size_t)volume(row->launch.grid) * volume(row->launch.block);
    gpurt_status_t st;

    memset(b, 0, sizeof *b);
    b->out_bytes = (row->words ? lanes * row->words : 1) * sizeof(uint64_t);
    b->mem_bytes = (row->mem_words ? row->mem_words : 1) * sizeof(uint64_t);
    b->host_out = (uint64_t *)malloc(b->out_bytes);
    b->host_mem = (uint64_t *)calloc(1, b->mem_bytes);
    if (!b->host_out || !b->host_mem)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0, "host copies");
    if (row->mem_init)
        row->mem_init(row, b->host_mem);
    st = gpurt_mem_create(rt, b->out_bytes, &b->out, err);
    if (!st)
        st = gpurt_mem_create(rt, b->mem_bytes, &b->mem, err);
    if (!st)
        st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, b->out, 0xee, b->out_bytes, err);
    if (!st)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, b->mem, b->host_mem, b->mem_bytes, err);
    return st;
}

static gpurt_status_t launch(gpurt_t *rt, const probe_case_t *row, struct buffers *b,
                             gpurt_error_t *err)
{
    struct probe_args args = {(uint64_t *)b->out, (uint64_t *)b->mem, row->words,
                              row->mode};
    gpurt_status_t st;

    if (row->drive)
        st = row->drive(rt, row, (uint64_t *)b->out, err);
    else
        st = gpurt_launch_kernel(rt, &row->launch, row->kernel, &args, sizeof args, err);
    if (!st)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, b->host_out, b->out, b->out_bytes, err);
    if (!st)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, b->host_mem, b->mem, b->mem_bytes, err);
    return st ? st : gpurt_sync(rt, err);
}

/* Every lane's row against the reference. Returns: how many words differ. */
static uint64_t compare(const probe_case_t *row, const uint64_t *out, uint64_t lanes)
{
    uint64_t *expected = (uint64_t *)calloc(row->words, sizeof *expected), wrong = 0;

    for (uint64_t id = 0; expected && id < lanes; id++, out += row->words) {
        probe_lane_t self;

        probe_place(row, id, &self);
        row->reference(&self, expected);
        for (uint32_t word = 0; word < row->words; word++) {
            if (out[word] == expected[word] || wrong++ >= LINES_A_CASE)
                continue;
            printf("  %s: block %u thread %u (lane %u), word %u", row->name, self.block,
                   self.rank, self.lane, word);
            if (row->word_name)
                printf(" (%s)", row->word_name(word));
            printf(": expected 0x%llx, got 0x%llx\n", (unsigned long long)expected[word],
                   (unsigned long long)out[word]);
        }
    }
    free(expected);
    return expected ? wrong : 1;
}

static bool verify(const probe_case_t *row, const gpurt_info_t *info,
                   const struct buffers *b)
{
    uint64_t lanes = (uint64_t)volume(row->launch.grid) * volume(row->launch.block);
    probe_result_t result = {row, info, b->host_out, b->host_mem, lanes};
    const char *wrong = row->check ? row->check(&result) : NULL;
    uint64_t words = row->reference ? compare(row, b->host_out, lanes) : 0;

    if (words)
        printf("FAIL %s: %llu of %llu words\n", row->name, (unsigned long long)words,
               (unsigned long long)lanes * row->words);
    if (wrong)
        printf("FAIL %s: %s\n", row->name, wrong);
    return !words && !wrong;
}

static bool run_case(gpurt_t *rt, const gpurt_info_t *info, const probe_case_t *row)
{
    struct buffers b;
    gpurt_error_t err = {GPURT_OK, 0, 0, ""};
    gpurt_status_t st = buffers_create(rt, row, &b, &err);
    bool good = false;

    if (!st)
        st = launch(rt, row, &b, &err);
    if (st)
        printf("FAIL %s: %s: %s\n", row->name, gpurt_status_name(st), err.text);
    else
        good = verify(row, info, &b);
    buffers_destroy(rt, &b);
    return good;
}

/* Returns: why the row cannot run here, or NULL. */
static const char *obstacle(const probe_case_t *row, const gpurt_info_t *info)
{
    bool cpu = info->backend == GPURT_BACKEND_CPU;

    if (row->needs & PROBE_CPU_ONLY && !cpu)
        return "holds on the CPU back end alone";
    if (row->needs & PROBE_NEEDS_CLUSTER && info->max_cluster == 1)
        return "no clusters here";
    if (row->needs & PROBE_NEEDS_WIDE && !cpu && info->compute_major < 9)
        return "128-bit exchange needs sm_90";
    return NULL;
}

static bool is_asked_for(const char *name, int count, char **wanted)
{
    for (int i = 0; i < count; i++)
        if (strncmp(name, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return count == 0;
}

static const probe_case_t *nth_row(size_t n)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        if (n < tables[t]->count)
            return &tables[t]->rows[n];
        n -= tables[t]->count;
    }
    return NULL;
}

/* Owner: main. */
struct tally {
    uint32_t passed, failed, skipped;
};

static void run_rows(gpurt_t *rt, const gpurt_info_t *info, int count, char **wanted,
                     struct tally *tally)
{
    const probe_case_t *row;

    for (size_t n = 0; (row = nth_row(n)) != NULL; n++) {
        const char *why = obstacle(row, info);

        if (!is_asked_for(row->name, count, wanted))
            continue;
        if (why) {
            printf("skip %s: %s\n", row->name, why);
            tally->skipped++;
        } else if (run_case(rt, info, row)) {
            tally->passed++;
        } else {
            tally->failed++;
        }
    }
}

static int list_names(void)
{
    for (size_t n = 0; nth_row(n); n++)
        puts(nth_row(n)->name);
    return 0;
}

int main(int argc, char **argv)
{
    struct tally tally = {0, 0, 0};
    gpurt_error_t err = {GPURT_OK, 0, 0, ""};
    gpurt_info_t info;
    gpurt_t *rt;

    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_names();
    if (gpurt_open(NULL, &rt, &err) || gpurt_info(rt, &info)) {
        printf("gpurt_open: %s\n", err.text);
        return 1;
    }
    printf("%s: %s\n", info.name, info.why);
    run_rows(rt, &info, argc - 1, argv + 1, &tally);
    if (gpurt_close(rt, &err)) {
        printf("gpurt_close: %s\n", err.text);
        tally.failed++;
    }
    printf("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
    if (tally.passed + tally.failed == 0)
        return tally.skipped ? EXIT_SKIPPED : 1;
    return tally.failed ? 1 : 0;
}
