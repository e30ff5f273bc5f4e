/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-panic - the panics of a log or of a black box: all of them by site, or one on a
 * screen. */
#include "follow.h"
#include "nicename.h"
#include "option.h"
#include "panic_case.h"
#include "plural.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    UNREADABLE = 1,
    BAD_USE = 2,
    WORSE = 3,
    NEAR = 32
};

typedef struct panic_options {
    bool json, sarif, whole;
    uint64_t pid, number, near;
    const char *folder, *filter;
} panic_options_t;

/* Bits of the commands, as they stand in use_names. */
enum {
    LIST = 1 << 0,
    SHOW = 1 << 1,
    WATCH = 1 << 2,
    DIFF = 1 << 3,
    EXPORT = 1 << 4
};
static const char *const use_names[] = {"list", "show", "watch", "diff", "export", NULL};

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(panic_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Reading",
     .letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .uses = LIST | SHOW | WATCH | EXPORT,
     .min = 1,
     .max = UINT32_MAX,
     .help = "the black boxes of a process, one for each open device, even while a drainer "
             "reads them"},
    {.letter = 'F',
     .name = "filter",
     .arg = "FILTER",
     FIELD(STRING, filter),
     .uses = LIST | SHOW | EXPORT,
     .help = "list, show, export: only matching panics, such as kernel=scale block=3, with "
             "numbers of their own; syntax in gpurt-log --help"},
    {.section = "Showing",
     .letter = 'n',
     .name = "number",
     .arg = "N",
     FIELD(NUMBER, number),
     .uses = SHOW,
     .min = 1,
     .help = "show: number of the panic, as in list (default 1, the first)"},
    {.letter = 'r',
     .name = "records",
     .arg = "N",
     FIELD(NUMBER, near),
     .uses = SHOW | WATCH,
     .min = 1,
     .max = PANIC_NEAR_MAX,
     .help = "show: how many records before it, of its warp, block and SM (default 32)."},
    {.name = "source",
     .arg = "DIR",
     FIELD(STRING, folder),
     .uses = SHOW | WATCH | EXPORT,
     .help = "show: where to look for source files that are not where they were compiled; "
             "export: the folder that places are relative to."},
    {.name = "whole",
     FIELD(FLAG, whole),
     .uses = WATCH,
     .help = "watch: the whole report of each, not one line"},
    {.section = "Output",
     .name = "json",
     FIELD(FLAG, json),
     .uses = LIST | SHOW | WATCH | DIFF,
     .help = "one JSON object (watch: one a line), which PANIC_JSON.md in share/doc/gpurt "
             "tells"},
    {.name = "sarif",
     FIELD(FLAG, sarif),
     .uses = EXPORT,
     .help = "export: SARIF 2.1.0, for code scanning and editors; the only format."},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"COMMANDS",
     "  list FILE...      a line for each site: how often, when, what\n"
     "  show [N] FILE...  everything about one panic or fault\n"
     "  watch FILE        each one when it comes, until the log is closed or\n"
     "                    the program ends\n"
     "  diff OLD NEW      sites that are new, gone, or fail more or less often\n"
     "  export FILE...    all sites for other tools (--sarif)"},
    {"FILES",
     "A FILE is a log (.gplog), a black box in shared memory, a core dump of a "
     "program on the CPU, or one that the CUDA driver wrote of a GPU. A box is only "
     "read: its drainer is not disturbed. A GPU core dump without a fault (one that "
     "was asked for while a kernel hung) is shown as where its warps stand."},
    {"EXIT STATUS",
     "0: read, with panics or without; 1: a file cannot be read, is damaged, or has no "
     "panic N; 2: wrong use; 3: diff: "
     "NEW has sites that OLD has not, or more "
     "panics at one; watch: the log's writer and the programs that it recorded are gone, "
     "and it ends without its closing frame."},
    {"FAULTS",
     "A fault of a GPU is told from the core dump that gpurt-record had the driver write, "
     "or "
     "from a dump that is named here: which instruction, in which source line if the "
     "program was built with nvcc -lineinfo, by which thread, called from where, and "
     "what all other warps were doing."},
    {"ENVIRONMENT", "NO_COLOR: no colours on a terminal. TZ: times are local ones."},
    {"EXAMPLES", "  gpurt-panic list run.gplog\n"
                 "  gpurt-panic show 3 run.gplog --source ~/src\n"
                 "  gpurt-panic show -p 4711\n"
                 "  gpurt-panic diff yesterday.gplog today.gplog\n"
                 "  gpurt-panic export --sarif --source . run.gplog > panics.sarif"},
    {0},
};

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    (void)values;
    for (uint32_t i = 0; count && use_names[i]; i++)
        if (strcmp(operands[0], use_names[i]) == 0)
            return 1u << i;
    return 0;
}

