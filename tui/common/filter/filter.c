/* SPDX-License-Identifier: Apache-2.0 */
/* Filters against records, in logic of three values: unsure lies between no and yes, and is its
 * own opposite. */
#include "filter_record.h"

#include "render.h"

#include <stdio.h>
#include <string.h>

enum {
    PLACE = 512,
    ALL_LEVELS = (1 << (GPURT_LEVEL_LOST + 1)) - 1
};

static filter_answer_t answer(bool yes)
{
    return yes ? FILTER_YES : FILTER_NO;
}

/* ---- terms --------------------------------------------------------------------------- */

static filter_answer_t number_judge(const filter_step_t *s, uint64_t value)
{
    switch (s->compare) {
    case FILTER_BELOW:
        return answer(value < s->number);
    case FILTER_UP_TO:
        return answer(value <= s->number);
    case FILTER_ABOVE:
        return answer(value > s->number);
    case FILTER_FROM:
        return answer(value >= s->number);
    default:
        return answer(value == s->number);
    }
}

/* One of them is enough. */
static filter_answer_t lanes_judge(const filter_step_t *s, uint32_t mask, uint64_t first)
{
    for (uint32_t m = mask; m; m &= m - 1)
        if (number_judge(s, first + (uint32_t)__builtin_ctz(m)) == FILTER_YES)
            return FILTER_YES;
    return FILTER_NO;
}

/* x + y * width + z * width * height, of which one knows no width: it is x where y and z are 0,
 * and no less than it is in the smallest grid. 0 is 0,0,0 in each. */
static filter_answer_t linear_judge(const filter_step_t *s, uint64_t value)
{
    uint64_t width = s->number + 1, height = (uint64_t)s->y + 1;

    if (value < s->number + width * s->y + width * height * s->z ||
        (s->y == 0 && s->z == 0 && value != s->number))
        return FILTER_NO;
    return value == 0 ? FILTER_YES : FILTER_UNSURE;
}

static bool same_triple(const filter_step_t *s, const uint32_t v[3])
{
    return v[0] == s->number && v[1] == s->y && v[2] == s->z;
}

static filter_answer_t threads_judge(const filter_step_t *s, const filter_record_t *r)
{
    filter_answer_t best = FILTER_NO;

    for (uint32_t m = (uint32_t)r->numbers[FILTER_LANE]; m; m &= m - 1) {
        uint64_t thread = r->numbers[FILTER_THREAD] + (uint32_t)__builtin_ctz(m);
        filter_answer_t a = linear_judge(s, thread);

        best = a > best ? a : best;
    }
    return best;
}

static filter_answer_t triple_judge(const filter_step_t *s, const filter_record_t *r)
{
    bool thread = s->field == FILTER_THREAD;
    uint32_t lanes = (uint32_t)r->numbers[FILTER_LANE];

    if (!s->sharp)
        return thread && r->of_lanes ? lanes_judge(s, lanes, r->numbers[FILTER_THREAD])
                                     : number_judge(s, r->numbers[s->field]);
    if (r->triples && same_triple(s, thread ? r->thread : r->block))
        return FILTER_YES;
    if (r->triples && (!thread || (lanes & (lanes - 1)) == 0))
        return FILTER_NO;
    if (thread && !r->of_lanes)
        return FILTER_NO; /* one of the host has a number alone */
    return thread ? threads_judge(s, r) : linear_judge(s, r->numbers[s->field]);
}

/* Of a file of which the last part alone is known. */
static filter_answer_t folded_judge(const filter_record_t *r, filter_text_t pattern)
{
    filter_text_t file = r->texts[FILTER_FILE], base = pattern;
    const char *slash = pattern.bytes ? memrchr(pattern.at, '/', pattern.bytes) : NULL;

    if (slash)
        base = (filter_text_t){slash + 1, pattern.bytes - (size_t)(slash + 1 - pattern.at)};
    if (r->short_file && base.bytes > file.bytes &&
        !memchr(base.at, '*', base.bytes)) { /* of both their ends */
        base.at += base.bytes - file.bytes;
        base.bytes = file.bytes;
    }
    if (!filter_match_all(file, base, true))
        return FILTER_NO;
    return slash ? FILTER_UNSURE : FILTER_YES;
}

static filter_answer_t file_judge(const filter_record_t *r, filter_text_t pattern)
{
    return r->folded ? folded_judge(r, pattern)
                     : answer(filter_match_path(r->texts[FILTER_FILE], pattern));
}

/* "file:line", of the last part of a path, as messages are printed. */
static filter_text_t place_of(const filter_record_t *r, char room[PLACE])
{
    filter_text_t file = r->texts[FILTER_FILE];
    const char *slash = file.bytes ? memrchr(file.at, '/', file.bytes) : NULL;
    const char *base = slash ? slash + 1 : file.at;
    size_t bytes = file.bytes - (size_t)(slash ? slash + 1 - file.at : 0);
    int used;

    if (!(r->there & FILTER_BIT(FILTER_FILE)))
        return (filter_text_t){"", 0};
    bytes = bytes < PLACE - 32 ? bytes : PLACE - 32;
    used = snprintf(room, PLACE, "%.*s:%llu", (int)bytes, base,
                    (unsigned long long)r->numbers[FILTER_LINE]);
    return (filter_text_t){room, (size_t)used};
}

static filter_answer_t site_judge(const filter_step_t *s, const filter_record_t *r,
                                  filter_text_t pattern)
{
    filter_answer_t file;
    char room[PLACE];

    if (s->compare >= FILTER_HAS)
        return answer(filter_match_part(place_of(r, room), pattern));
    file = file_judge(r, pattern);
    return s->sharp && r->numbers[FILTER_LINE] != s->number ? FILTER_NO : file;
}

