/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool level_read(const char *word, uint32_t *level)
{
    const char *name;

    if (strncasecmp(word, "lvl>=", 5) == 0)
        name = word + 5;
    else if (strncasecmp(word, "level>=", 7) == 0)
        name = word + 7;
    else
        return false;
    for (uint32_t i = GPURT_LEVEL_TRACE; i <= GPURT_LEVEL_LOST; i++)
        if (strcasecmp(name, gpurt_level_name(i)) == 0)
            *level = i;
    return true;
}

/* What has no number behind it is a word like any other. One that is larger than all that there
 * are fits nothing, as itself: cut, it would be another's. */
static bool number_read(const char *word, const char *field, uint32_t most, uint32_t *value)
{
    const char *digits = word + strlen(field);
    unsigned long number;

    if (strncasecmp(word, field, strlen(field)) != 0 || digits[0] == '\0' ||
        digits[strspn(digits, "0123456789")] != '\0')
        return false;
    number = strtoul(digits, NULL, 10);
    *value = number < most ? (uint32_t)number : most;
    return true;
}

static bool place_read(const char *word, const char *field, int32_t *place)
{
    uint32_t number;

    if (!number_read(word, field, INT32_MAX - 1, &number))
        return false;
    *place = (int32_t)number + 1;
    return true;
}

void filter_parse(filter_t *f, const char *text)
{
    char copy[FILTER_TEXT], *rest = NULL;
    uint32_t level = f->level;

    memset(f, 0, sizeof *f);
    f->level = level;
    snprintf(f->text, sizeof f->text, "%s", text);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (level_read(word, &f->level) || place_read(word, "sm=", &f->sm) ||
            place_read(word, "gpu=", &f->section) ||
            number_read(word, "pid=", UINT32_MAX, &f->pid))
            continue;
        if (f->count == FILTER_WORDS)
            break;
        f->words[f->count].exclude = word[0] == '!' && word[1] != '\0';
        snprintf(f->words[f->count].text, FILTER_TEXT, "%s",
                 word + f->words[f->count].exclude);
        f->count++;
    }
}

/* place: "file:line". */
static bool words_fit(const filter_t *f, const char *text, size_t bytes, const char *place,
                      const char *level)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const char *word = f->words[i].text;
        size_t length = strlen(word);
        bool found = strcasestr(place, word) != NULL || strcasecmp(level, word) == 0;

        for (size_t at = 0; !found && at + length <= bytes; at++)
            found = strncasecmp(text + at, word, length) == 0;
        if (found == f->words[i].exclude)
            return false;
    }
    return true;
}

bool filter_line(const filter_t *f, const gpurt_model_line_t *line)
{
    char place[sizeof line->file + 16];
    size_t bytes = line->text_bytes;

    if (line->level < f->level || (f->sm && line->sm != f->sm - 1) ||
        (f->section && line->section != f->section - 1) || (f->pid && line->pid != f->pid))
        return false;
    if (f->count == 0)
        return true;
    if (bytes > sizeof line->text)
        bytes = sizeof line->text;
    snprintf(place, sizeof place, "%.*s:%u", (int)sizeof line->file, line->file,
             line->line);
    return words_fit(f, line->text, bytes, place, gpurt_level_name(line->level));
}

bool filter_site(const filter_t *f, const gpurt_model_site_t *site)
{
    char place[sizeof site->file + 16];

    if (site->level < f->level)
        return false;
    if (f->count == 0)
        return true;
    snprintf(place, sizeof place, "%.*s:%u", (int)sizeof site->file, site->file,
             site->line);
    return words_fit(f, site->format, strnlen(site->format, sizeof site->format), place,
                     gpurt_level_name(site->level));
}

bool filter_name(const filter_t *f, const char *name, const uint32_t *gpu, uint32_t pid)
{
    bool nowhere = gpu && *gpu >= GPURT_MODEL_DEVICES; /* no number is its own */

    if ((f->section && gpu && (nowhere || *gpu != (uint32_t)f->section - 1)) ||
        (f->pid && pid && pid != f->pid))
        return false;
    return words_fit(f, name, strlen(name), "", "");
}
