/* SPDX-License-Identifier: Apache-2.0 */
/* Where kernels are, on the screen: the table of functions, the source with its samples, what a
 * source may do to a terminal, files that cannot be read, instructions, the last seconds, and more
 * samples than there is room for. */
#include "view_stage.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ull

static sourcetext_t source;
static const char source_path[] = "spin.cu";
static char folder[] = "/tmp/test_lines_view.XXXXXX";

static const char *line_calls; /* of what is put; NULL: an older file */

static void put_line(const char *function, const char *file, uint32_t line, uint32_t offset,
                     const char *reason, uint32_t samples, uint64_t at)
{
    gpurt_activity_line_t out = {.function = string(function),
                                 .file = string(file),
                                 .line = line,
                                 .reason = string(reason),
                                 .ns = gpurt_pair(SECOND),
                                 .offset = offset,
                                 .samples = samples,
                                 .idle = samples / 2,
                                 .calls = line_calls ? string(line_calls) : 0};

    put(GPURT_KIND_LINE, T0 + at, &out, sizeof out);
}

static void draw_at(int rows, int columns)
{
    view_draw(VIEW_LINES, rows, columns);
}

static void act(action_t action)
{
    look();
    p.view = view;
    CHECK(picture_view(VIEW_LINES)->act(&p, action, 5));
}

static void source_write(const char *text, size_t bytes)
{
    FILE *out = fopen(source_path, "w");

    CHECK(out && fwrite(text, 1, bytes, out) == bytes && fclose(out) == 0);
    sourcetext_fini(&source);
}

/* The file is older than the samples, unless a test says otherwise. */
static void source_age(time_t second)
{
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};

    CHECK_EQ(utimensat(AT_FDCWD, source_path, times, 0), 0);
    sourcetext_fini(&source);
}

static void begin(void)
{
    memset(&p, 0, sizeof p);
    p.source = &source;
    stage_program = process(100, "one");
}

static void put_usual(void)
{
    put_line("spin(unsigned int*)", source_path, 3, 0x20, "long_scoreboard", 60, 0);
    put_line("spin(unsigned int*)", source_path, 3, 0x28, "long_scoreboard", 20, 0);
    put_line("spin(unsigned int*)", source_path, 4, 0x30, "barrier", 7, 0);
    put_line("spin(unsigned int*)", source_path, 4, 0x30, "selected", 3, 0);
    put_line("spin(unsigned int*)", "/nowhere/inlined.h", 9, 0x40, "sleeping", 2, 0);
    put_line("copy_plain", "?", 0, 0x100, "a_new_one", 8, 0);
}

/* ---- the screens --------------------------------------------------------------------- */

static void check_table(void)
{
    begin();
    draw_at(8, 80);
    CHECK(seen("No kernel was sampled."));
    put_usual();
    draw_at(12, 108);
    golden("-- Lines  100 samples of warps in 1.00 s  (s the last seconds, Enter sou"
           "rce) -------------------------------\n"
           "  share    samples  mostly                                  most of it a"
           "t       function\n"
           "  92.0%         92  waits for global memory 87%             spin.cu:3   "
           "        spin(unsigned int*)\n"
           "   8.0%          8  a_new_one 100%                          +0x100      "
           "        copy_plain\n"
           "\n"
           "-- spin(unsigned int*) -------------------------------------------------"
           "------------------------------------\n"
           "    87.0%  spin.cu:3                             waits for global memory"
           " 100%\n"
           "    10.9%  spin.cu:4                             waits at a barrier 70%,"
           " issues 30%\n"
           "     2.2%  /nowhere/inlined.h:9                  sleeps 100%\n");
    act(ACTION_DOWN);
    draw_at(12, 108);
    CHECK(seen("   100.0%  +0x100  "));
    filter_parse(&p.filter, "spin", NULL);
    draw_at(12, 108);
    CHECK(!seen("copy_plain") && seen("spin(unsigned int*)"));
    filter_parse(&p.filter, "nothing", NULL);
    draw_at(12, 108);
    CHECK(seen("No function fits the filter"));
    for (int columns = 1; columns < 120; columns += 7)
        for (int rows = 1; rows < 16; rows += 3)
            draw_at(rows, columns);
}

