/* SPDX-License-Identifier: Apache-2.0 */
/* From a text to steps, by recursive descent:
 *
 *   or   = and { ("or" | "||") and }
 *   and  = not { ["and" | "&&"] not }
 *   not  = ("not" | "!") not | "(" or ")" | FIELD OP VALUE | WORD
 *
 * A word that holds a character of an operator is refused, unless it is quoted: it was meant to be
 * a condition. */
#include "filter_record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t\r\n"

typedef struct parser {
    filter_t f; /* that is being made */
    const char *text;
    size_t at, used; /* used: of f.values */
    uint32_t depth, terms;
    filter_error_t *err;
} parser_t;

static bool parse_or(parser_t *p);

/* ---- errors -------------------------------------------------------------------------- */

static bool GPURT_PRINTF(4, 5)
    refuse(parser_t *p, size_t at, size_t bytes, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->err->why, sizeof p->err->why, fmt, args);
    va_end(args);
    p->err->at = (uint32_t)at;
    p->err->bytes = (uint32_t)bytes;
    return false;
}

/* What it is that stands there, up to the next space. */
static int chunk(const parser_t *p, size_t at)
{
    size_t bytes = strcspn(p->text + at, SPACE);

    return (int)(bytes < 40 ? bytes : 40);
}

/* ---- what a text consists of --------------------------------------------------------- */

static bool is_space(char c)
{
    return c != '\0' && strchr(SPACE, c) != NULL;
}

static void skip(parser_t *p)
{
    p->at += strspn(p->text + p->at, SPACE);
}

static bool is_joint(const char *s)
{
    return strncmp(s, "&&", 2) == 0 || strncmp(s, "||", 2) == 0;
}

/* Whether a word, a value or a quoted text may end before it. */
static bool is_end(const char *s)
{
    return *s == '\0' || is_space(*s) || *s == ')' || is_joint(s);
}

/* Up to what is no part of a word. */
static size_t word_bytes(const char *s)
{
    size_t n = 0;

    while (s[n] && !is_space(s[n]) && !strchr("()=<>~&|\"", s[n]) &&
           !(s[n] == '!' && (s[n + 1] == '=' || s[n + 1] == '~')))
        n++;
    return n;
}

static bool is_keyword(const char *s, const char *word)
{
    size_t n = word_bytes(s);

    return n == strlen(word) && strncasecmp(s, word, n) == 0;
}

/* "and" and the like, in letters or as a sign of two. */
static size_t joint_bytes(const char *s, const char *word, const char *sign)
{
    if (strncmp(s, sign, 2) == 0)
        return 2;
    return is_keyword(s, word) ? strlen(word) : 0;
}

/* A text in quotes, " or ', into `values`; \ takes the next character as it is. */
static bool quoted_read(parser_t *p, size_t *bytes)
{
    const char *s = p->text;
    size_t start = p->at, first = p->used;
    char quote = s[p->at++];

    for (; s[p->at] != quote; p->at++) {
        if (s[p->at] == '\\' && s[p->at + 1])
            p->at++;
        if (s[p->at] == '\0')
            return refuse(p, start, 1, "this quote is not closed");
        p->f.values[p->used++] = s[p->at];
    }
    p->at++;
    *bytes = p->used - first;
    if (!is_end(s + p->at))
        return refuse(p, p->at, 1, "a space is missing behind the quote");
    return true;
}

static bool value_read(parser_t *p, size_t *bytes)
{
    const char *s = p->text;
    size_t n;

    skip(p);
    if (s[p->at] == '"' || s[p->at] == '\'')
        return quoted_read(p, bytes);
    for (n = 0; !is_end(s + p->at + n); n++)
        if (strchr("(=<>~&|\"", s[p->at + n]))
            return refuse(p, p->at + n, 1, "a value with '%c' stands in quotes: \"%.*s\"",
                          s[p->at + n], chunk(p, p->at), s + p->at);
    memcpy(p->f.values + p->used, s + p->at, n);
    p->used += n;
    p->at += n;
    *bytes = n;
    return true;
}

/* ---- steps --------------------------------------------------------------------------- */

static filter_step_t *step_add(parser_t *p, uint8_t op)
{
    filter_step_t *step = &p->f.steps[p->f.count];

    if (p->f.count == FILTER_STEPS || (op == FILTER_OP_TERM && p->terms == FILTER_TERMS)) {
        refuse(p, p->at, 0, "a filter has at most %d conditions", FILTER_TERMS);
        return NULL;
    }
    p->f.count++;
    p->terms += op == FILTER_OP_TERM;
    step->op = op;
    return step;
}

static bool word_add(parser_t *p, size_t start, size_t first, size_t bytes)
{
    filter_step_t *step;

    if (bytes == 0)
        return refuse(p, start, p->at - start, "nothing stands in the quotes");
    step = step_add(p, FILTER_OP_TERM);
    if (!step)
        return false;
    step->field = FILTER_WORD;
    step->at = (uint16_t)first;
    step->bytes = (uint16_t)bytes;
    p->f.fields |= FILTER_BIT(FILTER_WORD);
    return true;
}

