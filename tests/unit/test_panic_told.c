/* SPDX-License-Identifier: Apache-2.0 */
/* A panic of a program that nobody records was silent: nothing on standard error, gpurt_sync said
 * GPURT_OK. Each case runs in a child whose standard error is a file. */
#include "../check.h"
#include "../forked.h"
#include "../kernels/unwind_kernels.h"
#include "../must.h"

#include <gpurt/heap.h>
#include <gpurt/recover.h>

#include "drainspawn.h"
#include "panichang.h"
#include "panictell.h"
#include "tell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ALL = (1 << UNWIND_BLOCKS) - 1,
    ROUNDS = 40,        /* panics by all blocks: more than a bare box has slots */
    SHOWN = 8,          /* lines of their own */
    PATIENCE_MS = 20000 /* for a line that nobody asked for */
};

static gpurt_error_t err;
static gpurt_t *rt;
static gpurt_launch_t launch = {.grid = {UNWIND_BLOCKS, 1, 1},
                                .block = {UNWIND_THREADS, 1, 1}};
static struct unwind_args args;
static char said[1 << 16];
static FILE *errors; /* of the child */

/* ---- a child's work ------------------------------------------------------------------- */

static void open_with(uint32_t panics)
{
    gpurt_options_t options = {.struct_size = sizeof options, .panics = panics};
    void *memory[3], *word;

    CHECK_MSG(gpurt_open(&options, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_mem_create(rt, 4096, &memory[0], &err));
    must(gpurt_mem_create(rt, 4096, &memory[1], &err));
    must(gpurt_mem_create(rt, 4096, &memory[2], &err));
    must(gpurt_host_create(rt, sizeof *args.started, &word, &err));
    args = (struct unwind_args){.log = memory[0],
                                .runs = memory[1],
                                .begun = memory[2],
                                .started = word,
                                .kind = WORK_ONCE,
                                .how = WORK_HOW_PANIC,
                                .failures = UINT32_MAX};
    must(gpurt_fill(rt, 0, args.begun, 0, 4096, &err));
    must(gpurt_sync(rt, &err));
}

static void raise_in(gpurt_stream_t stream, uint32_t victims)
{
    launch.stream = stream;
    args.victims = victims;
    must(gpurt_launch(rt, &launch, unwind_plain, &args, &err));
    launch.stream = GPURT_STREAM_DEFAULT;
}

static void close_well(void)
{
    must(gpurt_close(rt, &err));
}

static void wait_tells(void)
{
    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1 << 3);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "unwind_kernels.c:");
    CHECK_CONTAINS(err.text, "block 3 thread 0: block 3, try 0, on purpose");
    CHECK_CONTAINS(err.text, "gpurt-panic show run.gplog");
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_OK); /* told once */
    raise_in(0, 0);                           /* the next launch works, and is no failure */
    CHECK_EQ(gpurt_stream_sync(rt, 0, &err), GPURT_OK);
    raise_in(0, ALL);
    CHECK_EQ(gpurt_stream_sync(rt, 0, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "(the first of 8)");
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_OK);
    close_well();
}

static void close_tells(void)
{
    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1 << 2);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "block 2 thread 0");
}

static void query_tells(void)
{
    gpurt_status_t st;

    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1);
    while ((st = gpurt_stream_query(rt, 0, &err)) == GPURT_E_NOT_READY)
        ;
    CHECK_EQ(st, GPURT_E_PANIC);
    close_well();
}

/* A stream in which nothing was launched is no failure; the other one is told, and once. */
static void streams_tell(void)
{
    gpurt_stream_t a, b;

    open_with(GPURT_PANICS_TELL);
    must(gpurt_stream_create(rt, &a, &err));
    must(gpurt_stream_create(rt, &b, &err));
    raise_in(a, 0);
    must(gpurt_stream_sync(rt, a, &err));
    raise_in(b, 1 << 7);
    must(gpurt_stream_sync(rt, a, &err));
    CHECK_EQ(gpurt_stream_sync(rt, b, &err), GPURT_E_PANIC);
    must(gpurt_stream_sync(rt, b, &err));
    raise_in(b, 1 << 7);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    must(gpurt_stream_sync(rt, b, &err)); /* gpurt_sync told that */
    close_well();
}

/* A guard has a verdict of its own. */
static void guard_tells(void)
{
    gpurt_guard_handle_t guard;

    open_with(GPURT_PANICS_TELL);
    args.victims = 1 << 5;
    must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, NULL, &guard, &err));
    CHECK_EQ(gpurt_guard_wait(rt, guard, NULL, &err), GPURT_E_PANIC);
    must(gpurt_guard_destroy(rt, guard));
    must(gpurt_sync(rt, &err));
    raise_in(0, 1 << 6);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    close_well();
}