static void check_source(void)
{
    static const char text[] = "// \033]0;title\007 \033[31mred\n"
                               "__global__ void spin(unsigned *flag) // caf\351\n"
                               "\t while (!*flag)\r\n"
                               "    __syncthreads(); // a line that is so long that it "
                               "ends behind the screen, and more\n"
                               "}";

    begin();
    source_write(text, sizeof text - 1);
    source_age(1600000000);
    put_usual();
    act(ACTION_OPEN);
    draw_at(16, 100);
    golden("-- spin(unsigned int*)  92.0%  spin.cu, file 1 of 2 (t)  (d code, Esc ba"
           "ck) ------------------------\n"
           "                                                 1 // \\x1b]0;title\\x07"
           " \\x1b[31mred\n"
           "                                                 2 __global__ void spin("
           "unsigned *flag) // caf\\xe9\n"
           "  87.0% waits for global memory 100%             3          while (!*fla"
           "g)\n"
           "  10.9% waits at a barrier 70%                   4     __syncthreads(); "
           "// a line that is so long th\n"
           "                                                 5 }\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           " line 3: 80 samples, 50% in cycles without an issue:  waits for global m"
           "emory 100%\n"
           " waits for global memory: a load from global or local memory, or an atom"
           "ic, is on its way: better\n"
           " locality, loads that are asked for earlier, more warps; in a loop that "
           "polls, the flag\n");
    CHECK(!strchr(canvas_seen(&c, 1), '\033'));
    act(ACTION_RIGHT);
    draw_at(16, 100);
    CHECK(seen("4 ncthreads();") && !seen("__syncthreads"));
    act(ACTION_LEFT);
    act(ACTION_DOWN);
    draw_at(16, 100);
    CHECK(
        seen("line 4: 10 samples, 40% in cycles without an issue:  waits at a barrier 70%, "
             "issues 30%"));
    CHECK(seen("waits at a barrier: other warps of its block"));
    act(ACTION_UP);
    act(ACTION_UP);
    draw_at(16, 100);
    CHECK(seen("line 2: no warp was met there"));
    act(ACTION_FIRST);
    act(ACTION_UP);
    draw_at(16, 100);
    CHECK(seen("line 1: no warp"));
    act(ACTION_LAST);
    draw_at(16, 100);
    CHECK(seen("line 5: no warp"));
    for (int columns = 1; columns < 120; columns += 7)
        for (int rows = 1; rows < 20; rows += 3)
            draw_at(rows, columns);
    act(ACTION_BACK);
    draw_at(16, 100);
    CHECK(seen("copy_plain"));
}

/* Calls of inlined lines: below the function's lines, the source, and beside instructions. */
static void check_calls(void)
{
    static const char text[] = "one\ntwo\nthree\nfour\n";
    char call[] = "leaf < /a/spin.cu:40 f0 < /a/spin.cu:9";

    begin();
    source_write(text, sizeof text - 1);
    source_age(1600000000);
    line_calls = "leaf < /a/spin.cu:4 \033[31mWalk::step < /b/h.h:9";
    put_line("spin(unsigned int*)", source_path, 3, 0x20, "wait", 60, 0);
    line_calls = "leaf < /a/spin.cu:7";
    put_line("spin(unsigned int*)", source_path, 3, 0x28, "wait", 30, 0);
    line_calls = "(not inlined)";
    put_line("spin(unsigned int*)", source_path, 3, 0x30, "barrier", 10, 0);
    put_line("spin(unsigned int*)", source_path, 4, 0x40, "barrier", 5, 0);
    draw_at(14, 108);
    CHECK(seen(" 60% leaf < spin.cu:4 \\x1b[31mWalk::step < h.h:9"));
    CHECK(!seen("not inlined"));
    act(ACTION_OPEN);
    draw_at(24, 100);
    CHECK(seen("60% leaf < spin.cu:4 ") && seen("30% leaf < spin.cu:7") &&
          seen("10% (not inlined)") && seen(" 1 one") && seen("waits for the instruction"));
    draw_at(16, 100); /* no room for them */
    CHECK(!seen("leaf <") && seen("line 3: 100 samples"));
    act(ACTION_DOWN);
    draw_at(24, 100);
    CHECK(seen("line 4: 5 samples") && !seen("leaf <") && !seen("not inlined"));
    act(ACTION_UP);
    for (uint32_t i = 0; i < 4; i++) {
        call[sizeof "leaf < /a/spin.cu:40 f" - 1] = (char)('1' + i);
        line_calls = call;
        put_line("spin(unsigned int*)", source_path, 3, 0x50 + 8 * i, "wait", 1, 0);
    }
    draw_at(24, 100);
    CHECK(seen("and 4 more"));
    act(ACTION_CODE);
    draw_at(24, 120);
    CHECK(seen("/*0020*/  spin.cu:3  leaf < spin.cu:4 ") && seen("/*0030*/  spin.cu:3"));
    for (int columns = 1; columns < 120; columns += 7)
        for (int rows = 1; rows < 30; rows += 3)
            draw_at(rows, columns);
    line_calls = NULL;
}

