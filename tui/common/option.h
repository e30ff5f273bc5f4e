/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - the option parser of all gpurt programs.
 *
 * A program describes itself once: a table of options whose rows point into its own options
 * struct, and a few paragraphs. From that one description come the parsed values, `--help`,
 * `--version`, the manual page (`--man`) and every message about a wrong command line.
 * Understood are -x, -xVALUE, -x VALUE, -xyz, --name, --name=VALUE, --name VALUE, any
 * beginning of a long name that fits one option only, and -- as the end of the options.
 * Where a program does several things, each row says for which of them it counts, and an
 * option that would do nothing is refused by its name. It knows nothing of what the values
 * mean; it allocates nothing. */
#ifndef GPURT_TUI_OPTION_H
#define GPURT_TUI_OPTION_H

#include <gpurt/base.h>
#include <stdio.h>

typedef enum gpurt_option_kind {
    GPURT_OPTION_FLAG, /* bool, becomes true */
    GPURT_OPTION_PICK, /* uint32_t, becomes `pick`; picks of one field exclude each other */
    GPURT_OPTION_STRING,  /* const char *, points into argv */
    GPURT_OPTION_NUMBER,  /* uint64_t from min to max; decimal, or hexadecimal after 0x */
    GPURT_OPTION_SECONDS, /* uint64_t, in nanoseconds; typed as 10, 0.5, 300ms, 2m, 1h */
} gpurt_option_kind_t;

/* One row. The last row of a table has neither letter nor name. */
typedef struct gpurt_option {
    const char *section; /* heading above this row; NULL: the row belongs to the last one */
    char letter;         /* 0: none */
    const char *name;    /* without the dashes; NULL: none */
    const char *arg;     /* what the help calls the value; NULL for FLAG and PICK */
    const char *help;    /* a sentence or two, says the default */
    gpurt_option_kind_t kind;
    size_t offset;     /* of the field in the options struct */
    uint32_t pick;     /* PICK: not 0 */
    uint64_t min, max; /* NUMBER; max 0: no limit */
    uint32_t uses;     /* bits of those that heed it; 0: all do */
} gpurt_option_t;

/* A part of the help and of the manual page. Paragraphs are separated by an empty line; one
 * whose lines begin with two spaces is printed as it stands. */
typedef struct gpurt_option_text {
    const char *title; /* "EXIT STATUS" */
    const char *text;
} gpurt_option_text_t;

/* What a program may do, such as its verbs: bit i of `uses` is names[i]. `find` tells from a
 * command line that is parsed which of them it asks for; 0: that is told later, by others. */
typedef struct gpurt_option_uses {
    const char *const *names; /* as messages name them: "cat", "--replay FILE" */
    uint32_t (*find)(const void *values, char *const *operands, int count);
} gpurt_option_uses_t;

/* Owner: the program (static). Everything in it is constant. */
typedef struct gpurt_option_program {
    const char *name;     /* "gpurt-check" */
    const char *summary;  /* "find the schedule that breaks a program": fits one line */
    const char *synopsis; /* "[OPTION...] [--] PROGRAM [ARG...]" */
    const char *description;
    const gpurt_option_t *options;
    const gpurt_option_text_t *texts; /* the last one has no title; NULL: none */
    const gpurt_option_uses_t *uses;  /* NULL: there is one alone */
    bool operand_ends; /* the first operand is a command: what follows is its own */
    int bad_status;    /* exit status after a wrong command line */
    FILE *out, *err;   /* NULL: stdout, stderr */
} gpurt_option_program_t;

/* The first call of every program, so it fills standard files that are missing, too
 * (standardfiles.h). Fills `values`, the program's options struct, which holds the defaults before;
 * leaves the operands in argv[1] to argv[*operands], followed by NULL.
 * Returns: -1 to go on, otherwise the status to exit with (help was asked for and printed,
 * or the command line is wrong and one line on err says how). */
int gpurt_option_parse(const gpurt_option_program_t *program, int argc, char **argv,
                       void *values, int *operands);

/* Prints "gpurt-check: " and the message as one line, control characters as \x1b.
 * Returns: the program's bad_status. */
int gpurt_option_refuse(const gpurt_option_program_t *program, const char *fmt, ...)
    GPURT_PRINTF(2, 3);

/* Ends a program's output: every program calls it once, when all is printed.
 * Returns: status; where standard output did not take all that was printed, it says so, and
 * returns `failed` instead of 0. A reader that has left (EPIPE) wanted no more: no failure. */
int gpurt_option_end(const gpurt_option_program_t *program, int status, int failed);

#endif
