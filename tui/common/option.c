/* SPDX-License-Identifier: Apache-2.0 */
#include "option.h"

#include "nearest.h"
#include "number.h"
#include "option_help.h"
#include "standardfiles.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

enum {
    NAME_MAX_CHARS = NEAREST_MAX, /* no option has a longer name */
    MESSAGE_MAX = 8192,           /* a path, and what is said of it */
    USES_MAX = 512
};

typedef struct scan {
    const gpurt_option_program_t *program;
    char *values;
    char **argv;
    int argc, at;                 /* argv[at] is read next */
    uint64_t given, by_letter;    /* rows of the program's own, a bit each */
    char set[NAME_MAX_CHARS + 3]; /* the option at work, for messages: "--seeds", "-n" */
} scan_t;

/* Rows that every program has. Their kind is told by their address. */
static const gpurt_option_t help_row = {.letter = 'h', .name = "help"};
static const gpurt_option_t version_row = {.letter = 'V', .name = "version"};
static const gpurt_option_t man_row = {.name = "man"};
static const gpurt_option_t *const common_rows[] = {&help_row, &version_row, &man_row,
                                                    NULL};

int gpurt_option_refuse(const gpurt_option_program_t *program, const char *fmt, ...)
{
    FILE *err = program->err ? program->err : stderr;
    char text[MESSAGE_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(err, "%s: ", program->name);
    text_put_line(err, text, strlen(text)); /* names of others must not steer a terminal */
    return program->bad_status;
}

/* Of a pipe or a socket, also when a write failed long ago. */
static bool reader_left(FILE *out)
{
    struct pollfd look = {.fd = fileno(out), .events = POLLOUT};

    return look.fd >= 0 && poll(&look, 1, 0) > 0 && (look.revents & POLLERR);
}

int gpurt_option_end(const gpurt_option_program_t *program, int status, int failed)
{
    FILE *out = program->out ? program->out : stdout;
    bool lost_before = ferror(out); /* its reason is gone */
    int code = fflush(out) == 0 ? 0 : errno;

    if ((code == 0 && !lost_before) || code == EPIPE || reader_left(out))
        return status;
    gpurt_option_refuse(program,
                        code ? "cannot write to standard output: %s"
                             : "cannot write to standard output",
                        strerror(code));
    clearerr(out); /* it is told once */
    return status ? status : failed;
}

/* ---- finding a row ------------------------------------------------------------------- */
/* The i-th row, the program's own first; NULL at the end. */
static const gpurt_option_t *row_at(const gpurt_option_program_t *program, size_t i)
{
    size_t own = 0;

    while (program->options[own].letter || program->options[own].name)
        own++;
    return i < own ? &program->options[i] : common_rows[i - own];
}

static const gpurt_option_t *row_by_letter(const gpurt_option_program_t *program,
                                           char letter)
{
    const gpurt_option_t *row;

    for (size_t i = 0; (row = row_at(program, i)); i++)
        if (row->letter == letter)
            return row;
    return NULL;
}

static void refuse_unknown(const scan_t *scan, const char *name)
{
    nearest_t nearest = {.typed = name};
    const gpurt_option_t *row;

    for (size_t i = 0; (row = row_at(scan->program, i)); i++)
        if (row->name && row != &man_row)
            nearest_try(&nearest, row->name);
    if (nearest_found(&nearest))
        gpurt_option_refuse(scan->program, "unknown option --%s; did you mean --%s?", name,
                            nearest_found(&nearest));
    else
        gpurt_option_refuse(scan->program, "unknown option --%s; see %s --help", name,
                            scan->program->name);
}

/* By its whole name, or by a beginning that only one name has. NULL: it has said why. */
static const gpurt_option_t *row_by_name(const scan_t *scan, const char *name)
{
    const gpurt_option_t *row, *found = NULL;
    size_t length = strlen(name);

    for (size_t i = 0; (row = row_at(scan->program, i)); i++)
        if (row->name && strcmp(row->name, name) == 0)
            return row;
    for (size_t i = 0; length > 0 && (row = row_at(scan->program, i)); i++) {
        if (!row->name || row == &man_row || strncmp(row->name, name, length) != 0)
            continue;
        if (found) {
            gpurt_option_refuse(scan->program, "--%s could be --%s or --%s", name,
                                found->name, row->name);
            return NULL;
        }
        found = row;
    }
    if (!found)
        refuse_unknown(scan, name);
    return found;
}

/* ---- values -------------------------------------------------------------------------- */
/* "90", "1.5", "300ms", "2m", "1h". Digits beyond a nanosecond are dropped. */
static bool read_seconds(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1000000000}, {"s", 1000000000},  {"ms", 1000000},
                 {"us", 1000},     {"m", 60000000000}, {"h", 3600000000000}};
    size_t digits = strspn(text, "0123456789"), i = 0;
    const char *unit = text + digits;
    uint64_t whole, share;

    if (!gpurt_number_part(text, text + digits, &whole))
        return false;
    if (*unit == '.')
        unit += 1 + strspn(unit + 1, "0123456789");
    while (strcmp(units[i].name, unit) != 0)
        if (++i == sizeof units / sizeof units[0])
            return false;
    if (__builtin_mul_overflow(whole, units[i].ns, ns))
        return false;
    share = units[i].ns;
    for (const char *c = text + digits + 1; c < unit; c++) {
        share /= 10;
        if (__builtin_add_overflow(*ns, share * (uint64_t)(*c - '0'), ns))
            return false;
    }
    return true;
}

