/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <elf.h>
#include <stdio.h>

#define TEXT ".text."

/* The smallest function of the symbol table that covers pc: kernels hold their callees. */
static void function_find(const elfview_t *elf, uint32_t section, uint64_t base,
                          uint64_t pc, code_place_t *out)
{
    elfsection_t symbols, names;
    uint64_t smallest = UINT64_MAX;

    if (!elfview_find(elf, ".symtab", &symbols) ||
        !elfview_section(elf, symbols.link, &names))
        return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.data.size;
         at += sizeof(Elf64_Sym)) {
        uint64_t value = bytes_u64(symbols.data, at + offsetof(Elf64_Sym, st_value));
        uint64_t size = bytes_u64(symbols.data, at + offsetof(Elf64_Sym, st_size));
        uint32_t info = bytes_u8(symbols.data, at + offsetof(Elf64_Sym, st_info));

        if (ELF64_ST_TYPE(info) != STT_FUNC ||
            bytes_u16(symbols.data, at + offsetof(Elf64_Sym, st_shndx)) != section)
            continue;
        if (value < base) /* some loaders leave them relative */
            value += base;
        if (pc < value || pc - value >= size || size >= smallest)
            continue;
        smallest = size;
        out->function = bytes_text(
            names.data, bytes_u32(symbols.data, at + offsetof(Elf64_Sym, st_name)));
        out->offset = pc - value;
    }
}

static bool text_find(const elfview_t *elf, uint64_t pc, code_place_t *out)
{
    elfsection_t s, lines, strings;

    for (uint32_t i = 0; i < elf->count; i++) {
        if (!elfview_section(elf, i, &s) || strncmp(s.name, TEXT, strlen(TEXT)) != 0 ||
            s.address == 0 || pc < s.address || pc - s.address >= s.data.size)
            continue; /* address 0: not loaded yet */
        out->kernel = out->function = s.name + strlen(TEXT);
        out->offset = pc - s.address;
        out->code = bytes_part(s.data, pc - s.address, s.data.size);
        function_find(elf, i, s.address, pc, out);
        elfview_find(elf, ".debug_str", &strings);
        if (elfview_find(elf, ".debug_line", &lines))
            out->frame_count = linetable_find(lines.data, strings.data, pc, out->frames);
        return true;
    }
    return false;
}

bool code_find(const gpucore_t *core, uint64_t pc, code_place_t *out)
{
    memset(out, 0, sizeof *out);
    out->kernel = out->function = "";
    for (uint32_t i = 0; i < core->image_count; i++)
        if (text_find(&core->images[i].elf, pc, out))
            return true;
    return false;
}

/* ---- names ------------------------------------------------------------------------- */
typedef struct namer {
    const char *at;
    char *out;
    size_t room, used;
} namer_t;

static void name_add(namer_t *n, const char *text, size_t bytes)
{
    if (bytes > n->room - 1 - n->used)
        bytes = n->room - 1 - n->used;
    memcpy(n->out + n->used, text, bytes);
    n->used += bytes;
    n->out[n->used] = '\0';
}

/* <number><that many letters>. */
static bool name_part(namer_t *n)
{
    size_t bytes = 0;

    if (*n->at < '1' || *n->at > '9')
        return false;
    while (*n->at >= '0' && *n->at <= '9' && bytes < 4096)
        bytes = bytes * 10 + (size_t)(*n->at++ - '0');
    if (strlen(n->at) < bytes)
        return false;
    if (n->used)
        name_add(n, "::", 2);
    /* what a file keeps for itself: the compiler's name for it says nothing */
    if (bytes > 10 &&
        (strncmp(n->at, "_INTERNAL_", 10) == 0 || strncmp(n->at, "_GLOBAL__N", 10) == 0))
        name_add(n, "(anonymous)", 11);
    else
        name_add(n, n->at, bytes);
    n->at += bytes;
    return true;
}

/* Template arguments are left to the mangled name, which is told too. */
void code_name(const char *mangled, char *out, size_t room)
{
    const char *start = strrchr(mangled, '$'); /* "$kernel$callee" */
    namer_t n = {.out = out, .room = room};
    bool nested;

    start = start && start[1] ? start + 1 : mangled;
    out[0] = '\0';
    if (strncmp(start, "_Z", 2) != 0) {
        snprintf(out, room, "%s", start);
        return;
    }
    n.at = start + 2;
    nested = *n.at == 'N';
    n.at += nested;
    while (*n.at == 'K' || *n.at == 'L')
        n.at++;
    while (name_part(&n) && nested)
        ;
    if (n.used == 0)
        snprintf(out, room, "%s", start);
    else if (*n.at == 'I')
        name_add(&n, "<...>", 5);
}
