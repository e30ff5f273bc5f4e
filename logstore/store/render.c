/* SPDX-License-Identifier: Apache-2.0 */
#include "render.h"

#include "objectrow.h"
#include "panicrow.h"

#include <gpurt/impl/activity.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    SPEC_MAX = 16,
    WIDTH_MAX = 256
};

/* One conversion of a format, taken apart. */
typedef struct spec {
    char flags[6];
    int width, precision; /* -1: not given */
    char conversion;
} spec_t;

/* Where the arguments of one message are read from. */
typedef struct source {
    const uint32_t *words;
    uint32_t count;  /* words there are */
    uint32_t stride; /* between two words of one lane */
    uint32_t at;
    bool activity; /* a duration may be unknown */
    bool pool;     /* a threshold may never be reached */
    bool mangled;  /* the first argument is a name as compilers write it */
} source_t;

static gpurt_nice_fn *nice_of; /* fixed at the begin */

void gpurt_render_nice(gpurt_nice_fn *nice)
{
    nice_of = nice;
}

const char *gpurt_level_name(uint32_t level)
{
    static const char *const names[] = {"EVENT", "TRACE", "DEBUG", "INFO",
                                        "WARN",  "ERROR", "PANIC", "LOST"};

    return level <= GPURT_LEVEL_LOST ? names[level] : "?";
}

bool gpurt_level_find(const char *word, uint32_t *level)
{
    for (uint32_t i = GPURT_LEVEL_TRACE; i <= GPURT_LEVEL_PANIC; i++)
        if (strcasecmp(word, gpurt_level_name(i)) == 0) {
            *level = i;
            return true;
        }
    return false;
}

uint32_t gpurt_render_lanes(const gpurt_row_t *row, uint32_t lane)
{
    uint32_t mask = row->mask;

    if (!gpurt_row_per_lane(row))
        return mask;
    while (lane-- > 0)
        mask &= mask - 1;
    return mask & (0u - mask);
}

/* ---- conversions --------------------------------------------------------------------- */

static const char *number(const char *p, const char *end, int *value)
{
    for (*value = 0; p < end && *p >= '0' && *p <= '9'; p++)
        if (*value < WIDTH_MAX)
            *value = *value * 10 + (*p - '0');
    if (*value > WIDTH_MAX)
        *value = WIDTH_MAX;
    return p;
}

/* p: behind the '%'. Returns: behind the conversion, or NULL when it is none. */
static const char *spec_parse(const char *p, const char *end, spec_t *spec)
{
    size_t flags = 0;

    memset(spec, 0, sizeof *spec);
    spec->width = spec->precision = -1;
    for (; p < end && *p && strchr("-+ #0", *p); p++)
        if (flags < sizeof spec->flags - 1 && !strchr(spec->flags, *p))
            spec->flags[flags++] = *p;
    if (p < end && *p >= '1' && *p <= '9')
        p = number(p, end, &spec->width);
    if (p < end && *p == '.')
        p = number(p + 1, end, &spec->precision);
    while (p < end && *p && strchr("hlLzjt", *p))
        p++;
    if (p >= end || *p == '\0' || !strchr("diouxXcspeEfFgGaA", *p))
        return NULL;
    spec->conversion = *p;
    return p + 1;
}

/* A format of our own making for one value: flags, bounded width and precision, one
 * letter. */
