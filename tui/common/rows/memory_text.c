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

/* gpu: null of the host's, and of one that has no place. */
static void json_where(gpurt_json_t *j, uint32_t gpu, uint32_t pid)
{
    gpurt_json_known(j, "gpu", gpu < GPURT_MODEL_DEVICES, gpu);
    if (pid)
        gpurt_json_number(j, "pid", pid);
}

static void json_row(gpurt_json_t *j, const gpurt_model_memory_row_t *r)
{
    gpurt_json_object(j, NULL);
    gpurt_json_field(j, "kind", r->kind);
    json_where(j, r->gpu, r->pid);
    gpurt_json_number(j, "bytes", r->sums.bytes);
    gpurt_json_number(j, "peak_bytes", r->sums.peak_bytes);
    gpurt_json_number(j, "takes", r->sums.takes);
    gpurt_json_number(j, "gives", r->sums.gives);
    gpurt_json_object_end(j);
}

static void json_pool(gpurt_json_t *j, const gpurt_model_pool_t *p)
{
    gpurt_json_object(j, NULL);
    gpurt_json_hex(j, "address", p->address);
    gpurt_json_field(j, "kind", p->kind);
    gpurt_json_field(j, "last", p->what);
    json_where(j, p->gpu, p->pid);
    gpurt_json_known(j, "bytes", p->bytes != UINT64_MAX, p->bytes);
    gpurt_json_known(j, "used", p->used != UINT64_MAX, p->used);
    gpurt_json_object_end(j);
}

static void json_about(gpurt_json_t *j, const gpurt_model_memory_about_t *about)
{
    gpurt_json_object(j, "memory_about");
    gpurt_json_number(j, "gives_alone", about->gives_alone);
    gpurt_json_number(j, "gives_missed", about->gives_missed);
    gpurt_json_number(j, "no_room", about->no_room);
    gpurt_json_number(j, "pools_left_out", about->pools_left_out);
    gpurt_json_object_end(j);
}

void memory_json(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, GPUROWS_MEMORY, GPUROWS_AS_TOLD, order);

    gpurt_json_array(j, "memory_list");
    for (uint32_t i = 0; i < count; i++)
        json_row(j, &a->memories.list[order[i]]);
    gpurt_json_array_end(j);
    json_about(j, &a->memories.about);
    count = gpurows_order(a, GPUROWS_POOLS, GPUROWS_AS_TOLD, order);
    gpurt_json_array(j, "pool_list");
    for (uint32_t i = 0; i < count; i++)
        json_pool(j, &a->memories.pools[order[i]]);
    gpurt_json_array_end(j);
}
