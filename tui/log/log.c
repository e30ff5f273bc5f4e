/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-log - shows, sums up, checks and mends log files. */
#include "cursor.h"
#include "export.h"
#include "follow.h"
#include "lives.h"
#include "log_level.h"
#include "log_print.h"
#include "model.h"
#include "nearest.h"
#include "nicename.h"
#include "option.h"
#include "render.h"
#include "repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

enum {
    BAD_USE = 2,
    DAMAGED = 1,
    FOLLOW_NS = 20000000,
    EXPORT_BUFFER = 1 << 20
};

typedef struct log_options {
    bool json, jsonl, follow;
    uint64_t lines;
    const char *level, *output, *to;
    uint64_t pid;
} log_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(log_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Showing",
     .name = "jsonl",
     FIELD(FLAG, jsonl),
     .help = "cat, tail: one JSON object a record"},
    {.name = "level",
     .arg = "LEVEL",
     FIELD(STRING, level),
     .help = "cat, tail: leave out what is below trace, debug, info, warn, error or panic"},
    {.letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = UINT32_MAX,
     .help = "cat, tail: only what is of that process; level: whose levels"},
    {.letter = 'n',
     .name = "lines",
     .arg = "N",
     FIELD(NUMBER, lines),
     .help = "tail: the last N records (default 10)"},
    {.letter = 'f',
     .name = "follow",
     FIELD(FLAG, follow),
     .help =
         "tail: go on with what is appended, until the log is closed or nobody is left who "
         "could write to it"},
    {.section = "Summing up",
     .name = "json",
     FIELD(FLAG, json),
     .help = "stat: one JSON object"},
    {.section = "Handing on",
     .name = "to",
     .arg = "FORMAT",
     FIELD(STRING, to),
     .help = "export: perfetto (the format of ui.perfetto.dev), chrome (the JSON that many "
             "viewers read), jsonl or csv (a record a line, each field under its name)"},
    {.section = "Mending and handing on",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .help = "repair: where the mended log goes; must not exist. export: where to, - for "
             "the standard output"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"COMMANDS", "  cat FILE     every record, in order of time\n"
                 "  tail FILE    the last records\n"
                 "  stat FILE    what the log adds up to\n"
                 "  level -p PID [RULES]  what that program records from now on, on all "
                 "its devices; without "
                 "RULES, says it\n"
                 "  export --to FORMAT FILE -o OUT  the log for other programs\n"
                 "  verify FILE  reads all of it; says what is damaged\n"
                 "  repair FILE -o NEW  copies what is whole, with a new index"},
    {"RULES",
     "Rules are separated by commas. LEVEL alone is for all that no pattern matches; "
     "PATTERN=LEVEL and PATTERN:LINE=LEVEL are for source files, the last that matches "
     "counts. A pattern has * and ?; it matches the whole path or what stands behind a "
     "slash of it. Levels: trace, debug, info, warn, error, panic, off. The environment "
     "variable GPURT_LEVEL takes the same rules when a program starts."},
    {"ENVIRONMENT", "TZ: times in text are local ones; ts_ns counts from 1970."},
    {"EXIT STATUS",
     "0 all is well; 1 the log is damaged (cat, export and verify say by the same rules "
     "what "
     "is missing, double or left out, in one line on stderr), or not one, or cannot be "
     "read; 2 wrong use; 3 tail -f: the log's writer and the programs that it recorded are "
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
     "heaps (docs/HEAP_CHECKS.md) and objects: classes, list (regions, arenas, tables of "
     "reclamation and so on), which docs/LOG_FORMAT.md tells. Lines of objects have kind "
     "object, class, id, ended, fields."},
    {"TIMELINES",
     "export --to perfetto and --to chrome show the program's threads with their launches, "
     "calls of CUDA and ranges (NVTX), the streams of each GPU with kernels, copies and "
     "fills, arrows from a call to what it started, what device code logged on a track for "
     "each warp slot of each SM, when no kernel ran and why, and how the GPU fared, all on "
     "one clock. Calls and ranges are recorded with GPURT_CUPTI=all. The memory needed "
     "does "
     "not depend on the log."},
    {"EXAMPLES", "  gpurt-log cat --level warn run.gplog\n"
                 "  gpurt-log tail -f run.gplog\n"
                 "  gpurt-log cat -p 4711 run.gplog\n"
                 "  gpurt-log cat --jsonl run.gplog | jq -r 'select(.sm == 3) | .msg'\n"
                 "  gpurt-log stat --json run.gplog\n"
                 "  gpurt-log export --to perfetto run.gplog -o run.pftrace\n"
                 "  gpurt-log level -p 4711 'info,net/*=trace,pool.c:42=debug'\n"
                 "  gpurt-log repair run.gplog -o mended.gplog"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-log",
    .summary = "show, sum up, hand on, check and mend gpurt logs",
    .synopsis =
        "cat|tail|stat|export|verify|repair [OPTION...] FILE, or level -p PID [RULES]",
    .description =
        "Works on the files that gpurt-record and gpurt-top write. A log that was cut "
        "off or damaged is read as far as it is whole; nothing in it is trusted.",
    .options = rows,
    .texts = texts,
    .bad_status = BAD_USE,
};

