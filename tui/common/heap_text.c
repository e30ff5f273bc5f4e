/* SPDX-License-Identifier: Apache-2.0 */
#include "heap_text.h"

#include "activity_text.h"
#include "plural.h"
#include "render.h"

#include <gpurt/impl/allocwatch.h>
#include <inttypes.h>
#include <string.h>

int heap_percent(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return whole ? 100 : 0;
    return (int)((double)part * 100.0 / (double)whole + 0.5);
}

int heap_fragmented(const gpurt_model_heap_t *h)
{
    return h->free_chunks ? 100 - heap_percent(h->largest_row, h->free_chunks) : 0;
}

const char *heap_checks(const gpurt_model_heap_t *h)
{
    static const char *const words[] = {"", "off", "cheap", "full"};
    uint32_t level = h->told.flags & GPURT_HEAP_LEVEL;

    return level <= GPURT_CHECKS_FULL ? words[level] : "?";
}

const char *heap_whose(const gpurt_model_heaps_t *heaps, const gpurt_model_told_t *told,
                       char buffer[HEAP_WHOSE])
{
    buffer[0] = '\0';
    if (heaps->programs > 1 && told->pid)
        snprintf(buffer, HEAP_WHOSE, "of process %" PRIu32 ", ", told->pid);
    else if (heaps->programs > 1) /* those that came when all numbers were given */
        snprintf(buffer, HEAP_WHOSE, "of other processes, ");
    return buffer;
}

void heap_pid_json(gpurt_json_t *j, const gpurt_model_told_t *told)
{
    gpurt_json_known(j, "pid", told->pid != 0, told->pid);
}

const char *heap_pool_name(uint32_t level)
{
    static const char *const words[GPURT_HEAP_POOLS] = {"thread", "warp", "block", "heap"};

    return words[level];
}

uint64_t heap_pools_sum(const uint64_t counts[GPURT_HEAP_POOLS])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++)
        sum += counts[i];
    return sum;
}

static uint32_t heap_count(const gpurt_model_heaps_t *heaps)
{
    return heaps->count < GPURT_MODEL_HEAPS ? (uint32_t)heaps->count : GPURT_MODEL_HEAPS;
}

static uint32_t bounded(uint32_t count, uint32_t most)
{
    return count < most ? count : most;
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_heap(FILE *out, const gpurt_model_heaps_t *heaps,
                       const gpurt_model_heap_t *h)
{
    char whose[HEAP_WHOSE], live[24], all[24], peak[24], slack[24], kept[24],
        where[24] = "";

    if (h->told.device != 0)
        snprintf(where, sizeof where, "on device %" PRIu32 " ", h->told.device);
    fprintf(out,
            "heap %-5" PRIu32 " %s%s%s%s in %" PRIu64
            " object%s, of %s; at most %s%s%s%s\n",
            h->told.id, heap_whose(heaps, &h->told, whose), where,
            h->told.flags & GPURT_HEAP_ENDED ? "at its end " : "",
            activity_bytes(h->live_bytes, live), h->live, gpurt_plural(h->live, "s"),
            activity_bytes(h->bytes, all), activity_bytes(h->peak_bytes, peak),
            h->told.flags & GPURT_HEAP_LEVEL ? "; checks " : "", heap_checks(h),
            h->told.flags & GPURT_HEAP_TRACE ? ", traced" : "");
    fprintf(out,
            "           free: %" PRIu32 " chunk%s of 64 KiB, %" PRIu32
            " in a row (fragmented %d%%), %s in chunks of classes, %s kept back\n",
            h->free_chunks, gpurt_plural(h->free_chunks, "s"), h->largest_row,
            heap_fragmented(h), activity_bytes(h->slack, slack),
            activity_bytes(h->kept, kept));
    if (h->refused || h->wrong)
        fprintf(out, "           refused: %" PRIu64 "; wrong: %" PRIu64 "\n", h->refused,
                h->wrong);
}

static void plain_pools(FILE *out, const gpurt_model_heap_t *h)
{
    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++)
        if (h->got[i] || h->put[i])
            fprintf(out,
                    "  pool %-6s: %9" PRIu64 " served (%d%%), %9" PRIu64
                    " taken back (%d%%)\n",
                    heap_pool_name(i), h->got[i],
                    heap_percent(h->got[i], heap_pools_sum(h->got)), h->put[i],
                    heap_percent(h->put[i], heap_pools_sum(h->put)));
}

static void plain_site(FILE *out, const gpurt_model_heap_site_t *s)
{
    char escaped[4 * GPURT_MODEL_WHERE * 2 + 1], bytes[24];
    gpurt_text_t text;

    gpurt_text_init(&text, escaped, sizeof escaped);
    gpurt_render_plain(&text, s->site, strnlen(s->site, sizeof s->site));
    fprintf(out, "  %10s in %9" PRIu64 " object%s  %s\n", activity_bytes(s->bytes, bytes),
            s->objects, gpurt_plural(s->objects, "s"), escaped);
}

