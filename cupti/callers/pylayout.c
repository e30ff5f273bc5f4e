/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "pylayout.h"

#include "peek.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NONE = PYLAYOUT_NONE,
    PUBLISHES = 13, /* its offsets are in memory; those of 3.14 lie elsewhere */
    MODULES = 4     /* that may be CPython: the program, and its library */
};

/* By hand from the headers of 3.8.18, 3.9.18, 3.10.13, 3.11.2, 3.11.7 and 3.12.1, x86-64: they have
 * not changed within a minor version. The same for 64-bit ARM, which has the same alignments. */
static const pylayout_t layouts[] = {
    [8] = {.runtime_interpreters = 32,
           .interpreter_next = 0,
           .interpreter_threads = 8,
           .thread_next = 8,
           .thread_interpreter = 16,
           .thread_id = 176,
           .thread_frame = 24,
           .holder_frame = NONE,
           .frame_back = 24,
           .frame_code = 32,
           .frame_at = 104,
           .frame_owner = NONE,
           .code_first_line = 40,
           .code_file = 104,
           .code_name = 112,
           .code_table = 120,
           .code_bytes = NONE,
           .text_ascii = 48,
           .text_other = 72,
           .at_unit = 1,
           .lines = PYLINES_DELTAS},
    [9] = {.runtime_interpreters = 32,
           .interpreter_next = 0,
           .interpreter_threads = 8,
           .thread_next = 8,
           .thread_interpreter = 16,
           .thread_id = 176,
           .thread_frame = 24,
           .holder_frame = NONE,
           .frame_back = 24,
           .frame_code = 32,
           .frame_at = 104,
           .frame_owner = NONE,
           .code_first_line = 40,
           .code_file = 104,
           .code_name = 112,
           .code_table = 120,
           .code_bytes = NONE,
           .text_ascii = 48,
           .text_other = 72,
           .at_unit = 1,
           .lines = PYLINES_DELTAS},
    [10] = {.runtime_interpreters = 32,
            .interpreter_next = 0,
            .interpreter_threads = 8,
            .thread_next = 8,
            .thread_interpreter = 16,
            .thread_id = 176,
            .thread_frame = 24,
            .holder_frame = NONE,
            .frame_back = 24,
            .frame_code = 32,
            .frame_at = 96,
            .frame_owner = NONE,
            .code_first_line = 40,
            .code_file = 104,
            .code_name = 112,
            .code_table = 120,
            .code_bytes = NONE,
            .text_ascii = 48,
            .text_other = 72,
            .at_unit = 2,
            .lines = PYLINES_RANGES},
    [11] = {.runtime_interpreters = 40,
            .interpreter_next = 0,
            .interpreter_threads = 16,
            .thread_next = 8,
            .thread_interpreter = 16,
            .thread_id = 152,
            .thread_frame = 56,
            .holder_frame = 8,
            .frame_back = 48,
            .frame_code = 32,
            .frame_at = 56,
            .frame_owner = 69,
            .code_first_line = 72,
            .code_file = 112,
            .code_name = 128,
            .code_table = 136,
            .code_bytes = 184,
            .text_ascii = 48,
            .text_other = 72,
            .at_unit = 1,
            .lines = PYLINES_LOCATIONS},
    [12] = {.runtime_interpreters = 40,
            .interpreter_next = 0,
            .interpreter_threads = 72,
            .thread_next = 8,
            .thread_interpreter = 16,
            .thread_id = 136,
            .thread_frame = 56,
            .holder_frame = 0,
            .frame_back = 8,
            .frame_code = 0,
            .frame_at = 56,
            .frame_owner = 70,
            .code_first_line = 68,
            .code_file = 112,
            .code_name = 128,
            .code_table = 136,
            .code_bytes = 192,
            .text_ascii = 40,
            .text_other = 56,
            .at_unit = 1,
            .lines = PYLINES_LOCATIONS},
};

