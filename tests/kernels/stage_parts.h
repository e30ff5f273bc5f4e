/* SPDX-License-Identifier: Apache-2.0 */
/* stage_parts.h - a test of several parts: PROGRAM [-l | NAME...] runs all, says their names, or
 * runs some. One after another they take long under compute-sanitizer, side by side they do
 * not. */
#ifndef GPURT_TESTS_STAGE_PARTS_H
#define GPURT_TESTS_STAGE_PARTS_H

#include "stage.h"

typedef struct stage_part {
    const char *name;
    void (*run)(void);
} stage_part_t;

static inline bool stage_part_is_asked(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

/* Opens the runtime for them. Returns: what the program ends with. */
static inline int stage_parts(int argc, char **argv, const stage_part_t *parts,
                              size_t count)
{
    bool lists = argc == 2 && strcmp(argv[1], "-l") == 0;
    gpurt_error_t failed = {0};
    int ran = 0;

    for (size_t i = 0; lists && i < count; i++)
        puts(parts[i].name);
    if (lists)
        return 0;
    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    for (size_t i = 0; i < count; i++)
        if (stage_part_is_asked(argc, argv, parts[i].name)) {
            parts[i].run();
            ran++;
        }
    CHECK_MSG(ran > 0, "no test of that name");
    OK(gpurt_close(rt, &err));
    return 0;
}

#endif