/* A file that is not there, or is nothing that one should read; one that is newer. */
static void check_unread(void)
{
    static const char binary[] = "a\0b";

    begin();
    put_usual();
    act(ACTION_OPEN);
    act(ACTION_TABLE);
    draw_at(16, 100);
    golden("-- spin(unsigned int*)  92.0%  /nowhere/inlined.h, file 2 of 2 (t)  (d c"
           "ode, Esc back) -------------\n"
           " The source cannot be read here: No such file or directory. Its lines by"
           " their samples:\n"
           "   2.2% sleeps 100%                         /nowhere/inlined.h:9\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           "\n"
           " line 9: 2 samples, 50% in cycles without an issue:  sleeps 100%\n"
           " sleeps: __nanosleep: a loop that polls; look for who should have woken "
           "it\n");
    act(ACTION_TABLE_BEFORE);
    source_write(binary, sizeof binary);
    draw_at(16, 100);
    CHECK(seen("cannot be read here: it is no text"));
    CHECK(seen("spin.cu:4"));
    act(ACTION_DOWN);
    draw_at(16, 100);
    CHECK(seen("line 4: 10 samples"));
    CHECK_EQ(unlink(source_path), 0);
    CHECK_EQ(mkfifo(source_path, 0600),
             0); /* nobody writes there: nothing waits for that */
    sourcetext_fini(&source);
    draw_at(16, 100);
    CHECK(seen("cannot be read here: it is no plain file"));
    CHECK_EQ(unlink(source_path), 0);
    source_write("", 0);
    CHECK_EQ(truncate(source_path, 17 << 20), 0);
    draw_at(16, 100);
    CHECK(seen("cannot be read here: it has 17825792 bytes"));
    source_write("one\ntwo\nthree\nfour", 18);
    draw_at(16, 100);
    CHECK(seen("changed after the first sample") && seen("4 four"));
    source_age(1600000000);
    draw_at(16, 100);
    CHECK(!seen("changed after"));
    p.source = NULL; /* nobody reads here */
    draw_at(16, 100);
    CHECK(seen("spin.cu:3"));
}

static void check_code(void)
{
    begin();
    put_usual();
    act(ACTION_CODE);
    draw_at(10, 100);
    golden("-- spin(unsigned int*)  92.0%  (d source, Esc back) --------------------"
           "----------------------------\n"
           " Instructions that warps were met at. Their text: gpurt-top --code PROGRA"
           "M, with cuobjdump\n"
           "  65.2% waits for global memory 100%        /*0020*/  spin.cu:3\n"
           "  21.7% waits for global memory 100%        /*0028*/  spin.cu:3\n"
           "  10.9% waits at a barrier 70%              /*0030*/  spin.cu:4\n"
           "   2.2% sleeps 100%                         /*0040*/  /nowhere/inlined.h"
           ":9\n");
    act(ACTION_CODE);
    draw_at(10, 100);
    CHECK(!seen("cuobjdump"));
    act(ACTION_BACK);
    act(ACTION_LAST);
    act(ACTION_OPEN); /* it has no lines */
    draw_at(10, 100);
    CHECK(seen("no source lines: nvcc -lineinfo adds them") && seen("/*0100*/"));
}

/* ---- the model ----------------------------------------------------------------------- */

static uint32_t recent_of(uint32_t second, uint32_t *idle)
{
    uint32_t sum = 0, one;

    *idle = 0;
    for (uint32_t i = 0; i < view->warps.count; i++) {
        sum += gpurt_linecell_recent(&view->warps.cells[i], second, &one);
        *idle += one;
    }
    return sum;
}

/* Seconds move on, and one that comes late still counts. */
/* With the program's code: of the GPU that is known, and of none where it may be any. */
static void check_sass(void)
{
    const gpurt_activity_device_t device = {.major = 9, .warp = 32, .sms = 1};
    char path[4096], why[SASSTEXT_WHY];
    sasstext_t *sass;

    begin();
    put_usual();
    CHECK_EQ(symlink(FAKE_CUOBJDUMP, "cuobjdump"), 0);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    sass = sasstext_read("app", NULL, 10 * SECOND, why);
    CHECK_MSG(sass, "%s", why);
    CHECK_EQ(unlink("cuobjdump"), 0);
    p.sass = sass;
    act(ACTION_CODE);
    draw_at(10, 120);
    CHECK(seen("has it in several versions") && !seen("LDG"));
    put(GPURT_KIND_DEVICE, T0, &device, sizeof device);
    draw_at(10, 120);
    CHECK(seen("/*0020*/  LDG.E R4, desc[UR4][R4.64]  ") && seen("met at.") &&
          !seen("cuobjdump"));
    CHECK(seen("/*0028*/      "));
    act(ACTION_BACK);
    put_line("elsewhere", "?", 0, 0x10, "wait", 1, 0);
    act(ACTION_LAST);
    act(ACTION_CODE);
    draw_at(10, 120);
    CHECK(seen("is not in the file of --code"));
    for (int columns = 1; columns < 120; columns += 7)
        draw_at(10, columns);
    p.sass = NULL;
    p.sass_why = "no text of instructions: it is missing";
    draw_at(10, 120);
    CHECK(seen(p.sass_why));
    sasstext_close(sass);
}

