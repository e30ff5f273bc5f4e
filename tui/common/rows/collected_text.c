/* SPDX-License-Identifier: Apache-2.0 */
#include "collected_text.h"

#include "plural.h"
#include "who.h"

#include <inttypes.h>

static void sums_take(collected_text_t *t, const gplog_collected_t *c)
{
    int used;

    t->sums[0] = '\0';
    if (c->words == 0 && c->kernels == 0 && c->graphs == 0)
        return;
    used = snprintf(t->sums, sizeof t->sums, "; %" PRIu64 " kernel%s", c->kernels,
                    gpurt_plural(c->kernels, "s"));
    if (c->graphs)
        snprintf(t->sums + used, sizeof t->sums - (size_t)used,
                 ", %" PRIu64 " launch%s of graphs", c->graphs,
                 gpurt_plural(c->graphs, "es"));
}

/* A record costs its launch that much; of short programs nothing is said. */
static void cost_take(collected_text_t *t, const gplog_collected_t *c,
                      const gpurt_writer_figures_t *sum)
{
    enum {
        RECORD_NS = 1290, /* docs/measured/h200_bench_words.tsv, word_adds_kernels */
        MANY = 10000,
        MUCH = 5 /* percent */
    };
    const uint64_t ns = sum->last_ns > sum->first_ns ? sum->last_ns - sum->first_ns : 1;
    double percent;

    t->recorded = c->kernels + c->graphs;
    percent = (double)t->recorded * RECORD_NS * 100 / (double)ns;
    t->cost_percent = t->recorded < MANY || percent <= MUCH ? 0
                      : percent < 100                       ? (uint32_t)percent
                                                            : 100;
}

static void line_take(char line[COLLECTED_LINE], const gpurt_dictionary_t *d,
                      uint32_t number, uint32_t state)
{
    gpurt_text_t out;
    gplog_program_t p;
    uint32_t bytes;
    const char *text = gplog_collector_state(d, state, &bytes);

    gplog_program_get(d, number, &p); /* of one that is not known all is 0 */
    gpurt_text_init(&out, line, COLLECTED_LINE);
    gpurt_text_printf(&out, "the collector of ");
    who_text(&p, &out);
    gpurt_text_printf(&out, ": ");
    gpurt_render_plain(&out, text, bytes);
}

void collected_text_take(collected_text_t *t, gpurt_writer_t *w)
{
    const gplog_collected_t *c = gpurt_writer_collected(w);
    const gpurt_dictionary_t *d = gpurt_writer_dictionary(w);
    gpurt_writer_figures_t sum;

    gpurt_writer_figures(w, &sum);
    sums_take(t, c);
    cost_take(t, c, &sum);
    t->count = 0;
    for (uint32_t rank = GPLOG_COLLECTOR_RANKS - 1; rank > GPLOG_COLLECTOR_ON; rank--)
        for (uint32_t i = 0; i <= GPLOG_PROGRAM_OTHERS; i++) {
            const gplog_collector_word_t *last = &c->last[i];

            if (!last->time_ns || gplog_collector_rank(d, last->state) != rank)
                continue;
            if (t->count < COLLECTED_LINES)
                line_take(t->lines[t->count], d, i, last->state);
            t->count++;
        }
}

void collected_text_tell(const collected_text_t *t, const gpurt_option_program_t *program)
{
    uint32_t more = t->count > COLLECTED_LINES ? t->count - COLLECTED_LINES : 0;

    for (uint32_t i = 0; i < t->count - more; i++)
        gpurt_option_refuse(program, "%s", t->lines[i]);
    if (t->cost_percent)
        gpurt_option_refuse(program,
                            "recording took some %" PRIu32 "%% of the time: %" PRIu64
                            " launches, 1.3 us each on an H200; --cupti sampled costs less",
                            t->cost_percent, t->recorded);
    if (more)
        gpurt_option_refuse(program,
                            "nor are the collectors of %" PRIu32 " more plainly on", more);
}
