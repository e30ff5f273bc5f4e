/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "launchnames.h"

#include <gpurt/atomic.h>
#include <pthread.h>
#include <string.h>

enum {
    SLOTS = 2 * LAUNCHNAMES,
    NAME_BYTES = 512 << 10,
    GRAPHS = 0, /* of `of` */
    OTHERS = 1,
    FIRST = 2
};

static struct {
    pthread_mutex_t lock; /* guards what is below but the counts */
    uint32_t xcount;      /* of `of`; written under the lock */
    uint32_t bytes;
    uint16_t slots[SLOTS]; /* which of `of`; 0: free */
    launchname_t of[LAUNCHNAMES];
    char room[NAME_BYTES];
} launchnames = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .xcount = FIRST,
                 .of = {[GRAPHS] = {.text = "(graphs)", .plain = true},
                        [OTHERS] = {.text = "(no room for more names)", .plain = true}}};

static uint32_t text_hash(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

/* Under the lock. */
static launchname_t *name_add(const char *text, uint16_t *slot)
{
    const uint32_t count =
        gpurt_load_relaxed_dev_u32(&launchnames.xcount); /* relaxed: ours */
    const size_t bytes = strlen(text) + 1;
    char *copy = launchnames.room + launchnames.bytes;

    if (count == LAUNCHNAMES || bytes > NAME_BYTES - launchnames.bytes)
        return &launchnames.of[OTHERS];
    memcpy(copy, text, bytes);
    launchnames.bytes += (uint32_t)bytes;
    launchnames.of[count].text = copy;
    *slot = (uint16_t)count;
    gpurt_store_release_dev_u32(&launchnames.xcount, count + 1); /* LH2.rel */
    return &launchnames.of[count];
}

launchname_t *launchnames_find(const char *text)
{
    uint32_t at = text_hash(text);
    launchname_t *found;

    pthread_mutex_lock(&launchnames.lock);
    while (launchnames.slots[at % SLOTS] &&
           strcmp(launchnames.of[launchnames.slots[at % SLOTS]].text, text) != 0)
        at++;
    found = launchnames.slots[at % SLOTS] ? &launchnames.of[launchnames.slots[at % SLOTS]]
                                          : name_add(text, &launchnames.slots[at % SLOTS]);
    pthread_mutex_unlock(&launchnames.lock);
    return found;
}

launchname_t *launchnames_graphs(void)
{
    return &launchnames.of[GRAPHS];
}

launchname_t *launchnames_at(uint32_t i)
{
    return i < gpurt_load_acquire_dev_u32(&launchnames.xcount)
               ? &launchnames.of[i] /* LH2.acq */
               : NULL;
}
