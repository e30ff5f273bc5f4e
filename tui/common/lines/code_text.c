/* SPDX-License-Identifier: Apache-2.0 */
#include "code_text.h"

#include "render.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHOWN_PERMILLE = 1, /* of a function's samples; what has fewer is counted */
    WIDTH = 52,         /* of an instruction */
    PLACE = 30
};

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint32_t function_of(const code_text_t *c, const gpurt_linesum_function_t *f)
{
    char room[LINES_NAME];

    return c->sass ? sasstext_function(
                         c->sass, lines_text_name(c->lines, f->function, room), c->arch)
                   : (uint32_t)SASSTEXT_NONE;
}

static const char *text_of(const code_text_t *c, uint32_t function, uint32_t offset)
{
    return function < SASSTEXT_SEVERAL ? sasstext_at(c->sass, function, offset) : NULL;
}

/* ---- for people ---------------------------------------------------------------------- */

/* Escaped, for a terminal, in so many columns. */
static void plain_put(FILE *out, const char *text, int width)
{
    char plain[4 * LINES_NAME];
    gpurt_text_t to;

    gpurt_text_init(&to, plain, sizeof plain);
    gpurt_render_plain(&to, text, strlen(text));
    fprintf(out, "%-*s", width, plain);
}

static void place_put(FILE *out, const lines_text_t *l, const gpurt_linesum_code_t *code)
{
    char room[LINES_NAME], place[LINES_NAME + 16] = "";
    const char *file, *slash;

    if (code->line) {
        file = lines_text_name(l, code->file, room);
        slash = strrchr(file, '/');
        snprintf(place, sizeof place, "%s:%" PRIu32, slash ? slash + 1 : file, code->line);
    }
    fputs("  ", out);
    plain_put(out, place, PLACE);
}

static void code_put(FILE *out, const code_text_t *c, const gpurt_linesum_code_t *code,
                     uint32_t function, uint64_t whole)
{
    const char *text = text_of(c, function, code->offset);
    char room[LINES_NAME];

    fprintf(out, "  %5.1f%%  /*%04" PRIx32 "*/  ", percent(code->samples, whole),
            code->offset);
    plain_put(out, text ? text : "", c->sass ? WIDTH : 0);
    place_put(out, c->lines, code);
    fputs("  ", out);
    plain_put(out, lines_text_words(c->lines, code->reason, room), 0);
    fprintf(out, " %.0f%%", percent(code->reason_samples, code->samples));
    if (lines_text_inlined(c->lines, code->calls, room)) {
        fputs("  ", out);
        plain_put(out, room, 0);
    }
    fputc('\n', out);
}

static void function_put(FILE *out, const code_text_t *c, const gpurt_linesum_function_t *f)
{
    const gpurt_linesums_t *s = c->lines->sums;
    const uint32_t function = function_of(c, f);
    uint32_t less = 0;
    char room[LINES_NAME];

    fprintf(out, "%5.1f%%  ", percent(f->samples, s->samples));
    plain_put(out, lines_text_name(c->lines, f->function, room), 0);
    fputc('\n', out);
    if (c->sass && function == SASSTEXT_NONE)
        fputs("        (no text: that machine code does not have it for this GPU)\n", out);
    if (c->sass && function == SASSTEXT_SEVERAL)
        fputs("        (no text: it is there in several versions, and the log does not "
              "tell which this was)\n",
              out);
    for (uint32_t i = 0; i < f->code_count; i++) {
        const gpurt_linesum_code_t *code = &s->code[f->first_code + i];

        if (code->samples * 1000 >= f->samples * SHOWN_PERMILLE)
            code_put(out, c, code, function, f->samples);
        else
            less++;
    }
    if (less)
        fprintf(out, "          and %" PRIu32 " with less than 0.1%% each\n", less);
}

void code_text_print(FILE *out, const code_text_t *c)
{
    const gpurt_linesums_t *s = c->lines->sums;

    if (s->samples == 0)
        fputs("no samples of lines: gpurt-record --cupti default,lines records them\n",
              out);
    for (uint32_t i = 0; i < s->function_count; i++)
        if (lines_text_wanted(c->lines, &s->functions[i]))
            function_put(out, c, &s->functions[i]);
}

/* ---- for programs -------------------------------------------------------------------- */

static void code_json(gpurt_json_t *j, const code_text_t *c,
                      const gpurt_linesum_code_t *code, uint32_t function)
{
    char room[LINES_NAME];

    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "offset", code->offset);
    gpurt_json_text_known(j, "text", text_of(c, function, code->offset));
    gpurt_json_text_known(j, "file",
                          code->line ? lines_text_name(c->lines, code->file, room) : NULL);
    gpurt_json_known(j, "line", code->line != 0, code->line);
    gpurt_json_number(j, "samples", code->samples);
    gpurt_json_number(j, "idle", code->idle);
    gpurt_json_text(j, "reason", lines_text_name(c->lines, code->reason, room));
    gpurt_json_number(j, "reason_samples", code->reason_samples);
    gpurt_json_object_end(j);
}

void code_text_json(gpurt_json_t *j, const char *key, const code_text_t *c)
{
    const gpurt_linesums_t *s = c->lines->sums;
    char room[LINES_NAME];

    gpurt_json_object(j, key);
    gpurt_json_number(j, "samples", s->samples);
    gpurt_json_array(j, "functions");
    for (uint32_t i = 0; i < s->function_count; i++) {
        const gpurt_linesum_function_t *f = &s->functions[i];

        if (!lines_text_wanted(c->lines, f))
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "function", lines_text_name(c->lines, f->function, room));
        gpurt_json_number(j, "samples", f->samples);
        gpurt_json_array(j, "code");
        for (uint32_t k = 0, function = function_of(c, f); k < f->code_count; k++)
            code_json(j, c, &s->code[f->first_code + k], function);
        gpurt_json_array_end(j);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}
