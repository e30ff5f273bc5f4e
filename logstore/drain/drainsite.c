/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of a box, taken over when the first record asks for them. */
#include "classdef.h"
#include "defread.h"
#include "drainpart.h"

#include <string.h>

static uint32_t string_words(uint64_t types)
{
    uint32_t column = 0, strings = 0;

    for (uint32_t i = 0; i < GPURT_MAX_SITE_TYPES; i++) {
        uint32_t type = gpurt_type_at(types, i);

        strings |= (uint32_t)(type == GPURT_TYPE_STRING) << column;
        column += gpurt_type_words(type);
    }
    return strings;
}
GPURT_STATIC_ASSERT(2 * GPURT_MAX_SITE_TYPES <= 32, "a bit for each word");

/* Of the first record of an object: where it has texts. */
static uint32_t object_strings(const char *text, size_t bytes)
{
    gpurt_classdef_t class_;
    uint32_t strings = 0;

    if (!gpurt_classdef_read(&class_, text, bytes))
        return 0;
    for (uint32_t i = 0; i < class_.field_count; i++)
        if (class_.fields[i].kind == GPURT_FIELD_TEXT)
            strings |= 1u << (GPURT_OBJECT_HEAD_WORDS + 2 * class_.fields[i].first);
    return strings;
}
GPURT_STATIC_ASSERT(GPURT_OBJECT_HEAD_WORDS + 2 * GPURT_OBJECT_TEXTS <= 32,
                    "a bit for each word");

static bool site_load(gpurt_drain_t *d, uint32_t section, uint32_t number,
                      drain_site_t *out)
{
    char text[GPURT_DEF_TEXT_BYTES];
    gpurt_site_info_t info;
    gpurt_def_t def;

    if (!gpurt_def_read(d->map, section, number, &def, text))
        return false;
    memset(&info, 0, sizeof info);
    info.line = def.line;
    info.kind = (uint16_t)def.xstate;
    info.record_kind = def.kind;
    info.level = def.level <= GPURT_LEVEL_LOST ? def.level : GPURT_LEVEL_NONE;
    info.arg_count =
        def.arg_count <= GPURT_MAX_SITE_TYPES ? def.arg_count : GPURT_MAX_SITE_TYPES;
    info.types = def.types;
    info.format = text;
    info.format_bytes = def.format_bytes;
    info.file = text + def.format_bytes;
    info.file_bytes = def.file_bytes;
    info.module = info.file + def.file_bytes;
    info.module_bytes = def.module_bytes;
    out->id = gpurt_dictionary_add(d->options.dictionary, &info);
    out->level = info.level;
    out->types = def.types;
    out->words = (uint16_t)gpurt_types_words(def.types);
    out->strings = def.kind == GPURT_KIND_OBJECT ? object_strings(text, def.format_bytes)
                                                 : string_words(def.types);
    return out->id != 0;
}

const drain_site_t *drain_site_load(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    drain_site_t *site = &d->sections[section].sites[number - 1];

    return site_load(d, section, number, site) ? site : NULL;
}