/* p->at: at the comparison, of so many bytes. */
static bool condition_read(parser_t *p, size_t start, size_t bytes, uint8_t compare,
                           size_t compare_bytes)
{
    uint32_t field = filter_field_find(p->text + start, bytes);
    char why[FILTER_WHY];
    filter_step_t *step;
    size_t first = p->used, value_at, value = 0;

    if (field == FILTER_FIELDS) {
        filter_field_refuse(p->text + start, bytes, why);
        return refuse(p, start, bytes, "%s; a text with '%.*s' stands in quotes", why,
                      (int)compare_bytes, p->text + p->at);
    }
    p->at += compare_bytes;
    skip(p);
    value_at = p->at;
    if (!value_read(p, &value))
        return false;
    step = step_add(p, FILTER_OP_TERM);
    if (!step)
        return false;
    step->field = (uint8_t)field;
    step->compare = compare;
    step->at = (uint16_t)first;
    step->bytes = (uint16_t)value;
    p->f.fields |= FILTER_BIT(field);
    if (filter_field_value(step, p->f.values + first, value, why))
        return true;
    return refuse(p, value_at, p->at - value_at, "%s", why);
}

/* ---- grammar ------------------------------------------------------------------------- */

/* What stands where a condition should. */
static bool nothing_refuse(parser_t *p)
{
    const char *s = p->text + p->at;
    uint8_t compare = FILTER_EQUAL;
    size_t n = is_joint(s) ? 2 : filter_compare_read(s, &compare);

    if (*s == '\0')
        return refuse(p, p->at, 0, "the filter ends where a condition should stand");
    if (*s == ')')
        return refuse(p, p->at, 1, "no condition stands before this )");
    if (is_joint(s))
        return refuse(p, p->at, n, "%.*s stands between two conditions", (int)n, s);
    return refuse(p, p->at, n ? n : 1,
                  "no field stands before %.*s; a text stands in quotes: "
                  "\"%.*s\"",
                  (int)(n ? n : 1), s, chunk(p, p->at), s);
}

static bool term_read(parser_t *p)
{
    size_t start = p->at, first = p->used, n, value = 0, compare_bytes;
    const char *s = p->text + start;
    uint8_t compare = FILTER_EQUAL;

    if (*s == '"' || *s == '\'')
        return quoted_read(p, &value) && word_add(p, start, first, value);
    n = word_bytes(s);
    if (n == 0)
        return nothing_refuse(p);
    p->at += n;
    p->at += strspn(p->text + p->at, SPACE);
    compare_bytes = filter_compare_read(p->text + p->at, &compare);
    if (compare_bytes)
        return condition_read(p, start, n, compare, compare_bytes);
    p->at = start + n;
    if (!is_end(p->text + p->at))
        return refuse(p, p->at, 1, "a word with '%c' stands in quotes: \"%.*s\"",
                      p->text[p->at], chunk(p, start), s);
    if (is_keyword(s, "and") || is_keyword(s, "or") || is_keyword(s, "not"))
        return refuse(p, start, n,
                      "'%.*s' joins conditions; the word itself stands in quotes", (int)n,
                      s);
    memcpy(p->f.values + p->used, s, n);
    p->used += n;
    return word_add(p, start, first, n);
}

static bool group_read(parser_t *p)
{
    size_t start = p->at++;

    if (p->depth == FILTER_DEPTH)
        return refuse(p, start, 1, "more than %d parentheses lie in each other",
                      FILTER_DEPTH);
    p->depth++;
    if (!parse_or(p))
        return false;
    p->depth--;
    if (p->text[p->at] != ')')
        return refuse(p, start, 1, "this ( is not closed");
    p->at++;
    if (!is_end(p->text + p->at) && p->text[p->at] != '(')
        return refuse(p, p->at, 1, "a space is missing behind the )");
    return true;
}

static bool parse_not(parser_t *p)
{
    bool opposite = false;

    for (;; opposite = !opposite) {
        skip(p);
        if (p->text[p->at] == '!' && p->text[p->at + 1] != '=' && p->text[p->at + 1] != '~')
            p->at++;
        else if (is_keyword(p->text + p->at, "not"))
            p->at += 3;
        else
            break;
    }
    if (!(p->text[p->at] == '(' ? group_read(p) : term_read(p)))
        return false;
    return !opposite || step_add(p, FILTER_OP_NOT);
}

static bool parse_and(parser_t *p)
{
    if (!parse_not(p))
        return false;
    for (;;) {
        const char *s;

        skip(p);
        s = p->text + p->at;
        if (*s == '\0' || *s == ')' || joint_bytes(s, "or", "||"))
            return true;
        p->at += joint_bytes(s, "and", "&&");
        if (!parse_not(p) || !step_add(p, FILTER_OP_AND))
            return false;
    }
}

static bool parse_or(parser_t *p)
{
    size_t n;

    if (!parse_and(p))
        return false;
    while ((n = joint_bytes(p->text + p->at, "or", "||")) != 0) {
        p->at += n;
        if (!parse_and(p) || !step_add(p, FILTER_OP_OR))
            return false;
    }
    return true;
}

static bool parse(parser_t *p)
{
    size_t bytes = strlen(p->text);

    if (bytes >= FILTER_TEXT)
        return refuse(p, FILTER_TEXT - 1, 0, "a filter has at most %d bytes",
                      FILTER_TEXT - 1);
    memcpy(p->f.text, p->text, bytes);
    skip(p);
    if (p->text[p->at] == '\0')
        return true;
    if (!parse_or(p))
        return false;
    if (p->text[p->at] == ')')
        return refuse(p, p->at, 1, "no ( stands before this )");
    return true;
}

bool filter_parse(filter_t *f, const char *text, filter_error_t *err)
{
    filter_error_t unheard;
    parser_t p;

    memset(&p, 0, sizeof p);
    p.text = text;
    p.err = err ? err : &unheard;
    memset(p.err, 0, sizeof *p.err);
    if (!parse(&p))
        return false;
    p.f.level = f->level;
    p.f.levels = filter_levels_of(&p.f);
    memcpy(f, &p.f, sizeof *f);
    return true;
}
