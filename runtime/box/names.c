/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void names_clear(names_t *n)
{
    memset(n, 0, sizeof *n);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 32;
}

static uint64_t word_at(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

/* Of fewer than eight bytes. */
static uint64_t word_of(const char *text, size_t bytes)
{
    uint64_t word = 0;

    while (bytes > 0)
        word = word << 8 | (uint8_t)text[--bytes];
    return word;
}

/* Eight bytes a step; long names, as those of templates, in four rows at once, which do not
 * wait for each other. The seed tells names of kernels from other texts. */
static uint64_t hash_of(const char *text, size_t bytes, uint64_t seed)
{
    uint64_t hash = seed ^ bytes * 0x9e3779b97f4a7c15ull, row[4] = {1, 2, 3, 4};
    size_t at = 0;

    for (; bytes - at >= sizeof row; at += sizeof row)
        for (size_t i = 0; i < 4; i++)
            row[i] = mix(row[i], word_at(text + at + 8 * i));
    for (size_t i = 0; at > 0 && i < 4; i++)
        hash = mix(hash, row[i]);
    for (; bytes - at >= 8; at += 8)
        hash = mix(hash, word_at(text + at));
    if (at < bytes) /* the last eight, some of them once more */
        hash = mix(hash, bytes < 8 ? word_of(text, bytes) : word_at(text + bytes - 8));
    return hash ? hash : 1;
}

/* nvcc puts the file in front of the names of static kernels that are linked on the device:
 * "__nv_static_", how long that is, the file, "_". */
static const char *without_file(const char *text)
{
    static const char mark[] = "__nv_static_";
    size_t bytes, rest;
    char *end;

    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return text;
    bytes = strtoul(text + sizeof mark - 1, &end, 10);
    rest = strlen(end);
    if (rest < 2 || bytes > rest - 2 || end[0] != '_' || end[1 + bytes] != '_')
        return text;
    return end + bytes + 2;
}

/* __cxa_demangle is in the C++ library, which nearly every CUDA program has and we do not
 * need. */
char *names_demangled(const char *text)
{
    typedef char *demangle_fn(const char *, char *, size_t *, int *);
    static bool looked;
    static void *entry;
    demangle_fn *demangle;
    const char *name;
    int status = -1;
    char *out;

    name = without_file(text);
    if (strncmp(name, "_Z", 2) != 0)
        return name == text ? NULL : strdup(name);
    if (!looked) {
        void *library;

        looked = true;
        entry = dlsym(RTLD_DEFAULT, "__cxa_demangle");
        library = entry ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library)
            entry = dlsym(library, "__cxa_demangle");
    }
    if (!entry)
        return NULL;
    memcpy(&demangle, &entry, sizeof demangle);
    out = demangle(name, NULL, NULL, &status);
    return status == 0 ? out : NULL;
}

static uint32_t define(const gpurt_hostring_t *ring, const char *text, bool is_kernel)
{
    char *nice = is_kernel ? names_demangled(text) : NULL;
    const char *shown = nice ? nice : text;
    uint32_t number = gpurt_hostring_string(ring, shown, strlen(shown));

    free(nice);
    return number;
}

uint32_t names_number(names_t *n, const gpurt_hostring_t *ring, const char *text,
                      bool is_kernel)
{
    uint64_t hash;
    uint32_t at;

    text = text ? text : "(no name)";
    hash = hash_of(text, strlen(text), is_kernel ? 1 : 2);
    if (n->overflow == 0)
        n->overflow = define(ring, "(no room for more names)", false);
    for (at = (uint32_t)hash % NAMES_SLOTS; n->hash[at]; at = (at + 1) % NAMES_SLOTS)
        if (n->hash[at] == hash)
            return n->number[at];
    n->full |= n->count == NAMES_MAX;
    if (n->count == NAMES_MAX)
        return n->overflow;
    n->hash[at] = hash;
    n->number[at] = define(ring, text, is_kernel);
    n->full |= n->number[at] == 0;
    if (n->number[at] == 0)
        n->number[at] = n->overflow;
    n->count++;
    return n->number[at];
}
