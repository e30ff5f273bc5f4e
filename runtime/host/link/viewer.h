/* SPDX-License-Identifier: Apache-2.0 */
/* viewer.h - the thread that tells the log how memory of kernels fares: twice a second it
 * copies tables out of device memory and writes records of what changed (objectclass.h).
 * Kernels notice nothing of it. watch.h says what it looks at.
 * GPURT_HEAP_VIEW=TIME in milliseconds, or off. */
#ifndef GPURT_HOST_VIEWER_H
#define GPURT_HOST_VIEWER_H

#include "boxmap.h"
#include "choice.h"
#include "hostring.h"
#include "names.h"

struct gpurt_class;

enum {
    GPURT_VIEWER_PIECE = 256 << 10, /* bytes of a long table that are copied at a time */
    GPURT_VIEWER_CLASSES = 64       /* of objects, in a process */
};

struct gpurt_viewer;

/* Who knows what to look at: watch.c. Both are called under the viewer's lock. */
typedef struct gpurt_looker {
    void (*tell)(struct gpurt_viewer *v, bool last);
    void (*forget)(const gpurt_t *rt); /* all of that runtime's are gone */
} gpurt_looker_t;

/* Of an open device. Owner: viewer.c. Used under its lock, which is one for all: what is looked
 * at stands in tables of the process. */
typedef struct gpurt_viewer {
    gpurt_t *rt;
    const gpurt_looker_t *looker;
    gpurt_stream_t stream;
    bool on_cpu;
    uint32_t device;
    gpurt_hostring_t ring;
    names_t names;
    char *buffer; /* of gpurt_host_create */
    size_t room;
    struct { /* watch.c: classes that have a definition in the log, NULL ends */
        const struct gpurt_class *class_;
        uint32_t what; /* first word of their records */
    } classes[GPURT_VIEWER_CLASSES];
    uint64_t left_out; /* objects beyond those that can be watched */
} gpurt_viewer_t;

/* Context: gpurt_open and gpurt_close, with no call inside. */
void gpurt_viewer_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                          uint32_t section);
void gpurt_viewer_disconnect(const gpurt_opened_t *opened);

/* Something to look at was made: the thread is there from now on, and asks the looker. One for all
 * devices. It ends before gpurt_close, with a last look at all that is left. */
void gpurt_viewer_begin(gpurt_t *rt, const gpurt_looker_t *looker);

/* The lock, under which what is looked at stays. Host code that writes tables whole holds it
 * meanwhile: kernels write their words one by one, it does not. Returns: NULL, and it is not
 * held, when nobody looks for that runtime. */
gpurt_viewer_t *gpurt_viewer_enter(const gpurt_t *rt);
void gpurt_viewer_leave(void);

/* Context of all below: the lock is held. */

/* Memory for a copy, the same each time. Returns: NULL, there is none. */
char *gpurt_viewer_buffer(gpurt_viewer_t *v, size_t bytes);
/* Copies device memory, a multiple of 4 bytes. Kernels may write it meanwhile: each word of
 * 4 bytes is as it was at some moment. */
bool gpurt_viewer_fetch(gpurt_viewer_t *v, void *to, const void *from, size_t bytes);
void gpurt_viewer_put(gpurt_viewer_t *v, uint32_t kind, uint64_t time_ns, const void *row);

/* What was told last of a thing: when, and that its row was another one. */
typedef enum gpurt_viewer_news {
    GPURT_VIEWER_SAME,    /* nothing to tell */
    GPURT_VIEWER_CHANGED, /* the row */
    GPURT_VIEWER_DUE      /* all that is known: the last time is long ago */
} gpurt_viewer_news_t;
/* Context: only before a look that costs much. */
bool gpurt_viewer_is_due(uint64_t told_ns, uint64_t now_ns);
gpurt_viewer_news_t gpurt_viewer_news(uint64_t told_ns, uint64_t now_ns, bool last,
                                      bool same);

#endif