static int store_number(const scan_t *scan, const gpurt_option_t *row, const char *text,
                        uint64_t *field)
{
    uint64_t max = row->max ? row->max : UINT64_MAX, number;

    if (!gpurt_number_read(text, &number))
        return gpurt_option_refuse(scan->program, "%s: '%s' is not a whole number",
                                   scan->set, text);
    if (number < row->min && max == UINT64_MAX)
        return gpurt_option_refuse(scan->program, "%s: %s is less than %llu", scan->set,
                                   text, (unsigned long long)row->min);
    if (number < row->min || number > max)
        return gpurt_option_refuse(scan->program, "%s: %s is not between %llu and %llu",
                                   scan->set, text, (unsigned long long)row->min,
                                   (unsigned long long)max);
    *field = number;
    return -1;
}

static int store_pick(const scan_t *scan, const gpurt_option_t *row, uint32_t *field)
{
    const gpurt_option_t *other = scan->program->options;

    if (*field == 0 || *field == row->pick) {
        *field = row->pick;
        return -1;
    }
    while (other->kind != GPURT_OPTION_PICK || other->offset != row->offset ||
           other->pick != *field)
        other++;
    return gpurt_option_refuse(scan->program, "--%s and --%s exclude each other",
                               other->name, row->name);
}

/* Returns: -1, or the exit status. */
static int store(const scan_t *scan, const gpurt_option_t *row, const char *text)
{
    char *field = scan->values + row->offset;

    switch (row->kind) {
    case GPURT_OPTION_FLAG:
        *(bool *)field = true;
        return -1;
    case GPURT_OPTION_PICK:
        return store_pick(scan, row, (uint32_t *)(void *)field);
    case GPURT_OPTION_STRING:
        *(const char **)(void *)field = text;
        return -1;
    case GPURT_OPTION_NUMBER:
        return store_number(scan, row, text, (uint64_t *)(void *)field);
    case GPURT_OPTION_SECONDS:
        if (read_seconds(text, (uint64_t *)(void *)field))
            return -1;
        break;
    }
    return gpurt_option_refuse(
        scan->program, "%s: '%s' is not a time; say 10, 0.5, 300ms or 2m", scan->set, text);
}

/* ---- one argument -------------------------------------------------------------------- */
/* Prints what a common row asks for. Returns: -1 for a row of the program's own. */
static int answer(const gpurt_option_program_t *program, const gpurt_option_t *row)
{
    FILE *out = program->out ? program->out : stdout;

    if (row == &help_row)
        option_help_print(program, out);
    else if (row == &version_row)
        option_version_print(program, out);
    else if (row == &man_row)
        option_man_print(program, out);
    else
        return -1;
    return gpurt_option_end(program, 0, program->bad_status);
}

static bool has_value(const gpurt_option_t *row)
{
    return row->kind != GPURT_OPTION_FLAG && row->kind != GPURT_OPTION_PICK;
}

