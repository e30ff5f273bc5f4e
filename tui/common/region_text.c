/* SPDX-License-Identifier: Apache-2.0 */
#include "region_text.h"

#include "activity_text.h"
#include "heap_text.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>

int region_fragmented(const gpurt_model_region_t *r)
{
    uint64_t left = r->bytes > r->used ? r->bytes - r->used : 0;

    return left ? 100 - heap_percent(r->largest, left) : 0;
}

uint64_t region_refused(const gpurt_model_region_t *r)
{
    return r->full + r->fragmented + r->refused;
}

const char *region_policy(const gpurt_model_region_t *r)
{
    static const char *const words[] = {"first", "best", "worst"};
    uint32_t fit = r->told.flags & GPURT_REGION_POLICY;

    return fit < sizeof words / sizeof words[0] ? words[fit] : "?";
}

static uint32_t bounded(uint64_t count, uint32_t most)
{
    return count < most ? (uint32_t)count : most;
}

static const char *at_end(const gpurt_model_told_t *told)
{
    return told->flags & GPURT_HEAP_ENDED ? "at its end " : "";
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_region(FILE *out, const gpurt_model_heaps_t *heaps,
                         const gpurt_model_region_t *r)
{
    char whose[HEAP_WHOSE], used[24], all[24], peak[24], left[24], longest[24];
    char escaped[4 * GPURT_MODEL_REGION_NAME + 1];
    gpurt_text_t text;

    gpurt_text_init(&text, escaped, sizeof escaped);
    gpurt_render_plain(&text, r->name, strnlen(r->name, sizeof r->name));
    fprintf(out, "region %-3" PRIu32 " %s%s%s%s%s of %s used", r->told.id,
            heap_whose(heaps, &r->told, whose), at_end(&r->told), escaped,
            escaped[0] ? ": " : "", activity_bytes(r->used, used),
            activity_bytes(r->bytes, all));
    if (r->blocks != GPURT_REGION_UNKNOWN)
        fprintf(out, " in %" PRIu64 " blocks", r->blocks);
    fprintf(out, ", at most %s; %s fit, granules of %" PRIu32 " B\n",
            activity_bytes(r->peak_used, peak), region_policy(r), r->granule);
    fprintf(out,
            "           free: %s in %" PRIu64 " holes, %s in a row (fragmented %d%%)\n",
            activity_bytes(r->bytes > r->used ? r->bytes - r->used : 0, left), r->holes,
            activity_bytes(r->largest, longest), region_fragmented(r));
    if (region_refused(r) || r->wrong || r->stuck)
        fprintf(out,
                "           refused: %" PRIu64 " full, %" PRIu64 " fragmented, %" PRIu64
                " else; wrong: %" PRIu64 "; not in place: %" PRIu64 "\n",
                r->full, r->fragmented, r->refused, r->wrong, r->stuck);
}

void regions_plain(FILE *out, const gpurt_model_heaps_t *heaps)
{
    for (uint32_t i = 0; i < bounded(heaps->region_count, GPURT_MODEL_REGIONS); i++)
        plain_region(out, heaps, &heaps->regions[i]);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_told(FILE *out, const char *what, const gpurt_model_told_t *told)
{
    fprintf(out, "{\"%s\":%" PRIu32, what, told->id);
    heap_pid_json(out, told);
    fprintf(out, ",\"device\":%" PRIu32 ",\"ts_ns\":%" PRIu64 ",\"ended\":%s", told->device,
            told->time_ns, told->flags & GPURT_HEAP_ENDED ? "true" : "false");
}

static void json_text(FILE *out, const char *key, const char *value, size_t room)
{
    char escaped[6 * GPURT_MODEL_REGION_NAME + 1];
    gpurt_text_t text;

    gpurt_text_init(&text, escaped, sizeof escaped);
    gpurt_render_json(&text, value, strnlen(value, room));
    fprintf(out, ",\"%s\":\"%s\"", key, escaped);
}

static void json_number(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

void cells_json(FILE *out, const uint8_t cells[GPURT_HEAP_CELLS], bool known)
{
    bool first = true;

    fputs(",\"map\":[", out);
    for (uint32_t i = 0; i < GPURT_HEAP_CELLS && known; i++)
        if (cells[i] != GPURT_HEAP_CELL_NONE) {
            fprintf(out, "%s%u", first ? "" : ",", cells[i]);
            first = false;
        }
    fputs("]", out);
}

static void json_region(FILE *out, const gpurt_model_region_t *r)
{
    json_told(out, "region", &r->told);
    json_text(out, "name", r->name, sizeof r->name);
    json_text(out, "policy", region_policy(r), 8);
    json_number(out, "granule", r->granule);
    json_number(out, "bytes", r->bytes);
    json_number(out, "used_bytes", r->used);
    json_number(out, "free_bytes", r->bytes > r->used ? r->bytes - r->used : 0);
    json_number(out, "peak_bytes", r->peak_used);
    json_number(out, "largest_free_bytes", r->largest);
    json_number(out, "holes", r->holes);
    json_number(out, "fragmented_percent", (uint64_t)region_fragmented(r));
    if (r->blocks == GPURT_REGION_UNKNOWN)
        fputs(",\"blocks\":null", out);
    else
        json_number(out, "blocks", r->blocks);
    json_number(out, "full", r->full);
    json_number(out, "fragmented", r->fragmented);
    json_number(out, "refused", r->refused);
    json_number(out, "wrong", r->wrong);
    json_number(out, "not_in_place", r->stuck);
    json_number(out, "races", r->races);
    json_number(out, "looking", r->looking);
    json_number(out, "map_granules", r->map_granules);
    cells_json(out, r->cells, r->map_granules != 0);
    fputs("}", out);
}

void regions_json(FILE *out, const gpurt_model_heaps_t *heaps)
{
    fputs("\"regions\":[", out);
    for (uint32_t i = 0; i < bounded(heaps->region_count, GPURT_MODEL_REGIONS); i++) {
        fputs(i ? "," : "", out);
        json_region(out, &heaps->regions[i]);
    }
    fputs("]", out);
}