static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_program_t program = {
    .name = "gpurt-panic",
    .summary = "list, show and compare the panics and faults of device code",
    .synopsis = "list|show|watch|diff|export [OPTION...] [N] [FILE...]",
    .description = "Reads panics and what was recorded before them from logs, from black "
                   "boxes of programs that run, and from those of programs that are dead.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .bad_status = BAD_USE,
};

static int complain(const gpurt_error_t *err)
{
    gpurt_option_refuse(&program, "%s", err->text);
    return UNREADABLE;
}

static void style_init(panic_style_t *style, const panic_options_t *o)
{
    const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");
    struct winsize size;

    *style = (panic_style_t){
        .out = stdout, .folder = o->folder, .near = o->near ? (uint32_t)o->near : NEAR};
    if (!isatty(STDOUT_FILENO))
        return;
    style->colour = terminal && strcmp(terminal, "dumb") != 0 && !(refused && refused[0]);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        style->columns = size.ws_col;
}

static bool sources_room(panic_book_t *book)
{
    panic_source_t *more = realloc(book->sources, (book->source_count + PANIC_SOURCES) *
                                                      sizeof *book->sources);

    if (more)
        book->sources = more;
    return more != NULL;
}

/* Sources that cannot be read are told of and left out. Returns: 0 or UNREADABLE. */
static int open_all(panic_book_t *book, char **files, int count, const panic_options_t *o)
{
    static char pid_name[32];
    int status = 0;
    gpurt_error_t err;

    snprintf(pid_name, sizeof pid_name, "process %llu", (unsigned long long)o->pid);
    for (int i = 0; i < count + (o->pid != 0); i++) {
        panic_source_t *next;
        uint32_t opened;
        gpurt_status_t st;

        if (!sources_room(book))
            return gpurt_option_refuse(&program, "no memory");
        next = &book->sources[book->source_count];
        st = i < count
                 ? panic_source_open(files[i], next, &opened, &err)
                 : panic_source_open_pid((uint32_t)o->pid, pid_name, next, &opened, &err);
        book->source_count += opened;
        if (st != GPURT_OK)
            status = complain(&err);
    }
    return status;
}

static int show(const panic_book_t *book, const panic_options_t *o,
                const panic_style_t *style)
{
    uint64_t number = o->number ? o->number : 1;
    gpurt_error_t err;
    panic_case_t c;

    if (book->count == 0 && book->left_out) {
        gpurt_option_refuse(&program, "none of %u panic%s fits --filter", book->left_out,
                            gpurt_plural(book->left_out, "s"));
        return UNREADABLE;
    }
    if (book->count == 0) {
        for (uint32_t i = 0; i < book->source_count && !o->json; i++)
            panic_last_alone(&book->sources[i], style);
        if (book->source_count == 1)
            gpurt_option_refuse(&program, "no panics in %s", book->sources[0].name);
        else if (book->source_count)
            gpurt_option_refuse(&program, "no panics in any of them");
        return UNREADABLE;
    }
    if (number > book->count) {
        gpurt_option_refuse(&program, "there is no panic %llu; the last one is %u",
                            (unsigned long long)number, book->count);
        return UNREADABLE;
    }
    if (panic_case_open(book, (uint32_t)number - 1, style, &c, &err) != GPURT_OK)
        return complain(&err);
    if (o->json)
        panic_show_json(&c, style->out);
    else
        panic_show_print(&c, style);
    panic_case_close(&c);
    return 0;
}

/* ---- commands ------------------------------------------------------------------------ */
static int list(const panic_book_t *book, const panic_options_t *o,
                const panic_style_t *style)
{
    if (o->json)
        panic_list_json(book, stdout);
    else
        panic_list_print(book, style);
    return 0;
}

static int export(const panic_book_t *book, const panic_options_t *o,
                  const panic_style_t *style)
{
    panic_sarif(book, o->folder, style->out);
    return 0;
}

/* NULL for those that do not begin with all panics of all files. */
typedef int command_fn(const panic_book_t *book, const panic_options_t *o,
                       const panic_style_t *style);
typedef struct command {
    const char *name;
    command_fn *run;
} command_t;
static const command_t commands[] = {
    {"list", list}, {"show", show}, {"export", export}, {"watch", NULL}, {"diff", NULL}};

static bool is_damaged(const panic_source_t *s)
{
    return s->damage[0] || (s->dump.core && s->dump.core->about.cut);
}

/* told: the text shown says what is damaged. */
static int finish(panic_book_t *book, int status, bool told)
{
    for (uint32_t i = 0; i < book->source_count; i++) {
        const panic_source_t *s = &book->sources[i];

        if (s->log)
            follow_cut_tell(program.name, s->name, s->log);
        if (!is_damaged(s))
            continue;
        status = UNREADABLE;
        if (!told && s->damage[0])
            gpurt_option_refuse(&program, "%s: %s", s->name, s->damage);
    }
    panic_book_fini(book);
    return gpurt_option_end(&program, status, BAD_USE);
}

