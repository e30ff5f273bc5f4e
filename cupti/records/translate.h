/* SPDX-License-Identifier: Apache-2.0 */
/* translate.h - CUPTI's records as ours. Each is looked at before it is believed: one
 * whose times cannot be is kept, without its duration, and counted. */
#ifndef GPURT_CUPTI_TRANSLATE_H
#define GPURT_CUPTI_TRANSLATE_H

#include "contexts.h"
#include "cupti_api.h"

enum {
    TRANSLATE_NAMES = 256 /* a power of two; a buffer has some 300 records */
};

typedef enum translate_text {
    TRANSLATE_AS_IT_IS,
    TRANSLATE_KERNEL, /* to be shown as it was written */
    TRANSLATE_CALL    /* of the CUDA API: without the version of the runtime */
} translate_text_t;

/* A text that was looked at while this buffer was read. Not for longer: a module that is
 * unloaded gives its addresses to others. */
typedef struct translate_name {
    const char *text;
    uint32_t buffer, number;
    translate_text_t what;
} translate_name_t;

/* Owner: the collector's reading thread. */
typedef struct translate {
    const cupti_api_t *api;
    uint64_t begin_ns; /* nothing began before */
    uint64_t records;  /* put out */
    uint64_t bad;      /* of them, without usable times, or at a time that cannot be */
    uint32_t unknown;  /* left out: of a kind that nobody asked for; UINT32_MAX: or more */
    uint32_t buffer;   /* the one at hand, from 1 on */
    translate_name_t names[TRANSLATE_NAMES];
    contexts_t contexts;
} translate_t;

/* Another buffer is about to be read. Context: as below. */
void translate_buffer(translate_t *t);

/* Context: between outlet_enter and outlet_exit. now_ns: nothing ends later. */
void translate_record(translate_t *t, const CUpti_Activity *record, uint64_t now_ns);

#endif
