/* SPDX-License-Identifier: Apache-2.0 */
#include "lines_text.h"

#include "activity_text.h"
#include "calls_text.h"
#include "json.h"
#include "plural.h"
#include "render.h"
#include "text.h"
#include "warpstate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME = LINES_NAME,
    LINES = 20,  /* of a function, in text */
    REASONS = 3, /* of a line, in text */
    CALLS = 3,   /* likewise */
    HINTS = 32
};

/* ---- names --------------------------------------------------------------------------- */

const char *lines_text_dictionary(const void *dictionary, uint32_t id,
                                  char room[LINES_NAME])
{
    gpurt_text_t text;

    gpurt_text_init(&text, room, LINES_NAME);
    gpurt_render_string(dictionary, id, &text);
    return room;
}

const char *lines_text_view(const void *warps, uint32_t id, char room[LINES_NAME])
{
    const gpurt_model_warps_t *w = warps;
    const uint32_t count =
        w->name_count < GPURT_MODEL_LINE_NAMES ? w->name_count : GPURT_MODEL_LINE_NAMES;

    for (uint32_t i = 0; i < count; i++)
        if (w->names[i].id == id) {
            snprintf(room, LINES_NAME, "%.*s", GPURT_MODEL_LINE_NAME - 1, w->names[i].text);
            return room;
        }
    for (uint32_t i = 0; i < w->calls_count && i < GPURT_MODEL_LINE_CALLS; i++)
        if (w->calls[i].id == id) {
            snprintf(room, LINES_NAME, "%.*s", GPURT_MODEL_CALLS_TEXT - 1,
                     w->calls[i].text);
            return room;
        }
    snprintf(room, LINES_NAME, "(no room for more names)");
    return room;
}

const char *lines_text_name(const lines_text_t *l, uint32_t id, char room[NAME])
{
    return l->name(l->names, id, room);
}

/* Escaped, for a terminal. */
static void name_put(FILE *out, const lines_text_t *l, uint32_t id)
{
    char room[NAME], plain[4 * NAME];
    gpurt_text_t text;

    lines_text_name(l, id, room);
    gpurt_text_init(&text, plain, sizeof plain);
    gpurt_render_plain(&text, room, strlen(room));
    fputs(plain, out);
}

bool lines_text_wanted(const lines_text_t *l, const gpurt_linesum_function_t *f)
{
    char room[NAME];

    return !l->kernel || strstr(lines_text_name(l, f->function, room), l->kernel) != NULL;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const gpurt_linesum_reason_t *reasons_of(const lines_text_t *l,
                                                const gpurt_linesum_line_t *line)
{
    return &l->sums->reasons[line->first_reason];
}

/* ---- text ---------------------------------------------------------------------------- */

void lines_text_reasons(const gpurt_linesums_t *s, uint32_t first_line, uint32_t count,
                        lines_reasons_t *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = first_line; i < first_line + count; i++)
        for (uint32_t k = 0; k < s->lines[i].reason_count; k++) {
            const gpurt_linesum_reason_t *r = &s->reasons[s->lines[i].first_reason + k];
            uint32_t at = 0;

            while (at < out->count && out->of[at].reason != r->reason)
                at++;
            if (at == LINES_REASONS)
                continue;
            if (at == out->count)
                out->of[out->count++].reason = r->reason;
            out->of[at].samples += r->samples;
            out->of[at].idle += r->idle;
        }
    for (uint32_t i = 1; i < out->count; i++)
        for (uint32_t k = i; k > 0 && out->of[k].samples > out->of[k - 1].samples; k--) {
            gpurt_linesum_reason_t moved = out->of[k];

            out->of[k] = out->of[k - 1];
            out->of[k - 1] = moved;
        }
}

const char *lines_text_words(const lines_text_t *l, uint32_t reason, char room[NAME])
{
    const warpstate_t *state = warpstate_find(lines_text_name(l, reason, room));

    return state ? state->words : room;
}

/* Words that were shown, to be told at the end. */
typedef struct hints {
    const warpstate_t *of[HINTS];
    uint32_t count;
} hints_t;

static void hint_add(hints_t *h, const warpstate_t *state)
{
    for (uint32_t i = 0; i < h->count; i++)
        if (h->of[i] == state)
            return;
    if (state && h->count < HINTS)
        h->of[h->count++] = state;
}

static void reasons_plain(FILE *out, const lines_text_t *l,
                          const gpurt_linesum_line_t *line, hints_t *hints)
{
    const gpurt_linesum_reason_t *r = reasons_of(l, line);
    char room[NAME];

    for (uint32_t i = 0; i < line->reason_count && i < REASONS && r[i].samples; i++) {
        const warpstate_t *state = warpstate_find(lines_text_name(l, r[i].reason, room));

        fputs(i ? ", " : "  ", out);
        if (state)
            fputs(state->words, out);
        else
            name_put(out, l, r[i].reason);
        fprintf(out, " %.0f%%", percent(r[i].samples, line->samples));
        hint_add(hints, state);
    }
}

