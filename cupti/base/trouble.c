/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "trouble.h"

#include "outlet.h"
#include "plural.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct trouble {
    char text[TROUBLE_TEXT]; /* empty: a free place */
    trouble_rank_t rank;
    bool told;
} trouble_t;

/* One process, one list. */
static struct {
    pthread_mutex_t lock; /* guards all of it */
    trouble_t of[TROUBLES];
    uint32_t count;   /* places that were used so far */
    uint32_t no_room; /* not told yet */
    bool changed;     /* the state, since it was told */
} troubles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the list, under the lock -------------------------------------------------------- */

static trouble_t *find(const char *text)
{
    for (uint32_t i = 0; i < troubles.count; i++)
        if (strcmp(troubles.of[i].text, text) == 0)
            return &troubles.of[i];
    return NULL;
}

/* Places are reused in their order, and told in it: nearly that in which they came. */
static trouble_t *place(void)
{
    trouble_t *empty = find("");

    if (empty || troubles.count == TROUBLES)
        return empty;
    return &troubles.of[troubles.count++];
}

static void add(trouble_rank_t rank, const char *text)
{
    trouble_t *t = find(text);

    if (t)
        return;
    t = place();
    if (!t) {
        troubles.no_room++;
        return;
    }
    snprintf(t->text, sizeof t->text, "%s", text);
    t->rank = rank;
    t->told = false;
    troubles.changed |= rank != TROUBLE_NOTE;
}

/* ---- what others say ----------------------------------------------------------------- */

/* told: NULL: said as often as it comes. */
static void say(trouble_rank_t rank, bool *told, const char *format, va_list args)
{
    char text[TROUBLE_TEXT];

    vsnprintf(text, sizeof text, format, args);
    pthread_mutex_lock(&troubles.lock);
    if (!told || !*told)
        add(rank, text);
    if (told)
        *told = true;
    pthread_mutex_unlock(&troubles.lock);
}

void trouble_say(trouble_rank_t rank, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(rank, NULL, format, args);
    va_end(args);
}

void trouble_once(bool *told, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(TROUBLE_NOTE, told, format, args);
    va_end(args);
}

/* One that nobody has heard of yet is still worth its warning. */
void trouble_end(const char *text)
{
    trouble_t *t;

    pthread_mutex_lock(&troubles.lock);
    t = find(text);
    if (t) {
        troubles.changed |= t->rank != TROUBLE_NOTE;
        t->rank = TROUBLE_NOTE;
        if (t->told)
            t->text[0] = '\0';
    }
    pthread_mutex_unlock(&troubles.lock);
}

/* ---- what is told -------------------------------------------------------------------- */

bool trouble_waits(void)
{
    bool waits;

    pthread_mutex_lock(&troubles.lock);
    waits = troubles.changed || troubles.no_room;
    for (uint32_t i = 0; i < troubles.count && !waits; i++)
        waits = troubles.of[i].text[0] && !troubles.of[i].told;
    pthread_mutex_unlock(&troubles.lock);
    return waits;
}

static void tell(trouble_t *t, uint64_t now_ns)
{
    if (!t->text[0] || t->told)
        return;
    outlet_warn(now_ns, t->text);
    t->told = true;
    if (t->rank == TROUBLE_NOTE)
        t->text[0] = '\0';
}

bool trouble_tell(uint64_t now_ns)
{
    char more[64];
    bool changed;

    pthread_mutex_lock(&troubles.lock);
    for (uint32_t i = 0; i < troubles.count; i++)
        tell(&troubles.of[i], now_ns);
    if (troubles.no_room) {
        snprintf(more, sizeof more, "and %u more warning%s", troubles.no_room,
                 gpurt_plural(troubles.no_room, "s"));
        outlet_warn(now_ns, more);
    }
    changed = troubles.changed;
    troubles.changed = false;
    troubles.no_room = 0;
    pthread_mutex_unlock(&troubles.lock);
    return changed;
}

static void append(char text[TROUBLE_STATE], const char *more)
{
    size_t bytes = strlen(text);

    snprintf(text + bytes, TROUBLE_STATE - bytes, "%s%s", bytes ? "; " : "", more);
}

static void append_rank(char text[TROUBLE_STATE], trouble_rank_t rank)
{
    for (uint32_t i = 0; i < troubles.count; i++)
        if (troubles.of[i].text[0] && troubles.of[i].rank == rank)
            append(text, troubles.of[i].text);
}

void trouble_state(char text[TROUBLE_STATE])
{
    text[0] = '\0';
    pthread_mutex_lock(&troubles.lock);
    append_rank(text, TROUBLE_WHOLE);
    if (!text[0])
        append(text, "on");
    append_rank(text, TROUBLE_PART);
    pthread_mutex_unlock(&troubles.lock);
}