static void many(void)
{
    open_with(GPURT_PANICS_TELL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        raise_in(0, ALL);
        CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    }
    close_well();
}

static void quiet(void)
{
    open_with(GPURT_PANICS_QUIET);
    raise_in(0, 1);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "block 0 thread 0");
    close_well();
}

static void off(void)
{
    open_with(GPURT_PANICS_OFF);
    raise_in(0, 1);
    must(gpurt_sync(rt, &err));
    close_well();
}

static void trap_tells(void)
{
    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1 << 3);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    args.victims = GPURT_TRAP_GROUPS;
    must(gpurt_launch(rt, &launch, unwind_trapped, &args, &err));
    must(gpurt_sync(rt, &err));
    close_well();
}

static off_t length(void)
{
    struct stat st;

    CHECK(fstat(STDERR_FILENO, &st) == 0);
    return st.st_size;
}

/* Nobody waits, nobody closes: the line comes all the same. */
static void watched(void)
{
    const struct timespec nap = {0, 1000000};

    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1 << 4);
    for (int i = 0; length() == 0 && i < PATIENCE_MS; i++)
        nanosleep(&nap, NULL);
    _exit(0);
}

/* A wait by an event says nothing; the end of the process does. */
static void at_exit(void)
{
    gpurt_event_t event;

    open_with(GPURT_PANICS_TELL);
    must(gpurt_event_create(rt, &event, &err));
    raise_in(0, 1 << 1);
    must(gpurt_event_record(rt, event, 0));
    must(gpurt_event_sync(rt, event, &err));
    exit(0);
}

