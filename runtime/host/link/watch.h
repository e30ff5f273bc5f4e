/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - objects that the log is told of: of each class (objectclass.h) those that exist, looked
 * at twice a second by the viewer's thread (viewer.h). What did not change is told every two
 * seconds all the same. */
#ifndef GPURT_HOST_WATCH_H
#define GPURT_HOST_WATCH_H

#include "viewer.h"

#include <gpurt/impl/objectclass.h>

enum {
    GPURT_WATCH_OBJECTS = 512,     /* in a process; more are not told of, which is told */
    GPURT_WATCH_OBJECT_BYTES = 256 /* of what a look is given */
};

/* Makes a class known to a file: to the one that declares it, and to those where its objects begin
 * and end. So a class needs no header. */
#define GPURT_CLASS(name) extern const gpurt_class_t gpurt_class_##name
/* A field: its name, its kind, and what else there is to say of it:
 * GPURT_FIELD("used", GAUGE, .of = "bytes") */
#define GPURT_FIELD(name_, kind_, ...)                            \
    {                                                             \
        .name = (name_), .kind = GPURT_FIELD_##kind_, __VA_ARGS__ \
    }
/* Declares it. fields: an array; look: as in gpurt_class_t. */
#define GPURT_CLASS_DECLARE(name_, plural_, fields_, look_)                                \
    GPURT_CLASS(name_);                                                                    \
    const gpurt_class_t gpurt_class_##name_ = {.name = #name_,                             \
                                               .plural = #plural_,                         \
                                               .fields = (fields_),                        \
                                               .field_count =                              \
                                                   sizeof(fields_) / sizeof((fields_)[0]), \
                                               .look = (look_)}

/* An object is looked at from now on. Its `bytes` bytes at `object` are copied: they say where the
 * device has its words. 0: the object stays where it is until its end, and looks get `object`
 * itself. id: not 0, and no other's of that class at the time. */
void gpurt_watch_begin(gpurt_t *rt, const gpurt_class_t *class_, uint32_t id,
                       const void *object, size_t bytes);
/* A last look; then it is gone. Context: before the memory goes. One that is not watched is none. */
void gpurt_watch_end(gpurt_t *rt, const gpurt_class_t *class_, uint32_t id);

/* For looks: a text as the value of a field of kind TEXT. */
uint64_t gpurt_watch_text(gpurt_viewer_t *v, const char *text);

/* For looks that find several objects at once: one of another class, which has no look. It is told
 * of each time, and ended: for the last time. */
void gpurt_watch_part(gpurt_viewer_t *v, const gpurt_class_t *class_, uint32_t id,
                      const uint64_t *values, bool ended);

#endif
