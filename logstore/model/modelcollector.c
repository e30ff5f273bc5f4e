/* SPDX-License-Identifier: Apache-2.0 */
/* How collectors fare, as each said last of itself: sums of all, and each one's own, those
 * that lack most first. */
#include "collected.h"
#include "modelpart.h"

#include <string.h>

static void text_view(const gpurt_model_t *m, uint32_t state, char to[GPURT_MODEL_STATE])
{
    uint32_t bytes;
    const char *text = gplog_collector_state(m->dictionary, state, &bytes);

    model_text_begin(to, GPURT_MODEL_STATE, text, bytes);
}

static void program_view(const gpurt_model_t *m, uint32_t program,
                         gpurt_model_collector_t *to)
{
    gplog_program_t p;

    to->pid = model_pid_of(m, program);
    if (m->of_box)
        memcpy(to->program, m->about.identity.program, sizeof to->program);
    else if (gplog_program_known(m->dictionary, &m->about, program, &p))
        memcpy(to->program, p.name, sizeof to->program);
    to->program[sizeof to->program - 1] = '\0';
}

static void one_view(const gpurt_model_t *m, uint32_t program, uint32_t rank,
                     gpurt_model_collector_t *to)
{
    const gpurt_activity_collector_t *sums = &m->activity.collectors[program].sums;

    to->records = gpurt_pair_value(sums->records);
    to->bad = gpurt_pair_value(sums->bad);
    to->dropped = gpurt_pair_value(sums->dropped);
    to->starved = sums->starved;
    to->unknown = sums->unknown;
    to->samples_left_out = sums->samples;
    to->rank = rank;
    program_view(m, program, to);
    text_view(m, sums->state, to->state);
}

/* Of all, and the state of the one that spoke last. */
static void sums_view(const gpurt_model_t *m, gpurt_model_activity_t *v)
{
    uint64_t last_ns = 1;

    v->bad = v->dropped = v->starved = v->unknown = v->samples_left_out = 0;
    for (uint32_t i = 0; i <= GPLOG_PROGRAM_OTHERS; i++) {
        const model_collector_t *c = &m->activity.collectors[i];

        v->bad += gpurt_pair_value(c->sums.bad);
        v->dropped += gpurt_pair_value(c->sums.dropped);
        v->starved += c->sums.starved;
        v->unknown += c->sums.unknown;
        v->samples_left_out += c->sums.samples;
        if (c->time_ns >= last_ns) {
            last_ns = c->time_ns;
            text_view(m, c->sums.state, v->state);
        }
    }
}

void model_collectors_view(const gpurt_model_t *m, gpurt_model_activity_t *v)
{
    const model_collector_t *c = m->activity.collectors;

    sums_view(m, v);
    v->collector_count = v->collectors_troubled = 0;
    memset(v->collectors, 0, sizeof v->collectors);
    for (uint32_t rank = GPLOG_COLLECTOR_RANKS; rank-- > GPLOG_COLLECTOR_ON;)
        for (uint32_t i = 0; i <= GPLOG_PROGRAM_OTHERS; i++) {
            if (c[i].time_ns == 0 ||
                gplog_collector_rank(m->dictionary, c[i].sums.state) != rank)
                continue;
            if (v->collector_count < GPURT_MODEL_COLLECTORS)
                one_view(m, i, rank, &v->collectors[v->collector_count]);
            v->collector_count++;
            v->collectors_troubled += rank != GPLOG_COLLECTOR_ON;
        }
}
