/* SPDX-License-Identifier: Apache-2.0 */
/* modelopen.h - what a log tells of in two records, while one of them is missing: ranges that have
 * begun, memory that is taken, and ends that came first, as those of another thread may. Each kind
 * has its room; who is to go when that is full is its user's business. For the files of a model: it
 * holds no pointer. */
#ifndef GPURT_MODELOPEN_H
#define GPURT_MODELOPEN_H

#include <gpurt/base.h>

typedef enum model_open_kind {
    MODEL_OPEN_RANGE,     /* begun */
    MODEL_OPEN_RANGE_END, /* whose beginning is not known */
    MODEL_OPEN_MEMORY,    /* taken */
    MODEL_OPEN_GIVEN,     /* whose taking is not known */
    MODEL_OPEN_KINDS
} model_open_kind_t;

enum {
    MODEL_OPEN_RANGES = 4096,
    MODEL_OPEN_MEMORIES = 8192,
    MODEL_OPEN_EARLY =
        512, /* ends of each that came first: they wait for a buffer, no more */
    MODEL_OPEN_ALL = MODEL_OPEN_RANGES + MODEL_OPEN_MEMORIES + 2 * MODEL_OPEN_EARLY,
    MODEL_OPEN_HASH_BITS = 13
};

typedef struct model_open {
    uint64_t key; /* of its process: a range's number, an address */
    uint64_t time_ns, bytes;
    uint16_t row; /* that it is summed in */
    uint16_t next, older, newer;
    uint8_t kind, program, unused[6];
} model_open_t;

/* Zeroed at first. Numbers of entries are index + 1; 0: none. */
typedef struct model_opens {
    uint16_t used, free; /* used: entries that ever were */
    uint16_t oldest[MODEL_OPEN_KINDS], newest[MODEL_OPEN_KINDS], count[MODEL_OPEN_KINDS];
    uint16_t hash[1 << MODEL_OPEN_HASH_BITS]; /* first of a chain */
    model_open_t list[MODEL_OPEN_ALL];
} model_opens_t;

/* NULL: there is none. */
model_open_t *model_open_find(model_opens_t *o, model_open_kind_t kind, uint32_t program,
                              uint64_t key);
/* The one that was added first, of those that are there; NULL: there is none. */
model_open_t *model_open_oldest(model_opens_t *o, model_open_kind_t kind);
/* NULL: that kind has no room. */
model_open_t *model_open_add(model_opens_t *o, model_open_kind_t kind, uint32_t program,
                             uint64_t key);
void model_open_remove(model_opens_t *o, model_open_t *entry);

#endif
