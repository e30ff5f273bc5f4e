/* SPDX-License-Identifier: Apache-2.0 */
#include "log_options.h"

#include "export.h"
#include "filter_run.h"

#include <string.h>

/* Bits of the commands, in this order. */
enum {
    CAT = 1 << 0,
    TAIL = 1 << 1,
    STAT = 1 << 2,
    EXPORT = 1 << 3,
    VERIFY = 1 << 4,
    REPAIR = 1 << 5,
    LEVEL = 1 << 6,
    LINES = 1 << 7
};
const char *const log_commands[] = {"cat",    "tail",  "stat",  "export", "verify",
                                    "repair", "level", "lines", NULL};

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(log_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Showing",
     .name = "jsonl",
     FIELD(FLAG, jsonl),
     .uses = CAT | TAIL,
     .help = "cat, tail: one JSON object a record"},
    {.name = "level",
     .arg = "LEVEL",
     FIELD(STRING, level),
     .uses = CAT | TAIL,
     .help = "cat, tail: only records from this level on: trace, debug, info, warn, error, "
             "panic"},
    {.letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .uses = CAT | TAIL | LEVEL,
     .min = 1,
     .max = UINT32_MAX,
     .help = "cat, tail: only records of that process; level: its levels"},
    {.letter = 'F',
     .name = "filter",
     .arg = "FILTER",
     FIELD(STRING, filter),
     .uses = CAT | TAIL | STAT | LINES | EXPORT,
     .help = "cat, tail, stat, lines, export: only matching messages; see FILTERS"},
    {.letter = 'n',
     .name = "lines",
     .arg = "N",
     FIELD(NUMBER, lines),
     .uses = TAIL,
     .help = "tail: the last N records (default 10); 0: none, useful with -f"},
    {.letter = 'f',
     .name = "follow",
     FIELD(FLAG, follow),
     .uses = TAIL,
     .help = "tail: follow the log until it is closed or no writer is left"},
    {.letter = 'C',
     .name = "color",
     .arg = "WHEN",
     FIELD(STRING, color),
     .uses = CAT | TAIL,
     .help = "cat, tail: auto, always or never (default auto: on a terminal, unless "
             "NO_COLOR is set)"},
    {.name = "no-pager",
     FIELD(FLAG, no_pager),
     .uses = CAT,
     .help = "cat: no pager, even on a terminal"},
    {.section = "Statistics",
     .name = "json",
     FIELD(PICK, form),
     .pick = LOG_JSON,
     .uses = STAT | LINES,
     .help = "stat, lines: one JSON object"},
    {.name = "kernel",
     .arg = "NAME",
     FIELD(STRING, kernel),
     .uses = LINES,
     .help = "lines: only functions whose name contains NAME"},
    {.name = "last",
     .arg = "SECONDS",
     FIELD(NUMBER, last_s),
     .uses = LINES,
     .min = 1,
     .max = 1000000000,
     .help = "lines: only the last SECONDS of samples"},
    {.name = "folded",
     FIELD(PICK, form),
     .pick = LOG_FOLDED,
     .uses = LINES,
     .help = "lines: kernel;inlined calls;file:line;reason and a count, for flame graphs"},
    {.name = "speedscope",
     FIELD(PICK, form),
     .pick = LOG_SPEEDSCOPE,
     .uses = LINES,
     .help = "lines: the same stacks as JSON for speedscope.app"},
    {.name = "code",
     .arg = "FILE",
     FIELD(STRING, code),
     .uses = LINES,
     .help = "lines: instructions by samples, with their text out of FILE, the program, "
             "library or cubin that has the kernel; cuobjdump and nvdisasm of CUDA's "
             "toolkit read it"},
    {.section = "Export",
     .name = "to",
     .arg = "FORMAT",
     FIELD(STRING, to),
     .uses = EXPORT,
     .help = "export: perfetto (the format of ui.perfetto.dev), chrome (the JSON that many "
             "viewers read), jsonl or csv (a record a line, each field under its name)"},
    {.section = "Repair and export",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .uses = REPAIR | EXPORT,
     .help =
         "repair: the new log, which must not exist. export: the output, - for standard "
         "output"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"COMMANDS",
     "  cat FILE     every record, in order of time\n"
     "  tail FILE    the last records\n"
     "  stat FILE    counts, rates and totals\n"
     "  lines FILE   source lines of running kernels by share of samples, and\n"
     "               why warps wait there (gpurt-record --cupti default,lines)\n"
     "  level -p PID [RULES]  set what that program records on all devices;\n"
     "               without RULES, print it\n"
     "  export --to FORMAT FILE -o OUT  convert the log\n"
     "  verify FILE  read the whole log and report damage\n"
     "  repair FILE -o NEW  copy all undamaged frames, with a new index"},
    {"RULES",
     "Rules are separated by commas. LEVEL alone is the default; PATTERN=LEVEL and "
     "PATTERN:LINE=LEVEL are for source files, and the last match counts. A pattern has "
     "* and ?; it matches the whole path or its end after a slash. Levels: trace, debug, "
     "info, warn, error, panic, off. The environment "
     "variable GPURT_LEVEL takes the same rules when a program starts."},
    {"PAGER", "On a terminal cat uses a pager: GPURT_PAGER, else PAGER, else "
              "less, with LESS=FRX unless LESS is set. An empty name or cat means none. On "
              "a dumb terminal GPURT_PAGER alone counts."},
    {"ENVIRONMENT", "TZ: times in text are local ones; ts_ns counts from 1970. NO_COLOR, "
                    "TERM, GPURT_PAGER, PAGER, LESS."},
    {"FILTERS", FILTER_HELP},
    {"EXIT STATUS",
     "0 all is well; 1 the log is damaged (cat, export and verify say by the same rules "
     "what "
     "is missing, double or left out, in one line on stderr), or not one, cannot be "
     "read, or has no process of -p; 2 wrong use; 3 tail -f: the log's writer and the "
     "programs that it recorded are "
     "gone, and it ends without its closing frame. stat and tail show what is whole of a "
     "damaged one, say what is not, and end with 0; so does repair, when the new log is "
     "whole."},
    {"FIELDS",
     "cat and tail --jsonl: ts_ns, level, pid (null: not known), device (-1: host code), "
     "back_end (cpu, cuda, host), "
     "sm, block, warp, lanes, file, line, msg. In text a device is dev and its number; in "
     "a "
     "log with devices of both back ends those of the CPU are cpu and theirs; in a log of "
     "several processes pid and its number stand before it. stat --json: "
     "records, dropped, sites, panics, frames, torn_frames, "
     "bytes, first_ns, last_ns, back_end, device, programs (number, pid, name of each "
     "process; where all rows are read anyway its records and panics); where they are "
     "known activity, lives, "
     "objects: classes, list (heaps, holders, regions, arenas, tables of "
     "reclamation and so on), which LOG_FORMAT.md in share/doc/gpurt tells. Lines of "
     "objects "
     "have kind object, class, id, ended, fields. lines --json: CUPTI.md beside it."},
    {"TIMELINES",
     "export --to perfetto and --to chrome show the program's threads with their launches, "
     "calls of CUDA and ranges (NVTX), the streams of each GPU with kernels, copies and "
     "fills, arrows from a call to the work that it started, device messages on a track "
     "for "
     "each warp slot of each SM, idle time with its reason, and GPU counters, all on "
     "one clock. Calls and ranges are recorded with GPURT_CUPTI=all. The memory needed "
     "does "
     "not depend on the log."},
    {"EXAMPLES", "  gpurt-log cat --level warn run.gplog\n"
                 "  gpurt-log tail -f run.gplog\n"
                 "  gpurt-log cat -p 4711 run.gplog\n"
                 "  gpurt-log cat --jsonl run.gplog | jq -r 'select(.sm == 3) | .msg'\n"
                 "  gpurt-log cat -F 'level>=warn block=3 !retry' run.gplog\n"
                 "  gpurt-log stat --json run.gplog\n"
                 "  gpurt-log lines --kernel attention run.gplog\n"
                 "  gpurt-log export --to perfetto run.gplog -o run.pftrace\n"
                 "  gpurt-log level -p 4711 'info,net/*=trace,pool.c:42=debug'\n"
                 "  gpurt-log repair run.gplog -o mended.gplog"},
    {0},
};

static uint32_t command_find(const void *values, char *const *operands, int count)
{
    (void)values;
    for (uint32_t i = 0; count && log_commands[i]; i++)
        if (strcmp(operands[0], log_commands[i]) == 0)
            return 1u << i;
    return 0;
}

static const gpurt_option_uses_t uses = {log_commands, command_find};

const gpurt_option_program_t log_program = {
    .name = "gpurt-log",
    .summary = "show, summarize, export, verify and repair gpurt logs",
    .synopsis = "cat|tail|stat|lines|export|verify|repair [OPTION...] FILE, or level -p "
                "PID [RULES]",
    .description = "Works on the files that gpurt-record and gpurt-top write. All that is "
                   "undamaged in a cut or damaged log is read; nothing in it is trusted.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .bad_status = LOG_BAD_USE,
};
