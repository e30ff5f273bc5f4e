/* SPDX-License-Identifier: Apache-2.0 */
#include "elfview.h"

#include <elf.h>

enum {
    SECTION_BYTES = sizeof(Elf64_Shdr)
};

static void section_read(const elfview_t *elf, uint32_t index, elfsection_t *out)
{
    bytes_t row = bytes_part(elf->table, (uint64_t)index * SECTION_BYTES, SECTION_BYTES);
    uint64_t size = bytes_u64(row, offsetof(Elf64_Shdr, sh_size));

    out->type = bytes_u32(row, offsetof(Elf64_Shdr, sh_type));
    out->link = bytes_u32(row, offsetof(Elf64_Shdr, sh_link));
    out->info = bytes_u32(row, offsetof(Elf64_Shdr, sh_info));
    out->flags = bytes_u64(row, offsetof(Elf64_Shdr, sh_flags));
    out->address = bytes_u64(row, offsetof(Elf64_Shdr, sh_addr));
    out->row_bytes = bytes_u64(row, offsetof(Elf64_Shdr, sh_entsize));
    out->name = bytes_text(elf->names, bytes_u32(row, offsetof(Elf64_Shdr, sh_name)));
    out->data = bytes_part(elf->file, 0, 0);
    out->cut = false;
    if (out->type == SHT_NOBITS || out->type == SHT_NULL)
        return;
    out->data =
        bytes_part(elf->file, bytes_u64(row, offsetof(Elf64_Shdr, sh_offset)), size);
    out->cut = out->data.size < size;
}

/* Core dumps of a busy GPU have more sections than 16 bits count: then the first header
 * holds the numbers. */
bool elfview_open(bytes_t file, elfview_t *out)
{
    uint64_t from = bytes_u64(file, offsetof(Elf64_Ehdr, e_shoff)), count;
    uint32_t names = bytes_u16(file, offsetof(Elf64_Ehdr, e_shstrndx));
    bytes_t first;
    elfsection_t s;

    memset(out, 0, sizeof *out);
    if (file.size < sizeof(Elf64_Ehdr) || memcmp(file.at, ELFMAG, SELFMAG) != 0 ||
        file.at[EI_CLASS] != ELFCLASS64 || file.at[EI_DATA] != ELFDATA2LSB ||
        bytes_u16(file, offsetof(Elf64_Ehdr, e_shentsize)) != SECTION_BYTES)
        return false;
    out->file = file;
    out->type = (uint16_t)bytes_u16(file, offsetof(Elf64_Ehdr, e_type));
    out->machine = (uint16_t)bytes_u16(file, offsetof(Elf64_Ehdr, e_machine));
    out->osabi = file.at[EI_OSABI];
    out->abiversion = file.at[EI_ABIVERSION];
    count = bytes_u16(file, offsetof(Elf64_Ehdr, e_shnum));
    first = bytes_part(file, from, SECTION_BYTES);
    if (count == 0)
        count = bytes_u64(first, offsetof(Elf64_Shdr, sh_size));
    if (names == SHN_XINDEX)
        names = bytes_u32(first, offsetof(Elf64_Shdr, sh_link));
    if (count > ELFVIEW_SECTIONS_MAX)
        count = ELFVIEW_SECTIONS_MAX;
    out->table = bytes_part(file, from, count * SECTION_BYTES);
    out->count = (uint32_t)(out->table.size / SECTION_BYTES);
    out->cut = out->count < count;
    if (elfview_section(out, names, &s) && s.type == SHT_STRTAB)
        out->names = s.data;
    return out->count > 0;
}

bool elfview_section(const elfview_t *elf, uint32_t index, elfsection_t *out)
{
    memset(out, 0, sizeof *out);
    out->name = "";
    if (index >= elf->count)
        return false;
    section_read(elf, index, out);
    return true;
}

bool elfview_find(const elfview_t *elf, const char *name, elfsection_t *out)
{
    for (uint32_t i = 0; i < elf->count; i++)
        if (elfview_section(elf, i, out) && strcmp(out->name, name) == 0)
            return true;
    memset(out, 0, sizeof *out);
    out->name = "";
    return false;
}
