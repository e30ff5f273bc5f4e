/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_run.h"

#include "filter_field.h"
#include "plural.h"
#include "render.h"

#include <string.h>

enum {
    BEFORE = 56, /* bytes shown before the place of an error */
    ROOM = 4 * FILTER_TEXT + 8
};

void filter_tally_add(filter_tally_t *t, filter_answer_t answer, uint32_t unsure)
{
    t->seen++;
    if (answer != FILTER_UNSURE)
        return;
    t->unsure++;
    t->fields |= unsure;
}

static const char *lacking(uint32_t field)
{
    const filter_row_t *row =
        filter_field_row(field == FILTER_WORD ? FILTER_MESSAGE : field);

    return row->lacking ? row->lacking : row->names[0];
}

bool filter_tally_text(const filter_tally_t *t, char *to, size_t room)
{
    const char *last = NULL;
    bool several = false;
    gpurt_text_t text;

    if (t->unsure == 0)
        return false;
    gpurt_text_init(&text, to, room);
    for (uint32_t field = 0; field < FILTER_FIELDS; field++) {
        if (!(t->fields & FILTER_BIT(field)) || (last && strcmp(last, lacking(field)) == 0))
            continue;
        several = last != NULL;
        gpurt_text_printf(&text, "%s%s", last ? ", " : "", lacking(field));
        last = lacking(field);
    }
    gpurt_text_printf(&text, " %s not known for %llu of %llu message%s",
                      several ? "are" : "is", (unsigned long long)t->unsure,
                      (unsigned long long)t->seen, gpurt_plural(t->seen, "s"));
    return true;
}

bool filter_run_message(filter_run_t *run, const gpurt_dictionary_t *d,
                        const gplog_file_t *about, const gpurt_row_t *row, uint32_t lane)
{
    filter_answer_t answer;
    uint32_t unsure;

    if (!run || filter_is_empty(&run->filter))
        return true;
    answer = filter_of_row(&run->filter, d, about, row, lane, &unsure);
    filter_tally_add(&run->tally, answer, unsure);
    return answer == FILTER_YES;
}

uint32_t filter_run_row(filter_run_t *run, const gpurt_dictionary_t *d,
                        const gplog_file_t *about, const gpurt_row_t *row)
{
    uint32_t count = row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row), fit = 0;

    for (uint32_t lane = 0; lane < count; lane++)
        fit += filter_run_message(run, d, about, row, lane);
    return fit;
}

/* Columns of what is shown of a text, where each character takes one. */
static size_t columns(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((uint8_t)*text & 0xc0) != 0x80;
    return n;
}

static size_t shown(const char *text, size_t bytes, char room[ROOM])
{
    gpurt_text_t out;

    gpurt_text_init(&out, room, ROOM);
    gpurt_render_plain(&out, text, bytes);
    return columns(room);
}

void filter_point(FILE *out, const char *text, const filter_error_t *err)
{
    size_t all = strlen(text), at = err->at < all ? err->at : all, from, before, marked;
    size_t bytes = err->bytes < all - at ? err->bytes : all - at;
    char room[ROOM];

    from = at > BEFORE ? at - BEFORE : 0;
    while (from > 0 && from < at && ((uint8_t)text[from] & 0xc0) == 0x80)
        from++;
    shown(text + from, all - from < FILTER_TEXT ? all - from : FILTER_TEXT, room);
    fprintf(out, "  %s%s\n", from ? "..." : "", room);
    before = shown(text + from, at - from, room) + (from ? 3 : 0);
    marked = shown(text + at, bytes, room);
    fprintf(out, "  %*s^", (int)before, "");
    for (size_t i = 1; i < marked; i++)
        fputc('~', out);
    fputc('\n', out);
}

void filter_run_tell(const filter_run_t *run, const char *program, FILE *out)
{
    char text[256];

    if (filter_tally_text(&run->tally, text, sizeof text))
        fprintf(out, "%s: %s\n", program, text);
}
