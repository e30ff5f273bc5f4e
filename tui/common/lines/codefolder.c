/* SPDX-License-Identifier: Apache-2.0 */
#include "codefolder.h"

#include "elfview.h"
#include "nicename.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MOST = 256 << 20, /* bytes */
    FLAGS_AT = 48          /* in an ELF file's head: for which GPU the code is */
};
#define TEXT      ".text."
#define HASH_SEED 0xcbf29ce484222325ull
#define HASH_STEP 0x100000001b3ull /* FNV-1a */

/* Versions of functions that a file was taken for. */
typedef struct seen {
    uint64_t *of;
    uint32_t count, room;
} seen_t;

static uint64_t hash_add(uint64_t hash, const void *at, uint64_t bytes)
{
    const uint8_t *b = at;

    for (uint64_t i = 0; i < bytes; i++)
        hash = (hash ^ b[i]) * HASH_STEP;
    return hash;
}

/* Returns: whether it is new, and has a place. */
static bool seen_add(seen_t *s, uint64_t hash)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i] == hash)
            return false;
    if (s->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 64;
        uint64_t *wider = realloc(s->of, room * sizeof *wider);

        if (!wider)
            return false;
        s->of = wider;
        s->room = room;
    }
    s->of[s->count++] = hash;
    return true;
}

static bool is_wanted(const code_wish_t *wish, const char *mangled)
{
    const char *nice = wish ? nicename(mangled) : NULL;

    return !wish || wish->wanted(wish->context, nice ? nice : mangled);
}

/* Whether it has a wanted function in a version that no file before has. */
static bool code_is_new(bytes_t code, const code_wish_t *wish, seen_t *seen)
{
    const uint32_t flags = bytes_u32(code, FLAGS_AT);
    elfsection_t section;
    elfview_t elf;
    bool found = false;

    if (!elfview_open(code, &elf) || elf.machine != ELFVIEW_EM_CUDA)
        return false;
    for (uint32_t i = 0; i < elf.count && elfview_section(&elf, i, &section); i++) {
        const char *name = section.name + sizeof TEXT - 1;
        uint64_t hash = HASH_SEED;

        if (strncmp(section.name, TEXT, sizeof TEXT - 1) != 0 || !is_wanted(wish, name))
            continue;
        hash = hash_add(hash, &flags, sizeof flags);
        hash = hash_add(hash, name, strlen(name));
        hash = hash_add(hash, section.data.at, section.data.size);
        found |= seen_add(seen, hash);
    }
    return found;
}

static bool file_is_new(const char *path, const code_wish_t *wish, seen_t *seen)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    bool found = false;
    void *at;

    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size <= FILE_MOST) {
        at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) {
            found = code_is_new((bytes_t){at, (uint64_t)about.st_size}, wish, seen);
            munmap(at, (size_t)about.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Gives `path` away. */
static bool path_add(codefolder_t *f, char *path)
{
    if (f->count == f->room) {
        uint32_t room = f->room ? 2 * f->room : 64;
        char **wider = realloc(f->paths, room * sizeof *wider);

        if (!wider) {
            free(path);
            return false;
        }
        f->paths = wider;
        f->room = room;
    }
    f->paths[f->count++] = path;
    return true;
}

static off_t bytes_of(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? about.st_size : 0;
}

static int by_size(const void *a, const void *b)
{
    const off_t x = bytes_of(*(char *const *)a), y = bytes_of(*(char *const *)b);

    return x < y ? -1 : x > y;
}

static int is_cubin(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".cubin") == 0;
}

bool codefolder_open(const char *path, const code_wish_t *wish, codefolder_t *out)
{
    struct dirent **names;
    seen_t seen = {0};
    int count = scandir(path, &names, is_cubin, alphasort);
    bool done = count >= 0;

    for (int i = 0; i < count; i++) {
        char *one = NULL;

        if (done && asprintf(&one, "%s/%s", path, names[i]->d_name) < 0)
            done = false;
        else if (done && file_is_new(one, wish, &seen))
            done = path_add(out, one);
        else
            free(one);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    free(seen.of);
    if (out->count)
        qsort(out->paths, out->count, sizeof *out->paths, by_size);
    out->cubins = count > 0 ? (uint32_t)count : 0;
    return done;
}

void codefolder_close(codefolder_t *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        free(f->paths[i]);
    free(f->paths);
    *f = (codefolder_t){0};
}
