/* SPDX-License-Identifier: Apache-2.0 */
#include "collector_text.h"

#include "collected.h"
#include "plural.h"
#include "text.h"
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

static void json_text(FILE *out, const char *key, const char *text, size_t room)
{
    fprintf(out, ",\"%s\":", key);
    text_put_json(out, text, strnlen(text, room));
}

static void json_counts(FILE *out, const gpurt_model_collector_t *c)
{
    fprintf(out,
            "\"bad\":%" PRIu64 ",\"cupti_dropped\":%" PRIu64 ",\"starved\":%" PRIu64
            ",\"unknown\":%" PRIu64 ",\"samples_left_out\":%" PRIu64,
            c->bad, c->dropped, c->starved, c->unknown, c->samples_left_out);
}

static void json_one(FILE *out, const gpurt_model_collector_t *c)
{
    if (c->pid)
        fprintf(out, "{\"pid\":%" PRIu32, c->pid);
    else
        fputs("{\"pid\":null", out);
    json_text(out, "program", c->program, sizeof c->program);
    json_text(out, "state", c->state, sizeof c->state);
    fprintf(out, ",\"on\":%s,\"records\":%" PRIu64 ",",
            c->rank == GPLOG_COLLECTOR_ON ? "true" : "false", c->records);
    json_counts(out, c);
    fputc('}', out);
}

void collector_json(FILE *out, const gpurt_model_activity_t *a)
{
    const gpurt_model_collector_t sums = {.bad = a->bad,
                                          .dropped = a->dropped,
                                          .starved = a->starved,
                                          .unknown = a->unknown,
                                          .samples_left_out = a->samples_left_out};
    uint32_t rows = a->collector_count < GPURT_MODEL_COLLECTORS
                        ? (uint32_t)a->collector_count
                        : (uint32_t)GPURT_MODEL_COLLECTORS;

    fputs("\"collector\":{", out);
    json_counts(out, &sums);
    json_text(out, "state", a->state, sizeof a->state);
    fputs("},\"collectors\":[", out);
    for (uint32_t i = 0; i < rows; i++) {
        fputs(i ? "," : "", out);
        json_one(out, &a->collectors[i]);
    }
    fprintf(out, "],\"collectors_left_out\":%" PRIu64, a->collector_count - rows);
}