const pylayout_t *pylayout_of(uint32_t minor)
{
    return minor >= PYLAYOUT_OLDEST && minor < sizeof layouts / sizeof layouts[0]
               ? &layouts[minor]
               : NULL;
}

/* ---- what 3.13 publishes --------------------------------------------------------------- */

/* Of the words of its _Py_DebugOffsets: which is what. */
enum {
    COOKIE = 0,
    VERSION = 1,
    FREE_THREADED = 2,
    PUBLISHED = 71
};
static const struct {
    uint8_t word, field;
} published[] = {
    {5, offsetof(pylayout_t, runtime_interpreters)},
    {8, offsetof(pylayout_t, interpreter_next)},
    {9, offsetof(pylayout_t, interpreter_threads)},
    {21, offsetof(pylayout_t, thread_next)},
    {22, offsetof(pylayout_t, thread_interpreter)},
    {23, offsetof(pylayout_t, thread_frame)},
    {24, offsetof(pylayout_t, thread_id)},
    {29, offsetof(pylayout_t, frame_back)},
    {30, offsetof(pylayout_t, frame_code)},
    {31, offsetof(pylayout_t, frame_at)},
    {33, offsetof(pylayout_t, frame_owner)},
    {35, offsetof(pylayout_t, code_file)},
    {37, offsetof(pylayout_t, code_name)}, /* the qualified one */
    {38, offsetof(pylayout_t, code_table)},
    {39, offsetof(pylayout_t, code_first_line)},
    {43, offsetof(pylayout_t, code_bytes)},
    {70, offsetof(pylayout_t, text_ascii)},
};

/* Returns: false: no CPython of 3.13 or later lies there. */
static bool published_read(uint64_t runtime, pylayout_found_t *out)
{
    uint64_t words[PUBLISHED];
    peek_t p;

    peek_begin(&p);
    if (!peek_bytes(&p, runtime, words, sizeof words) ||
        memcmp(&words[COOKIE], "xdebugpy", 8) != 0)
        return false;
    out->minor = (uint32_t)(words[VERSION] >> 24) == 3 ? words[VERSION] >> 16 & 0xff : 0;
    out->free_threaded = words[FREE_THREADED] != 0;
    out->of = (pylayout_t){
        .holder_frame = PYLAYOUT_NONE, .at_unit = 1, .lines = PYLINES_LOCATIONS};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const uint64_t word = words[published[i].word];
        const uint16_t offset = word < PYLAYOUT_NONE ? (uint16_t)word : 0;

        memcpy((uint8_t *)&out->of + published[i].field, &offset, sizeof offset);
    }
    out->of.text_other =
        (uint16_t)(out->of.text_ascii + 16); /* UTF-8: its bytes, and where */
    return true;
}

/* ---- where it is ----------------------------------------------------------------------- */

/* A module that may hold an interpreter. */
typedef struct module {
    char path[PATH_MAX];
    uint64_t base;
} module_t;

typedef struct modules {
    module_t of[MODULES];
    uint32_t count, seen;
} modules_t;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The first one is the program. */
static int module_take(struct dl_phdr_info *info, size_t bytes, void *context)
{
    modules_t *m = context;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    const bool program = m->seen++ == 0;

    (void)bytes;
    if (m->count == MODULES || (!program && strncmp(name_of(path), "libpython3.", 11) != 0))
        return m->count == MODULES;
    m->of[m->count].base = info->dlpi_addr;
    snprintf(m->of[m->count].path, PATH_MAX, "%s", program ? "/proc/self/exe" : path);
    m->count++;
    return 0;
}

static uint64_t symbol_of(void *library, const char *name)
{
    return (uint64_t)(uintptr_t)dlsym(library, name);
}

