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

void heap_pid_json(FILE *out, const gpurt_model_told_t *told)
{
    if (told->pid)
        fprintf(out, ",\"pid\":%" PRIu32, told->pid);
    else
        fputs(",\"pid\":null", out);
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

static void json_pools(FILE *out, const gpurt_model_heap_t *h)
{
    fputs(",\"pools\":{", out);
    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++)
        fprintf(out, "%s\"%s\":{\"served\":%" PRIu64 ",\"taken_back\":%" PRIu64 "}",
                i ? "," : "", heap_pool_name(i), h->got[i], h->put[i]);
    fputs("}", out);
}

static void cells_json(FILE *out, const uint8_t cells[GPURT_HEAP_CELLS], bool known)
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

static void json_lists(FILE *out, const gpurt_model_heap_t *h)
{
    bool first = true;

    fputs(",\"classes\":[", out);
    for (uint32_t c = 0; c < bounded(h->class_count, GPURT_MODEL_HEAP_CLASSES); c++) {
        const gpurt_model_heap_class_t *k = &h->classes[c];

        if (!k->chunks)
            continue;
        fprintf(out,
                "%s{\"bytes\":%" PRIu32 ",\"chunks\":%" PRIu32 ",\"live\":%" PRIu64
                ",\"reusable\":%" PRIu64 ",\"fresh\":%" PRIu64 "}",
                first ? "" : ",", k->bytes, k->chunks, k->live, k->reusable, k->fresh);
        first = false;
    }
    fprintf(out, "],\"map_chunks\":%" PRIu32, h->map_chunks);
    cells_json(out, h->cells, h->map_chunks != 0);
    json_pools(out, h);
    fputs(",\"sites\":[", out);
    for (uint32_t s = 0; s < bounded(h->site_count, GPURT_MODEL_HEAP_SITES); s++) {
        char escaped[6 * GPURT_MODEL_WHERE * 2 + 1];
        gpurt_text_t text;

        gpurt_text_init(&text, escaped, sizeof escaped);
        gpurt_render_json(&text, h->sites[s].site,
                          strnlen(h->sites[s].site, sizeof h->sites[s].site));
        fprintf(out, "%s{\"site\":\"%s\",\"objects\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                s ? "," : "", escaped, h->sites[s].objects, h->sites[s].bytes);
    }
    fputs("]", out);
}

static void json_heap(FILE *out, const gpurt_model_heap_t *h)
{
    fprintf(out, "{\"heap\":%" PRIu32, h->told.id);
    heap_pid_json(out, &h->told);
    fprintf(out,
            ",\"device\":%" PRIu32 ",\"ts_ns\":%" PRIu64
            ",\"ended\":%s,\"traced\":%s,\"checks\":\"%s\",\"bytes\":%" PRIu64
            ",\"live\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64,
            h->told.device, h->told.time_ns,
            h->told.flags & GPURT_HEAP_ENDED ? "true" : "false",
            h->told.flags & GPURT_HEAP_TRACE ? "true" : "false", heap_checks(h), h->bytes,
            h->live, h->live_bytes, h->peak_bytes);
    fprintf(out,
            ",\"slack_bytes\":%" PRIu64 ",\"kept_bytes\":%" PRIu64
            ",\"free_chunks\":%" PRIu32 ",\"largest_row\":%" PRIu32
            ",\"large_chunks\":%" PRIu32 ",\"refused\":%" PRIu64 ",\"wrong\":%" PRIu64
            ",\"sampled\":%" PRIu32,
            h->slack, h->kept, h->free_chunks, h->largest_row, h->large_chunks, h->refused,
            h->wrong, h->sampled);
    json_lists(out, h);
    fputc('}', out);
}

void heap_json(FILE *out, const gpurt_model_heaps_t *heaps)
{
    fprintf(out,
            "{\"traced_allocs\":%" PRIu64 ",\"traced_frees\":%" PRIu64
            ",\"processes\":%" PRIu64 ",\"without_row\":%" PRIu64 ",\"list\":[",
            heaps->calls, heaps->freed, heaps->programs, heaps->others);
    for (uint32_t i = 0; i < heap_count(heaps); i++) {
        fputs(i ? "," : "", out);
        json_heap(out, &heaps->list[i]);
    }
    fputs("]}", out);
}
