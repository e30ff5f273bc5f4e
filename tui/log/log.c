/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-log - shows, sums up, checks and mends log files. */
#include "besidelog.h"
#include "code_text.h"
#include "colour.h"
#include "cursor.h"
#include "export.h"
#include "follow.h"
#include "levelset.h"
#include "lines_text.h"
#include "linestack.h"
#include "lives.h"
#include "log_filter.h"
#include "log_level.h"
#include "log_options.h"
#include "log_print.h"
#include "model.h"
#include "nearest.h"
#include "nicename.h"
#include "pager.h"
#include "plural.h"
#include "render.h"
#include "repair.h"
#include "speedscope.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define CODE_NS   (60 * SECOND_NS) /* for cuobjdump; 1.3 s for a program of CUB's sort */

enum {
    DAMAGED = 1,
    FOLLOW_NS = 20000000,
    EXPORT_BUFFER = 1 << 20,
    PIDS_TOLD = 8
};

static int complain(const gpurt_error_t *err)
{
    gpurt_option_refuse(&log_program, "%s", err->text);
    return DAMAGED;
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
    while (!ferror(p->text.out) && (row = gpurt_cursor_next(c)) != NULL)
        log_print_row(p, row);
    gpurt_cursor_close(c);
    return ferror(p->text.out) ? DAMAGED : 0;
}

/* What of the log is damaged, as far as it was read. Returns: DAMAGED where something is. */
static int damage_status(const gpurt_log_t *log, const char *path)
{
    char text[GPURT_DAMAGE_TEXT];
    gpurt_log_summary_t sum;

    gpurt_log_summary(log, &sum);
    if (!gpurt_log_damage_text(&sum, text))
        return 0;
    gpurt_option_refuse(&log_program, "%s: %s", path, text);
    return DAMAGED;
}

static void programs_name(const gpurt_log_t *log, gpurt_text_t *out)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(log);
    uint32_t count = gplog_program_count(d);
    gpurt_log_summary_t sum;
    gplog_program_t p;

    gpurt_log_summary(log, &sum);
    for (uint32_t i = 0; i < (count ? count : 1) && i < PIDS_TOLD; i++) {
        gpurt_text_printf(out, "%s", i ? ", " : "");
        gplog_program_known(d, &sum.about, i, &p);
        who_text(&p, out);
    }
    if (count > PIDS_TOLD)
        gpurt_text_printf(out, " and %u more (gpurt-log stat)", count - PIDS_TOLD);
}

/* Where nothing was printed, and no process of the log has that pid. Returns: DAMAGED then. */
static int pid_status(const gpurt_log_t *log, const log_print_t *p, const char *path)
{
    char room[1024];
    gpurt_text_t names;
    gpurt_log_summary_t sum;
    gplog_program_t found;

    gpurt_log_summary(log, &sum);
    if (!p->pid || p->printed || sum.about.identity.pid == p->pid ||
        gplog_program_find(gpurt_log_dictionary(log), p->pid, &found))
        return 0;
    gpurt_text_init(&names, room, sizeof room);
    programs_name(log, &names);
    gpurt_option_refuse(&log_program, "%s has no process %u; it has %s", path, p->pid,
                        room);
    return DAMAGED;
}

/* What is told of the log comes when the pager has left the terminal. */
static int do_cat(gpurt_log_t *log, log_print_t *p, const char *path,
                  const log_options_t *o)
{
    pager_t pager = {0};
    int status, paged;

    if (!o->no_pager)
        pager_begin(&pager);
    status = print_from(log, p, 0);
    if (pager.pid && ferror(p->text.out))
        status = 0; /* the user had seen enough */
    paged = pager_end(&pager);
    if (paged >= PAGER_NOT_STARTED)
        return gpurt_option_refuse(&log_program,
                                   "the pager '%s' does not start; GPURT_PAGER and PAGER "
                                   "name one, --no-pager does without",
                                   pager.command);
    if (paged)
        return gpurt_option_refuse(&log_program,
                                   "the pager '%s' ended with status %d, so not all may "
                                   "have been shown; --no-pager does without",
                                   pager.command, paged);
    if (!status)
        status = pid_status(log, p, path);
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
        count += log_print_count(p, row);
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
    follow_t follow = {.program = log_program.name, .path = path};
    uint64_t frame = tail_start(log, p, o->lines);
    gpurt_log_summary_t sum;
    int status;

    for (;;) {
        status = print_from(log, p, frame);
        frame = gpurt_log_frames(log);
        fflush(p->text.out);
        gpurt_log_summary(log, &sum);
        if (status || !o->follow || sum.closed)
            return status ? status : pid_status(log, p, path);
        p->skip = 0;
        if (!more_comes(log, &follow))
            return FOLLOW_CUT;
    }
}