/* By what each version has brought; since 3.11 it says so itself. */
static uint32_t minor_by_symbols(void *library)
{
    const uint64_t version = symbol_of(library, "Py_Version");
    uint64_t word = 0;
    peek_t p;

    peek_begin(&p);
    if (version)
        return peek_u64(&p, version, &word) && word >> 24 == 3 ? word >> 16 & 0xff : 0;
    if (symbol_of(library, "PyIter_Send"))
        return 10;
    if (symbol_of(library, "PyFrame_GetCode"))
        return 9;
    if (symbol_of(library, "PyCode_NewWithPosOnlyArgs"))
        return 8;
    return symbol_of(library, "_PyRuntime") ? 7 : 6;
}

/* "/usr/bin/python3.11", "libpython3.11.so.1.0". */
static uint32_t minor_by_name(const char *path)
{
    char real[PATH_MAX];
    const char *at;

    at = strstr(name_of(realpath(path, real) ? real : path), "python3.");
    return at ? (uint32_t)strtoul(at + 8, NULL, 10) : 0;
}

static bool at_file(int fd, uint64_t offset, void *to, size_t bytes)
{
    return pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Where the file's section of that name lies when it is loaded. Returns: 0: it has none. */
static uint64_t section_of(int fd, const char *name)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    char text[16] = "";

    if (!at_file(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof section ||
        !at_file(fd, head.e_shoff + head.e_shstrndx * sizeof names, &names, sizeof names))
        return 0;
    for (uint32_t i = 0; i < head.e_shnum; i++)
        if (at_file(fd, head.e_shoff + i * sizeof section, &section, sizeof section) &&
            at_file(fd, names.sh_offset + section.sh_name, text, strlen(name) + 1) &&
            memcmp(text, name, strlen(name) + 1) == 0)
            return section.sh_addr;
    return 0;
}

/* An interpreter whose symbols are hidden has its state in a section, since 3.10. */
static uint64_t runtime_by_section(const module_t *m)
{
    const int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    const uint64_t at = fd < 0 ? 0 : section_of(fd, ".PyRuntime");

    if (fd >= 0)
        close(fd);
    return at ? m->base + at : 0;
}

/* What was found lies at `runtime`, of a version that is known or not. */
static pylayout_answer_t take(uint64_t runtime, pylayout_found_t *out)
{
    const pylayout_t *known = pylayout_of(out->minor);

    if (published_read(runtime, out)) {
        if (out->minor != PUBLISHES || out->free_threaded)
            return PYLAYOUT_UNKNOWN;
    } else if (known && out->minor < PUBLISHES)
        out->of = *known;
    else
        return PYLAYOUT_UNKNOWN;
    out->interpreters = runtime + out->of.runtime_interpreters;
    return PYLAYOUT_READY;
}

static pylayout_answer_t find_in(const module_t *m, pylayout_found_t *out)
{
    const bool program = strcmp(m->path, "/proc/self/exe") == 0;
    void *library = dlopen(program ? NULL : m->path, RTLD_LAZY | RTLD_NOLOAD);
    uint64_t runtime = 0;

    *out = (pylayout_found_t){0};
    if (library) {
        runtime = symbol_of(library, "_PyRuntime");
        out->code_type = symbol_of(library, "PyCode_Type");
        if (runtime || symbol_of(library, "Py_Initialize"))
            out->minor = minor_by_symbols(library);
        dlclose(library);
    }
    if (runtime)
        return take(runtime, out);
    runtime = runtime_by_section(m);
    if (!runtime)
        return out->minor ? PYLAYOUT_UNKNOWN : PYLAYOUT_ABSENT;
    if (out->minor < PYLAYOUT_OLDEST)
        out->minor = minor_by_name(m->path);
    return take(runtime, out);
}

pylayout_answer_t pylayout_find(pylayout_found_t *out)
{
    static modules_t
        modules; /* one thread at a time: as the program starts, then the looker */
    pylayout_answer_t answer = PYLAYOUT_ABSENT;

    modules.count = modules.seen = 0;
    dl_iterate_phdr(module_take, &modules);
    for (uint32_t i = 0; i < modules.count && answer == PYLAYOUT_ABSENT; i++)
        answer = find_in(&modules.of[i], out);
    return answer;
}
