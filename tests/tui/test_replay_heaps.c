/* SPDX-License-Identifier: Apache-2.0 */
/* Whose calls gpurt-replay makes again, in a log of several processes that number their heaps
 * alike: one process's alone, that with most or the one that was asked for; what is not clear is
 * refused, with the choices. */
#include "program.h"
#include "replay_trace.h"
#include "writer.h"

#include "check.h"

#include <gpurt/impl/heaprow.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s", err.text)

enum {
    ALPHA = 10801, /* heap 64: 3 requests, 1 free; heap 65: 3 requests */
    BETA = 10802, /* heap 64: 5 requests of the same places, 2 frees; heap 66: 9 requests */
    LANES = 2
};

static gpurt_error_t err;
static replay_heaps_t heaps;
static uint64_t now_ns = 1000;

/* Calls of two lanes, each with a heap. */
static void put(gpurt_writer_t *w, const gplog_numbers_t *n, uint32_t kind, uint32_t unit,
                uint32_t heap, uint32_t heap_beside)
{
    struct {
        gpurt_row_t row;
        uint32_t words[4 * LANES];
    } r = {.row = {.time_ns = now_ns++,
                   .kind = (uint8_t)kind,
                   .form = GPURT_FORM_LANES,
                   .mask = 3,
                   .words = kind == GPURT_KIND_HEAP_ALLOC ? 8 : 4},
           .words = {heap, heap_beside}};

    if (kind == GPURT_KIND_HEAP_ALLOC) {
        r.words[2] = r.words[3] = 100 + n->program;
        r.words[4] = unit;
        r.words[5] = unit + 1;
        r.words[6] = r.words[7] = 16;
    } else {
        r.words[2] = unit;
        r.words[3] = unit + 1;
    }
    OK(gpurt_writer_put_of(w, n, &r.row, &err));
}

static gplog_file_t about_of(uint32_t pid)
{
    gplog_file_t about = {.identity = {.pid = pid, .start_ticks = 1, .program = "rank"}};

    return about;
}

static void numbers_of(gpurt_writer_t *w, uint32_t pid, gplog_numbers_t *n)
{
    gplog_file_t about = about_of(pid);

    OK(gpurt_writer_about(w, &about, &err));
    gpurt_writer_numbers(w, &about, n);
}

enum {
    ALLOC = GPURT_KIND_HEAP_ALLOC,
    FREE = GPURT_KIND_HEAP_FREE
};

/* By turns, as when both run at once. */
static void record_both(gpurt_writer_t *w)
{
    gplog_numbers_t a, b, many = {.program = GPLOG_PROGRAM_OTHERS};

    numbers_of(w, ALPHA, &a);
    numbers_of(w, BETA, &b);
    put(w, &a, ALLOC, 0, 64, 64);
    put(w, &b, ALLOC, 0, 64, 64);
    put(w, &a, ALLOC, 8, 64, 65);
    put(w, &b, ALLOC, 8, 64, 64);
    put(w, &a, FREE, 0, 64, 67); /* one of 64, one of a heap that is traced by itself */
    put(w, &b, FREE, 0, 64, 64);
    put(w, &a, ALLOC, 16, 65, 65);
    for (uint32_t i = 0; i < 5; i++)
        put(w, &b, ALLOC, 20 + 2 * i, 66, i == 4 ? 64 : 66);
    for (uint32_t i = 0; i < 20; i++)
        put(w, &many, ALLOC, 2 * i, 64, 64); /* of who knows which: of none */
}

static void record(const char *path, bool both)
{
    gpurt_writer_options_t o = {.struct_size = sizeof o, .append = true};
    gplog_numbers_t a;
    gpurt_writer_t *w;

    OK(gpurt_writer_open(path, &o, &w, &err));
    if (both) {
        record_both(w);
    } else {
        numbers_of(w, ALPHA, &a);
        put(w, &a, ALLOC, 0, 65, 65);
        put(w, &a, ALLOC, 0, 64, 64);
        put(w, &a, FREE, 0, 64, 64);
    }
    OK(gpurt_writer_close(w, &err));
}

