/* SPDX-License-Identifier: Apache-2.0 */
/* contexts.h - of which device a context of CUDA is: CUPTI names the context that a wait was for,
 * and no device. What ran in one shows it. Memory is fixed; one thread uses it. */
#ifndef GPURT_CUPTI_CONTEXTS_H
#define GPURT_CUPTI_CONTEXTS_H

#include <stdint.h>

enum {
    CONTEXTS_MOST = 256, /* a power of two; of two with one place the later is known */
    CONTEXTS_UNKNOWN = UINT32_MAX
};

typedef struct contexts_place {
    uint32_t number, device; /* device: and one more; 0: not known */
} contexts_place_t;

/* Owner: the collector; zeroed at first. */
typedef struct contexts {
    uint32_t
        device; /* that did anything, and one more; 0: none did; CONTEXTS_UNKNOWN: several */
    contexts_place_t places[CONTEXTS_MOST];
} contexts_t;

/* Something that ran shows of which device a context is. */
void contexts_show(contexts_t *c, uint32_t context, uint32_t device);

/* Returns: CONTEXTS_UNKNOWN where nothing has shown it yet. While but one device has done anything
 * that is the one. */
uint32_t contexts_device(const contexts_t *c, uint32_t context);

#endif
