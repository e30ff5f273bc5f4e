/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include "classdef.h"
#include "hosttime.h"
#include "tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_VALUES = 100, /* of one record: half of a batch of the ring */
    TEXT_ROOM = 128
};
GPURT_STATIC_ASSERT(GPURT_OBJECT_HEAD_WORDS + 2 * RECORD_VALUES <=
                        (int)GPURT_HOSTRING_WORDS,
                    "a record fits");

/* Owner: the book, with `told`. */
typedef struct entry {
    const gpurt_class_t *class_; /* NULL: free */
    gpurt_t *rt;
    uint32_t id, value_count;
    uint64_t time_ns;   /* when it was told of last, whether or not it had changed */
    uint64_t *told;     /* the values told last; NULL: none yet */
    const void *object; /* `copy`, or where it stays */
    GPURT_ALIGN(16) char copy[GPURT_WATCH_OBJECT_BYTES];
} entry_t;

static entry_t book[GPURT_WATCH_OBJECTS]; /* under the viewer's lock */

static uint32_t values_of(const gpurt_class_t *c)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->field_count; i++)
        count += gpurt_field_values(c->fields[i].kind, c->fields[i].count);
    return count;
}

uint64_t gpurt_watch_text(gpurt_viewer_t *v, const char *text)
{
    return text && *text ? names_number(&v->names, &v->ring, text, false) : 0;
}

/* ---- telling ------------------------------------------------------------------------- */

/* First word of the records of a class in this log. 0: it has no definition there. A class that
 * breaks a rule of objectclass.h has none either, which its test shows. */
static uint32_t what_of(gpurt_viewer_t *v, const gpurt_class_t *c)
{
    char text[GPURT_DEF_TEXT_BYTES];
    gpurt_activity_site_t site = {
        .kind = GPURT_KIND_OBJECT, .level = GPURT_LEVEL_DEBUG, .format = text};
    uint32_t i = 0;
    size_t bytes;

    while (i < GPURT_VIEWER_CLASSES && v->classes[i].class_ && v->classes[i].class_ != c)
        i++;
    if (i == GPURT_VIEWER_CLASSES)
        return 0;
    if (!v->classes[i].class_) {
        bytes = gpurt_classdef_write(c, text, sizeof text - 1);
        text[bytes] = '\0';
        v->classes[i].class_ = c;
        v->classes[i].what = bytes ? gpurt_hostring_define(&v->ring, &site) : 0;
        if (!bytes)
            gpurt_tell("objects of the class %s are not told: its fields break a rule of "
                       "objectclass.h",
                       c->name);
    }
    return v->classes[i].what;
}

/* Values [first, first + count) of an object. */
static void record_put(gpurt_viewer_t *v, uint32_t what, uint32_t id,
                       const uint64_t *values, uint32_t word, uint64_t now_ns)
{
    uint32_t words[GPURT_OBJECT_HEAD_WORDS + 2 * RECORD_VALUES] = {id, word};
    uint32_t first = gpurt_object_first(word), at = GPURT_OBJECT_HEAD_WORDS;

    for (uint32_t i = first; i < first + gpurt_object_count(word); i++) {
        words[at++] = (uint32_t)values[i];
        words[at++] = (uint32_t)(values[i] >> 32);
    }
    if (!gpurt_hostring_put_words(&v->ring, what, v->device, now_ns, words, at))
        gpurt_hostring_lose(&v->ring, 1, GPURT_LOSS_FULL, now_ns);
}

/* All values of an object, in as many records as they take: one without values has one, too. */
static void values_put(gpurt_viewer_t *v, uint32_t what, uint32_t id,
                       const uint64_t *values, uint32_t count, bool ended, uint64_t now_ns)
{
    uint32_t first = 0;

    do {
        uint32_t some = count - first < RECORD_VALUES ? count - first : RECORD_VALUES;

        record_put(v, what, id, values,
                   gpurt_object_word(first, some, ended ? GPURT_OBJECT_ENDED : 0), now_ns);
        first += RECORD_VALUES;
    } while (first < count);
}