static bool has_sums(const gpurt_log_t *log)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(log);
    gpurt_site_info_t info;
    uint32_t id = 0;

    while (gpurt_dictionary_next(d, &id, &info))
        if (!gpurt_kind_is_line(info.record_kind))
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
                                    who_count_t counts[GPLOG_PROGRAM_OTHERS + 1],
                                    const filter_run_t *run)
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
            if (!log_filter_fits(log, run, row))
                continue;
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

static int do_stat(gpurt_log_t *log, const char *path, const log_options_t *o,
                   filter_run_t *run)
{
    who_count_t counts[GPLOG_PROGRAM_OTHERS + 1] = {{0}};
    log_stat_t stat = {.dictionary = gpurt_log_dictionary(log)};

    check_all(log, false);
    gpurt_lives_read(log, &stat.lives, &stat.life_count, NULL);
    stat.view = sums_read(log, counts, run);
    stat.counts = stat.view ? counts : NULL;
    gpurt_log_summary(log, &stat.sum);
    if (run)
        log_filter_sum(log, run, &stat.sum);
    log_print_stat(stdout, &stat, o->form == LOG_JSON);
    free(stat.lives);
    free(stat.view);
    damage_status(log, path);
    return 0;
}

/* Samples whose time ends behind `from_ns`. Of each record one line: it fits a filter whole, or not
 * at all. */
static void lines_read(gpurt_log_t *log, const filter_run_t *run, uint64_t from_ns,
                       gpurt_linesums_t *sums)
{
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&frame, at, &at)) != NULL)
            if (row->kind == GPURT_KIND_LINE && gpurt_linesums_end(row) > from_ns &&
                log_filter_fits(log, run, row))
                gpurt_linesums_add(sums, row);
    }
}

static void lines_json(FILE *out, const lines_text_t *lines, const code_text_t *code)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    if (code)
        code_text_json(&j, NULL, code);
    else
        lines_text_json(&j, NULL, lines);
    gpurt_json_newline(&j);
}

/* Of the first GPU that is told; 0: none is. */
static uint32_t arch_read(gpurt_log_t *log)
{
    uint32_t arch = 0, at;

    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            continue;
        for (at = 0; (row = gpurt_log_row(&frame, at, &at)) != NULL;) {
            gpurt_activity_any_t room;
            const gpurt_activity_device_t *d;

            if (row->kind != GPURT_KIND_DEVICE || arch)
                continue;
            d = gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);
            arch = d ? 10 * d->major + d->minor : 0;
        }
    }
    return arch;
}

/* Of those that were sampled, and are asked for. */
static bool code_wanted(const void *context, const char *name)
{
    const lines_text_t *l = context;
    char room[LINES_NAME];

    for (uint32_t i = 0; i < l->sums->function_count; i++) {
        const gpurt_linesum_function_t *f = &l->sums->functions[i];

        if (lines_text_wanted(l, f) &&
            strcmp(lines_text_name(l, f->function, room), name) == 0)
            return true;
    }
    return false;
}

/* Instructions, of `code` alone. Without their text they stand all the same. */
static void code_print(gpurt_log_t *log, const lines_text_t *lines, const log_options_t *o)
{
    char why[SASSTEXT_WHY];
    const code_wish_t wish = {code_wanted, lines};
    sasstext_t *sass = sasstext_read(o->code, &wish, CODE_NS, why);
    const code_text_t code = {lines, sass, sass ? arch_read(log) : 0};

    if (why[0])
        gpurt_option_refuse(&log_program, "%s", why);
    if (o->form == LOG_JSON)
        lines_json(stdout, lines, &code);
    else
        code_text_print(stdout, &code);
    sasstext_close(sass);
}

