/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_read.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct words {
    const uint32_t *at;
    uint32_t left;
} words_t;

static uint32_t next(words_t *w)
{
    if (w->left == 0)
        return 0;
    w->left--;
    return *w->at++;
}

static uint64_t next_pair(words_t *w)
{
    uint64_t low = next(w);

    return low | (uint64_t)next(w) << 32;
}

/* In the order of docs/LOG_FORMAT.md. */
void panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row, panic_facts_t *out)
{
    words_t w = {gpurt_row_words(row), row->words};

    memset(out, 0, sizeof *out);
    out->row = row;
    if (!gpurt_dictionary_get(d, row->site, &out->site) || out->site.kind != GPURT_DEF_SITE)
        memset(&out->site, 0, sizeof out->site);
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS; i++, out->arg_count++) {
        uint32_t size = gpurt_type_words(gpurt_type_at(out->site.types, i));

        if (size == 0)
            break;
        out->args[i] = size == 2 ? next_pair(&w) : next(&w);
    }
    out->block.x = next(&w);
    out->block.y = next(&w);
    out->block.z = next(&w);
    out->thread.x = next(&w);
    out->thread.y = next(&w);
    out->thread.z = next(&w);
    out->lane = next(&w);
    out->failed = next(&w);
    out->clock = next_pair(&w);
    if (row->kind == GPURT_KIND_FAULT || row->kind == GPURT_KIND_HANG) {
        out->exception = next(&w);
        out->pc = next_pair(&w);
        out->dump = next_pair(&w);
        return;
    }
    for (uint32_t m = out->failed; m; m &= m - 1)
        out->lanes[__builtin_ctz(m)] = next_pair(&w);
}

const char *panic_type_name(uint32_t type)
{
    static const char *const names[] = {"none", "i32", "u32", "i64",  "u64",
                                        "f32",  "f64", "ptr", "char", "string"};

    return type < sizeof names / sizeof names[0] ? names[type] : names[0];
}

static void string_value(const gpurt_dictionary_t *d, uint32_t id, gpurt_text_t *out)
{
    gpurt_site_info_t info;

    if (gpurt_dictionary_get(d, id, &info) && info.kind == GPURT_DEF_STRING)
        gpurt_text_add(out, info.format, info.format_bytes);
    else
        gpurt_text_printf(out, "<string %u>", id);
}

void panic_value(const gpurt_dictionary_t *d, uint32_t type, uint64_t value,
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
        string_value(d, low, out);
        break;
    default:
        gpurt_text_printf(out, "%llu", (unsigned long long)value);
        break;
    }
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
