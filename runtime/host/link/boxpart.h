/* SPDX-License-Identifier: Apache-2.0 */
/* boxpart.h - what goes along with a device's black box: threads that look at it, calls that write
 * into it. boxlink.c walks a table of them (logpart.c) and knows none by name. */
#ifndef GPURT_HOST_BOXPART_H
#define GPURT_HOST_BOXPART_H

#include "boxmap.h"
#include "choice.h"

enum {
    GPURT_BOXPART_MORE = 256 /* bytes of what follows the first line of a panic */
};

/* Owner: boxlink.c; stays until the box is closed. */
typedef struct gpurt_boxview {
    const gpurt_boxmap_t *map;
    uint32_t device, host; /* sections; a bare box has none of the host */
    bool quiet;            /* panics are not told by lines */
    const char *more;      /* how a reader sees more of a panic */
} gpurt_boxview_t;

/* NULL: there is nothing to do. */
typedef struct gpurt_boxpart {
    bool panics; /* for panics: of a bare box, too, and only where panics are listened to */
    /* Returns: other than GPURT_OK, and there is no log. Only the first of a table may fail. */
    gpurt_status_t (*connect)(const gpurt_opened_t *opened, const gpurt_boxview_t *view,
                              gpurt_error_t *err);
    void (*disconnect)(const gpurt_opened_t *opened);
    /* In a forked child, instead. known: the device was neither being opened nor closed. */
    void (*forked)(uint32_t index, bool known);
} gpurt_boxpart_t;

#endif