static int do_lines(gpurt_log_t *log, const char *path, const log_options_t *o,
                    const filter_run_t *run)
{
    gpurt_linesums_t sums = {0};
    const lines_text_t lines = {.names = gpurt_log_dictionary(log),
                                .name = lines_text_dictionary,
                                .sums = &sums,
                                .kernel = o->kernel};
    bool done;

    if (o->code && (o->form == LOG_FOLDED || o->form == LOG_SPEEDSCOPE))
        return gpurt_option_refuse(&log_program, "--code and --%s exclude each other",
                                   o->form == LOG_FOLDED ? "folded" : "speedscope");
    lines_read(log, run, 0, &sums);
    if (o->last_s && sums.last_ns > o->last_s * SECOND_NS) {
        const uint64_t from_ns = sums.last_ns - o->last_s * SECOND_NS;

        gpurt_linesums_fini(&sums);
        lines_read(log, run, from_ns, &sums);
    }
    done =
        gpurt_linesums_finish(&sums) == GPURT_OK &&
        (o->form != LOG_SPEEDSCOPE || speedscope_print(stdout, &lines, path) == GPURT_OK);
    if (done && o->code)
        code_print(log, &lines, o);
    else if (done && o->form == LOG_JSON)
        lines_json(stdout, &lines, NULL);
    else if (done && o->form == LOG_FOLDED)
        linestack_folded(stdout, &lines);
    else if (done && o->form == LOG_TEXT)
        lines_text_plain(stdout, &lines);
    gpurt_linesums_fini(&sums);
    if (!done) {
        gpurt_option_refuse(&log_program, "%s: no memory", path);
        return DAMAGED;
    }
    return damage_status(log, path);
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
        return gpurt_option_refuse(&log_program,
                                   "repair: -o says where the mended log goes");
    signal(SIGXFSZ, SIG_IGN); /* a file that meets a limit is an error of its write */
    if (gpurt_log_repair(path, o->output, &sum, &err) != GPURT_OK)
        return complain(&err);
    printf("%llu frame%s kept, %llu left out, %llu missing, %llu stray byte%s left out\n",
           (unsigned long long)sum.frames_kept, gpurt_plural(sum.frames_kept, "s"),
           (unsigned long long)sum.frames_lost, (unsigned long long)sum.damage.missing,
           (unsigned long long)sum.bytes_skipped, gpurt_plural(sum.bytes_skipped, "s"));
    return 0;
}

static int do_export(gpurt_log_t *log, const char *path, const log_options_t *o,
                     filter_run_t *run)
{
    besidelog_t beside = {0};
    FILE *out = stdout;
    gpurt_error_t err;
    gpurt_status_t st;
    bool whole;

    if (!o->to)
        return gpurt_option_refuse(&log_program,
                                   "export: --to says the format: " EXPORT_FORMATS);
    if (!export_knows(o->to))
        return gpurt_option_refuse(
            &log_program, "export: no format is called '%s'; there are " EXPORT_FORMATS,
            o->to);
    if (!o->output)
        return gpurt_option_refuse(&log_program,
                                   "export: -o says where to; - for the standard "
                                   "output");
    if (strcmp(o->output, "-") != 0) {
        if (besidelog_open(&beside, o->output, path, NULL, &err) != GPURT_OK)
            return complain(&err);
        out = beside.file;
    }
    signal(SIGXFSZ, SIG_IGN); /* as in repair */
    setvbuf(out, NULL, _IOFBF, EXPORT_BUFFER);
    st = export_log(log, o->to, run, out, &err);
    /* standard output is looked at when we end */
    whole = !beside.file || besidelog_close(&beside);
    if (st != GPURT_OK)
        return complain(&err);
    if (!whole) {
        gpurt_option_refuse(&log_program, "%s: could not be written%s%s", o->output,
                            errno ? ": " : "", errno ? strerror(errno) : "");
        return DAMAGED;
    }
    return damage_status(log, path);
}

/* Of the frames that were not read, what their blocks say. */
static int tail_and_judge(gpurt_log_t *log, log_print_t *p, const char *path,
                          const log_options_t *o)
{
    int status = do_tail(log, p, path, o);

    return status ? status : damage_status(log, path);
}

