/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "panictext.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBER_MAX = 256, /* of a width or a precision */
    PATH_MOST = 60    /* of a file's name; a longer one is told without its folders */
};

/* A line as it grows. */
typedef struct line {
    const gpurt_boxmap_t *map;
    uint32_t section;
    char *at;
    size_t room, used; /* used < room */
} line_t;

static void GPURT_PRINTF(2, 3) put(line_t *l, const char *fmt, ...)
{
    va_list args;
    int length;

    va_start(args, fmt);
    length = vsnprintf(l->at + l->used, l->room - l->used, fmt, args);
    va_end(args);
    if (length > 0)
        l->used +=
            (size_t)length < l->room - l->used ? (size_t)length : l->room - l->used - 1;
}

/* ---- definitions ---------------------------------------------------------------------- */

/* NULL: there is none of that number and kind, or not yet. */
static gpurt_def_t *def_of(const gpurt_boxmap_t *map, uint32_t section, uint32_t number,
                           uint32_t kind)
{
    uint32_t count = map->sections[section].def_count;
    gpurt_def_t *def;

    if (number == 0 || number > count)
        return NULL;
    def = gpurt_boxmap_def(map, section, number - 1);
    if (gpurt_load_acquire_sys_u32(&def->xstate) != kind || /* B3.acq */
        def->slots == 0 || number - 1 + def->slots > count ||
        sizeof *def + def->format_bytes + def->file_bytes >
            (size_t)def->slots * GPURT_DEF_BYTES)
        return NULL;
    return def;
}

static void put_bytes(line_t *l, const char *text, size_t bytes)
{
    put(l, "%.*s", (int)bytes, text);
}

/* Returns: whether there was one. */
static bool put_string(line_t *l, uint32_t number)
{
    gpurt_def_t *def = def_of(l->map, l->section, number, GPURT_DEF_STRING);

    if (def)
        put_bytes(l, gpurt_def_text(def), def->format_bytes);
    return def != NULL;
}

/* ---- values ---------------------------------------------------------------------------- */

/* One conversion of a format: flags, width and precision as bounded text, and its letter. */
typedef struct spec {
    char shape[24];
    char letter;
} spec_t;

static const char *digits(const char *p, const char *end, char *to, size_t room)
{
    int value = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++)
        value = value < NUMBER_MAX ? value * 10 + (*p - '0') : value;
    snprintf(to, room, "%d", value < NUMBER_MAX ? value : NUMBER_MAX);
    return p;
}

/* p: behind the '%'. Returns: behind the conversion; NULL when it is none. */
static const char *spec_read(const char *p, const char *end, spec_t *spec)
{
    size_t used = 0;

    for (; p < end && *p && strchr("-+ #0", *p) && used < 5; p++)
        spec->shape[used++] = *p;
    spec->shape[used] = '\0';
    if (p < end && *p >= '1' && *p <= '9')
        p = digits(p, end, spec->shape + used, sizeof spec->shape - used);
    used = strlen(spec->shape);
    if (p < end && *p == '.') {
        spec->shape[used++] = '.';
        p = digits(p + 1, end, spec->shape + used, sizeof spec->shape - used);
    }
    while (p < end && *p && strchr("hlLzjt", *p))
        p++;
    if (p >= end || *p == '\0' || !strchr("diouxXcspeEfFgGaA", *p))
        return NULL;
    spec->letter = *p;
    return p + 1;
}

static double float_of(uint32_t type, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;

    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return type == GPURT_TYPE_F32 ? (double)narrow : wide;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_by(line_t *l, const spec_t *spec, uint32_t type, uint64_t value)
{
    bool wide = type == GPURT_TYPE_I64 || type == GPURT_TYPE_U64 || type == GPURT_TYPE_PTR;
    bool is_signed =
        type == GPURT_TYPE_I32 || type == GPURT_TYPE_I64 || type == GPURT_TYPE_CHAR;
    char format[32];

    if (type == GPURT_TYPE_F32 || type == GPURT_TYPE_F64) {
        snprintf(format, sizeof format, "%%%s%c", spec->shape,
                 strchr("eEfFgGaA", spec->letter) ? spec->letter : 'g');
        put(l, format, float_of(type, value));
    } else if (type == GPURT_TYPE_STRING) {
        if (!put_string(l, (uint32_t)value))
            put(l, value ? "<text>" : "(null)");
    } else if (spec->letter == 'c' && !wide) {
        put(l, "%c", (int)(value & 0xff) ? (int)(value & 0xff) : '?');
    } else if (spec->letter == 'p') {
        put(l, "0x%" PRIx64, value);
    } else {
        char letter = strchr("diouxX", spec->letter) ? spec->letter : is_signed ? 'd' : 'u';

        if (!wide)
            value = letter == 'd' || letter == 'i' ? (uint64_t)(int64_t)(int32_t)value
                                                   : (uint32_t)value;
        snprintf(format, sizeof format, "%%%sll%c", spec->shape, letter);
        put(l, format, (long long)value);
    }
}
#pragma GCC diagnostic pop

/* As it would be written in C. */
static void put_value(line_t *l, uint32_t type, uint64_t value)
{
    spec_t spec = {"", 'd'};

    if (type == GPURT_TYPE_U32 || type == GPURT_TYPE_U64)
        spec.letter = 'u';
    else if (type == GPURT_TYPE_PTR)
        spec.letter = 'p';
    else if (type == GPURT_TYPE_F32 || type == GPURT_TYPE_F64)
        memcpy(spec.shape, ".9", sizeof ".9");
    put_by(l, &spec, type, value);
}

/* ---- what ------------------------------------------------------------------------------ */

/* Arguments have the macro's own operands in front, `own` of them. */
static void put_message(line_t *l, const gpurt_panic_t *p, gpurt_def_t *site, uint32_t own)
{
    const char *at = gpurt_def_text(site), *end = at + site->format_bytes;
    uint32_t argument = own;

    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at)), *behind;
        spec_t spec;

        put_bytes(l, at, (size_t)((percent ? percent : end) - at));
        if (!percent)
            return;
        behind = spec_read(percent + 1, end, &spec);
        if (behind && argument < GPURT_PANIC_ARGS) {
            put_by(l, &spec, gpurt_type_at(site->types, argument), p->args[argument]);
            argument++;
            at = behind;
        } else {
            put(l, "%%");
            at = percent + (percent + 1 < end && percent[1] == '%' ? 2 : 1);
        }
    }
}

