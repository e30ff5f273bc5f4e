/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_read.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BODY_OF "gpurt_body_of_"

void panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row, panic_facts_t *out)
{
    out->row = row;
    if (!gpurt_dictionary_get(d, row->site, &out->site) || out->site.kind != GPURT_DEF_SITE)
        memset(&out->site, 0, sizeof out->site);
    gpurt_panicrow_read(row, out->site.types, &out->p);
}

const char *panic_kind_name(const panic_facts_t *f)
{
    uint32_t kind = gpurt_panicrow_kind(f->row, &f->p);

    return kind == GPURT_KIND_PANIC ? "panic" : kind == GPURT_KIND_FAULT ? "fault" : "hang";
}

const char *panic_type_name(uint32_t type)
{
    static const char *const names[] = {"none", "i32", "u32", "i64",  "u64",
                                        "f32",  "f64", "ptr", "char", "string"};

    return type < sizeof names / sizeof names[0] ? names[type] : names[0];
}

const char *panic_time(uint64_t time_ns, int digits, char out[PANIC_TIME])
{
    time_t seconds = (time_t)(time_ns / 1000000000u);
    char date[24], fraction[12];
    struct tm tm;

    if (!localtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof tm);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(fraction, sizeof fraction, "%09u", (unsigned)(time_ns % 1000000000u));
    snprintf(out, PANIC_TIME, "%s.%.*s", date, digits, fraction);
    return out;
}

uint32_t panic_lane_rank(const gpurt_row_t *row, uint32_t lane)
{
    if (!gpurt_row_per_lane(row) || lane >= GPURT_WARP_SIZE || !(row->mask >> lane & 1))
        return 0;
    return (uint32_t)__builtin_popcount(row->mask & ((1u << lane) - 1));
}

const char *panic_base(const char *path, uint32_t bytes, uint32_t *base_bytes)
{
    const char *slash = bytes ? memrchr(path, '/', bytes) : NULL;

    *base_bytes = slash ? bytes - (uint32_t)(slash + 1 - path) : bytes;
    return slash ? slash + 1 : path;
}

const char *panic_function(const gpurt_site_info_t *text, uint32_t *bytes, bool *kernel)
{
    uint32_t skip = sizeof BODY_OF - 1;

    *kernel = text->format_bytes > skip && memcmp(text->format, BODY_OF, skip) == 0;
    *bytes = text->format_bytes - (*kernel ? skip : 0);
    return text->format + (*kernel ? skip : 0);
}