static int do_open(const char *command, const char *path, const log_options_t *o)
{
    log_print_t print = {
        .text = {.out = stdout}, .jsonl = o->jsonl, .pid = (uint32_t)o->pid};
    colour_when_t when;
    static filter_run_t run; /* zeroed, and large */
    filter_run_t *filtered = o->filter ? &run : NULL;
    gpurt_log_t *log;
    gpurt_error_t err;
    int status;

    if (o->filter && !log_filter_begin(&log_program, command, o->filter, &run))
        return LOG_BAD_USE;
    print.run = filtered;
    if (!colour_named(o->color, &when))
        return gpurt_option_refuse(&log_program, "--color=%s: auto, always or never",
                                   o->color);
    print.text.colour = colour_wanted(stdout, when);
    if (o->level && !gpurt_level_find(o->level, &print.level))
        return gpurt_option_refuse(&log_program, "no level is called '%s'", o->level);
    /* Its blocks are walked, also where only its end is read: by its index alone a log whose frames
     * changed places ends with others than cat shows. */
    if (gpurt_log_open_walked(path, &log, &err) != GPURT_OK)
        return complain(&err);
    print.log = log;
    print.text.dictionary = gpurt_log_dictionary(log);
    if (strcmp(command, "cat") == 0)
        status = do_cat(log, &print, path, o);
    else if (strcmp(command, "tail") == 0)
        status = tail_and_judge(log, &print, path, o);
    else if (strcmp(command, "stat") == 0)
        status = do_stat(log, path, o, filtered);
    else if (strcmp(command, "lines") == 0)
        status = do_lines(log, path, o, filtered);
    else if (strcmp(command, "export") == 0)
        status = do_export(log, path, o, filtered);
    else
        status = do_verify(log, path);
    if (!o->follow && strcmp(command, "stat") != 0 && strcmp(command, "verify") != 0)
        follow_cut_tell(log_program.name, path, log); /* those two say it with the rest */
    gpurt_log_close(log);
    fflush(stdout);
    filter_run_tell(&run, log_program.name, stderr);
    return status;
}

static int do_level(const char *rules, int operands, const log_options_t *o)
{
    gpurt_error_t err = {0};
    gpurt_levelset_t set;

    if (operands > 2 || o->pid == 0 || o->pid > UINT32_MAX)
        return gpurt_option_refuse(&log_program, "level wants -p PID, and rules or none");
    if (rules && gpurt_levelset_parse(rules, &set, &err) != GPURT_OK)
        return gpurt_option_refuse(&log_program, "%s", err.text);
    return log_level((uint32_t)o->pid, rules, &err) == GPURT_OK ? 0 : complain(&err);
}

int main(int argc, char **argv)
{
    log_options_t options = {.lines = 10};
    int operands,
        status = gpurt_option_parse(&log_program, argc, argv, &options, &operands);
    nearest_t nearest = {0};

    if (status >= 0)
        return status;
    gpurt_render_nice(nicename);
    if (operands < 1)
        return gpurt_option_refuse(
            &log_program,
            "say cat, tail, stat, lines, export, verify or repair, and a file; or level");
    if (strcmp(argv[1], "level") == 0)
        return gpurt_option_end(
            &log_program, do_level(operands == 2 ? argv[2] : NULL, operands, &options),
            DAMAGED);
    nearest.typed = argv[1];
    for (size_t i = 0; log_commands[i]; i++) {
        nearest_try(&nearest, log_commands[i]);
        if (strcmp(argv[1], log_commands[i]) != 0)
            continue;
        if (operands != 2)
            return gpurt_option_refuse(&log_program, "%s wants one file", argv[1]);
        status = strcmp(argv[1], "repair") == 0 ? do_repair(argv[2], &options)
                                                : do_open(argv[1], argv[2], &options);
        return gpurt_option_end(&log_program, status, DAMAGED);
    }
    if (nearest_found(&nearest))
        return gpurt_option_refuse(&log_program,
                                   "no command is called '%s'; did you mean %s?", argv[1],
                                   nearest_found(&nearest));
    return gpurt_option_refuse(&log_program,
                               "no command is called '%s'; see gpurt-log --help", argv[1]);
}
