/* SPDX-License-Identifier: Apache-2.0 */
#include "cubincode.h"

#include "elfview.h"

#include <elf.h>
#include <stdlib.h>

enum {
    SECTION_SHIFT = 32, /* no section is as long */
    OPERAND = 8,
    SPANS_FIRST = 256
};
/* What stands before an address in a line table: DW_LNE_set_address, and how long it is. */
static const uint8_t set_address[] = {0, OPERAND + 1, 2};

typedef struct function {
    const char *name; /* borrowed from the code */
    uint64_t address;
    bool part; /* of a symbol's name */
} function_t;

/* Both sorted, for a second of samples has 2,048 questions. */
struct cubincode {
    bytes_t lines; /* borrowed */
    function_t *functions;
    line_span_t *spans;
    uint64_t function_count, span_count, span_room;
    bool full; /* no memory for more */
};

/* Returns: 0 where it is in no section. */
static uint64_t symbol_address(bytes_t symbol)
{
    uint32_t section = bytes_u16(symbol, offsetof(Elf64_Sym, st_shndx));

    if (section == SHN_UNDEF || section >= SHN_LORESERVE)
        return 0;
    return ((uint64_t)section << SECTION_SHIFT) +
           bytes_u64(symbol, offsetof(Elf64_Sym, st_value));
}

static bytes_t symbol_at(bytes_t symbols, uint64_t index)
{
    return bytes_part(symbols, index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
}

/* ---- addresses ----------------------------------------------------------------------- */

/* relocation: an Elf64_Rela, or an Elf64_Rel, which has no addend. */
static void operand_place(uint8_t *lines, uint64_t size, bytes_t relocation,
                          bytes_t symbols)
{
    uint64_t at = bytes_u64(relocation, offsetof(Elf64_Rela, r_offset));
    uint64_t info = bytes_u64(relocation, offsetof(Elf64_Rela, r_info));
    uint64_t address = symbol_address(symbol_at(symbols, ELF64_R_SYM(info)));
    bytes_t table = {lines, size};

    if (address == 0 || at < sizeof set_address || !bytes_has(table, at, OPERAND) ||
        memcmp(lines + at - sizeof set_address, set_address, sizeof set_address) != 0)
        return;
    if (relocation.size == sizeof(Elf64_Rela))
        address += bytes_u64(relocation, offsetof(Elf64_Rela, r_addend));
    else
        address += bytes_u64(table, at);
    memcpy(lines + at, &address, OPERAND);
}

static void table_place(uint8_t *lines, uint64_t size, const elfview_t *elf,
                        const elfsection_t *relocations)
{
    uint64_t row = relocations->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    elfsection_t symbols;

    if (!elfview_section(elf, relocations->link, &symbols))
        return;
    for (uint64_t at = 0; bytes_has(relocations->data, at, row); at += row)
        operand_place(lines, size, bytes_part(relocations->data, at, row), symbols.data);
}

static bool is_of_lines(const elfsection_t *s)
{
    return (s->type == SHT_RELA && strcmp(s->name, ".rela.debug_line") == 0) ||
           (s->type == SHT_REL && strcmp(s->name, ".rel.debug_line") == 0);
}

static void code_place(uint8_t *code, const elfview_t *elf, bytes_t lines)
{
    elfsection_t relocations;

    for (uint32_t i = 0; i < elf->count; i++)
        if (elfview_section(elf, i, &relocations) && is_of_lines(&relocations))
            table_place(code + (lines.at - code), lines.size, elf, &relocations);
}

/* ---- functions ----------------------------------------------------------------------- */

/* A whole name comes before the same as a part of another. */
static int function_order(const void *a, const void *b)
{
    const function_t *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (int)x->part - (int)y->part;
}

static void function_add(cubincode_t *c, const char *name, uint64_t address)
{
    const char *callee = name[0] == '$' ? strrchr(name, '$') : name;

    if (address == 0)
        return;
    c->functions[c->function_count++] = (function_t){name, address, false};
    if (callee != name)
        c->functions[c->function_count++] = (function_t){callee + 1, address, true};
}

static bool functions_read(cubincode_t *c, const elfview_t *elf)
{
    elfsection_t symbols, names;
    uint64_t count;

    if (!elfview_find(elf, ".symtab", &symbols) ||
        !elfview_section(elf, symbols.link, &names))
        return false;
    count = symbols.data.size / sizeof(Elf64_Sym);
    c->functions = calloc(2 * count + 1, sizeof *c->functions);
    if (!c->functions)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        bytes_t s = symbol_at(symbols.data, i);

        if (ELF64_ST_TYPE(bytes_u8(s, offsetof(Elf64_Sym, st_info))) == STT_FUNC)
            function_add(c,
                         bytes_text(names.data, bytes_u32(s, offsetof(Elf64_Sym, st_name))),
                         symbol_address(s));
    }
    qsort(c->functions, c->function_count, sizeof *c->functions, function_order);
    return c->function_count > 0;
}

