/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#    define ELF_DATA_HERE ELFDATA2LSB
#else
#    define ELF_DATA_HERE ELFDATA2MSB
#endif

typedef struct elf_file {
    int fd;
    uint64_t bytes;
    Elf64_Shdr *sections; /* heap */
    size_t section_count;
} elf_file_t;

/* What the symbols say; several may hold. */
typedef struct elf_marks {
    bool race, asan, schedule;
} elf_marks_t;

/* A copy rather than a mapping: a linker that rewrites the file under a mapping would end
 * us.
 * Returns: heap memory with a zero byte behind it, NULL when the range is not in the
 * file. */
static void *elf_load(const elf_file_t *file, uint64_t offset, uint64_t bytes)
{
    char *copy;

    if (bytes == 0 || offset > file->bytes || bytes > file->bytes - offset)
        return NULL;
    copy = malloc(bytes + 1);
    for (uint64_t done = 0; copy && done < bytes;) {
        ssize_t got = pread(file->fd, copy + done, bytes - done, (off_t)(offset + done));

        if (got <= 0) {
            free(copy);
            return NULL;
        }
        done += (uint64_t)got;
    }
    if (copy)
        copy[bytes] = '\0';
    return copy;
}

static bool elf_load_sections(elf_file_t *file)
{
    Elf64_Ehdr *head = elf_load(file, 0, sizeof *head);
    bool ours = head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                head->e_ident[EI_CLASS] == ELFCLASS64 &&
                head->e_ident[EI_DATA] == ELF_DATA_HERE &&
                (head->e_type == ET_EXEC || head->e_type == ET_DYN);

    if (ours && head->e_shentsize == sizeof *file->sections && head->e_shnum > 0) {
        file->section_count = head->e_shnum;
        file->sections =
            elf_load(file, head->e_shoff, file->section_count * sizeof *file->sections);
    }
    free(head);
    return ours;
}

/* A tool that a library only asks after is a weak reference: it says nothing. */
static void elf_mark(elf_marks_t *marks, const Elf64_Sym *symbol, const char *name)
{
    if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
        return;
    marks->race |= strcmp(name, "__tsan_init") == 0;
    marks->asan |= strcmp(name, "__asan_init") == 0;
    marks->schedule |= strcmp(name, "gpurt_schedule_build") == 0;
}

static void elf_scan(const elf_file_t *file, const Elf64_Shdr *table, elf_marks_t *marks)
{
    const Elf64_Shdr *strings = &file->sections[table->sh_link];
    Elf64_Sym *symbols = elf_load(file, table->sh_offset, table->sh_size);
    char *names = elf_load(file, strings->sh_offset, strings->sh_size);

    for (size_t i = 0; symbols && names && i < table->sh_size / sizeof *symbols; i++)
        if (symbols[i].st_name < strings->sh_size)
            elf_mark(marks, &symbols[i], names + symbols[i].st_name);
    free(symbols);
    free(names);
}

elf_kind_t elf_kind_of(const char *path)
{
    elf_file_t file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    elf_marks_t marks = {0};
    struct stat info;
    bool ours;

    if (file.fd < 0)
        return ELF_KIND_UNKNOWN;
    file.bytes = fstat(file.fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    ours = elf_load_sections(&file);
    for (size_t i = 0; file.sections && i < file.section_count; i++) {
        const Elf64_Shdr *s = &file.sections[i];

        if ((s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM) &&
            s->sh_link < file.section_count)
            elf_scan(&file, s, &marks);
    }
    free(file.sections);
    close(file.fd);
    /* The stand-in of a schedule build has the race detector's names too: ask for it
     * first. */
    return !ours            ? ELF_KIND_UNKNOWN
           : marks.schedule ? ELF_KIND_SCHEDULE
           : marks.race     ? ELF_KIND_RACE
           : marks.asan     ? ELF_KIND_ASAN
                            : ELF_KIND_PLAIN;
}

const char *elf_kind_text(elf_kind_t kind)
{
    static const char *const texts[] = {
        [ELF_KIND_UNKNOWN] = "not an ELF program of this machine",
        [ELF_KIND_PLAIN] = "a plain build",
        [ELF_KIND_RACE] = "a ThreadSanitizer build",
        [ELF_KIND_ASAN] = "an AddressSanitizer build",
        [ELF_KIND_SCHEDULE] = "a schedule build",
    };

    return texts[kind];
}
