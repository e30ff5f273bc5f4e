/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of a box, taken over when the first record asks for them. The box may be
 * wrong or hostile, so lengths are bounded against the table before a byte of text is
 * touched. */
#include "drainpart.h"

#include <string.h>

/* A private copy of a committed definition; false: not there, or not sound. */
static bool def_read(const gpurt_drain_t *d, uint32_t section, uint32_t number,
                     gpurt_def_t *def, char *text)
{
    const gpurt_box_section_t *s = &d->map->sections[section];
    gpurt_def_t *from;
    uint32_t bytes, state;

    if (number == 0 || number > s->def_count)
        return false;
    from = gpurt_boxmap_def(d->map, section, number - 1);
    state = gpurt_load_acquire_sys_u32(&from->xstate); /* B3.acq */
    if (state != GPURT_DEF_SITE && state != GPURT_DEF_STRING)
        return false;
    memcpy(def, from, sizeof *def);
    def->xstate = state;
    bytes = (uint32_t)def->format_bytes + def->file_bytes + def->module_bytes;
    if (def->slots == 0 || def->slots > GPURT_DEF_MAX_SLOTS ||
        def->slots > s->def_count - (number - 1) ||
        bytes > (uint32_t)def->slots * GPURT_DEF_BYTES - sizeof *def)
        return false;
    memcpy(text, from + 1, bytes);
    return true;
}

static bool site_load(gpurt_drain_t *d, uint32_t section, uint32_t number,
                      drain_site_t *out)
{
    char text[GPURT_DEF_TEXT_BYTES];
    gpurt_site_info_t info;
    gpurt_def_t def;

    if (!def_read(d, section, number, &def, text))
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
    out->strings = false;
    for (uint32_t i = 0; i < GPURT_MAX_SITE_TYPES; i++)
        out->strings |= gpurt_type_at(def.types, i) == GPURT_TYPE_STRING;
    return out->id != 0;
}

const drain_site_t *drain_site_get(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    drain_site_t *site;

    if (number == 0 || number > d->map->sections[section].def_count)
        return NULL;
    site = &d->sections[section].sites[number - 1];
    return site->id != 0 || site_load(d, section, number, site) ? site : NULL;
}

uint32_t drain_string_id(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    const drain_site_t *site = drain_site_get(d, section, number);

    return site ? site->id : 0;
}
