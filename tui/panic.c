/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-panic - the panics of a log or of a black box: all of them by site, or one on a
 * screen. */
#include "option.h"
#include "panic_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    UNREADABLE = 1,
    BAD_USE = 2,
    NEAR = 32
};

typedef struct panic_options {
    bool json;
    uint64_t pid, number, near;
    const char *folder;
} panic_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(panic_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Reading",
     .letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = UINT32_MAX,
     .help = "the black box of a process, also one that a drainer reads"},
    {.section = "Showing",
     .letter = 'n',
     .name = "number",
     .arg = "N",
     FIELD(NUMBER, number),
     .min = 1,
     .help = "show: which one, as list numbers them (default 1, the first)"},
    {.letter = 'r',
     .name = "records",
     .arg = "N",
     FIELD(NUMBER, near),
     .min = 1,
     .max = PANIC_NEAR_MAX,
     .help = "show: how many records before it, of its warp and of its SM (default 32)"},
    {.name = "source",
     .arg = "DIR",
     FIELD(STRING, folder),
     .help = "show: where source files are looked for, if they are not where they were "
             "compiled"},
    {.section = "Output",
     .name = "json",
     FIELD(FLAG, json),
     .help = "one JSON object; docs/PANIC_JSON.md says what is in it"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"COMMANDS", "  list FILE...      a line for each site: how often, when, what\n"
                 "  show [N] FILE...  everything about one panic"},
    {"FILES", "A FILE is a log (.gplog), a black box in shared memory, or a core dump of a "
              "program on the CPU. A box is only read: its drainer is not disturbed."},
    {"EXIT STATUS",
     "0: read, with panics or without; 1: a file cannot be read, is damaged, or "
     "has no panic N; 2: wrong use."},
    {"ENVIRONMENT", "NO_COLOR: no colours on a terminal. TZ: times are local ones."},
    {"EXAMPLES", "  gpurt-panic list run.gplog\n"
                 "  gpurt-panic show 3 run.gplog --source ~/src\n"
                 "  gpurt-panic show -p 4711"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-panic",
    .summary = "list and show the panics of a program's device code",
    .synopsis = "list|show [OPTION...] [N] [FILE...]",
    .description = "Reads panics and what was recorded before them from logs, from black "
                   "boxes of programs that run, and from those of programs that are dead.",
    .options = rows,
    .texts = texts,
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

/* Sources that cannot be read are told of and left out. Returns: 0 or UNREADABLE. */
static int open_all(panic_book_t *book, char **files, int count, const panic_options_t *o)
{
    static char pid_name[32];
    int status = 0;
    gpurt_error_t err;

    book->sources = calloc((size_t)count + 1, sizeof *book->sources);
    if (!book->sources)
        return gpurt_option_refuse(&program, "no memory");
    for (int i = 0; i < count; i++) {
        if (panic_source_open(files[i], &book->sources[book->source_count], &err) ==
            GPURT_OK)
            book->source_count++;
        else
            status = complain(&err);
    }
    if (!o->pid)
        return status;
    snprintf(pid_name, sizeof pid_name, "process %llu", (unsigned long long)o->pid);
    if (panic_source_open_pid((uint32_t)o->pid, pid_name,
                              &book->sources[book->source_count], &err) == GPURT_OK)
        book->source_count++;
    else
        status = complain(&err);
    return status;
}

static int show(const panic_book_t *book, const panic_options_t *o,
                const panic_style_t *style)
{
    uint64_t number = o->number ? o->number : 1;
    gpurt_error_t err;

    if (book->count == 0) {
        fputs("gpurt-panic: no panics\n", stderr);
        return UNREADABLE;
    }
    if (number > book->count) {
        fprintf(stderr, "gpurt-panic: there is no panic %llu, only 1 to %u\n",
                (unsigned long long)number, book->count);
        return UNREADABLE;
    }
    if ((o->json ? panic_show_json : panic_show_print)(book, (uint32_t)number - 1, style,
                                                       &err) != GPURT_OK)
        return complain(&err);
    return 0;
}

static int work(bool is_show, char **files, int count, const panic_options_t *o)
{
    panic_book_t book = {0};
    panic_style_t style;
    gpurt_error_t err;
    int status = open_all(&book, files, count, o), shown = 0;

    style_init(&style, o);
    if (book.source_count == 0) {
        panic_book_fini(&book);
        return status;
    }
    if (panic_book_fill(&book, &err) != GPURT_OK)
        status = complain(&err);
    else if (is_show)
        shown = show(&book, o, &style);
    else if (o->json)
        panic_list_json(&book, stdout);
    else
        panic_list_print(&book, &style);
    for (uint32_t i = 0; i < book.source_count; i++)
        if (book.sources[i].torn_frames)
            status = UNREADABLE;
    panic_book_fini(&book);
    if (fflush(stdout) != 0)
        return gpurt_option_refuse(&program, "cannot write to standard output");
    return status ? status : shown;
}

/* `show 3 run.gplog`, `show run.gplog 3`: a word of digits is the number, unless a file is called so. */
static bool is_number(const char *word, uint64_t *number)
{
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 9 ||
        access(word, F_OK) == 0)
        return false;
    *number = strtoull(word, NULL, 10);
    return *number > 0;
}

int main(int argc, char **argv)
{
    panic_options_t o = {0};
    int operands, first = 2,
                  status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    bool is_show;

    if (status >= 0)
        return status;
    if (operands < 1)
        return gpurt_option_refuse(&program, "say list or show, and a file");
    is_show = strcmp(argv[1], "show") == 0;
    if (!is_show && strcmp(argv[1], "list") != 0)
        return gpurt_option_refuse(&program, "no command is called '%s'; say list or show",
                                   argv[1]);
    if (is_show && !o.number && operands > 1 && is_number(argv[2], &o.number))
        first = 3;
    else if (is_show && !o.number && operands > 2 && is_number(argv[operands], &o.number))
        operands--;
    if (operands < first && !o.pid)
        return gpurt_option_refuse(&program, "%s wants a file, or -p PID", argv[1]);
    return work(is_show, argv + first, operands - first + 1, &o);
}
