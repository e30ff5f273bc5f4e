/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_text.h"

#include "activity_text.h"
#include "gpurows.h"
#include "plural.h"
#include "times_text.h"

#include <inttypes.h>

/* ---- notes --------------------------------------------------------------------------- */

const char *memory_note(const gpurt_model_memory_about_t *about, uint32_t which,
                        char buffer[MEMORY_NOTE])
{
    const struct {
        uint64_t count;
        const char *text;
    } notes[MEMORY_NOTES] = {
        {about->gives_alone, "given back whose taking is not known: they change no sum"},
        {about->gives_missed,
         "taken anew at an address that is not known to have been given back"},
        {about->no_room, "taken for which there was no room: the sums are without them"},
        {about->pools_left_out, "records of others, for which there is no room"}};

    buffer[0] = '\0';
    if (notes[which].count)
        snprintf(buffer, MEMORY_NOTE, "%" PRIu64 " %s", notes[which].count,
                 notes[which].text);
    return buffer;
}

const char *memory_size(uint64_t bytes, char buffer[24])
{
    return bytes == UINT64_MAX ? "unknown size" : activity_bytes(bytes, buffer);
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_name(FILE *out, const gpurt_model_activity_t *a, gpurows_t table,
                       uint32_t index)
{
    char name[GPUROWS_NAME];

    times_plain_name(out, gpurows_name(a, table, index, name), sizeof name, sizeof name);
}

static void plain_row(FILE *out, const gpurt_model_activity_t *a, uint32_t index)
{
    const gpurt_model_memory_sums_t *s = &a->memories.list[index].sums;
    char bytes[24], most[24];

    fputs("memory     ", out);
    plain_name(out, a, GPUROWS_MEMORY, index);
    fprintf(out,
            ": %s at last, %s at most, taken %" PRIu64 " time%s, given back %" PRIu64
            " time%s\n",
            activity_bytes(s->bytes, bytes), activity_bytes(s->peak_bytes, most), s->takes,
            gpurt_plural(s->takes, "s"), s->gives, gpurt_plural(s->gives, "s"));
}

static void plain_pool(FILE *out, const gpurt_model_activity_t *a, uint32_t index)
{
    const gpurt_model_pool_t *p = &a->memories.pools[index];
    char bytes[24], used[24];

    fputs("pool       ", out);
    plain_name(out, a, GPUROWS_POOLS, index);
    fprintf(out, ": %s, %s used; at last: ", memory_size(p->bytes, bytes),
            memory_size(p->used, used));
    times_plain_name(out, p->what, sizeof p->what, sizeof p->what);
    fputc('\n', out);
}

void memory_plain(FILE *out, const gpurt_model_activity_t *a)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_MEMORY, GPUROWS_AS_TOLD, order);
    char note[MEMORY_NOTE];

    for (uint32_t i = 0; i < count; i++)
        plain_row(out, a, order[i]);
    count = gpurows_order(a, GPUROWS_POOLS, GPUROWS_AS_TOLD, order);
    for (uint32_t i = 0; i < count; i++)
        plain_pool(out, a, order[i]);
    for (uint32_t i = 0; i < MEMORY_NOTES; i++)
        if (*memory_note(&a->memories.about, i, note))
            fprintf(out, "%-11s%s\n", i < MEMORY_NOTES_OF_POOLS ? "memory" : "pools", note);
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

void memory_json(FILE *out, const gpurt_model_activity_t *a)
{
    const gpurt_model_memory_about_t *about = &a->memories.about;
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_MEMORY, GPUROWS_AS_TOLD, order);

    fputs(",\"memory_list\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        json_row(out, &a->memories.list[order[i]]);
    }
    fprintf(out,
            "],\"memory_about\":{\"gives_alone\":%" PRIu64 ",\"gives_missed\":%" PRIu64
            ",\"no_room\":%" PRIu64 ",\"pools_left_out\":%" PRIu64 "},\"pool_list\":[",
            about->gives_alone, about->gives_missed, about->no_room, about->pools_left_out);
    count = gpurows_order(a, GPUROWS_POOLS, GPUROWS_AS_TOLD, order);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        json_pool(out, &a->memories.pools[order[i]]);
    }
    fputc(']', out);
}
