/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cubin.h"

#include "check.h"

#include <elf.h>

enum {
    SECTION_NAMES = 1,
    STRINGS,
    SYMBOLS,
    LINES,
    RELOCATIONS,
    CALLS,
    TEXT,
    SECTIONS = TEXT + FAKE_CUBIN_TEXTS,
    R_64 = 2,
    NAME = 128
};

const char *const fake_cubin_calls[FAKE_CUBIN_CALLS] = {"_Z5outerILi3EEjjPKj",
                                                        "_ZNK4Walk4stepEjPKj"};

typedef struct maker {
    fake_cubin_t *out;
    Elf64_Shdr sections[SECTIONS];
    uint32_t count;     /* of functions */
    uint64_t places[8]; /* of a function's address, in the line table */
} maker_t;

static void put(maker_t *m, const void *from, uint64_t bytes)
{
    CHECK(m->out->bytes + bytes <= FAKE_CUBIN_BYTES);
    memcpy(m->out->at + m->out->bytes, from, bytes);
    m->out->bytes += bytes;
}

static void put_number(maker_t *m, uint64_t number, uint64_t bytes)
{
    put(m, &number, bytes);
}

static void section_begin(maker_t *m, uint32_t section, uint32_t type, uint32_t link)
{
    while (m->out->bytes % 8)
        put_number(m, 0, 1);
    m->sections[section].sh_type = type;
    m->sections[section].sh_link = link;
    m->sections[section].sh_offset = m->out->bytes;
}

static void section_end(maker_t *m, uint32_t section)
{
    m->sections[section].sh_size = m->out->bytes - m->sections[section].sh_offset;
}

/* As nvcc names it: by its function, here its first one. Longer names would leave no room. */
static void text_name(const maker_t *m, const fake_function_t *of, uint32_t text,
                      char name[NAME])
{
    snprintf(name, NAME, ".text.%c", (char)('a' + text));
    for (uint32_t i = m->count; i-- > 0;)
        if (of[i].text == text && strlen(of[i].name) < NAME / 2)
            snprintf(name, NAME, ".text.%s", of[i].name);
}

static void names_put(maker_t *m, const fake_function_t *of, bool rel)
{
    char texts[FAKE_CUBIN_TEXTS][NAME];
    const char *names[SECTIONS] = {
        "",          ".shstrtab",   ".strtab",
        ".symtab",   ".debug_line", rel ? ".rel.debug_line" : ".rela.debug_line",
        ".debug_str"};

    section_begin(m, SECTION_NAMES, SHT_STRTAB, 0);
    for (uint32_t i = 0; i < FAKE_CUBIN_TEXTS; i++) {
        text_name(m, of, i, texts[i]);
        names[TEXT + i] = texts[i];
    }
    for (uint32_t i = 0; i < SECTIONS; i++) {
        m->sections[i].sh_name =
            (uint32_t)(m->out->bytes - m->sections[SECTION_NAMES].sh_offset);
        put(m, names[i], strlen(names[i]) + 1);
    }
    section_end(m, SECTION_NAMES);
}

/* First the sections' symbols: 1 and on. */
static void symbols_put(maker_t *m, const fake_function_t *of)
{
    Elf64_Sym symbol = {0};
    uint32_t name = 1;

    section_begin(m, SYMBOLS, SHT_SYMTAB, STRINGS);
    put(m, &symbol, sizeof symbol);
    for (uint32_t i = 0; i < FAKE_CUBIN_TEXTS; i++) {
        symbol = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
                             .st_shndx = (uint16_t)(TEXT + i)};
        put(m, &symbol, sizeof symbol);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        symbol = (Elf64_Sym){.st_name = name,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                             .st_shndx = (uint16_t)(TEXT + of[i].text),
                             .st_value = of[i].value,
                             .st_size = of[i].count * (uint64_t)FAKE_CUBIN_STEP};
        put(m, &symbol, sizeof symbol);
        name += (uint32_t)strlen(of[i].name) + 1;
    }
    section_end(m, SYMBOLS);
    section_begin(m, STRINGS, SHT_STRTAB, 0);
    put_number(m, 0, 1);
    for (uint32_t i = 0; i < m->count; i++)
        put(m, of[i].name, strlen(of[i].name) + 1);
    section_end(m, STRINGS);
}