static void check_recent(void)
{
    const uint32_t second =
        (uint32_t)(T0 / SECOND) + 1; /* when the first one's time ends */
    uint32_t idle;

    begin();
    put_line("old", "a.cu", 1, 0, "wait", 100, 0);
    put_line("new", "a.cu", 2, 0, "wait", 5, 5 * SECOND);
    put_line("new", "a.cu", 2, 0, "wait", 7, 6 * SECOND);
    put_line("new", "a.cu", 2, 0, "wait", 1, 5 * SECOND); /* of another process */
    put_line("new", "a.cu", 2, 0, "wait", 9, 4 * SECOND); /* too late */
    look();
    CHECK_EQ(recent_of(second, &idle), 100);
    CHECK_EQ(recent_of(second + 1, &idle), 100);
    CHECK_EQ(recent_of(second + 2, &idle), 0);
    CHECK_EQ(recent_of(second + 5, &idle), 6);
    CHECK_EQ(recent_of(second + 6, &idle), 13);
    CHECK_EQ(idle, 5);
    CHECK_EQ(recent_of(second + 7, &idle), 7);
    draw_at(10, 100);
    CHECK(seen("old") && seen("122 samples of warps in 7.00 s"));
    act(ACTION_SORT);
    draw_at(10, 100);
    CHECK(!seen("old") && seen("13 samples of the last 2 s"));
}

/* More than there is room for is counted; a model that goes back shows what it was. */
static void check_room(void)
{
    gpurt_model_t *before, *empty;

    begin();
    CHECK(gpurt_model_copy(model, &empty, NULL) == GPURT_OK);
    put_line("first", "a.cu", 1, 0, "wait", 3, 0);
    CHECK(gpurt_model_copy(model, &before, NULL) == GPURT_OK);
    for (uint32_t i = 1; i < GPURT_MODEL_LINE_CELLS + 5u; i++)
        put_line("first", "a.cu", 1, 16 * i, "wait", 2, 0);
    look();
    CHECK_EQ(view->warps.count, GPURT_MODEL_LINE_CELLS);
    CHECK_EQ(view->warps.left_out, 10);
    draw_at(12, 100);
    CHECK(seen("10 more samples have no row: gpurt-log lines has them all"));
    CHECK(seen("Lines  16395 samples"));
    gpurt_model_assign(model, before);
    gpurt_model_destroy(before);
    draw_at(12, 100);
    CHECK(seen("Lines  3 samples") && !seen("have no row"));
    put_line("second", "a.cu", 1, 0, "wait", 2, 0);
    draw_at(12, 100);
    gpurt_model_assign(model, empty);
    gpurt_model_destroy(empty);
    put_line("elsewhere", "a.cu", 1, 0, "wait", 7, 0);
    draw_at(12, 100);
    CHECK(seen("elsewhere"));
}

/* More names than there is room for. */
static void check_names(void)
{
    char name[32];

    begin();
    for (uint32_t i = 0; i < GPURT_MODEL_LINE_NAMES + 9u; i++) {
        snprintf(name, sizeof name, "f%u", i);
        put_line(name, "a.cu", 1, 0, "wait", 1000 - i, 0);
    }
    draw_at(12, 100);
    CHECK(seen(" f0"));
    act(ACTION_LAST);
    draw_at(12, 100);
    CHECK(seen("(no room for more names)"));
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    in_model(check_table);
    in_model(check_source);
    in_model(check_calls);
    in_model(check_unread);
    in_model(check_code);
    in_model(check_sass);
    in_model(check_recent);
    in_model(check_room);
    in_model(check_names);
    CHECK(unlink(source_path) == 0 && rmdir(folder) == 0);
    sourcetext_fini(&source);
    canvas_fini(&c);
    return 0;
}
