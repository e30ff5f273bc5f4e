/* SPDX-License-Identifier: Apache-2.0 */
#include "collector_text.h"

#include "collected.h"
#include "plural.h"
#include "who.h"

#include <inttypes.h>
#include <string.h>

const char *collector_who(const gpurt_model_activity_t *a, const gpurt_model_collector_t *c,
                          char buffer[COLLECTOR_WHO])
{
    gplog_program_t p = {.pid = c->pid};
    gpurt_text_t text;

    gpurt_text_init(&text, buffer, COLLECTOR_WHO);
    memcpy(p.name, c->program, sizeof p.name - 1);
    if (a->programs > 1 || a->collector_count > 1)
        who_text(&p, &text);
    return buffer;
}

uint32_t collector_rows(const gpurt_model_activity_t *a)
{
    return a->collectors_troubled < GPURT_MODEL_COLLECTORS
               ? (uint32_t)a->collectors_troubled
               : (uint32_t)GPURT_MODEL_COLLECTORS;
}

/* ---- plain --------------------------------------------------------------------------- */

static void plain_state(FILE *out, const gpurt_model_activity_t *a, uint32_t index)
{
    const gpurt_model_collector_t *c = &a->collectors[index];
    char who[COLLECTOR_WHO], escaped[4 * GPURT_MODEL_STATE + 1];
    gpurt_text_t text;

    gpurt_text_init(&text, escaped, sizeof escaped);
    gpurt_render_plain(&text, c->state, strnlen(c->state, sizeof c->state));
    if (c->rank == GPLOG_COLLECTOR_ON || !*collector_who(a, c, who))
        fprintf(out, "collector  %s", escaped);
    else
        fprintf(out, "collector  %s: %s", who, escaped);
}

static void plain_sums(FILE *out, const gpurt_model_activity_t *a)
{
    fprintf(out,
            "; %" PRIu64 " dropped by CUPTI, no buffer %" PRIu64 " time%s, %" PRIu64
            " without times, %" PRIu64 " of unknown kinds, %" PRIu64 " sample%s left out\n",
            a->dropped, a->starved, gpurt_plural(a->starved, "s"), a->bad, a->unknown,
            a->samples_left_out, gpurt_plural(a->samples_left_out, "s"));
}

/* One line ends with the sums: that of the only one, or of all. */
void collector_plain(FILE *out, const gpurt_model_activity_t *a)
{
    uint32_t rows = collector_rows(a);

    if (a->collector_count == 0)
        return;
    if (a->collector_count == 1) {
        plain_state(out, a, 0);
        plain_sums(out, a);
        return;
    }
    for (uint32_t i = 0; i < rows; i++) {
        plain_state(out, a, i);
        fputc('\n', out);
    }
    if (a->collectors_troubled > rows)
        fprintf(out, "collector  nor are %" PRIu64 " more plainly on\n",
                a->collectors_troubled - rows);
    fputs("collector  ", out);
    if (rows)
        fprintf(out, "%" PRIu64 " of %" PRIu64 " process%s plainly ",
                a->collector_count - a->collectors_troubled, a->collector_count,
                gpurt_plural(a->collector_count, "es"));
    fputs("on", out);
    plain_sums(out, a);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_counts(gpurt_json_t *j, const gpurt_model_collector_t *c)
{
    gpurt_json_number(j, "bad", c->bad);
    gpurt_json_number(j, "cupti_dropped", c->dropped);
    gpurt_json_number(j, "starved", c->starved);
    gpurt_json_number(j, "unknown", c->unknown);
    gpurt_json_number(j, "samples_left_out", c->samples_left_out);
}

static void json_one(gpurt_json_t *j, const gpurt_model_collector_t *c)
{
    gpurt_json_object(j, NULL);
    gpurt_json_known(j, "pid", c->pid != 0, c->pid);
    gpurt_json_field(j, "program", c->program);
    gpurt_json_field(j, "state", c->state);
    gpurt_json_bool(j, "on", c->rank == GPLOG_COLLECTOR_ON);
    gpurt_json_number(j, "records", c->records);
    json_counts(j, c);
    gpurt_json_object_end(j);
}

void collector_json(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    const gpurt_model_collector_t sums = {.bad = a->bad,
                                          .dropped = a->dropped,
                                          .starved = a->starved,
                                          .unknown = a->unknown,
                                          .samples_left_out = a->samples_left_out};
    uint32_t rows = a->collector_count < GPURT_MODEL_COLLECTORS
                        ? (uint32_t)a->collector_count
                        : (uint32_t)GPURT_MODEL_COLLECTORS;

    gpurt_json_object(j, "collector");
    json_counts(j, &sums);
    gpurt_json_field(j, "state", a->state);
    gpurt_json_object_end(j);
    gpurt_json_array(j, "collectors");
    for (uint32_t i = 0; i < rows; i++)
        json_one(j, &a->collectors[i]);
    gpurt_json_array_end(j);
    gpurt_json_number(j, "collectors_left_out", a->collector_count - rows);
}