/* Returns: 0 where there is no such function. */
static uint64_t function_address(const cubincode_t *c, const char *name)
{
    uint64_t low = 0, high = c->function_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (strcmp(c->functions[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->function_count && strcmp(c->functions[low].name, name) == 0
               ? c->functions[low].address
               : 0;
}

/* ---- lines --------------------------------------------------------------------------- */

static int span_order(const void *a, const void *b)
{
    const line_span_t *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

static bool spans_grow(cubincode_t *c)
{
    uint64_t room = c->span_room ? 2 * c->span_room : SPANS_FIRST;
    line_span_t *spans = realloc(c->spans, room * sizeof *spans);

    if (!spans)
        return false;
    c->spans = spans;
    c->span_room = room;
    return true;
}

/* One line's neighbours are one span. */
static void span_add(void *context, const line_span_t *s)
{
    cubincode_t *c = context;
    line_span_t *last = c->span_count ? &c->spans[c->span_count - 1] : NULL;

    if (last && last->to == s->from && last->unit == s->unit && last->file == s->file &&
        last->line == s->line) {
        last->to = s->to;
        return;
    }
    c->full |= c->span_count == c->span_room && !spans_grow(c);
    if (c->spans && !c->full)
        c->spans[c->span_count++] = *s;
}

static const line_span_t *span_find(const cubincode_t *c, uint64_t address)
{
    uint64_t low = 0, high = c->span_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (c->spans[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < c->spans[low - 1].to ? &c->spans[low - 1] : NULL;
}

cubincode_t *cubincode_open(uint8_t *code, uint64_t bytes)
{
    cubincode_t *c = calloc(1, sizeof *c);
    elfsection_t lines;
    elfview_t elf;

    if (!c)
        return NULL;
    if (!elfview_open((bytes_t){code, bytes}, &elf) ||
        !elfview_find(&elf, ".debug_line", &lines) || lines.data.size == 0)
        goto fail;
    c->lines = lines.data;
    code_place(code, &elf, lines.data);
    if (!functions_read(c, &elf))
        goto fail;
    linetable_visit(c->lines, span_add, c);
    if (c->span_count > 0 && !c->full) {
        qsort(c->spans, c->span_count, sizeof *c->spans, span_order);
        return c;
    }

fail:
    cubincode_close(c);
    return NULL;
}

void cubincode_close(cubincode_t *c)
{
    if (!c)
        return;
    free(c->functions);
    free(c->spans);
    free(c);
}

bool cubincode_line(const cubincode_t *c, const char *function, uint64_t offset,
                    line_frame_t *out)
{
    uint64_t address = function_address(c, function);
    const line_span_t *span = NULL;

    if (address && offset >> SECTION_SHIFT == 0)
        span = span_find(c, address + offset);
    if (span)
        linetable_file(c->lines, span, out);
    return span != NULL;
}
