/* SPDX-License-Identifier: Apache-2.0 */
#include "dictionary.h"

#include "program.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 4096,
    FIRST_SLOTS = 256
};

void gpurt_dictionary_fini(gpurt_dictionary_t *d)
{
    free(d->bytes);
    free(d->at);
    free(d->slots);
    memset(d, 0, sizeof *d);
}

static void entry_info(const gplog_def_t *e, gpurt_site_info_t *out)
{
    const char *text = (const char *)(e + 1);

    out->id = e->id;
    out->line = e->line;
    out->kind = e->kind;
    out->record_kind = e->record_kind;
    out->level = e->level;
    out->arg_count = e->arg_count;
    out->types = e->types;
    out->format = text;
    out->format_bytes = e->format_bytes;
    out->file = text + e->format_bytes;
    out->file_bytes = e->file_bytes;
    out->module = out->file + e->file_bytes;
    out->module_bytes = e->module_bytes;
}

bool gpurt_dictionary_get(const gpurt_dictionary_t *d, uint32_t id, gpurt_site_info_t *out)
{
    memset(out, 0, sizeof *out);
    if (id >= d->at_count || d->at[id] == 0)
        return false;
    entry_info((const gplog_def_t *)(d->bytes + d->at[id] - 1), out);
    return true;
}

bool gpurt_dictionary_next(const gpurt_dictionary_t *d, uint32_t *id,
                           gpurt_site_info_t *out)
{
    while (*id < d->last_id)
        if (gpurt_dictionary_get(d, ++*id, out))
            return true;
    return false;
}

/* ---- room ---------------------------------------------------------------------------- */

static bool bytes_grow(gpurt_dictionary_t *d, size_t more)
{
    size_t room = d->room ? d->room : FIRST_ROOM;
    uint8_t *bytes;

    while (room - d->used < more)
        room *= 2;
    if (room == d->room)
        return true;
    bytes = realloc(d->bytes, room);
    if (!bytes)
        return false;
    d->bytes = bytes;
    d->room = room;
    return true;
}

static bool at_grow(gpurt_dictionary_t *d, uint32_t id)
{
    uint32_t count = d->at_count ? d->at_count : FIRST_SLOTS;
    uint32_t *at;

    while (count <= id)
        count *= 2;
    if (count == d->at_count)
        return true;
    at = realloc(d->at, count * sizeof *at);
    if (!at)
        return false;
    memset(at + d->at_count, 0, (count - d->at_count) * sizeof *at);
    d->at = at;
    d->at_count = count;
    return true;
}

/* ---- by content ---------------------------------------------------------------------- */

/* FNV-1a over everything that makes two definitions the same. */
static uint32_t info_hash(const gpurt_site_info_t *s)
{
    uint64_t h = 14695981039346656037ull;

#define MIX(p, n)                       \
    for (size_t i_ = 0; i_ < (n); i_++) \
    h = (h ^ ((const uint8_t *)(p))[i_]) * 1099511628211ull
    MIX(s->format, s->format_bytes);
    MIX(s->file, s->file_bytes);
    MIX(&s->line, sizeof s->line);
    MIX(&s->types, sizeof s->types);
#undef MIX
    return (uint32_t)(h ^ h >> 32);
}

static bool info_same(const gpurt_site_info_t *a, const gpurt_site_info_t *b)
{
    return a->line == b->line && a->kind == b->kind && a->record_kind == b->record_kind &&
           a->level == b->level && a->arg_count == b->arg_count && a->types == b->types &&
           a->format_bytes == b->format_bytes && a->file_bytes == b->file_bytes &&
           a->module_bytes == b->module_bytes &&
           memcmp(a->format, b->format, a->format_bytes) == 0 &&
           memcmp(a->file, b->file, a->file_bytes) == 0 &&
           memcmp(a->module, b->module, a->module_bytes) == 0;
}

static uint32_t *slot_find(gpurt_dictionary_t *d, const gpurt_site_info_t *info)
{
    uint32_t i = info_hash(info);
    gpurt_site_info_t other;

    for (;; i++) {
        uint32_t *slot = &d->slots[i & (d->slot_count - 1)];

        if (*slot == 0 ||
            (gpurt_dictionary_get(d, *slot, &other) && info_same(info, &other)))
            return slot;
    }
}

