/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt - runs gpurt-X for `gpurt X`. */
#include "gpurt_find.h"
#include "nearest.h"
#include "option.h"
#include "text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    OWN_ERROR = 125,
    NOT_EXECUTABLE = 126,
    NOT_FOUND = 127
};

static const gpurt_option_t rows[] = {{0}};

static const gpurt_option_text_t texts[] = {
    {"COMMANDS", "  X [ARG...]  runs gpurt-X: the one beside gpurt, or the first in PATH\n"
                 "  help [X]    this, or what X says of itself\n"
                 "  list        every X there is, and where"},
    {"EXIT STATUS",
     "That of gpurt-X; 125 when gpurt itself failed, 126 when gpurt-X cannot be "
     "executed, 127 when there is none."},
    {"EXAMPLES", "  gpurt top -- ./app\n"
                 "  gpurt help log"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt",
    .summary = "run a gpurt program by its short name",
    .synopsis = "X [ARG...] | help [X] | list",
    .description =
        "One command in front of gpurt-top, gpurt-record, gpurt-log, gpurt-panic, "
        "gpurt-doctor and whatever else is called gpurt-X.",
    .options = rows,
    .texts = texts,
    .operand_ends = true,
    .bad_status = OWN_ERROR,
};

static int refuse_unknown(const gpurt_found_t *found, const char *name)
{
    nearest_t nearest = {.typed = name};

    if (strpbrk(name, "/\033\n")) { /* nothing that could be a name, or hurt a terminal */
        gpurt_option_refuse(&program, "that is no name of a program; see gpurt list");
        return NOT_FOUND;
    }
    for (uint32_t i = 0; i < found->count; i++)
        nearest_try(&nearest, found->list[i].name);
    if (nearest_found(&nearest))
        gpurt_option_refuse(&program, "there is no gpurt-%s; did you mean gpurt %s?", name,
                            nearest_found(&nearest));
    else
        gpurt_option_refuse(&program, "there is no gpurt-%s; see gpurt list", name);
    return NOT_FOUND;
}

/* argv[0] is X. Comes back only when it could not run. */
static int run(const gpurt_found_t *found, char **argv)
{
    for (uint32_t i = 0; i < found->count; i++) {
        char path[PATH_MAX];
        int code;

        if (strcmp(found->list[i].name, argv[0]) != 0)
            continue;
        snprintf(path, sizeof path, "%s", found->list[i].path);
        argv[0] = path;
        execv(path, argv);
        code = errno;
        gpurt_option_refuse(&program, "%s: %s", path, strerror(code));
        return code == ENOENT || code == ENOTDIR ? NOT_FOUND : NOT_EXECUTABLE;
    }
    return refuse_unknown(found, argv[0]);
}

static int list(const gpurt_found_t *found)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const gpurt_found_program_t *p = &found->list[i];
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%-10s %s", p->name, p->path);

        text_put_lines(stdout, "  ", line, (size_t)length, 1);
    }
    return gpurt_option_end(&program, 0, program.bad_status);
}

static int help(const gpurt_found_t *found, char **argv, int count)
{
    char help_word[] = "--help", own[] = "gpurt";
    char *ask[] = {count > 0 ? argv[0] : own, help_word, NULL};
    int operands;

    if (count > 1)
        return gpurt_option_refuse(&program, "help wants one name");
    return count > 0 ? run(found, ask)
                     : gpurt_option_parse(&program, 2, ask, NULL, &operands);
}

int main(int argc, char **argv)
{
    static gpurt_found_t found;
    int operands, status = gpurt_option_parse(&program, argc, argv, NULL, &operands);

    if (status >= 0)
        return status;
    if (operands == 0)
        return gpurt_option_refuse(&program, "say which program; see gpurt list");
    gpurt_find(&found);
    if (strcmp(argv[1], "help") == 0)
        return help(&found, argv + 2, operands - 1);
    if (strcmp(argv[1], "list") == 0 && operands == 1)
        return list(&found);
    return run(&found, argv + 1);
}
