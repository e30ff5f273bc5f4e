/* SPDX-License-Identifier: Apache-2.0 */
#include "codefolder.h"

#include "elfview.h"
#include "hosttime.h"
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

static uint64_t hash_add(uint64_t hash, const void *at, uint64_t bytes)
{
    const uint8_t *b = at;

    for (uint64_t i = 0; i < bytes; i++)
        hash = (hash ^ b[i]) * HASH_STEP;
    return hash;
}

uint64_t codefolder_function(const char *mangled)
{
    return hash_add(HASH_SEED, mangled, strlen(mangled));
}

/* Its place, or the one that it would have. */
static codefolder_version_t *version_find(const codefolder_t *f, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (f->version_room - 1);

    while (f->versions[at].hash && f->versions[at].hash != hash)
        at = (at + 1) & (f->version_room - 1);
    return &f->versions[at];
}

static bool versions_widen(codefolder_t *f)
{
    codefolder_t wider = {.version_room = f->version_room ? 2 * f->version_room : 64};

    wider.versions = calloc(wider.version_room, sizeof *wider.versions);
    if (!wider.versions)
        return false;
    for (uint32_t i = 0; i < f->version_room; i++)
        if (f->versions[i].hash)
            *version_find(&wider, f->versions[i].hash) = f->versions[i];
    free(f->versions);
    f->versions = wider.versions;
    f->version_room = wider.version_room;
    return true;
}

/* Of the file that comes next. Returns: whether it is new, and has a place. */
static bool version_add(codefolder_t *f, uint64_t hash, uint64_t function)
{
    codefolder_version_t *v;

    hash = hash ? hash : 1;
    if (2 * f->version_count >= f->version_room && !versions_widen(f))
        return false;
    v = version_find(f, hash);
    if (v->hash)
        return false;
    *v = (codefolder_version_t){hash, function, f->count};
    f->version_count++;
    return true;
}

static bool is_wanted(const code_wish_t *wish, const char *mangled)
{
    const char *nice = wish ? nicename(mangled) : NULL;

    return !wish || wish->wanted(wish->context, nice ? nice : mangled);
}

/* Whether it has a wanted function in a version that no file before has. */
static bool code_is_new(codefolder_t *f, bytes_t code, const code_wish_t *wish)
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
        found |= version_add(f, hash, codefolder_function(name));
    }
    return found;
}

static bool file_is_new(codefolder_t *f, const char *path, const code_wish_t *wish,
                        uint64_t *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    bool found = false;
    void *at;

    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size <= FILE_MOST) {
        *bytes = (uint64_t)about.st_size;
        at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) {
            found = code_is_new(f, (bytes_t){at, *bytes}, wish);
            munmap(at, (size_t)about.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Gives `path` away. */
static bool file_add(codefolder_t *f, char *path, uint64_t bytes)
{
    if (f->count == f->room) {
        uint32_t room = f->room ? 2 * f->room : 64;
        codefolder_file_t *wider = realloc(f->files, room * sizeof *wider);

        if (!wider) {
            free(path);
            return false;
        }
        f->files = wider;
        f->room = room;
    }
    f->files[f->count] = (codefolder_file_t){path, bytes, f->count};
    f->count++;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const codefolder_file_t *x = a, *y = b;

    return x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1)
                                : (x->number < y->number ? -1 : 1);
}

/* Returns: false: there is no memory. */
static bool file_look(codefolder_t *f, const char *folder, const char *name,
                      const code_wish_t *wish)
{
    uint64_t bytes;
    char *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    if (file_is_new(f, path, wish, &bytes))
        return file_add(f, path, bytes);
    free(path);
    return true;
}

static int is_cubin(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".cubin") == 0;
}

bool codefolder_open(const char *path, const code_wish_t *wish, uint64_t until_ns,
                     codefolder_t *out)
{
    struct dirent **names;
    const int count = scandir(path, &names, is_cubin, alphasort);
    bool done = count >= 0;

    for (int i = 0; i < count; i++) {
        if (gpurt_steady_ns() >= until_ns)
            out->unseen++;
        else if (done)
            done = file_look(out, path, names[i]->d_name, wish);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    if (out->count)
        qsort(out->files, out->count, sizeof *out->files, by_size);
    out->cubins = count > 0 ? (uint32_t)count : 0;
    return done;
}

void codefolder_close(codefolder_t *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        free(f->files[i].path);
    free(f->files);
    free(f->versions);
    *f = (codefolder_t){0};
}
