/* SPDX-License-Identifier: Apache-2.0 */
#include "schedsheet.h"
#include "objectpage.h"
#include "objecttable.h"

#include <stdio.h>

/* A field of that name and kind; NULL: the log's class has none such. */
const gpurt_classdef_field_t *sched_field(const gpurt_model_objects_t *all,
                                          const gpurt_model_object_t *o, const char *name,
                                          uint32_t kind)
{
    const gpurt_classdef_t *d = gpurt_objects_class(all, o->class_);
    const gpurt_classdef_field_t *f = d ? gpurt_classdef_find(d, name) : NULL;

    return f && f->kind == kind ? f : NULL;
}

const gpurt_model_value_t *sched_value(const gpurt_model_objects_t *all,
                                       const gpurt_model_object_t *o, const char *name,
                                       uint32_t kind)
{
    const gpurt_classdef_field_t *f = sched_field(all, o, name, kind);

    return f ? gpurt_objects_values(all, o, f) : NULL;
}

uint64_t sched_now(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                   const char *name, uint32_t kind)
{
    const gpurt_model_value_t *v = sched_value(all, o, name, kind);

    return v ? v->now : 0;
}

double sched_rate(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                  const char *name)
{
    const gpurt_model_value_t *v = sched_value(all, o, name, GPURT_FIELD_COUNTER);

    return v ? gpurt_objects_rate(o, v) : 0;
}

const char *sched_text(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                       const char *name, uint32_t kind, char buffer[OBJECT_TEXT])
{
    const gpurt_classdef_field_t *f = sched_field(all, o, name, kind);
    const gpurt_model_value_t *v = f ? gpurt_objects_values(all, o, f) : NULL;

    snprintf(buffer, OBJECT_TEXT, "-");
    return v ? object_value(all, f, v->now, buffer) : buffer;
}

/* Objects of a class that are parts of an executor and have not ended before it. Returns: how many. */
int sched_parts(const gpurt_model_objects_t *all, const gpurt_model_object_t *executor,
                const char *name, const gpurt_model_object_t *parts[SCHED_PARTS])
{
    int class_ = objecttable_named(all, name), count = 0;
    bool over = executor->told.flags & GPURT_OBJECT_ENDED;

    for (uint32_t i = 0; i < all->count && i < GPURT_MODEL_OBJECTS && count < SCHED_PARTS;
         i++) {
        const gpurt_model_object_t *o = &all->list[i];

        if ((int)o->class_ == class_ && o->told.id &&
            (!(o->told.flags & GPURT_OBJECT_ENDED) ||
             (over && o->told.time_ns >= executor->told.time_ns)) &&
            objectpage_is_part(all, o, executor))
            parts[count++] = o;
    }
    return count;
}

double sched_seconds(const gpurt_model_objects_t *all, const gpurt_model_object_t *o)
{
    uint64_t since = sched_now(all, o, "since", GPURT_FIELD_TIME);

    return o->told.time_ns > since ? (double)(o->told.time_ns - since) / 1e9 : 0;
}

int sched_label(const sched_sheet_t *s, int row, const char *label)
{
    canvas_put(s->c, s->area, row, SCHED_LABEL, STYLE_DIM, label);
    return SCHED_BODY;
}
