/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <string.h>

/* A definition of a process: its text is the name, its line the pid, its types the ticks and
 * above them, where no ticks reach, the number. */
enum {
    NUMBER_SHIFT = 48
};
#define TICKS_MASK ((1ull << NUMBER_SHIFT) - 1)

uint32_t gplog_program_number(const gpurt_site_info_t *info)
{
    uint64_t number = info->types >> NUMBER_SHIFT;

    return info->kind == GPURT_DEF_STRING && info->record_kind == GPURT_KIND_LIFE &&
                   number < GPLOG_PROGRAM_OTHERS
               ? (uint32_t)number
               : GPLOG_PROGRAM_OTHERS;
}

uint32_t gplog_program_count(const gpurt_dictionary_t *d)
{
    return d->program_count;
}

bool gplog_program_get(const gpurt_dictionary_t *d, uint32_t number, gplog_program_t *out)
{
    gpurt_site_info_t info;
    uint32_t bytes;

    memset(out, 0, sizeof *out);
    out->number = number;
    if (number >= d->program_count || !gpurt_dictionary_get(d, d->programs[number], &info))
        return false;
    bytes = info.format_bytes < GPURT_BOX_NAME ? info.format_bytes : GPURT_BOX_NAME - 1;
    out->pid = info.line;
    out->start_ticks = info.types & TICKS_MASK;
    memcpy(out->name, info.format, bytes);
    return true;
}

static bool is_of(const gplog_program_t *p, const gpurt_box_identity_t *id)
{
    return p->pid == id->pid && p->start_ticks == (id->start_ticks & TICKS_MASK) &&
           strncmp(p->name, id->program, GPURT_BOX_NAME - 1) == 0;
}

uint32_t gplog_program_add(gpurt_dictionary_t *d, const gpurt_box_identity_t *id)
{
    gpurt_site_info_t info = {.kind = GPURT_DEF_STRING,
                              .record_kind = GPURT_KIND_LIFE,
                              .line = id->pid,
                              .format = id->program};
    gplog_program_t p;

    for (uint32_t i = d->program_count; i-- > 0;)
        if (gplog_program_get(d, i, &p) && is_of(&p, id))
            return i;
    if (d->program_count == GPLOG_PROGRAM_OTHERS)
        return GPLOG_PROGRAM_OTHERS;
    info.types =
        (uint64_t)d->program_count << NUMBER_SHIFT | (id->start_ticks & TICKS_MASK);
    info.format_bytes = (uint32_t)strnlen(id->program, GPURT_BOX_NAME - 1);
    gpurt_dictionary_add(d, &info);
    return gplog_program_number(&info);
}

bool gplog_program_several(const gpurt_dictionary_t *d)
{
    return d->program_count > 1;
}

bool gplog_program_find(const gpurt_dictionary_t *d, uint32_t pid, gplog_program_t *out)
{
    for (uint32_t i = d->program_count; i-- > 0;)
        if (gplog_program_get(d, i, out) && out->pid == pid)
            return true;
    memset(out, 0, sizeof *out);
    return false;
}

/* A log of before programs had numbers is of the one that its FILE names. */
bool gplog_program_known(const gpurt_dictionary_t *d, const gplog_file_t *about,
                         uint32_t number, gplog_program_t *out)
{
    const gpurt_box_identity_t *id = &about->identity;

    if (d->program_count)
        return gplog_program_get(d, number, out);
    memset(out, 0, sizeof *out);
    out->number = number;
    if (number)
        return false;
    out->pid = id->pid;
    out->start_ticks = id->start_ticks & TICKS_MASK;
    memcpy(out->name, id->program, strnlen(id->program, GPURT_BOX_NAME - 1));
    return out->pid || out->name[0];
}

uint32_t gplog_program_pid(const gpurt_dictionary_t *d, const gplog_file_t *about,
                           const gpurt_row_t *row)
{
    gplog_program_t p;

    if (row->kind == GPURT_KIND_LIFE) /* the recorder says it, of the one that it names */
        return row->words > 1 ? gpurt_row_words(row)[1] : 0;
    gplog_program_known(d, about, row->program, &p);
    return p.pid;
}