/* At most half full, so that a probe ends soon. */
static bool slots_grow(gpurt_dictionary_t *d)
{
    uint32_t count = d->slot_count ? d->slot_count * 2 : FIRST_SLOTS;
    uint32_t *old = d->slots;

    if (d->slots && d->last_id < d->slot_count / 2)
        return true;
    d->slots = calloc(count, sizeof *d->slots);
    if (!d->slots) {
        d->slots = old;
        return false;
    }
    d->slot_count = count;
    free(old);
    for (uint32_t id = 1; id <= d->last_id && id < d->at_count; id++) {
        gpurt_site_info_t info;

        if (gpurt_dictionary_get(d, id, &info))
            *slot_find(d, &info) = id;
    }
    return true;
}

static void program_note(gpurt_dictionary_t *d, uint32_t id, const gpurt_site_info_t *s)
{
    uint32_t number = gplog_program_number(s);

    if (number == GPLOG_PROGRAM_OTHERS || d->programs[number])
        return;
    d->programs[number] = id;
    d->program_count = number >= d->program_count ? number + 1 : d->program_count;
}

/* Appends the entry under id. The texts must not lie in d->bytes. */
static bool entry_put(gpurt_dictionary_t *d, uint32_t id, const gpurt_site_info_t *s)
{
    size_t text = (size_t)s->format_bytes + s->file_bytes + s->module_bytes;
    size_t bytes =
        (sizeof(gplog_def_t) + text + GPLOG_ALIGN - 1) & ~(size_t)(GPLOG_ALIGN - 1);
    gplog_def_t *e;
    char *p;

    if (id >= GPLOG_SITES_MAX || d->used + bytes > GPLOG_BLOCK_MAX / 2 ||
        !bytes_grow(d, bytes) || !at_grow(d, id))
        return false;
    e = (gplog_def_t *)(d->bytes + d->used);
    memset(e, 0, bytes);
    e->bytes = (uint32_t)bytes;
    e->id = id;
    e->line = s->line;
    e->kind = s->kind;
    e->record_kind = s->record_kind;
    e->types = s->types;
    e->level = s->level;
    e->arg_count = s->arg_count;
    e->format_bytes = (uint16_t)s->format_bytes;
    e->file_bytes = (uint16_t)s->file_bytes;
    e->module_bytes = (uint16_t)s->module_bytes;
    p = (char *)(e + 1);
    memcpy(p, s->format, s->format_bytes);
    memcpy(p + s->format_bytes, s->file, s->file_bytes);
    memcpy(p + s->format_bytes + s->file_bytes, s->module, s->module_bytes);
    d->at[id] = (uint32_t)d->used + 1;
    d->used += bytes;
    d->site_count += s->kind == GPURT_DEF_SITE;
    program_note(d, id, s);
    return true;
}

uint32_t gpurt_dictionary_add(gpurt_dictionary_t *d, const gpurt_site_info_t *info)
{
    gpurt_site_info_t s = *info;
    uint32_t *slot;

    /* An empty text may come as NULL, which memcpy must not see. */
    s.format = s.format ? s.format : "";
    s.file = s.file ? s.file : "";
    s.module = s.module ? s.module : "";
    if (!slots_grow(d))
        return 0;
    slot = slot_find(d, &s);
    if (*slot == 0) {
        if (!entry_put(d, d->last_id + 1, &s))
            return 0;
        *slot = ++d->last_id;
    }
    return *slot;
}

/* ---- from a file --------------------------------------------------------------------- */

static bool entry_sound(const gplog_def_t *e, size_t left)
{
    size_t text = (size_t)e->format_bytes + e->file_bytes + e->module_bytes;

    return e->bytes <= left && e->bytes % GPLOG_ALIGN == 0 && e->bytes >= sizeof *e &&
           text <= e->bytes - sizeof *e && e->id > 0 && e->id < GPLOG_SITES_MAX &&
           e->arg_count <= GPURT_MAX_SITE_TYPES && e->level <= GPURT_LEVEL_LOST &&
           (e->kind == GPURT_DEF_SITE || e->kind == GPURT_DEF_STRING);
}

uint32_t gpurt_dictionary_load(gpurt_dictionary_t *d, const uint8_t *bytes, size_t size)
{
    uint32_t taken = 0;

    while (size >= sizeof(gplog_def_t)) {
        gplog_def_t e;
        gpurt_site_info_t info, old;

        memcpy(&e, bytes, sizeof e);
        if (!entry_sound(&e, size))
            break; /* the block's checksum held, so its writer was of another kind */
        entry_info((const gplog_def_t *)bytes, &info);
        if (!gpurt_dictionary_get(d, e.id, &old)) {
            if (!entry_put(d, e.id, &info))
                break;
            if (e.id > d->last_id)
                d->last_id = e.id;
            taken++;
        }
        bytes += e.bytes;
        size -= e.bytes;
    }
    return taken;
}
