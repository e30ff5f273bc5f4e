/* SPDX-License-Identifier: Apache-2.0 */
/* What rows say that the collector saw: of any rows the same as a model believes of them one
 * by one, with runs of rows that are alike; the last word of each process; and how much a
 * collector lacks by what it says. */
#include "check.h"
#include "framesum.h"

#include <gpurt/impl/activity.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 4000,
    ROUNDS = 20,
    WORDS = 20, /* of the longest: more than any kind has */
    PROGRAMS = 4
};

static uint64_t seed = 88172645463325252ull;

static uint32_t below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % end;
}

/* Few kinds, and often the one before, so that there are runs; of any length, mostly that
 * of their kind or more. */
static uint32_t row_make(gpurt_row_t *row, const gpurt_row_t *before)
{
    static const uint8_t kinds[] = {GPURT_KIND_KERNEL,       GPURT_KIND_NODE,
                                    GPURT_KIND_DEVICE_NODE,  GPURT_KIND_GRAPH,
                                    GPURT_KIND_DEVICE_GRAPH, GPURT_KIND_COLLECTOR,
                                    GPURT_KIND_COPY,         GPURT_KIND_LOG,
                                    GPURT_KIND_BUSY,         GPURT_KIND_LAUNCH};

    memset(row, 0, sizeof *row + 4 * WORDS);
    if (before && below(3)) {
        *row = *before;
        row->words = (uint16_t)(below(10) ? row->words : below(WORDS));
    } else {
        row->kind = kinds[below(sizeof kinds)];
        row->program = (uint8_t)below(PROGRAMS);
        row->form = (uint8_t)(below(9) ? GPURT_FORM_THREAD : GPURT_FORM_LANES);
        row->mask = 7;
        row->words = (uint16_t)(below(3) ? WORDS - 2 : below(WORDS));
    }
    row->time_ns = 1 + below(1000);
    gpurt_row_words(row)[0] = 1 + below(1000);
    return gpurt_row_bytes(row->words);
}

/* One by one, as a model takes them. */
static void want_add(gplog_collected_t *want, const gpurt_row_t *row)
{
    gplog_collector_word_t *last = &want->last[row->program];
    gpurt_activity_any_t room;
    const uint32_t *words =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);

    if (!words)
        return;
    want->kernels += row->kind == GPURT_KIND_KERNEL || row->kind == GPURT_KIND_NODE ||
                     row->kind == GPURT_KIND_DEVICE_NODE;
    want->graphs += row->kind == GPURT_KIND_GRAPH || row->kind == GPURT_KIND_DEVICE_GRAPH;
    if (row->kind != GPURT_KIND_COLLECTOR)
        return;
    want->words++;
    if (row->time_ns >= last->time_ns)
        *last = (gplog_collector_word_t){.time_ns = row->time_ns, .state = words[0]};
}

/* Frames of any size, each of which is looked at in two pieces. */
static void check_sums(void)
{
    static uint8_t rows[ROWS * (sizeof(gpurt_row_t) + 4 * WORDS + 8)];
    gplog_collected_t want = {0}, got = {0};
    const gpurt_row_t *before = NULL;
    uint32_t used = 0, messages = 0;

    for (uint32_t i = 0; i < ROWS; i++) {
        gpurt_row_t *row = (gpurt_row_t *)(rows + used);

        used += row_make(row, before);
        want_add(&want, row);
        messages += gpurt_row_messages(row);
        before = row;
    }
    for (const uint8_t *at = rows, *end = rows + used; at < end;) {
        const uint8_t *middle = at + below(20000), *until = middle + below(20000);
        gplog_collected_t frame = {0};
        gplog_frame_t f;

        gplog_frame_begin(&f);
        at = gplog_frame_add(&f, &frame, at, middle < end ? middle : end);
        at = gplog_frame_add(&f, &frame, at, until < end ? until : end);
        gplog_collected_join(&got, &frame);
        messages -= (uint32_t)f.messages;
    }
    CHECK_EQ(messages, 0);
    CHECK(want.kernels > ROWS / 10 && want.graphs > ROWS / 20 && want.words > ROWS / 40);
    CHECK_EQ(got.kernels, want.kernels);
    CHECK_EQ(got.graphs, want.graphs);
    CHECK_EQ(got.words, want.words);
    CHECK(memcmp(got.last, want.last, sizeof got.last) == 0);
}

static uint32_t string(gpurt_dictionary_t *d, const char *text)
{
    gpurt_site_info_t info = {
        .kind = GPURT_DEF_STRING, .format = text, .format_bytes = (uint32_t)strlen(text)};

    return gpurt_dictionary_add(d, &info);
}

static void check_ranks(void)
{
    static const struct {
        const char *text;
        gplog_collector_rank_t rank;
    } states[] = {
        {"on", GPLOG_COLLECTOR_ON},
        {"on; CUPTI refuses records of overhead", GPLOG_COLLECTOR_PART},
        {"(no room for more names)", GPLOG_COLLECTOR_PART},
        {"no records of kernels: another profiler holds CUPTI", GPLOG_COLLECTOR_NONE},
        {"one", GPLOG_COLLECTOR_NONE},
        {"", GPLOG_COLLECTOR_NONE},
    };
    gpurt_dictionary_t d = {0};
    uint32_t bytes;

    for (uint32_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        uint32_t id = string(&d, states[i].text);
        const char *text = gplog_collector_state(&d, id, &bytes);

        CHECK_EQ(gplog_collector_rank(&d, id), states[i].rank);
        CHECK_EQ(bytes, strlen(states[i].text));
        CHECK(memcmp(text, states[i].text, bytes) == 0);
    }
    CHECK_EQ(gplog_collector_rank(&d, 0), GPLOG_COLLECTOR_PART);
    CHECK_STR(gplog_collector_state(&d, 999, &bytes), "(no name)");
    CHECK_EQ(bytes, 9);
    gpurt_dictionary_fini(&d);
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++)
        check_sums();
    check_ranks();
    return 0;
}
