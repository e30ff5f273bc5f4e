/* SPDX-License-Identifier: Apache-2.0 */
/* standing.h - what a warp does where it stands, as the instructions around it tell: it waits
 * at a barrier, ends, or runs around a loop. */
#ifndef GPURT_POSTMORTEM_STANDING_H
#define GPURT_POSTMORTEM_STANDING_H

#include "code.h"

enum standing_kind {
    STANDING_UNKNOWN, /* its code is not understood */
    STANDING_RUNS,
    STANDING_POLLS,    /* a loop that asks the same memory again */
    STANDING_LOOPS,    /* another loop */
    STANDING_BARRIER,  /* for other warps */
    STANDING_CONVERGE, /* for other lanes of its warp */
    STANDING_ENDS,
    STANDING_KINDS
};

typedef struct standing {
    uint32_t kind;
    uint64_t first, last; /* instructions of the loop: where it begins, its branch back */
} standing_t;

/* place: of pc. major: of the GPU's architecture. */
void standing_find(const gpucore_t *core, const code_place_t *place, uint64_t pc,
                   uint32_t major, standing_t *out);

/* Source lines of its loop, as the kernel's own text has them. Returns: whether known. */
bool standing_lines(const gpucore_t *core, const code_place_t *place, const standing_t *s,
                    uint32_t *first, uint32_t *last);

/* Whether it waits for others, and so is not what others wait for. */
bool standing_waits(uint32_t kind);
/* For programs: "barrier"; for people: "waits at a barrier". NULL: nothing to say. */
const char *standing_id(uint32_t kind);
const char *standing_words(uint32_t kind);

#endif