void heap_plain(FILE *out, const gpurt_model_heaps_t *heaps)
{
    if (heaps->calls || heaps->freed)
        fprintf(out, "traced     %" PRIu64 " request%s, %" PRIu64 " free%s\n", heaps->calls,
                gpurt_plural(heaps->calls, "s"), heaps->freed,
                gpurt_plural(heaps->freed, "s"));
    for (uint32_t i = 0; i < heap_count(heaps); i++) {
        const gpurt_model_heap_t *h = &heaps->list[i];

        plain_heap(out, heaps, h);
        plain_pools(out, h);
        for (uint32_t c = 0; c < bounded(h->class_count, GPURT_MODEL_HEAP_CLASSES); c++)
            if (h->classes[c].chunks)
                fprintf(out,
                        "  class %5" PRIu32 ": %6" PRIu32 " chunks, %9" PRIu64
                        " live, %9" PRIu64 " free again, %9" PRIu64 " fresh\n",
                        h->classes[c].bytes, h->classes[c].chunks, h->classes[c].live,
                        h->classes[c].reusable, h->classes[c].fresh);
        for (uint32_t s = 0; s < bounded(h->site_count, GPURT_MODEL_HEAP_SITES); s++)
            plain_site(out, &h->sites[s]);
    }
    if (heaps->programs > 1 && heaps->others)
        fprintf(out, "others     %" PRIu64 " record%s of some that have no row here\n",
                heaps->others, gpurt_plural(heaps->others, "s"));
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_pools(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_object(j, "pools");
    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++) {
        gpurt_json_object(j, heap_pool_name(i));
        gpurt_json_number(j, "served", h->got[i]);
        gpurt_json_number(j, "taken_back", h->put[i]);
        gpurt_json_object_end(j);
    }
    gpurt_json_object_end(j);
}

static void json_map(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_number(j, "map_chunks", h->map_chunks);
    gpurt_json_array(j, "map");
    for (uint32_t i = 0; i < GPURT_HEAP_CELLS && h->map_chunks; i++)
        if (h->cells[i] != GPURT_HEAP_CELL_NONE)
            gpurt_json_number(j, NULL, h->cells[i]);
    gpurt_json_array_end(j);
}

static void json_classes(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_array(j, "classes");
    for (uint32_t c = 0; c < bounded(h->class_count, GPURT_MODEL_HEAP_CLASSES); c++) {
        const gpurt_model_heap_class_t *k = &h->classes[c];

        if (!k->chunks)
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "bytes", k->bytes);
        gpurt_json_number(j, "chunks", k->chunks);
        gpurt_json_number(j, "live", k->live);
        gpurt_json_number(j, "reusable", k->reusable);
        gpurt_json_number(j, "fresh", k->fresh);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_sites(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_array(j, "sites");
    for (uint32_t s = 0; s < bounded(h->site_count, GPURT_MODEL_HEAP_SITES); s++) {
        gpurt_json_object(j, NULL);
        gpurt_json_field(j, "site", h->sites[s].site);
        gpurt_json_number(j, "objects", h->sites[s].objects);
        gpurt_json_number(j, "bytes", h->sites[s].bytes);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_sums(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_bool(j, "ended", h->told.flags & GPURT_HEAP_ENDED);
    gpurt_json_bool(j, "traced", h->told.flags & GPURT_HEAP_TRACE);
    gpurt_json_text(j, "checks", heap_checks(h));
    gpurt_json_number(j, "bytes", h->bytes);
    gpurt_json_number(j, "live", h->live);
    gpurt_json_number(j, "live_bytes", h->live_bytes);
    gpurt_json_number(j, "peak_bytes", h->peak_bytes);
    gpurt_json_number(j, "slack_bytes", h->slack);
    gpurt_json_number(j, "kept_bytes", h->kept);
    gpurt_json_number(j, "free_chunks", h->free_chunks);
    gpurt_json_number(j, "largest_row", h->largest_row);
    gpurt_json_number(j, "large_chunks", h->large_chunks);
    gpurt_json_number(j, "refused", h->refused);
    gpurt_json_number(j, "wrong", h->wrong);
    gpurt_json_number(j, "sampled", h->sampled);
}

static void json_heap(gpurt_json_t *j, const gpurt_model_heap_t *h)
{
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "heap", h->told.id);
    heap_pid_json(j, &h->told);
    gpurt_json_number(j, "device", h->told.device);
    gpurt_json_number(j, "ts_ns", h->told.time_ns);
    json_sums(j, h);
    json_classes(j, h);
    json_map(j, h);
    json_pools(j, h);
    json_sites(j, h);
    gpurt_json_object_end(j);
}

void heap_json(gpurt_json_t *j, const char *key, const gpurt_model_heaps_t *heaps)
{
    gpurt_json_object(j, key);
    gpurt_json_number(j, "traced_allocs", heaps->calls);
    gpurt_json_number(j, "traced_frees", heaps->freed);
    gpurt_json_number(j, "processes", heaps->programs);
    gpurt_json_number(j, "without_row", heaps->others);
    gpurt_json_array(j, "list");
    for (uint32_t i = 0; i < heap_count(heaps); i++)
        json_heap(j, &heaps->list[i]);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}