void gpurt_watch_part(gpurt_viewer_t *v, const gpurt_class_t *class_, uint32_t id,
                      const uint64_t *values, bool ended)
{
    uint32_t what = what_of(v, class_);

    if (what)
        values_put(v, what, id, values, values_of(class_), ended, gpurt_real_ns());
}

static void object_tell(gpurt_viewer_t *v, entry_t *e, bool last, bool ended)
{
    uint64_t now_ns = gpurt_real_ns(), values[GPURT_CLASS_VALUES] = {0};
    size_t bytes = e->value_count * sizeof *values;
    bool due = last || gpurt_viewer_is_due(e->time_ns, now_ns);
    uint32_t what = what_of(v, e->class_);
    gpurt_viewer_news_t news;

    if (!what || !e->class_->look(v, e->object, due, values))
        return;
    news = gpurt_viewer_news(e->time_ns, now_ns, last,
                             e->told && memcmp(values, e->told, bytes) == 0);
    if (news == GPURT_VIEWER_SAME)
        return;
    if (!e->told)
        e->told = calloc(e->value_count + 1, sizeof *e->told);
    if (!e->told)
        return;
    memcpy(e->told, values, bytes);
    /* The time of now: what the look told of parts is older, as it lies in the ring. */
    values_put(v, what, e->id, e->told, e->value_count, ended, gpurt_real_ns());
    if (news == GPURT_VIEWER_DUE)
        e->time_ns = now_ns;
}

/* ---- life ---------------------------------------------------------------------------- */

static void entry_free(entry_t *e)
{
    free(e->told);
    memset(e, 0, sizeof *e);
}

static entry_t *entry_find(const gpurt_t *rt, const gpurt_class_t *c, uint32_t id)
{
    for (uint32_t i = 0; i < GPURT_WATCH_OBJECTS; i++)
        if (book[i].class_ == c && book[i].rt == rt && book[i].id == id)
            return &book[i];
    return NULL;
}

static void objects_tell(gpurt_viewer_t *v, bool last)
{
    for (uint32_t i = 0; i < GPURT_WATCH_OBJECTS; i++)
        if (book[i].class_ && book[i].rt == v->rt)
            object_tell(v, &book[i], last, false);
}

static void objects_forget(const gpurt_t *rt)
{
    for (uint32_t i = 0; i < GPURT_WATCH_OBJECTS; i++)
        if (book[i].rt == rt)
            entry_free(&book[i]);
}

static const gpurt_looker_t looker = {objects_tell, objects_forget};

void gpurt_watch_begin(gpurt_t *rt, const gpurt_class_t *class_, uint32_t id,
                       const void *object, size_t bytes)
{
    gpurt_viewer_t *v;
    entry_t *e;

    gpurt_viewer_begin(rt, &looker);
    v = gpurt_viewer_enter(rt);
    if (!v)
        return;
    e = entry_find(NULL, NULL, 0); /* a free one */
    if (!e) {
        if (!v->left_out++) {
            char text[TEXT_ROOM];

            snprintf(
                text, sizeof text,
                "more than %d objects are watched: later ones, as %s %u, are not shown",
                GPURT_WATCH_OBJECTS, class_->name, id);
            gpurt_viewer_put(v, GPURT_KIND_TEXT, gpurt_real_ns(), text);
        }
    } else if (bytes <= sizeof e->copy) {
        e->class_ = class_;
        e->rt = rt;
        e->id = id;
        e->value_count = values_of(class_);
        e->object = bytes ? e->copy : object;
        memcpy(e->copy, object, bytes);
    }
    gpurt_viewer_leave();
}

void gpurt_watch_end(gpurt_t *rt, const gpurt_class_t *class_, uint32_t id)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);
    entry_t *e;

    if (!v)
        return;
    e = entry_find(rt, class_, id);
    if (e) {
        object_tell(v, e, true, true);
        entry_free(e);
    }
    gpurt_viewer_leave();
}