/* A child of the program has neither thread nor lines, and says nothing twice. */
static void forked(void)
{
    int status;
    pid_t pid;

    open_with(GPURT_PANICS_TELL);
    raise_in(0, 1);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    pid = fork();
    if (pid == 0)
        forked_exit(0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close_well();
}

/* Standard error is a pipe whose reader is gone: no signal, no other fate. */
static void unread(void)
{
    int ends[2];

    open_with(GPURT_PANICS_TELL);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    raise_in(0, 1);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    close_well();
}

/* The library's own waits are no place to hear of it. */
static void heap_goes_on(void)
{
    gpurt_heap_options_t options = {.struct_size = sizeof options, .bytes = 2 << 20};
    gpurt_heap_stats_t stats;
    gpurt_heap_t heap;

    open_with(GPURT_PANICS_TELL);
    must(gpurt_heap_create(rt, &options, &heap, &err));
    raise_in(0, 1);
    must(gpurt_heap_stats(rt, &heap, &stats, &err));
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    must(gpurt_heap_destroy(rt, &heap, &err));
    close_well();
}

/* ---- judging it ------------------------------------------------------------------------ */

static uint32_t count(const char *what)
{
    uint32_t found = 0;

    for (const char *p = said; (p = strstr(p, what)); p++)
        found++;
    return found;
}

/* Returns: lines that it said. */
static uint32_t child(void (*work)(void))
{
    size_t bytes;
    int status;
    pid_t pid;

    CHECK(ftruncate(fileno(errors), 0) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(fileno(errors), STDERR_FILENO);
        work();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    rewind(errors);
    bytes = fread(said, 1, sizeof said - 1, errors);
    said[bytes] = '\0';
    CHECK_MSG(status == 0, "status %x: %s", (unsigned)status, said);
    return count("\n");
}

static void one_line(const char *name, void (*work)(void), const char *where)
{
    uint32_t lines;

    child(work);
    lines = count("gpurt: "); /* a leak checker of a child may say more */

    CHECK_MSG(lines == 1 && count("gpurt: panic at ") == 1 && count(where) == 1 &&
                  count("; see more: gpurt-record -o run.gplog -- PROGRAM, then "
                        "gpurt-panic show run.gplog\n") == 1,
              "%s: %u lines: %s", name, lines, said);
}

/* A wish of the environment that nobody can grant was granted in silence: nothing was recorded. */
static const char *wish[2];
static void wished(void)
{
    setenv(wish[0], wish[1], 1);
    open_with(GPURT_PANICS_TELL);
    close_well();
}
static void wish_is_told(const char *name, const char *value, const char *text)
{
    uint32_t lines;

    wish[0] = name;
    wish[1] = value;
    lines = child(wished);
    CHECK_MSG(lines == 1 && strncmp(said, "gpurt: ", 7) == 0 && count(name) >= 1 &&
                  count(text) == 1,
              "%s=%s: %s", name, value, said);
}

static void wishes_are_told(void)
{
    wish_is_told("GPURT_LEVEL", "foo", "say trace, debug");
    wish_is_told("GPURT_POLICY", "foo", "say drop");
    wish_is_told("GPURT_RING_BYTES", "12k", "say a number");
    wish_is_told("GPURT_LEVEL_FLOOR", "foo", "say trace, debug");
}

/* A file of the program's own is no variable of the user's. Who drains says what is wrong with it. */
static void file_named(void)
{
    const gpurt_options_t options = {.backend = GPURT_BACKEND_CPU, .log.file = "x.gplog"};
    char folder[] = "/tmp/gpurt-test-told-XXXXXX", drain[64];
    FILE *script;

    CHECK(mkdtemp(folder));
    snprintf(drain, sizeof drain, "%s/gpurt-drain", folder);
    script = fopen(drain, "w");
    CHECK(script &&
          fprintf(script, "#!/bin/sh\necho full >&%d\n", GPURT_DRAIN_READY_FD) > 0);
    CHECK(fclose(script) == 0 && chmod(drain, 0700) == 0 && setenv("PATH", folder, 1) == 0);
    CHECK(gpurt_open(&options, &rt, &err) == GPURT_OK);
    CHECK(unlink(drain) == 0 && rmdir(folder) == 0);
    close_well();
}

/* ---- work that goes on behind a panic -------------------------------------------------- */

/* A device that plays it. */
static struct {
    bool busy, blind; /* nothing ends it; it cannot prepare */
    uint32_t marks, xends;
} played;

static bool play_prepare(void *self)
{
    return self != NULL && !played.blind;
}
static bool play_mark(void *self)
{
    return self != NULL && ++played.marks;
}
static bool play_busy(void *self)
{
    return self != NULL && played.busy;
}
static void play_end(void *self)
{
    CHECK(self != NULL);
    gpurt_add_relaxed_sys_u32(&played.xends, 1);
}

static const gpurt_backend_ops_t play_ops = {.hang_prepare = play_prepare,
                                             .hang_mark = play_mark,
                                             .hang_busy = play_busy,
                                             .hang_end = play_end};
static const gpurt_opened_t play_opened = {.ops = &play_ops, .self = &played};
static gpurt_panichang_t hang;

/* Looks at these tenths of a second. */
static void look_from_to(uint32_t failed, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at <= to; at++)
        gpurt_panichang_look(&hang, failed, at * 100000000);
}

static void hangs_begin(const char *limit)
{
    if (limit)
        CHECK(setenv("GPURT_PANIC_LIMIT", limit, 1) == 0);
    gpurt_panichang_init(&hang, &play_opened);
}

static void ends_by_itself(void)
{
    hangs_begin("9");
    look_from_to(0, 1, 99);
    CHECK_EQ(played.marks, 0);
    played.busy = true;
    look_from_to(1, 100, 115);
    played.busy = false;
    look_from_to(1, 116, 200);
    CHECK_EQ(played.marks, 1);
    for (uint32_t i = 2; i < 52; i++) /* one a second, whatever panics */
        look_from_to(i, 199 + i, 199 + i);
    CHECK_MSG(played.marks > 3 && played.marks < 8, "%u marks", played.marks);
    CHECK_EQ(played.xends, 0);
}
static void goes_on(void)
{
    played.busy = true;
    hangs_begin(NULL);
    look_from_to(1, 100, 10000);
    CHECK_EQ(played.xends, 0);
}
static void limited(void)
{
    played.busy = true;
    hangs_begin("9");
    look_from_to(1, 100, 189);
    CHECK_EQ(played.xends, 0);
    look_from_to(1, 190, 200);
    CHECK_EQ(played.xends, 1);
    played.busy = false;
    look_from_to(1, 201, 400);
}
static void fills_the_device(void)
{
    played.busy = true;
    CHECK(signal(SIGABRT, SIG_DFL) != SIG_ERR);
    if (fork() == 0) {
        hangs_begin("3");
        look_from_to(1, 100, 200);
        _exit(0);
    }
    int status;

    CHECK(wait(&status) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
static void cannot_prepare(void)
{
    played.blind = true;
    hangs_begin("3");
}

/* The thread that tells panics looks. */
static void watched_hang(void)
{
    gpurt_section_plan_t section = {
        .kind = GPURT_SECTION_CUDA, .sm_count = 1, .warp_slots = 1, .ring_bytes = 4096};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    const struct timespec nap = {0, 1000000};
    gpurt_boxmap_t map;

    CHECK(setenv("GPURT_PANIC_LIMIT", "1", 1) == 0);
    must(gpurt_boxmap_create(&plan, &map, &err));
    played.busy = true;
    gpurt_panictell_start(&play_opened, &map, 0, "");
    gpurt_store_relaxed_sys_u32(&map.box->sections[0].xfailed, 1);
    for (int i = 0; !gpurt_load_relaxed_sys_u32(&played.xends) && i < PATIENCE_MS; i++)
        nanosleep(&nap, NULL);
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&played.xends), 1);
    gpurt_panictell_stop(&play_opened);
    gpurt_boxmap_detach(&map);
}

/* In existing CUDA C++ a kernel whose threads count arrivals hung for ever behind a panic, and
 * nobody said so. */
static void hangs_are_told(void)
{
    static const char still[] =
        "gpurt: 2 s after that panic its GPU still works on what ran";

    CHECK_MSG(child(ends_by_itself) == 0, "%s", said);
    CHECK_MSG(child(goes_on) == 1 && count(still) == 1, "%s", said);
    CHECK_CONTAINS(said, "-DGPURT_PANIC_TRAP=2");
    CHECK_MSG(child(limited) == 2 && count(still) == 1, "%s", said);
    CHECK_CONTAINS(said, "gpurt: GPURT_PANIC_LIMIT=9: what ran at that panic is ended");
    CHECK_MSG(child(fills_the_device) == 3, "%s", said);
    CHECK_CONTAINS(said, "gpurt: GPURT_PANIC_LIMIT=3: it fills the GPU");
    CHECK_MSG(child(cannot_prepare) == 1, "%s", said);
    CHECK_CONTAINS(said, "the process is ended instead");
    CHECK_MSG(child(watched_hang) == 1, "%s", said);
    CHECK_CONTAINS(said, "gpurt: GPURT_PANIC_LIMIT=1: what ran at that panic is ended");
}

static void plain(void)
{
    char text[64];

    gpurt_tell_plain(text, sizeof text, "a\x1b[31mb\n\xe2\x80\xaeg\xc3\xa4\xff");
    CHECK_STR(text, "a\\u{1b}[31mb\\n\\u{202e}g\xc3\xa4\\xff");
    CHECK_EQ(gpurt_tell_plain(text, 8, "0123456789"), 7);
    CHECK_STR(text, "0123...");
    gpurt_tell_plain(text, 8, "0123456");
    CHECK_STR(text, "0123456");
}

int main(void)
{
    plain();
    signal(SIGPIPE, SIG_DFL);
    errors = tmpfile();
    CHECK(errors && fcntl(fileno(errors), F_SETFL, O_APPEND) == 0);
    one_line("close", close_tells, "block 2 thread 0");
    one_line("query", query_tells, "block 0 thread 0");
    one_line("watched", watched, "block 4 thread 0");
    one_line("exit", at_exit, "block 1 thread 0");
    one_line("forked", forked, "block 0 thread 0");
    CHECK_MSG(child(wait_tells) == SHOWN + 1, "%s", said);
    CHECK_EQ(count("gpurt: panic at "), SHOWN);
    CHECK_EQ(count("see more:"), 1);
    CHECK_CONTAINS(said, "gpurt: 1 more panic, 9 so far; see them: gpurt-record ");
    CHECK_EQ(child(streams_tell), 2);
    CHECK_EQ(child(guard_tells), 2);
    child(many);
    CHECK_EQ(count("gpurt: panic at "), SHOWN);
    CHECK_CONTAINS(said, ", 320 so far;");
    CHECK_MSG(count("\n") <= SHOWN + 4, "%s", said);
    CHECK_EQ(child(quiet), 0);
    CHECK_EQ(child(off), 0);
    child(unread);
    one_line("heap", heap_goes_on, "block 0 thread 0");
    CHECK_MSG(child(trap_tells) == 2, "%s", said);
    CHECK_CONTAINS(strchr(said, '\n'),
                   "gpurt: that panic trapped its kernel and ended the CUDA "
                   "context: ");
    CHECK_CONTAINS(said, "use gpurt_grid_barrier(), ");
    wish_is_told("GPURT_LOG", "/nonexist/x", "nothing is logged: ");
    wish_is_told("GPURT_PANICS", "loud", "say tell, quiet or off");
    wishes_are_told(); /* without a log: what was set for one was ignored in silence */
    hangs_are_told();
    setenv("GPURT_LOG", "/nonexist/x", 1);
    wishes_are_told();
    /* The file is not what is wrong: no word of it. */
    wish_is_told("PATH", "/nonexist", "put it in PATH or beside the program\n");
    unsetenv("GPURT_LOG");
    child(file_named);
    CHECK_STR(said,
              "gpurt: nothing is logged: log.file x.gplog: full; name a new file or a log "
              "of gpurt's, in a folder that you may write to\n");
    return 0;
}