static void line_plain(FILE *out, const lines_text_t *l, const gpurt_linesum_line_t *line,
                       uint64_t whole, hints_t *hints)
{
    fprintf(out, "  %5.1f%%  ", percent(line->samples, whole));
    if (line->line) {
        name_put(out, l, line->file);
        fprintf(out, ":%" PRIu32, line->line);
    } else
        fprintf(out, "+0x%" PRIx32, line->offset);
    reasons_plain(out, l, line, hints);
    fputc('\n', out);
}

static void plain_put(FILE *out, const char *text, size_t bytes)
{
    char plain[4 * NAME];
    gpurt_text_t to;

    gpurt_text_init(&to, plain, sizeof plain);
    gpurt_render_plain(&to, text, bytes);
    fputs(plain, out);
}

bool lines_text_inlined(const lines_text_t *l, uint32_t id, char room[NAME])
{
    char name[NAME] = "(not known)";
    calls_text_t calls;
    gpurt_text_t text;

    gpurt_text_init(&text, room, NAME);
    if (id && calls_text_read(lines_text_name(l, id, name), &calls)) {
        calls_text_short(&calls, &text);
        return true;
    }
    gpurt_text_printf(&text, "%s", name);
    return false;
}

bool lines_text_calls(const lines_text_t *l, const gpurt_linesum_line_t *line,
                      uint32_t index, char room[NAME])
{
    return lines_text_inlined(l, l->sums->calls[line->first_calls + index].calls, room) ||
           line->calls_count > 1;
}

/* By whom a line is called that is inlined. */
static void calls_plain(FILE *out, const lines_text_t *l, const gpurt_linesum_line_t *line)
{
    char room[NAME];

    for (uint32_t i = 0; i < line->calls_count && i < CALLS; i++) {
        const gpurt_linesum_calls_t *c = &l->sums->calls[line->first_calls + i];

        if (c->samples == 0 || !lines_text_calls(l, line, i, room))
            return;
        fprintf(out, "            %3.0f%%  ", percent(c->samples, line->samples));
        plain_put(out, room, strlen(room));
        fputc('\n', out);
    }
    if (line->calls_count > CALLS)
        fprintf(out, "                  and %" PRIu32 " more\n", line->calls_count - CALLS);
}

static void lines_plain(FILE *out, const lines_text_t *l, const gpurt_linesum_function_t *f,
                        uint32_t shown, hints_t *hints)
{
    for (uint32_t i = 0; i < shown; i++) {
        line_plain(out, l, &l->sums->lines[f->first_line + i], f->samples, hints);
        calls_plain(out, l, &l->sums->lines[f->first_line + i]);
    }
    if (shown < f->line_count)
        fprintf(out, "          and %" PRIu32 " more\n", f->line_count - shown);
}

static void function_plain(FILE *out, const lines_text_t *l,
                           const gpurt_linesum_function_t *f, hints_t *hints)
{
    uint32_t most = l->lines ? l->lines : (uint32_t)LINES;
    uint32_t shown = f->line_count < most ? f->line_count : most;

    fprintf(out, "%5.1f%%  ", percent(f->samples, l->sums->samples));
    name_put(out, l, f->function);
    fputc('\n', out);
    lines_plain(out, l, f, shown, hints);
}

void lines_text_function(FILE *out, const lines_text_t *l,
                         const gpurt_linesum_function_t *f)
{
    hints_t hints = {0};

    lines_plain(out, l, f, f->line_count < l->lines ? f->line_count : l->lines, &hints);
}

static void hints_plain(FILE *out, const hints_t *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        fprintf(out, "%s%s: %s\n", i ? "" : "\n", h->of[i]->words, h->of[i]->hint);
}

