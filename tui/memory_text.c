/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_text.h"

#include "activity_text.h"
#include "times_text.h"

#include <inttypes.h>
#include <string.h>

static uint32_t rows_of(const gpurt_model_memory_t *m)
{
    return m->count < GPURT_MODEL_MEMORIES ? (uint32_t)m->count : GPURT_MODEL_MEMORIES;
}

static uint32_t pools_of(const gpurt_model_memory_t *m)
{
    return m->pool_count < GPURT_MODEL_POOLS ? (uint32_t)m->pool_count : GPURT_MODEL_POOLS;
}

static bool is_used(const gpurt_model_memory_row_t *r)
{
    return r->sums.takes || r->sums.gives;
}

/* ---- plain --------------------------------------------------------------------------- */

static const char *size_text(uint64_t bytes, char buffer[24])
{
    return bytes == UINT64_MAX ? "unknown size" : activity_bytes(bytes, buffer);
}

/* Where something is, and whose. */
static void plain_where(FILE *out, uint32_t gpu, uint32_t pid)
{
    if (gpu < GPURT_MODEL_DEVICES)
        fprintf(out, ", GPU %" PRIu32, gpu);
    if (pid)
        fprintf(out, ", process %" PRIu32, pid);
}

static void plain_row(FILE *out, const gpurt_model_memory_row_t *r)
{
    char bytes[24], most[24];

    fputs("memory     ", out);
    times_plain_name(out, r->kind, sizeof r->kind, sizeof r->kind);
    plain_where(out, r->gpu, r->pid);
    fprintf(out,
            ": %s at last, %s at most, taken %" PRIu64 " times, given back %" PRIu64
            " times\n",
            activity_bytes(r->sums.bytes, bytes), activity_bytes(r->sums.peak_bytes, most),
            r->sums.takes, r->sums.gives);
}

static void plain_about(FILE *out, const gpurt_model_memory_about_t *about)
{
    if (about->gives_alone)
        fprintf(out,
                "memory     %" PRIu64 " given back whose taking is not known: they change "
                "no sum\n",
                about->gives_alone);
    if (about->gives_missed)
        fprintf(out,
                "memory     %" PRIu64 " taken anew at an address that is not known to have "
                "been given back\n",
                about->gives_missed);
    if (about->no_room)
        fprintf(out,
                "memory     %" PRIu64 " taken for which there was no room: the sums are "
                "without them\n",
                about->no_room);
    if (about->pools_left_out)
        fprintf(out,
                "pools      %" PRIu64 " records of others, for which there is no room\n",
                about->pools_left_out);
}

static void plain_pool(FILE *out, const gpurt_model_pool_t *p)
{
    char bytes[24], used[24];

    fprintf(out, "pool       0x%" PRIx64, p->address);
    plain_where(out, p->gpu, p->pid);
    fputs(", ", out);
    times_plain_name(out, p->kind, sizeof p->kind, sizeof p->kind);
    fprintf(out, ": %s, %s used; at last: ", size_text(p->bytes, bytes),
            size_text(p->used, used));
    times_plain_name(out, p->what, sizeof p->what, sizeof p->what);
    fputc('\n', out);
}

void memory_plain(FILE *out, const gpurt_model_memory_t *m)
{
    for (uint32_t i = 0; i < rows_of(m); i++)
        plain_row(out, &m->list[i]);
    if (is_used(&m->list[GPURT_MODEL_MEMORIES]))
        plain_row(out, &m->list[GPURT_MODEL_MEMORIES]);
    for (uint32_t i = 0; i < pools_of(m); i++)
        plain_pool(out, &m->pools[i]);
    plain_about(out, &m->about);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_text(FILE *out, const char *key, const char *text, size_t room)
{
    fprintf(out, "\"%s\":\"", key);
    times_json_name(out, text, room);
    fputs("\",", out);
}

/* gpu: null of the host's, and of one that has no place. */
static void json_where(FILE *out, uint32_t gpu, uint32_t pid)
{
    if (gpu < GPURT_MODEL_DEVICES)
        fprintf(out, "\"gpu\":%" PRIu32, gpu);
    else
        fputs("\"gpu\":null", out);
    if (pid)
        fprintf(out, ",\"pid\":%" PRIu32, pid);
}

static void json_row(FILE *out, const gpurt_model_memory_row_t *r)
{
    fputc('{', out);
    json_text(out, "kind", r->kind, sizeof r->kind);
    json_where(out, r->gpu, r->pid);
    fprintf(out,
            ",\"bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"takes\":%" PRIu64
            ",\"gives\":%" PRIu64 "}",
            r->sums.bytes, r->sums.peak_bytes, r->sums.takes, r->sums.gives);
}

static void json_size(FILE *out, const char *key, uint64_t bytes)
{
    if (bytes == UINT64_MAX)
        fprintf(out, ",\"%s\":null", key);
    else
        fprintf(out, ",\"%s\":%" PRIu64, key, bytes);
}

static void json_pool(FILE *out, const gpurt_model_pool_t *p)
{
    fprintf(out, "{\"address\":\"0x%" PRIx64 "\",", p->address);
    json_text(out, "kind", p->kind, sizeof p->kind);
    json_text(out, "last", p->what, sizeof p->what);
    json_where(out, p->gpu, p->pid);
    json_size(out, "bytes", p->bytes);
    json_size(out, "used", p->used);
    fputc('}', out);
}

void memory_json(FILE *out, const gpurt_model_memory_t *m)
{
    uint32_t count = rows_of(m);

    fputs(",\"memory_list\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        json_row(out, &m->list[i]);
    }
    if (is_used(&m->list[GPURT_MODEL_MEMORIES])) {
        fputs(count ? "," : "", out);
        json_row(out, &m->list[GPURT_MODEL_MEMORIES]);
    }
    fprintf(out,
            "],\"memory_about\":{\"gives_alone\":%" PRIu64 ",\"gives_missed\":%" PRIu64
            ",\"no_room\":%" PRIu64 ",\"pools_left_out\":%" PRIu64 "},\"pool_list\":[",
            m->about.gives_alone, m->about.gives_missed, m->about.no_room,
            m->about.pools_left_out);
    for (uint32_t i = 0; i < pools_of(m); i++) {
        fputs(i ? "," : "", out);
        json_pool(out, &m->pools[i]);
    }
    fputc(']', out);
}
