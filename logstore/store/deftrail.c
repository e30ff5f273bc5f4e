/* SPDX-License-Identifier: Apache-2.0 */
#include "deftrail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void deftrail_init(deftrail_t *t)
{
    pthread_mutex_init(&t->lock, NULL);
}

void deftrail_fini(deftrail_t *t)
{
    pthread_mutex_destroy(&t->lock);
    free(t->noted.bytes);
    free(t->known.bytes);
}

static gpurt_status_t part_add(deftrail_part_t *p, const uint8_t *bytes, size_t size,
                               gpurt_error_t *err)
{
    if (p->used + size > p->room) {
        size_t room = 2 * (p->used + size);
        uint8_t *grown = realloc(p->bytes, room);

        if (!grown)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                              "log: definitions");
        p->bytes = grown;
        p->room = room;
    }
    memcpy(p->bytes + p->used, bytes, size);
    p->used += size;
    return GPURT_OK;
}

gpurt_status_t deftrail_note(deftrail_t *t, const gpurt_dictionary_t *d, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (t->noted_bytes == d->used)
        return GPURT_OK;
    pthread_mutex_lock(&t->lock);
    st = part_add(&t->noted, d->bytes + t->noted_bytes, d->used - t->noted_bytes, err);
    pthread_mutex_unlock(&t->lock);
    if (st == GPURT_OK)
        t->noted_bytes = d->used;
    return st;
}

gpurt_status_t deftrail_take(deftrail_t *t, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    pthread_mutex_lock(&t->lock);
    if (t->noted.used)
        st = part_add(&t->known, t->noted.bytes, t->noted.used, err);
    if (st == GPURT_OK)
        t->noted.used = 0;
    pthread_mutex_unlock(&t->lock);
    return st;
}
