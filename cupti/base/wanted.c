/* SPDX-License-Identifier: Apache-2.0 */
#include "wanted.h"

#include <string.h>

/* Calls and ranges cost a record each time the program does anything: they are for who
 * asks. A launch of a graph is told of as a whole (graphs) or by each of its nodes (nodes):
 * CUPTI has one of the two for all graphs, and does not survive a change of it. */
const wanted_row_t wanted_rows[] = {
    {"device-graphs", WANTED_DEVICE_GRAPHS}, /* before CUPTI is asked for any graphs */
    {"kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {"copies", CUPTI_ACTIVITY_KIND_MEMCPY},
    {"copies", CUPTI_ACTIVITY_KIND_MEMCPY2},
    {"fills", CUPTI_ACTIVITY_KIND_MEMSET},
    {"waits", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}, /* each call of CUDA pays for it */
    {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
    {"memory", CUPTI_ACTIVITY_KIND_MEMORY2},
    {"memory", CUPTI_ACTIVITY_KIND_MEMORY_POOL},
    {"ranges", CUPTI_ACTIVITY_KIND_MARKER},
    {"calls", CUPTI_ACTIVITY_KIND_RUNTIME},
    {"calls", CUPTI_ACTIVITY_KIND_DRIVER},
    {"graphs", CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
    {"nodes", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {"managed", CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER}, /* not in all: not tried */
    {"samples", WANTED_SAMPLES},
    {"launches", WANTED_LAUNCHES}, /* not in all: each launch pays for it */
    {"running", WANTED_RUNNING},   /* likewise */
    {"counted", WANTED_COUNTED},   /* likewise */
    {"host-waits", WANTED_HOST_WAITS},
    {"windows", WANTED_WINDOWS}, /* behind counted */
    {"lines", WANTED_LINES},     /* the last: CUPTI takes no kind of record behind it */
    {"try-lines", WANTED_TRY_LINES},
    {NULL, CUPTI_ACTIVITY_KIND_INVALID},
};

static const struct {
    const char *word, *rows;
} sets[] = {
    {"off", ""},
    {"default", "kernels,copies,fills,overhead,graphs"},
    {"full", "kernels,copies,fills,overhead,graphs"}, /* as opposed to sampled */
    {"live", "default,running,try-lines"},
    {"sampled", "running,counted,try-lines"},
    {"budget", "running,counted,host-waits,windows"},
    {"all", "kernels,copies,fills,waits,overhead,memory,ranges,calls,nodes"},
};

static uint32_t words_read(const char *text, const char **unknown);

static uint32_t bits_of(const char *word, size_t bytes)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; wanted_rows[i].word; i++)
        if (strlen(wanted_rows[i].word) == bytes &&
            memcmp(word, wanted_rows[i].word, bytes) == 0)
            bits |= 1u << i;
    return bits;
}

static uint32_t word_read(const char *word, size_t bytes, const char **unknown)
{
    uint32_t bits;

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strlen(sets[i].word) == bytes && memcmp(word, sets[i].word, bytes) == 0)
            return words_read(sets[i].rows, unknown);
    bits = bits_of(word, bytes);
    if (bits == 0 && !*unknown)
        *unknown = word;
    return bits;
}

/* Of graphs and nodes the last word counts. */
static uint32_t words_read(const char *text, const char **unknown)
{
    const uint32_t graphs = bits_of("graphs", 6), nodes = bits_of("nodes", 5);
    uint32_t bits = 0;

    while (*text) {
        size_t bytes = strcspn(text, ",");

        uint32_t more = bytes ? word_read(text, bytes, unknown) : 0;

        if (more & (graphs | nodes))
            bits &= ~(graphs | nodes);
        bits |= more;
        text += bytes + (text[bytes] == ',');
    }
    return bits;
}

uint32_t wanted_read(const char *text, const char **unknown)
{
    *unknown = NULL;
    return words_read(text && *text ? text : "default", unknown);
}