void lines_text_plain(FILE *out, const lines_text_t *l)
{
    const gpurt_linesums_t *s = l->sums;
    bool without = false;
    hints_t hints = {0};
    char span[24];

    if (s->samples == 0) {
        fputs("no samples of lines: gpurt-record --cupti default,lines records them\n",
              out);
        return;
    }
    fprintf(out, "%" PRIu64 " sample%s of warps in %s\n", s->samples,
            gpurt_plural(s->samples, "s"), activity_time(s->last_ns - s->first_ns, span));
    for (uint32_t i = 0; i < s->function_count && (!l->functions || i < l->functions);
         i++) {
        if (!lines_text_wanted(l, &s->functions[i]))
            continue;
        function_plain(out, l, &s->functions[i], &hints);
        without |= s->functions[i].without_lines;
    }
    if (without)
        fputs("\n+0x...: an instruction of code without source lines; nvcc -lineinfo has "
              "them\n",
              out);
    hints_plain(out, &hints);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_name(gpurt_json_t *j, const lines_text_t *l, const char *key, uint32_t id)
{
    char room[NAME];

    gpurt_json_text(j, key, lines_text_name(l, id, room));
}

static void json_counts(gpurt_json_t *j, uint64_t samples, uint64_t idle)
{
    gpurt_json_number(j, "samples", samples);
    gpurt_json_number(j, "idle", idle);
}

static void json_reason(gpurt_json_t *j, const lines_text_t *l,
                        const gpurt_linesum_reason_t *r)
{
    char room[NAME];
    const warpstate_t *state = warpstate_find(lines_text_name(l, r->reason, room));

    gpurt_json_object(j, NULL);
    json_name(j, l, "reason", r->reason);
    gpurt_json_text_known(j, "words", state ? state->words : NULL);
    json_counts(j, r->samples, r->idle);
    gpurt_json_object_end(j);
}

/* A call, and the function that it is in: of the last one the record's. */
static void json_call(gpurt_json_t *j, const lines_text_t *l, const calls_call_t *call,
                      const gpurt_linesum_line_t *line)
{
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "file", call->file);
    gpurt_json_known(j, "line", call->line != 0, call->line);
    if (call->function[0])
        gpurt_json_text(j, "function", call->function);
    else
        json_name(j, l, "function", line->function);
    gpurt_json_object_end(j);
}

static void json_calls(gpurt_json_t *j, const lines_text_t *l,
                       const gpurt_linesum_line_t *line, const gpurt_linesum_calls_t *c)
{
    char room[NAME];
    calls_text_t calls = {.count = 0};
    bool inlined = c->calls && calls_text_read(lines_text_name(l, c->calls, room), &calls);

    gpurt_json_object(j, NULL);
    gpurt_json_text_known(j, "function", inlined ? calls.function : NULL);
    gpurt_json_array(j, "calls");
    for (uint32_t i = 0; i < calls.count; i++)
        json_call(j, l, &calls.of[i], line);
    gpurt_json_array_end(j);
    gpurt_json_bool(j, "left_out", calls.cut);
    json_counts(j, c->samples, c->idle);
    gpurt_json_object_end(j);
}

static void json_callers(gpurt_json_t *j, const lines_text_t *l,
                         const gpurt_linesum_line_t *line)
{
    char room[NAME];

    gpurt_json_array(j, "callers");
    if (line->calls_count && lines_text_calls(l, line, 0, room))
        for (uint32_t i = 0; i < line->calls_count; i++)
            json_calls(j, l, line, &l->sums->calls[line->first_calls + i]);
    gpurt_json_array_end(j);
}

static void json_line(gpurt_json_t *j, const lines_text_t *l,
                      const gpurt_linesum_line_t *line)
{
    gpurt_json_object(j, NULL);
    if (line->line)
        json_name(j, l, "file", line->file);
    else
        gpurt_json_null(j, "file");
    gpurt_json_known(j, "line", line->line != 0, line->line);
    gpurt_json_number(j, "offset", line->offset);
    json_counts(j, line->samples, line->idle);
    gpurt_json_array(j, "reasons");
    for (uint32_t i = 0; i < line->reason_count; i++)
        json_reason(j, l, &reasons_of(l, line)[i]);
    gpurt_json_array_end(j);
    json_callers(j, l, line);
    gpurt_json_object_end(j);
}

static void json_function(gpurt_json_t *j, const lines_text_t *l,
                          const gpurt_linesum_function_t *f)
{
    gpurt_json_object(j, NULL);
    json_name(j, l, "function", f->function);
    gpurt_json_decimal(j, "percent", percent(f->samples, l->sums->samples), 2);
    json_counts(j, f->samples, f->idle);
    gpurt_json_array(j, "lines");
    for (uint32_t i = 0; i < f->line_count; i++)
        json_line(j, l, &l->sums->lines[f->first_line + i]);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

void lines_text_json(gpurt_json_t *j, const char *key, const lines_text_t *l)
{
    const gpurt_linesums_t *s = l->sums;

    gpurt_json_object(j, key);
    json_counts(j, s->samples, s->idle);
    gpurt_json_number(j, "first_ns", s->first_ns);
    gpurt_json_number(j, "last_ns", s->last_ns);
    gpurt_json_array(j, "functions");
    for (uint32_t i = 0; i < s->function_count; i++)
        if (lines_text_wanted(l, &s->functions[i]))
            json_function(j, l, &s->functions[i]);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}
