/* SPDX-License-Identifier: Apache-2.0 */
#include "linestack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static linestack_frame_t *frame_add(linestack_t *s, const char *name)
{
    linestack_frame_t *f = &s->of[s->count++];

    snprintf(f->name, sizeof f->name, "%s", name);
    f->file[0] = '\0';
    f->line = 0;
    f->call = false;
    return f;
}

static void frame_place(linestack_frame_t *f, const char *file, uint32_t line, bool call)
{
    snprintf(f->file, sizeof f->file, "%s", file);
    f->line = line;
    f->call = call;
}

/* A call's place stands beside what is called, which is in the call before it. */
static void calls_add(linestack_t *s, const calls_text_t *c)
{
    if (c->cut) {
        frame_add(s, "...");
        frame_add(s, c->count ? c->of[c->count - 1].function : c->function);
    }
    for (uint32_t i = c->count; i > 0; i--) {
        const calls_call_t *call = &c->of[i - 1];
        const char *callee = i > 1 ? c->of[i - 2].function : c->function;

        frame_place(frame_add(s, callee), call->file, call->line, true);
    }
}

static void place_add(linestack_t *s, const lines_text_t *l,
                      const gpurt_linesum_line_t *line)
{
    char file[LINES_NAME], name[LINES_NAME + 16];

    if (line->line) {
        lines_text_name(l, line->file, file);
        snprintf(name, sizeof name, "%s:%" PRIu32, file, line->line);
        frame_place(frame_add(s, name), file, line->line, false);
    } else {
        snprintf(name, sizeof name, "+0x%" PRIx32, line->offset);
        frame_add(s, name);
    }
}

static void calls_visit(const lines_text_t *l, const gpurt_linesum_line_t *line,
                        const gpurt_linesum_calls_t *c, linestack_visit_t visit,
                        void *context)
{
    const gpurt_linesum_reason_t *r = &l->sums->reasons[c->first_reason];
    char room[LINES_NAME];
    calls_text_t calls;
    linestack_t s;

    s.count = 0;
    frame_add(&s, lines_text_name(l, line->function, room));
    if (c->calls && calls_text_read(lines_text_name(l, c->calls, room), &calls))
        calls_add(&s, &calls);
    place_add(&s, l, line);
    for (uint32_t i = 0; i < c->reason_count; i++) {
        frame_add(&s, lines_text_name(l, r[i].reason, room));
        s.samples = r[i].samples;
        if (s.samples)
            visit(context, &s);
        s.count--;
    }
}

void linestack_visit(const lines_text_t *l, linestack_visit_t visit, void *context)
{
    const gpurt_linesums_t *s = l->sums;

    for (uint32_t i = 0; i < s->function_count; i++) {
        const gpurt_linesum_function_t *f = &s->functions[i];

        for (uint32_t k = 0; lines_text_wanted(l, f) && k < f->line_count; k++) {
            const gpurt_linesum_line_t *line = &s->lines[f->first_line + k];

            for (uint32_t c = 0; c < line->calls_count; c++)
                calls_visit(l, line, &s->calls[line->first_calls + c], visit, context);
        }
    }
}

/* ---- folded -------------------------------------------------------------------------- */

/* A semicolon would end a frame's name. */
static void text_put(FILE *out, const char *text)
{
    char room[LINES_NAME + 16], plain[4 * sizeof room];
    gpurt_text_t to;

    snprintf(room, sizeof room, "%s", text);
    for (char *at = room; (at = strchr(at, ';')) != NULL;)
        *at = ':';
    gpurt_text_init(&to, plain, sizeof plain);
    gpurt_render_plain(&to, room, strlen(room));
    fputs(plain, out);
}

static void stack_put(void *context, const linestack_t *s)
{
    FILE *out = context;

    for (uint32_t i = 0; i < s->count; i++) {
        if (i)
            fputc(';', out);
        text_put(out, s->of[i].name);
        if (s->of[i].call) {
            fputs(" (", out);
            text_put(out, s->of[i].file);
            fprintf(out, ":%" PRIu32 ")", s->of[i].line);
        }
    }
    fprintf(out, " %" PRIu64 "\n", s->samples);
}

void linestack_folded(FILE *out, const lines_text_t *l)
{
    linestack_visit(l, stack_put, out);
}