static gpurt_status_t choose(gpurt_log_t *log, uint32_t heap, uint32_t pid,
                             replay_heap_t *out)
{
    const replay_wish_t wish = {heap, pid};

    replay_heaps_read(log, &wish, &heaps);
    return replay_heaps_choose(&heaps, &wish, out, &err);
}

static void takes(gpurt_log_t *log, uint32_t heap, uint32_t pid, uint32_t want,
                  uint32_t want_pid)
{
    replay_heap_t got;

    OK(choose(log, heap, pid, &got));
    CHECK_EQ(got.heap, want);
    CHECK_EQ(got.pid, want_pid);
}

static void refuses(gpurt_log_t *log, uint32_t heap, uint32_t pid, const char *why)
{
    replay_heap_t got;

    CHECK_EQ(choose(log, heap, pid, &got), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, why);
}

static void check_choice(gpurt_log_t *log)
{
    static const replay_wish_t any = {0, 0};

    replay_heaps_read(log, &any, &heaps);
    CHECK(heaps.several);
    CHECK_EQ(heaps.count, 5);
    CHECK_EQ(heaps.list[0].pid, ALPHA);
    CHECK_EQ(heaps.list[0].calls, 4);
    takes(log, 0, 0, 66, BETA);
    takes(log, 0, BETA, 66, BETA);
    takes(log, 0, ALPHA, 64, ALPHA);
    takes(log, 65, 0, 65, ALPHA); /* which only one has */
    takes(log, 64, ALPHA, 64, ALPHA);
    takes(log, 64, BETA, 64, BETA);
    refuses(log, 64, 0,
            "several processes have a heap 64: say --pid and one of 10801, 10802");
    refuses(log, 66, ALPHA,
            "no calls of process 10801 to a heap 66: say --pid and one of 10802");
    refuses(log, 0, 5,
            "no calls of process 5 to a heap: say --pid and one of 10801, 10802");
    refuses(log, 99, 0,
            "holds no calls of a heap: record the program with GPURT_HEAP_TRACE=1");
}

static void has(gpurt_log_t *log, uint32_t heap, uint32_t pid, uint64_t allocs,
                uint64_t frees, uint64_t bytes)
{
    replay_heap_t of;
    replay_trace_t t;

    OK(choose(log, heap, pid, &of));
    OK(replay_trace_read(log, &of, &t, &err));
    CHECK_EQ(t.heap.pid, pid);
    CHECK_EQ(t.allocs, allocs);
    CHECK_EQ(t.frees, frees);
    CHECK_EQ(t.bytes, bytes);
    CHECK_EQ(t.odd, 0); /* a place that was handed out twice, were they mixed */
    replay_trace_free(&t);
}

static void check_one(gpurt_log_t *log)
{
    CHECK(gplog_program_count(gpurt_log_dictionary(log)) == 1);
    takes(log, 0, 0, 64, ALPHA);
    CHECK(!heaps.several);
    CHECK_EQ(heaps.count, 2);
    takes(log, 65, 0, 65, ALPHA);
    refuses(log, 0, BETA,
            "no calls of process 10802 to a heap: say --pid and one of 10801");
}

/* More processes than a line has room for. */
static void check_many(void)
{
    const replay_wish_t wish = {64, 0};
    replay_heap_t got;

    memset(&heaps, 0, sizeof heaps);
    heaps.count = 200;
    for (uint32_t i = 0; i < heaps.count; i++)
        heaps.list[i] = (replay_heap_t){64, i, 4194000 + i, 1};
    CHECK_EQ(replay_heaps_choose(&heaps, &wish, &got, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "4194000, 4194001, 4194002, 4194003 and 196 more");
}

int main(void)
{
    char path[] = "/tmp/gpurt-replay-heaps-XXXXXX";
    int fd = mkstemp(path);
    gpurt_log_t *log;

    CHECK(fd >= 0);
    close(fd);
    unlink(path);
    record(path, true);
    OK(gpurt_log_open(path, &log, &err));
    check_choice(log);
    has(log, 64, ALPHA, 3, 1, 300);
    has(log, 64, BETA, 5, 2, 505);
    gpurt_log_close(log);
    unlink(path);
    record(path, false);
    OK(gpurt_log_open(path, &log, &err));
    check_one(log);
    gpurt_log_close(log);
    unlink(path);
    check_many();
    return 0;
}