static void header_put(maker_t *m)
{
    static const uint8_t rest[] = {1, 1, (uint8_t)-5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
    static const char files[] = "/src/app\0\0spin.cu\0\1\0\0";

    put_number(m, 2, 2); /* DWARF */
    put_number(m, sizeof rest + sizeof files, 4);
    put(m, rest, sizeof rest);
    put(m, files, sizeof files);
}

static void calls_put(maker_t *m)
{
    section_begin(m, CALLS, SHT_PROGBITS, 0);
    put_number(m, 0, 1);
    for (uint32_t i = 0; i < FAKE_CUBIN_CALLS; i++)
        put(m, fake_cubin_calls[i], strlen(fake_cubin_calls[i]) + 1);
    section_end(m, CALLS);
}

/* Instruction `at`, the call `inlined` of those that are: made by the row before it. */
static void call_put(maker_t *m, uint32_t at, uint32_t inlined)
{
    const uint8_t name =
        inlined % 2 ? (uint8_t)(2 + strlen(fake_cubin_calls[0])) : (uint8_t)1;

    put(m, (const uint8_t[]){0, 3, 0x90, (uint8_t)at, name}, 5);
    put(m, (const uint8_t[]){2, FAKE_CUBIN_STEP, 10 + 5}, 3);
}

/* A sequence. */
static void lines_put(maker_t *m, const fake_function_t *f, uint32_t index, bool rel)
{
    CHECK(f->line >= 1 && f->line <= 64); /* one byte of a signed LEB128 */
    put(m, (const uint8_t[]){0, 9, 2}, 3);
    m->places[index] = m->out->bytes - m->sections[LINES].sh_offset;
    put_number(m, rel ? f->value : 0, 8);
    put(m, (const uint8_t[]){3, (uint8_t)(f->line - 1), 1}, 3);
    for (uint32_t i = 1; i < f->count; i++)
        if (i + f->inlined < f->count)
            put(m, (const uint8_t[]){2, FAKE_CUBIN_STEP, 10 + 5 + 1}, 3);
        else
            call_put(m, i, i + f->inlined - f->count);
    put(m, (const uint8_t[]){2, FAKE_CUBIN_STEP, 0, 1, 1}, 5);
}

static void table_put(maker_t *m, const fake_function_t *of, bool rel)
{
    uint32_t bytes;
    uint64_t unit;

    section_begin(m, LINES, SHT_PROGBITS, 0);
    unit = m->out->bytes;
    if (m->count) {
        put_number(m, 0, 4);
        header_put(m);
        for (uint32_t i = 0; i < m->count; i++)
            lines_put(m, &of[i], i, rel);
        bytes = (uint32_t)(m->out->bytes - unit - 4);
        memcpy(m->out->at + unit, &bytes, 4);
    }
    section_end(m, LINES);
}

static void relocations_put(maker_t *m, const fake_function_t *of, bool rel)
{
    section_begin(m, RELOCATIONS, rel ? SHT_REL : SHT_RELA, SYMBOLS);
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t symbol = of[i].value ? 1 + of[i].text : 1 + FAKE_CUBIN_TEXTS + i;
        Elf64_Rela row = {m->places[i], ELF64_R_INFO(symbol, R_64),
                          (Elf64_Sxword)of[i].value};

        put(m, &row, rel ? sizeof(Elf64_Rel) : sizeof row);
    }
    section_end(m, RELOCATIONS);
}

void fake_cubin_make(fake_cubin_t *out, const fake_function_t *of, uint32_t count, bool rel)
{
    maker_t m = {.out = out, .count = count};
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                       .e_type = ET_EXEC,
                       .e_machine = EM_CUDA,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = SECTION_NAMES};

    CHECK(count <= sizeof m.places / sizeof m.places[0]);
    memset(out, 0, sizeof *out);
    put(&m, &head, sizeof head);
    names_put(&m, of, rel);
    symbols_put(&m, of);
    table_put(&m, of, rel);
    relocations_put(&m, of, rel);
    calls_put(&m);
    for (uint32_t i = TEXT; i < SECTIONS; i++)
        section_begin(&m, i, SHT_PROGBITS, 0);
    head.e_shoff = out->bytes;
    put(&m, m.sections, sizeof m.sections);
    memcpy(out->at, &head, sizeof head);
}
