/* SPDX-License-Identifier: Apache-2.0 */
/* deftrail.h - definitions on their way from the dictionary, to which one thread adds, into
 * the file, which another may write. Used by the writer alone. */
#ifndef GPURT_DEFTRAIL_H
#define GPURT_DEFTRAIL_H

#include "dictionary.h"

#include <pthread.h>

typedef struct deftrail_part {
    uint8_t *bytes;
    size_t used, room;
} deftrail_part_t;

/* Owner: the writer. Zeroed and begun by init. */
typedef struct deftrail {
    size_t noted_bytes; /* of the dictionary; of who adds */
    pthread_mutex_t lock;
    deftrail_part_t noted; /* under the lock, which is held for a copy of what is new */
    deftrail_part_t known; /* of who writes: all that was noted */
} deftrail_t;

void deftrail_init(deftrail_t *t);
void deftrail_fini(deftrail_t *t);

/* Who adds: notes what is new in the dictionary. */
gpurt_status_t deftrail_note(deftrail_t *t, const gpurt_dictionary_t *d,
                             gpurt_error_t *err);
/* Who writes: moves what was noted to the end of `known`. */
gpurt_status_t deftrail_take(deftrail_t *t, gpurt_error_t *err);

#endif
