/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *remedy;
    elf_kind_t kind;
} tools[] = {
    [TARGET_SEEDS] = {"seeds", "", ELF_KIND_UNKNOWN},
    [TARGET_RACE] = {"race", "compile and link with clang -fsanitize=thread",
                     ELF_KIND_RACE},
    [TARGET_ASAN] = {"asan", "compile and link with -fsanitize=address", ELF_KIND_ASAN},
    [TARGET_SCHEDULE] = {"schedule",
                         "compile with clang -fsanitize=thread and link with "
                         "libgpurt_schedule.a instead of the sanitizer",
                         ELF_KIND_SCHEDULE},
};

const char *target_tool_name(target_tool_t tool)
{
    return tools[tool].name;
}

/* Returns: 0 when path is a file that may be executed, otherwise why not, as errno. */
static int file_refuses(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* Puts the file into out->path. Returns: 0 or the errno of the best candidate. */
static int look_up(const char *program, target_t *out)
{
    const char *path = getenv("PATH");
    int refusal = ENOENT;

    if (strchr(program, '/')) {
        if (snprintf(out->path, sizeof out->path, "%s", program) >= PATH_MAX)
            return ENAMETOOLONG;
        return file_refuses(out->path);
    }
    for (path = path ? path : "/usr/bin:/bin"; *program;) {
        size_t length = strcspn(path, ":");
        int this;

        if (snprintf(out->path, sizeof out->path, "%.*s/%s", length ? (int)length : 1,
                     length ? path : ".", program) < PATH_MAX) {
            this = file_refuses(out->path);
            if (this == 0)
                return 0;
            if (this == EACCES)
                refusal = EACCES;
        }
        if (path[length] == '\0')
            break;
        path += length + 1;
    }
    return refusal;
}

/* A program that was built for another tool, or for none. */
static int choose_sibling(target_tool_t tool, target_t *out, char *why)
{
    char sibling[PATH_MAX];
    const char *name = tools[tool].name;

    if (snprintf(sibling, sizeof sibling, "%s-%s", out->path, name) < PATH_MAX &&
        file_refuses(sibling) == 0 && elf_kind_of(sibling) == tools[tool].kind) {
        snprintf(out->note, sizeof out->note, "%s is %s: running %s-%s", out->path,
                 elf_kind_text(out->kind), out->path, name);
        memcpy(out->path, sibling, sizeof sibling);
        out->kind = tools[tool].kind;
        return 0;
    }
    snprintf(why, TARGET_TEXT,
             "--%s needs %s, but %s is %s and there is no %s-%s; %s (CMake's "
             "gpurt_add_check_program does)",
             name, elf_kind_text(tools[tool].kind), out->path, elf_kind_text(out->kind),
             out->path, name, tools[tool].remedy);
    return 125;
}

int target_find(const char *program, target_tool_t tool, target_t *out, char *why)
{
    int refusal = look_up(program, out);

    out->note[0] = '\0';
    if (refusal) {
        bool here = !strchr(program, '/') && file_refuses(program) == 0;

        snprintf(why, TARGET_TEXT, "%s: %s%s%s", program, strerror(refusal),
                 here ? "; did you mean ./" : "", here ? program : "");
        return refusal == ENOENT || refusal == ENOTDIR ? 127 : 126;
    }
    out->kind = elf_kind_of(out->path);
    if (tool == TARGET_SEEDS || out->kind == tools[tool].kind)
        return 0;
    if (out->kind == ELF_KIND_UNKNOWN) {
        snprintf(out->note, sizeof out->note, "%s is %s: whether it runs %s cannot be seen",
                 out->path, elf_kind_text(out->kind), elf_kind_text(tools[tool].kind));
        return 0;
    }
    return choose_sibling(tool, out, why);
}