static void spec_format(const spec_t *spec, const char *length, char conversion,
                        char out[SPEC_MAX * 2])
{
    char width[12] = "", precision[12] = "";

    if (spec->width >= 0)
        snprintf(width, sizeof width, "%d", spec->width);
    if (spec->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", spec->precision);
    snprintf(out, SPEC_MAX * 2, "%%%s%s%s%s%c", spec->flags, width, precision, length,
             conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_integer(gpurt_text_t *out, const spec_t *spec, uint64_t value,
                        uint32_t type)
{
    bool wide = type == GPURT_TYPE_I64 || type == GPURT_TYPE_U64 || type == GPURT_TYPE_PTR;
    bool is_signed =
        type == GPURT_TYPE_I32 || type == GPURT_TYPE_I64 || type == GPURT_TYPE_CHAR;
    char format[SPEC_MAX * 2], conversion = spec->conversion;

    if (conversion == 'c' && !wide) {
        char c = (char)value;

        gpurt_text_add(out, &c, 1);
        return;
    }
    if (conversion == 'p') {
        gpurt_text_printf(out, "0x%llx", (unsigned long long)value);
        return;
    }
    if (!strchr("diouxX", conversion))
        conversion = is_signed ? 'd' : 'u';
    if (conversion == 'd' || conversion == 'i') {
        if (!wide)
            value = (uint64_t)(int64_t)(int32_t)value;
    } else if (conversion == 'u' && !spec->flags[0] && spec->width < 0 &&
               spec->precision < 0) {
        gpurt_text_u64(out, wide ? value : (uint32_t)value);
        return;
    }
    spec_format(spec, "ll", conversion, format);
    gpurt_text_printf(out, format, (long long)value);
}

static void put_float(gpurt_text_t *out, const spec_t *spec, double value)
{
    char format[SPEC_MAX * 2];

    spec_format(spec, "", strchr("eEfFgGaA", spec->conversion) ? spec->conversion : 'g',
                format);
    gpurt_text_printf(out, format, value);
}

const char *gpurt_render_nicely(const gpurt_dictionary_t *d, uint32_t id)
{
    char text[GPURT_MESSAGE_MAX];
    gpurt_site_info_t info;

    if (!nice_of || !gpurt_dictionary_get(d, id, &info) || info.kind != GPURT_DEF_STRING ||
        info.format_bytes >= sizeof text)
        return NULL;
    memcpy(text, info.format, info.format_bytes);
    text[info.format_bytes] = '\0';
    return nice_of(text);
}

static void put_string(const gpurt_dictionary_t *d, gpurt_text_t *out, const spec_t *spec,
                       uint32_t id, bool mangled)
{
    const char *nice = mangled ? gpurt_render_nicely(d, id) : NULL;
    gpurt_site_info_t info;
    char format[SPEC_MAX * 2];
    int bytes;

    if (nice) {
        gpurt_text_add(out, nice, strlen(nice));
        return;
    }
    if (!gpurt_dictionary_get(d, id, &info) || info.kind != GPURT_DEF_STRING) {
        gpurt_text_printf(out, "<string %u>", id);
        return;
    }
    bytes = (int)info.format_bytes;
    if (spec->precision >= 0 && spec->precision < bytes)
        bytes = spec->precision;
    snprintf(format, sizeof format, "%%%s*.*s", strchr(spec->flags, '-') ? "-" : "");
    gpurt_text_printf(out, format, spec->width > 0 ? spec->width : 0, bytes, info.format);
}
#pragma GCC diagnostic pop

/* false: the row ends before the argument. */
static bool next_word(source_t *from, uint32_t *word)
{
    uint64_t at = (uint64_t)from->at * from->stride;

    *word = 0;
    if (at >= from->count)
        return false;
    *word = from->words[at];
    from->at++;
    return true;
}

static void put_argument(const gpurt_dictionary_t *d, gpurt_text_t *out, const spec_t *spec,
                         uint32_t type, source_t *from)
{
    uint32_t low, high = 0, words = gpurt_type_words(type);
    bool there = words > 0 && next_word(from, &low);

    if (there && words == 2)
        there = next_word(from, &high);
    if (!there) {
        gpurt_text_add(out, "<missing>", 9);
        return;
    }
    if (type == GPURT_TYPE_F32) {
        float f;

        memcpy(&f, &low, sizeof f);
        put_float(out, spec, (double)f);
    } else if (type == GPURT_TYPE_F64) {
        uint64_t wide = low | (uint64_t)high << 32;
        double f;

        memcpy(&f, &wide, sizeof f);
        put_float(out, spec, f);
    } else if (type == GPURT_TYPE_STRING) {
        put_string(d, out, spec, low, from->mangled && from->at == 1);
    } else if (from->activity && words == 2 &&
               (low | (uint64_t)high << 32) == GPURT_ACTIVITY_NO_TIME) {
        gpurt_text_add(out, "unknown", 7);
    } else if (from->pool && words == 2 && (low | (uint64_t)high << 32) == INT64_MAX) {
        gpurt_text_add(out, "never", 5);
    } else {
        put_integer(out, spec, low | (uint64_t)high << 32, type);
    }
}

/* argument: the first that the format is about; `from` stands there. */
static void put_format(const gpurt_dictionary_t *d, const gpurt_site_info_t *site,
                       uint32_t argument, source_t *from, gpurt_text_t *out)
{
    const char *p = site->format, *end = p + site->format_bytes;

    while (p < end) {
        const char *percent = memchr(p, '%', (size_t)(end - p)), *behind;
        spec_t spec;

        gpurt_text_add(out, p, (size_t)((percent ? percent : end) - p));
        if (!percent)
            return;
        if (percent + 1 < end && percent[1] == '%') {
            gpurt_text_add(out, "%", 1);
            p = percent + 2;
            continue;
        }
        behind = spec_parse(percent + 1, end, &spec);
        if (!behind) {
            gpurt_text_add(out, "%", 1);
            p = percent + 1;
            continue;
        }
        put_argument(d, out, &spec,
                     argument < GPURT_MAX_SITE_TYPES ? gpurt_type_at(site->types, argument)
                                                     : 0,
                     from);
        argument++;
        p = behind;
    }
}

/* ---- values --------------------------------------------------------------------------- */

void gpurt_render_string(const gpurt_dictionary_t *d, uint32_t id, gpurt_text_t *out)
{
    gpurt_site_info_t info;

    if (gpurt_dictionary_get(d, id, &info) && info.kind == GPURT_DEF_STRING)
        gpurt_text_add(out, info.format, info.format_bytes);
    else
        gpurt_text_printf(out, "<string %u>", id);
}

void gpurt_render_value(const gpurt_dictionary_t *d, uint32_t type, uint64_t value,
                        gpurt_text_t *out)
{
    uint32_t low = (uint32_t)value;
    double wide;
    float narrow;

    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &value, sizeof wide);
    switch (type) {
    case GPURT_TYPE_I32:
    case GPURT_TYPE_CHAR:
        gpurt_text_printf(out, "%d", (int32_t)low);
        break;
    case GPURT_TYPE_U32:
        gpurt_text_printf(out, "%u", low);
        break;
    case GPURT_TYPE_I64:
        gpurt_text_printf(out, "%lld", (long long)value);
        break;
    case GPURT_TYPE_F32:
        gpurt_text_printf(out, "%.9g", (double)narrow);
        break;
    case GPURT_TYPE_F64:
        gpurt_text_printf(out, "%.17g", wide);
        break;
    case GPURT_TYPE_PTR:
        gpurt_text_printf(out, "0x%llx", (unsigned long long)value);
        break;
    case GPURT_TYPE_STRING:
        gpurt_render_string(d, low, out);
        break;
    default:
        gpurt_text_printf(out, "%llu", (unsigned long long)value);
        break;
    }
}

/* ---- panics --------------------------------------------------------------------------- */

/* What a panic without a message has to say. */
static void put_promise(const gpurt_dictionary_t *d, const gpurt_panicrow_t *p,
                        gpurt_text_t *out)
{
    uint32_t type[GPURT_PANIC_OWN];

    for (uint32_t i = 0; i < GPURT_PANIC_OWN; i++)
        type[i] = gpurt_type_at(p->types, i);
    if (p->category == GPURT_CATEGORY_UNREACHABLE)
        gpurt_text_printf(out, "unreachable code was reached");
    else if (p->condition == 0)
        gpurt_text_printf(out, "panic");
    else if (p->category == GPURT_CATEGORY_BOUNDS && p->own >= 2) {
        gpurt_text_printf(out, "index ");
        gpurt_render_value(d, type[0], p->args[0], out);
        gpurt_text_printf(out, " out of bounds of ");
        gpurt_render_value(d, type[1], p->args[1], out);
        gpurt_text_printf(out, ": ");
        gpurt_render_string(d, p->condition, out);
    } else {
        gpurt_render_string(d, p->condition, out);
        gpurt_text_printf(out, " does not hold");
        if (p->own >= 2) {
            gpurt_text_printf(out, ": ");
            gpurt_render_value(d, type[0], p->args[0], out);
            gpurt_text_printf(out, " and ");
            gpurt_render_value(d, type[1], p->args[1], out);
        }
    }
}

static void put_panic(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                      const gpurt_site_info_t *site, gpurt_text_t *out)
{
    source_t from = {.words = gpurt_row_words(row), .count = row->words, .stride = 1};
    gpurt_panicrow_t p;

    gpurt_panicrow_read(row, site->types, &p);
    if (site->format_bytes == 0) {
        put_promise(d, &p, out);
        return;
    }
    for (uint32_t i = 0; i < p.own; i++)
        from.at += gpurt_type_words(gpurt_type_at(site->types, i));
    put_format(d, site, p.own, &from, out);
}

/* ---- whole messages ------------------------------------------------------------------ */

static void put_loss(const gpurt_row_t *row, gpurt_text_t *out)
{
    static const char *const reasons[] = {"",
                                          "the ring was full",
                                          "overwritten before the drainer came",
                                          "no room for the site's definition",
                                          "the producer died inside a record",
                                          "two producers met in one ring",
                                          "the site is rate-limited",
                                          "a lane died inside its panic",
                                          "CUPTI had no buffer for them",
                                          "no slot was left for the panic",
                                          "their warps have no ring"};
    uint32_t reason = row->words > 0 ? gpurt_row_words(row)[0] : 0;

    gpurt_text_printf(out, "%llu lost: %s", (unsigned long long)gpurt_row_lost(row),
                      reason < sizeof reasons / sizeof reasons[0] ? reasons[reason] : "?");
}

static void put_text(const gpurt_row_t *row, gpurt_text_t *out)
{
    uint32_t bytes = row->words ? gpurt_row_words(row)[0] : 0;

    if (row->words == 0)
        return;
    if (bytes > (row->words - 1u) * 4u)
        bytes = (row->words - 1u) * 4u;
    gpurt_text_add(out, (const char *)(gpurt_row_words(row) + 1), bytes);
}

/* A row whose site is unknown still shows its words. */
static void put_words(const gpurt_row_t *row, source_t *from, gpurt_text_t *out)
{
    uint32_t word;

    gpurt_text_printf(out, "<site %u, kind %u>", row->site, row->kind);
    while (from->at < 8 && next_word(from, &word))
        gpurt_text_printf(out, " %08x", word);
}

/* Returns: false: it is no object, or none of a class that is known. */
static bool put_object(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                       gpurt_text_t *out)
{
    gpurt_objectrow_t o;

    if (row->kind != GPURT_KIND_OBJECT || !gpurt_objectrow_read(&o, d, row))
        return false;
    gpurt_objectrow_text(&o, out);
    return true;
}

void gpurt_render_message(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                          uint32_t lane, gpurt_text_t *out)
{
    uint32_t lanes = gpurt_row_per_lane(row) ? (uint32_t)__builtin_popcount(row->mask) : 1;
    source_t from = {.words = gpurt_row_words(row),
                     .count = row->words,
                     .stride = lanes,
                     .activity = gpurt_kind_is_activity(row->kind),
                     .pool = row->kind == GPURT_KIND_POOL,
                     .mangled = row->kind == GPURT_KIND_DRIVER_LAUNCH};
    gpurt_site_info_t site;

    if (row->kind == GPURT_KIND_LOSS) {
        put_loss(row, out);
        return;
    }
    if (row->kind == GPURT_KIND_TEXT) {
        put_text(row, out);
        return;
    }
    if (put_object(d, row, out))
        return;
    if (lanes > 1 || gpurt_row_per_lane(row)) {
        if (lane >= lanes || lane >= from.count)
            from.count = 0;
        else {
            from.words += lane;
            from.count -= lane;
        }
    }
    if (row->kind == GPURT_KIND_OBJECT || !gpurt_dictionary_get(d, row->site, &site) ||
        site.kind != GPURT_DEF_SITE)
        put_words(row, &from, out);
    else if (row->kind == GPURT_KIND_PANIC)
        put_panic(d, row, &site, out);
    else
        put_format(d, &site, 0, &from, out);
}