static int complain(const gpurt_error_t *err)
{
    gpurt_option_refuse(&program, "%s", err->text);
    return DAMAGED;
}

/* Returns: 8 for a word that is no level. */
static uint32_t level_of(const char *word)
{
    for (uint32_t i = GPURT_LEVEL_TRACE; i <= GPURT_LEVEL_PANIC; i++)
        if (strcasecmp(word, gpurt_level_name(i)) == 0)
            return i;
    return GPURT_LEVEL_LOST + 1;
}

/* Reads all frames, unpacked or by their checksums alone. */
static void check_all(gpurt_log_t *log, bool unpack)
{
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;

        if (unpack)
            gpurt_log_read(log, i, &frame, NULL);
        else
            gpurt_log_check(log, i, NULL);
    }
}

static int print_from(gpurt_log_t *log, log_print_t *p, uint64_t frame)
{
    const gpurt_row_t *row;
    gpurt_cursor_t *c;
    gpurt_error_t err;

    if (gpurt_cursor_open(log, frame, &c, &err) != GPURT_OK)
        return complain(&err);
    while (!ferror(p->out) && (row = gpurt_cursor_next(c)) != NULL)
        log_print_row(p, row);
    gpurt_cursor_close(c);
    return ferror(p->out) ? DAMAGED : 0;
}

/* What of the log is damaged, as far as it was read. Returns: DAMAGED where something is. */
static int damage_status(const gpurt_log_t *log, const char *path)
{
    char text[GPURT_DAMAGE_TEXT];
    gpurt_log_summary_t sum;

    gpurt_log_summary(log, &sum);
    if (!gpurt_log_damage_text(&sum, text))
        return 0;
    gpurt_option_refuse(&program, "%s: %s", path, text);
    return DAMAGED;
}

static int do_cat(gpurt_log_t *log, log_print_t *p, const char *path)
{
    int status = print_from(log, p, 0);

    return status ? status : damage_status(log, path);
}

/* Messages that are shown from that frame on. */
static uint64_t count_from(gpurt_log_t *log, const log_print_t *p, uint64_t frame)
{
    const gpurt_row_t *row;
    uint64_t count = 0;
    gpurt_cursor_t *c;

    if (gpurt_cursor_open(log, frame, &c, NULL) != GPURT_OK)
        return 0;
    while ((row = gpurt_cursor_next(c)) != NULL)
        if (row->kind != GPURT_KIND_LOSS && log_print_wanted(p, row))
            count += gpurt_row_messages(row);
    gpurt_cursor_close(c);
    return count;
}

/* Where to begin for the last records, and how many to leave out. A frame earlier in the file
 * may end later in time, by as many frames as a cursor merges: so many more are read. Where
 * a level or a process leaves few, further back, by more each time. */
static uint64_t tail_start(gpurt_log_t *log, log_print_t *p, uint64_t lines)
{
    uint64_t frame = gpurt_log_frames(log), count = 0, found, more = GPURT_CURSOR_FRAMES;

    while (frame > 0 && count < lines)
        count += gpurt_log_entry(log, --frame)->messages;
    for (;; more *= 4) {
        frame = frame > more ? frame - more : 0;
        found = count_from(log, p, frame);
        if (frame == 0 || found >= lines)
            break;
    }
    p->skip = found > lines ? found - lines : 0;
    return frame;
}

/* Returns: false when nothing will come; it has been said why. */
static bool more_comes(gpurt_log_t *log, follow_t *follow)
{
    const struct timespec rest = {0, FOLLOW_NS};
    gpurt_log_summary_t sum;

    while (!gpurt_log_refresh(log)) {
        gpurt_log_summary(log, &sum);
        if (sum.closed)
            break;
        if (!follow_goes_on(follow, log))
            return false;
        nanosleep(&rest, NULL);
    }
    return true;
}