static int work(const command_t *command, char **files, int count, const panic_options_t *o)
{
    static filter_run_t run; /* large */
    panic_book_t book = {.run = &run};
    panic_style_t style;
    filter_error_t wrong;
    gpurt_error_t err;
    int status, shown;

    if (o->filter && !filter_parse(&run.filter, o->filter, &wrong)) {
        gpurt_option_refuse(&program, "--filter: %s", wrong.why);
        filter_point(stderr, o->filter, &wrong);
        return BAD_USE;
    }
    status = open_all(&book, files, count, o);

    style_init(&style, o);
    if (book.source_count == 0) {
        panic_book_fini(&book);
        return status;
    }
    if (panic_book_fill(&book, &err) != GPURT_OK)
        return finish(&book, complain(&err), false);
    shown = command->run(&book, o, &style);
    fflush(stdout);
    filter_run_tell(&run, program.name, stderr);
    return finish(&book, status ? status : shown, !o->json && !o->sarif);
}

static int watch(char **files, int count, const panic_options_t *o)
{
    panic_book_t book = {0};
    panic_style_t style;
    gpurt_status_t st = GPURT_OK;
    gpurt_error_t err;
    int status;

    if (count + (o->pid != 0) != 1)
        return gpurt_option_refuse(&program, "watch wants one file, or -p PID");
    status = open_all(&book, files, count, o);
    style_init(&style, o);
    if (book.source_count)
        st = panic_watch(&book, (uint32_t)o->pid,
                         o->json    ? PANIC_WATCH_JSON
                         : o->whole ? PANIC_WATCH_WHOLE
                                    : PANIC_WATCH_LINE,
                         &style, &err);
    if (st != GPURT_OK && st != GPURT_E_TRUNCATED)
        status = complain(&err);
    status = finish(&book, status, false);
    return st == GPURT_E_TRUNCATED && status != BAD_USE ? FOLLOW_CUT : status;
}

static int diff(char **files, int count, const panic_options_t *o)
{
    panic_book_t book[2] = {{0}, {0}};
    panic_style_t style;
    gpurt_error_t err;
    int status = 0, worse = 0;

    if (count != 2 || o->pid)
        return gpurt_option_refuse(&program, "diff wants two files");
    for (int i = 0; i < 2 && status == 0; i++) {
        status = open_all(&book[i], files + i, 1, o);
        if (status == 0 && panic_book_fill(&book[i], &err) != GPURT_OK)
            status = complain(&err);
    }
    style_init(&style, o);
    if (status == 0)
        worse = panic_diff(&book[0], &book[1], o->json, &style);
    if (worse < 0)
        status = gpurt_option_refuse(&program, "no memory");
    status = finish(&book[0], status, false);
    status = finish(&book[1], status, false);
    return status ? status : worse ? WORSE : 0;
}

/* `show 3 run.gplog`, `show run.gplog 3`: a word of digits is the number, unless a file is called so. */
static bool is_number(const char *word, uint64_t *number)
{
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 9 ||
        access(word, F_OK) == 0)
        return false;
    *number = strtoull(word, NULL, 10);
    return true;
}

static const command_t *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    panic_options_t o = {0};
    int operands, first = 2,
                  status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    const command_t *command;
    bool numbered = false;

    if (status >= 0)
        return status;
    gpurt_render_nice(nicename);
    if (operands < 1)
        return gpurt_option_refuse(&program,
                                   "say list, show, watch, diff or export, and a file");
    command = command_find(argv[1]);
    if (!command)
        return gpurt_option_refuse(
            &program, "no command is called '%s'; say list, show, watch, diff or export",
            argv[1]);
    if (command->run == show && !o.number && operands > 1 && is_number(argv[2], &o.number))
        first = 3, numbered = true;
    else if (command->run == show && !o.number && operands > 2 &&
             is_number(argv[operands], &o.number))
        operands--, numbered = true;
    if (numbered && !o.number)
        return gpurt_option_refuse(&program, "there is no panic 0; the first one is 1");
    if (operands < first && !o.pid)
        return gpurt_option_refuse(&program, "%s wants a file, or -p PID", argv[1]);
    if (command->run == export && !o.sarif)
        return gpurt_option_refuse(&program, "export wants a form: --sarif");
    if (strcmp(command->name, "watch") == 0)
        return watch(argv + first, operands - first + 1, &o);
    if (strcmp(command->name, "diff") == 0)
        return diff(argv + first, operands - first + 1, &o);
    return work(command, argv + first, operands - first + 1, &o);
}
