/* SPDX-License-Identifier: Apache-2.0 */
/* elf_kind.h - tells by a program's symbols which tool it was built for.
 *
 * Reads the file, never runs it. Used by gpurt-check to refuse `--race` on a build in which
 * the race detector would see nothing. */
#ifndef GPURT_TUI_ELF_KIND_H
#define GPURT_TUI_ELF_KIND_H

typedef enum elf_kind {
    ELF_KIND_UNKNOWN, /* a script, a foreign machine's program, or not readable */
    ELF_KIND_PLAIN,
    ELF_KIND_RACE,     /* ThreadSanitizer */
    ELF_KIND_ASAN,     /* AddressSanitizer */
    ELF_KIND_SCHEDULE, /* linked with gpurt::schedule */
} elf_kind_t;

elf_kind_t elf_kind_of(const char *path);

/* "a ThreadSanitizer build", to be put into a sentence. */
const char *elf_kind_text(elf_kind_t kind);

#endif