static int do_tail(gpurt_log_t *log, log_print_t *p, const char *path,
                   const log_options_t *o)
{
    follow_t follow = {.program = program.name, .path = path};
    uint64_t frame = tail_start(log, p, o->lines ? o->lines : 10);
    gpurt_log_summary_t sum;
    int status;

    for (;;) {
        status = print_from(log, p, frame);
        frame = gpurt_log_frames(log);
        fflush(p->out);
        gpurt_log_summary(log, &sum);
        if (status || !o->follow || sum.closed)
            return status;
        p->skip = 0;
        if (!more_comes(log, &follow))
            return FOLLOW_CUT;
    }
}

static bool has_sums(const gpurt_log_t *log)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(log);
    gpurt_site_info_t info;

    for (uint32_t id = 1; id < d->next_id; id++)
        if (gpurt_dictionary_get(d, id, &info) && !gpurt_kind_is_line(info.record_kind))
            return true;
    return false;
}

static void count_add(who_count_t *counts, const gpurt_row_t *row)
{
    counts[row->program].records += gpurt_row_messages(row);
    counts[row->program].panics += gpurt_row_is_panic(row);
}

/* All rows through the model that gpurt-top shows. counts: filled too, by program. Returns:
 * NULL without memory, or where no row tells what a GPU did, or of a heap; then nothing is
 * unpacked. To be freed. */
static gpurt_modelview_t *sums_read(gpurt_log_t *log,
                                    who_count_t counts[GPLOG_PROGRAM_OTHERS + 1])
{
    gpurt_modelview_t *view = NULL;
    gpurt_log_summary_t sum;
    gpurt_model_t *model;

    gpurt_log_summary(log, &sum);
    if (!has_sums(log) ||
        gpurt_model_create(gpurt_log_dictionary(log), &sum.about, &model, NULL) != GPURT_OK)
        return NULL;
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&frame, at, &at)) != NULL) {
            gpurt_model_put(model, row);
            count_add(counts, row);
        }
    }
    view = calloc(1, sizeof *view);
    if (view)
        gpurt_model_view(model, gpurt_model_last_ns(model), GPURT_MODEL_REPLAY, view);
    gpurt_model_destroy(model);
    return view;
}

static int do_stat(gpurt_log_t *log, const char *path, const log_options_t *o)
{
    who_count_t counts[GPLOG_PROGRAM_OTHERS + 1] = {{0}};
    log_stat_t stat = {.dictionary = gpurt_log_dictionary(log)};

    check_all(log, false);
    gpurt_lives_read(log, &stat.lives, &stat.life_count, NULL);
    stat.view = sums_read(log, counts);
    stat.counts = stat.view ? counts : NULL;
    gpurt_log_summary(log, &stat.sum);
    log_print_stat(stdout, &stat, o->json);
    free(stat.lives);
    free(stat.view);
    damage_status(log, path);
    return 0;
}

static int do_verify(gpurt_log_t *log, const char *path)
{
    gpurt_log_summary_t sum;

    check_all(log, true);
    gpurt_log_summary(log, &sum);
    printf("frames %llu, records %llu, damaged frames %llu, missing %llu, double %llu, out "
           "of place %llu, stray bytes %llu, %s\n",
           (unsigned long long)sum.frames, (unsigned long long)sum.messages,
           (unsigned long long)sum.damage.torn, (unsigned long long)sum.damage.missing,
           (unsigned long long)sum.damage.doubled, (unsigned long long)sum.damage.misplaced,
           (unsigned long long)sum.damage.stray_bytes,
           sum.closed ? "closed" : "not closed");
    return damage_status(log, path);
}

static int do_repair(const char *path, const log_options_t *o)
{
    gpurt_repair_figures_t sum;
    gpurt_error_t err;

    if (!o->output)
        return gpurt_option_refuse(&program, "repair: -o says where the mended log goes");
    if (gpurt_log_repair(path, o->output, &sum, &err) != GPURT_OK)
        return complain(&err);
    printf("%llu frames kept, %llu left out, %llu missing, %llu stray bytes left out\n",
           (unsigned long long)sum.frames_kept, (unsigned long long)sum.frames_lost,
           (unsigned long long)sum.damage.missing, (unsigned long long)sum.bytes_skipped);
    return 0;
}

/* OUT must not be the log itself: it would be cut before it is read. */
static FILE *export_open(const char *log, const char *output)
{
    struct stat from, to;

    if (strcmp(output, "-") == 0)
        return stdout;
    if (stat(log, &from) == 0 && stat(output, &to) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino) {
        errno = EEXIST;
        return NULL;
    }
    return fopen(output, "we");
}

