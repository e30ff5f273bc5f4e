/* SPDX-License-Identifier: Apache-2.0 */
#include "gpurt_find.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "gpurt-"

/* Letters, digits, - and _: what else a file may be called is no program of ours. */
static bool is_name(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length < sizeof((gpurt_found_program_t *)0)->name &&
           strspn(name,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
               length;
}

/* A file without the right to execute counts: running it says what is wrong with it. */
static void add(gpurt_found_t *found, const char *folder, const char *name)
{
    gpurt_found_program_t *p = &found->list[found->count];
    struct stat info;

    if (found->count == GPURT_FOUND_MAX)
        return;
    for (uint32_t i = 0; i < found->count; i++)
        if (strcmp(found->list[i].name, name) == 0)
            return;
    if ((size_t)snprintf(p->path, sizeof p->path, "%s/" PREFIX "%s", folder, name) >=
            sizeof p->path ||
        stat(p->path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    snprintf(p->name, sizeof p->name, "%s", name);
    found->count++;
}

static void look(gpurt_found_t *found, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL)
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 &&
            is_name(entry->d_name + sizeof PREFIX - 1))
            add(found, folder, entry->d_name + sizeof PREFIX - 1);
    if (dir)
        closedir(dir);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gpurt_found_program_t *)a)->name,
                  ((const gpurt_found_program_t *)b)->name);
}

void gpurt_find(gpurt_found_t *found)
{
    const char *path = getenv("PATH");
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);

    found->count = 0;
    if (length > 0) {
        folder[length] = '\0';
        *strrchr(folder, '/') = '\0';
        look(found, folder);
    }
    while (path && *path) {
        size_t bytes = strcspn(path, ":");

        if (bytes && bytes < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", (int)bytes, path);
            look(found, folder);
        }
        path += bytes + (path[bytes] == ':');
    }
    qsort(found->list, found->count, sizeof found->list[0], by_name);
}
