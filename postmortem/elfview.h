/* SPDX-License-Identifier: Apache-2.0 */
/* elfview.h - the sections of an ELF64 file in memory: of a GPU core dump, and of the
 * machine code inside of one. Nothing in it is believed. */
#ifndef GPURT_POSTMORTEM_ELFVIEW_H
#define GPURT_POSTMORTEM_ELFVIEW_H

#include "bytes.h"

typedef struct elfview {
    bytes_t file;   /* borrowed */
    bytes_t table;  /* of section headers */
    bytes_t names;  /* of sections */
    uint32_t count; /* of sections that are in the file */
    uint16_t type, machine;
    uint8_t osabi, abiversion;
    bool cut; /* the file is shorter than it says */
} elfview_t;

typedef struct elfsection {
    const char *name; /* "" where there is none */
    uint32_t type, link, info;
    uint64_t flags, address, row_bytes;
    bytes_t data; /* what of it the file holds */
    bool cut;     /* it should be longer */
} elfsection_t;

enum {
    ELFVIEW_EM_CUDA = 190,
    ELFVIEW_ET_CORE = 4,
    ELFVIEW_SECTIONS_MAX = 1 << 23 /* bounds what an index over them takes */
};

/* Returns: whether it is a little-endian ELF64 file with sections. */
bool elfview_open(bytes_t file, elfview_t *out);

/* Section `index`, zeroed where there is none. Returns: whether there is. */
bool elfview_section(const elfview_t *elf, uint32_t index, elfsection_t *out);

/* The first section of that name. */
bool elfview_find(const elfview_t *elf, const char *name, elfsection_t *out);

#endif