static void note_given(scan_t *scan, const gpurt_option_t *row)
{
    uint64_t bit = 1ull << (row - scan->program->options);

    scan->given |= bit;
    if (scan->set[1] == '-')
        scan->by_letter &= ~bit;
    else
        scan->by_letter |= bit;
}

/* `text` is the value that was attached to the option, or NULL. */
static int take(scan_t *scan, const gpurt_option_t *row, const char *text)
{
    int status = answer(scan->program, row);

    if (status >= 0)
        return status;
    note_given(scan, row);
    if (!has_value(row) && text)
        return gpurt_option_refuse(scan->program, "%s takes no value", scan->set);
    if (has_value(row) && !text) {
        if (scan->at == scan->argc)
            return gpurt_option_refuse(scan->program, "%s needs a value: %s %s", scan->set,
                                       scan->set, row->arg);
        text = scan->argv[scan->at++];
    }
    return store(scan, row, text);
}

static int take_long(scan_t *scan, const char *text)
{
    char name[NAME_MAX_CHARS + 1];
    size_t length = strcspn(text, "=");
    const gpurt_option_t *row;

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    row = row_by_name(scan, name);
    if (!row)
        return scan->program->bad_status;
    snprintf(scan->set, sizeof scan->set, "--%s", row->name);
    return take(scan, row, text[length] == '=' ? text + length + 1 : NULL);
}

static int take_letters(scan_t *scan, const char *letters)
{
    int status = -1;

    for (; *letters && status < 0; letters++) {
        const gpurt_option_t *row = row_by_letter(scan->program, *letters);

        if (!row)
            return gpurt_option_refuse(scan->program, "unknown option -%c; see %s --help",
                                       *letters, scan->program->name);
        snprintf(scan->set, sizeof scan->set, "-%c", *letters);
        if (has_value(row))
            return take(scan, row, letters[1] ? letters + 1 : NULL);
        status = take(scan, row, NULL);
    }
    return status;
}

/* ---- what is heeded ------------------------------------------------------------------ */
/* "cat, tail or level" */
static void uses_name(const char *const *names, uint32_t uses, char out[USES_MAX])
{
    const char *between = "";
    size_t used = 0;

    out[0] = '\0';
    for (uint32_t i = 0, rest = uses; rest && used < USES_MAX; i++, rest >>= 1) {
        uint32_t after = rest >> 1;

        if (!(rest & 1u))
            continue;
        used += (size_t)snprintf(out + used, USES_MAX - used, "%s%s", between, names[i]);
        between = after & (after - 1) ? ", " : " or "; /* several are left, or one */
    }
}

/* An option that what was asked for does not heed would be lost without a word.
 * Returns: -1, or the exit status. */
static int refuse_unheeded(const scan_t *scan, char *const *operands, int count)
{
    const gpurt_option_program_t *program = scan->program;
    uint32_t asked = program->uses ? program->uses->find(scan->values, operands, count) : 0;

    for (uint32_t i = 0; asked && scan->given >> i; i++) {
        const gpurt_option_t *row = &program->options[i];
        char names[USES_MAX];

        if (!(scan->given >> i & 1u) || !row->uses || (row->uses & asked))
            continue;
        uses_name(program->uses->names, row->uses, names);
        if (scan->by_letter >> i & 1u)
            return gpurt_option_refuse(program, "-%c is for %s only", row->letter, names);
        return gpurt_option_refuse(program, "--%s is for %s only", row->name, names);
    }
    return -1;
}

int gpurt_option_parse(const gpurt_option_program_t *program, int argc, char **argv,
                       void *values, int *operands)
{
    scan_t scan = {
        .program = program, .values = values, .argv = argv, .argc = argc, .at = 1};
    bool ended = false;
    int kept = 0;

    standardfiles_fill();
    /* An operand moves down to the first free place, which lies never above it. */
    while (scan.at < argc) {
        char *word = argv[scan.at++];
        int status = -1;

        if (ended || word[0] != '-' || word[1] == '\0') {
            argv[++kept] = word;
            ended |= program->operand_ends;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (word[1] == '-') {
            status = take_long(&scan, word + 2);
        } else {
            status = take_letters(&scan, word + 1);
        }
        if (status >= 0)
            return status;
    }
    if (kept + 1 < argc)
        argv[kept + 1] = NULL;
    *operands = kept;
    return refuse_unheeded(&scan, argv + 1, kept);
}