static filter_answer_t text_judge(const filter_step_t *s, const filter_record_t *r,
                                  filter_text_t pattern)
{
    filter_text_t text = r->texts[s->field];
    bool fits;

    if (s->field == FILTER_FILE && s->compare < FILTER_HAS)
        return file_judge(r, pattern);
    if (s->field == FILTER_FILE && r->folded && memchr(pattern.at, '/', pattern.bytes))
        return FILTER_UNSURE;
    if (s->compare >= FILTER_HAS)
        fits = filter_match_part(text, pattern);
    else if (s->field == FILTER_KERNEL || s->field == FILTER_FUNCTION)
        fits = filter_match_function(text, pattern);
    else
        fits = filter_match_all(text, pattern, false);
    return !fits && s->field == FILTER_MESSAGE && r->cut ? FILTER_UNSURE : answer(fits);
}

static filter_answer_t word_judge(const filter_record_t *r, filter_text_t word)
{
    const uint32_t level = FILTER_BIT(FILTER_LEVEL), text = FILTER_BIT(FILTER_MESSAGE);
    char room[PLACE];

    if ((r->there & level) && r->numbers[FILTER_LEVEL] <= GPURT_LEVEL_LOST) {
        const char *name = gpurt_level_name((uint32_t)r->numbers[FILTER_LEVEL]);

        if (filter_match_all((filter_text_t){name, strlen(name)}, word, false))
            return FILTER_YES;
    }
    if (filter_match_word(place_of(r, room), word) ||
        ((r->there & text) && filter_match_word(r->texts[FILTER_MESSAGE], word)))
        return FILTER_YES;
    return r->cut || (r->unsure & text) ? FILTER_UNSURE : FILTER_NO;
}

static filter_answer_t field_judge(const filter_step_t *s, const filter_record_t *r,
                                   filter_text_t value)
{
    switch (filter_field_row(s->field)->as) {
    case FILTER_AS_TEXT:
        return text_judge(s, r, value);
    case FILTER_AS_PLACE:
        return site_judge(s, r, value);
    case FILTER_AS_TRIPLE:
        return triple_judge(s, r);
    case FILTER_AS_LANES:
        return lanes_judge(s, (uint32_t)r->numbers[s->field], 0);
    default:
        return number_judge(s, r->numbers[s->field]);
    }
}

static filter_answer_t term_judge(const filter_t *f, const filter_step_t *s,
                                  const filter_record_t *r)
{
    const filter_text_t value = {f->values + s->at, s->bytes};
    const uint32_t bit = FILTER_BIT(s->field);
    filter_answer_t a;

    if (s->field == FILTER_WORD)
        return word_judge(r, value);
    if (r->unsure & bit)
        return FILTER_UNSURE;
    if (!(r->there & bit))
        return FILTER_NO;
    a = field_judge(s, r, value);
    return s->compare == FILTER_OTHER || s->compare == FILTER_LACKS ? FILTER_YES - a : a;
}

/* ---- filters ------------------------------------------------------------------------- */

filter_answer_t filter_judge(const filter_t *f, const filter_record_t *r, uint32_t *unsure)
{
    filter_answer_t stack[FILTER_TERMS + 1] = {FILTER_NO};
    uint32_t depth = 0, asked = 0;

    for (uint32_t i = 0; i < f->count && i < FILTER_STEPS; i++) {
        const filter_step_t *s = &f->steps[i];

        if (s->op == FILTER_OP_TERM && depth < FILTER_TERMS) {
            stack[depth] = term_judge(f, s, r);
            asked |= stack[depth++] == FILTER_UNSURE ? FILTER_BIT(s->field) : 0;
        } else if (s->op == FILTER_OP_NOT && depth > 0) {
            stack[depth - 1] = FILTER_YES - stack[depth - 1];
        } else if (depth > 1) {
            bool less = stack[depth - 1] < stack[depth - 2];

            depth--;
            if (less == (s->op == FILTER_OP_AND))
                stack[depth - 1] = stack[depth];
        }
    }
    if (unsure)
        *unsure = depth && stack[0] == FILTER_UNSURE ? asked : 0;
    return depth ? stack[0] : FILTER_YES;
}

uint32_t filter_levels_of(const filter_t *f)
{
    const uint32_t all = FILTER_BIT(FILTER_FIELDS) - 1, level = FILTER_BIT(FILTER_LEVEL);
    filter_record_t r = {.there = level, .unsure = all & ~level};
    uint32_t levels = 0;

    for (uint32_t i = 0; i <= GPURT_LEVEL_LOST; i++) {
        r.numbers[FILTER_LEVEL] = i;
        levels |= filter_judge(f, &r, NULL) == FILTER_NO ? 0 : 1u << i;
    }
    return levels;
}

uint32_t filter_levels(const filter_t *f)
{
    uint32_t above = f->level <= GPURT_LEVEL_LOST ? ~0u << f->level : 0;

    return (f->count ? f->levels : ALL_LEVELS) & above & ALL_LEVELS;
}

uint32_t filter_lowest(const filter_t *f)
{
    uint32_t levels = filter_levels(f);

    return levels ? (uint32_t)__builtin_ctz(levels) : GPURT_LEVEL_LOST + 1;
}

bool filter_is_empty(const filter_t *f)
{
    return f->level == 0 && f->count == 0;
}

bool filter_same(const filter_t *a, const filter_t *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* it has no gaps */
}
