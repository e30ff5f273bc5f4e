/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - the sites and strings that rows refer to by number.
 *
 * The drainer fills one from the boxes' definitions (equal ones of several devices become
 * one), the reader fills one from the DICT blocks of a file. */
#ifndef GPURT_DICTIONARY_H
#define GPURT_DICTIONARY_H

#include <gpurt/status.h>

#include "format.h"

/* Texts are not terminated. Owner: the dictionary; valid until the next add or fini. */
typedef struct gpurt_site_info {
    uint32_t id, line;
    uint16_t kind, record_kind; /* GPURT_DEF_*, GPURT_KIND_* */
    uint8_t level, arg_count;
    uint64_t types;
    const char *format, *file, *module;
    uint32_t format_bytes, file_bytes, module_bytes;
} gpurt_site_info_t;

/* Owner: the caller. Entries lie one after another in `bytes`, as in a DICT block. */
typedef struct gpurt_dictionary {
    uint8_t *bytes;
    size_t used, room;
    uint32_t *at; /* entry of id: offset + 1, 0 none */
    uint32_t at_count;
    uint32_t *slots; /* hash table of ids by content, 0 empty */
    uint32_t slot_count;
    uint32_t last_id; /* the highest that is taken, 0 none */
    uint32_t site_count;
    uint32_t program_count;                  /* of program.h */
    uint32_t programs[GPLOG_PROGRAM_OTHERS]; /* their ids by number, 0 none */
} gpurt_dictionary_t;

/* A zeroed dictionary is empty. */
void gpurt_dictionary_fini(gpurt_dictionary_t *d);

/* Adds a definition or finds the same one. info->id is ignored. Returns: its id, 0 when
 * there is no memory or no number left. */
uint32_t gpurt_dictionary_add(gpurt_dictionary_t *d, const gpurt_site_info_t *info);

/* Takes the entries of a DICT block; damaged ones are left out. Returns: how many. */
uint32_t gpurt_dictionary_load(gpurt_dictionary_t *d, const uint8_t *bytes, size_t size);

bool gpurt_dictionary_get(const gpurt_dictionary_t *d, uint32_t id, gpurt_site_info_t *out);

/* Goes through all by their ids; *id is 0 before the first call. Returns: false behind the last. */
bool gpurt_dictionary_next(const gpurt_dictionary_t *d, uint32_t *id,
                           gpurt_site_info_t *out);

#endif