static int do_export(gpurt_log_t *log, const char *path, const log_options_t *o)
{
    gpurt_error_t err;
    gpurt_status_t st;
    FILE *out;
    bool bad;

    if (!o->to)
        return gpurt_option_refuse(&program,
                                   "export: --to says the format: " EXPORT_FORMATS);
    if (!export_knows(o->to))
        return gpurt_option_refuse(
            &program, "export: no format is called '%s'; there are " EXPORT_FORMATS, o->to);
    if (!o->output)
        return gpurt_option_refuse(&program, "export: -o says where to; - for the standard "
                                             "output");
    out = export_open(path, o->output);
    if (!out) {
        gpurt_option_refuse(&program, "%s: %s", o->output, strerror(errno));
        return DAMAGED;
    }
    setvbuf(out, NULL, _IOFBF, EXPORT_BUFFER);
    st = export_log(log, o->to, out, &err);
    bad = out != stdout && ferror(out) != 0; /* that is looked at when we end */
    bad |= out != stdout && fclose(out) != 0;
    if (st != GPURT_OK)
        return complain(&err);
    if (bad) {
        gpurt_option_refuse(&program, "%s: could not be written", o->output);
        return DAMAGED;
    }
    return damage_status(log, path);
}

/* Those that read all of a log anyway walk its blocks: what is damaged is judged the same for
 * each of them. */
static bool reads_all(const char *command)
{
    return strcmp(command, "tail") != 0;
}

static int do_open(const char *command, const char *path, const log_options_t *o)
{
    log_print_t print = {.out = stdout,
                         .jsonl = o->jsonl,
                         .level = o->level ? level_of(o->level) : 0,
                         .pid = (uint32_t)o->pid};
    gpurt_log_t *log;
    gpurt_error_t err;
    int status;

    if (print.level > GPURT_LEVEL_LOST)
        return gpurt_option_refuse(&program, "no level is called '%s'", o->level);
    if ((reads_all(command) ? gpurt_log_open_walked : gpurt_log_open)(path, &log, &err) !=
        GPURT_OK)
        return complain(&err);
    print.log = log;
    if (strcmp(command, "cat") == 0)
        status = do_cat(log, &print, path);
    else if (strcmp(command, "tail") == 0)
        status = do_tail(log, &print, path, o);
    else if (strcmp(command, "stat") == 0)
        status = do_stat(log, path, o);
    else if (strcmp(command, "export") == 0)
        status = do_export(log, path, o);
    else
        status = do_verify(log, path);
    gpurt_log_close(log);
    return status;
}

static int do_level(const char *rules, int operands, const log_options_t *o)
{
    gpurt_error_t err = {0};

    if (operands > 2 || o->pid == 0 || o->pid > UINT32_MAX)
        return gpurt_option_refuse(&program, "level wants -p PID, and rules or none");
    return log_level((uint32_t)o->pid, rules, &err) == GPURT_OK ? 0 : complain(&err);
}

int main(int argc, char **argv)
{
    static const char *const commands[] = {"cat",    "tail",   "stat", "export",
                                           "verify", "repair", "level"};
    log_options_t options = {0};
    int operands, status = gpurt_option_parse(&program, argc, argv, &options, &operands);
    nearest_t nearest = {0};

    if (status >= 0)
        return status;
    gpurt_render_nice(nicename);
    if (operands < 1)
        return gpurt_option_refuse(
            &program,
            "say cat, tail, stat, export, verify or repair, and a file; or level");
    if (strcmp(argv[1], "level") == 0)
        return gpurt_option_end(
            &program, do_level(operands == 2 ? argv[2] : NULL, operands, &options),
            DAMAGED);
    nearest.typed = argv[1];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        nearest_try(&nearest, commands[i]);
        if (strcmp(argv[1], commands[i]) != 0)
            continue;
        if (operands != 2)
            return gpurt_option_refuse(&program, "%s wants one file", argv[1]);
        status = strcmp(argv[1], "repair") == 0 ? do_repair(argv[2], &options)
                                                : do_open(argv[1], argv[2], &options);
        return gpurt_option_end(&program, status, DAMAGED);
    }
    if (nearest_found(&nearest))
        return gpurt_option_refuse(&program, "no command is called '%s'; did you mean %s?",
                                   argv[1], nearest_found(&nearest));
    return gpurt_option_refuse(&program, "no command is called '%s'; see gpurt-log --help",
                               argv[1]);
}
