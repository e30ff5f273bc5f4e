/* SPDX-License-Identifier: Apache-2.0 */
#include "cubincode.h"

#include "elfview.h"

#include <elf.h>
#include <stdlib.h>

enum {
    SECTION_SHIFT = 32, /* no section is as long */
    OPERAND = 8,
    TABLE_FIRST = 256,
    TABLE_MOST = 1 << 24, /* rows */
    CALLS_LOOKED = 64
};
/* What stands before an address in a line table: DW_LNE_set_address, and how long it is. */
static const uint8_t set_address[] = {0, OPERAND + 1, 2};

typedef struct function {
    const char *name; /* borrowed from the code */
    uint64_t address;
    bool part; /* of a symbol's name */
} function_t;

/* Rows of the line table. Of a call, and of what it calls, `caller` is the index + 1 of a call that
 * stands before it. */
typedef struct table {
    line_span_t *spans;
    uint32_t count, room;
} table_t;

/* Functions and spans are sorted, for a second of samples has 2,048 questions. */
struct cubincode {
    bytes_t lines, strings; /* borrowed */
    function_t *functions;
    uint64_t function_count;
    table_t spans; /* instructions: those of one line and caller */
    table_t calls; /* where something is inlined */
    table_t
        sequence; /* that is being read: all its rows; number: as which call, 0: as none */
    bool full;    /* no memory for more */
};

static void table_fini(table_t *t)
{
    free(t->spans);
    *t = (table_t){NULL, 0, 0};
}

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

/* Room for one more. */
static bool table_grow(table_t *t)
{
    uint32_t room = t->room ? 2 * t->room : TABLE_FIRST;
    line_span_t *spans;

    if (t->spans && t->count < t->room)
        return true;
    spans = t->room < TABLE_MOST ? realloc(t->spans, room * sizeof *spans) : NULL;
    if (!spans)
        return false;
    t->spans = spans;
    t->room = room;
    return true;
}

static bool table_add(table_t *t, const line_span_t *s)
{
    if (!table_grow(t))
        return false;
    t->spans[t->count++] = *s;
    return true;
}

static bool place_same(const line_span_t *a, const line_span_t *b)
{
    return a->unit == b->unit && a->file == b->file && a->line == b->line &&
           a->caller == b->caller && (a->caller == 0 || a->function == b->function);
}

/* ptxas writes a call's row again and again: of those alike the last ones are looked through, so
 * most of a loop's instructions have one. Returns: a call's index + 1; 0: no memory. */
static uint32_t call_find(cubincode_t *c, const line_span_t *row)
{
    for (uint32_t i = 0; i < CALLS_LOOKED && i < c->calls.count; i++)
        if (place_same(&c->calls.spans[c->calls.count - 1 - i], row))
            return c->calls.count - i;
    return table_add(&c->calls, row) ? c->calls.count : 0;
}

/* The caller, which is a row before it in its sequence, becomes a call. Only those are kept: most
 * rows call nothing. */
static void caller_find(cubincode_t *c, line_span_t *row)
{
    line_span_t *caller;

    if (row->caller == 0)
        return;
    caller = &c->sequence.spans[row->caller - 1];
    if (caller->number == 0) /* not one yet */
        caller->number = call_find(c, caller);
    c->full |= caller->number == 0;
    row->caller = caller->number;
}

/* Rows of a sequence are numbered one behind another. */
static void row_add(void *context, const line_span_t *s)
{
    cubincode_t *c = context;
    line_span_t *last, row = *s;

    if (c->full)
        return;
    if (row.number == 1)
        c->sequence.count = 0;
    row.number = 0;
    caller_find(c, &row);
    c->full |= !table_add(&c->sequence, &row);
    last = c->spans.count ? &c->spans.spans[c->spans.count - 1] : NULL;
    if (row.from == row.to)
        return;
    if (last && last->to == row.from &&
        place_same(last, &row)) /* neighbours are one span */
        last->to = row.to;
    else
        c->full |= !table_add(&c->spans, &row);
}

static const line_span_t *span_find(const cubincode_t *c, uint64_t address)
{
    const line_span_t *spans = c->spans.spans;
    uint32_t low = 0, high = c->spans.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (spans[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < spans[low - 1].to ? &spans[low - 1] : NULL;
}

cubincode_t *cubincode_open(uint8_t *code, uint64_t bytes)
{
    cubincode_t *c = calloc(1, sizeof *c);
    elfsection_t lines, strings;
    elfview_t elf;

    if (!c)
        return NULL;
    if (!elfview_open((bytes_t){code, bytes}, &elf) ||
        !elfview_find(&elf, ".debug_line", &lines) || lines.data.size == 0)
        goto fail;
    c->lines = lines.data;
    if (elfview_find(&elf, ".debug_str", &strings))
        c->strings = strings.data;
    code_place(code, &elf, lines.data);
    if (!functions_read(c, &elf))
        goto fail;
    linetable_visit(c->lines, row_add, c);
    table_fini(&c->sequence);
    if (c->spans.count > 0 && !c->full) {
        qsort(c->spans.spans, c->spans.count, sizeof c->spans.spans[0], span_order);
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
    table_fini(&c->spans);
    table_fini(&c->calls);
    table_fini(&c->sequence);
    free(c);
}

/* A call's caller stands before it, so this ends. */
uint32_t cubincode_frames(const cubincode_t *c, const char *function, uint64_t offset,
                          line_frame_t out[LINETABLE_FRAMES])
{
    uint64_t address = function_address(c, function);
    const line_span_t *span = NULL;
    uint32_t count = 0;

    if (address && offset >> SECTION_SHIFT == 0)
        span = span_find(c, address + offset);
    while (span && count < LINETABLE_FRAMES) {
        linetable_frame(c->lines, c->strings, span, &out[count++]);
        span = span->caller ? &c->calls.spans[span->caller - 1] : NULL;
    }
    return count;
}