/* What was promised. Returns: whether anything was. */
static bool put_promise(line_t *l, const gpurt_panic_t *p, uint64_t types)
{
    uint32_t first = gpurt_type_at(types, 0), second = gpurt_type_at(types, 1);

    if (p->category == GPURT_CATEGORY_UNREACHABLE) {
        put(l, "unreachable code was reached");
        return true;
    }
    if (p->category == GPURT_CATEGORY_BOUNDS && p->own >= 2) {
        put(l, "index ");
        put_value(l, first, p->args[0]);
        put(l, " out of bounds of ");
        put_value(l, second, p->args[1]);
        put(l, ": ");
    }
    if (!put_string(l, p->condition))
        return p->condition != 0;
    if (p->category == GPURT_CATEGORY_BOUNDS)
        return true;
    put(l, " does not hold");
    if (p->own >= 2) {
        put(l, ": ");
        put_value(l, first, p->args[0]);
        put(l, " and ");
        put_value(l, second, p->args[1]);
    }
    return true;
}

/* ---- where ----------------------------------------------------------------------------- */

static void put_place(line_t *l, gpurt_def_t *site)
{
    const char *file = gpurt_def_text(site) + site->format_bytes;
    uint32_t bytes = site->file_bytes, start = 0;

    for (uint32_t i = 0; bytes > PATH_MOST && i < bytes; i++)
        if (file[i] == '/')
            start = i + 1;
    put_bytes(l, file + start, bytes - start);
    put(l, ":%u", site->line);
}

static void put_index(line_t *l, const char *of, gpurt_dim3_t at, gpurt_dim3_t in)
{
    if (in.y <= 1 && in.z <= 1)
        put(l, "%s %u", of, at.x);
    else
        put(l, "%s (%u,%u,%u)", of, at.x, at.y, at.z);
}

static void put_where(line_t *l, const gpurt_panic_t *p, gpurt_def_t *site)
{
    uint32_t lanes = (uint32_t)__builtin_popcount(p->failed);

    if (site)
        put_place(l, site);
    if (p->kernel || p->function) {
        put(l, " in ");
        (void)put_string(l, p->kernel ? p->kernel : p->function);
    }
    put_index(l, ", block", p->block, p->grid);
    put_index(l, " thread", p->thread, p->block_dim);
    if (lanes > 1)
        put(l, " and %u more of its warp", lanes - 1);
}

/* What the CPU back end found by itself is no panic of the program's. */
static const char *name_of(uint32_t category)
{
    if (category < GPURT_CATEGORY_FAULT || category >= GPURT_CATEGORY_RUNTIME)
        return "panic";
    return category < GPURT_CATEGORY_HANG ? "fault" : "hang";
}

/* ---- calls ----------------------------------------------------------------------------- */

static bool is_whole(const gpurt_panic_t *p)
{
    uint32_t state = gpurt_load_acquire_sys_u32(&p->xstate); /* B6.acq */

    return state == GPURT_PANIC_WRITTEN || state == GPURT_PANIC_COPYING;
}

bool gpurt_panictext_ready(const gpurt_boxmap_t *map, uint32_t section, uint32_t number)
{
    const gpurt_panic_t *p = gpurt_boxmap_panic(map, section, number);

    return is_whole(p) &&
           (p->site == 0 || def_of(map, section, p->site, GPURT_DEF_SITE) != NULL);
}

void gpurt_panictext_put(const gpurt_boxmap_t *map, uint32_t section, uint32_t number,
                         char to[GPURT_PANICTEXT_BYTES])
{
    const gpurt_panic_t *p = gpurt_boxmap_panic(map, section, number);
    line_t l = {.map = map, .section = section, .at = to, .room = GPURT_PANICTEXT_BYTES};
    gpurt_def_t *site;

    to[0] = '\0';
    if (!is_whole(p)) {
        put(&l, "panic: its record is not whole");
        return;
    }
    site = def_of(map, section, p->site, GPURT_DEF_SITE);
    put(&l, "%s%s", name_of(p->category), site ? " at " : "");
    put_where(&l, p, site);
    put(&l, ": ");
    if (!put_promise(&l, p, site ? site->types : 0)) {
        if (!site || site->format_bytes == 0)
            put(&l, "this must not go on");
    } else if (site && site->format_bytes) {
        put(&l, ": ");
    }
    if (site)
        put_message(&l, p, site, p->own);
}
