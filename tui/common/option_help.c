/* SPDX-License-Identifier: Apache-2.0 */
#include "option_help.h"

#include <ctype.h>
#include <string.h>

enum {
    LINE_CHARS = 79,
    NAMES_CHARS = 26,
    USAGE_CHARS = 7 /* "Usage: " */
};

static const gpurt_option_t help_and_version[] = {
    {.section = "Help", .letter = 'h', .name = "help", .help = "print this and end"},
    {.letter = 'V', .name = "version", .help = "print the version and end"},
};

typedef void (*row_fn)(const gpurt_option_t *row, FILE *out);

static void each_row(const gpurt_option_program_t *program, row_fn print, FILE *out)
{
    for (const gpurt_option_t *row = program->options; row->letter || row->name; row++)
        print(row, out);
    for (size_t i = 0; i < sizeof help_and_version / sizeof help_and_version[0]; i++)
        print(&help_and_version[i], out);
}

/* The paragraph that starts at *text; moves on to the next one. */
static const char *next_paragraph(const char **text, size_t *length)
{
    const char *start = *text, *end = strstr(start, "\n\n");

    *length = end ? (size_t)(end - start) : strlen(start);
    *text = start + *length + (end ? 2 : 0);
    return start;
}

/* ---- help ---------------------------------------------------------------------------- */
/* Words broken into lines that start at column `indent`; the first starts at `column`. */
static void print_wrapped(const char *text, size_t length, size_t indent, size_t column,
                          FILE *out)
{
    const char *end = text + length;
    bool first = true;

    while (text < end) {
        size_t word = 0;

        while (text + word < end && !isspace((unsigned char)text[word]))
            word++;
        if (!first && column + 1 + word > LINE_CHARS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        first = false;
        for (text += word; text < end && isspace((unsigned char)*text);)
            text++;
    }
    fputc('\n', out);
}

static void print_text(const char *text, FILE *out)
{
    while (*text) {
        size_t length;
        const char *start = next_paragraph(&text, &length);

        if (start[0] == ' ')
            fprintf(out, "%.*s\n", (int)length, start);
        else
            print_wrapped(start, length, 0, 0, out);
        if (*text)
            fputc('\n', out);
    }
}

static void print_row(const gpurt_option_t *row, FILE *out)
{
    int used;

    if (row->section)
        fprintf(out, "\n%s:\n", row->section);
    used = row->letter ? fprintf(out, "  -%c", row->letter) : fprintf(out, "    ");
    if (row->name)
        used += fprintf(out, "%s--%s", row->letter ? ", " : "  ", row->name);
    if (row->arg)
        used += fprintf(out, " %s", row->arg);
    if (used > NAMES_CHARS - 2)
        fprintf(out, "\n%*s", NAMES_CHARS, "");
    else
        fprintf(out, "%*s", NAMES_CHARS - used, "");
    print_wrapped(row->help, strlen(row->help), NAMES_CHARS, NAMES_CHARS, out);
}

void option_help_print(const gpurt_option_program_t *program, FILE *out)
{
    int used = fprintf(out, "Usage: %s ", program->name);

    print_wrapped(program->synopsis, strlen(program->synopsis), USAGE_CHARS, (size_t)used,
                  out);
    fputc('\n', out);
    print_text(program->description, out);
    each_row(program, print_row, out);
    for (const gpurt_option_text_t *t = program->texts; t && t->title; t++) {
        fprintf(out, "\n%c", t->title[0]);
        for (const char *c = t->title + 1; *c; c++)
            fputc(tolower((unsigned char)*c), out);
        fputs(":\n", out);
        print_text(t->text, out);
    }
}

void option_version_print(const gpurt_option_program_t *program, FILE *out)
{
    fprintf(out, "%s %d.%d.%d\n", program->name, GPURT_VERSION_MAJOR, GPURT_VERSION_MINOR,
            GPURT_VERSION_PATCH);
}

/* ---- manual page --------------------------------------------------------------------- */
/* Text as roff shows it unchanged: a dash stays a dash that can be copied to a shell, and a
 * line that begins with a dot is no request. */
static void print_roff(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        bool starts = i == 0 || text[i - 1] == '\n';

        if (starts && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

static void print_roff_line(const char *before, const char *text, const char *after,
                            FILE *out)
{
    fputs(before, out);
    print_roff(text, strlen(text), out);
    fputs(after, out);
}

static void print_roff_text(const char *text, FILE *out)
{
    for (bool first = true; *text; first = false) {
        size_t length;
        const char *start = next_paragraph(&text, &length);
        bool literal = start[0] == ' ';

        if (!first)
            fputs(".PP\n", out);
        if (literal)
            fputs(".nf\n", out);
        print_roff(start, length, out);
        fputs(literal ? "\n.fi\n" : "\n", out);
    }
}

static void print_roff_row(const gpurt_option_t *row, FILE *out)
{
    if (row->section)
        print_roff_line(".SS \"", row->section, "\"\n", out);
    fputs(".TP\n", out);
    if (row->letter)
        fprintf(out, "\\fB\\-%c\\fR%s", row->letter, row->name ? ", " : "");
    if (row->name)
        print_roff_line("\\fB\\-\\-", row->name, "\\fR", out);
    if (row->arg)
        print_roff_line(" \\fI", row->arg, "\\fR", out);
    print_roff_line("\n", row->help, "\n", out);
}

void option_man_print(const gpurt_option_program_t *program, FILE *out)
{
    fputs(".TH \"", out);
    for (const char *c = program->name; *c;
         c++) /* "gpurt-log cat" has page gpurt-log-cat */
        fputc(*c == ' ' ? '-' : toupper((unsigned char)*c), out);
    fprintf(out, "\" 1 \"\" \"gpurt %d.%d.%d\" \"gpurt manual\"\n.SH NAME\n",
            GPURT_VERSION_MAJOR, GPURT_VERSION_MINOR, GPURT_VERSION_PATCH);
    print_roff_line("", program->name, " \\- ", out);
    print_roff_line("", program->summary, "\n.SH SYNOPSIS\n", out);
    print_roff_line("\\fB", program->name, "\\fR ", out);
    print_roff_line("", program->synopsis, "\n.SH DESCRIPTION\n", out);
    print_roff_text(program->description, out);
    fputs(".SH OPTIONS\n", out);
    each_row(program, print_roff_row, out);
    for (const gpurt_option_text_t *t = program->texts; t && t->title; t++) {
        print_roff_line(".SH \"", t->title, "\"\n", out);
        print_roff_text(t->text, out);
    }
}
